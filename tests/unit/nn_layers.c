/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layers: initial values, settings that are refused, and forwards of several inputs; the tree of
 * modules and hooks.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

/* ---- Initial values --------------------------------------------------------------------------*/

enum { MOST = 1 << 14 };

struct values {
	size_t n;
	float all[MOST];
	double largest, deviation; /* of a mean of 0 */
};

static const struct values *values_of(tn_module *module, const char *name)
{
	static struct values values;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(module, name, &view));
	values = (struct values){.n = (size_t)tn_array_size(view.value)};
	assert_true(values.n <= MOST);
	assert_ok(tn_to_host(view.value, values.all, values.n * sizeof(float)));
	for (size_t i = 0; i < values.n; i++) {
		values.largest = fmax(values.largest, fabs((double)values.all[i]));
		values.deviation += (double)values.all[i] * (double)values.all[i];
	}
	values.deviation = sqrt(values.deviation / (double)values.n);
	return &values;
}

/* Uniform in +-bound: its deviation is bound / sqrt(3), within four of those of n values. */
static void expect_uniform(tn_module *module, const char *name, double bound)
{
	const struct values *values = values_of(module, name);
	double n = (double)values->n;
	assert_true(values->largest <= bound * (1 + 1e-6));
	assert_close(values->deviation, bound / sqrt(3), 4 * bound / sqrt(3) * 0.45 / sqrt(n));
}

static tn_module *built(tn_module *module)
{
	assert_ok(tn_module_build(module));
	return module;
}

static void embeddings_start_normal_with_zeros_for_padding(void **state)
{
	(void)state;
	for (int64_t padding = -2; padding < 0; padding++) {
		struct tn_module_embedding_options embedding = tn_module_embedding_defaults();
		embedding.has_padding = 1;
		embedding.padding_index = padding == -2 ? 3 : padding;
		tn_module *module = built(tn_module_embedding(context, 200, 50, &embedding));
		const struct values *values = values_of(module, "weight");
		const size_t row = padding == -2 ? 3 : 199;
		for (size_t i = 0; i < 50; i++)
			assert_true(values->all[50 * row + i] == 0);
		/* 9950 values: their deviation has one of 1 / sqrt(2 n) = 0.7%. */
		assert_close(values->deviation, sqrt(199.0 / 200.0), 0.03);
		assert_true(values->largest > 3 && values->largest < 6.5);
		tn_module_destroy(module);
	}
}

static void other_layers_start_uniform(void **state)
{
	(void)state;
	struct tn_conv1d_options window = tn_conv1d_defaults();
	window.groups = 2;
	struct tn_module_conv1d_options conv1d = tn_module_conv1d_defaults();
	conv1d.window = &window;
	tn_module *module = built(tn_module_conv1d(context, 32, 16, 5, &conv1d));
	expect_uniform(module, "weight", 1 / sqrt(16 * 5));
	tn_module_destroy(module);
	struct tn_conv_transpose2d_options transposed = tn_conv_transpose2d_defaults();
	transposed.groups = 2;
	struct tn_module_conv_transpose2d_options options = tn_module_conv_transpose2d_defaults();
	options.window = &transposed;
	module = built(tn_module_conv_transpose2d(context, 32, 16, 3, 2, &options));
	expect_uniform(module, "weight", 1 / sqrt(8 * 3 * 2));
	expect_uniform(module, "bias", 1 / sqrt(8 * 3 * 2));
	tn_module_destroy(module);
	module = built(tn_module_multihead_attention(context, 32, 4, NULL));
	expect_uniform(module, "in_proj_weight", sqrt(6.0 / (32 + 96)));
	expect_uniform(module, "out_proj.weight", 1 / sqrt(32));
	assert_true(values_of(module, "in_proj_bias")->largest == 0);
	assert_true(values_of(module, "out_proj.bias")->largest == 0);
	tn_module_destroy(module);
	struct tn_module_recurrent_options recurrent = tn_module_recurrent_defaults();
	recurrent.n_layers = 2;
	recurrent.bidirectional = 1;
	module = built(tn_module_lstm(context, 8, 20, &recurrent));
	expect_uniform(module, "weight_ih_l1_reverse", 1 / sqrt(20));
	expect_uniform(module, "bias_hh_l0", 1 / sqrt(20));
	tn_module_destroy(module);
}

/* ---- Forwards of several inputs --------------------------------------------------------------*/

static tn_array *steps(int64_t length)
{
	return tn_random_normal(context, 3, (int64_t[]){2, length, 4}, 0, 1);
}

static void a_member_is_trained_through_a_forward_of_several_inputs(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	tn_array *h_n;
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *gru = built(tn_module_gru(context, 4, 3, NULL));
	tn_tape *tape = tn_tape_begin(context);
	assert_non_null(tn_module_recurrent_forward(gru, steps(5), NULL, NULL, &h_n, NULL));
	assert_ok(tn_tape_backward(tape, tn_sum(h_n, TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	for (size_t i = 0; i < tn_module_parameter_count(gru); i++) {
		assert_ok(tn_module_parameter_at(gru, i, &view));
		assert_non_null(view.gradient);
	}
	tn_module_destroy(gru);
	tn_scope_end(context, NULL);
}

static void a_frozen_one_has_no_gradients(void **state)
{
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *attention = built(tn_module_multihead_attention(context, 4, 2, NULL));
	assert_ok(tn_module_freeze(attention));
	tn_array *x = steps(3);
	assert_non_null(tn_module_attention_forward(attention, x, x, x, NULL));
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_null(tn_module_attention_forward(attention, x, x, x, NULL));
	expect_kept(TN_STATE, "frozen");
	tn_tape_end(tape);
	tn_module_destroy(attention);
	tn_scope_end(context, NULL);
}

static void dropout_acts_between_layers_in_training_alone(void **state)
{
	(void)state;
	assert_ok(tn_scope_begin(context));
	struct tn_module_recurrent_options recurrent = tn_module_recurrent_defaults();
	recurrent.n_layers = 2;
	recurrent.dropout = 0.5;
	tn_module *lstm = built(tn_module_lstm(context, 4, 8, &recurrent));
	tn_array *x = steps(3);
	float first[2][48], again[48];
	for (int training = 0; training < 2; training++) {
		tn_module_set_training(lstm, training);
		assert_ok(tn_to_host(tn_module_forward(lstm, x), first[training], sizeof(again)));
		assert_ok(tn_to_host(tn_module_forward(lstm, x), again, sizeof(again)));
		assert_int_equal(!memcmp(first[training], again, sizeof(again)), !training);
	}
	tn_module_destroy(lstm);
	tn_scope_end(context, NULL);
}

/* ---- The tree and hooks ----------------------------------------------------------------------*/

/* Every step that a chain takes together with another: batch norm with ReLU, ReLU with a pool, and
 * the sum at the end of a residual block. */
static tn_module *net_with_blocks(void)
{
	tn_module *net = tn_module_sequential(context);
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	assert_ok(tn_module_sequential_add(block, "conv",
					   tn_module_conv2d(context, 2, 2, 1, 1, NULL)));
	assert_ok(tn_module_sequential_add(block, "bn", tn_module_batch_norm2d(context, 2, NULL)));
	assert_ok(
		tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, 2, 3, 3, NULL)));
	assert_ok(tn_module_sequential_add(net, "bn", tn_module_batch_norm2d(context, 2, NULL)));
	assert_ok(tn_module_sequential_add(net, "act", tn_module_relu(context)));
	assert_ok(tn_module_sequential_add(net, "block", block));
	assert_ok(tn_module_sequential_add(net, "late", tn_module_relu(context)));
	struct tn_pool2d_options pool2d = tn_pool2d_defaults();
	pool2d.kernel[0] = pool2d.kernel[1] = 2;
	assert_ok(tn_module_sequential_add(net, "pool", tn_module_max_pool2d(context, &pool2d)));
	assert_ok(tn_module_sequential_add(net, "flatten", tn_module_flatten(context)));
	assert_ok(tn_module_sequential_add(net, "fc", tn_module_linear(context, 8, 3, NULL)));
	return net;
}

static void modules_are_found_and_listed_by_path(void **state)
{
	static const char *const expected[][2] = {
		{"", "Sequential"},
		{"conv", "Conv2d"},
		{"bn", "BatchNorm2d"},
		{"act", "ReLU"},
		{"block", "Residual"},
		{"block.conv", "Conv2d"},
		{"block.bn", "BatchNorm2d"},
		{"late", "ReLU"},
		{"pool", "MaxPool2d"},
		{"flatten", "Flatten"},
		{"fc", "Linear"},
	};
	struct tn_module_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = net_with_blocks();
	assert_int_equal(tn_module_count(net), 11);
	for (size_t i = 0; i < 11; i++) {
		const char *const *row = expected[i];
		assert_ok(tn_module_at(net, i, &view));
		assert_string_equal(view.path, row[0]);
		assert_string_equal(view.class_name, row[1]);
		assert_ptr_equal(tn_module_child(net, row[0]), view.module);
		assert_string_equal(tn_module_class_name(view.module), row[1]);
	}
	assert_status(tn_module_at(net, 11, &view), TN_INVALID_ARGUMENT);
	static const char *const missing[] = {"con",       "convx",       "block.", ".conv",
					      "block.act", "conv.weight", "."};
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		assert_null(tn_module_child(net, missing[i]));
		expect_kept(TN_NOT_FOUND, "no member '");
	}
	assert_null(tn_module_child(net, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "path is NULL");
	assert_null(tn_module_child(net, "blocks.conv"));
	expect_kept(TN_NOT_FOUND, "no member 'blocks' in Sequential; nearest: 'block'");
	assert_null(tn_module_class_name(NULL));
	assert_int_equal(tn_module_count(tn_module_child(net, "block")), 3);
	assert_null(tn_error(context));
	tn_module_destroy(net);
}

enum { ROOM = 128 };

struct seen {
	int forwards, backwards;
	size_t n_y, n_dy;
	float y[ROOM], dy[ROOM];
};

static void see_forward(void *user, tn_module *module, const tn_array *x, const tn_array *y)
{
	struct seen *seen = user;
	assert_non_null(tn_module_class_name(module));
	assert_non_null(x);
	seen->forwards++;
	seen->n_y = (size_t)tn_array_size(y);
	assert_true(seen->n_y <= ROOM);
	assert_ok(tn_to_host(y, seen->y, seen->n_y * sizeof(float)));
}

static void see_backward(void *user, tn_module *module, const tn_array *dy)
{
	struct seen *seen = user;
	assert_non_null(tn_module_class_name(module));
	seen->backwards++;
	seen->n_dy = (size_t)tn_array_size(dy);
	assert_ok(tn_to_host(dy, seen->dy, seen->n_dy * sizeof(float)));
}

static void refuse(void *user, tn_module *module, const tn_array *x, const tn_array *y)
{
	(void)user, (void)module, (void)x;
	tn_array_destroy(tn_reshape(y, 1, (int64_t[]){7}));
}

/* The output and all gradients after one step, one after the other. */
static size_t step(tn_module *net, const tn_array *x, float *values)
{
	size_t n = 0;
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, x);
	assert_non_null(y);
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	for (size_t i = 0; i <= tn_module_parameter_count(net); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view), .gradient = y};
		if (i)
			assert_ok(tn_module_parameter_at(net, i - 1, &view));
		size_t size = (size_t)tn_array_size(view.gradient);
		assert_true(n + size <= ROOM);
		assert_ok(tn_to_host(view.gradient, values + n, size * sizeof(float)));
		n += size;
	}
	return n;
}

static void hooks_see_each_module_and_change_nothing(void **state)
{
	static const char *const paths[] = {"conv",     "bn",   "act",  "block",   "block.conv",
					    "block.bn", "late", "pool", "flatten", "fc"};
	static struct seen seen[10];
	float before[ROOM], after[ROOM];
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *net = built(net_with_blocks());
	tn_module_set_training(net, 1);
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){2, 1, 6, 6}, 0, 1);
	size_t n = step(net, x, before);
	for (int i = 0; i < 10; i++) {
		tn_module *child = tn_module_child(net, paths[i]);
		assert_ok(tn_module_set_forward_hook(child, see_forward, &seen[i]));
		assert_ok(tn_module_set_backward_hook(child, see_backward, &seen[i]));
	}
	assert_int_equal(step(net, x, after), n);
	for (size_t i = 0; i < n; i++)
		assert_close(after[i], before[i], 1e-5 * (1 + fabs((double)before[i])));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(seen[i].forwards, 1);
		assert_int_equal(seen[i].backwards, 1);
		assert_int_equal(seen[i].n_y, seen[i].n_dy);
	}
	/* The activation's result is the norm's, without what is below 0. */
	int n_below = 0;
	for (size_t i = 0; i < seen[1].n_y; i++) {
		n_below += seen[1].y[i] < 0;
		assert_true(seen[2].y[i] == fmaxf(seen[1].y[i], 0));
	}
	assert_true(n_below > 0);
	/* The loss is the sum of squares of the last result. */
	for (size_t i = 0; i < seen[9].n_y; i++)
		assert_close(seen[9].dy[i], 2 * seen[9].y[i], 1e-6);
	assert_int_equal(seen[7].n_y, 2 * 2 * 2 * 2);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

/* The members beside it may be fused as before. */
static void a_single_hook_is_called_too(void **state)
{
	static const char *const paths[] = {"conv", "bn",   "act",     "block", "block.conv",
					    "late", "pool", "flatten", "fc",    "block.bn"};
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *net = built(net_with_blocks());
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){2, 1, 6, 6}, 0, 1);
	for (int i = 0; i < 10; i++) {
		static struct seen seen;
		tn_module *child = tn_module_child(net, paths[i]);
		seen.forwards = 0;
		assert_ok(tn_module_set_forward_hook(child, see_forward, &seen));
		assert_non_null(tn_module_forward(net, x));
		assert_int_equal(seen.forwards, 1);
		assert_ok(tn_module_set_forward_hook(child, NULL, NULL));
	}
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

static void a_hook_can_be_removed_and_fail(void **state)
{
	struct seen seen = {.forwards = 0};
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *net = built(net_with_blocks()), *fc = tn_module_child(net, "fc");
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){2, 1, 6, 6}, 0, 1);
	assert_ok(tn_module_set_forward_hook(fc, see_forward, &seen));
	assert_status(tn_module_freeze(net), TN_STATE);
	expect_kept(TN_STATE, "'fc' (Linear) has a hook");
	assert_ok(tn_module_set_forward_hook(fc, refuse, NULL));
	assert_null(tn_module_forward(net, x));
	expect_kept(TN_SHAPE, "");
	assert_ok(tn_module_set_forward_hook(fc, NULL, NULL));
	assert_ok(tn_module_freeze(net));
	assert_non_null(tn_module_forward(net, x));
	assert_int_equal(seen.forwards, 0);
	assert_status(tn_module_set_backward_hook(fc, see_backward, &seen), TN_STATE);
	expect_kept(TN_STATE, "unfreeze");
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

/* ---- Refused ---------------------------------------------------------------------------------*/

static void bad_settings_are_refused_with_a_reason(void **state)
{
	(void)state;
	struct tn_module_embedding_options embedding = tn_module_embedding_defaults();
	embedding.has_padding = 1;
	embedding.padding_index = 5;
	assert_null(tn_module_embedding(context, 5, 2, &embedding));
	expect_kept(TN_INVALID_ARGUMENT, "expected -5 to 4, found 5");
	struct tn_conv1d_options window = tn_conv1d_defaults();
	window.groups = 2;
	struct tn_module_conv1d_options conv1d = tn_module_conv1d_defaults();
	conv1d.window = &window;
	assert_null(tn_module_conv1d(context, 3, 4, 1, &conv1d));
	expect_kept(TN_INVALID_ARGUMENT, "2 groups");
	struct tn_conv_transpose2d_options transposed = tn_conv_transpose2d_defaults();
	transposed.groups = 2;
	struct tn_module_conv_transpose2d_options options = tn_module_conv_transpose2d_defaults();
	options.window = &transposed;
	assert_null(tn_module_conv_transpose2d(context, 4, 3, 1, 1, &options));
	expect_kept(TN_INVALID_ARGUMENT, "2 groups");
	assert_null(tn_module_multihead_attention(context, 6, 4, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "4 heads");
	struct tn_module_recurrent_options recurrent = tn_module_recurrent_defaults();
	recurrent.n_layers = 65;
	assert_null(tn_module_gru(context, 2, 2, &recurrent));
	expect_kept(TN_INVALID_ARGUMENT, "expected 1 to 64 layers");
	recurrent.n_layers = 0;
	assert_null(tn_module_gru(context, 2, 2, &recurrent));
	expect_kept(TN_INVALID_ARGUMENT, "expected 1 to 64 layers");
	assert_null(tn_module_dropout2d(context, -0.1));
	expect_kept(TN_INVALID_ARGUMENT, "[0, 1]");
}

static void inputs_that_do_not_fit_are_refused_with_a_reason(void **state)
{
	tn_array *c_n;
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_module *gru = built(tn_module_gru(context, 4, 3, NULL));
	tn_module *attention = built(tn_module_multihead_attention(context, 4, 2, NULL));
	tn_module *norm = built(tn_module_batch_norm1d(context, 4, NULL));
	tn_array *x = steps(3), *wide = tn_reshape(x, 3, (int64_t[]){2, 2, 6});
	assert_null(tn_module_recurrent_forward(gru, x, NULL, NULL, NULL, &c_n));
	expect_kept(TN_INVALID_ARGUMENT, "GRU has no c0");
	assert_null(tn_module_recurrent_forward(gru, x, x, NULL, NULL, NULL));
	expect_kept(TN_SHAPE, "h0: expected (1, N, 3)");
	assert_null(tn_module_recurrent_forward(norm, x, NULL, NULL, NULL, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "found a BatchNorm1d");
	assert_null(tn_module_forward(gru, wide));
	expect_kept(TN_SHAPE, "w_ih");
	assert_null(tn_module_attention_forward(gru, x, x, x, NULL));
	expect_kept(TN_INVALID_ARGUMENT, "found a GRU");
	assert_null(tn_module_attention_forward(attention, x, wide, wide, NULL));
	expect_kept(TN_SHAPE, "key: expected (N, L, 4)");
	assert_null(tn_module_forward(norm, tn_expand_dims(x, 0)));
	expect_kept(TN_SHAPE, "(N, C) or (N, C, L), found rank 4");
	/* Without weights too. */
	struct tn_module_norm_options options = tn_module_norm_defaults();
	options.no_affine = 1;
	tn_module *plain = built(tn_module_layer_norm(context, 1, (int64_t[]){4}, &options));
	assert_null(tn_module_forward(plain, wide));
	expect_kept(TN_SHAPE,
		    "expected (4,) as the lengths of the last axes, found shape (2, 2, 6)");
	tn_module_destroy(plain);
	tn_module_destroy(gru);
	tn_module_destroy(attention);
	tn_module_destroy(norm);
	tn_scope_end(context, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(embeddings_start_normal_with_zeros_for_padding),
		cmocka_unit_test(other_layers_start_uniform),
		cmocka_unit_test(a_member_is_trained_through_a_forward_of_several_inputs),
		cmocka_unit_test(a_frozen_one_has_no_gradients),
		cmocka_unit_test(dropout_acts_between_layers_in_training_alone),
		cmocka_unit_test(modules_are_found_and_listed_by_path),
		cmocka_unit_test(hooks_see_each_module_and_change_nothing),
		cmocka_unit_test(a_single_hook_is_called_too),
		cmocka_unit_test(a_hook_can_be_removed_and_fail),
		cmocka_unit_test(bad_settings_are_refused_with_a_reason),
		cmocka_unit_test(inputs_that_do_not_fit_are_refused_with_a_reason),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
