/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The convolution kernels of one level.
 */
#include "conv_walk.h"

const struct cpu_conv_kernels VARIANT(cpu_conv) = {
	.panel = WIDE,
	.gradient = VARIANT(cpu_conv_gradient),
	.pack = VARIANT(cpu_conv_pack),
	.taps = VARIANT(cpu_conv_taps),
	.unpack = VARIANT(cpu_conv_unpack),
};
