/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws on the device: one element program over the words of a stream.
 *
 * Word `element() + k 2^60` of the stream is the k-th word of an element, so that the words of
 * neighbours are neighbours, which backends make fast.
 */
#ifndef TN_RANDOM_DEVICE_DRAW_H
#define TN_RANDOM_DEVICE_DRAW_H

#include <tenon/random.h>

#include "array/array.h"
#include "dispatch/formulas.h"

/* Texts: the k-th word of the element, as a u32. */
#define TN_WORD_0 "random(seed, stream, element())"
#define TN_WORD_1 "random(seed, stream, element() + 0x1000000000000000)"
#define TN_WORD_2 "random(seed, stream, element() + 0x2000000000000000)"
#define TN_WORD_3 "random(seed, stream, element() + 0x3000000000000000)"
/* A number of 63 bits, as an i64. */
#define TN_BITS_63 "(i64(" TN_WORD_0 ") << 31 | i64(" TN_WORD_1 " >> 1))"

enum { TN_DRAW_SCALARS = 4 };

struct tn_device_draw {
	uint32_t operation;        /* enum tn_operation, or tn_operation_named */
	struct tn_formula formula; /* of at most one input; its first scalars: "seed stream" */
	const tn_array *input;     /* NULL: none */
	struct tn_scalar scalars[TN_DRAW_SCALARS]; /* the others */
};

/* A new array on the current device; NULL with the error kept. */
tn_array *tn_draw_make(tn_generator *generator, const char *operation, tn_dtype dtype, int rank,
		       const int64_t *shape);
/* Fills `out` from the generator's next stream; fills runtime->report. */
tn_status tn_draw_fill(tn_generator *generator, const struct tn_device_draw *draw, tn_array *out);
/* The two: a draw that fails uses no stream. */
tn_array *tn_draw_new(tn_generator *generator, const struct tn_device_draw *draw, tn_dtype dtype,
		      int rank, const int64_t *shape);

/* The runtime of a generator and an array for an operation of both, or NULL: one of them is NULL,
 * an error is kept, or they are in different contexts (an error that is then kept). */
struct tn_runtime *tn_draw_begin(tn_generator *generator, const tn_array *array,
				 const char *operation);

/* i64 keys of 63 random bits, on that device. */
tn_array *tn_draw_keys(tn_generator *generator, struct tn_device *device, const char *operation,
		       int rank, const int64_t *shape);

#endif
