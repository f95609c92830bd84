/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its text has relocations.
 * Link: -Wl,-z,notext
 * Conform: L0 file.segments
 */
#include "right.h"

__asm__(".text\n.balign 8\n.quad tenon_backend\n");

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("text_relocation");
