/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The three rules of struct sizes, with an artificial interface that grew: the old and the new side
 * of each, both ways.
 */
#include "check.h"

#include <tenon/backend.h>

/* Arguments of an older and of a newer version. */
struct old_args {
	struct tn_call call;
	uint64_t size;
};
struct new_args {
	struct tn_call call;
	uint64_t size;
	uint64_t hint;
};

/* As across the plugin boundary: the compiler cannot see the type of the struct. */
static __attribute__((noinline)) tn_status take(void *own, size_t own_size, const void *arguments)
{
	return tn_arguments_take(own, own_size, arguments);
}

static void an_old_caller_means_zero_for_what_it_does_not_know(void **state)
{
	/* Followed in memory by bytes that must not be read. */
	struct {
		struct old_args args;
		uint64_t other;
	} caller = {{{.struct_size = sizeof(struct old_args), .flags = TN_ASYNC}, 5}, 99};
	struct new_args own;
	(void)state;
	assert_ok(take(&own, sizeof(own), &caller.args));
	assert_int_equal(own.call.flags, TN_ASYNC);
	assert_int_equal(own.size, 5);
	assert_int_equal(own.hint, 0);
	assert_int_equal(own.call.struct_size, sizeof(own));
}

static void a_new_caller_is_taken_when_its_unknown_tail_is_zero(void **state)
{
	struct new_args caller = {{.struct_size = sizeof(caller)}, 5, 0};
	struct old_args own;
	(void)state;
	assert_ok(take(&own, sizeof(own), &caller));
	assert_int_equal(own.size, 5);
	assert_true(tn_arguments_fit(&caller, sizeof(own)));
	/* A taken struct may be passed on: its size is what struct_size states. */
	assert_int_equal(own.call.struct_size, sizeof(own));
}

static void a_new_caller_with_an_unknown_wish_is_unsupported(void **state)
{
	struct tn_error_info error;
	struct new_args caller = {{.struct_size = sizeof(caller), .error = &error}, 5, 1};
	struct old_args own;
	(void)state;
	assert_status(take(&own, sizeof(own), &caller), TN_UNSUPPORTED);
	/* The callee can report it. */
	assert_ptr_equal(own.call.error, &error);
	/* The last byte is checked like the first. */
	caller.hint = UINT64_C(1) << 63;
	assert_false(tn_arguments_fit(&caller, sizeof(own)));
}

struct old_out {
	uint32_t struct_size;
	uint32_t count;
};
struct new_out {
	uint32_t struct_size;
	uint32_t count;
	uint64_t more;
};

static void a_new_callee_does_not_write_past_an_old_struct(void **state)
{
	struct {
		struct old_out out;
		uint64_t other;
	} caller = {{.struct_size = sizeof(struct old_out)}, 99};
	const struct new_out own = {sizeof(own), 3, 4};
	(void)state;
	tn_struct_answer(&caller.out, &own, sizeof(own));
	assert_int_equal(caller.out.count, 3);
	assert_int_equal(caller.out.struct_size, sizeof(struct old_out));
	assert_int_equal(caller.other, 99);
}

static void an_old_callee_leaves_the_new_fields_alone(void **state)
{
	struct new_out caller = {sizeof(caller), 0, 77};
	const struct old_out own = {sizeof(own), 3};
	(void)state;
	tn_struct_answer(&caller, &own, sizeof(own));
	assert_int_equal(caller.count, 3);
	assert_int_equal(caller.more, 77);
	assert_int_equal(caller.struct_size, sizeof(caller));
}

static void a_field_is_there_when_it_lies_whole_within_the_size(void **state)
{
	struct new_out out = {.struct_size = sizeof(struct old_out)};
	(void)state;
	assert_true(TN_HAS_FIELD(struct new_out, &out, count));
	assert_false(TN_HAS_FIELD(struct new_out, &out, more));
	out.struct_size = sizeof(out) - 1;
	assert_false(TN_HAS_FIELD(struct new_out, &out, more));
	out.struct_size = sizeof(out);
	assert_true(TN_HAS_FIELD(struct new_out, &out, more));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_caller_means_zero_for_what_it_does_not_know),
		cmocka_unit_test(a_new_caller_is_taken_when_its_unknown_tail_is_zero),
		cmocka_unit_test(a_new_caller_with_an_unknown_wish_is_unsupported),
		cmocka_unit_test(a_new_callee_does_not_write_past_an_old_struct),
		cmocka_unit_test(an_old_callee_leaves_the_new_fields_alone),
		cmocka_unit_test(a_field_is_there_when_it_lies_whole_within_the_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
