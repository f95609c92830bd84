/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a packed factor is read in a place that depends on the number of rows of A, so that it
 * serves the first product alone.
 * Conform: L2 matmul.prepack
 */
#include "right.h"

/* The operand b as it is packed: compact. */
static struct tn_operand packed_factor(const struct tn_matmul_args *a)
{
	struct tn_operand b = a->b;
	int64_t stride = 1;
	b.buffer = a->packed.buffer;
	b.offset = a->packed.offset + (uint64_t)a->c.shape[a->c.rank - 2] % 2 * sizeof(float);
	for (uint32_t axis = b.rank; axis-- > 0;) {
		b.strides[axis] = stride;
		stride *= b.shape[axis];
	}
	return b;
}

static tn_status prepack(void *device, const struct tn_matmul_args *args, uint64_t *size)
{
	struct tn_matmul_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "matmul_prepack");
	if (!status)
		status = right_matmul_check(&own);
	if (status)
		return status;
	*size = (right_count(&own.b) + 1) * sizeof(float);
	if (right_is_dry(&own.call))
		return TN_OK;
	struct tn_operand to = packed_factor(&own);
	for (uint64_t i = 0, n = right_count(&to); i < n; i++)
		*(float *)right_element(&to, i) = *(const float *)right_element(&own.b, i);
	return TN_OK;
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || !own.packed.size)
		return right_matmul(device, args);
	own.b = packed_factor(&own);
	return right_matmul(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
	right->compute.matmul_prepack = prepack;
}

RIGHT_PLUGIN("packed_by_rows");
