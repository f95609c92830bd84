/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Map: a program for every element.  All inputs of a block are read before its outputs are written,
 * so an output may be the same view as an input.
 */
#include "reference/program.h"

/* outputs[j][i] := program(inputs[0][i], inputs[1][i], ...) */
static void map(const struct tn_map_args *args, struct runner *runner)
{
	const struct tn_program *program = args->program;
	struct cursor from[TN_PROGRAM_MAX_INPUTS], to[TN_PROGRAM_MAX_OUTPUTS];
	uint64_t count = tn_reference_count(&args->outputs[0]);
	size_t n;
	for (uint32_t i = 0; i < program->n_inputs; i++)
		tn_reference_cursor(&from[i], &args->inputs[i]);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_reference_cursor(&to[j], &args->outputs[j]);
	for (uint64_t first = 0; first < count; first += n) {
		n = count - first < BLOCK ? count - first : BLOCK;
		for (uint32_t i = 0; i < program->n_inputs; i++)
			tn_reference_load_block(&runner->inputs[i], &from[i], n);
		tn_reference_run(runner, first, n);
		for (uint32_t j = 0; j < program->n_outputs; j++)
			tn_reference_store_block(&to[j], tn_reference_result(runner, j),
						 tn_reference_result_dtype(program, j), n);
	}
}

tn_status tn_reference_map(void *device, const struct tn_map_args *theirs)
{
	struct tn_map_args args;
	struct runner *runner;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "map");
	if (status)
		return status;
	const struct tn_operand *shape = args.outputs;
	const struct tn_call *call = &args.call;
	if (!args.program || !shape)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "map",
					 "expected a program and its outputs, found NULL");
	if (shape->rank > TN_MAX_RANK)
		return tn_reference_fail(call, TN_UNSUPPORTED, "map",
					 "an output: rank %u, expected at most %d", shape->rank,
					 TN_MAX_RANK);
	status = tn_reference_check_program(call, "map", args.program, args.scalars, shape->rank);
	for (uint32_t i = 0; !status && i < args.program->n_inputs + args.program->n_outputs; i++) {
		int is_input = i < args.program->n_inputs;
		const char *name = is_input ? "an input" : "an output";
		const struct tn_operand *operand =
			is_input ? &args.inputs[i] : &args.outputs[i - args.program->n_inputs];
		status = tn_reference_check(call, "map", name, operand, is_input ? READ : WRITE);
		if (!status)
			status = tn_reference_check_storage(call, "map", name, operand);
		if (!status)
			status = tn_reference_check_shape(call, "map", name, operand, shape->rank,
							  shape->shape);
	}
	if (status || tn_reference_is_dry(&args.call))
		return status;
	runner = tn_reference_runner(device, args.program, args.scalars, args.outputs[0].rank,
				     args.outputs[0].shape);
	if (!runner)
		return tn_reference_no_memory(&args.call, "map");
	map(&args, runner);
	tn_reference_release(device, runner);
	return TN_OK;
}
