/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * No fault: what the others are measured by.
 */
#include "right.h"

static void break_it(struct right *right)
{
	right->n_devices = 2;
}

RIGHT_PLUGIN("right");
