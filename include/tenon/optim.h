/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Optimizers: one element program over each contiguous run of a module's flat arena.  A parameter
 * without a gradient since the last tn_module_zero_gradients is not updated.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_OPTIM_H
#define TENON_OPTIM_H

#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_optimizer tn_optimizer;

/* torch.optim.SGD:  g := dw + weight_decay w;  b := momentum b + (1 - dampening) g (b := g at a
 * parameter's first step);  w := w - lr (nesterov ? g + momentum b : b), or w - lr g without
 * momentum. */
struct tn_sgd_options {
	uint32_t struct_size;
	double lr;
	double momentum;
	double dampening;
	double weight_decay;
	int nesterov;
};
/* lr is required.  The optimizer is owned (tn_optimizer_destroy) and must not outlive the module.
 * NULL: TN_INVALID_ARGUMENT, TN_UNSUPPORTED (options of a newer version), TN_STATE (the module is
 * not built), TN_OUT_OF_MEMORY. */
TN_API tn_optimizer *tn_sgd(tn_module *module, const struct tn_sgd_options *options);

/* torch.optim.AdamW (Loshchilov and Hutter 2019), at step t = 1, 2, ...:
 *   w := w - lr weight_decay w
 *   m := beta1 m + (1 - beta1) dw,   v := beta2 v + (1 - beta2) dw^2
 *   w := w - lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + epsilon) */
struct tn_adamw_options {
	uint32_t struct_size;
	double lr;           /* 0: 1e-3 */
	double beta1;        /* 0: 0.9 */
	double beta2;        /* 0: 0.999 */
	double epsilon;      /* 0: 1e-8 */
	double weight_decay; /* negative: PyTorch's 0.01 */
};
TN_API tn_optimizer *tn_adamw(tn_module *module, const struct tn_adamw_options *options);

TN_API void tn_optimizer_destroy(tn_optimizer *optimizer); /* takes NULL */

/* Updates every trainable parameter that has a gradient. */
TN_API tn_status tn_optimizer_step(tn_optimizer *optimizer);
/* While work is captured (tenon/capture.h) this changes nothing, and the context keeps
 * TN_NOT_CAPTURABLE: set the learning rate between replays. */
TN_API void tn_optimizer_set_lr(tn_optimizer *optimizer, double lr);
TN_API double tn_optimizer_lr(const tn_optimizer *optimizer);

/* Scales all gradients so that their joint 2-norm is at most max_norm; *norm (may be NULL) receives
 * the norm before. */
TN_API tn_status tn_clip_grad_norm(tn_module *module, double max_norm, double *norm);

#ifdef __cplusplus
}
#endif
#endif
