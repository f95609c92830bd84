/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it needs libtenon.  link: -Wl,--no-as-needed -L.libs -ltenon
 */
#include "right.h"

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("needs_libtenon");
