/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it requests an executable stack.
 * Link: -Wl,-z,execstack
 * Conform: L0 file.segments
 */
#include "right.h"

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("executable_stack");
