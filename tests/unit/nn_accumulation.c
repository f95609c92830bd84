/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backward adds to gradients until they are dropped: the layers that write the gradients of their
 * weights themselves add once and no more, in a second backward and where a layer runs twice.
 */
#include "nn_backends.h"

enum { MOST = 4096 };

static tn_context *context;

struct layer {
	const char *name;
	tn_module *(*make)(void);
	int rank;
	int64_t shape[4];
	int is_of_indices;
};

static tn_module *linear(void)
{
	return tn_module_linear(context, 6, 6, NULL);
}

static tn_module *conv1d(void)
{
	struct tn_conv1d_options window = tn_conv1d_defaults();
	window.padding = 1;
	window.groups = 2;
	struct tn_module_conv1d_options options = tn_module_conv1d_defaults();
	options.window = &window;
	return tn_module_conv1d(context, 4, 4, 3, &options);
}

static tn_module *conv2d(void)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	options.window = &window;
	return tn_module_conv2d(context, 4, 4, 3, 3, &options);
}

static tn_module *depthwise(void)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	window.groups = 4;
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	options.window = &window;
	return tn_module_conv2d(context, 4, 4, 3, 3, &options);
}

static tn_module *transposed(void)
{
	struct tn_conv_transpose2d_options window = tn_conv_transpose2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv_transpose2d_options options = tn_module_conv_transpose2d_defaults();
	options.window = &window;
	return tn_module_conv_transpose2d(context, 4, 4, 3, 3, &options);
}

static tn_module *batch_norm(void)
{
	return tn_module_batch_norm2d(context, 4, NULL);
}

static tn_module *layer_norm(void)
{
	return tn_module_layer_norm(context, 1, (int64_t[]){6}, NULL);
}

static tn_module *group_norm(void)
{
	return tn_module_group_norm(context, 2, 4, NULL);
}

static tn_module *embedding(void)
{
	return tn_module_embedding(context, 5, 6, NULL);
}

static tn_module *lstm(void)
{
	return tn_module_lstm(context, 6, 6, NULL);
}

static tn_module *gru(void)
{
	return tn_module_gru(context, 6, 6, NULL);
}

static tn_module *attention(void)
{
	return tn_module_multihead_attention(context, 6, 2, NULL);
}

static tn_module *prelu(void)
{
	return tn_module_prelu(context, 4, 0.25);
}

static const struct layer layers[] = {
	{"linear", linear, 2, {5, 6}, 0},
	{"conv1d", conv1d, 3, {2, 4, 7}, 0},
	{"conv2d", conv2d, 4, {2, 4, 5, 5}, 0},
	{"depthwise", depthwise, 4, {2, 4, 5, 5}, 0},
	{"conv_transpose2d", transposed, 4, {2, 4, 5, 5}, 0},
	{"batch_norm2d", batch_norm, 4, {2, 4, 5, 5}, 0},
	{"layer_norm", layer_norm, 2, {5, 6}, 0},
	{"group_norm", group_norm, 4, {2, 4, 5, 5}, 0},
	{"embedding", embedding, 2, {3, 4}, 1},
	{"lstm", lstm, 3, {2, 3, 6}, 0},
	{"gru", gru, 3, {2, 3, 6}, 0},
	{"attention", attention, 3, {2, 3, 6}, 0},
	{"prelu", prelu, 4, {2, 4, 5, 5}, 0},
};

static tn_array *input(const struct layer *layer)
{
	tn_array *x = tn_random_normal(context, layer->rank, layer->shape, 0, 1);
	if (!layer->is_of_indices)
		return x;
	return tn_astype(tn_map("z = clamp(abs(x) * 2, 0, 4)", 1, (const char *[]){"x"},
				(const tn_array *[]){x}, 0, NULL, NULL),
			 TN_I32);
}

/* Sums of the outputs' products with given numbers, of `times` forwards in one tape. */
static void backward(tn_module *net, const tn_array *x, int times)
{
	tn_tape *tape = tn_tape_begin(context);
	tn_array *loss = NULL;
	for (int i = 0; i < times; i++) {
		tn_array *y = tn_module_forward(net, x);
		assert_non_null(y);
		tn_array *sum = tn_sum(tn_sin(y), TN_ALL_AXES, NULL, 0);
		loss = loss ? tn_add(loss, sum) : sum;
	}
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
}

static size_t read_gradients(const tn_module *net, float *to)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	size_t n = 0;
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		assert_non_null(view.gradient);
		size_t size = (size_t)tn_array_size(view.gradient);
		assert_true(n + size <= MOST);
		assert_ok(tn_to_host(view.gradient, to + n, size * sizeof(*to)));
		n += size;
	}
	return n;
}

static void expect_twice(const struct layer *layer, const char *how, const float *found,
			 const float *once, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fabs((double)found[i] - 2 * (double)once[i]) >
		    1e-5 * (1 + fabs((double)once[i])))
			fail_msg("%s, %s: element %zu: once %g, twice %g", layer->name, how, i,
				 (double)once[i], (double)found[i]);
	}
}

static void check_layer(const struct layer *layer)
{
	static float once[MOST], found[MOST];
	double sum = 0;
	assert_ok(tn_scope_begin(context));
	tn_random_set_state(context, (struct tn_random_state){.seed = 4, .stream = 9});
	tn_module *net = layer->make();
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	tn_array *x = input(layer);
	backward(net, x, 1);
	size_t n = read_gradients(net, once);
	for (size_t i = 0; i < n; i++)
		sum += fabs((double)once[i]);
	assert_true(sum > 0.1);
	backward(net, x, 1);
	read_gradients(net, found);
	expect_twice(layer, "two backwards", found, once, n);
	tn_module_zero_gradients(net);
	backward(net, x, 2);
	read_gradients(net, found);
	expect_twice(layer, "two forwards", found, once, n);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

static void check_all(const char *backend)
{
	context = open_backend(backend);
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		check_layer(&layers[i]);
	tn_context_close(context);
}

static void gradients_add_up_on_the_reference(void **state)
{
	(void)state;
	check_all("reference!");
}

static void gradients_add_up_on_the_preferred_backend(void **state)
{
	(void)state;
	check_all("auto");
}

static void gradients_add_up_on_the_mock(void **state)
{
	(void)state;
	check_all("mock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradients_add_up_on_the_reference),
		cmocka_unit_test(gradients_add_up_on_the_preferred_backend),
		cmocka_unit_test(gradients_add_up_on_the_mock),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
