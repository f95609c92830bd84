/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce: the whole of a call.
 */
#include "interpret/interpret.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "interpret/check.h"
#include "interpret/code.h"
#include "interpret/reduce_plan.h"
#include "interpret/reduce_run.h"
#include "interpret/thread_memory.h"

static const char operation[] = "reduce";

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_inputs(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *inputs = args->inputs;
	if (args->prologue->n_inputs == 0 || !inputs)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "expected at least one input, which gives the reduced axes");
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
			       "%u reduced axes, but the inputs have only %u", args->n_reduced,
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
				       "%s %u has rank %u, but %u axes are kept", role, k,
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
	if (args->n_values > MAX_VALUES)
		return tn_fail(call->error, TN_UNSUPPORTED, operation,
			       "%u values, expected at most %d", args->n_values, MAX_VALUES);
	if (args->n_values < 1 || args->prologue->n_outputs != args->n_values)
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
			       "the epilogue has %u inputs, but there are %u accumulators",
			       args->epilogue->n_inputs, args->n_values);
	return TN_OK;
}

/* Checks everything about the arguments. */
static tn_status check_arguments(const struct tn_reduce_args *args)
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

/* ---- The call --------------------------------------------------------------------------------*/

static tn_status no_memory(const struct tn_call *call)
{
	return tn_fail(call->error, TN_OUT_OF_MEMORY, operation,
		       "no host memory for the work of a thread");
}

static tn_status share_tasks(struct tn_threads *threads, struct tn_reduce_plan *plan,
			     const struct tn_call *call)
{
	uint64_t tasks = plan->n_groups * plan->n_chunks, work = tn_reduce_work(plan) / tasks + 1;
	uint64_t grain = (PIECE + work - 1) / work;
	plan->partial = NULL;
	atomic_init(&plan->is_short, 0);
	if (plan->n_chunks > 1) {
		plan->partial_bytes = (size_t)plan->group * 16 * plan->n_values;
		plan->partial = tn_mem_aligned((size_t)tasks * plan->partial_bytes, 64);
		if (!plan->partial)
			return tn_fail(call->error, TN_OUT_OF_MEMORY, operation,
				       "no host memory for %llu partial results of %zu bytes",
				       (unsigned long long)tasks, plan->partial_bytes);
	}
	tn_parallel_for(tasks < 2 * grain ? NULL : threads, tasks,
			tasks < 2 * grain ? tasks : grain, tn_reduce_tasks, plan);
	if (plan->partial)
		tn_reduce_join_chunks(plan);
	tn_mem_free(plan->partial);
	return atomic_load(&plan->is_short) ? no_memory(call) : TN_OK;
}

static tn_status reduce(struct tn_reduce_plan *plan, struct tn_threads *threads,
			const struct tn_reduce_args *args, const struct tn_block_kernels *kernels)
{
	unsigned rank = args->inputs[0].rank;
	const struct tn_program *epilogue = args->epilogue;
	tn_status status = tn_code_scan(&plan->prologue, args->prologue, args->scalars, kernels,
					rank, &args->call, operation);
	if (status)
		return status;
	plan->n_values = args->n_values;
	for (uint32_t v = 0; v < plan->n_values; v++)
		plan->accumulator[v].combiner = args->combiners[v];
	if (!epilogue)
		epilogue = tn_reduce_identity(plan);
	status = tn_code_scan(&plan->epilogue, epilogue, args->epilogue_scalars, kernels,
			      rank - args->n_reduced, &args->call, operation);
	if (status || args->call.flags & TN_DRY_RUN)
		return status;
	for (uint32_t v = 0; v < plan->n_values; v++)
		tn_reduce_make_accumulator(plan, v, kernels);
	tn_reduce_make_nest(plan, args);
	tn_reduce_choose_axes(plan);
	plan->prologue.keeps_outputs = 1;
	for (uint32_t v = 0; v < plan->n_values && !plan->folds; v++) {
		if (plan->accumulator[v].levels > 1)
			plan->prologue.summed |= 1u << v;
	}
	tn_code_analyse(&plan->prologue, &plan->nest);
	tn_code_analyse(&plan->epilogue, &plan->nest);
	tn_reduce_choose_tile(plan);
	const struct tn_emit inner = {&plan->nest, &plan->tile, &plan->reduced, 0};
	const struct tn_emit outer = {&plan->nest, &plan->result, &plan->kept, 0};
	status = tn_code_emit(&plan->prologue, &inner, args->call.error, operation);
	if (!status)
		status = tn_code_emit(&plan->epilogue, &outer, args->call.error, operation);
	if (status)
		return status;
	tn_code_evaluate(&plan->prologue, &plan->nest);
	tn_code_evaluate(&plan->epilogue, &plan->nest);
	return share_tasks(threads, plan, &args->call);
}

tn_status tn_interpret_reduce(struct tn_threads *threads, const struct tn_reduce_args *theirs,
			      const struct tn_block_kernels *their_kernels)
{
	struct tn_reduce_args args;
	struct tn_block_kernels table;
	const struct tn_block_kernels *kernels = tn_check_kernels(their_kernels, &table);
	tn_status status = tn_check_call(theirs, &args, sizeof(args), operation);
	if (!status)
		status = check_arguments(&args);
	if (status)
		return status;
	struct tn_thread_memory *memory = tn_thread_memory();
	struct tn_reduce_plan *plan = tn_thread_memory_take(memory, sizeof(*plan));
	if (!plan)
		return no_memory(&args.call);
	status = reduce(plan, threads, &args, kernels);
	tn_thread_memory_give(memory, sizeof(*plan));
	return status;
}
