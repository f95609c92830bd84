/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Everything that can be wrong with the arguments of a reduction.
 */
#include "interpret/reduce.h"

static const char operation[] = "reduce";

static tn_status check_inputs(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *inputs = args->inputs;
	if (args->prologue->n_inputs == 0 || !inputs)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "no inputs: they give the reduced axes");
	for (uint32_t k = 0; k < args->prologue->n_inputs; k++) {
		tn_status status = tn_check_operand(&inputs[k], "input", k, 0, call, operation);
		if (status)
			return status;
		if (inputs[k].rank != inputs[0].rank)
			return tn_fail(call->error, TN_SHAPE, operation,
				       "input %u has rank %u, input 0 has rank %u", k,
				       inputs[k].rank, inputs[0].rank);
		status = tn_check_shape(&inputs[k], inputs, inputs[0].rank, "input", k, call,
					operation);
		if (status)
			return status;
	}
	if (args->n_reduced > inputs[0].rank)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "%u reduced axes, the inputs have %u", args->n_reduced,
			       inputs[0].rank);
	return TN_OK;
}

static tn_status check_kept(const struct tn_reduce_args *args, const struct tn_operand *operands,
			    uint32_t n, const char *role, int is_output)
{
	const struct tn_call *call = &args->call;
	unsigned kept = args->inputs[0].rank - args->n_reduced;
	if (n && !operands)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation, "no %ss", role);
	for (uint32_t k = 0; k < n; k++) {
		tn_status status =
			tn_check_operand(&operands[k], role, k, is_output, call, operation);
		if (status)
			return status;
		if (operands[k].rank != kept)
			return tn_fail(call->error, TN_SHAPE, operation,
				       "%s %u has rank %u, %u axes are kept", role, k,
				       operands[k].rank, kept);
		status = tn_check_shape(&operands[k], args->inputs, kept, role, k, call, operation);
		if (status)
			return status;
	}
	return TN_OK;
}

static tn_status check_values(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	if (args->n_values < 1 || args->n_values > MAX_VALUES ||
	    args->prologue->n_outputs != args->n_values)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "%u values of a prologue with %u outputs", args->n_values,
			       args->prologue->n_outputs);
	for (uint32_t v = 0; v < args->n_values; v++) {
		if (args->combiners[v] < TN_REDUCE_SUM || args->combiners[v] > TN_REDUCE_ARGMIN)
			return tn_fail(call->error, TN_UNSUPPORTED, operation,
				       "value %u: unknown combiner %u", v, args->combiners[v]);
	}
	if (args->epilogue && args->epilogue->n_inputs < args->n_values)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "the epilogue has %u inputs, there are %u accumulators",
			       args->epilogue->n_inputs, args->n_values);
	return TN_OK;
}

tn_status tn_reduce_check(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_program *epilogue = args->epilogue;
	tn_status status = tn_check_program(args->prologue, call, operation);
	if (!status && epilogue)
		status = tn_check_program(epilogue, call, operation);
	if (!status)
		status = check_values(args);
	if (!status)
		status = check_inputs(args);
	if (!status)
		status = check_kept(args, args->outputs,
				    epilogue ? epilogue->n_outputs : args->n_values, "output", 1);
	if (!status && epilogue)
		status = check_kept(args, args->epilogue_inputs,
				    epilogue->n_inputs - args->n_values, "epilogue input", 0);
	if (!status)
		status =
			tn_check_scalars(args->scalars, args->prologue->n_scalars, call, operation);
	if (!status && epilogue)
		status = tn_check_scalars(args->epilogue_scalars, epilogue->n_scalars, call,
					  operation);
	return status;
}
