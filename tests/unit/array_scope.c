/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ownership of arrays, effects of an error, and shared memory.
 */
#include "array_fixture.h"

static uint64_t used(struct fixture *f)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(f->context.runtime.device, &use);
	return use.used;
}

static void a_scope_frees_its_arrays_and_hands_its_result_up(void **state)
{
	struct fixture *f = *state;
	uint64_t before = used(f);
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array *a = counted(f, 0, SHAPE(1000));
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array *b = tn_scope_end(context_of(f), tn_add(a, a));
	assert_ptr_equal(b->scope, f->context.runtime.scope);
	/* The inner scope's result belongs to the outer scope. */
	tn_array *outer = tn_scope_end(context_of(f), NULL);
	assert_null(outer);
	assert_int_equal(used(f), before);
	/* The root scope has no end. */
	tn_array *c = counted(f, 0, SHAPE(2));
	assert_ptr_equal(tn_scope_end(context_of(f), c), c);
	assert_elements(c, 0, 1);
}

static void a_kept_array_outlives_its_scope(void **state)
{
	struct fixture *f = *state;
	uint64_t before = used(f);
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array *a = tn_keep(counted(f, 0, SHAPE(2)));
	tn_scope_end(context_of(f), NULL);
	assert_elements(a, 0, 1);
	tn_array_destroy(a);
	assert_int_equal(used(f), before);
	/* Retained and released within: the scope still owns it. */
	assert_ok(tn_scope_begin(context_of(f)));
	a = tn_keep(counted(f, 0, SHAPE(2)));
	tn_array_destroy(a);
	assert_elements(a, 0, 1);
	tn_array_destroy(a);
	tn_scope_end(context_of(f), NULL);
	assert_int_equal(used(f), before);
}

static void a_destroyed_array_stays_for_those_who_hold_it(void **state)
{
	struct fixture *f = *state;
	uint64_t before = used(f);
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array *a = tn_array_hold(counted(f, 0, SHAPE(2)));
	tn_array_destroy(a);
	tn_array_destroy(a); /* a surplus destroy is harmless: the user holds no reference */
	tn_scope_end(context_of(f), NULL);
	assert_elements(a, 0, 1);
	tn_array_unhold(a);
	assert_int_equal(used(f), before);
}

static void a_view_holds_the_storage(void **state)
{
	struct fixture *f = *state;
	uint64_t before = used(f);
	tn_array *a = counted(f, 0, SHAPE(4));
	tn_array *view = tn_slice(a, 0, 1, 3, 1);
	tn_array_destroy(a);
	assert_elements(view, 1, 2);
	tn_array_destroy(view);
	assert_int_equal(used(f), before);
	tn_array_destroy(NULL);
}

static void what_is_left_goes_with_the_context(void **state)
{
	struct fixture *f = *state;
	tn_keep(tn_keep(counted(f, 0, SHAPE(3))));
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array_hold(counted(f, 0, SHAPE(3)));
	counted(f, 0, SHAPE(3)); /* close_fixture frees them all, or ASan complains */
}

static void the_first_error_is_kept_and_stops_what_makes_or_changes(void **state)
{
	struct fixture *f = *state;
	float data[2] = {0};
	tn_array *a = counted(f, 0, SHAPE(2)), *b = counted(f, 0, SHAPE(3));
	uint64_t version = a->storage->version;
	assert_null(tn_error(context_of(f)));
	assert_null(tn_add(a, b));
	assert_null(tn_reshape(a, SHAPE(7)));
	assert_string_equal(tn_error(context_of(f))->operation, "add");
	assert_null(tn_zeros(context_of(f), TN_F32, SHAPE(1)));
	assert_null(tn_add(tn_add(a, b), a));
	assert_status(tn_fill(a, 1), TN_PENDING_ERROR);
	assert_status(tn_add_into(a, a, a), TN_PENDING_ERROR);
	assert_status(tn_add_into(a, NULL, a), TN_PENDING_ERROR);
	assert_status(tn_to_host(a, data, sizeof(data)), TN_PENDING_ERROR);
	assert_int_equal(a->storage->version, version);
	assert_int_equal(tn_array_size(a), 2);
	tn_array_destroy(b);
	tn_error_clear(context_of(f));
	assert_elements(a, 0, 1);
}

static void null_in_gives_null_out(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2));
	/* Without another operand there is no context to keep it. */
	assert_null(tn_sum(NULL, TN_ALL_AXES, NULL, 0));
	assert_null(tn_reshape(NULL, 0, NULL));
	assert_null(tn_add(NULL, NULL));
	assert_null(tn_error(context_of(f)));
	assert_null(tn_add(a, NULL));
	assert_string_equal(tn_error_text(context_of(f)), "add: operand 1 is NULL");
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 1 is NULL");
	assert_null(tn_add(NULL, a));
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 0 is NULL");
	assert_null(tn_concatenate(2, (const tn_array *[]){a, NULL}, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 1 is NULL");
	assert_string_equal(tn_error_text(context_of(f)), "no error");
	assert_string_equal(tn_error_text(NULL), "there is no context");
	assert_null(tn_error(NULL));
	assert_int_equal(tn_array_size(NULL), 0);
	assert_null(tn_array_shape(NULL));
	assert_status(tn_add_into(a, a, NULL), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "operand 1 is NULL");
}

static void a_change_in_place_moves_the_version(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	tn_array *view = tn_transpose(a, NULL);
	uint64_t version = a->storage->version;
	tn_add(a, a);
	tn_sum(a, TN_ALL_AXES, NULL, 0);
	assert_int_equal(a->storage->version, version);
	assert_ok(tn_fill(view, 1));
	assert_true(a->storage->version > version);
	version = a->storage->version;
	assert_ok(tn_add_into(a, a, a));
	assert_true(a->storage->version > version);
	version = a->storage->version;
	assert_ok(tn_assign(view, a));
	assert_true(a->storage->version > version);
	version = a->storage->version;
	assert_ok(tn_assign_host(a, (const float[]){1, 2, 3, 4}, 16));
	assert_true(a->storage->version > version);
	version = a->storage->version;
	assert_ok(tn_matmul_into(a, view, 0, view, 0, 1, 0));
	assert_true(a->storage->version > version);
}

static void arrays_of_two_devices_do_not_meet(void **state)
{
	struct fixture *f = *state;
	struct tn_device *other = add_device(f, "other", ALL_SLOTS, 0);
	tn_array *a = counted(f, 0, SHAPE(2));
	tn_array *b = tn_to(a, other);
	assert_ptr_equal(tn_array_device(b), other);
	assert_null(tn_add(a, b));
	assert_contains(tn_error(context_of(f))->text, "reference:0");
	assert_kept(f, TN_DEVICE, "other:0");
	assert_elements(tn_add(b, b), 0, 2);
	assert_status(tn_add_into(a, b, b), TN_DEVICE);
	assert_kept(f, TN_DEVICE, "tn_to");
	/* To its own device: the array itself, with one more reference. */
	assert_ptr_equal(tn_to(a, f->context.runtime.device), a);
	tn_array_destroy(a);
	assert_elements(tn_to(tn_slice(a, 0, INT64_MIN, INT64_MIN, -1), other), 1, 0);
}

static void shapes_that_cannot_be_are_refused(void **state)
{
	struct fixture *f = *state;
	assert_null(tn_empty(context_of(f), TN_F32, SHAPE(-1)));
	assert_kept(f, TN_INVALID_ARGUMENT, "found -1");
	assert_null(tn_empty(context_of(f), TN_F32, 17, (const int64_t[17]){0}));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 17");
	assert_null(tn_empty(context_of(f), TN_F32, SHAPE(INT64_MAX, 2)));
	assert_kept(f, TN_LIMIT, "bytes");
	assert_null(tn_empty(context_of(f), TN_F32, SHAPE(0, INT64_MAX, INT64_MAX)));
	assert_kept(f, TN_LIMIT, "bytes");
	assert_null(tn_empty(context_of(f), 99, SHAPE(1)));
	assert_kept(f, TN_DTYPE, "99");
	assert_null(tn_add(tn_broadcast_to(counted(f, 0, SHAPE(1, 1)), SHAPE(1, INT64_MAX / 16)),
			   tn_broadcast_to(counted(f, 0, SHAPE(1, 1)), SHAPE(1 << 20, 1))));
	assert_kept(f, TN_LIMIT, "bytes");
}

static void no_memory_is_an_error_that_leaves_all_as_it_was(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2));
	uint64_t before = used(f);
	assert_null(tn_empty(context_of(f), TN_F32, SHAPE(INT64_C(1) << 50)));
	assert_kept(f, TN_OUT_OF_MEMORY, "");
	assert_int_equal(used(f), before);
	assert_elements(a, 0, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(a_scope_frees_its_arrays_and_hands_its_result_up),
		TEST(a_kept_array_outlives_its_scope),
		TEST(a_destroyed_array_stays_for_those_who_hold_it),
		TEST(a_view_holds_the_storage),
		TEST(what_is_left_goes_with_the_context),
		TEST(the_first_error_is_kept_and_stops_what_makes_or_changes),
		TEST(null_in_gives_null_out),
		TEST(a_change_in_place_moves_the_version),
		TEST(arrays_of_two_devices_do_not_meet),
		TEST(shapes_that_cannot_be_are_refused),
		TEST(no_memory_is_an_error_that_leaves_all_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
