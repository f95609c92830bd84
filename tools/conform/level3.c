/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 3: layers, forward.
 */
#include "conform.h"

const struct check level3_checks[] = {
	{"conv2d.forward", 3, "conv2d keeps its formula in every setting and layout",
	 check_conv2d_forward},
	{"pool2d.forward", 3, "pool2d keeps its formula, its ties and its index",
	 check_pool2d_forward},
	{"norm.forward", 3, "batch and layer norm keep their formulas and statistics",
	 check_norm_forward},
	{"softmax.forward", 3, "softmax and its logarithm keep their formulas without overflow",
	 check_softmax_forward},
	{"cross_entropy.forward", 3, "cross-entropy keeps its formula and its log-sum-exp",
	 check_cross_entropy_forward},
	{NULL, 0, NULL, NULL},
};
