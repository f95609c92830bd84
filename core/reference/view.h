/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands: checks, iteration over their elements in row-major order, and copies of floating ones
 * to compact arrays of double and back.  The loops of the layers run on such copies, so they need
 * not handle strides and element types, and an output may be the same view as an input.
 */
#ifndef TN_REFERENCE_VIEW_H
#define TN_REFERENCE_VIEW_H

#include "base/bits.h"
#include "reference/call.h"

enum { READ = 0, WRITE = 1 };

/* Checks an operand that an entry reads or writes.  TN_UNSUPPORTED: an unknown dtype.  TN_SHAPE: a
 * length below 1, or too many elements.  TN_INVALID_ARGUMENT: the rank is too high, an output has
 * stride 0, or the buffer is 0 (a dry run ignores it). */
tn_status tn_reference_check(const struct tn_call *call, const char *operation, const char *name,
			     const struct tn_operand *operand, int access);

/* The same, and TN_DTYPE or TN_UNSUPPORTED unless all dtypes are f32 or all f64. */
tn_status tn_reference_check_real(const struct tn_call *call, const char *operation,
				  const char *name, const struct tn_operand *operand,
				  tn_dtype dtype, int access);

/* TN_SHAPE unless the operand has exactly the given shape. */
tn_status tn_reference_check_shape(const struct tn_call *call, const char *operation,
				   const char *name, const struct tn_operand *operand,
				   uint32_t rank, const int64_t *shape);

/* Writes "(2, 3)" for messages; returns `text`, of at least SHAPE_TEXT bytes. */
enum { SHAPE_TEXT = 128 };
const char *tn_reference_shape_text(uint32_t rank, const int64_t *shape, char *text);

/* The number of elements of a checked operand. */
uint64_t tn_reference_count(const struct tn_operand *operand);

/* A position in an operand, which advances in row-major order. */
struct cursor {
	const struct tn_operand *operand;
	char *at;
	int64_t step[TN_MAX_RANK]; /* bytes from one index to the next, per axis */
	int64_t index[TN_MAX_RANK];
};

void tn_reference_cursor(struct cursor *cursor, const struct tn_operand *operand);

static inline void cursor_next(struct cursor *cursor)
{
	for (uint32_t axis = cursor->operand->rank; axis-- > 0;) {
		cursor->at += cursor->step[axis];
		if (++cursor->index[axis] < cursor->operand->shape[axis])
			return;
		cursor->at -= cursor->step[axis] * cursor->operand->shape[axis];
		cursor->index[axis] = 0;
	}
}

/* Scratch memory of the device for n doubles; NULL: out of memory. */
double *tn_reference_numbers(void *device, uint64_t n);
void tn_reference_release(void *device, void *numbers); /* takes NULL */

/* dst[i] := element i, in row-major order. */
void tn_reference_read(double *dst, const struct tn_operand *operand);

/* Scratch memory with a copy of the operand; NULL: out of memory. */
double *tn_reference_unpack(void *device, const struct tn_operand *operand);

/* Element i := src[i], or += src[i] with `accumulate`; rounded once to the operand's dtype. */
void tn_reference_write(const struct tn_operand *operand, const double *src, int accumulate);

#endif
