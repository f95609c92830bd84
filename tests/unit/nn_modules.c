/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Modules: structure, building, parameters, files.
 */
#include <unistd.h>

#include <tenon/tenon.h>

#include "check.h"

static tn_context *context;

static int setup(void **state)
{
	struct tn_error_info error;
	(void)state;
	return tn_context_open(NULL, &context, &error);
}

static int teardown(void **state)
{
	(void)state;
	tn_context_close(context);
	return 0;
}

static void expect_error(tn_status status, const char *part)
{
	assert_non_null(tn_error(context));
	assert_status(tn_error(context)->status, status);
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
}

static tn_module *small_net(void)
{
	tn_module *net = tn_sequential(context), *block = tn_sequential(context);
	assert_ok(tn_sequential_add(block, "fc", tn_module_linear(context, 3, 5, NULL)));
	assert_ok(tn_sequential_add(block, NULL, tn_module_tanh(context)));
	assert_ok(tn_sequential_add(net, "block", block));
	assert_ok(tn_sequential_add(net, "head", tn_module_linear(context, 5, 2, NULL)));
	return net;
}

static void parameters_have_their_paths_as_names(void **state)
{
	static const char *const names[] = {"block.fc.weight", "block.fc.bias", "head.weight",
					    "head.bias"};
	struct tn_parameter_view view;
	(void)state;
	tn_module *net = small_net();
	assert_int_equal(tn_module_parameter_count(net), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		assert_string_equal(view.name, names[i]);
		assert_null(view.value);
	}
	assert_int_equal(tn_module_size(net, 0), 3 * 5 + 5 + 5 * 2 + 2);
	assert_status(tn_module_parameter(net, "nothing", &view), TN_NOT_FOUND);
	assert_status(tn_module_parameter_at(net, 4, &view), TN_INVALID_ARGUMENT);
	tn_module_destroy(net);
}

static void initial_weights_are_uniform_and_repeat_with_the_seed(void **state)
{
	struct tn_parameter_view view;
	float first[15], again[15], largest = 0;
	(void)state;
	for (int round = 0; round < 2; round++) {
		tn_random_state_set(context, (struct tn_random_state){42, 0});
		tn_module *net = small_net();
		assert_ok(tn_module_build(net));
		assert_ok(tn_module_parameter(net, "block.fc.weight", &view));
		assert_ok(tn_to_host(view.value, round ? again : first, sizeof(first)));
		tn_module_destroy(net);
	}
	assert_memory_equal(first, again, sizeof(first));
	for (int i = 0; i < 15; i++)
		largest = fmaxf(largest, fabsf(first[i]));
	assert_true(largest <= 1.0f / sqrtf(3.0f));
	assert_true(largest > 0.3f);
}

static void a_built_module_does_not_change(void **state)
{
	(void)state;
	tn_module *net = small_net();
	assert_ok(tn_module_build(net));
	assert_status(tn_module_build(net), TN_STATE);
	expect_error(TN_STATE, "already");
	assert_status(tn_sequential_add(net, "late", tn_module_relu(context)), TN_STATE);
	expect_error(TN_STATE, "late");
	assert_status(tn_module_add_parameter(net, "w", 1, (int64_t[]){2}, 0, 0), TN_STATE);
	expect_error(TN_STATE, "'w'");
	tn_module_destroy(net);
}

static void names_are_single_and_without_dots(void **state)
{
	(void)state;
	tn_module *net = tn_sequential(context);
	assert_ok(tn_sequential_add(net, "a", tn_module_relu(context)));
	assert_status(tn_sequential_add(net, "a", tn_module_relu(context)), TN_INVALID_ARGUMENT);
	expect_error(TN_INVALID_ARGUMENT, "taken");
	assert_status(tn_sequential_add(net, "a.b", tn_module_relu(context)), TN_INVALID_ARGUMENT);
	expect_error(TN_INVALID_ARGUMENT, "dots");
	tn_module_destroy(net);
}

static void a_module_that_is_not_built_does_not_run(void **state)
{
	(void)state;
	tn_module *net = small_net();
	assert_null(tn_module_forward(net, tn_ones(context, TN_F32, 2, (int64_t[]){1, 3})));
	expect_error(TN_STATE, "built");
	tn_module_destroy(net);
}

static void bad_sizes_are_refused_with_a_reason(void **state)
{
	(void)state;
	assert_null(tn_module_linear(context, 0, 5, NULL));
	expect_error(TN_INVALID_ARGUMENT, "weight");
	assert_null(tn_module_dropout(context, 1.0));
	expect_error(TN_INVALID_ARGUMENT, "[0, 1)");
	assert_null(tn_module_max_pool2d(context, NULL));
	expect_error(TN_INVALID_ARGUMENT, "kernel");
	const struct tn_module_conv2d_options groups = {.struct_size = sizeof(groups),
							.window = {.groups = 3}};
	assert_null(tn_module_conv2d(context, 4, 6, 3, 3, &groups));
	expect_error(TN_INVALID_ARGUMENT, "groups");
}

static void a_shared_parameter_is_one(void **state)
{
	(void)state;
	tn_module *a = tn_module_linear(context, 4, 4, NULL), *net = tn_sequential(context);
	static const struct tn_module_linear_options no_bias = {sizeof(no_bias), 1};
	tn_module *b = tn_module_linear(context, 4, 4, &no_bias);
	assert_ok(tn_module_share_parameter(b, "tied", a, "weight"));
	assert_ok(tn_sequential_add(net, "a", a));
	assert_ok(tn_sequential_add(net, "b", b));
	assert_int_equal(tn_module_parameter_count(net), 3); /* a.weight, a.bias, b.weight */
	assert_ok(tn_module_build(net));
	assert_ptr_equal(tn_module_own_parameter(a, "weight"), tn_module_own_parameter(b, "tied"));
	tn_module_destroy(net);
}

static void a_parameter_of_a_built_network_is_not_shared_with_another(void **state)
{
	static const struct tn_module_linear_options no_bias = {sizeof(no_bias), 1};
	(void)state;
	tn_module *a = tn_module_linear(context, 4, 4, &no_bias);
	tn_module *b = tn_module_linear(context, 4, 4, &no_bias);
	assert_ok(tn_module_share_parameter(b, "tied", a, "weight"));
	assert_ok(tn_module_build(a));
	assert_status(tn_module_build(b), TN_STATE);
	expect_error(TN_STATE, "belongs to a network");
	tn_module *c = tn_module_linear(context, 4, 4, &no_bias);
	assert_status(tn_module_share_parameter(c, "tied", a, "weight"), TN_STATE);
	expect_error(TN_STATE, "built");
	tn_module_destroy(a);
	tn_module_destroy(b);
	tn_module_destroy(c);
}

static void dropout_works_only_in_training(void **state)
{
	float out[64];
	int zeros = 0;
	(void)state;
	tn_module *net = tn_sequential(context);
	assert_ok(tn_sequential_add(net, NULL, tn_module_dropout(context, 0.5)));
	assert_ok(tn_module_build(net));
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){64});
	assert_ok(tn_to_host(tn_module_forward(net, x), out, sizeof(out)));
	for (int i = 0; i < 64; i++)
		assert_close(out[i], 1, 0);
	tn_module_set_training(net, 1);
	assert_ok(tn_to_host(tn_module_forward(net, x), out, sizeof(out)));
	for (int i = 0; i < 64; i++) {
		assert_true(out[i] == 0.0f || out[i] == 2.0f);
		zeros += out[i] == 0.0f;
	}
	assert_true(zeros > 10 && zeros < 54);
	tn_module_destroy(net);
}

static const char *path(void)
{
	static char name[64];
	snprintf(name, sizeof(name), "nn_modules.%d.safetensors", (int)getpid());
	return name;
}

static void a_saved_network_is_read_back_to_the_bit(void **state)
{
	struct tn_parameter_view view;
	float before[15], after[15];
	(void)state;
	tn_module *net = small_net(), *other = small_net();
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_build(other));
	const struct tn_pair pair = {"note", "hello"};
	assert_ok(tn_module_save(net, path(), 1, &pair));
	assert_ok(tn_module_load(other, path()));
	assert_ok(tn_module_parameter(net, "block.fc.weight", &view));
	assert_ok(tn_to_host(view.value, before, sizeof(before)));
	assert_ok(tn_module_parameter(other, "block.fc.weight", &view));
	assert_ok(tn_to_host(view.value, after, sizeof(after)));
	assert_memory_equal(before, after, sizeof(before));
	tn_module_destroy(net);
	tn_module_destroy(other);
	unlink(path());
}

static void a_file_of_another_network_changes_nothing(void **state)
{
	struct tn_parameter_view view;
	float before[10], after[10];
	(void)state;
	tn_module *net = small_net(), *other = tn_sequential(context);
	assert_ok(tn_sequential_add(other, "head", tn_module_linear(context, 5, 2, NULL)));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_build(other));
	assert_ok(tn_module_parameter(other, "head.weight", &view));
	assert_ok(tn_to_host(view.value, before, sizeof(before)));
	assert_ok(tn_module_save(net, path(), 0, NULL));
	assert_status(tn_module_load(other, path()), TN_FORMAT); /* tensors too many */
	expect_error(TN_FORMAT, "2 tensors, found 4");
	assert_ok(tn_to_host(view.value, after, sizeof(after)));
	assert_memory_equal(before, after, sizeof(before));
	assert_ok(tn_module_save(other, path(), 0, NULL));
	assert_status(tn_module_load(net, path()), TN_NOT_FOUND);
	expect_error(TN_NOT_FOUND, "block.fc.weight");
	tn_module_destroy(net);
	tn_module_destroy(other);
	unlink(path());
}

static void a_tensor_of_another_shape_is_named(void **state)
{
	(void)state;
	tn_module *a = tn_module_linear(context, 3, 4, NULL),
		  *b = tn_module_linear(context, 4, 3, NULL);
	assert_ok(tn_module_build(a));
	assert_ok(tn_module_build(b));
	assert_ok(tn_module_save(a, path(), 0, NULL));
	assert_status(tn_module_load(b, path()), TN_SHAPE);
	expect_error(TN_SHAPE, "'weight': expected shape (3, 4), found (4, 3)");
	tn_module_destroy(a);
	tn_module_destroy(b);
	unlink(path());
}

static void the_summary_shows_the_tree(void **state)
{
	(void)state;
	tn_module *net = small_net();
	char *summary = tn_module_summary(net);
	assert_contains(summary, "  block: Sequential");
	assert_contains(summary, "    fc: Linear  weight (5, 3), bias (5)");
	assert_contains(summary, "32 parameters");
	tn_string_free(summary);
	tn_module_destroy(net);
}

static void unknown_models_are_answered_with_the_list(void **state)
{
	const struct tn_model_shape shape = {1, 28, 28, 10}, tiny = {1, 8, 8, 10};
	(void)state;
	assert_null(tn_model_create(context, "lenett", &shape));
	expect_error(TN_NOT_FOUND, "lenet");
	assert_null(tn_model_create(context, "lenet", &tiny));
	expect_error(TN_SHAPE, "12 x 12");
	tn_module *net = tn_model_create(context, "lenet", &shape);
	assert_int_equal(tn_module_size(net, 0), 61706);
	tn_module_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_their_paths_as_names),
		cmocka_unit_test(initial_weights_are_uniform_and_repeat_with_the_seed),
		cmocka_unit_test(a_built_module_does_not_change),
		cmocka_unit_test(names_are_single_and_without_dots),
		cmocka_unit_test(a_module_that_is_not_built_does_not_run),
		cmocka_unit_test(bad_sizes_are_refused_with_a_reason),
		cmocka_unit_test(a_shared_parameter_is_one),
		cmocka_unit_test(a_parameter_of_a_built_network_is_not_shared_with_another),
		cmocka_unit_test(dropout_works_only_in_training),
		cmocka_unit_test(a_saved_network_is_read_back_to_the_bit),
		cmocka_unit_test(a_file_of_another_network_changes_nothing),
		cmocka_unit_test(a_tensor_of_another_shape_is_named),
		cmocka_unit_test(the_summary_shows_the_tree),
		cmocka_unit_test(unknown_models_are_answered_with_the_list),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
