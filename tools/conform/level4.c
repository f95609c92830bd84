/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 4: gradients, optimizers and training.
 */
#include "layers.h"

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
	{"gradients.products", 4,
	 "the tape's gradients of linear and matmul agree with the built-in backend's",
	 check_gradients},
	{"gradients.conv2d", 4, "the tape's gradients of conv2d agree with the built-in backend's",
	 check_gradients},
	{"gradients.pool2d", 4, "the tape's gradients of pools agree with the built-in backend's",
	 check_gradients},
	{"gradients.softmax", 4,
	 "the tape's gradients of softmax and log_softmax agree with the built-in backend's",
	 check_gradients},
	{"gradients.cross_entropy", 4,
	 "the tape's gradients of cross-entropy agree with the built-in backend's",
	 check_gradients},
	{"gradients.activations", 4,
	 "the tape's gradients of activations agree with the built-in backend's", check_gradients},
	{"gradients.dropout", 4,
	 "the tape's gradients of dropout agree with the built-in backend's", check_gradients},
	{"gradients.indexing", 4, "the tape's gradients of takes agree with the built-in backend's",
	 check_gradients},
	{"gradients.reductions", 4,
	 "the tape's gradients of reductions agree with the built-in backend's", check_gradients},
	{"gradients.elementwise", 4,
	 "the tape's gradients of broadcast operations agree with the built-in backend's",
	 check_gradients},
	{"gradients.views", 4, "the tape's gradients of views agree with the built-in backend's",
	 check_gradients},
	{NULL, 0, NULL, NULL},
};
