/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Mixing the pictures of a batch, and their targets.
 *
 *   S. Yun, D. Han, S. J. Oh, S. Chun, J. Choe, Y. Yoo: CutMix: Regularization strategy to train
 *   strong classifiers with localizable features.  ICCV 2019.
 *   H. Zhang, M. Cisse, Y. Dauphin, D. Lopez-Paz: mixup: Beyond empirical risk minimization.
 *   ICLR 2018.
 */
#ifndef TN_DATA_AUGMENT_MIX_H
#define TN_DATA_AUGMENT_MIX_H

#include "data/augment_plan.h"

/* Mixes n pictures and their targets (n, n_classes), in place, if plan->mixes.  Picture i is the
 * epoch's picture index + i; its partner is picture (i + r) mod n, with an r of the batch, never
 * itself.  One picture in a batch has no partner. */
void tn_augment_mix(const struct tn_augment_plan *plan, uint64_t seed, uint64_t epoch,
		    uint64_t index, uint32_t n, float *images, float *targets, float *scratch);

#endif
