/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reduce: the prologue runs block by block over the inputs in row-major order, so the elements of
 * one output follow each other; each is combined into the accumulators, which after an output's
 * last element go to a block on which the epilogue runs.
 *
 * Sums and products of f32 are accumulated in f64 and rounded to f32 when they are complete.
 */
#include "program/cast.h"
#include "reference/program.h"

enum { MOST_VALUES = 4 };

/* The state of one combiner.  Floating values in `real`, others in `integer`; `place` is the
 * element's index. */
struct accumulator {
	uint32_t combiner;
	tn_dtype dtype; /* of the values */
	double real;
	int64_t integer;
	int64_t place;
};

static int is_real(tn_dtype dtype)
{
	return dtype == TN_F32 || dtype == TN_F64;
}

static int is_index(uint32_t combiner)
{
	return combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
}

/* Does `value` replace `best`?  A NaN replaces all but an earlier NaN; an equal value does not. */
static int beats(int wants_greater, double value, double best)
{
	if (best != best)
		return 0;
	return value != value || (wants_greater ? value > best : value < best);
}

static int wants_greater(uint32_t combiner)
{
	return combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_ARGMAX;
}

/* acc := acc combined with the value at `place` of the reduced axes; the one at 0 resets it. */
static void combine(struct accumulator *acc, uint64_t bits, int64_t place)
{
	double real = 0;
	int64_t integer = 0;
	if (!is_real(acc->dtype))
		integer = (int64_t)tn_cast_bits(acc->dtype, TN_I64, bits);
	else
		real = acc->dtype == TN_F32 ? tn_f32_of_bits(bits) : tn_f64_of_bits(bits);
	if (place == 0) {
		acc->real = real;
		acc->integer = integer;
		acc->place = 0;
	} else if (is_real(acc->dtype)) {
		if (acc->combiner == TN_REDUCE_SUM) {
			acc->real += real;
		} else if (acc->combiner == TN_REDUCE_PRODUCT) {
			acc->real *= real;
		} else if (beats(wants_greater(acc->combiner), real, acc->real)) {
			acc->real = real;
			acc->place = place;
		}
	} else {
		if (acc->combiner == TN_REDUCE_SUM) {
			acc->integer = (int64_t)((uint64_t)acc->integer + (uint64_t)integer);
		} else if (acc->combiner == TN_REDUCE_PRODUCT) {
			acc->integer = (int64_t)((uint64_t)acc->integer * (uint64_t)integer);
		} else if (wants_greater(acc->combiner) ? integer > acc->integer
							: integer < acc->integer) {
			acc->integer = integer;
			acc->place = place;
		}
	}
}

static uint64_t accumulator_bits(const struct accumulator *acc)
{
	if (is_index(acc->combiner))
		return (uint64_t)acc->place;
	if (!is_real(acc->dtype))
		return (uint64_t)acc->integer;
	return acc->dtype == TN_F32 ? tn_bits_of_f32((float)acc->real) : tn_bits_of_f64(acc->real);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static uint32_t n_outputs(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_outputs : args->n_values;
}

static uint32_t n_epilogue_inputs(const struct tn_reduce_args *args)
{
	return args->epilogue ? args->epilogue->n_inputs - args->n_values : 0;
}

static tn_status check_group(const struct tn_call *call, const char *name,
			     const struct tn_operand *operands, uint32_t n, uint32_t rank,
			     const int64_t *shape, int access)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < n && !status; i++) {
		status = tn_reference_check(call, "reduce", name, &operands[i], access);
		if (!status)
			status = tn_reference_check_storage(call, "reduce", name, &operands[i]);
		if (!status)
			status = tn_reference_check_shape(call, "reduce", name, &operands[i], rank,
							  shape);
	}
	return status;
}

static tn_status check_values(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	if (args->n_values > MOST_VALUES)
		return tn_reference_fail(call, TN_UNSUPPORTED, "reduce",
					 "n_values is %u, expected at most %d", args->n_values,
					 MOST_VALUES);
	if (args->n_values < 1 || args->n_values != args->prologue->n_outputs)
		return tn_reference_fail(
			call, TN_INVALID_ARGUMENT, "reduce",
			"n_values is %u, the prologue has %u outputs: expected the "
			"same number, 1 to 4",
			args->n_values, args->prologue->n_outputs);
	for (uint32_t v = 0; v < args->n_values; v++) {
		if (args->combiners[v] < TN_REDUCE_SUM || args->combiners[v] > TN_REDUCE_ARGMIN)
			return tn_reference_fail(call, TN_UNSUPPORTED, "reduce",
						 "unknown combiner %u", args->combiners[v]);
	}
	if (args->epilogue && args->epilogue->n_inputs < args->n_values)
		return tn_reference_fail(
			call, TN_INVALID_ARGUMENT, "reduce",
			"the epilogue has %u inputs: expected at least the %u values",
			args->epilogue->n_inputs, args->n_values);
	return TN_OK;
}

static tn_status check_programs(const struct tn_reduce_args *args)
{
	uint32_t rank = args->inputs[0].rank;
	tn_status status = tn_reference_check_program(&args->call, "reduce", args->prologue,
						      args->scalars, rank);
	if (!status)
		status = check_values(args);
	if (!status && args->epilogue)
		status = tn_reference_check_program(&args->call, "reduce", args->epilogue,
						    args->epilogue_scalars, rank - args->n_reduced);
	if (!status && n_epilogue_inputs(args) && !args->epilogue_inputs)
		status = tn_reference_fail(&args->call, TN_INVALID_ARGUMENT, "reduce",
					   "epilogue_inputs: expected %u, found NULL",
					   n_epilogue_inputs(args));
	return status;
}

static tn_status check_arguments(const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	if (!args->prologue || !args->inputs || !args->outputs || !args->prologue->n_inputs)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "reduce",
					 "expected a prologue with inputs, and outputs");
	if (args->inputs[0].rank > TN_MAX_RANK)
		return tn_reference_fail(call, TN_UNSUPPORTED, "reduce",
					 "rank %u, expected at most %d", args->inputs[0].rank,
					 TN_MAX_RANK);
	if (args->n_reduced > args->inputs[0].rank)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "reduce",
					 "n_reduced %u or rank %u is out of range", args->n_reduced,
					 args->inputs[0].rank);
	tn_status status = check_programs(args);
	if (status)
		return status;
	const int64_t *shape = args->inputs[0].shape;
	uint32_t rank = args->inputs[0].rank, kept = rank - args->n_reduced;
	status = check_group(call, "an input", args->inputs, args->prologue->n_inputs, rank, shape,
			     READ);
	if (!status)
		status = check_group(call, "an epilogue input", args->epilogue_inputs,
				     n_epilogue_inputs(args), kept, shape, READ);
	if (!status)
		status = check_group(call, "an output", args->outputs, n_outputs(args), kept, shape,
				     WRITE);
	return status;
}

/* ---- The work --------------------------------------------------------------------------------*/

/* The state of a running reduction. */
struct work {
	const struct tn_reduce_args *args;
	struct runner *prologue;
	struct runner *epilogue; /* NULL: none */
	struct cursor from[TN_PROGRAM_MAX_INPUTS];
	struct cursor epilogue_from[TN_PROGRAM_MAX_INPUTS];
	struct cursor to[TN_PROGRAM_MAX_OUTPUTS];
	struct accumulator acc[MOST_VALUES];
	struct block_input done[MOST_VALUES]; /* complete accumulators, not yet stored */
	size_t n_done;
	uint64_t n_stored;
	uint64_t length; /* elements reduced to one */
};

/* outputs[j] := epilogue(acc, epilogue inputs)[j], or acc[j], for the block of complete ones. */
static void store(struct work *work)
{
	const struct tn_reduce_args *args = work->args;
	uint32_t n_values = args->n_values;
	size_t n = work->n_done;
	if (work->epilogue) {
		memcpy(work->epilogue->inputs, work->done, n_values * sizeof(work->done[0]));
		for (uint32_t i = 0; i < n_epilogue_inputs(args); i++)
			tn_reference_load_block(&work->epilogue->inputs[n_values + i],
						&work->epilogue_from[i], n);
		tn_reference_run(work->epilogue, work->n_stored, n);
	}
	for (uint32_t j = 0; j < n_outputs(args); j++) {
		if (work->epilogue)
			tn_reference_store_block(&work->to[j],
						 tn_reference_result(work->epilogue, j),
						 tn_reference_result_dtype(args->epilogue, j), n);
		else
			tn_reference_store_block(&work->to[j], work->done[j].bits,
						 work->done[j].dtype, n);
	}
	work->n_stored += n;
	work->n_done = 0;
}

static void finish_output(struct work *work)
{
	for (uint32_t v = 0; v < work->args->n_values; v++)
		work->done[v].bits[work->n_done] = accumulator_bits(&work->acc[v]);
	if (++work->n_done == BLOCK)
		store(work);
}

/* acc[v] := combiner v of prologue(inputs)[v] over the reduced axes, for every output in turn. */
static void reduce(struct work *work)
{
	const struct tn_reduce_args *args = work->args;
	uint64_t count = tn_reference_count(&args->inputs[0]), place = 0;
	size_t n;
	for (uint64_t first = 0; first < count; first += n) {
		n = count - first < BLOCK ? count - first : BLOCK;
		for (uint32_t i = 0; i < args->prologue->n_inputs; i++)
			tn_reference_load_block(&work->prologue->inputs[i], &work->from[i], n);
		tn_reference_run(work->prologue, first, n);
		for (size_t i = 0; i < n; i++) {
			for (uint32_t v = 0; v < args->n_values; v++)
				combine(&work->acc[v], tn_reference_result(work->prologue, v)[i],
					(int64_t)place);
			if (++place == work->length) {
				finish_output(work);
				place = 0;
			}
		}
	}
	if (work->n_done)
		store(work);
}

static void begin_work(struct work *work, const struct tn_reduce_args *args)
{
	uint32_t rank = args->inputs[0].rank;
	work->args = args;
	work->length = 1;
	for (uint32_t axis = rank - args->n_reduced; axis < rank; axis++)
		work->length *= (uint64_t)args->inputs[0].shape[axis];
	for (uint32_t i = 0; i < args->prologue->n_inputs; i++)
		tn_reference_cursor(&work->from[i], &args->inputs[i]);
	for (uint32_t i = 0; i < n_epilogue_inputs(args); i++)
		tn_reference_cursor(&work->epilogue_from[i], &args->epilogue_inputs[i]);
	for (uint32_t j = 0; j < n_outputs(args); j++)
		tn_reference_cursor(&work->to[j], &args->outputs[j]);
	for (uint32_t v = 0; v < args->n_values; v++) {
		work->acc[v].combiner = args->combiners[v];
		work->acc[v].dtype = tn_reference_result_dtype(args->prologue, v);
		/* The accumulator's dtype, as the interface defines it. */
		work->done[v].dtype =
			is_index(work->acc[v].combiner) || !is_real(work->acc[v].dtype)
				? TN_I64
				: work->acc[v].dtype;
	}
}

tn_status tn_reference_reduce(void *device, const struct tn_reduce_args *theirs)
{
	struct tn_reduce_args args;
	struct work work = {0};
	uint32_t rank;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "reduce");
	if (!status)
		status = check_arguments(&args);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	rank = args.inputs[0].rank;
	work.prologue = tn_reference_runner(device, args.prologue, args.scalars, rank,
					    args.inputs[0].shape);
	if (args.epilogue)
		work.epilogue = tn_reference_runner(device, args.epilogue, args.epilogue_scalars,
						    rank - args.n_reduced, args.inputs[0].shape);
	if (!work.prologue || (args.epilogue && !work.epilogue)) {
		status = tn_reference_no_memory(&args.call, "reduce");
	} else {
		begin_work(&work, &args);
		reduce(&work);
	}
	tn_reference_release(device, work.prologue);
	tn_reference_release(device, work.epilogue);
	return status;
}
