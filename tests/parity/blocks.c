/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small versions of the benchmark's networks against recorded PyTorch numbers: logits and gradients, the
 * losses of a few steps of SGD with momentum, and what evaluating with the running statistics gives.
 *
 * Tolerances: every layer's result is rounded to f32 and its sums, of up to 1000 products, taken in
 * another order: about sqrt(1000) eps = 4e-6 of their size.  20 to 60 layers, with the divisions by small
 * deviations of norms over 16 elements, make of that what is allowed below; PyTorch in f32 differs from
 * what was recorded, in f64, by about a tenth of it.
 */
#include <tenon/tenon.h>

#include "blocks.h"
#include "check.h"
#include "networks/networks.h"

#define N_ROWS (sizeof(blocks) / sizeof(blocks[0]))

enum { MAX_PIXELS = BLOCKS_BATCH * 3 * 64 * 64 };

struct run {
	tn_context *context;
	tn_module *net;
	tn_array *x;
	tn_array *labels;
};

/* The hash of blocks.py, in [-1, 1). */
static double noise(uint32_t k, uint32_t i)
{
	uint32_t h = i * 2654435761u + k * 97u;
	h = (h ^ (h >> 15)) * 2246822519u;
	h = (h ^ (h >> 13)) * 3266489917u;
	return (h >> 8) / 8388608.0 - 1.0;
}

static void fill_parameter(uint32_t k, const struct tn_parameter_view *view)
{
	int64_t size = tn_array_size(view->value);
	double scale = view->rank > 1 ? sqrt(3.0 / (double)(size / view->shape[0])) : 0.1;
	size_t length = strlen(view->name);
	int is_weight = length >= 6 && !strcmp(view->name + length - 6, "weight");
	double shift = view->rank == 1 && is_weight ? 1.0 : 0.0;
	float *values = malloc((size_t)size * sizeof(*values));
	for (int64_t i = 0; i < size; i++)
		values[i] = (float)(scale * noise(k, (uint32_t)i) + shift);
	assert_ok(tn_assign_host(view->value, values, (size_t)size * sizeof(*values)));
	free(values);
}

static tn_module *make_network(tn_context *context, size_t row)
{
	if (!strcmp(blocks[row].network, "resnet18"))
		return network_resnet18(context, blocks[row].width, BLOCKS_CLASSES);
	if (!strcmp(blocks[row].network, "efficientnet"))
		return network_effnet(context, blocks[row].width, BLOCKS_CLASSES);
	return network_convnext(context, blocks[row].width, BLOCKS_CLASSES);
}

static void begin(struct run *run, const char *backend, size_t row)
{
	static float pictures[MAX_PIXELS];
	static int32_t labels[BLOCKS_BATCH];
	struct tn_error_info error;
	struct tn_context_options options = {.struct_size = sizeof(options), .backend = backend};
	int64_t side = blocks[row].side;
	for (uint32_t i = 0; i < BLOCKS_BATCH * 3 * side * side; i++)
		pictures[i] = (float)noise(1000, i);
	for (int i = 0; i < BLOCKS_BATCH; i++)
		labels[i] = 3 * i % BLOCKS_CLASSES;
	assert_ok(tn_context_open(&options, &run->context, &error));
	run->net = make_network(run->context, row);
	assert_ok(tn_module_build(run->net));
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view;
		assert_ok(tn_module_parameter_at(run->net, k, &view));
		fill_parameter((uint32_t)k, &view);
	}
	run->x = tn_from_host(run->context, TN_F32, 4, (int64_t[]){BLOCKS_BATCH, 3, side, side},
			      pictures);
	run->labels = tn_from_host(run->context, TN_I32, 1, (int64_t[]){BLOCKS_BATCH}, labels);
}

static void end(struct run *run)
{
	assert_null(tn_error(run->context));
	tn_module_destroy(run->net);
	tn_context_close(run->context);
}

static double squares(const tn_array *array)
{
	double value;
	assert_ok(tn_item(tn_sum(tn_square(array), 0, NULL, 0), &value));
	return value;
}

static void expect_logits(const tn_array *logits, const float *expected, double tolerance)
{
	float values[BLOCKS_BATCH * BLOCKS_CLASSES];
	assert_ok(tn_to_host(logits, values, sizeof(values)));
	for (int i = 0; i < BLOCKS_CLASSES; i++)
		assert_close(values[i], expected[i], tolerance * (1 + fabs((double)expected[i])));
}

static void expect_gradients(const struct run *run, size_t row)
{
	double sum = 0, first = 0;
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view;
		assert_ok(tn_module_parameter_at(run->net, k, &view));
		assert_non_null(view.gradient);
		double square = squares(view.gradient);
		first = k ? first : sqrt(square);
		sum += square;
	}
	assert_close(first, blocks[row].first_gradient, 2e-3 * blocks[row].first_gradient);
	assert_close(sqrt(sum), blocks[row].gradient, 1e-3 * blocks[row].gradient);
}

static void step(struct run *run, tn_optimizer *optimizer, size_t row, int number)
{
	double value;
	assert_ok(tn_scope_begin(run->context));
	tn_module_zero_gradients(run->net);
	tn_tape *tape = tn_tape_begin(run->context);
	tn_array *logits = tn_module_forward(run->net, run->x);
	tn_array *loss = tn_cross_entropy(logits, run->labels, TN_NO_LABEL);
	assert_non_null(loss);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	if (number == 0) {
		expect_logits(logits, blocks[row].logits, 2e-4);
		expect_gradients(run, row);
	}
	assert_ok(tn_item(loss, &value));
	assert_close(value, blocks[row].losses[number],
		     (number + 1) * 1e-3 * (double)blocks[row].losses[number]);
	assert_ok(tn_optimizer_step(optimizer));
	tn_scope_end(run->context, NULL);
}

static void expect_afterwards(struct run *run, size_t row)
{
	double weights = 0, buffers = 0;
	tn_module_set_training(run->net, 0);
	expect_logits(tn_module_forward(run->net, run->x), blocks[row].evaluated, 5e-3);
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view;
		assert_ok(tn_module_parameter_at(run->net, k, &view));
		weights += squares(view.value);
	}
	for (size_t k = 0; k < tn_module_buffer_count(run->net); k++) {
		struct tn_buffer_view view;
		assert_ok(tn_module_buffer_at(run->net, k, &view));
		if (view.dtype == TN_F32)
			buffers += squares(view.value);
	}
	assert_close(sqrt(weights), blocks[row].weights, 1e-4 * blocks[row].weights);
	assert_close(sqrt(buffers), blocks[row].buffers, 1e-3 * blocks[row].buffers);
}

static void check_row(const char *backend, size_t row)
{
	const struct tn_sgd_options sgd = {
		.struct_size = sizeof(sgd), .lr = blocks[row].rate, .momentum = 0.9};
	struct run run;
	begin(&run, backend, row);
	tn_module_set_training(run.net, 1);
	tn_optimizer *optimizer = tn_sgd(run.net, &sgd);
	assert_non_null(optimizer);
	for (int number = 0; number < BLOCKS_STEPS; number++)
		step(&run, optimizer, row, number);
	tn_optimizer_destroy(optimizer);
	expect_afterwards(&run, row);
	end(&run);
}

static void the_reference_trains_blocks_as_pytorch_does(void **state)
{
	(void)state;
	for (size_t row = 0; row < N_ROWS; row++)
		check_row("reference!", row);
}

static void the_preferred_backend_trains_blocks_as_pytorch_does(void **state)
{
	(void)state;
	for (size_t row = 0; row < N_ROWS; row++)
		check_row("auto", row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_trains_blocks_as_pytorch_does),
		cmocka_unit_test(the_preferred_backend_trains_blocks_as_pytorch_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
