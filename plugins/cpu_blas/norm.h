/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checked arguments of a norm, and the memory layout of its arrays.
 */
#ifndef CPU_NORM_TAKE_H
#define CPU_NORM_TAKE_H

#include "kernels/norm.h"
#include "plugin.h"

enum cpu_norm_kind { CPU_NORM_BATCH, CPU_NORM_GROUP, CPU_NORM_LAYER };
enum { CPU_NORM_DX = 1, CPU_NORM_DW = 2, CPU_NORM_DRESIDUAL = 4 };

/* In columns, number (sample, row, channel) is at sample * `sample` + row * `down` + channel; in
 * planes, at sample * `sample` + channel * `down` + row. */
struct cpu_norm_view {
	int is_used; /* an address may be 0 in a dry run */
	float *at;
	int64_t sample, down;
};

struct cpu_norm {
	const struct cpu_device *device;
	enum cpu_norm_kind kind;
	int is_backward;
	const char *name;
	struct tn_norm_args args;
	int in_planes;
	int64_t samples, rows, channels; /* samples of batch and layer norm are 1 if possible */
	int64_t groups;                  /* in a sample */
	struct cpu_norm_view x, y, residual, result, dx, dresidual; /* y: dy in backward */
};

/* Fills all of `n` except its kind, direction, name and device. */
tn_status cpu_norm_take(struct cpu_norm *n, const struct tn_norm_args *args);

/* The range of the activation: the clamp of forward, the upper limit of backward's mask. */
void cpu_norm_clamp(const struct cpu_norm *n, float *low, float *high);
float cpu_norm_limit(const struct cpu_norm *n);

/* Element i of an operand of one axis. */
static inline float *cpu_norm_value(const struct tn_operand *operand, int64_t i)
{
	return (float *)(uintptr_t)(operand->buffer + operand->offset) + i * operand->strides[0];
}

tn_status cpu_batch_norm_backward(void *device, const struct tn_norm_args *args);
tn_status cpu_batch_norm_forward(void *device, const struct tn_norm_args *args);
tn_status cpu_group_norm_backward(void *device, const struct tn_norm_args *args);
tn_status cpu_group_norm_forward(void *device, const struct tn_norm_args *args);
tn_status cpu_layer_norm_backward(void *device, const struct tn_norm_args *args);
tn_status cpu_layer_norm_forward(void *device, const struct tn_norm_args *args);

/* `size` bytes of workspace: handles a dry run, or gives their address. */
tn_status cpu_norm_workspace(const struct cpu_norm *n, uint64_t size, float **memory);

#endif
