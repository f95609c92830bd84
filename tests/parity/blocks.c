/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small versions of the benchmark's networks against recorded PyTorch numbers: logits and
 * gradients, the losses of a few steps of SGD with momentum, and the evaluation with the running
 * statistics.
 *
 * Tolerances: every layer's result is rounded to f32 and its sums, of up to 1000 products, taken in
 * another order: about sqrt(1000) eps = 4e-6 of their size.  20 to 60 layers, with the divisions by
 * small deviations of norms over 16 elements, amplify that to the tolerances below; PyTorch in f32
 * differs from the values recorded in f64 by about a tenth of them.
 *
 * EfficientNet's ReLU6 has more than 10^5 units here, some within 1e-6 of a kink.  The CUDA backend
 * rounds one of them to the other side, which changes the first gradients by 0.5 %, and as this
 * network is chaotic, later losses by more: only its first step is compared there.
 */
#include "blocks.h"
#include "models/models.h"
#include "training.h"

#define N_ROWS (sizeof(blocks) / sizeof(blocks[0]))
#define KINK 1e-2 /* of the gradients */

enum { MAX_PIXELS = BLOCKS_BATCH * 3 * 64 * 64 };

/* The hash of blocks.py, in [-1, 1). */
static double noise(uint32_t k, uint32_t i)
{
	uint32_t h = i * 2654435761u + k * 97u;
	h = (h ^ (h >> 15)) * 2246822519u;
	h = (h ^ (h >> 13)) * 3266489917u;
	return (h >> 8) / 8388608.0 - 1.0;
}

static void fill(size_t k, const struct tn_parameter_view *view, float *values, int64_t n)
{
	int64_t fan_in = n / view->shape[0];
	double scale = fan_in > 1 ? sqrt(3.0 / (double)fan_in) : 0.1;
	size_t length = strlen(view->name);
	int is_weight = length >= 6 && !strcmp(view->name + length - 6, "weight");
	double shift = fan_in == 1 && is_weight ? 1.0 : 0.0;
	for (int64_t i = 0; i < n; i++)
		values[i] = (float)(scale * noise((uint32_t)k, (uint32_t)i) + shift);
}

static tn_module *make_network(tn_context *context, size_t row)
{
	const struct tn_model_shape shape = {3, blocks[row].side, blocks[row].side, BLOCKS_CLASSES};
	const char *name = !strcmp(blocks[row].network, "resnet18") ? "resnet18:small"
			   : !strcmp(blocks[row].network, "efficientnet")
				   ? "efficientnet_lite0:published"
				   : "convnext_tiny:published";
	return tn_model_create_width(context, name, &shape, blocks[row].width);
}

static void begin(struct run *run, const char *backend, size_t row)
{
	static float pictures[MAX_PIXELS];
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = blocks[row].rate;
	sgd.momentum = 0.9;
	int64_t side = blocks[row].side;
	for (uint32_t i = 0; i < BLOCKS_BATCH * 3 * side * side; i++)
		pictures[i] = (float)noise(1000, i);
	run_open(run, backend);
	run->net = make_network(run->context, row);
	assert_ok(tn_module_build(run->net));
	run_fill(run, fill);
	run_feed(run, (int64_t[]){BLOCKS_BATCH, 3, side, side}, pictures, BLOCKS_CLASSES);
	tn_module_set_training(run->net, 1);
	run->optimizer = tn_sgd(run->net, &sgd);
	assert_non_null(run->optimizer);
}

static double squares(const tn_array *array)
{
	double value;
	assert_ok(tn_item(tn_sum(tn_square(array), TN_ALL_AXES, NULL, 0), &value));
	return value;
}

static void expect_logits(const tn_array *logits, const float *expected, double tolerance)
{
	float values[BLOCKS_BATCH * BLOCKS_CLASSES];
	assert_ok(tn_to_host(logits, values, sizeof(values)));
	for (int i = 0; i < BLOCKS_CLASSES; i++)
		assert_close(values[i], expected[i], tolerance * (1 + fabs((double)expected[i])));
}

static int crosses_a_kink(const struct run *run, size_t row)
{
	return !strcmp(blocks[row].network, "efficientnet") &&
	       !strncmp(tn_device_name(tn_device_current(run->context)), "cuda:", 5);
}

static void expect_gradients(const struct run *run, size_t row)
{
	double sum = 0, first = 0, kink = crosses_a_kink(run, row) ? KINK : 0;
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view = run_parameter(run, k);
		assert_non_null(view.gradient);
		double square = squares(view.gradient);
		first = k ? first : sqrt(square);
		sum += square;
	}
	assert_close(first, blocks[row].first_gradient, (2e-3 + kink) * blocks[row].first_gradient);
	assert_close(sqrt(sum), blocks[row].gradient, (1e-3 + kink) * blocks[row].gradient);
}

static void check_first_step(const struct run *run, size_t row, const tn_array *logits)
{
	expect_logits(logits, blocks[row].logits, 2e-4);
	expect_gradients(run, row);
}

static void expect_afterwards(struct run *run, size_t row)
{
	double weights = 0, buffers = 0;
	tn_module_set_training(run->net, 0);
	expect_logits(tn_module_forward(run->net, run->x), blocks[row].evaluated, 5e-3);
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view = run_parameter(run, k);
		weights += squares(view.value);
	}
	for (size_t k = 0; k < tn_module_buffer_count(run->net); k++) {
		struct tn_buffer_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_buffer_at(run->net, k, &view));
		if (view.dtype == TN_F32)
			buffers += squares(view.value);
	}
	assert_close(sqrt(weights), blocks[row].weights, 1e-4 * blocks[row].weights);
	assert_close(sqrt(buffers), blocks[row].buffers, 1e-3 * blocks[row].buffers);
}

static void check_row(const char *backend, size_t row)
{
	struct run run;
	begin(&run, backend, row);
	const int n_steps = crosses_a_kink(&run, row) ? 1 : BLOCKS_STEPS;
	for (int number = 0; number < n_steps; number++) {
		double loss = run_step(&run, row, number ? NULL : check_first_step);
		double expected = (double)blocks[row].losses[number];
		assert_close(loss, expected, (number + 1) * 1e-3 * expected);
	}
	if (n_steps == BLOCKS_STEPS)
		expect_afterwards(&run, row);
	run_close(&run);
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
