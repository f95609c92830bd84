/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The networks that are measured, with the names that PyTorch gives their parameters in bench/train.py.
 * `width` is the number of channels of the first stage: other widths give small networks of the same
 * form for tests.
 */
#ifndef TN_BENCH_NETWORKS_H
#define TN_BENCH_NETWORKS_H

#include <tenon/tenon.h>

/* Adds `member` to a chain or residual block, unless *status is an error already. */
void network_add(tn_module *chain, const char *name, tn_module *member, tn_status *status);
/* The chain, or NULL when status is an error: then it is freed. */
tn_module *network_end(tn_module *chain, tn_status status);
/* A square convolution without bias; padding keeps the size but for the stride. */
tn_module *network_conv(tn_context *context, int64_t in, int64_t out, int64_t kernel,
			int64_t stride, int64_t groups);

/* ResNet-18 (He et al. 2016) with the stem for small pictures; width 64. */
tn_module *network_resnet18(tn_context *context, int64_t width, int64_t n_classes);
/* EfficientNet-Lite0 (Tan and Le 2019, without squeeze-and-excitation, with ReLU6); width 32, a multiple
 * of 4. */
tn_module *network_effnet(tn_context *context, int64_t width, int64_t n_classes);
/* ConvNeXt-T (Liu et al. 2022); width 96. */
tn_module *network_convnext(tn_context *context, int64_t width, int64_t n_classes);

/* What goes in and how it is trained. */
struct network {
	const char *name;
	struct tn_model_shape shape;
	double momentum;
};
/* NULL: there is none of that name. */
const struct network *network_find(const char *name);
tn_module *network_create(tn_context *context, const struct network *network);

/* The largest resident size of the program so far, in KiB. */
long network_peak_memory(void);

#endif
