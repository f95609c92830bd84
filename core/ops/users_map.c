/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A user's program over arrays, element by element, and the memory of such programs.
 */
#include <stddef.h>

#include <tenon/map.h>

#include "array/handle.h"
#include "array/make.h"
#include "dispatch/operations.h"
#include "dispatch/programs.h"
#include "ops/users_program.h"

static tn_status map_text(struct tn_runtime *runtime, const struct tn_users_text *text,
			  tn_array **outputs)
{
	struct tn_users_program program;
	tn_dtype dtypes[TN_PROGRAM_MAX_OUTPUTS];
	tn_status status = tn_users_parse(runtime, text, &program);
	if (status)
		return status;
	for (uint32_t j = 0; j < program.program->n_outputs; j++) {
		dtypes[j] = text->output_dtypes ? text->output_dtypes[j] : 0;
		if (!dtypes[j])
			dtypes[j] =
				tn_users_dtype(program.results[j], text->n_inputs, text->inputs);
	}
	status = tn_users_run(runtime, text, &program, dtypes, outputs);
	tn_users_release(runtime, &program);
	return status;
}

tn_array *tn_map_number(const char *text, int n_inputs, const char *const *names,
			const tn_array *const *inputs, int n_scalars,
			const char *const *scalar_names, const tn_number *scalars)
{
	const struct tn_users_text all = {.operation = "map",
					  .number = TN_DO_MAP,
					  .argument = "text",
					  .text = text,
					  .n_inputs = n_inputs,
					  .names = names,
					  .inputs = inputs,
					  .n_scalars = n_scalars,
					  .scalar_names = scalar_names,
					  .scalars = scalars};
	struct tn_runtime *runtime = tn_users_begin("map", n_inputs, inputs);
	tn_array *out = NULL;
	if (!runtime)
		return NULL;
	tn_status status = map_text(runtime, &all, &out);
	return tn_end(runtime, status, out);
}

tn_array *tn_map(const char *text, int n_inputs, const char *const *names,
		 const tn_array *const *inputs, int n_scalars, const char *const *scalar_names,
		 const double *scalars)
{
	tn_number numbers[TN_PROGRAM_MAX_SCALARS];
	for (int i = 0; scalars && i < n_scalars && i < TN_PROGRAM_MAX_SCALARS; i++)
		numbers[i] = tn_number_f64(scalars[i]);
	return tn_map_number(text, n_inputs, names, inputs, n_scalars, scalar_names,
			     scalars ? numbers : NULL);
}

/* Checks the inputs as tn_users_begin does; an error that was kept before is TN_PENDING_ERROR. */
static tn_status begin_outputs(const char *operation, int n_inputs, const tn_array *const *inputs)
{
	if (n_inputs < 1 || !inputs || !inputs[0])
		return TN_INVALID_ARGUMENT;
	if (n_inputs <= TN_PROGRAM_MAX_INPUTS)
		return tn_begin_into((uint32_t)n_inputs, inputs, operation);
	struct tn_runtime *runtime = inputs[0]->runtime;
	tn_status status = tn_runtime_ready(runtime);
	if (status)
		return status;
	tn_users_begin(operation, n_inputs, inputs);
	return runtime->error.status;
}

/* How many outputs there is room for, as far as options of any size say. */
static int count_outputs(const struct tn_map_options *options)
{
	const size_t end = offsetof(struct tn_map_options, n_outputs) + sizeof(options->n_outputs);
	int is_said = options && options->struct_size >= end && options->n_outputs;
	return is_said ? options->n_outputs : 1;
}

/* On failure the outputs that are known to exist are NULL. */
static tn_status fail_outputs(int n, tn_array **outputs, tn_status status)
{
	for (int j = 0; outputs && j < n && j < TN_PROGRAM_MAX_OUTPUTS; j++)
		outputs[j] = NULL;
	return status;
}

tn_status tn_map_outputs(const char *text, int n_inputs, const char *const *names,
			 const tn_array *const *inputs, const struct tn_map_options *options,
			 tn_array **outputs)
{
	static const char operation[] = "map_outputs";
	struct tn_map_options own = tn_map_defaults();
	const int n = count_outputs(options);
	tn_status status = begin_outputs(operation, n_inputs, inputs);
	struct tn_runtime *runtime = status ? NULL : inputs[0]->runtime;
	if (!status)
		status = tn_runtime_take(runtime, &own, sizeof(own), options,
					 "struct tn_map_options", operation);
	if (status)
		return fail_outputs(n, outputs, status);
	if (!outputs)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "outputs: expected room for %d arrays, found NULL", n);
	const struct tn_users_text all = {.operation = operation,
					  .number = TN_DO_MAP,
					  .argument = "text",
					  .text = text,
					  .n_inputs = n_inputs,
					  .names = names,
					  .inputs = inputs,
					  .n_scalars = own.n_scalars,
					  .scalar_names = own.scalar_names,
					  .scalars = own.scalars,
					  .n_outputs = own.n_outputs,
					  .output_names = own.output_names,
					  .output_dtypes = own.output_dtypes};
	fail_outputs(n, outputs, TN_OK);
	return tn_end_into(runtime, map_text(runtime, &all, outputs));
}

/* ---- The memory of programs ------------------------------------------------------------------*/

tn_status tn_memo_get_statistics(tn_context *context, struct tn_memo_statistics *statistics)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (!runtime)
		return TN_INVALID_ARGUMENT;
	if (tn_handle_check(runtime, "memo_get_statistics"))
		return TN_STATE;
	const struct tn_memo_statistics own = {
		.struct_size = sizeof(own),
		.n_programs = runtime->programs->n_users,
		.n_found = runtime->programs->n_found,
		.n_parsed = runtime->programs->n_parsed,
	};
	return tn_runtime_answer(runtime, statistics, &own, sizeof(own),
				 "struct tn_memo_statistics", "memo_get_statistics");
}

tn_status tn_clear_memo(tn_context *context)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (!runtime)
		return TN_INVALID_ARGUMENT;
	if (tn_handle_check(runtime, "clear_memo"))
		return TN_STATE;
	if (runtime->tape)
		return tn_runtime_fail(runtime, TN_STATE, "clear_memo",
				       "a tape exists, which refers to programs: end it first");
	return tn_end_into(runtime, tn_programs_clear(runtime));
}
