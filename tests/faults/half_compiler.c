/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it compiles kernels, and has no slot to start them.
 * Conform: L1 compile.table
 */
#include "right.h"

static tn_status compile(void *device, const struct tn_compile_args *args, void **kernel)
{
	(void)args;
	*kernel = device;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compile.compile = compile;
}

RIGHT_PLUGIN("half_compiler");
