/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One call of reduce compared with a loop over tn_op_evaluate, for its tests.
 */
#ifndef TN_TESTS_INTERPRET_REDUCE_H
#define TN_TESTS_INTERPRET_REDUCE_H

#include "interpret_fixture.h"

#include <tenon/program.h>

static struct tn_threads *one, *four;

/* One reduction: programs, combiners, inputs whose last n_reduced axes are reduced. */
struct job {
	struct tn_threads *threads;
	const struct tn_program *prologue, *epilogue;
	const struct tn_operand *inputs, *epilogue_inputs, *outputs;
	const struct tn_scalar *scalars;
	uint32_t n_reduced, n_values;
	uint32_t combiners[4];
	const struct tn_block_kernels *kernels;
};

static inline tn_status call(const struct job *job, uint32_t flags, struct tn_error_info *error)
{
	struct tn_reduce_args args = {.call = plain_call(sizeof(args), error),
				      .prologue = job->prologue,
				      .epilogue = job->epilogue,
				      .inputs = job->inputs,
				      .epilogue_inputs = job->epilogue_inputs,
				      .outputs = job->outputs,
				      .scalars = job->scalars,
				      .n_reduced = job->n_reduced,
				      .n_values = job->n_values};
	memcpy(args.combiners, job->combiners, sizeof(args.combiners));
	args.call.flags = flags;
	return tn_interpret_reduce(job->threads, &args, job->kernels);
}

static inline tn_dtype accumulator_of(uint32_t combiner, tn_dtype value)
{
	return tn_is_floating(value) && combiner <= TN_REDUCE_MIN ? value : TN_I64;
}

/* An accumulator of the oracle: sums and products in double, whose error is far below f32's; f64
 * has a tolerance for its own error. */
struct oracle {
	uint64_t acc;     /* integers, largest and smallest */
	double sum;       /* floating sums and products */
	double magnitude; /* sum of the terms' magnitudes */
	uint64_t best;
	int64_t number;
	size_t count;
};

static inline void join(struct oracle *o, uint32_t combiner, tn_dtype dtype, uint64_t bits,
			int64_t number)
{
	static const uint16_t opcode[] = {0, TN_OP_ADD, TN_OP_MUL, TN_OP_MAX, TN_OP_MIN};
	tn_dtype acc = accumulator_of(combiner, dtype);
	double x = number_of_bits(dtype, bits), best = number_of_bits(dtype, o->best);
	int first = o->count++ == 0;
	o->magnitude += fabs(x);
	if (combiner >= TN_REDUCE_ARGMAX) {
		int beats = combiner == TN_REDUCE_ARGMAX ? x > best : x < best;
		if (first || (!isnan(best) && (beats || isnan(x)))) {
			o->best = bits;
			o->number = number;
		}
		return;
	}
	if (first)
		o->sum = x;
	else
		o->sum = combiner == TN_REDUCE_SUM ? o->sum + x : o->sum * x;
	bits = tn_cast_bits(dtype, acc, bits);
	o->acc = first ? bits : tn_op_evaluate(opcode[combiner], acc, acc, o->acc, bits, 0);
}

static inline uint64_t result_of(const struct oracle *o, uint32_t combiner, tn_dtype dtype)
{
	if (combiner >= TN_REDUCE_ARGMAX)
		return (uint64_t)o->number;
	if (tn_is_floating(dtype) && combiner <= TN_REDUCE_PRODUCT)
		return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(o->sum));
	return o->acc;
}

/* The error of a sum of n terms is at most that many half ulps of the sum of magnitudes, whatever
 * the order (Higham, ch. 4); of a product, relative to itself.  Contraction may remove the
 * prologue's last rounding: one more. */
static inline double ulps_of(uint32_t combiner, size_t n, tn_dtype dtype)
{
	if (!tn_is_floating(dtype) || combiner > TN_REDUCE_PRODUCT)
		return 0;
	return 2 + (double)(n < 300 ? n : 300);
}

static inline void check_element(const struct job *job, const int64_t *kept, size_t element)
{
	const struct tn_program *program = job->prologue;
	const struct tn_operand *in = job->inputs;
	unsigned n_kept = in->rank - job->n_reduced;
	struct tn_operand space = {.rank = job->n_reduced};
	struct oracle oracles[4] = {{0}};
	uint64_t x[TN_PROGRAM_MAX_INPUTS], s[TN_PROGRAM_MAX_SCALARS] = {0}, y[4];
	memcpy(space.shape, in->shape + n_kept, job->n_reduced * sizeof(*space.shape));
	size_t n = tensor_count(&space);
	for (uint32_t k = 0; k < program->n_scalars; k++)
		s[k] = tn_cast_bits(job->scalars[k].dtype, tn_program_scalar_dtype(program, k),
				    job->scalars[k].bits);
	for (size_t r = 0; r < n; r++) {
		int64_t index[TN_MAX_RANK];
		memcpy(index, kept, n_kept * sizeof(*kept));
		index_of(&space, r, index + n_kept);
		for (uint32_t k = 0; k < program->n_inputs; k++) {
			/* An input that is never read has no dtype. */
			tn_dtype dtype = tn_program_input_dtype(program, k);
			x[k] = dtype ? tn_cast_bits(in[k].dtype, dtype, bits_at(&in[k], index)) : 0;
		}
		tn_evaluate_program(program, x, s, index, (int64_t)(element * n + r), y);
		for (uint32_t v = 0; v < job->n_values; v++)
			join(&oracles[v], job->combiners[v], tn_program_output_dtype(program, v),
			     y[v], (int64_t)r);
	}
	for (uint32_t v = 0; v < job->n_values; v++) {
		uint32_t combiner = job->combiners[v];
		tn_dtype value = tn_program_output_dtype(program, v);
		const struct tn_operand *out = &job->outputs[v];
		uint64_t expected = tn_cast_bits(accumulator_of(combiner, value), out->dtype,
						 result_of(&oracles[v], combiner, value));
		uint64_t found = bits_at(out, kept);
		double scale = combiner == TN_REDUCE_SUM ? oracles[v].magnitude : 0;
		if (!values_agree(out->dtype, found, expected, ulps_of(combiner, n, out->dtype),
				  scale))
			fail_msg("value %u (combiner %u, dtype %d), element %zu, %zu terms: %#llx, "
				 "not %#llx",
				 v, combiner, value, element, n, (unsigned long long)found,
				 (unsigned long long)expected);
	}
}

/* Without an epilogue: all elements. */
static inline void check_all(const struct job *job)
{
	size_t n = tensor_count(&job->outputs[0]);
	for (size_t e = 0; e < n; e++) {
		int64_t kept[TN_MAX_RANK];
		index_of(&job->outputs[0], e, kept);
		check_element(job, kept, e);
	}
}

/* The operand with the axes of `mask` last, and the others' shape. */
static inline struct tn_operand reduced_last(const struct tn_operand *o, unsigned mask,
					     int64_t *kept, unsigned *n_kept)
{
	struct tn_operand view = *o;
	unsigned first = 0, last = o->rank - (unsigned)__builtin_popcount(mask);
	*n_kept = last;
	for (unsigned d = 0; d < o->rank; d++) {
		unsigned reduced = mask >> d & 1, to = reduced ? last++ : first;
		if (!reduced)
			kept[first++] = o->shape[d];
		view.shape[to] = o->shape[d];
		view.strides[to] = o->strides[d];
	}
	return view;
}

static inline int set_up(void **state)
{
	(void)state;
	one = tn_threads_create(1);
	four = tn_threads_create(4);
	return !one || !four;
}

static inline int tear_down(void **state)
{
	(void)state;
	tn_threads_destroy(one);
	tn_threads_destroy(four);
	return 0;
}

#endif
