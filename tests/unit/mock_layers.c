/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layers in captured steps: replays give the gradients of eager steps, on new inputs too.  The mock
 * has no gather, so that an embedding runs on the host and cannot be captured here.
 */
#include "mock_fixture.h"

enum { MOST = 2048 };

static tn_context *context;

static tn_module *lstm(void)
{
	struct tn_module_recurrent_options recurrent = tn_module_recurrent_defaults();
	recurrent.n_layers = 2;
	recurrent.bidirectional = 1;
	return tn_module_lstm(context, 6, 4, &recurrent);
}
static tn_module *gru(void)
{
	return tn_module_gru(context, 6, 4, NULL);
}
static tn_module *attention(void)
{
	struct tn_module_attention_options options = tn_module_attention_defaults();
	options.causal = 1;
	return tn_module_multihead_attention(context, 6, 2, &options);
}
static tn_module *conv1d(void)
{
	return tn_module_conv1d(context, 5, 4, 3, NULL);
}
static tn_module *conv_transpose2d(void)
{
	return tn_module_conv_transpose2d(context, 2, 3, 3, 3, NULL);
}
static tn_module *blocks(void)
{
	struct tn_module_mbconv_options options = tn_module_mbconv_defaults();
	options.squeezed = 2;
	tn_module *net = tn_module_sequential(context);
	assert_ok(
		tn_module_sequential_add(net, NULL, tn_module_mbconv(context, 2, 2, 2, &options)));
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_convnext_block(context, 2, NULL)));
	assert_ok(tn_module_sequential_add(net, NULL,
					   tn_module_local_response_norm(context, 2, NULL)));
	return net;
}

static tn_module *resized(void)
{
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, NULL, conv_transpose2d()));
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.mode = TN_INTERPOLATE_BILINEAR;
	interpolate.size[0] = 7;
	interpolate.size[1] = 5;
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_upsample(context, &interpolate)));
	interpolate = tn_interpolate_defaults();
	interpolate.scale[0] = interpolate.scale[1] = 2;
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_upsample(context, &interpolate)));
	return net;
}

static const struct row {
	const char *name;
	tn_module *(*make)(void);
	int rank;
	int64_t shape[4];
} rows[] = {
	{"LSTM", lstm, 3, {2, 3, 6}},
	{"GRU", gru, 3, {2, 3, 6}},
	{"MultiheadAttention", attention, 3, {2, 3, 6}},
	{"Conv1d", conv1d, 3, {2, 5, 6}},
	{"ConvTranspose2d", conv_transpose2d, 4, {2, 2, 3, 4}},
	{"Upsample", resized, 4, {2, 2, 3, 4}},
	{"blocks", blocks, 4, {2, 2, 3, 4}},
};

static void set_input(tn_array *x, int number)
{
	float values[64];
	size_t n = (size_t)tn_array_size(x);
	assert_true(n <= sizeof(values) / sizeof(values[0]));
	for (size_t i = 0; i < n; i++)
		values[i] = (float)sin((double)i + 10.0 * number);
	assert_ok(tn_assign_host(x, values, n * sizeof(float)));
}

static tn_status give_gradients(tn_module *module, const tn_array *x)
{
	assert_ok(tn_scope_begin(context));
	tn_module_zero_gradients(module);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(module, x);
	tn_status status = tn_tape_backward(tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), NULL);
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	return status;
}

static size_t gradients_of(const tn_module *module, float *values)
{
	size_t n = 0;
	for (size_t i = 0; i < tn_module_parameter_count(module); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(module, i, &view));
		assert_non_null(view.gradient);
		size_t size = (size_t)tn_array_size(view.gradient);
		assert_true(n + size <= MOST);
		assert_ok(tn_to_host(view.gradient, values + n, size * sizeof(float)));
		n += size;
	}
	return n;
}

static void check_row(const struct row *row)
{
	static float eager[2][MOST], replayed[MOST];
	tn_graph *graph = NULL;
	assert_ok(tn_scope_begin(context));
	tn_module *module = row->make();
	assert_ok(tn_module_build(module));
	tn_module_set_training(module, 1);
	tn_array *x = tn_zeros(context, TN_F32, row->rank, row->shape);
	size_t n = 0;
	for (int i = 0; i < 2; i++) {
		set_input(x, i);
		assert_ok(give_gradients(module, x));
		n = gradients_of(module, eager[i]);
	}
	assert_memory_not_equal(eager[0], eager[1], n * sizeof(float));
	assert_ok(tn_capture_begin(context));
	tn_status status = give_gradients(module, x);
	if (status)
		fail_msg("%s: %s: %s", row->name, tn_error(context)->operation,
			 tn_error(context)->text);
	assert_ok(tn_capture_end(context, &graph));
	for (int i = 0; i < 2; i++) {
		set_input(x, i);
		assert_ok(tn_graph_replay(graph));
		assert_int_equal(gradients_of(module, replayed), n);
		if (memcmp(replayed, eager[i], n * sizeof(float)))
			fail_msg("%s: other gradients", row->name);
	}
	tn_graph_destroy(graph);
	tn_module_destroy(module);
	tn_scope_end(context, NULL);
}

static void replays_give_the_gradients_of_eager_steps(void **state)
{
	(void)state;
	context = open_mock("");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replays_give_the_gradients_of_eager_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
