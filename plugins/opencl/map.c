/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map: one item of the device is one element.
 */
#include <stdio.h>

#include "program.h"
#include "walk.h"

static const char operation[] = "map";

static tn_status check(const struct opencl_device *device, const struct tn_map_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_program *program = args->program;
	tn_status status = opencl_check_program(device, call, operation, program);
	if (status)
		return status;
	if (!args->outputs || (program->n_inputs && !args->inputs))
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "no inputs or no outputs were given");
	for (uint32_t k = 0; k < program->n_inputs + program->n_outputs && !status; k++) {
		int is_output = k >= program->n_inputs;
		uint32_t number = is_output ? k - program->n_inputs : k;
		const struct tn_operand *operand =
			is_output ? &args->outputs[number] : &args->inputs[number];
		const char *name = is_output ? "output" : "input";
		status = opencl_check_operand(device, call, operation, name, number, operand,
					      is_output ? OPENCL_WRITES : OPENCL_READS);
		if (!status && opencl_kind(operand->dtype) == OPENCL_COMPLEX)
			status = opencl_fail(call->error, TN_UNSUPPORTED, operation,
					     "%s %u: programs do not read or write complex numbers",
					     name, number);
		if (!status)
			status = opencl_check_shape(call, operation, name, number, operand,
						    args->outputs[0].rank, args->outputs[0].shape);
	}
	if (!status)
		status = opencl_check_scalars(device, call, operation, args->scalars,
					      program->n_scalars);
	return status;
}

static void fill_job(struct opencl_job *job, const struct tn_map_args *args)
{
	const struct tn_program *program = args->program;
	struct opencl_nest *nest = &job->nest;
	nest->rank = nest->n_kept = args->outputs[0].rank;
	for (uint32_t d = 0; d < nest->rank; d++)
		nest->length[d] = args->outputs[0].shape[d];
	for (uint32_t k = 0; k < program->n_inputs; k++)
		opencl_nest_add(job->device, nest, &args->inputs[k], 1);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		opencl_nest_add(job->device, nest, &args->outputs[j], 1);
	if (!opencl_uses_index(program))
		opencl_walk_simplify(nest);
	opencl_walk_count(job);
	opencl_job_scalars(job, args->scalars, program->n_scalars);
}

/* ---- The source ------------------------------------------------------------------------------*/

static void print_inputs(struct opencl_text *text, const struct opencl_job *job,
			 const struct tn_program *program)
{
	char place[32];
	for (uint32_t k = 0; k < program->n_inputs; k++) {
		tn_dtype dtype = opencl_source_dtype(program, TN_OP_INPUT, k);
		if (!dtype)
			continue;
		opencl_print_place(text, job, k);
		(void)snprintf(place, sizeof(place), "b%u[at%u]", k, k);
		opencl_text_format(text, "\tconst %s in%u = ", opencl_type(dtype), k);
		opencl_print_conversion(text, job->nest.view[k].dtype, dtype, place);
		opencl_text_add(text, ";\n");
	}
}

static void print_outputs(struct opencl_text *text, const struct opencl_job *job,
			  const struct tn_program *program)
{
	char value[32];
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		uint32_t view = program->n_inputs + j;
		opencl_print_place(text, job, view);
		(void)snprintf(value, sizeof(value), "out%u", j);
		opencl_text_format(text, "\tb%u[at%u] = ", view, view);
		opencl_print_conversion(text, opencl_output_dtype(program, j),
					job->nest.view[view].dtype, value);
		opencl_text_add(text, ";\n");
	}
}

static void print(struct opencl_text *text, const struct opencl_job *job, const void *argument)
{
	const struct tn_program *program = argument;
	opencl_print_walk(text, job);
	if (opencl_uses_index(program))
		for (uint32_t d = 0; d < job->nest.rank; d++)
			opencl_text_format(text, "\tconst long i%u = (long)c%u;\n", d, d);
	opencl_text_add(text, "\tconst long element = (long)e;\n");
	opencl_print_program_scalars(text, job, program, "", 0);
	print_inputs(text, job, program);
	opencl_print_program(text, program, "");
	print_outputs(text, job, program);
	opencl_text_add(text, "}\n");
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_status run(struct opencl_job *job, const struct tn_program *program)
{
	struct opencl_kernel *kernel;
	struct opencl_text *key = opencl_key_begin(job, operation);
	opencl_walk_key(key, job);
	opencl_key_program(key, program);
	tn_status status = opencl_kernel_get(job, print, program, &kernel);
	if (status)
		return status;
	return opencl_kernel_run(job, kernel, (uint64_t)job->number[0], 0);
}

tn_status opencl_map(void *device, const struct tn_map_args *args)
{
	struct tn_map_args own;
	struct opencl_job job;
	int goes_on;
	tn_status status = opencl_take(&own, sizeof(own), args,
				       TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, operation);
	if (!status)
		status = check(device, &own);
	if (status)
		return status;
	fill_job(&job, &own);
	status = opencl_job_workspace(&job, opencl_job_spill(&job), &goes_on);
	return status || !goes_on ? status : run(&job, own.program);
}
