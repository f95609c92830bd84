/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its text is relocated.  link: -Wl,-z,notext
 */
#include "right.h"

__asm__(".text\n.balign 8\n.quad tenon_backend\n");

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("text_relocation");
