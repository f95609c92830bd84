/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gallery's networks against recorded PyTorch numbers: logits, gradients, losses of a few steps
 * of each optimizer, and the weights after them.
 *
 * Tolerances: a logit sums up to 784 products in f32, so that two orders of summation differ by
 * about sqrt(784) eps = 3e-6 relative to the sum of magnitudes; each of six steps amplifies earlier
 * differences.
 */
#include "networks.h"
#include "training.h"

#define N_ROWS (sizeof(parity) / sizeof(parity[0]))

/* A bias has the same bound as the weight before it. */
static void fill(size_t k, const struct tn_parameter_view *view, float *values, int64_t n)
{
	static double bound = 1.0;
	int64_t fan_in = view->rank > 1 ? n / view->shape[0] : 0;
	if (fan_in)
		bound = 1.0 / sqrt((double)fan_in);
	for (int64_t i = 0; i < n; i++)
		values[i] = (float)(bound * sin(0.37 * (double)i + (double)k));
}

static tn_optimizer *make_optimizer(tn_module *net, const char *name)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	if (!strcmp(name, "adamw")) {
		struct tn_adamw_options adamw = tn_adamw_defaults();
		adamw.lr = 0.002;
		adamw.weight_decay = 0.01;
		return tn_adamw(net, &adamw);
	}
	if (!strcmp(name, "momentum")) {
		sgd.momentum = 0.9;
		sgd.dampening = 0.1;
		sgd.weight_decay = 0.01;
	} else if (!strcmp(name, "nesterov")) {
		sgd.momentum = 0.9;
		sgd.nesterov = 1;
	}
	return tn_sgd(net, &sgd);
}

static void begin(struct run *run, const char *backend, size_t row)
{
	static float pictures[PARITY_BATCH * 784];
	const struct tn_model_shape shape = {1, 28, 28, 10};
	for (int i = 0; i < PARITY_BATCH * 784; i++)
		pictures[i] = (float)cos(0.11 * (double)i);
	run_open(run, backend);
	run->net = tn_model_create(run->context, parity[row].model, &shape);
	assert_ok(tn_module_build(run->net));
	run_fill(run, fill);
	tn_module_set_training(run->net, 1);
	run->optimizer = make_optimizer(run->net, parity[row].optimizer);
	assert_non_null(run->optimizer);
	run_feed(run, (int64_t[]){PARITY_BATCH, 1, 28, 28}, pictures, 10);
}

static double sum_of(const tn_array *array, int squares)
{
	int64_t size = tn_array_size(array);
	float *values = malloc((size_t)size * sizeof(*values));
	double sum = 0.0;
	assert_ok(tn_to_host(array, values, (size_t)size * sizeof(*values)));
	for (int64_t i = 0; i < size; i++)
		sum += squares ? (double)values[i] * values[i] : fabs(values[i]);
	free(values);
	return squares ? sqrt(sum) : sum;
}

static void check_first_step(const struct run *run, size_t row, const tn_array *logits)
{
	float first[PARITY_BATCH * 10];
	assert_ok(tn_to_host(logits, first, sizeof(first)));
	for (int i = 0; i < 10; i++)
		assert_close(first[i], parity[row].logits[i], 2e-5);
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view = run_parameter(run, k);
		assert_non_null(view.gradient);
		assert_close(sum_of(view.gradient, 1), parity[row].gradient_norms[k],
			     1e-4 * parity[row].gradient_norms[k] + 1e-6);
	}
}

static void check_row(const char *backend, size_t row)
{
	struct run run;
	begin(&run, backend, row);
	for (int number = 0; number < PARITY_STEPS; number++) {
		double loss = run_step(&run, row, number ? NULL : check_first_step);
		double expected = (double)parity[row].losses[number];
		assert_close(loss, expected, 2e-4 * fabs(expected) + 2e-5);
	}
	for (size_t k = 0; k < tn_module_parameter_count(run.net); k++) {
		struct tn_parameter_view view = run_parameter(&run, k);
		assert_close(sum_of(view.value, 0), parity[row].weight_sums[k],
			     3e-4 * parity[row].weight_sums[k]);
	}
	run_close(&run);
}

static void the_reference_computes_what_pytorch_does(void **state)
{
	(void)state;
	for (size_t row = 0; row < N_ROWS; row++)
		check_row("reference!", row);
}

static void the_preferred_backend_computes_what_pytorch_does(void **state)
{
	(void)state;
	for (size_t row = 0; row < N_ROWS; row++)
		check_row("auto", row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_computes_what_pytorch_does),
		cmocka_unit_test(the_preferred_backend_computes_what_pytorch_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
