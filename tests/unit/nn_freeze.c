/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Frozen networks: results, tracked changes, and refused calls.
 */
#include <unistd.h>

#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

/* Calls are repeated only on synchronous devices, so a GPU of the machine is not used. */
static int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "^cuda";
	struct tn_error_info error;
	(void)state;
	return tn_context_open(&options, &context, &error);
}

enum { CHANNELS = 5, SIDE = 6, CLASSES = 3, MOST = 64 };

static tn_module *conv(int64_t in, int64_t out, int64_t kernel, int no_bias)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = kernel / 2;
	window.padding[1] = kernel / 2;
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	options.window = &window;
	options.no_bias = no_bias;
	return tn_module_conv2d(context, in, out, kernel, kernel, &options);
}

static void add(tn_module *chain, const char *name, tn_module *member)
{
	assert_ok(tn_module_sequential_add(chain, name, member));
}

static tn_module *block(void)
{
	tn_module *block = tn_module_residual(context, TN_ACTIVATION_RELU);
	add(block, "conv1", conv(CHANNELS, CHANNELS, 3, 1));
	add(block, "bn1", tn_module_batch_norm2d(context, CHANNELS, NULL));
	add(block, "relu", tn_module_relu(context));
	add(block, "conv2", conv(CHANNELS, CHANNELS, 1, 0));
	add(block, "bn2", tn_module_batch_norm2d(context, CHANNELS, NULL));
	return block;
}

/* Every kind of layer that freezing changes, and some that it does not. */
static tn_module *make_net(void)
{
	const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};
	tn_module *net = tn_module_sequential(context);
	add(net, "conv", conv(2, CHANNELS, 3, 0));
	add(net, "bn", tn_module_batch_norm2d(context, CHANNELS, NULL));
	add(net, "act", tn_module_relu6(context));
	add(net, "block", block());
	add(net, "pool", tn_module_max_pool2d(context, &pool));
	add(net, "late", tn_module_batch_norm2d(context, CHANNELS, NULL));
	add(net, "silu", tn_module_silu(context));
	add(net, "flatten", tn_module_flatten(context));
	add(net, "drop", tn_module_dropout(context, 0.5));
	add(net, "fc1", tn_module_linear(context, CHANNELS * SIDE * SIDE / 4, 7, NULL));
	add(net, "tanh", tn_module_tanh(context));
	add(net, "fc2", tn_module_linear(context, 7, CLASSES, NULL));
	assert_ok(tn_module_build(net));
	/* Statistics other than the initial ones. */
	for (size_t i = 0; i < tn_module_buffer_count(net); i++) {
		struct tn_buffer_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_buffer_at(net, i, &view));
		if (view.dtype == TN_F32)
			assert_ok(tn_assign(view.value,
					    tn_random_uniform(context, 1, view.shape, 0.3, 1.2)));
	}
	return net;
}

static tn_array *pictures(int64_t n)
{
	return tn_random_normal(context, 4, (int64_t[]){n, 2, SIDE, SIDE}, 0, 1);
}

static size_t read_values(const tn_array *array, float *values)
{
	size_t n = (size_t)tn_array_size(array);
	assert_true(n && n <= MOST);
	assert_ok(tn_to_host(array, values, n * sizeof(*values)));
	return n;
}

/* Each of the few layers rounds its sums, of up to 45 products, and folding rounds once more: 1e-5
 * is ten times the total. */
static void expect_same(const tn_array *found, const float *expected)
{
	float values[MOST];
	size_t n = read_values(found, values);
	for (size_t i = 0; i < n; i++)
		assert_close(values[i], expected[i], 1e-5 * (1 + fabs((double)expected[i])));
}

static void a_frozen_network_gives_what_it_gave(void **state)
{
	(void)state;
	tn_module *net = make_net();
	for (int64_t n = 1; n <= 3; n += 2) {
		tn_array *x[3];
		float expected[3][MOST];
		for (int i = 0; i < 3; i++) {
			x[i] = pictures(n);
			read_values(tn_module_forward(net, x[i]), expected[i]);
		}
		assert_ok(tn_module_freeze(net));
		assert_int_equal(tn_module_is_frozen(net), 1);
		tn_array *y[3];
		for (int i = 0; i < 3; i++)
			y[i] = tn_module_forward(net, x[i]);
		/* All at the end: a later forward changes no earlier result. */
		for (int i = 0; i < 3; i++)
			expect_same(y[i], expected[i]);
		tn_module_unfreeze(net);
		assert_int_equal(tn_module_is_frozen(net), 0);
	}
	tn_module_destroy(net);
}

static void views_of_another_array_are_read_where_they_are(void **state)
{
	float expected[MOST];
	(void)state;
	tn_module *net = make_net();
	tn_array *many = pictures(4);
	assert_ok(tn_module_freeze(net));
	for (int64_t i = 0; i < 4; i++) {
		tn_array *one = tn_slice(many, 0, i, i + 1, 1);
		tn_module_unfreeze(net);
		read_values(tn_module_forward(net, one), expected);
		assert_ok(tn_module_freeze(net));
		assert_non_null(tn_module_forward(net, tn_slice(many, 0, 3, 4, 1)));
		expect_same(tn_module_forward(net, one), expected);
	}
	tn_module_destroy(net);
}

static void shapes_come_and_go(void **state)
{
	float expected[10][MOST];
	tn_array *x[10];
	(void)state;
	tn_module *net = make_net();
	for (int i = 0; i < 10; i++) {
		x[i] = pictures(i + 1);
		read_values(tn_module_forward(net, x[i]), expected[i]);
	}
	assert_ok(tn_module_freeze(net));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 10; i++)
			expect_same(tn_module_forward(net, x[i]), expected[i]);
	}
	tn_module_destroy(net);
}

static void a_frozen_network_follows_its_parameters_and_buffers(void **state)
{
	static const char *const changed[] = {"conv.weight", "block.bn1.weight", "fc2.bias"};
	float expected[MOST];
	(void)state;
	tn_module *net = make_net(), *same = make_net();
	char path[64];
	snprintf(path, sizeof(path), "nn_freeze.%d.safetensors", (int)getpid());
	tn_array *x = pictures(2);
	assert_ok(tn_module_freeze(net));
	for (int i = 0; i < 4; i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_non_null(tn_module_forward(net, x));
		assert_non_null(tn_module_forward(net, x));
		if (i < 3) {
			assert_ok(tn_module_parameter(net, changed[i], &view));
			assert_ok(tn_assign(view.value, tn_affine(view.value, 0.5, 0.1)));
		} else {
			struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
			assert_ok(tn_module_buffer_at(net, 1, &buffer));
			assert_ok(tn_assign(buffer.value, tn_affine(buffer.value, 3, 0)));
		}
		/* The expected values, through a file. */
		assert_ok(tn_module_save(net, path, 0, NULL));
		assert_ok(tn_module_load(same, path, NULL));
		read_values(tn_module_forward(same, x), expected);
		expect_same(tn_module_forward(net, x), expected);
		expect_same(tn_module_forward(net, x), expected);
	}
	unlink(path);
	tn_module_destroy(net);
	tn_module_destroy(same);
}

static void a_frozen_network_does_not_train(void **state)
{
	(void)state;
	tn_module *net = make_net();
	tn_array *x = pictures(2);
	assert_ok(tn_module_freeze(net));
	tn_module_set_training(net, 1);
	assert_null(tn_module_forward(net, x));
	expect_kept(TN_STATE, "frozen");
	tn_module_set_training(net, 0);
	tn_tape *tape = tn_tape_begin(context);
	/* It may run while a tape records, but propagates no gradient. */
	tn_array *plain = pictures(2);
	assert_non_null(tn_module_forward(net, plain));
	assert_non_null(tn_module_forward(net, plain));
	assert_ok(tn_tape_watch(tape, x));
	assert_null(tn_module_forward(net, x));
	expect_kept(TN_STATE, "gradients");
	tn_tape_end(tape);
	tn_module_destroy(net);
}

static void an_unfrozen_network_trains_again(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float before[MOST], after[MOST];
	(void)state;
	tn_module *net = make_net();
	tn_array *x = pictures(2);
	size_t n = read_values(tn_module_forward(net, x), before);
	assert_ok(tn_module_freeze(net));
	assert_non_null(tn_module_forward(net, x));
	tn_module_unfreeze(net);
	tn_module_unfreeze(net); /* does nothing */
	read_values(tn_module_forward(net, x), after);
	assert_memory_equal(before, after, n * sizeof(float));
	tn_module_set_training(net, 1);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	assert_ok(tn_module_parameter(net, "conv.weight", &view));
	assert_non_null(view.gradient);
	tn_module_destroy(net);
}

static void what_cannot_be_frozen_says_why(void **state)
{
	(void)state;
	tn_module *net = tn_module_sequential(context), *member = tn_module_relu(context);
	add(net, NULL, member);
	assert_status(tn_module_freeze(net), TN_STATE);
	expect_kept(TN_STATE, "not been built");
	assert_ok(tn_module_build(net));
	assert_status(tn_module_freeze(member), TN_STATE);
	expect_kept(TN_STATE, "member of another");
	tn_module_set_training(net, 1);
	assert_status(tn_module_freeze(net), TN_STATE);
	expect_kept(TN_STATE, "training");
	tn_module_set_training(net, 0);
	assert_ok(tn_module_freeze(net));
	assert_status(tn_module_freeze(net), TN_STATE);
	expect_kept(TN_STATE, "already");
	assert_int_equal(tn_module_is_frozen(member), 1);
	assert_status(tn_module_freeze(NULL), TN_INVALID_ARGUMENT);
	tn_module_destroy(net);
}

/* ---- Layers that a program defines ------------------------------------------------------------*/

struct own {
	int calls;
	int reads_back;
	int is_random;
	tn_generator *generator; /* it draws from; NULL: the default one */
	tn_array *writes_to;
};

static tn_array *own_forward(tn_module *module, void *state, const tn_array *x)
{
	struct own *own = state;
	double value = 0;
	(void)module;
	own->calls++;
	tn_array *y = tn_affine(x, 2, 1);
	if (own->reads_back)
		assert_ok(tn_item(tn_sum(y, TN_ALL_AXES, NULL, 0), &value));
	if (own->is_random)
		y = tn_add(y, tn_generator_random(own->generator ? own->generator
								 : tn_default_generator(context),
						  TN_F32, 1, tn_array_shape(x)));
	if (own->writes_to)
		assert_ok(tn_assign(own->writes_to, y));
	return y;
}

/* How often forward was called in four forwards of a frozen module, whose results are checked. */
static int calls_of(struct own *own, int is_repeatable)
{
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = "Own",
					       .forward = own_forward,
					       .is_repeatable = is_repeatable};
	tn_module *module = tn_module_custom(context, &class_, own);
	assert_ok(tn_module_build(module));
	assert_ok(tn_module_freeze(module));
	own->calls = 0;
	for (int i = 0; i < 4; i++) {
		double value;
		tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){8}, i);
		assert_ok(tn_item(tn_max(tn_module_forward(module, x), TN_ALL_AXES, NULL, 0),
				  &value));
		if (!own->is_random)
			assert_close(value, 2 * i + 1, 0);
		else
			assert_true(value > 2 * i + 1 && value < 2 * i + 2);
		if (own->writes_to) {
			assert_ok(tn_item(tn_max(own->writes_to, TN_ALL_AXES, NULL, 0), &value));
			assert_close(value, 2 * i + 1, 0);
		}
	}
	tn_module_destroy(module);
	return own->calls;
}

static void only_layers_that_say_so_are_repeated(void **state)
{
	struct own own = {0};
	(void)state;
	assert_int_equal(calls_of(&own, 0), 4);
	assert_int_equal(calls_of(&own, 1), 1);
}

/* The output of a norm is a new array, as that of any other layer. */
static void a_network_that_ends_with_a_norm_is_repeated(void **state)
{
	(void)state;
	struct own own = {0};
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = "Own",
					       .forward = own_forward,
					       .is_repeatable = 1};
	tn_module *net = tn_module_sequential(context);
	add(net, NULL, tn_module_custom(context, &class_, &own));
	add(net, NULL, tn_module_layer_norm(context, 1, (int64_t[]){8}, NULL));
	assert_ok(tn_module_build(net));
	tn_array *x = tn_random_normal(context, 2, (int64_t[]){3, 8}, 0, 1);
	float expected[MOST];
	read_values(tn_module_forward(net, x), expected);
	assert_ok(tn_module_freeze(net));
	own.calls = 0;
	for (int i = 0; i < 4; i++)
		expect_same(tn_module_forward(net, x), expected);
	assert_int_equal(own.calls, 1);
	tn_module_destroy(net);
}

/* An error with one x, or an x without elements, does not repeat queries for others. */
static void after_an_error_calls_are_repeated(void **state)
{
	(void)state;
	struct own own = {0};
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = "Own",
					       .forward = own_forward,
					       .is_repeatable = 1};
	tn_module *net = tn_module_sequential(context);
	add(net, NULL, tn_module_custom(context, &class_, &own));
	add(net, NULL, tn_module_linear(context, 8, 2, NULL));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_freeze(net));
	assert_null(tn_module_forward(net, tn_zeros(context, TN_F32, 2, (int64_t[]){3, 7})));
	assert_status(tn_error(context)->status, TN_SHAPE);
	tn_error_clear(context);
	assert_non_null(tn_module_forward(net, tn_zeros(context, TN_F32, 2, (int64_t[]){0, 8})));
	own.calls = 0;
	for (int i = 0; i < 4; i++)
		assert_non_null(
			tn_module_forward(net, tn_zeros(context, TN_F32, 2, (int64_t[]){3, 8})));
	assert_int_equal(own.calls, 1);
	tn_module_destroy(net);
}

static void what_cannot_be_repeated_is_done_each_time(void **state)
{
	(void)state;
	struct own reads = {.reads_back = 1}, random = {.is_random = 1};
	struct own other = {.is_random = 1, .generator = tn_generator_create(context, 4)};
	struct own writes = {.writes_to = tn_zeros(context, TN_F32, 1, (int64_t[]){8})};
	assert_int_equal(calls_of(&reads, 1), 4);
	assert_int_equal(calls_of(&random, 1), 4);
	assert_int_equal(calls_of(&other, 1), 4);
	tn_generator_destroy(other.generator);
	assert_int_equal(calls_of(&writes, 1), 4);
}

static void chains_of_convolutions_are_repeated(void **state)
{
	(void)state;
	struct own own = {0};
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = "Own",
					       .forward = own_forward,
					       .is_repeatable = 1};
	tn_module *net = tn_module_sequential(context);
	for (int i = 0; i < 4; i++)
		add(net, NULL, conv(CHANNELS, CHANNELS, 3, 0));
	add(net, "own", tn_module_custom(context, &class_, &own));
	assert_ok(tn_module_build(net));
	tn_array *x = tn_random_normal(context, 4, (int64_t[]){1, CHANNELS, 3, 3}, 0, 1);
	float expected[MOST];
	read_values(tn_module_forward(net, x), expected);
	assert_ok(tn_module_freeze(net));
	own.calls = 0;
	for (int i = 0; i < 4; i++)
		expect_same(tn_module_forward(net, x), expected);
	assert_int_equal(own.calls, 1);
	tn_module_destroy(net);
}

static uint64_t native_runs(const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; tn_ledger_at(context, i, &row) == TN_OK; i++) {
		if (!strcmp(row.operation, operation))
			return row.native;
	}
	return 0;
}

/* Except packing, which is done once. */
static uint64_t runs_counted(void)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t runs = 0;
	for (size_t i = 0; tn_ledger_at(context, i, &row) == TN_OK; i++) {
		if (!strstr(row.operation, "_prepack"))
			runs += row.native + row.lent + row.composed + row.host;
	}
	return runs;
}

static void repeated_calls_are_counted_too(void **state)
{
	(void)state;
	tn_module *net = make_net();
	tn_array *x = pictures(1);
	assert_ok(tn_module_freeze(net));
	uint64_t counts[3];
	for (int i = 0; i < 3; i++) {
		uint64_t before = runs_counted();
		assert_non_null(tn_module_forward(net, x));
		counts[i] = runs_counted() - before;
	}
	assert_true(counts[0] > 0);
	assert_int_equal(counts[1], counts[0]);
	assert_int_equal(counts[2], counts[0]);
	tn_module_destroy(net);
}

static tn_module *linear_layers(void)
{
	struct tn_module_linear_options options = tn_module_linear_defaults();
	tn_module *net = tn_module_sequential(context);
	add(net, "fc1", tn_module_linear(context, 5, 7, NULL));
	add(net, "relu", tn_module_relu(context));
	options.no_bias = 1;
	add(net, "fc2", tn_module_linear(context, 7, CLASSES, &options));
	assert_ok(tn_module_build(net));
	return net;
}

static tn_array *weight_of(const tn_module *net, const char *name)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, name, &view));
	return view.value;
}

/* The reference packs the weights of linear layers, computes the same with them, and packs them
 * again when they change. */
static void weights_of_linear_layers_are_packed(void **state)
{
	static const char *const names[] = {"fc1.weight", "fc1.bias", "fc2.weight"};
	struct tn_context_options options = tn_context_defaults();
	tn_context *outer = context;
	(void)state;
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_module *net = linear_layers(), *same = linear_layers();
	tn_array *x = tn_random_normal(context, 3, (int64_t[]){2, 3, 5}, 0, 1);
	assert_ok(tn_module_freeze(net));
	for (int change = 0; change < 2; change++) {
		float expected[MOST], values[MOST];
		tn_array *w = weight_of(net, "fc1.weight");
		assert_ok(tn_assign(w, tn_affine(w, -2, 0.5)));
		for (int i = 0; i < 3; i++)
			assert_ok(tn_assign(weight_of(same, names[i]), weight_of(net, names[i])));
		size_t n = read_values(tn_module_forward(same, x), expected);
		tn_ledger_reset(context);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(read_values(tn_module_forward(net, x), values), n);
			assert_memory_equal(values, expected, n * sizeof(*values));
		}
		assert_int_equal(native_runs("matmul_prepack"), 2);
	}
	tn_module_destroy(same);
	tn_module_destroy(net);
	tn_context_close(context);
	context = outer;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frozen_network_gives_what_it_gave),
		cmocka_unit_test(views_of_another_array_are_read_where_they_are),
		cmocka_unit_test(shapes_come_and_go),
		cmocka_unit_test(a_frozen_network_follows_its_parameters_and_buffers),
		cmocka_unit_test(a_frozen_network_does_not_train),
		cmocka_unit_test(an_unfrozen_network_trains_again),
		cmocka_unit_test(what_cannot_be_frozen_says_why),
		cmocka_unit_test(only_layers_that_say_so_are_repeated),
		cmocka_unit_test(a_network_that_ends_with_a_norm_is_repeated),
		cmocka_unit_test(after_an_error_calls_are_repeated),
		cmocka_unit_test(what_cannot_be_repeated_is_done_each_time),
		cmocka_unit_test(chains_of_convolutions_are_repeated),
		cmocka_unit_test(repeated_calls_are_counted_too),
		cmocka_unit_test(weights_of_linear_layers_are_packed),
	};
	return cmocka_run_group_tests(tests, setup, context_teardown);
}
