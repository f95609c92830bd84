/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parses a user's text with its names and dtypes, runs it through the map, and records the
 * gradient of each output.
 */
#include "ops/users_program.h"

#include <string.h>

#include "array/make.h"
#include "base/dtype.h"
#include "dispatch/programs.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/number.h"

struct tn_runtime *tn_users_begin(const char *operation, int n_inputs,
				  const tn_array *const *inputs)
{
	if (n_inputs < 1 || !inputs)
		return NULL;
	if (n_inputs <= TN_PROGRAM_MAX_INPUTS)
		return tn_begin((uint32_t)n_inputs, inputs, operation);
	if (inputs[0])
		tn_runtime_fail(inputs[0]->runtime, TN_LIMIT, operation,
				"n_inputs: expected at most %d, found %d", TN_PROGRAM_MAX_INPUTS,
				n_inputs);
	return NULL;
}

/* ---- Parsing ---------------------------------------------------------------------------------*/

static tn_status check_scalars(struct tn_runtime *runtime, const struct tn_users_text *text)
{
	for (int i = 0; i < text->n_scalars; i++) {
		tn_dtype dtype = text->scalars[i].dtype;
		if (!text->scalar_names[i])
			return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, text->operation,
				       "the name of scalar %d is NULL", i);
		if (dtype != TN_F64 && dtype != TN_I64 && dtype != TN_U64)
			return tn_fail(&runtime->report, TN_DTYPE, text->operation,
				       "scalar %d: expected a number of i64, u64 or f64, found %s",
				       i, tn_dtype_name(dtype));
	}
	return TN_OK;
}

static tn_status check_outputs(struct tn_runtime *runtime, const struct tn_users_text *text)
{
	if (text->n_outputs < 0 || text->n_outputs > TN_PROGRAM_MAX_OUTPUTS)
		return tn_fail(&runtime->report, TN_LIMIT, text->operation,
			       "n_outputs: expected at most %d, found %d", TN_PROGRAM_MAX_OUTPUTS,
			       text->n_outputs);
	for (int j = 0; j < text->n_outputs; j++) {
		if (!text->output_names || !text->output_names[j])
			return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, text->operation,
				       "the name of output %d is NULL", j);
	}
	const int n = text->n_outputs ? text->n_outputs : 1;
	for (int j = 0; text->output_dtypes && j < n; j++) {
		tn_dtype dtype = text->output_dtypes[j];
		if (!dtype || tn_compute_dtype(dtype))
			continue;
		if (!text->n_outputs)
			return tn_fail(&runtime->report, TN_DTYPE, text->operation,
				       "output 0 (the name assigned last): expected a real "
				       "dtype, found %s",
				       tn_dtype_name(dtype));
		return tn_fail(&runtime->report, TN_DTYPE, text->operation,
			       "output %d ('%s'): expected a real dtype, found %s", j,
			       text->output_names[j], tn_dtype_name(dtype));
	}
	return TN_OK;
}

static tn_status check_text(struct tn_runtime *runtime, const struct tn_users_text *text)
{
	if (!text->text || text->n_scalars < 0 || text->n_scalars > TN_PROGRAM_MAX_SCALARS ||
	    !text->names || (text->n_scalars && (!text->scalar_names || !text->scalars)))
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, text->operation,
			       "expected a %s, %d names and 0 to %d scalars with names and "
			       "values, found %d scalars",
			       text->argument, text->n_inputs, TN_PROGRAM_MAX_SCALARS,
			       text->n_scalars);
	for (int i = 0; i < text->n_inputs; i++) {
		if (!text->names[i])
			return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, text->operation,
				       "the name of input %d is NULL", i);
		if (tn_is_complex(text->inputs[i]->dtype))
			return tn_fail(&runtime->report, TN_DTYPE, text->operation,
				       "input %d is complex: programs read its parts, which "
				       "tn_real and tn_imag view",
				       i);
	}
	tn_status status = check_scalars(runtime, text);
	return status ? status : check_outputs(runtime, text);
}

/* The program of n outputs from the first on. */
static tn_status parse_outputs(struct tn_runtime *runtime, const struct tn_users_text *text,
			       int first, int n, struct tn_users_program *program)
{
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS], scalar_dtypes[TN_PROGRAM_MAX_SCALARS];
	const struct tn_program_names names = {
		.struct_size = sizeof(names),
		.n_inputs = (uint32_t)text->n_inputs,
		.n_scalars = (uint32_t)text->n_scalars,
		.n_outputs = (uint32_t)n,
		.inputs = text->names,
		.input_dtypes = dtypes,
		.scalars = text->scalar_names,
		.scalar_dtypes = scalar_dtypes,
		.outputs = n ? text->output_names + first : NULL,
		.output_dtypes = n && text->output_dtypes ? text->output_dtypes + first : NULL};
	for (int i = 0; i < text->n_inputs; i++)
		dtypes[i] = text->inputs[i]->dtype;
	for (int i = 0; i < text->n_scalars; i++)
		scalar_dtypes[i] = text->scalars[i].dtype == TN_F64 ? 0 : text->scalars[i].dtype;
	tn_status status =
		tn_programs_get_users(runtime, text->operation, text->text, &names,
				      &program->program, program->results, &program->temporary);
	for (int i = 0; i < text->n_scalars && !status; i++) {
		tn_dtype dtype = tn_program_scalar_dtype(program->program, (uint32_t)i);
		program->scalars[i] = (struct tn_scalar){.dtype = dtype ? dtype : TN_F32};
		program->scalars[i].bits =
			tn_number_cast(text->scalars[i], program->scalars[i].dtype);
	}
	return status;
}

tn_status tn_users_parse(struct tn_runtime *runtime, const struct tn_users_text *text,
			 struct tn_users_program *program)
{
	program->program = NULL;
	program->temporary = NULL;
	tn_status status = check_text(runtime, text);
	if (!status)
		status = parse_outputs(runtime, text, 0, text->n_outputs, program);
	return status;
}

void tn_users_release(struct tn_runtime *runtime, struct tn_users_program *program)
{
	if (program->temporary)
		tn_observe_unrepeatable(runtime);
	tn_program_destroy(program->temporary);
	program->temporary = NULL;
}

/* ---- Running ---------------------------------------------------------------------------------*/

tn_dtype tn_users_dtype(tn_dtype result, int n, const tn_array *const *inputs)
{
	tn_dtype common = inputs[0]->dtype;
	for (int i = 1; i < n; i++) {
		if (inputs[i]->dtype != common)
			return result;
	}
	/* The language has u64, though programs compute it in i64. */
	return common != TN_U64 && tn_compute_dtype(common) == result ? common : result;
}

static tn_status check_axes(struct tn_runtime *runtime, const struct tn_users_text *text,
			    const struct tn_program *program, int rank)
{
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *instruction = &program->instructions[i];
		if (instruction->op == TN_OP_INDEX && instruction->a >= rank)
			return tn_fail(
				&runtime->report, TN_SHAPE, text->operation,
				"the %s reads the index along axis %d of an array of rank %d",
				text->argument, instruction->a, rank);
	}
	return TN_OK;
}

static tn_status record_output(struct tn_runtime *runtime, const struct tn_users_text *text,
			       const struct tn_users_program *program, tn_array *output)
{
	struct tn_record record = {.kind = TN_RECORD_MAP,
				   .operation = text->operation,
				   .program = program->program,
				   .scalars = program->scalars};
	return tn_record_made(runtime, &record, (uint32_t)text->n_inputs, text->inputs, output);
}

/* The gradient of each output is that of the program with this output alone. */
static tn_status record_outputs(struct tn_runtime *runtime, const struct tn_users_text *text,
				const struct tn_users_program *all, tn_array *const *outputs)
{
	const int n = (int)all->program->n_outputs;
	tn_status status = TN_OK;
	if (!tn_wants_record(runtime, (uint32_t)text->n_inputs, text->inputs))
		return TN_OK;
	for (int j = 0; j < n && !status; j++) {
		struct tn_users_program one;
		if (!tn_is_floating(outputs[j]->dtype))
			continue;
		if (n > 1)
			status = parse_outputs(runtime, text, j, 1, &one);
		if (!status)
			status = record_output(runtime, text, n > 1 ? &one : all, outputs[j]);
	}
	return status;
}

tn_status tn_users_run(struct tn_runtime *runtime, const struct tn_users_text *text,
		       const struct tn_users_program *program, const tn_dtype *dtypes,
		       tn_array **outputs)
{
	const uint32_t n = program->program->n_outputs;
	const struct tn_map_run run = {.operation = text->number,
				       .program = program->program,
				       .inputs = text->inputs,
				       .outputs = outputs,
				       .scalars = program->scalars,
				       .are_apart = 1};
	tn_status status = TN_OK;
	memset(outputs, 0, n * sizeof(tn_array *));
	for (uint32_t j = 0; j < n && !status; j++) {
		outputs[j] = tn_array_make_broadcast(runtime, text->operation, dtypes[j],
						     (uint32_t)text->n_inputs, text->inputs);
		status = outputs[j] ? TN_OK : runtime->report.status;
	}
	if (!status)
		status = check_axes(runtime, text, program->program, outputs[0]->rank);
	if (!status)
		status = tn_map_run(runtime, &run);
	if (!status)
		status = record_outputs(runtime, text, program, outputs);
	for (uint32_t j = 0; j < n && status; j++) {
		tn_array_discard(outputs[j]);
		outputs[j] = NULL;
	}
	return status;
}
