/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 4: gradients, optimizers and training.
 */
#include "conform.h"

const struct check level4_checks[] = {
	{"conv2d.backward", 4, "both gradients of conv2d agree with central differences",
	 check_conv2d_backward},
	{"pool2d.backward", 4, "the gradient of pool2d goes where the formula says",
	 check_pool2d_backward},
	{"norm.backward", 4, "the gradients of the norms agree with central differences",
	 check_norm_backward},
	{"softmax.backward", 4, "the gradient of softmax agrees with central differences",
	 check_softmax_backward},
	{"cross_entropy.backward", 4,
	 "the gradient of cross-entropy agrees with central differences",
	 check_cross_entropy_backward},
	{NULL, 0, NULL, NULL},
};
