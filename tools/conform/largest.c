/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The largest calls of map and reduce: as many inputs, outputs, values, scalars and axes as this
 * version allows, with strides of every kind, so that no two axes merge, and with programs that
 * read every index, so that no axis of length 1 is left out.
 */
#include "program/cast.h"
#include "programs.h"
#include "slots.h"

/* The longest program: out[j] = in0 - in1 - ... - j, and so on round the inputs. */
static void runs_long_program(struct kit *kit)
{
	enum {
		N_IN = TN_PROGRAM_MAX_INPUTS,
		N_OUT = TN_PROGRAM_MAX_OUTPUTS,
		STEPS = TN_PROGRAM_MAX_INSTRUCTIONS - N_IN + 1
	};
	static const int64_t lengths[] = {9, 31};
	struct array array[N_IN + N_OUT], *all[N_IN + N_OUT];
	struct tn_operand operands[N_IN + N_OUT];
	tn_value in[N_IN], out[N_OUT], value;
	struct tn_builder b;
	begin_program(&b);
	for (uint32_t i = 0; i < N_IN; i++)
		in[i] = tn_build_source(&b, TN_OP_INPUT, TN_I32, i);
	value = in[0];
	for (int step = 1; step < STEPS; step++) {
		value = tn_build_op(&b, step % 3 ? TN_OP_SUB : TN_OP_MUL, TN_I32, value,
				    in[step % N_IN], 0);
		out[step % N_OUT] = value;
	}
	struct tn_program *program = finish_program(&b, N_IN, 0, N_OUT, out);
	kit_case(kit, TN_SLOT_MAP, "map: %d inputs, %d outputs, %u instructions", N_IN, N_OUT,
		 program->n_instructions);
	for (int i = 0; i < N_IN + N_OUT; i++) {
		array_make(kit, &array[i], i < N_IN ? INPUT : OUTPUT, TN_I32, 2, lengths,
			   (enum layout)(i % OUTPUT_LAYOUTS));
		array_randomise(&array[i], 0, 0);
		all[i] = &array[i];
		operands[i] = array[i].operand;
	}
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = operands,
				   .outputs = operands + N_IN};
	if (kit_run_ok(kit, &args, all, N_IN + N_OUT)) {
		for (uint64_t i = 0; i < array[0].count; i++) {
			uint32_t expected[N_OUT], x = (uint32_t)array_bits(&array[0], i);
			for (int step = 1; step < STEPS; step++) {
				uint32_t y = (uint32_t)array_bits(&array[step % N_IN], i);
				x = step % 3 ? x - y : x * y;
				expected[step % N_OUT] = x;
			}
			for (int j = 0; j < N_OUT; j++)
				if (array_bits(&array[N_IN + j], i) != expected[j])
					kit_fail(kit, "output %d, element %llu: expected %u", j,
						 (unsigned long long)i, expected[j]);
		}
	}
	for (int i = 0; i < N_IN + N_OUT; i++)
		array_free(&array[i]);
	tn_program_destroy(program);
}

/* ---- Weighted programs -----------------------------------------------------------------------
 *
 * In i64, where overflow wraps:
 *     w      = sum (k + 1) in[k] + sum (s + 2) scalar[s] + sum (d + 17) index(d) + 33 element
 *     out[j] = (j + 1) w + in[j]
 * without the last two terms of w unless the program has indices.
 */
enum { N_SCALARS = TN_PROGRAM_MAX_SCALARS, OF_SCALAR = 2, OF_INDEX = 17, OF_ELEMENT = 33 };

struct weighted {
	uint32_t n_inputs, n_outputs;
	uint32_t rank; /* of its operands */
	int has_indices;
};

/* sum + weight * value */
static tn_value add(struct tn_builder *b, tn_value sum, uint32_t weight, tn_value value)
{
	value = tn_build_op(b, TN_OP_MUL, TN_I64, value, tn_build_number(b, TN_I64, weight), 0);
	return tn_build_op(b, TN_OP_ADD, TN_I64, sum, value, 0);
}

static struct tn_program *build(const struct weighted *w)
{
	tn_value in[TN_PROGRAM_MAX_INPUTS], out[TN_PROGRAM_MAX_OUTPUTS], sum;
	struct tn_builder b;
	begin_program(&b);
	sum = tn_build_number(&b, TN_I64, 0);
	for (uint32_t k = 0; k < w->n_inputs; k++) {
		in[k] = tn_build_source(&b, TN_OP_INPUT, TN_I64, k);
		sum = add(&b, sum, k + 1, in[k]);
	}
	for (uint32_t s = 0; s < N_SCALARS; s++)
		sum = add(&b, sum, s + OF_SCALAR, tn_build_source(&b, TN_OP_SCALAR, TN_I64, s));
	for (uint32_t d = 0; d < w->rank && w->has_indices; d++)
		sum = add(&b, sum, d + OF_INDEX, tn_build_source(&b, TN_OP_INDEX, TN_I64, d));
	if (w->has_indices)
		sum = add(&b, sum, OF_ELEMENT, tn_build_source(&b, TN_OP_ELEMENT, TN_I64, 0));
	for (uint32_t j = 0; j < w->n_outputs; j++)
		out[j] = add(&b, in[j], j + 1, sum);
	return finish_program(&b, w->n_inputs, N_SCALARS, w->n_outputs, out);
}

static void evaluate(const struct weighted *w, const int64_t *lengths, uint64_t element,
		     const struct tn_scalar *scalars, const uint64_t *in, uint64_t *out)
{
	int64_t index[TN_MAX_RANK];
	uint64_t sum = 0;
	shape_index(w->rank, lengths, element, index);
	for (uint32_t k = 0; k < w->n_inputs; k++)
		sum += (k + 1) * in[k];
	for (uint32_t s = 0; s < N_SCALARS; s++)
		sum += (s + OF_SCALAR) * scalars[s].bits;
	for (uint32_t d = 0; d < w->rank && w->has_indices; d++)
		sum += (d + OF_INDEX) * (uint64_t)index[d];
	if (w->has_indices)
		sum += OF_ELEMENT * element;
	for (uint32_t j = 0; j < w->n_outputs; j++)
		out[j] = (j + 1) * sum + in[j];
}

/* Everything that a call reads and writes: its arrays in the order of `operands`. */
enum { MOST_ARRAYS = 2 * TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS };

struct call {
	struct kit *kit;
	const int64_t *lengths;
	struct tn_scalar scalars[N_SCALARS];
	uint32_t n;
	struct array array[MOST_ARRAYS], *all[MOST_ARRAYS];
	struct tn_operand operands[MOST_ARRAYS];
};

static void begin(struct call *call, struct kit *kit, const int64_t *lengths)
{
	call->kit = kit;
	call->lengths = lengths;
	call->n = 0;
	for (uint32_t s = 0; s < N_SCALARS; s++)
		call->scalars[s] =
			(struct tn_scalar){.dtype = TN_I64, .bits = kit_random(kit) >> 20};
}

/* Adds n arrays of random strides and elements; every other one is i32. */
static void add_arrays(struct call *call, enum role role, uint32_t n, uint32_t rank)
{
	for (uint32_t i = 0; i < n; i++) {
		struct array *array = &call->array[call->n];
		array_make(call->kit, array, role, i % 2 ? TN_I64 : TN_I32, rank, call->lengths,
			   RANDOM);
		array_randomise(array, 0, 0);
		call->all[call->n] = array;
		call->operands[call->n++] = array->operand;
	}
}

/* The elements number `element` of n arrays from `first` on, as i64. */
static void load(const struct call *call, uint32_t first, uint32_t n, uint64_t element,
		 uint64_t *to)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct array *array = &call->array[first + i];
		to[i] = tn_cast_bits(array->operand.dtype, TN_I64, array_bits(array, element));
	}
}

static void compare(const struct call *call, uint32_t first, uint32_t n, uint64_t element,
		    const uint64_t *expected)
{
	for (uint32_t j = 0; j < n; j++) {
		const struct array *array = &call->array[first + j];
		uint64_t bits = tn_cast_bits(TN_I64, array->operand.dtype, expected[j]);
		if (array_bits(array, element) != bits)
			kit_fail(call->kit,
				 "output %u, element %llu: expected bits %llx, found %llx", j,
				 (unsigned long long)element, (unsigned long long)bits,
				 (unsigned long long)array_bits(array, element));
	}
}

static void end(struct call *call)
{
	for (uint32_t i = 0; i < call->n; i++)
		array_free(&call->array[i]);
}

/* ---- The checks ------------------------------------------------------------------------------*/

static const int64_t all_axes[TN_MAX_RANK] = {2, 1, 2, 1, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 2};

static void maps(struct kit *kit, const int64_t *lengths, uint32_t rank, int has_indices)
{
	const struct weighted w = {TN_PROGRAM_MAX_INPUTS, TN_PROGRAM_MAX_OUTPUTS, rank,
				   has_indices};
	struct tn_program *program = build(&w);
	struct call call;
	kit_case(kit, TN_SLOT_MAP, "map: %u inputs, %u outputs, %u axes%s", w.n_inputs, w.n_outputs,
		 rank, has_indices ? " and their indices" : "");
	begin(&call, kit, lengths);
	add_arrays(&call, INPUT, w.n_inputs, rank);
	add_arrays(&call, OUTPUT, w.n_outputs, rank);
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = call.operands,
				   .outputs = call.operands + w.n_inputs,
				   .scalars = call.scalars};
	if (kit_run_ok(kit, &args, call.all, call.n)) {
		for (uint64_t e = 0; e < call.array[0].count; e++) {
			uint64_t in[TN_PROGRAM_MAX_INPUTS], out[TN_PROGRAM_MAX_OUTPUTS];
			load(&call, 0, w.n_inputs, e, in);
			evaluate(&w, lengths, e, call.scalars, in, out);
			compare(&call, w.n_inputs, w.n_outputs, e, out);
		}
	}
	end(&call);
	tn_program_destroy(program);
}

void check_map_largest(struct kit *kit)
{
	static const int64_t twos[] = {2, 2, 2, 2, 2, 2, 2, 2};
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	runs_long_program(kit);
	maps(kit, all_axes, TN_MAX_RANK, 1);
	maps(kit, twos, 8, 0);
}

enum { MOST_VALUES = 4 };
static const uint32_t combiners[MOST_VALUES] = {TN_REDUCE_SUM, TN_REDUCE_PRODUCT, TN_REDUCE_MAX,
						TN_REDUCE_ARGMIN};

/* Adds element r of the reduced ones to the accumulators. */
static void accumulate(uint64_t r, uint32_t n_values, const uint64_t *value, uint64_t *acc,
		       int64_t *least)
{
	acc[0] = (r ? acc[0] : 0) + value[0];
	if (n_values == 1)
		return;
	acc[1] = (r ? acc[1] : 1) * value[1];
	if (!r || (int64_t)value[2] > (int64_t)acc[2])
		acc[2] = value[2];
	if (!r || (int64_t)value[3] < *least) {
		acc[3] = r;
		*least = (int64_t)value[3];
	}
}

static void reduces(struct kit *kit, const int64_t *lengths, uint32_t rank, uint32_t n_reduced,
		    uint32_t n_values, int has_indices)
{
	const uint32_t kept = rank - n_reduced, n_more = TN_PROGRAM_MAX_INPUTS - n_values;
	const struct weighted w = {TN_PROGRAM_MAX_INPUTS, n_values, rank, has_indices};
	const struct weighted after = {TN_PROGRAM_MAX_INPUTS, TN_PROGRAM_MAX_OUTPUTS, kept,
				       has_indices};
	struct tn_program *prologue = build(&w), *epilogue = build(&after);
	struct call call;
	kit_case(kit, TN_SLOT_REDUCE,
		 "reduce: %u inputs and %u, %u values, %u outputs, %u of %u "
		 "axes%s",
		 w.n_inputs, n_more, n_values, after.n_outputs, n_reduced, rank,
		 has_indices ? " and their indices" : "");
	begin(&call, kit, lengths);
	add_arrays(&call, INPUT, w.n_inputs, rank);
	add_arrays(&call, INPUT, n_more, kept);
	add_arrays(&call, OUTPUT, after.n_outputs, kept);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = prologue,
				      .epilogue = epilogue,
				      .inputs = call.operands,
				      .epilogue_inputs = call.operands + w.n_inputs,
				      .outputs = call.operands + w.n_inputs + n_more,
				      .scalars = call.scalars,
				      .epilogue_scalars = call.scalars,
				      .n_reduced = n_reduced,
				      .n_values = n_values};
	memcpy(args.combiners, combiners, n_values * sizeof(*combiners));
	if (kit_run_ok(kit, &args, call.all, call.n)) {
		uint64_t length = shape_count(n_reduced, lengths + kept);
		for (uint64_t i = 0; i < call.array[w.n_inputs].count; i++) {
			uint64_t in[TN_PROGRAM_MAX_INPUTS], value[MOST_VALUES];
			uint64_t of_epilogue[TN_PROGRAM_MAX_INPUTS], out[TN_PROGRAM_MAX_OUTPUTS];
			int64_t least = 0;
			for (uint64_t r = 0; r < length; r++) {
				load(&call, 0, w.n_inputs, i * length + r, in);
				evaluate(&w, lengths, i * length + r, call.scalars, in, value);
				accumulate(r, n_values, value, of_epilogue, &least);
			}
			load(&call, w.n_inputs, n_more, i, of_epilogue + n_values);
			evaluate(&after, lengths, i, call.scalars, of_epilogue, out);
			compare(&call, w.n_inputs + n_more, after.n_outputs, i, out);
		}
	}
	end(&call);
	tn_program_destroy(prologue);
	tn_program_destroy(epilogue);
}

void check_reduce_largest(struct kit *kit)
{
	static const int64_t twos[] = {2, 2, 2, 2, 2, 2, 2, 2};
	static const int64_t one_long[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5000};
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	for (uint32_t n_reduced = 0; n_reduced <= TN_MAX_RANK; n_reduced += 8)
		reduces(kit, all_axes, TN_MAX_RANK, n_reduced, MOST_VALUES, 1);
	reduces(kit, all_axes, TN_MAX_RANK, 0, 1, 1);
	reduces(kit, twos, 8, 4, MOST_VALUES, 0);
	reduces(kit, twos, 8, 7, 1, 0);
	/* Long enough to be split into parts. */
	reduces(kit, one_long, TN_MAX_RANK, 1, MOST_VALUES, 1);
}
