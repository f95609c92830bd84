/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 3: layers, forward.
 */
#include "layers.h"

const struct check level3_checks[] = {
	{"conv2d.forward", 3, "conv2d keeps its formula in every setting and layout",
	 check_conv2d_forward},
	{"conv2d.epilogue", 3,
	 "conv2d adds its residual and applies every activation that it takes",
	 check_conv2d_epilogue},
	{"conv2d.prepack", 3, "packed weights give what the weights give, in the bytes it said",
	 check_conv2d_prepack},
	{"pool2d.forward", 3, "pool2d keeps its formula, its ties and its index",
	 check_pool2d_forward},
	{"norm.forward", 3, "batch, layer and group norm keep their formulas and statistics",
	 check_norm_forward},
	{"norm.epilogue", 3, "norms add their residual and apply every activation that they take",
	 check_norm_epilogue},
	{"softmax.forward", 3, "softmax and its logarithm keep their formulas without overflow",
	 check_softmax_forward},
	{"cross_entropy.forward", 3, "cross-entropy keeps its formula and its log-sum-exp",
	 check_cross_entropy_forward},
	{"layers.products", 3, "linear and matmul agree with the built-in backend", check_layers},
	{"layers.conv2d", 3, "conv2d agrees with the built-in backend in all settings",
	 check_layers},
	{"layers.pool2d", 3, "pools choose and average as the built-in backend does", check_layers},
	{"layers.norm", 3, "batch and layer norm agree with the built-in backend", check_layers},
	{"layers.softmax", 3, "softmax and log_softmax agree with the built-in backend",
	 check_layers},
	{"layers.cross_entropy", 3, "cross-entropy agrees, ignored labels included", check_layers},
	{"layers.activations", 3, "activations agree with the built-in backend", check_layers},
	{"layers.dropout", 3, "dropout drops the same elements as the built-in backend",
	 check_layers},
	{"layers.indexing", 3, "embeddings and takes agree, negative indices included",
	 check_layers},
	{"layers.reductions", 3, "sums, means, maxima and places agree", check_layers},
	{"layers.elementwise", 3, "operations on broadcast operands agree", check_layers},
	{"layers.views", 3, "operations on slices, transposes and windows agree", check_layers},
	{"layers.lent", 3,
	 "all that another backend lends in host memory is right and moves no byte", check_lending},
	{NULL, 0, NULL, NULL},
};
