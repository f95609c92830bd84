/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map: one item of the device for each element.
 */
#include <stdio.h>

#include "program.h"
#include "walk.h"

static const char operation[] = "map";

static tn_status check_arguments(const struct opencl_device *device, const struct tn_map_args *args)
{
	const struct tn_program *program = args->program;
	tn_status status = tn_plugin_check_map(device->host, args, opencl_storage(device),
					       opencl_computes(device));
	if (!status)
		status = opencl_check_places(device, &args->call, operation, "input", args->inputs,
					     program->n_inputs);
	if (!status)
		status = opencl_check_places(device, &args->call, operation, "output",
					     args->outputs, program->n_outputs);
	if (!status)
		status = opencl_check_scalar_places(device, &args->call, operation, args->scalars,
						    program->n_scalars);
	return status;
}

/* ---- The source ------------------------------------------------------------------------------*/

static void print_inputs(struct tn_plugin_text *text, const struct opencl_job *job,
			 const struct tn_program *program)
{
	char place[32];
	for (uint32_t k = 0; k < program->n_inputs; k++) {
		tn_dtype dtype = tn_plugin_source_dtype(program, TN_OP_INPUT, k);
		if (!dtype)
			continue;
		opencl_print_place(text, job, k);
		(void)snprintf(place, sizeof(place), "b%u[at%u]", k, k);
		tn_plugin_text_format(text, "\tconst %s in%u = ", opencl_type(dtype), k);
		tn_plugin_text_convert(text, job->nest.views[k].dtype, dtype, place);
		tn_plugin_text_add(text, ";\n");
	}
}

static void print_outputs(struct tn_plugin_text *text, const struct opencl_job *job,
			  const struct tn_program *program)
{
	char value[32];
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		uint32_t view = program->n_inputs + j;
		opencl_print_place(text, job, view);
		(void)snprintf(value, sizeof(value), "out%u", j);
		tn_plugin_text_format(text, "\tb%u[at%u] = ", view, view);
		tn_plugin_text_convert(text, tn_plugin_output_dtype(program, j),
				       job->nest.views[view].dtype, value);
		tn_plugin_text_add(text, ";\n");
	}
}

static void print_kernel(struct tn_plugin_text *text, const struct opencl_job *job,
			 const void *argument)
{
	const struct tn_program *program = argument;
	opencl_print_walk(text, job);
	if (tn_plugin_program_has(program, TN_OP_INDEX))
		for (uint32_t d = 0; d < job->nest.rank; d++)
			tn_plugin_text_format(text, "\tconst long i%u = (long)c%u;\n", d, d);
	tn_plugin_text_add(text, "\tconst long element = (long)e;\n");
	opencl_print_program_scalars(text, job, program, "", 0);
	print_inputs(text, job, program);
	tn_plugin_text_print(text, &opencl_dialect, program, "");
	print_outputs(text, job, program);
	tn_plugin_text_add(text, "}\n");
}

/* ---- The entry -------------------------------------------------------------------------------*/

tn_status opencl_map(void *device, const struct tn_map_args *args)
{
	struct tn_map_args own;
	struct opencl_job job;
	int goes_on;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, operation);
	if (!status)
		status = check_arguments(device, &own);
	if (status)
		return status;
	const struct tn_program *program = own.program;
	struct tn_plugin_nest *nest = &job.nest;
	nest->rank = nest->n_kept = own.outputs[0].rank;
	for (uint32_t d = 0; d < nest->rank; d++)
		nest->lengths[d] = own.outputs[0].shape[d];
	for (uint32_t k = 0; k < program->n_inputs; k++)
		tn_plugin_nest_add(nest, &own.inputs[k], 1);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_plugin_nest_add(nest, &own.outputs[j], 1);
	if (!tn_plugin_program_has(program, TN_OP_INDEX))
		opencl_walk_simplify(nest);
	opencl_walk_count(&job);
	opencl_job_scalars(&job, own.scalars, program->n_scalars);
	status = opencl_job_workspace(&job, opencl_job_spill(&job), &goes_on);
	if (status || !goes_on)
		return status;
	struct opencl_kernel *kernel;
	struct tn_plugin_text *key = opencl_key_begin(&job, operation);
	opencl_walk_key(key, &job);
	opencl_key_program(key, own.program);
	status = opencl_kernel_get(&job, print_kernel, own.program, &kernel);
	if (status)
		return status;
	return opencl_kernel_run(&job, kernel, (uint64_t)job.number[0], 0);
}
