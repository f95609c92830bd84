/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tensors of four axes in memory with sentinels: in each layout, every byte outside the elements
 * must stay unchanged.  For tests of kernels over pictures.
 */
#ifndef TN_TESTS_CPU_TENSOR_H
#define TN_TESTS_CPU_TENSOR_H

#include <tenon/backend.h>

#include "base/memory.h"
#include "check.h"

enum layout {
	LAYOUT_NCHW,
	LAYOUT_NHWC,
	LAYOUT_NHWC_GAPS, /* some channels of a tensor with more */
	LAYOUT_NCHW_GAPS, /* every other column */
	LAYOUT_CHWN,
	LAYOUTS
};

enum { SENTINEL = 0xa5, MARGIN = 64 };

struct tensor {
	char *memory;
	size_t bytes;
	struct tn_operand operand;
};

static uint32_t tensor_state = 1;

/* -1 to 1. */
static inline double tensor_random(void)
{
	tensor_state = tensor_state * 1664525u + 1013904223u;
	return (double)(int32_t)tensor_state / 2147483648.0;
}

static inline void tensor_strides(enum layout layout, const int64_t shape[4], int64_t strides[4])
{
	int64_t n = shape[0], c = shape[1], h = shape[2], w = shape[3];
	int64_t gaps = layout == LAYOUT_NHWC_GAPS ? 3 : 0, step = 1 + (layout == LAYOUT_NCHW_GAPS);
	switch (layout) {
	case LAYOUT_NHWC:
	case LAYOUT_NHWC_GAPS:
		memcpy(strides, ((int64_t[]){h * w * (c + gaps), 1, w * (c + gaps), c + gaps}),
		       4 * sizeof(int64_t));
		return;
	case LAYOUT_CHWN:
		memcpy(strides, ((int64_t[]){1, h * w * n, w * n, n}), 4 * sizeof(int64_t));
		return;
	default:
		memcpy(strides, ((int64_t[]){c * h * w * step, h * w * step, w * step, step}),
		       4 * sizeof(int64_t));
	}
}

/* f32 or i32, all bytes sentinels. */
static inline struct tensor tensor_make(tn_dtype dtype, const int64_t shape[4], enum layout layout)
{
	struct tensor t = {.operand = {.offset = MARGIN, .dtype = dtype, .rank = 4}};
	int64_t last = 0;
	memcpy(t.operand.shape, shape, 4 * sizeof(int64_t));
	tensor_strides(layout, shape, t.operand.strides);
	for (int i = 0; i < 4; i++)
		last += (shape[i] - 1) * t.operand.strides[i];
	t.bytes = (size_t)(last + 1) * 4 + (size_t)2 * MARGIN;
	t.memory = tn_mem_aligned(t.bytes, 64);
	memset(t.memory, SENTINEL, t.bytes);
	t.operand.buffer = (uint64_t)(uintptr_t)t.memory;
	return t;
}

static inline void *tensor_at(const struct tensor *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
	const int64_t *s = t->operand.strides;
	int64_t at = a * s[0] + b * s[1] + c * s[2] + d * s[3];
	return t->memory + t->operand.offset + at * 4;
}

/* The element of that number in row-major order. */
static inline void *tensor_element(const struct tensor *t, int64_t number)
{
	const int64_t *shape = t->operand.shape;
	int64_t d = number % shape[3], c = number / shape[3] % shape[2];
	int64_t rest = number / shape[3] / shape[2];
	return tensor_at(t, rest / shape[1], rest % shape[1], c, d);
}

static inline int64_t tensor_count(const struct tensor *t)
{
	const int64_t *shape = t->operand.shape;
	return shape[0] * shape[1] * shape[2] * shape[3];
}

static inline double tensor_number(const struct tensor *t, int64_t number)
{
	return *(const float *)tensor_element(t, number);
}

static inline void tensor_randomise(const struct tensor *t)
{
	for (int64_t i = 0; i < tensor_count(t); i++)
		*(float *)tensor_element(t, i) = (float)tensor_random();
}

/* Bytes outside the elements must be unchanged. */
static inline void tensor_check_sentinels(const struct tensor *t)
{
	char *covered = tn_mem_zeroed(t->bytes, 1);
	for (int64_t i = 0; i < tensor_count(t); i++)
		memset(covered + ((char *)tensor_element(t, i) - t->memory), 1, 4);
	for (size_t i = 0; i < t->bytes; i++) {
		if (!covered[i] && (unsigned char)t->memory[i] != SENTINEL)
			fail_msg("byte %zu of %zu belongs to no element and was written", i,
				 t->bytes);
	}
	tn_mem_free(covered);
}

static inline void tensor_free(struct tensor *t)
{
	tn_mem_free(t->memory);
	t->memory = NULL;
}

#endif
