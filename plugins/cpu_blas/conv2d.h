/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution: shared by the entries of tenon.nn/1 and the algorithms, each of which is a file of
 * its own.  The entries check arguments, convert images to channels last, choose an algorithm by
 * the shapes alone and run it on one group of images after another.
 */
#ifndef CPU_CONV2D_H
#define CPU_CONV2D_H

#include "plugin.h"

enum cpu_conv_pass { CPU_CONV_FORWARD, CPU_CONV_INPUT_GRADIENT, CPU_CONV_WEIGHT_GRADIENT };

/* Images with contiguous channels; strides in elements. */
struct cpu_images {
	float *data;
	int64_t image, row, pixel;
};

/* One of the three passes over a group of images, in the notation of struct tn_conv2d_args. */
struct cpu_conv {
	const struct cpu_device *device;
	const struct cpu_kernels *kernels;
	enum cpu_conv_pass pass;
	int64_t n, c, h, w; /* x */
	int64_t o, p, q;    /* y */
	int64_t r, s;       /* the window */
	int64_t groups;     /* each with c / groups and o / groups channels */
	int64_t stride[2], dilation[2];
	int64_t padding[4];   /* top, left, bottom, right */
	struct cpu_images x;  /* input gradient: dx */
	struct cpu_images y;  /* gradients: dy */
	float *weights;       /* weight gradient: dw */
	int64_t w_strides[4]; /* of o, c, r, s; any */
	int accumulate;       /* gradients: add to dx or dw */
	/* Forward: y := activation(sum + bias + residual). */
	const float *bias; /* NULL: none */
	int64_t bias_stride;
	struct cpu_images residual; /* data NULL: none */
	uint32_t activation;
	const void *packed; /* made from w by this algorithm's pack(); NULL: none */
	char *workspace;    /* of the size that workspace() returned, aligned to 256 */
};

struct cpu_conv_algorithm {
	const char *name;
	/* Does it support this pass of this shape?  Here, in the next, and in the two that return
	 * sizes, there are no pointers yet, and n counts all images. */
	int (*suits)(const struct cpu_conv *conv);
	/* If so, should it be chosen if none is requested?  NULL: yes. */
	int (*pays)(const struct cpu_conv *conv);
	/* Bytes of scratch; never fewer for more images. */
	uint64_t (*workspace)(const struct cpu_conv *conv);
	void (*run)(const struct cpu_conv *conv);
	/* Bytes of packed weights for forward, 0: no benefit; and the function that writes them,
	 * from `weights`, with the same workspace.  Both may be NULL. */
	uint64_t (*packed_size)(const struct cpu_conv *conv);
	void (*pack)(const struct cpu_conv *conv, void *packed);
};

/* In the order in which they are tried; the last supports everything. */
extern const struct cpu_conv_algorithm cpu_conv_depthwise;
extern const struct cpu_conv_algorithm cpu_conv_few;
extern const struct cpu_conv_algorithm cpu_conv_implicit;
extern const struct cpu_conv_algorithm cpu_conv_winograd;

/* The index of the algorithm that the option `conv` names, or one that means the default of each
 * shape. */
uint32_t cpu_conv_choose(const struct tn_host *host);

/* x[i] := activation(x[i]), for any of TN_ACTIVATION_...; activations that a vector register
 * computes at once (TN_ACTIVATION_RELU, RELU6) are faster in the kernel. */
void cpu_activate(const struct cpu_instance *cpu, uint32_t activation, float *x, int64_t n);

tn_status cpu_conv2d_forward(void *device, const struct tn_conv2d_args *args);
tn_status cpu_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args);
tn_status cpu_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args);
tn_status cpu_conv2d_prepack(void *device, const struct tn_conv2d_args *args, uint64_t *size);

#endif
