/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it accepts any text in any language as a kernel, which does nothing.
 * Conform: L1 compile.kernel
 * Conform: L1 compile.refused
 */
#include "right.h"

static tn_status compile(void *device, const struct tn_compile_args *args, void **kernel)
{
	(void)args;
	*kernel = device;
	return TN_OK;
}

static tn_status launch(void *device, const struct tn_launch_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static tn_status kernel_release(void *device, const struct tn_kernel_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compile.compile = compile;
	right->compile.launch = launch;
	right->compile.kernel_release = kernel_release;
}

RIGHT_PLUGIN("compiles_anything");
