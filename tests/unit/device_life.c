/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening and closing devices, copies, failures, forks, and host memory that runs out.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "device/chunk.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/transfer.h"
#include "device_fake.h"

static void a_device_is_opened_when_it_is_first_used_and_once(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	assert_string_equal(tn_device_name(device), "fake:0");
	assert_string_equal(tn_device_describe(device)->name, "Fake One");
	assert_int_equal(fake.opened, 0);
	struct tn_block block;
	assert_ok(tn_block_take(device, 4, &block, NULL));
	assert_ok(tn_device_open(device, NULL));
	assert_int_equal(fake.opened, 1);
	tn_block_give(device, &block);
	fake_finish(&fake, device);
	assert_int_equal(fake.closed, 1);
}

static void a_device_that_is_not_there_is_named(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	struct tn_device *device = NULL;
	fake_init(&fake, FAKE_HOST);
	assert_status(tn_device_create(NULL, &fake.backend, 3, 0, NULL, &device, &error),
		      TN_NOT_FOUND);
	assert_contains(error.text, "fake:3");
	assert_null(device);
	tn_device_destroy(NULL);
}

static void a_failed_open_is_told_and_may_be_tried_again(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	fake.open_fails = TN_NO_DRIVER;
	assert_status(tn_device_open(device, &error), TN_NO_DRIVER);
	assert_string_equal(error.text, "fake:0: no luck today");
	struct tn_block block;
	assert_status(tn_block_take(device, 4, &block, &error), TN_NO_DRIVER);
	fake.open_fails = TN_OK;
	assert_ok(tn_device_open(device, &error));
	fake_finish(&fake, device);
}

static void a_backend_that_says_nothing_is_given_words(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, FAKE_HOST);
	fake.mute = 1;
	struct tn_device *device = fake_device(&fake, 0);
	fake.sync_fails = TN_BACKEND_FAILURE;
	assert_status(tn_device_sync(device, &error), TN_BACKEND_FAILURE);
	assert_int_equal(error.status, TN_BACKEND_FAILURE);
	assert_contains(error.text, "fake:0: ");
	assert_contains(error.text, tn_status_text(TN_BACKEND_FAILURE));
	fake_finish(&fake, device);
}

static void bytes_come_back_as_they_went(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, 0);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block first, block;
	char back[5] = "....";
	assert_ok(tn_block_take(device, 100, &first, NULL));
	assert_ok(tn_block_take(device, 100, &block, NULL));
	assert_ok(tn_device_upload(device, &block, 96, "abcd", 4, NULL));
	assert_ok(tn_device_download(device, &block, 96, back, 4, NULL));
	assert_string_equal(back, "abcd");
	assert_ok(tn_device_upload(device, &block, 100, "", 0, NULL));
	assert_int_equal(fake.uploads, 1);
	assert_status(tn_device_upload(device, &block, 97, "abcd", 4, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "4 bytes at 97");
	assert_status(tn_device_download(device, &block, UINT64_MAX, back, 4, &error),
		      TN_INVALID_ARGUMENT);
	tn_block_give(device, &first);
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

static void a_lost_device_stays_lost_and_can_be_closed(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_error_info error;
	fake_init(&fake, 0);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block a, b;
	assert_ok(tn_block_take(device, 100, &a, NULL));
	assert_ok(tn_block_take(device, 100, &b, NULL));
	tn_block_give(device, &b);
	fake.sync_fails = TN_DEVICE_LOST;
	assert_status(tn_device_sync(device, &error), TN_DEVICE_LOST);
	assert_contains(error.text, "it went wrong");
	assert_status(tn_device_ready(device, &error), TN_DEVICE_LOST);
	assert_contains(error.text, "fake:0");
	assert_status(tn_block_take(device, 100, &b, &error), TN_DEVICE_LOST);
	assert_status(tn_device_sync(device, &error), TN_DEVICE_LOST);
	assert_status(tn_device_upload(device, &a, 0, "x", 1, &error), TN_DEVICE_LOST);
	tn_block_give(device, &a);
	fake_finish(&fake, device);
}

/* In the child every call returns TN_FORKED without calling the backend; destroy is allowed. */
static void a_forked_child_is_refused(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, FAKE_HOST);
	struct tn_device *device = fake_device(&fake, 0);
	struct tn_block block, other;
	assert_ok(tn_block_take(device, 100, &block, NULL));
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		char byte;
		int bad = 0;
		bad |= tn_device_ready(device, NULL) != TN_FORKED;
		bad |= tn_block_take(device, 100, &other, NULL) != TN_FORKED;
		bad |= tn_device_download(device, &block, 0, &byte, 1, NULL) != TN_FORKED;
		bad |= tn_device_sync(device, NULL) != TN_FORKED;
		tn_block_give(device, &block);
		tn_pool_trim(device);
		tn_device_destroy(device);
		_exit(bad || fake.closed || fake.frees);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

/* Wrapped at link time: the Nth host allocation fails. */
static int fail_host_alloc;
void *__real_tn_mem_alloc(size_t size);
void *__wrap_tn_mem_alloc(size_t size);
void *__real_tn_mem_zeroed(size_t count, size_t size);
void *__wrap_tn_mem_zeroed(size_t count, size_t size);

static int host_alloc_fails(void)
{
	return fail_host_alloc && --fail_host_alloc == 0;
}

void *__wrap_tn_mem_alloc(size_t size)
{
	return host_alloc_fails() ? NULL : __real_tn_mem_alloc(size);
}

void *__wrap_tn_mem_zeroed(size_t count, size_t size)
{
	return host_alloc_fails() ? NULL : __real_tn_mem_zeroed(count, size);
}

static void the_hosts_own_memory_may_run_out_anywhere(void **state)
{
	(void)state;
	int failures = 0;
	for (int n = 1; n < 20; n++) {
		struct fake fake;
		struct tn_device *device = NULL;
		struct tn_block blocks[70];
		int taken = 0;
		fake_init(&fake, FAKE_HOST);
		fail_host_alloc = n;
		tn_status status = tn_device_create(NULL, &fake.backend, 0, 0, NULL, &device, NULL);
		for (int i = 0; !status && i < 70; i++) {
			tn_status answer =
				tn_block_take(device, 1000 * (uint64_t)i, &blocks[taken], NULL);
			taken += answer == TN_OK;
			failures += answer != TN_OK;
			assert_true(answer == TN_OK || answer == TN_OUT_OF_MEMORY);
		}
		fail_host_alloc = 0;
		assert_true(status == TN_OK || status == TN_OUT_OF_MEMORY);
		failures += status != TN_OK;
		while (taken)
			tn_block_give(device, &blocks[--taken]);
		fake_finish(&fake, device);
	}
	assert_true(failures >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_opened_when_it_is_first_used_and_once),
		cmocka_unit_test(a_device_that_is_not_there_is_named),
		cmocka_unit_test(a_failed_open_is_told_and_may_be_tried_again),
		cmocka_unit_test(a_backend_that_says_nothing_is_given_words),
		cmocka_unit_test(bytes_come_back_as_they_went),
		cmocka_unit_test(a_lost_device_stays_lost_and_can_be_closed),
		cmocka_unit_test(a_forked_child_is_refused),
		cmocka_unit_test(the_hosts_own_memory_may_run_out_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
