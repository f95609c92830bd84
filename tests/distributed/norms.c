/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Synchronised batch norms before every activation: gradients and running statistics on 1, 2 and 3
 * ranks, of which each has rows of the batch, are those of the whole batch in one process.
 */
#include "distributed/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

#include "check.h"

enum { ROWS = 10, CHANNELS = 3, SIDE = 4, OUTPUTS = 2, MOST_VALUES = 160 };

/* ---- Networks --------------------------------------------------------------------------------*/

static tn_module *celu(tn_context *context)
{
	return tn_module_celu(context, 0.7);
}
static tn_module *elu(tn_context *context)
{
	return tn_module_elu(context, 0.7);
}
static tn_module *gelu(tn_context *context)
{
	return tn_module_gelu(context, 0);
}
static tn_module *gelu_tanh(tn_context *context)
{
	return tn_module_gelu(context, 1);
}
static tn_module *hardtanh(tn_context *context)
{
	return tn_module_hardtanh(context, -2, 3);
}
static tn_module *leaky_relu(tn_context *context)
{
	return tn_module_leaky_relu(context, 0.1);
}
static tn_module *prelu(tn_context *context)
{
	return tn_module_prelu(context, CHANNELS, 0.2);
}
static tn_module *softplus(tn_context *context)
{
	return tn_module_softplus(context, 2, 5);
}
static tn_module *softmax(tn_context *context)
{
	return tn_module_softmax(context, 1);
}
static tn_module *log_softmax(tn_context *context)
{
	return tn_module_log_softmax(context, 1);
}

/* The norm includes ReLU and ReLU6, and a residual. */
static const struct row {
	const char *name;
	tn_module *(*activation)(tn_context *context);
	int is_residual;
	uint32_t joint; /* the activation of a residual */
} rows[] = {
	{.name = "identity", .activation = tn_module_identity},
	{.name = "relu", .activation = tn_module_relu},
	{.name = "relu6", .activation = tn_module_relu6},
	{.name = "tanh", .activation = tn_module_tanh},
	{.name = "sigmoid", .activation = tn_module_sigmoid},
	{.name = "silu", .activation = tn_module_silu},
	{.name = "hardswish", .activation = tn_module_hardswish},
	{.name = "gelu", .activation = gelu},
	{.name = "gelu_tanh", .activation = gelu_tanh},
	{.name = "leaky_relu", .activation = leaky_relu},
	{.name = "elu", .activation = elu},
	{.name = "celu", .activation = celu},
	{.name = "selu", .activation = tn_module_selu},
	{.name = "softplus", .activation = softplus},
	{.name = "mish", .activation = tn_module_mish},
	{.name = "softsign", .activation = tn_module_softsign},
	{.name = "log_sigmoid", .activation = tn_module_log_sigmoid},
	{.name = "hardsigmoid", .activation = tn_module_hardsigmoid},
	{.name = "hardtanh", .activation = hardtanh},
	{.name = "prelu", .activation = prelu},
	{.name = "softmax", .activation = softmax},
	{.name = "log_softmax", .activation = log_softmax},
	{.name = "residual", .activation = tn_module_identity, .is_residual = 1},
	{.name = "residual relu",
	 .activation = tn_module_identity,
	 .is_residual = 1,
	 .joint = TN_ACTIVATION_RELU},
	{.name = "residual relu6",
	 .activation = tn_module_identity,
	 .is_residual = 1,
	 .joint = TN_ACTIVATION_RELU6},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), MOST_ROWS = 32 };
_Static_assert((int)N_ROWS <= (int)MOST_ROWS, "an outcome has room for all");

struct outcome {
	size_t n[MOST_ROWS];
	double values[MOST_ROWS][MOST_VALUES];
};

/* conv, bn, activation; flat, out. */
static tn_module *make_network(tn_context *context, const struct row *row)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	struct tn_module_conv2d_options conv = tn_module_conv2d_defaults();
	tn_module *net = tn_module_sequential(context);
	tn_module *block = row->is_residual ? tn_module_residual(context, row->joint)
					    : tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){7, 1});
	window.padding[0] = window.padding[1] = 1;
	conv.window = &window;
	need_ok(context,
		tn_module_sequential_add(
			block, "conv", tn_module_conv2d(context, CHANNELS, CHANNELS, 3, 3, &conv)));
	need_ok(context, tn_module_sequential_add(block, "bn",
						  tn_module_batch_norm2d(context, CHANNELS, NULL)));
	if (!row->is_residual)
		need_ok(context, tn_module_sequential_add(block, "act", row->activation(context)));
	need_ok(context, tn_module_sequential_add(net, "block", block));
	need_ok(context, tn_module_sequential_add(net, "flat", tn_module_flatten(context)));
	need_ok(context,
		tn_module_sequential_add(
			net, "out",
			tn_module_linear(context, (int64_t)CHANNELS * SIDE * SIDE, OUTPUTS, NULL)));
	need_ok(context, tn_module_set_dtype(net, TN_F64));
	need_ok(context, tn_module_build(net));
	tn_module_set_training(net, 1);
	return net;
}

/* So that many values pass the kinks on both sides, of ReLU6 that at 6. */
static void spread(tn_module *net)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	need_ok(NULL, tn_module_parameter(net, "block.bn.weight", &view));
	need_ok(NULL, tn_fill(view.value, 5));
	need_ok(NULL, tn_module_parameter(net, "block.bn.bias", &view));
	need_ok(NULL, tn_fill(view.value, 2));
}

/* Rows `first` to `end` of a batch. */
static tn_array *make_rows(tn_context *context, int first, int end)
{
	enum { SIZE = CHANNELS * SIDE * SIDE };
	double values[ROWS * SIZE];
	for (int i = 0; i < (end - first) * SIZE; i++)
		values[i] = sin(1.3 * (first * SIZE + i)) + 0.1 * (first + i / SIZE);
	return tn_from_host(context, TN_F64, 4, (int64_t[]){end - first, CHANNELS, SIDE, SIDE},
			    values);
}

static void note(const tn_array *array, struct outcome *outcome, size_t row)
{
	const size_t size = (size_t)tn_array_size(array), n = outcome->n[row];
	need(n + size <= MOST_VALUES);
	need_ok(tn_array_context(array),
		tn_to_host(array, outcome->values[row] + n, size * sizeof(double)));
	outcome->n[row] += size;
}

/* Gradients but those of the last layer, and all buffers. */
static void note_network(const tn_module *net, struct outcome *outcome, size_t row)
{
	struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		need_ok(NULL, tn_module_parameter_at(net, i, &parameter));
		if (!strncmp(parameter.name, "block.", 6))
			note(parameter.gradient, outcome, row);
	}
	for (size_t i = 0; i < tn_module_buffer_count(net); i++) {
		need_ok(NULL, tn_module_buffer_at(net, i, &buffer));
		if (buffer.dtype == TN_F64)
			note(buffer.value, outcome, row);
	}
}

/* Each rank has some of the rows, and one more or less than others. */
static void step(const struct ranked *ranked, size_t row, struct outcome *outcome)
{
	tn_context *context = ranked->context;
	const int first = ROWS * (int)ranked->rank / (int)ranked->size;
	const int end = ROWS * ((int)ranked->rank + 1) / (int)ranked->size;
	struct tn_data_parallel_options options = tn_data_parallel_defaults();
	options.sync_batch_norm = 1;
	need_ok(context, tn_scope_begin(context));
	tn_module *net = make_network(context, &rows[row]);
	spread(net);
	tn_data_parallel *parallel =
		ranked->communicator ? tn_data_parallel_create(net, ranked->communicator, &options)
				     : NULL;
	need_ok(context, TN_OK);
	if (parallel)
		need_ok(context, tn_data_parallel_set_share(parallel, 1));
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, make_rows(context, first, end));
	tn_array *loss = tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0);
	need_ok(context, tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	if (parallel)
		need_ok(context, tn_data_parallel_finish(parallel));
	note_network(net, outcome, row);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
}

static void step_all(const struct ranked *ranked, const void *argument, void *out)
{
	(void)argument;
	for (size_t i = 0; i < N_ROWS; i++)
		step(ranked, i, out);
}

/* ---- Tests -----------------------------------------------------------------------------------*/

static void compare(const struct outcome *found, const struct outcome *whole, uint32_t size)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		double largest = 0;
		assert_int_equal(found->n[i], whole->n[i]);
		for (size_t k = 0; k < whole->n[i]; k++)
			largest = fmax(largest, fabs(whole->values[i][k]));
		for (size_t k = 0; k < whole->n[i]; k++) {
			const double value = found->values[i][k], expected = whole->values[i][k];
			if (!(fabs(value - expected) <= 1e-12 * (1 + largest)))
				fail_msg("%s on %u ranks, value %zu: expected %.17g, found %.17g",
					 rows[i].name, size, k, expected, value);
		}
	}
}

static void check(const char *backend)
{
	static struct outcome whole, found[3];
	memset(&whole, 0, sizeof(whole));
	run_ranked(0, backend, step_all, NULL, &whole, sizeof(whole));
	for (uint32_t size = 1; size <= 3; size++) {
		run_ranked(size, backend, step_all, NULL, found, sizeof(*found));
		for (uint32_t rank = 0; rank < size; rank++)
			compare(&found[rank], &whole, size);
	}
}

static void ranks_have_the_gradients_of_the_whole_batch(void **state)
{
	(void)state;
	check("reference");
	check("auto");
	check("mock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_have_the_gradients_of_the_whole_batch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
