/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame of every draw on the host: a new array, the generator's next stream, the upload, and
 * the ledger.
 *
 *	struct tn_host_draw draw;
 *	if (tn_host_draw_begin(&draw, generator, "gamma", dtype, rank, shape))
 *		return NULL;
 *	... write draw.size elements to draw.data, by tn_host_draw_for or by itself
 *	return tn_host_draw_end(&draw, status);
 */
#ifndef TN_RANDOM_HOST_DRAW_H
#define TN_RANDOM_HOST_DRAW_H

#include "array/array.h"

struct tn_host_draw {
	struct tn_runtime *runtime;
	struct tn_generator *generator;
	const char *operation;
	struct tn_random_state before;
	uint64_t seed, stream; /* of this draw */
	tn_array *out;
	unsigned char *data; /* of out, row-major */
	uint64_t bytes_read; /* of parameters on the device */
	double start;
};

/* Errors are kept, and nothing is left to end: TN_NOT_CAPTURABLE while work is captured,
 * TN_UNSUPPORTED where TENON_FALLBACK forbids it, TN_PENDING_ERROR. */
tn_status tn_host_draw_begin(struct tn_host_draw *draw, struct tn_generator *generator,
			     const char *operation, tn_dtype dtype, int rank, const int64_t *shape);
/* Calls body(argument, begin, end) until all n numbers are made, in parts, by several threads. */
void tn_host_draw_for(const struct tn_host_draw *draw, int64_t n,
		      void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument);
/* Stores a number as element i, rounded to a floating dtype; of i64 saturating. */
void tn_host_draw_store(const struct tn_host_draw *draw, uint64_t i, double value);
/* Uploads, counts, and returns the array; with the report of a failure, keeps that, and returns
 * NULL. */
tn_array *tn_host_draw_end(struct tn_host_draw *draw, tn_status status);

/* Reads a real array's elements as doubles, row-major, into memory that the caller frees
 * (tn_mem_free).  *values is NULL on failure, with the error kept. */
tn_status tn_host_draw_read(struct tn_host_draw *draw, const tn_array *array, double **values);

#endif
