/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host buffers and transfers that do not wait: the bytes, the errors, and that a buffer is freed
 * only after its transfers.  mock_memory.c and cuda_memory.c have devices that defer their work.
 */
#include <tenon/memory.h>

#include "array_fixture.h"
#include "device/transfer.h"

/* The test's own allocations do not fail. */
#define FAILING_MALLOC 0
#include "failing_memory.h"

static void a_buffer_takes_and_gives_elements(struct fixture *f)
{
	tn_device *device = f->context.runtime.device;
	tn_host_buffer *buffer = tn_host_buffer_create(device, 100);
	float *data = tn_host_buffer_data(buffer);
	assert_non_null(data);
	assert_int_equal((uintptr_t)data % 256, 0);
	assert_int_equal(tn_host_buffer_size(buffer), 100);
	assert_false(tn_host_buffer_is_pinned(buffer));
	memset(data, 0xee, 100);
	tn_array *x = counted(f, 1, SHAPE(2, 3));
	tn_array *turned = tn_transpose(x, NULL);
	assert_ok(tn_to_host_async(x, buffer, 4));
	assert_ok(tn_to_host_async(turned, buffer, 40));
	assert_ok(tn_device_sync(device, NULL));
	static const float across[] = {1, 2, 3, 4, 5, 6}, down[] = {1, 4, 2, 5, 3, 6};
	assert_memory_equal(data + 1, across, sizeof(across));
	assert_memory_equal(data + 10, down, sizeof(down));
	assert_int_equal(((unsigned char *)data)[3], 0xee);
	assert_int_equal(((unsigned char *)data)[28], 0xee);
	assert_int_equal(((unsigned char *)data)[39], 0xee);
	assert_int_equal(((unsigned char *)data)[64], 0xee);
	/* Back, also where it is not aligned. */
	uint64_t version = x->storage->version;
	assert_ok(tn_assign_host_async(x, buffer, 40));
	assert_true(x->storage->version > version);
	assert_elements(x, 1, 4, 2, 5, 3, 6);
	memmove((char *)data + 13, across, sizeof(across));
	assert_ok(tn_assign_host_async(turned, buffer, 13));
	assert_elements(turned, 1, 2, 3, 4, 5, 6);
	assert_elements(x, 1, 3, 5, 2, 4, 6);
	tn_host_buffer_destroy(buffer);
}

static void elements_go_through_a_buffer_of_the_host(void **state)
{
	a_buffer_takes_and_gives_elements(*state);
}

static void elements_go_through_a_buffer_of_a_far_device(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	a_buffer_takes_and_gives_elements(f);
}

static void transfers_that_do_not_fit_are_refused(void **state)
{
	struct fixture *f = *state;
	tn_device *device = f->context.runtime.device;
	tn_host_buffer *buffer = tn_host_buffer_create(device, 16);
	tn_array *x = counted(f, 1, SHAPE(3));
	memset(tn_host_buffer_data(buffer), 0, 16);
	assert_ok(tn_to_host_async(x, buffer, 4));
	assert_status(tn_to_host_async(x, buffer, 5), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "an array of f32 (3,) has 12 bytes, which do not fit at 5 in a buffer of 16");
	assert_status(tn_assign_host_async(x, buffer, SIZE_MAX), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "do not fit");
	assert_status(tn_assign_host_async(x, NULL, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "buffer is NULL");
	tn_array *same = tn_broadcast_to(tn_slice(x, 0, 0, 1, 1), SHAPE(2));
	assert_status(tn_assign_host_async(same, buffer, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "share memory");
	assert_status(tn_to_host_async(NULL, buffer, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "array is NULL");
	tn_device *other = add_device(f, "other", ALL_SLOTS, 0);
	tn_host_buffer *its = tn_host_buffer_create(other, 16);
	assert_status(tn_to_host_async(x, its, 0), TN_DEVICE);
	assert_kept(f, TN_DEVICE, "the array is on reference:0, the buffer was made for other:0");
	assert_elements(x, 1, 2, 3);
	/* An empty array transfers nothing, at the very end too. */
	tn_array *empty = tn_zeros(context_of(f), TN_F32, SHAPE(0));
	assert_ok(tn_to_host_async(empty, buffer, 16));
	assert_ok(tn_assign_host_async(empty, buffer, 16));
	assert_null(tn_host_buffer_create(NULL, 1));
	tn_host_buffer_destroy(NULL);
	assert_null(tn_host_buffer_data(NULL));
	assert_int_equal(tn_host_buffer_size(NULL) + (size_t)tn_host_buffer_is_pinned(NULL), 0);
	/* Both buffers are left to the context. */
}

static void a_buffer_of_nothing_has_an_address(void **state)
{
	struct fixture *f = *state;
	tn_host_buffer *buffer = tn_host_buffer_create(f->context.runtime.device, 0);
	assert_non_null(tn_host_buffer_data(buffer));
	assert_int_equal(tn_host_buffer_size(buffer), 0);
	tn_host_buffer_destroy(buffer);
}

static void host_memory_runs_out(void **state)
{
	struct fixture *f = *state;
	tn_host_buffer *buffer = NULL;
	int n = 0;
	for (; !buffer; n++) {
		memory_fails_at(n, 1);
		buffer = tn_host_buffer_create(f->context.runtime.device, 1000);
		memory_works();
		if (!buffer)
			assert_kept(f, TN_OUT_OF_MEMORY, "no host memory for");
	}
	assert_int_equal(n, 3);
	tn_host_buffer_destroy(buffer);
}

/* ---- Pinned memory ---------------------------------------------------------------------------*/

/* A device with pinned memory that counts what is allocated and waited for. */
static struct {
	uint64_t pinned;
	int live, waits, waits_at_free;
	tn_status status;
} seen;

static tn_status pin(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	if (args->memory_kind != TN_MEMORY_PINNED)
		return far_alloc(device, args, buffer);
	if (seen.status)
		return tn_fail(args->call.error, seen.status, "alloc", "nothing can be pinned");
	seen.pinned = *buffer = (uint64_t)(uintptr_t)aligned_alloc(args->alignment, 1024);
	seen.live++;
	return TN_OK;
}

static tn_status unpin(void *device, const struct tn_free_args *args)
{
	if (args->buffer != seen.pinned)
		return far_free(device, args);
	seen.waits_at_free = seen.waits;
	seen.live--;
	free((void *)(uintptr_t)args->buffer);
	return TN_OK;
}

static tn_status count_wait(void *device, const struct tn_sync_args *args)
{
	(void)device, (void)args;
	seen.waits++;
	return TN_OK;
}

static uint32_t last_flags;

static tn_status note_flags(void *device, const struct tn_transfer_args *args)
{
	last_flags = args->call.flags;
	return far_download(device, args);
}

static struct tn_device *add_pinning(struct fixture *f)
{
	struct tn_device *device = add_device(f, "pinning", MEMORY_ALONE, 1);
	struct tn_backend *backend = &f->backends[f->n_backends - 1];
	memset(&seen, 0, sizeof(seen));
	device->description.memory_kinds |= 1u << TN_MEMORY_PINNED;
	device->synchronous = 0;
	backend->device.alloc = pin;
	backend->device.free = unpin;
	backend->device.sync = count_wait;
	backend->device.download = note_flags;
	f->context.runtime.device = device;
	return device;
}

static void a_buffer_is_the_devices_pinned_memory(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = add_pinning(f);
	tn_host_buffer *buffer = tn_host_buffer_create(device, 1000);
	assert_true(tn_host_buffer_is_pinned(buffer));
	assert_int_equal((uintptr_t)tn_host_buffer_data(buffer), seen.pinned);
	tn_host_buffer_destroy(buffer);
	assert_int_equal(seen.live + seen.waits, 0);
	seen.status = TN_OUT_OF_MEMORY;
	assert_null(tn_host_buffer_create(device, 1000));
	assert_kept(f, TN_OUT_OF_MEMORY, "pinning:0: nothing can be pinned");
}

static void a_buffer_is_freed_after_its_transfers(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = add_pinning(f);
	tn_host_buffer *buffer = tn_host_buffer_create(device, 1000);
	tn_array *x = tn_zeros(context_of(f), TN_F32, SHAPE(5));
	seen.waits = 0;
	assert_ok(tn_to_host_async(x, buffer, 0));
	assert_int_equal(last_flags, TN_ASYNC);
	assert_int_equal(seen.waits, 0);
	tn_host_buffer_destroy(buffer);
	assert_int_equal(seen.waits_at_free, 1);
	assert_int_equal(seen.live, 0);
	float back[5];
	assert_ok(tn_to_host(x, back, sizeof(back)));
	assert_int_equal(last_flags, 0);
}

static void closing_frees_buffers_after_their_transfers(void **state)
{
	struct fixture *f = NULL;
	(void)state;
	open_fixture((void **)&f);
	struct tn_device *device = add_pinning(f);
	tn_host_buffer *buffer = tn_host_buffer_create(device, 1000);
	assert_ok(tn_assign_host_async(tn_zeros(context_of(f), TN_F32, SHAPE(5)), buffer, 0));
	close_fixture((void **)&f);
	assert_int_equal(seen.live, 0);
	assert_true(seen.waits_at_free > 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(elements_go_through_a_buffer_of_the_host),
		TEST(elements_go_through_a_buffer_of_a_far_device),
		TEST(transfers_that_do_not_fit_are_refused),
		TEST(a_buffer_of_nothing_has_an_address),
		TEST(host_memory_runs_out),
		TEST(a_buffer_is_the_devices_pinned_memory),
		TEST(a_buffer_is_freed_after_its_transfers),
		cmocka_unit_test(closing_frees_buffers_after_their_transfers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
