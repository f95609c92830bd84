/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Summaries of what a network does with an input.
 */
#include <tenon/tenon.h>

#include "mock_fixture.h"
#include "models/models.h"
#include "test_context.h"

static struct tn_summary_options of(int rank, const int64_t *shape)
{
	struct tn_summary_options options = tn_summary_defaults();
	options.rank = rank;
	options.shape = shape;
	return options;
}

static struct tn_summary_row row_of(const tn_summary *summary, const char *path)
{
	struct tn_summary_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_summary_at(summary, i, &row); i++) {
		if (!strcmp(row.path, path))
			return row;
	}
	fail_msg("no row '%s'", path);
	return row;
}

static tn_module *lenet(void)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	tn_module *net = tn_model_create(context, "lenet", &shape);
	assert_ok(tn_module_build(net));
	return net;
}

static void lenet_has_the_counts_that_one_makes_by_hand(void **state)
{
	static const struct {
		const char *path, *class_name;
		int64_t shape[4];
		int rank;
		int64_t parameters, multiply_adds;
	} rows[] = {
		{"", "Sequential", {1, 10}, 2, 61706, 416520},
		{"conv1", "Conv2d", {1, 6, 28, 28}, 4, 156, 6 * 28 * 28 * 25},
		{"relu1", "ReLU", {1, 6, 28, 28}, 4, 0, 0},
		{"pool1", "MaxPool2d", {1, 6, 14, 14}, 4, 0, 0},
		{"conv2", "Conv2d", {1, 16, 10, 10}, 4, 2416, 16 * 10 * 10 * 6 * 25},
		{"pool2", "MaxPool2d", {1, 16, 5, 5}, 4, 0, 0},
		{"flatten", "Flatten", {1, 400}, 2, 0, 0},
		{"fc1", "Linear", {1, 120}, 2, 48120, 48000},
		{"fc3", "Linear", {1, 10}, 2, 850, 840},
	};
	(void)state;
	tn_module *net = lenet();
	const int64_t shape[] = {1, 1, 28, 28};
	const struct tn_summary_options options = of(4, shape);
	tn_summary *summary = tn_summary_create(net, &options);
	assert_non_null(summary);
	assert_int_equal(tn_summary_count(summary), tn_module_count(net));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tn_summary_row row = row_of(summary, rows[i].path);
		assert_string_equal(row.class_name, rows[i].class_name);
		assert_int_equal(row.calls, 1);
		assert_int_equal(row.dtype, TN_F32);
		assert_int_equal(row.rank, rows[i].rank);
		assert_memory_equal(row.shape, rows[i].shape, (size_t)row.rank * sizeof(int64_t));
		assert_int_equal(row.parameters, rows[i].parameters);
		assert_int_equal(row.trainable, rows[i].parameters);
		assert_int_equal(row.parameter_bytes, 4 * rows[i].parameters);
		assert_int_equal(row.multiply_adds, rows[i].multiply_adds);
	}
	/* All results, and torchinfo's size: those of conv1, conv2, fc1, fc2 and fc3, twice. */
	struct tn_summary_row all = row_of(summary, "");
	assert_int_equal(all.output_bytes, 4 * 15002);
	assert_int_equal(all.pass_bytes, 2 * 4 * (4704 + 1600 + 120 + 84 + 10));
	assert_true(all.peak_bytes >= 4 * (4704 + 1176));
	assert_true(all.peak_bytes >= row_of(summary, "conv1").peak_bytes);
	assert_true(row_of(summary, "conv1").peak_bytes >= 4 * 4704);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

/* torchvision's resnet18 for 224 x 224, 1.814 G multiply-adds and 11,689,512 parameters, has a
 * convolution of 7 x 7 to 112 x 112 and a pool where this one has one of 3 x 3. */
static void resnet18_has_the_counts_of_torchvision(void **state)
{
	const int64_t side = strcmp(tn_device_name(tn_device_current(context)), "reference:0")
				     ? 56
				     : 8; /* plain loops */
	const int64_t shape[] = {1, 3, side, side}, parts = (56 / side) * (56 / side);
	(void)state;
	tn_module *net = tn_model_create(context, "resnet18:small",
					 &(struct tn_model_shape){3, 56, 56, 1000});
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	const struct tn_summary_options options = of(4, shape);
	tn_summary *summary = tn_summary_create(net, &options);
	assert_non_null(summary);
	struct tn_summary_row all = row_of(summary, ""), stem = row_of(summary, "conv1");
	assert_int_equal(stem.multiply_adds, 64 * 27 * side * side);
	assert_int_equal(all.parameters - stem.parameters + 64 * 3 * 49, 11689512);
	assert_int_equal((all.multiply_adds - stem.multiply_adds - 512000) * parts + 512000 +
				 (int64_t)64 * 3 * 49 * 112 * 112,
			 1814073344);
	/* running_mean and running_var of 4,800 channels, and 20 counts of batches. */
	assert_int_equal(all.buffer_bytes, 2 * 4 * 4800 + 20 * 8);
	struct tn_summary_row block = row_of(summary, "layer2.0");
	assert_string_equal(block.class_name, "Residual");
	assert_int_equal(block.depth, 2);
	assert_int_equal(block.shape[1], 128);
	assert_int_equal(block.multiply_adds,
			 row_of(summary, "layer2.0.conv1").multiply_adds +
				 row_of(summary, "layer2.0.conv2").multiply_adds +
				 row_of(summary, "layer2.0.downsample").multiply_adds);
	/* Chains ran their activations separately, and the mode is as before. */
	assert_int_equal(row_of(summary, "layer2.0.relu").calls, 1);
	assert_int_equal(row_of(summary, "layer2.0.relu").shape[2], (side + 1) / 2);
	assert_true(tn_module_is_training(net));
	assert_true(tn_module_is_training(tn_module_child(net, "layer2.0")));
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

/* ---- A user's module -------------------------------------------------------------------------*/

/* x w w, and its member twice. */
static tn_array *twice(tn_module *module, void *state, const tn_array *x)
{
	const tn_array *w = tn_module_own_parameter(module, "w");
	tn_array *(*run)(tn_module *, const tn_array *) = tn_module_forward;
	(void)state;
	assert_false(tn_module_is_training(module));
	tn_array *y = tn_matmul(tn_matmul(x, w), w);
	tn_module *member = tn_module_child(module, "member");
	return run(member, run(member, y));
}

static tn_module *user_module(void)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Twice", .forward = twice};
	tn_module *net = tn_module_custom(context, &class_, NULL);
	assert_ok(tn_module_add_parameter(net, "w", 2, (int64_t[]){3, 3}, 1.0, 0.0));
	assert_ok(tn_module_add(net, "member", tn_module_linear(context, 3, 3, NULL)));
	assert_ok(tn_module_add(net, "unused", tn_module_linear(context, 7, 5, NULL)));
	assert_ok(tn_module_build(net));
	return net;
}

static void what_a_users_module_multiplies_counts_too(void **state)
{
	const int64_t shape[] = {5, 3};
	const struct tn_summary_options options = of(2, shape);
	(void)state;
	tn_module *net = user_module();
	assert_ok(tn_module_set_trainable(net, "unused", 0));
	tn_summary *summary = tn_summary_create(net, &options);
	assert_non_null(summary);
	struct tn_summary_row all = row_of(summary, ""), member = row_of(summary, "member");
	struct tn_summary_row unused = row_of(summary, "unused");
	assert_int_equal(all.multiply_adds, 4 * 5 * 3 * 3);
	assert_int_equal(all.trainable, 9 + 12);
	assert_int_equal(all.parameters, 9 + 12 + 40);
	assert_int_equal(member.calls, 2);
	assert_int_equal(member.multiply_adds, 2 * 5 * 3 * 3);
	assert_int_equal(member.output_bytes, 2 * 5 * 3 * 4);
	assert_int_equal(all.output_bytes, member.output_bytes);
	assert_int_equal(unused.calls, 0);
	assert_int_equal(unused.rank, -1);
	char *text = tn_summary_text(summary);
	assert_contains(text, "member   Linear  (5, 3)");
	assert_contains(text, "unused   Linear  -");
	assert_contains(text, "61  parameters, 21 of them trainable\n");
	assert_contains(text, "180  multiply-adds of a forward of f32 (5, 3)\n");
	tn_string_free(text);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

static void a_parameter_that_two_hold_counts_once(void **state)
{
	static const struct tn_module_linear_options no_bias = {sizeof(no_bias), 1};
	(void)state;
	tn_module *net = tn_module_sequential(context);
	tn_module *a = tn_module_linear(context, 4, 4, &no_bias),
		  *b = tn_module_sequential(context);
	assert_ok(tn_module_share_parameter(b, "tied", a, "weight"));
	assert_ok(tn_module_sequential_add(net, "a", a));
	assert_ok(tn_module_sequential_add(net, "b", b));
	assert_ok(tn_module_build(net));
	tn_summary *summary = tn_summary_create(net, NULL);
	assert_int_equal(row_of(summary, "a").parameters, 16);
	assert_int_equal(row_of(summary, "b").parameters, 16);
	assert_int_equal(row_of(summary, "").parameters, 16);
	assert_int_equal(row_of(summary, "").calls, 0);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

static void a_summary_leaves_nothing_behind(void **state)
{
	const int64_t shape[] = {2, 1, 28, 28};
	const struct tn_summary_options options = of(4, shape);
	(void)state;
	tn_module *net = lenet();
	const struct tn_random_state before = tn_random_get_state(context);
	struct tn_memory_use use = {.struct_size = sizeof(use)},
			     after = {.struct_size = sizeof(after)};
	tn_device_get_memory_use(tn_device_current(context), &use);
	tn_tape *tape = tn_tape_begin(context);
	tn_summary_destroy(tn_summary_create(net, &options));
	tn_array *x = tn_ones(context, TN_F32, 4, shape);
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	tn_array_destroy(loss);
	tn_summary_destroy(tn_summary_create(net, &options));
	const struct tn_random_state now = tn_random_get_state(context);
	assert_memory_equal(&before, &now, sizeof(now));
	assert_null(tn_error(context));
	assert_ok(tn_scope_begin(context));
	tn_device_get_memory_use(tn_device_current(context), &use);
	tn_summary_destroy(tn_summary_create(net, &options));
	tn_device_get_memory_use(tn_device_current(context), &after);
	assert_int_equal(after.used, use.used);
	tn_scope_end(context, NULL);
	tn_module_destroy(net);
}

/* Memory that its own forward has freed before a member begins. */
static tn_array *hog(tn_module *module, void *state, const tn_array *x)
{
	const int64_t large = 1 << 20;
	(void)state;
	tn_array *y = tn_zeros(context, TN_F32, 1, &large);
	assert_non_null(y);
	tn_array_destroy(y);
	return tn_module_forward(tn_module_child(module, "member"), x);
}

static void the_peak_of_a_module_is_not_only_that_of_its_members(void **state)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Hog", .forward = hog};
	const int64_t shape[] = {5, 3};
	const struct tn_summary_options options = of(2, shape);
	(void)state;
	tn_module *net = tn_module_custom(context, &class_, NULL);
	assert_ok(tn_module_add(net, "member", tn_module_linear(context, 3, 3, NULL)));
	assert_ok(tn_module_build(net));
	tn_summary *summary = tn_summary_create(net, &options);
	assert_true(row_of(summary, "").peak_bytes >= 4 << 20);
	assert_true(row_of(summary, "member").peak_bytes < 1 << 20);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

/* Runs its member on all rows and then on one, and draws a number. */
static tn_array *run_twice(tn_module *module, void *state, const tn_array *x)
{
	tn_module *member = tn_module_child(module, "member");
	(void)state;
	assert_non_null(tn_module_forward(member, x));
	assert_non_null(tn_random_normal(context, 0, NULL, 0, 1));
	return tn_module_forward(member, tn_slice(x, 0, 0, 1, 1));
}

static void the_peak_of_a_module_is_that_of_its_largest_call(void **state)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Twice", .forward = run_twice};
	const int64_t shape[] = {1 << 14, 3};
	const struct tn_summary_options options = of(2, shape);
	(void)state;
	tn_module *net = tn_module_custom(context, &class_, NULL);
	assert_ok(tn_module_add(net, "member", tn_module_linear(context, 3, 16, NULL)));
	assert_ok(tn_module_build(net));
	const struct tn_random_state before = tn_random_get_state(context);
	tn_summary *summary = tn_summary_create(net, &options);
	const struct tn_random_state after = tn_random_get_state(context);
	assert_int_equal(row_of(summary, "member").calls, 2);
	assert_true(row_of(summary, "member").peak_bytes >= 1 << 20);
	assert_memory_equal(&after, &before, sizeof(before));
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

/* The mock has no convolution: what composes it is not counted beside it. */
static void a_composed_convolution_counts_once(void **state)
{
	const int64_t shape[] = {1, 1, 28, 28};
	const struct tn_summary_options options = of(4, shape);
	tn_context *other = context;
	(void)state;
	context = open_mock("");
	tn_module *net = lenet();
	tn_summary *summary = tn_summary_create(net, &options);
	assert_int_equal(row_of(summary, "").multiply_adds, 416520);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
	tn_context_close(context);
	context = other;
}

/* A network of f64 is given zeros of f64. */
static void the_default_type_is_that_of_the_parameters(void **state)
{
	const int64_t shape[] = {5, 3};
	const struct tn_summary_options options = of(2, shape);
	(void)state;
	tn_module *net = tn_module_linear(context, 3, 4, NULL);
	assert_ok(tn_module_set_dtype(net, TN_F64));
	assert_ok(tn_module_build(net));
	tn_summary *summary = tn_summary_create(net, &options);
	assert_non_null(summary);
	assert_int_equal(row_of(summary, "").dtype, TN_F64);
	assert_int_equal(row_of(summary, "").parameter_bytes, 8 * 16);
	assert_int_equal(row_of(summary, "").output_bytes, 8 * 20);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
}

static void the_text_has_lines_of_at_most_80_columns(void **state)
{
	const int64_t shape[] = {1, 3, 32, 32};
	struct tn_summary_options options = of(4, shape);
	(void)state;
	tn_module *net = tn_model_create_width(context, "efficientnet_lite0:published",
					       &(struct tn_model_shape){3, 32, 32, 10}, 8);
	assert_ok(tn_module_build(net));
	char *whole = tn_module_summary(net, &options);
	for (const char *line = whole; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	options.depth = 1;
	char *text = tn_module_summary(net, &options);
	assert_true(strlen(text) < strlen(whole) / 4);
	tn_string_free(text);
	tn_string_free(whole);
	text = tn_module_summary(net, NULL);
	assert_contains(text, "BatchNorm2d  weight (");
	tn_string_free(text);
	tn_module_destroy(net);
}

static void inputs_that_do_not_fit_are_refused(void **state)
{
	const int64_t shape[] = {1, 3}, negative[] = {1, -3};
	struct tn_summary_options options = of(2, shape);
	(void)state;
	tn_module *net = tn_module_linear(context, 4, 2, NULL);
	assert_null(tn_summary_create(net, &options));
	expect_kept(TN_STATE, "not been built");
	assert_ok(tn_module_build(net));
	assert_null(tn_module_summary(net, &options));
	expect_kept(TN_SHAPE, "");
	options.shape = negative;
	assert_null(tn_summary_create(net, &options));
	expect_kept(TN_INVALID_ARGUMENT, "lengths");
	options.shape = NULL;
	assert_null(tn_summary_create(net, &options));
	expect_kept(TN_INVALID_ARGUMENT, "no shape");
	options = of(TN_MAX_RANK + 1, shape);
	assert_null(tn_summary_create(net, &options));
	expect_kept(TN_INVALID_ARGUMENT, "rank 17");
	options = of(2, (const int64_t[]){1, 4});
	assert_ok(tn_module_freeze(net));
	assert_null(tn_summary_create(net, &options));
	expect_kept(TN_STATE, "frozen");
	tn_module_unfreeze(net);
	tn_summary *summary = tn_summary_create(net, &options);
	assert_non_null(summary);
	struct tn_summary_row row = {.struct_size = sizeof(row)};
	assert_status(tn_summary_at(summary, 1, &row), TN_INVALID_ARGUMENT);
	tn_summary_destroy(summary);
	assert_null(tn_summary_create(NULL, NULL));
	assert_null(tn_module_summary(NULL, NULL));
	assert_null(tn_summary_text(NULL));
	tn_summary_destroy(NULL);
	tn_module_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lenet_has_the_counts_that_one_makes_by_hand),
		cmocka_unit_test(resnet18_has_the_counts_of_torchvision),
		cmocka_unit_test(what_a_users_module_multiplies_counts_too),
		cmocka_unit_test(a_parameter_that_two_hold_counts_once),
		cmocka_unit_test(a_summary_leaves_nothing_behind),
		cmocka_unit_test(the_peak_of_a_module_is_not_only_that_of_its_members),
		cmocka_unit_test(the_peak_of_a_module_is_that_of_its_largest_call),
		cmocka_unit_test(the_default_type_is_that_of_the_parameters),
		cmocka_unit_test(the_text_has_lines_of_at_most_80_columns),
		cmocka_unit_test(inputs_that_do_not_fit_are_refused),
		cmocka_unit_test(a_composed_convolution_counts_once),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
