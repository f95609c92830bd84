/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operations of a communicator: checks, parts, waiting, failures, arrays.  The fixture is rank 1 of
 * ranks that all have the same operands.
 */
#include "communicator_fixture.h"

#include <tenon/tenon.h>

/* Opens the fixture with that fault. */
static void open_fake(const char *size, const char *fault)
{
	put("communicator_fake.so");
	setenv("TENON_COMMUNICATOR", "fake", 1);
	setenv("FAKE_SIZE", size, 1);
	setenv("FAKE_FAULT", fault, 1);
	assert_ok(open_ranks());
}

static struct tn_collective_host reduction(const float *source, float *target, uint64_t n)
{
	return (struct tn_collective_host){.struct_size = sizeof(struct tn_collective_host),
					   .operation = TN_COLLECTIVE_ALL_REDUCE,
					   .combiner = TN_REDUCE_SUM,
					   .dtype = TN_F32,
					   .n = n,
					   .source = source,
					   .target = target,
					   .label = "gradients 3 of step 17"};
}

static void kept(tn_status status, const char *operation, const char *part)
{
	const struct tn_error_info *found = tn_error(ctx);
	assert_non_null(found);
	assert_status(found->status, status);
	assert_string_equal(found->operation, operation);
	assert_contains(found->text, part);
	tn_error_clear(ctx);
}

static void one_rank_alone_has_its_operand_as_result(void **state)
{
	const float source[3] = {1, 2, 3};
	float target[3] = {0};
	(void)state;
	assert_ok(open_ranks());
	struct tn_collective_host o = reduction(source, target, 3);
	assert_ok(tn_communicator_run(ranks, &o));
	assert_memory_equal(target, source, sizeof(target));
	o.operation = TN_COLLECTIVE_REDUCE_SCATTER;
	target[0] = 0;
	assert_ok(tn_communicator_run(ranks, &o));
	assert_memory_equal(target, source, sizeof(target));
	o.operation = TN_COLLECTIVE_ALL_GATHER;
	o.combiner = 0;
	target[0] = 0;
	assert_ok(tn_communicator_run(ranks, &o));
	assert_memory_equal(target, source, sizeof(target));
	assert_ok(tn_barrier(ranks));
	assert_ok(tn_communicator_progress(ranks));
}

static void a_request_is_tested_until_it_is_done(void **state)
{
	const float source[3] = {1, 2, 3};
	float target[3] = {0};
	tn_request *request;
	int is_done = 1;
	(void)state;
	open_fake("4", "late");
	const struct tn_collective_host o = reduction(source, target, 3);
	assert_ok(tn_communicator_start(ranks, &o, &request));
	assert_ok(tn_request_test(request, &is_done));
	assert_false(is_done);
	assert_ok(tn_communicator_progress(ranks));
	assert_ok(tn_request_test(request, &is_done));
	assert_true(is_done);
	assert_ok(tn_request_test(request, &is_done));
	assert_true(is_done);
	assert_ok(tn_request_wait(request));
	for (int i = 0; i < 3; i++)
		assert_true(target[i] == 4 * source[i]);
	assert_ok(tn_request_wait(NULL));
}

/* Two parts of f32 at most in 24 bytes of three ranks, six in those of one. */
static void large_operations_are_several_of_the_plugins(void **state)
{
	enum { RANKS = 3, N = 13 };
	float source[RANKS * N], target[RANKS * N];
	(void)state;
	open_fake("3", "small");
	for (int i = 0; i < RANKS * N; i++)
		source[i] = (float)i;
	struct tn_collective_host o = reduction(source, target, N);
	assert_ok(tn_communicator_run(ranks, &o));
	for (int i = 0; i < N; i++)
		assert_true(target[i] == (float)(RANKS * i));
	o.operation = TN_COLLECTIVE_REDUCE_SCATTER;
	assert_ok(tn_communicator_run(ranks, &o));
	for (int i = 0; i < N; i++)
		assert_true(target[i] == (float)(RANKS * (N + i)));
	/* In place. */
	o.target = source + N;
	assert_ok(tn_communicator_run(ranks, &o));
	for (int i = 0; i < N; i++)
		assert_true(source[N + i] == (float)(RANKS * (N + i)));
	o.operation = TN_COLLECTIVE_ALL_GATHER;
	o.combiner = 0;
	o.source = source;
	o.target = target;
	assert_ok(tn_communicator_run(ranks, &o));
	for (int i = 0; i < RANKS * N; i++)
		assert_true(target[i] == source[i % N]);
	o.source = target + N;
	target[N + 2] = -5;
	assert_ok(tn_communicator_run(ranks, &o));
	for (int i = 0; i < RANKS * N; i++)
		assert_true(target[i] == (i % N == 2 ? -5 : source[i % N]));
}

static void an_element_of_every_rank_must_fit(void **state)
{
	double source[4] = {0}, target[16];
	(void)state;
	open_fake("4", "small");
	struct tn_collective_host o = reduction(NULL, NULL, 4);
	o.operation = TN_COLLECTIVE_ALL_GATHER;
	o.combiner = 0;
	o.dtype = TN_F64;
	o.source = source;
	o.target = target;
	assert_status(tn_communicator_run(ranks, &o), TN_LIMIT);
	kept(TN_LIMIT, "all_gather", "communicator fake moves at most 24 bytes at once");
	assert_ok(tn_barrier(ranks));
}

static void arguments_are_checked_before_anything_is_sent(void **state)
{
	float x[16] = {0};
	tn_request *request;
	(void)state;
	open_fake("4", "");
	const struct tn_collective_host good = reduction(x, x, 4);
	struct {
		struct tn_collective_host o;
		tn_status status;
		const char *operation, *part;
	} wrong[16];
	int n = 0;
	for (int i = 0; i < 16; i++)
		wrong[i].o = good;
	wrong[n].o.operation = TN_COLLECTIVE_UNASSIGNED;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "collective";
	wrong[n++].part = "operation: expected TN_COLLECTIVE_..., found 32767";
	wrong[n].o.combiner = TN_REDUCE_ARGMAX;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "all_reduce";
	wrong[n++].part = "combiner: expected TN_REDUCE_SUM, TN_REDUCE_MAX or TN_REDUCE_MIN";
	wrong[n].o.dtype = TN_U8;
	wrong[n].status = TN_DTYPE, wrong[n].operation = "all_reduce";
	wrong[n++].part = "found u8";
	wrong[n].o.dtype = 99;
	wrong[n].status = TN_DTYPE, wrong[n].operation = "all_reduce";
	wrong[n++].part = "99 is not an element type";
	wrong[n].o.n = UINT64_MAX / 8;
	wrong[n].status = TN_LIMIT, wrong[n].operation = "all_reduce";
	wrong[n++].part = "more bytes than can be addressed";
	wrong[n].o.target = NULL;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "all_reduce";
	wrong[n++].part = "target is NULL";
	wrong[n].o.target = x + 1;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "all_reduce";
	wrong[n++].part = "overlap";
	/* In place is target + rank * n, and this is rank 1. */
	wrong[n].o.operation = TN_COLLECTIVE_REDUCE_SCATTER;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "reduce_scatter";
	wrong[n++].part = "overlap";
	wrong[n].o.root = 1;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "all_reduce";
	wrong[n++].part = "root 1";
	wrong[n].o.operation = TN_COLLECTIVE_BROADCAST, wrong[n].o.combiner = 0;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "broadcast";
	wrong[n++].part = "source: expected NULL";
	wrong[n].o.operation = TN_COLLECTIVE_BROADCAST, wrong[n].o.combiner = 0;
	wrong[n].o.root = 4, wrong[n].o.source = NULL;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "broadcast";
	wrong[n++].part = "root: expected a rank below 4, found 4";
	wrong[n].o.operation = TN_COLLECTIVE_BARRIER, wrong[n].o.combiner = 0;
	wrong[n].status = TN_INVALID_ARGUMENT, wrong[n].operation = "barrier";
	wrong[n++].part = "expected no elements and no memory";
	for (int i = 0; i < n; i++) {
		assert_status(tn_communicator_start(ranks, &wrong[i].o, &request), wrong[i].status);
		assert_null(request);
		kept(wrong[i].status, wrong[i].operation, wrong[i].part);
	}
	/* The communicator still works. */
	assert_ok(tn_communicator_run(ranks, &good));
}

static void a_sum_without_an_order_is_refused_where_results_are_deterministic(void **state)
{
	float x[2] = {0};
	(void)state;
	put("communicator_fake.so");
	setenv("TENON_COMMUNICATOR", "fake", 1);
	setenv("FAKE_FAULT", "unordered", 1);
	open_context(1);
	assert_ok(tn_communicator_open(ctx, NULL, &ranks, &error));
	const struct tn_collective_host o = reduction(x, x, 2);
	assert_status(tn_communicator_run(ranks, &o), TN_UNSUPPORTED);
	kept(TN_UNSUPPORTED, "all_reduce", "rank 1 of 4: sums have no order");
}

static void a_lost_rank_breaks_the_communicator(void **state)
{
	float x[2] = {0}, y[2] = {0};
	tn_request *other;
	(void)state;
	open_fake("4", "lost");
	struct tn_collective_host o = reduction(y, y, 2);
	assert_ok(tn_communicator_start(ranks, &o, &other));
	o = reduction(x, x, 2);
	assert_status(tn_communicator_run(ranks, &o), TN_PEER_LOST);
	assert_int_equal(tn_error(ctx)->native_code, 77);
	kept(TN_PEER_LOST, "all_reduce", "gradients 3 of step 17, rank 1 of 4: rank 2 has ended");
	/* Everything else fails likewise, with the first failure. */
	assert_status(tn_barrier(ranks), TN_PEER_LOST);
	kept(TN_PEER_LOST, "barrier",
	     "the communicator is broken since all_reduce: gradients 3 of step 17, rank 1 of 4: "
	     "rank 2");
	assert_status(tn_request_wait(other), TN_PEER_LOST);
	tn_error_clear(ctx);
}

static void an_operation_that_cannot_begin_breaks_the_communicator(void **state)
{
	float x[2] = {0};
	(void)state;
	open_fake("4", "start");
	const struct tn_collective_host o = reduction(x, x, 2);
	assert_status(tn_communicator_run(ranks, &o), TN_BACKEND_FAILURE);
	kept(TN_BACKEND_FAILURE, "all_reduce", "rank 1 of 4: the wire is cut");
	assert_status(tn_barrier(ranks), TN_BACKEND_FAILURE);
	kept(TN_BACKEND_FAILURE, "barrier", "broken since all_reduce");
}

static void a_rank_that_does_not_come_is_named_in_time(void **state)
{
	float x[2] = {0};
	(void)state;
	setenv("TENON_COMMUNICATOR_TIMEOUT", "0.05", 1);
	open_fake("4", "hang");
	const struct tn_collective_host o = reduction(x, x, 2);
	assert_status(tn_communicator_run(ranks, &o), TN_TIMED_OUT);
	kept(TN_TIMED_OUT, "all_reduce", "gradients 3 of step 17, rank 1 of 4: waited ");
	assert_contains(messages, "communicator: rank 1 of 4 has waited ");
	assert_contains(messages, "s in all_reduce of gradients 3 of step 17: for rank 2\n");
	assert_status(tn_barrier(ranks), TN_TIMED_OUT);
	kept(TN_TIMED_OUT, "barrier", "broken since all_reduce");
}

static void an_error_that_is_kept_stops_starts_but_no_wait(void **state)
{
	float x[2] = {1, 2};
	tn_request *request, *second;
	(void)state;
	open_fake("4", "late");
	const struct tn_collective_host o = reduction(x, x, 2);
	assert_ok(tn_communicator_start(ranks, &o, &request));
	assert_null(tn_zeros(ctx, 99, 0, NULL));
	assert_status(tn_communicator_start(ranks, &o, &second), TN_PENDING_ERROR);
	assert_ok(tn_request_wait(request));
	assert_true(x[1] == 8);
	tn_error_clear(ctx);
}

static void abort_says_why(void **state)
{
	(void)state;
	open_fake("4", "");
	tn_communicator_abort(ranks, 3, "the disk is full");
	assert_contains(messages, "communicator: rank 1 of 4 ends the program: the disk is full");
	assert_status(tn_barrier(ranks), TN_PEER_LOST);
	kept(TN_PEER_LOST, "barrier", "this rank ended the program: the disk is full");
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static void holds(const tn_array *array, const float *expected, size_t n)
{
	float found[64];
	assert_non_null(array);
	assert_ok(tn_to_host(array, found, n * sizeof(float)));
	for (size_t i = 0; i < n; i++)
		assert_true(found[i] == expected[i]);
}

static void arrays_are_reduced_where_they_lie(void **state)
{
	const int64_t shape[] = {4, 2};
	(void)state;
	open_fake("4", "late");
	tn_array *x = tn_arange(ctx, TN_F32, 0, 8, 1);
	x = tn_reshape(x, 2, shape);
	assert_ok(tn_all_reduce(ranks, x, TN_REDUCE_SUM));
	holds(x, (const float[]){0, 4, 8, 12, 16, 20, 24, 28}, 8);
	/* A view with strides: the other elements stay. */
	tn_array *column = tn_slice(x, 1, 1, 2, 1);
	assert_ok(tn_all_reduce(ranks, column, TN_REDUCE_SUM));
	holds(x, (const float[]){0, 16, 8, 48, 16, 80, 24, 112}, 8);
	assert_ok(tn_broadcast(ranks, x, 3));
	tn_array *part = tn_reduce_scatter(ranks, x, TN_REDUCE_MAX);
	assert_int_equal(tn_array_shape(part)[0], 1);
	holds(part, (const float[]){8, 48}, 2);
	tn_array *all = tn_all_gather(ranks, column);
	assert_int_equal(tn_array_rank(all), 3);
	assert_int_equal(tn_array_shape(all)[0], 4);
	holds(all,
	      (const float[]){16, 48, 80, 112, 16, 48, 80, 112, 16, 48, 80, 112, 16, 48, 80, 112},
	      16);
	/* No elements. */
	const int64_t none[] = {0, 2};
	tn_array *empty_array = tn_zeros(ctx, TN_F32, 2, none);
	assert_ok(tn_all_reduce(ranks, empty_array, TN_REDUCE_SUM));
	assert_int_equal(tn_array_size(tn_all_gather(ranks, empty_array)), 0);
	assert_int_equal(tn_array_size(tn_reduce_scatter(ranks, empty_array, TN_REDUCE_SUM)), 0);
}

static void arrays_that_do_not_fit_are_refused(void **state)
{
	const int64_t five[] = {5},
		      deep[TN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	tn_context *other;
	(void)state;
	open_fake("4", "");
	assert_null(tn_reduce_scatter(ranks, tn_zeros(ctx, TN_F32, 1, five), TN_REDUCE_SUM));
	kept(TN_SHAPE, "reduce_scatter",
	     "x: expected a multiple of the number of ranks, 4, on axis 0, found shape (5,)");
	assert_null(tn_all_gather(ranks, tn_zeros(ctx, TN_F32, TN_MAX_RANK, deep)));
	kept(TN_LIMIT, "all_gather", "of rank 16");
	assert_status(tn_all_reduce(ranks, tn_zeros(ctx, TN_U8, 1, five), TN_REDUCE_SUM), TN_DTYPE);
	kept(TN_DTYPE, "all_reduce", "found u8");
	assert_ok(tn_context_open(NULL, &other, &error));
	assert_status(tn_broadcast(ranks, tn_zeros(other, TN_F32, 1, five), 0), TN_DEVICE);
	kept(TN_DEVICE, "broadcast", "different contexts");
	tn_context_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_rank_alone_has_its_operand_as_result,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(a_request_is_tested_until_it_is_done, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(large_operations_are_several_of_the_plugins,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(an_element_of_every_rank_must_fit, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(arguments_are_checked_before_anything_is_sent,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(
			a_sum_without_an_order_is_refused_where_results_are_deterministic,
			begin_test, end_test),
		cmocka_unit_test_setup_teardown(a_lost_rank_breaks_the_communicator, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(
			an_operation_that_cannot_begin_breaks_the_communicator, begin_test,
			end_test),
		cmocka_unit_test_setup_teardown(a_rank_that_does_not_come_is_named_in_time,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(an_error_that_is_kept_stops_starts_but_no_wait,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(abort_says_why, begin_test, end_test),
		cmocka_unit_test_setup_teardown(arrays_are_reduced_where_they_lie, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(arrays_that_do_not_fit_are_refused, begin_test,
						end_test),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
