/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands in many layouts between sentinels, programs as data, and values from a fixed sequence.
 */
#ifndef TN_TESTS_INTERPRET_FIXTURE_H
#define TN_TESTS_INTERPRET_FIXTURE_H

#include "check.h"

#include "base/threads.h"
#include "program/cast.h"
#include "program/evaluate.h"
#include "interpret/interpret.h"
#include "program/random.h"

#define MARGIN 64
#define SENTINEL 0xA5

/* ---- Programs ---- */

struct text {
	struct tn_program program;
	struct tn_instruction code[TN_PROGRAM_MAX_INSTRUCTIONS];
	uint64_t constants[TN_PROGRAM_MAX_CONSTANTS];
	uint16_t outputs[TN_PROGRAM_MAX_OUTPUTS];
};

static inline void text_init(struct text *t, uint32_t n_inputs, uint32_t n_scalars)
{
	memset(t, 0, sizeof(*t));
	t->program.struct_size = sizeof(t->program);
	t->program.n_inputs = n_inputs;
	t->program.n_scalars = n_scalars;
	t->program.instructions = t->code;
	t->program.constants = t->constants;
	t->program.outputs = t->outputs;
}

static inline uint16_t text_op(struct text *t, uint16_t op, tn_dtype dtype, unsigned a, unsigned b,
			       unsigned c)
{
	uint32_t i = t->program.n_instructions++;
	t->code[i] = (struct tn_instruction){op,          (uint16_t)dtype, (uint16_t)a,
					     (uint16_t)b, (uint16_t)c,     0};
	return (uint16_t)i;
}

static inline uint16_t text_constant(struct text *t, tn_dtype dtype, uint64_t bits)
{
	t->constants[t->program.n_constants] = bits;
	return text_op(t, TN_OP_CONSTANT, dtype, t->program.n_constants++, 0, 0);
}

static inline void text_output(struct text *t, uint16_t value)
{
	t->outputs[t->program.n_outputs++] = value;
}

/* ---- Operands ---- */

enum layout {
	CONTIGUOUS,
	REVERSED_AXES,    /* the first axis is the contiguous one */
	EVERY_SECOND,     /* twice the stride on the last axis */
	NEGATIVE,         /* all strides below zero */
	BROADCAST_ROW,    /* stride 0 on all axes but the last */
	BROADCAST_COLUMN, /* stride 0 on the last axis */
	BROADCAST_ALL,
	OFFSET, /* contiguous, some elements into the buffer */
	PADDED, /* gaps between rows */
	LAYOUTS,
};

struct tensor {
	struct tn_operand operand;
	unsigned char *memory;
	size_t bytes;
};

static inline void tensor_strides(struct tn_operand *o, enum layout layout, int64_t *span,
				  int64_t *lowest)
{
	int64_t stride = layout == EVERY_SECOND ? 2 : 1;
	for (unsigned k = 0; k < o->rank; k++) {
		unsigned d = layout == REVERSED_AXES ? k : o->rank - 1 - k;
		int64_t length = o->shape[d];
		int still = layout == BROADCAST_ALL ||
			    (layout == BROADCAST_ROW && d + 1 != o->rank) ||
			    (layout == BROADCAST_COLUMN && d + 1 == o->rank);
		o->strides[d] = still ? 0 : layout == NEGATIVE ? -stride : stride;
		stride *= still ? 1 : length;
		if (layout == PADDED && k == 0)
			stride += 3;
	}
	*span = 1;
	*lowest = 0;
	for (unsigned d = 0; d < o->rank; d++) {
		int64_t reach = o->strides[d] * (o->shape[d] - 1);
		*span += reach < 0 ? -reach : reach;
		*lowest += reach < 0 ? reach : 0;
	}
}

static inline struct tensor tensor_make(tn_dtype dtype, unsigned rank, const int64_t *shape,
					enum layout layout)
{
	struct tensor t;
	int64_t span, lowest, size = (int64_t)tn_dtype_size(dtype);
	memset(&t, 0, sizeof(t));
	t.operand.dtype = dtype;
	t.operand.rank = rank;
	memcpy(t.operand.shape, shape, rank * sizeof(*shape));
	tensor_strides(&t.operand, layout, &span, &lowest);
	if (layout == OFFSET)
		span += 5;
	t.bytes = (size_t)(span * size) + 2 * MARGIN;
	t.memory = malloc(t.bytes);
	assert_non_null(t.memory);
	memset(t.memory, SENTINEL, t.bytes);
	t.operand.buffer = (uint64_t)t.memory;
	t.operand.offset = (uint64_t)(MARGIN - lowest * size + (layout == OFFSET ? 5 * size : 0));
	return t;
}

static inline void tensor_free(struct tensor *t)
{
	free(t->memory);
	t->memory = NULL;
}

static inline size_t tensor_count(const struct tn_operand *o)
{
	size_t count = 1;
	for (unsigned d = 0; d < o->rank; d++)
		count *= (size_t)o->shape[d];
	return count;
}

static inline void index_of(const struct tn_operand *o, size_t element, int64_t *index)
{
	for (unsigned d = o->rank; d-- > 0;) {
		index[d] = (int64_t)(element % (size_t)o->shape[d]);
		element /= (size_t)o->shape[d];
	}
}

static inline unsigned char *element_at(const struct tn_operand *o, const int64_t *index)
{
	int64_t place = 0;
	for (unsigned d = 0; d < o->rank; d++)
		place += index[d] * o->strides[d];
	return (unsigned char *)(o->buffer + o->offset) + place * (int64_t)tn_dtype_size(o->dtype);
}

static inline uint64_t bits_at(const struct tn_operand *o, const int64_t *index)
{
	uint64_t bits = 0;
	memcpy(&bits, element_at(o, index), tn_dtype_size(o->dtype));
	return bits;
}

/* A value of dtype from the sequence `stream`: small numbers of both signs,
 * where the dtype has them. */
static inline uint64_t value_of(tn_dtype dtype, uint64_t stream, uint64_t i)
{
	double x = ((double)tn_random(11, stream, i) / 4294967296.0 - 0.5) * 9;
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	if (dtype == TN_BOOL)
		return tn_random(11, stream, i) & 1;
	return tn_cast_bits(TN_F64, dtype, bits);
}

static inline void tensor_fill(struct tensor *t, uint64_t stream)
{
	size_t n = tensor_count(&t->operand);
	for (size_t e = 0; e < n; e++) {
		int64_t index[TN_MAX_RANK];
		index_of(&t->operand, e, index);
		uint64_t bits = value_of(t->operand.dtype, stream, e);
		memcpy(element_at(&t->operand, index), &bits, tn_dtype_size(t->operand.dtype));
	}
}

/* Every byte outside the elements must still be a sentinel. */
static inline void check_sentinels(const struct tensor *t)
{
	unsigned char *touched = calloc(1, t->bytes);
	size_t n = tensor_count(&t->operand);
	for (size_t e = 0; e < n; e++) {
		int64_t index[TN_MAX_RANK];
		index_of(&t->operand, e, index);
		size_t at = (size_t)(element_at(&t->operand, index) - t->memory);
		memset(touched + at, 1, tn_dtype_size(t->operand.dtype));
	}
	for (size_t i = 0; i < t->bytes; i++) {
		if (!touched[i] && t->memory[i] != SENTINEL)
			fail_msg("byte %zu of %zu was written", i, t->bytes);
	}
	free(touched);
}

static inline double number_of_bits(tn_dtype dtype, uint64_t bits)
{
	uint64_t wide = tn_cast_bits(dtype, TN_F64, bits);
	double x;
	memcpy(&x, &wide, sizeof(x));
	return x;
}

/* |found - expected| within `ulps` units in the last place of the dtype at `scale`; equal bits, and
 * two NaNs, always pass.  Integers must be equal. */
static inline int values_agree(tn_dtype dtype, uint64_t found, uint64_t expected, double ulps,
			       double scale)
{
	double epsilon = dtype == TN_F64    ? 0x1p-52
			 : dtype == TN_F32  ? 0x1p-23
			 : dtype == TN_F16  ? 0x1p-10
			 : dtype == TN_BF16 ? 0x1p-7
					    : 0;
	double x = number_of_bits(dtype, found), y = number_of_bits(dtype, expected);
	if (found == expected || (isnan(x) && isnan(y)) || x == y)
		return epsilon != 0 || found == expected;
	double size = fabs(y) > scale ? fabs(y) : scale;
	return fabs(x - y) <= ulps * epsilon * size;
}

/* A plugin's kernels with a fused multiply-add, so that the interpreter contracts. */
static inline void fused_f32(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	float *d = dst;
	const float *x = a, *y = b, *z = c;
	for (size_t i = 0; i < n; i++)
		d[i] = fmaf(x[i], y[i], z[i]);
}

static const tn_block_fn fused_rows[(TN_OP_FMA + 1) * TN_COLUMNS] = {
	[TN_OP_FMA * TN_COLUMNS + TN_COLUMN_F32] = fused_f32};

static const struct tn_block_kernels fused_kernels = {.struct_size = sizeof(fused_kernels),
						      .n_operations = TN_OP_FMA + 1,
						      .n_columns = TN_COLUMNS,
						      .operations = fused_rows};

static inline struct tn_call plain_call(size_t size, struct tn_error_info *error)
{
	struct tn_call call = {.struct_size = (uint32_t)size, .error = error};
	return call;
}

#endif
