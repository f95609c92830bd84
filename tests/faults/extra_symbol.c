/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it exports a symbol besides tenon_backend.
 * Conform: L0 file.exports
 */
#include "right.h"

extern int helper_of_a_plugin;
__attribute__((visibility("default"))) int helper_of_a_plugin = 1;

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("extra_symbol");
