/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Winograd's kernels of one level.
 */
#include "winograd_family.h"

const struct cpu_winograd VARIANT(cpu_winograd) = {
	.panel = PANEL,
	.rows = ROWS,
	.patches = VARIANT(cpu_winograd_patches),
	.gradients = VARIANT(cpu_winograd_gradients),
	.weights = VARIANT(cpu_winograd_weights),
	.product = VARIANT(cpu_winograd_product),
	.pixels = VARIANT(cpu_winograd_pixels),
	.weight_gradients = VARIANT(cpu_winograd_weight_gradients),
};
