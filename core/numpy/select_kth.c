/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See select_kth.h.  Elements become unsigned keys of the same order, in position.
 */
#include "numpy/select_kth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/make.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "ops/host_access.h"

/* Values of a digit, and the most keys that are sorted by insertion. */
enum { DIGITS = 256, FEW = 24 };

/* Lines of one array. */
struct selection {
	int64_t length;
	int64_t n;
	const int64_t *positions; /* in ascending order */
	uint64_t flip, infinity;  /* see the template */
};

#define KEY uint8_t
#define INSERT insert_8
#define ORDER order_8
#define CODE code_8
#define DECODE decode_8
#define SELECT select_8
#include "numpy/select_kth_template.h"

#define KEY uint16_t
#define INSERT insert_16
#define ORDER order_16
#define CODE code_16
#define DECODE decode_16
#define SELECT select_16
#include "numpy/select_kth_template.h"

#define KEY uint32_t
#define INSERT insert_32
#define ORDER order_32
#define CODE code_32
#define DECODE decode_32
#define SELECT select_32
#include "numpy/select_kth_template.h"

#define KEY uint64_t
#define INSERT insert_64
#define ORDER order_64
#define CODE code_64
#define DECODE decode_64
#define SELECT select_64
#include "numpy/select_kth_template.h"

static void select_line(size_t size, void *line, void *other, const struct selection *s)
{
	switch (size) {
	case 1:
		select_8(line, other, s);
		return;
	case 2:
		select_16(line, other, s);
		return;
	case 4:
		select_32(line, other, s);
		return;
	default:
		select_64(line, other, s);
		return;
	}
}

static uint64_t bits_of_infinity(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F16:
		return 0x7c00;
	case TN_BF16:
		return 0x7f80;
	case TN_F32:
		return 0x7f800000;
	case TN_F64:
		return UINT64_C(0x7ff) << 52;
	default:
		return 0;
	}
}

static int is_signed(tn_dtype dtype)
{
	return dtype == TN_I8 || dtype == TN_I16 || dtype == TN_I32 || dtype == TN_I64;
}

static int compare_places(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static int64_t *places_in_order(int64_t n, const int64_t *positions)
{
	int64_t *sorted = tn_mem_alloc((size_t)n * sizeof(*sorted));
	if (!sorted)
		return NULL;
	memcpy(sorted, positions, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), compare_places);
	return sorted;
}

static tn_status select_lines(const char *operation, tn_array *out, int64_t n,
			      const int64_t *positions)
{
	const size_t size = tn_dtype_size(out->dtype);
	const int64_t length = out->shape[out->rank - 1];
	int64_t *sorted = places_in_order(n, positions);
	void *other = tn_mem_alloc((size_t)length * size);
	const struct selection selection = {
		.length = length,
		.n = n,
		.positions = sorted,
		.flip = is_signed(out->dtype) ? UINT64_C(1) << (8 * size - 1) : 0,
		.infinity = bits_of_infinity(out->dtype)};
	tn_status status = TN_OK;
	if (sorted && other) {
		char *line = tn_host_address(out);
		for (int64_t i = 0; i < out->size; i += length, line += (size_t)length * size)
			select_line(size, line, other, &selection);
	} else {
		status = tn_runtime_fail(out->runtime, TN_OUT_OF_MEMORY, operation,
					 "no host memory for %" PRId64 " elements", length);
	}
	tn_mem_free(other);
	tn_mem_free(sorted);
	return status;
}

tn_array *tn_select_kth(const char *operation, const tn_array *a, int64_t n,
			const int64_t *positions)
{
	if (!a)
		return NULL;
	if (!tn_host_may_compute(a) || tn_wants_record(a->runtime, 1, &a))
		return tn_sort(a, -1, 0);
	tn_array *out = tn_copy(a);
	if (out && out->size && select_lines(operation, out, n, positions)) {
		tn_array_discard(out);
		return NULL;
	}
	return out;
}
