/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of networks: tied parameters, buffers, dtype, modes, members, what is not built.  The
 * classes of the library are copied in tests/parity/modules.c, those of the program in frozen.c.
 */
#include "frozen_cases.h"
#include "test_context.h"

static tn_context *other;

static tn_module *make_net(void)
{
	tn_module *net = frozen_chain(context, frozen_layer(context, frozen_plain, 1, 1));
	assert_ok(tn_module_set_dtype(net, TN_F64));
	assert_ok(tn_module_build(net));
	struct tn_buffer_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_buffer_at(net, 0, &view));
	assert_ok(tn_fill(view.value, 0.25));
	return net;
}

static void expect_equal(tn_module *a, tn_module *b)
{
	double found[2][2 * FROZEN_CLASSES];
	tn_module *modules[] = {a, b};
	for (int i = 0; i < 2; i++) {
		tn_array *x = frozen_pictures(i ? other : context, 2);
		tn_array *y = tn_module_forward(modules[i], tn_astype(x, TN_F64));
		assert_ok(tn_to_host(y, found[i], sizeof(found[i])));
	}
	assert_memory_equal(found[0], found[1], sizeof(found[0]));
}

static void a_copy_is_like_the_network(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
		tn_module *net = make_net();
		assert_ok(tn_module_set_trainable(net, "0", 0));
		tn_module_set_training(tn_module_child(net, "4"), 1);
		if (is_frozen)
			assert_ok(tn_module_freeze(net));
		tn_module *copy = tn_module_copy(other, net);
		assert_non_null(copy);
		tn_module_unfreeze(net);
		assert_int_equal(tn_module_is_frozen(copy), 0);
		assert_int_equal(tn_module_dtype(copy), TN_F64);
		/* Tied ones count once. */
		assert_int_equal(tn_module_size(copy, 0), tn_module_size(net, 0));
		assert_int_equal(tn_module_size(copy, 1), tn_module_size(net, 1));
		assert_int_equal(tn_module_is_training(tn_module_child(copy, "4")), 1);
		assert_int_equal(tn_module_is_training(copy), 0);
		expect_equal(net, copy);
		/* And is its own. */
		assert_ok(tn_module_parameter(net, "0.weight", &view));
		assert_ok(tn_fill(view.value, 0));
		tn_module *again = tn_module_copy(other, net);
		expect_equal(net, again);
		tn_module_destroy(net);
		tn_module_destroy(copy);
		tn_module_destroy(again);
	}
}

static void members_and_modules_that_are_not_built_are_copied(void **state)
{
	(void)state;
	tn_module *net = make_net();
	tn_module *member = tn_module_copy(context, tn_module_child(net, "3"));
	assert_int_equal(tn_module_parameter_count(member), 4);
	assert_int_equal(tn_module_dtype(member), TN_F64);
	assert_status(tn_module_build(member), TN_STATE);
	expect_kept(TN_STATE, "already");
	tn_module_destroy(member);
	tn_module_destroy(net);
	net = frozen_chain(context, frozen_layer(context, frozen_plain, 1, 1));
	tn_module *copy = tn_module_copy(other, net);
	tn_module_destroy(net);
	assert_ok(tn_module_build(copy));
	assert_int_equal(tn_module_parameter_count(copy), 13);
	tn_module_destroy(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_is_like_the_network),
		cmocka_unit_test(members_and_modules_that_are_not_built_are_copied),
	};
	assert_ok(tn_context_open(NULL, &other, NULL));
	int failed = cmocka_run_group_tests(tests, context_setup, context_teardown);
	tn_context_close(other);
	return failed;
}
