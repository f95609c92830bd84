/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Frozen networks that several contexts run: one of them has folded the weights.
 */
#ifndef TN_NN_FREEZE_H
#define TN_NN_FREEZE_H

#include "nn/module.h"

struct tn_packs;

/* The weight and bias of each folded convolution, in the order of the tree, as a number of arrays,
 * which the module owns; `arrays` may be NULL. */
size_t tn_frozen_list_folds(const tn_module *module, tn_array **arrays);
/* Folds again if parameters or buffers have changed.  Errors are kept. */
tn_status tn_frozen_refold(tn_module *module);

/* Freezes a built and listed module, whose values never change, with the folds of an equal one and
 * the packed weights of all, which outlive it.  Errors are kept. */
tn_status tn_module_freeze_shared(tn_module *module, tn_array *const *folds,
				  struct tn_packs *packs);
/* Its result for x in y, of x's device, which may be written; errors are kept.  TN_SHAPE, TN_DTYPE:
 * y is unlike the result. */
tn_status tn_frozen_forward_into(tn_module *module, const tn_array *x, tn_array *y);

#endif
