/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a product treats its left factor as row-major, whatever its strides.
 * Conform: L2 matmul.strides
 * Conform: L4 gradients.products
 * Doctor: products.transposes
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args) == TN_OK && own.a.rank >= 2 &&
	    own.a.rank <= 6 && own.a.strides[own.a.rank - 2] == 1) {
		own.a.strides[own.a.rank - 2] = own.a.shape[own.a.rank - 1];
		own.a.strides[own.a.rank - 1] = 1;
		return right_matmul(device, &own);
	}
	return right_matmul(device, args);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("ignores_transpose");
