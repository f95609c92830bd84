/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: two devices of two instances share a scratch buffer.
 * Conform: L5 threads.instances
 */
#include "right.h"

#include <sched.h>

static float scratch[1 << 16];

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || own.call.flags & TN_DRY_RUN ||
	    right_take(&own, sizeof(own), args, "matmul") || right_matmul_check(&own) ||
	    right_count(&own.c) > sizeof(scratch) / sizeof(scratch[0]))
		return right_matmul(device, args);
	uint64_t n = right_count(&own.c);
	struct tn_operand c = own.c;
	int64_t stride = 1;
	own.c.buffer = (uint64_t)(uintptr_t)scratch;
	own.c.offset = 0;
	for (uint32_t axis = c.rank; axis-- > 0; stride *= c.shape[axis])
		own.c.strides[axis] = stride;
	for (uint64_t i = 0; i < n; i++)
		scratch[i] = own.beta == 0 ? 0 : *(float *)right_element(&c, i);
	for (uint64_t i = 0; i < n; i++)
		right_matmul_element(&own, i);
	sched_yield();
	for (uint64_t i = 0; i < n; i++)
		*(float *)right_element(&c, i) = scratch[i];
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("shares_scratch");
