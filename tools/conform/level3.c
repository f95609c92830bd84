/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 3: layers, forward.
 */
#include "layers.h"

const struct check level3_checks[] = {
	{"conv2d.forward", 3, "conv2d follows its formula in every setting and layout",
	 check_conv2d_forward},
	{"conv2d.epilogue", 3,
	 "conv2d adds its residual and applies every activation that it accepts",
	 check_conv2d_epilogue},
	{"conv2d.prepack", 3, "packed weights give the same results, in the stated number of bytes",
	 check_conv2d_prepack},
	{"pool2d.forward", 3, "pool2d follows its formula, with the right ties and index",
	 check_pool2d_forward},
	{"norm.forward", 3, "batch, layer and group norm follow their formulas and statistics",
	 check_norm_forward},
	{"norm.epilogue", 3, "norms add their residual and apply every activation that they accept",
	 check_norm_epilogue},
	{"softmax.forward", 3, "softmax and its logarithm follow their formulas without overflow",
	 check_softmax_forward},
	{"cross_entropy.forward", 3, "cross-entropy follows its formula and its log-sum-exp",
	 check_cross_entropy_forward},
	{"layers.products", 3, "linear and matmul agree with the built-in backend", check_layers},
	{"layers.conv2d", 3, "conv2d agrees with the built-in backend in all settings",
	 check_layers},
	{"layers.pool2d", 3, "pools agree with the built-in backend", check_layers},
	{"layers.norm", 3, "batch and layer norm agree with the built-in backend", check_layers},
	{"layers.softmax", 3, "softmax and log_softmax agree with the built-in backend",
	 check_layers},
	{"layers.cross_entropy", 3, "cross-entropy agrees, including ignored labels", check_layers},
	{"layers.activations", 3, "activations agree with the built-in backend", check_layers},
	{"layers.dropout", 3, "dropout drops the same elements as the built-in backend",
	 check_layers},
	{"layers.indexing", 3, "embeddings and takes agree, including negative indices",
	 check_layers},
	{"layers.reductions", 3, "sums, means, maxima and indices agree", check_layers},
	{"layers.elementwise", 3, "operations on broadcast operands agree", check_layers},
	{"layers.views", 3, "operations on slices, transposes and windows agree", check_layers},
	{"layers.lent", 3, "operations lent in host memory are correct and move no bytes",
	 check_lending},
	{NULL, 0, NULL, NULL},
};
