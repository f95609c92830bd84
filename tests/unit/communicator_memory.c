/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The Nth allocation of the host fails, for every N: opening a communicator and its operations fail
 * cleanly, or work; nothing leaks, as sanitizers check.
 */
#include "communicator_fixture.h"

#define FAILING_MALLOC 0
#include "failing_memory.h"

static void prepare(void)
{
	put("communicator_fake.so");
	write_text("communicators.d/fake.communicator",
		   "name = fake\npackages = libfake\nlauncher = fakerun\nsize = A_SIZE\n"
		   "rank = A_RANK\n");
	setenv("A_SIZE", "4", 1);
	setenv("A_RANK", "1", 1);
}

/* 1 if allocation n failed, 0 if there are fewer. */
static int open_with_failure(long n)
{
	open_context(0);
	memory_fails_at(n, 0);
	tn_status status = tn_communicator_open(ctx, NULL, &ranks, &error);
	long failed = memory_works();
	if (!status)
		assert_string_equal(tn_communicator_name(ranks), "fake");
	else /* the plugin's own allocation, in create */
		assert_true(status == TN_OUT_OF_MEMORY || status == TN_PROBE_FAILED);
	assert_int_equal(ranks == NULL, status != TN_OK);
	close_ranks();
	return failed != 0;
}

static void opening_fails_cleanly(void **state)
{
	long n = 0;
	(void)state;
	prepare();
	while (open_with_failure(n))
		n++;
	assert_in_range(n, 10, 1000);
}

/* An operation in parts, on an array whose elements are copied. */
static int gather_with_failure(long n)
{
	float values[16];
	const int64_t shape[] = {4, 4};
	assert_ok(open_ranks());
	tn_array *x = tn_transpose(tn_ones(ctx, TN_F32, 2, shape), NULL);
	x = tn_slice(x, 1, 0, 2, 1);
	assert_non_null(x);
	memory_fails_at(n, 0);
	tn_array *all = tn_all_gather(ranks, x);
	long failed = memory_works();
	if (!all)
		assert_status(tn_error(ctx)->status, TN_OUT_OF_MEMORY);
	tn_error_clear(ctx);
	if (all && tn_array_size(all) == 32)
		assert_ok(tn_to_host(tn_slice(all, 0, 0, 2, 1), values, sizeof(values)));
	close_ranks();
	return failed != 0;
}

static void operations_fail_cleanly(void **state)
{
	long n = 0;
	(void)state;
	prepare();
	setenv("FAKE_FAULT", "small", 1);
	while (gather_with_failure(n))
		n++;
	assert_in_range(n, 3, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opening_fails_cleanly, begin_test, end_test),
		cmocka_unit_test_setup_teardown(operations_fail_cleanly, begin_test, end_test),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
