/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it needs libtenon.
 * Link: -Wl,--no-as-needed -L.libs -ltenon
 * Conform: L0 file.libraries
 */
#include "right.h"

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("needs_libtenon");
