/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: scalars on the device are read as 0.
 * Conform: L2 map.scalars
 */
#include "right.h"

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct tn_scalar scalars[16];
	struct tn_map_args own = *args;
	for (uint32_t i = 0; i < args->program->n_scalars; i++) {
		scalars[i] = args->scalars[i];
		scalars[i].on_device = 0;
	}
	own.scalars = scalars;
	return right_map(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("scalar_early");
