/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indices and labels out of range: on a device whose work is done at once, on one that works later,
 * and on one that runs no reductions.  tests/unit/mock_late.c has memory that the host cannot read.
 */
#include "array_fixture.h"
#include "capture/replay.h"
#include "device/transfer.h"
#include "index_checks.h"

/* The reference, as a device that works asynchronously. */
static struct tn_device *add_late_device(struct fixture *f)
{
	struct tn_device *device = add_device(f, "late", ALL_SLOTS, 0);
	device->synchronous = 0;
	device->description.flags &= ~(uint32_t)TN_DEVICE_SYNCHRONOUS;
	f->context.runtime.device = device;
	return device;
}

static tn_array *bad_take(struct fixture *f)
{
	const int32_t index = 5;
	return tn_take(tn_ones(context_of(f), TN_F32, SHAPE(4)),
		       tn_from_host(context_of(f), TN_I32, SHAPE(1), &index), 0, TN_RAISE);
}

static void the_host_checks_what_it_can_read(void **state)
{
	struct fixture *f = *state;
	check_index_errors(context_of(f), AT_ONCE, AT_ONCE);
	check_label_in_training(context_of(f), AT_ONCE);
	assert_null(bad_take(f));
	check_index_error(context_of(f), "take",
			  "index 5 at position 0 is out of range: the axis has length 4");
}

static void a_late_device_checks_and_the_next_wait_reports(void **state)
{
	struct fixture *f = *state;
	add_late_device(f);
	check_index_errors(context_of(f), LATER, LATER);
	check_label_in_training(context_of(f), LATER);
	assert_non_null(bad_take(f));
	assert_status(tn_device_sync(f->context.runtime.device, NULL), TN_INVALID_ARGUMENT);
	assert_ok(tn_device_sync(f->context.runtime.device, NULL));
	/* An upload does not wait. */
	assert_non_null(bad_take(f));
	assert_non_null(counted(f, 0, SHAPE(3)));
	/* A copy through the host does. */
	assert_null(tn_to(tn_ones(context_of(f), TN_F32, SHAPE(4)), f->context.runtime.reference));
	check_index_error(context_of(f), "take", "late:0: index 5 is out of range: the axis has");
}

static void the_first_of_several_is_reported(void **state)
{
	struct fixture *f = *state;
	struct tn_error_info error;
	struct tn_device *device = add_late_device(f);
	tn_array *labels = tn_full(context_of(f), TN_I32, SHAPE(2), 8);
	assert_non_null(
		tn_cross_entropy(tn_ones(context_of(f), TN_F32, SHAPE(2, 6)), labels, NULL));
	assert_non_null(bad_take(f));
	assert_status(tn_device_sync(device, &error), TN_INVALID_ARGUMENT);
	assert_string_equal(error.operation, "cross_entropy");
	assert_string_equal(error.text,
			    "late:0: label 8 is out of range: the number of classes is 6");
	assert_ok(tn_device_sync(device, &error));
}

/* An element out of range reads as zero meanwhile, a loss is NaN. */
static void the_value_is_defined_until_then(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = add_late_device(f);
	double value;
	tn_array *taken = bad_take(f);
	assert_status(tn_device_sync(device, NULL), TN_INVALID_ARGUMENT);
	assert_ok(tn_item(taken, &value));
	assert_true(value == 0);
	tn_array *labels = tn_full(context_of(f), TN_I32, SHAPE(2), 8);
	tn_array *loss =
		tn_cross_entropy(tn_ones(context_of(f), TN_F32, SHAPE(2, 6)), labels, NULL);
	assert_status(tn_device_sync(device, NULL), TN_INVALID_ARGUMENT);
	assert_ok(tn_item(loss, &value));
	assert_true(isnan(value));
}

/* A repetition of recorded calls would not read the indices again. */
static void a_take_that_the_host_checks_is_not_recorded(void **state)
{
	struct fixture *f = *state;
	tn_array *x = counted(f, 0, SHAPE(4));
	tn_array *indices = tn_zeros(context_of(f), TN_I32, SHAPE(2));
	assert_ok(tn_replay_begin(&f->context.runtime, x));
	tn_array *y = tn_take(x, indices, 0, TN_RAISE);
	assert_non_null(y);
	assert_null(tn_replay_end(&f->context.runtime, y));
}

/* Without reductions the host reads the indices. */
static void a_device_without_reductions_is_checked_by_the_host(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "memory", MEMORY_ALONE, 1);
	check_index_errors(context_of(f), AT_ONCE, AT_ONCE);
	assert_null(bad_take(f));
	check_index_error(context_of(f), "take", "index 5 at position 0");
}

static void a_check_is_not_counted(void **state)
{
	struct fixture *f = *state;
	add_late_device(f);
	tn_array *a = counted(f, 0, SHAPE(4)), *index = tn_zeros(context_of(f), TN_I32, SHAPE(3));
	tn_ledger_reset(context_of(f));
	assert_non_null(tn_take(a, index, 0, TN_RAISE));
	assert_int_equal(ledger_row(f, "take").native, 1);
	assert_int_equal(tn_ledger_count(context_of(f)), 1);
}

/* Where no indices were used, nothing is read back. */
static int downloads;
static tn_status (*download)(void *device, const struct tn_transfer_args *args);

static tn_status counted_download(void *device, const struct tn_transfer_args *args)
{
	downloads++;
	return download(device, args);
}

static void only_checks_are_read_back(void **state)
{
	struct fixture *f = *state;
	double value;
	add_late_device(f);
	download = f->backends[1].device.download;
	f->backends[1].device.download = counted_download;
	tn_array *a = counted(f, 2, SHAPE(1));
	assert_ok(tn_device_sync(f->context.runtime.device, NULL));
	assert_ok(tn_item(a, &value));
	assert_int_equal(downloads, 1);
	assert_non_null(tn_take(a, tn_zeros(context_of(f), TN_I32, SHAPE(3)), 0, TN_RAISE));
	assert_int_equal(downloads, 1);
	assert_ok(tn_item(a, &value));
	assert_int_equal(downloads, 3);
	assert_ok(tn_item(a, &value));
	assert_int_equal(downloads, 4);
}

/* A device that is closed before a wait: a line of the log. */
static void an_unreported_index_is_logged(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = add_late_device(f);
	assert_non_null(bad_take(f));
	tn_device_end_transfers(device);
	assert_contains(f->log, "an error was not reported by any call: take: late:0: index 5");
	f->log[0] = '\0';
	tn_device_end_transfers(device);
	assert_string_equal(f->log, "");
	assert_ok(tn_device_sync(device, NULL));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		CASE(the_host_checks_what_it_can_read),
		CASE(a_late_device_checks_and_the_next_wait_reports),
		CASE(the_first_of_several_is_reported),
		CASE(the_value_is_defined_until_then),
		CASE(a_device_without_reductions_is_checked_by_the_host),
		CASE(a_take_that_the_host_checks_is_not_recorded),
		CASE(a_check_is_not_counted),
		CASE(only_checks_are_read_back),
		CASE(an_unreported_index_is_logged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
