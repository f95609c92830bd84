/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the networks: filling chains and residual blocks member by member, with one check for
 * errors at the end, and the layers that most of them have.
 */
#ifndef TN_MODELS_CHAIN_H
#define TN_MODELS_CHAIN_H

#include <tenon/nn.h>

/* Adds `member` to a chain or residual block under `name`, or under its number when that is NULL.
 * When *status is an error already, frees `member` instead. */
void tn_model_add(tn_module *chain, const char *name, tn_module *member, tn_status *status);
/* The same for a module of another class. */
void tn_model_add_member(tn_module *module, const char *name, tn_module *member, tn_status *status);
/* Returns the chain or, when `status` is an error, frees it and returns NULL. */
tn_module *tn_model_end(tn_module *chain, tn_status status);

/* A convolution without bias, with a square kernel of odd size; its padding keeps height and width
 * where the stride is 1. */
tn_module *tn_model_conv(tn_context *context, int64_t in, int64_t out, int64_t kernel,
			 int64_t stride, int64_t groups);
/* A convolution with a bias and a square kernel. */
tn_module *tn_model_conv_biased(tn_context *context, int64_t in, int64_t out, int64_t kernel,
				int64_t stride, int64_t padding);
tn_module *tn_model_max_pool(tn_context *context, int64_t kernel, int64_t stride, int64_t padding);

/* torchvision's Conv2dNormActivation: members 0, 1 and 2 of a chain.  activation:
 * TN_ACTIVATION_RELU, RELU6 or SILU, or NONE for a chain without the third. */
tn_module *tn_model_conv_norm(tn_context *context, int64_t in, int64_t out, int64_t kernel,
			      int64_t stride, int64_t groups, uint32_t activation);

#endif
