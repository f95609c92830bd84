/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The pool of device memory: size classes, reuse, limits, scratch blocks, and failing allocations.
 */

#include "device/chunk.h"
#include "device/pool.h"
#include "device/scratch.h"
#include "device/transfer.h"
#include "device_fake.h"

static void a_class_holds_its_sizes_and_wastes_little(void **state)
{
	(void)state;
	uint64_t previous = 0;
	for (uint32_t class = 0; class <= 815; class ++) {
		uint64_t size = tn_class_size(class);
		assert_true(size > previous);
		assert_int_equal(size % 256, 0);
		assert_int_equal(tn_size_class(size), class);
		assert_int_equal(tn_size_class(previous + 1), class);
		assert_int_equal(tn_size_class_within(size), class);
		assert_int_equal(tn_size_class_within(size + 255), class);
		assert_true(size - previous == 256 || (size - previous) * 16 <= previous);
		previous = size;
	}
	assert_int_equal(previous, TN_POOL_MAX_SIZE);
}

static void blocks_are_aligned_and_apart(void **state)
{
	(void)state;
	enum { N = 200 };
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block blocks[N];
	for (unsigned i = 0; i < N; i++) {
		uint64_t size = 1 + i * i * 37;
		assert_ok(tn_block_take(device, size, &blocks[i], NULL));
		assert_int_equal(blocks[i].size, size);
		assert_int_equal((uintptr_t)blocks[i].address % 256, 0);
		assert_int_equal(blocks[i].buffer + blocks[i].offset, (uintptr_t)blocks[i].address);
		memset(blocks[i].address, (int)i, size);
	}
	for (unsigned i = 0; i < N; i++) {
		const unsigned char *bytes = blocks[i].address;
		for (uint64_t k = 0; k < blocks[i].size; k++)
			assert_int_equal(bytes[k], (unsigned char)i);
		tn_block_give(device, &blocks[i]);
	}
	fake_finish(&fake, device);
}

static void no_bytes_are_one_block(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block block;
	assert_ok(tn_block_take(device, 0, &block, NULL));
	assert_int_equal(block.size, 1);
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

/* Random allocations and frees: the same sizes again must not reach the backend again. */
static void the_steady_state_asks_the_backend_for_nothing(void **state)
{
	(void)state;
	enum { N = 64 };
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block blocks[N];
	int after_first = 0;
	for (int round = 0; round < 5; round++) {
		uint32_t random = 1;
		for (int i = 0; i < N; i++) {
			random = random * 1664525 + 1013904223;
			uint64_t size = (random >> 8) % (UINT64_C(1) << (4 + i % 20));
			assert_ok(tn_block_take(device, size, &blocks[i], NULL));
		}
		for (int i = 0; i < N; i++)
			tn_block_give(device, &blocks[(i * 37) % N]);
		if (round == 0)
			after_first = fake.allocs;
	}
	assert_int_equal(fake.allocs, after_first);
	assert_int_equal(fake.frees, 0);
	fake_finish(&fake, device);
}

static void a_freed_block_is_the_next_of_its_size(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block a, b, c;
	assert_ok(tn_block_take(device, 1000, &a, NULL));
	assert_ok(tn_block_take(device, 1000, &b, NULL));
	tn_block_give(device, &a);
	assert_ok(tn_block_take(device, 1024, &c, NULL));
	assert_ptr_equal(c.address, a.address);
	tn_block_give(device, &b);
	tn_block_give(device, &c);
	fake_finish(&fake, device);
}

static void a_large_block_is_reused_or_split_before_more_is_asked_for(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block big, nearly, part, rest;
	assert_ok(tn_block_take(device, 100 * MIB, &big, NULL));
	tn_block_give(device, &big);
	assert_ok(tn_block_take(device, 90 * MIB, &nearly, NULL));
	assert_ptr_equal(nearly.address, big.address);
	tn_block_give(device, &nearly);
	int before = fake.allocs;
	assert_ok(tn_block_take(device, 20 * MIB, &part, NULL));
	assert_ok(tn_block_take(device, 60 * MIB, &rest, NULL));
	assert_int_equal(fake.allocs, before);
	memset(part.address, 1, part.size);
	memset(rest.address, 2, rest.size);
	assert_int_equal(((char *)part.address)[20 * MIB - 1], 1);
	tn_block_give(device, &part);
	tn_block_give(device, &rest);
	fake_finish(&fake, device);
}

static void free_neighbours_are_joined_before_more_is_asked_for(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block whole, part[4], most;
	assert_ok(tn_block_take(device, 64 * MIB, &whole, NULL));
	tn_block_give(device, &whole);
	for (int i = 0; i < 4; i++)
		assert_ok(tn_block_take(device, 15 * MIB, &part[i], NULL));
	for (int i = 0; i < 3; i++)
		tn_block_give(device, &part[i]);
	int before = fake.allocs;
	assert_ok(tn_block_take(device, 44 * MIB, &most, NULL));
	assert_int_equal(fake.allocs, before);
	memset(most.address, 1, most.size);
	tn_block_give(device, &most);
	tn_block_give(device, &part[3]);
	tn_pool_trim(device);
	assert_int_equal(fake.held, 0);
	fake_finish(&fake, device);
}

static void scratch_memory_stays_apart_from_arrays(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block scratch, array, again, second, larger;
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	assert_ok(tn_scratch_take(device, 10 * MIB, &scratch, NULL));
	memset(scratch.address, 1, scratch.size);
	tn_scratch_give(device, &scratch);
	assert_ok(tn_block_take(device, 10 * MIB, &array, NULL));
	assert_ptr_not_equal(array.address, scratch.address);
	int before = fake.allocs;
	assert_ok(tn_scratch_take(device, 9 * MIB, &again, NULL));
	assert_ptr_equal(again.address, scratch.address);
	assert_int_equal(fake.allocs, before);
	/* A nested call gets its own memory. */
	assert_ok(tn_scratch_take(device, 2 * MIB, &second, NULL));
	assert_ptr_not_equal(second.address, scratch.address);
	tn_scratch_give(device, &second);
	tn_scratch_give(device, &again);
	/* The larger one replaces the smaller one. */
	uint64_t held = fake.held;
	assert_ok(tn_scratch_take(device, 30 * MIB, &larger, NULL));
	assert_int_equal(fake.held, held + 20 * MIB);
	tn_scratch_give(device, &larger);
	tn_block_give(device, &array);
	tn_device_get_memory_use(device, &use);
	assert_int_equal(use.used, 0);
	tn_pool_trim(device);
	assert_int_equal(fake.held, 0);
	fake_finish(&fake, device);
}

static void idle_scratch_memory_goes_back_before_memory_runs_out(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	fake.capacity = 40 * MIB;
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block scratch, array, other;
	assert_ok(tn_scratch_take(device, 30 * MIB, &scratch, NULL));
	assert_status(tn_block_take(device, 30 * MIB, &array, NULL), TN_OUT_OF_MEMORY);
	tn_scratch_give(device, &scratch);
	assert_ok(tn_block_take(device, 30 * MIB, &array, NULL));
	assert_status(tn_scratch_take(device, 30 * MIB, &other, NULL), TN_OUT_OF_MEMORY);
	tn_block_give(device, &array);
	assert_ok(tn_scratch_take(device, 30 * MIB, &other, NULL));
	tn_scratch_give(device, &other);
	fake_finish(&fake, device);
}

static void host_memory_comes_in_whole_huge_pages(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block small, large;
	assert_ok(tn_block_take(device, 100, &small, NULL));
	assert_int_equal(fake.held % (2 * MIB), 0);
	assert_int_equal(small.buffer % (2 * MIB), 0);
	assert_ok(tn_block_take(device, 9 * MIB + 5, &large, NULL));
	assert_int_equal(fake.held % (2 * MIB), 0);
	assert_int_equal(large.buffer % (2 * MIB), 0);
	tn_block_give(device, &small);
	tn_block_give(device, &large);
	fake_finish(&fake, device);
}

static void statistics_follow(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	struct tn_block a, b;
	tn_device_get_memory_use(device, &use);
	assert_int_equal(use.used + use.cached + use.peak, 0);
	assert_ok(tn_block_take(device, 512, &a, NULL));
	assert_ok(tn_block_take(device, 1024, &b, NULL));
	tn_block_give(device, &a);
	tn_device_get_memory_use(device, &use);
	assert_int_equal(use.used, 1024);
	assert_int_equal(use.peak, 1536);
	assert_int_equal(use.cached, fake.held - 1024);
	tn_block_give(device, &b);
	tn_pool_trim(device);
	tn_device_get_memory_use(device, &use);
	assert_int_equal(use.used + use.cached, 0);
	assert_int_equal(use.peak, 1536);
	assert_int_equal(fake.held, 0);
	fake_finish(&fake, device);
}

static void a_full_device_gets_its_cache_back_and_is_asked_again(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	fake.capacity = 32 * MIB;
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block a, b;
	assert_ok(tn_block_take(device, 20 * MIB, &a, NULL));
	tn_block_give(device, &a);
	assert_ok(tn_block_take(device, 30 * MIB, &b, NULL));
	assert_int_equal(fake.frees, 1);
	tn_block_give(device, &b);
	fake_finish(&fake, device);
}

static void out_of_memory_says_all_and_is_recoverable(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, FAKE_HOST);
	fake.capacity = 32 * MIB;
	fake.backend.native[TN_SLOT_MEMORY_INFORMATION] = 1;
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block a, b = {.size = 77};
	assert_ok(tn_block_take(device, 20 * MIB, &a, NULL));
	assert_status(tn_block_take(device, 30 * MIB, &b, &error), TN_OUT_OF_MEMORY);
	assert_int_equal(b.size, 77);
	assert_contains(error.text, "fake:0: ");
	assert_contains(error.text, "31457280 bytes requested");
	assert_contains(error.text, "20971520 used");
	assert_contains(error.text, "0 cached");
	assert_contains(error.text, "12582912 free on the device");
	assert_contains(error.text, "no limit");
	assert_contains(error.text, "it is full");
	tn_block_give(device, &a);
	assert_ok(tn_block_take(device, 30 * MIB, &b, &error));
	tn_block_give(device, &b);
	fake_finish(&fake, device);
}

static void the_limit_holds_and_small_chunks_fit_under_it(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, MIB);
	struct tn_block a, b, c;
	assert_ok(tn_block_take(device, MIB / 2, &a, NULL));
	assert_ok(tn_block_take(device, MIB / 4, &b, NULL));
	assert_status(tn_block_take(device, MIB / 2, &c, &error), TN_OUT_OF_MEMORY);
	assert_contains(error.text, "limit 1048576");
	assert_true(fake.held <= MIB);
	tn_block_give(device, &a);
	tn_block_give(device, &b);
	assert_ok(tn_block_take(device, MIB, &c, &error));
	tn_block_give(device, &c);
	fake_finish(&fake, device);
}

static void sizes_beyond_reason_are_out_of_memory(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, FAKE_HOST);
	fake.capacity = MIB;
	fake.description.max_alloc_bytes = MIB;
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block block;
	const uint64_t sizes[] = {MIB + 1, 4 * MIB, TN_POOL_MAX_SIZE, TN_POOL_MAX_SIZE + 1,
				  UINT64_MAX};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_status(tn_block_take(device, sizes[i], &block, &error), TN_OUT_OF_MEMORY);
	assert_ok(tn_block_take(device, MIB, &block, &error));
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

static void any_allocation_may_fail_and_the_pool_goes_on(void **state)
{
	(void)state;
	for (int n = 1; n < 12; n++) {
		struct fake fake;
		fake_init(&fake, FAKE_HOST);
		struct tn_device *device = fake_device(&fake, 0);
		struct tn_block blocks[6];
		int taken = 0;
		fake.fail_alloc = n;
		for (int i = 0; i < 6; i++) {
			uint64_t size = (uint64_t)(3 * i) * MIB;
			taken += !tn_block_take(device, size, &blocks[taken], NULL);
		}
		assert_true(taken >= 5);
		while (taken)
			tn_block_give(device, &blocks[--taken]);
		fake_finish(&fake, device);
	}
}

/* Queued work may still use freed memory: it can be reused at once (the next use comes later in the
 * same stream), but is returned to the backend only after a sync. */
static void an_asynchronous_device_is_waited_for_before_memory_goes_back(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 0);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block a, b;
	assert_ok(tn_block_take(device, 1000, &a, NULL));
	assert_null(a.address);
	fake.busy = 1;
	tn_block_give(device, &a);
	assert_ok(tn_block_take(device, 1000, &b, NULL));
	assert_int_equal(b.buffer, a.buffer);
	assert_int_equal(b.offset, a.offset);
	assert_int_equal(fake.syncs, 0);
	tn_block_give(device, &b);
	tn_pool_trim(device);
	assert_int_equal(fake.syncs, 1);
	assert_int_equal(fake.frees, 1);
	assert_int_equal(fake.frees_before_sync, 0);
	fake_finish(&fake, device);
}

static void an_error_that_surfaces_in_a_trim_is_answered_by_the_next_sync(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, 0);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block block;
	assert_ok(tn_block_take(device, 1000, &block, NULL));
	tn_block_give(device, &block);
	fake.sync_fails = TN_BACKEND_FAILURE;
	tn_pool_trim(device);
	assert_int_equal(fake.frees, 1);
	assert_status(tn_device_sync(device, &error), TN_BACKEND_FAILURE);
	assert_string_equal(error.operation, "matmul");
	assert_contains(error.text, "fake:0: it went wrong");
	assert_ok(tn_device_sync(device, &error));
	fake_finish(&fake, device);
}

static void host_memory_that_is_out_of_proportion_goes_back(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	/* Ever larger arrays, one at a time: without a bound the cache would hold them all. */
	for (uint64_t mib = 10; mib < 200; mib += mib / 3) {
		struct tn_block block;
		assert_ok(tn_block_take(device, mib * MIB, &block, NULL));
		tn_block_give(device, &block);
	}
	tn_device_get_memory_use(device, &use);
	assert_true(use.cached <= 2 * use.peak + 66 * MIB);
	assert_true(fake.frees > 0);
	fake_finish(&fake, device);
}

static void giving_back_twice_does_no_harm(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block a, b, c;
	assert_ok(tn_block_take(device, 1000, &a, NULL));
	tn_block_give(device, &a);
	tn_block_give(device, &a);
	assert_ok(tn_block_take(device, 1000, &b, NULL));
	assert_ok(tn_block_take(device, 1000, &c, NULL));
	assert_ptr_not_equal(b.address, c.address);
	tn_block_give(device, &b);
	tn_block_give(device, &c);
	fake_finish(&fake, device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_holds_its_sizes_and_wastes_little),
		cmocka_unit_test(blocks_are_aligned_and_apart),
		cmocka_unit_test(no_bytes_are_one_block),
		cmocka_unit_test(the_steady_state_asks_the_backend_for_nothing),
		cmocka_unit_test(a_freed_block_is_the_next_of_its_size),
		cmocka_unit_test(a_large_block_is_reused_or_split_before_more_is_asked_for),
		cmocka_unit_test(free_neighbours_are_joined_before_more_is_asked_for),
		cmocka_unit_test(scratch_memory_stays_apart_from_arrays),
		cmocka_unit_test(idle_scratch_memory_goes_back_before_memory_runs_out),
		cmocka_unit_test(host_memory_comes_in_whole_huge_pages),
		cmocka_unit_test(statistics_follow),
		cmocka_unit_test(a_full_device_gets_its_cache_back_and_is_asked_again),
		cmocka_unit_test(out_of_memory_says_all_and_is_recoverable),
		cmocka_unit_test(the_limit_holds_and_small_chunks_fit_under_it),
		cmocka_unit_test(sizes_beyond_reason_are_out_of_memory),
		cmocka_unit_test(any_allocation_may_fail_and_the_pool_goes_on),
		cmocka_unit_test(an_asynchronous_device_is_waited_for_before_memory_goes_back),
		cmocka_unit_test(an_error_that_surfaces_in_a_trim_is_answered_by_the_next_sync),
		cmocka_unit_test(host_memory_that_is_out_of_proportion_goes_back),
		cmocka_unit_test(giving_back_twice_does_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
