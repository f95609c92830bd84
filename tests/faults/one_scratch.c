/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the scratch buffer of a device that says that it may be called at once is not locked.
 * Conform: L5 threads.streams
 */
#include "right.h"

#include <sched.h>

enum { SCRATCH = 1 << 16 };

/* Of the device. */
static float *scratch_of(void *device)
{
	return (float *)((struct right *)device + 1);
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	float *scratch = scratch_of(device);
	if (tn_arguments_take(&own, sizeof(own), args) || own.call.flags & TN_DRY_RUN ||
	    right_take(&own, sizeof(own), args, "matmul") || right_matmul_check(&own) ||
	    right_count(&own.c) > SCRATCH)
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

/* The device is a copy of the instance. */
static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	const struct right *right = (const struct right *)instance;
	tn_status status = right_open(instance, args, device);
	if (status || !*device)
		return status;
	const size_t size = sizeof(*right) + SCRATCH * sizeof(float);
	struct right *made = (struct right *)right->host->alloc(right->host->context, size, 0);
	if (!made)
		return TN_OUT_OF_MEMORY;
	*made = *right;
	made->is_copy = 1;
	*device = made;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
	right->compute.matmul = matmul;
	right->device_flags |= TN_DEVICE_CONCURRENT_STREAMS;
}

RIGHT_PLUGIN("one_scratch");
