/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the files of Winograd's convolution: see conv_winograd.c.
 */
#ifndef CPU_CONV_WINOGRAD_H
#define CPU_CONV_WINOGRAD_H

#include "conv2d.h"
#include "kernels/winograd.h"

/* Floats in a cache line: planes are padded by one, because at a distance of a power of two all 36
 * would share one set of the caches. */
#define WINOGRAD_LINE 16

/* Work in units that are cut by the shape alone.  Each of a few threads has its own scratch and
 * takes the next remaining unit. */
struct winograd_units {
	const struct cpu_device *device;
	const void *job;
	void (*work)(const void *job, int64_t unit, float *scratch);
	int64_t n;
	float *scratch;
	int64_t scratch_floats; /* for one thread */
};

/* The number of threads that will share n units. */
int64_t winograd_threads(const struct cpu_device *device, int64_t n);
void winograd_run(const struct winograd_units *units);

struct cpu_winograd_image winograd_image(const struct cpu_images *images, int64_t height,
					 int64_t width, int64_t channels);

static inline int64_t winograd_divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static inline int64_t winograd_round_up(int64_t a, int64_t b)
{
	return winograd_divide_up(a, b) * b;
}

static inline int64_t winograd_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The cost of the transforms, in multiply-adds of the product: per channel of a tile of the input,
 * and of the output or its gradient, and per filter (in either direction).  Measured with AVX-512;
 * with shorter registers both sides slow down alike. */
#define WINOGRAD_INPUT_COST 340.0
#define WINOGRAD_OUTPUT_COST 250.0
#define WINOGRAD_FILTER_COST 300.0

/* The weights' gradient: its cost in multiply-adds, its workspace, its run. */
double winograd_gradient_cost(const struct cpu_conv *conv);
uint64_t winograd_gradient_workspace(const struct cpu_conv *conv);
void winograd_gradient_run(const struct cpu_conv *conv);

#endif
