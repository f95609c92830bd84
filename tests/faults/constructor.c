/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a constructor has side effects before any call.
 * Conform: L0 file.quiet
 */
#include "right.h"

__attribute__((constructor)) static void before_everything(void)
{
	setenv("OMP_NUM_THREADS", "1", 1);
}

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN("constructor");
