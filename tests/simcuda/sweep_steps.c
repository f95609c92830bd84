/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Maps, reductions, products, copies, layers and two training steps, for the sweep of faults.
 */
#include "sweep_steps.h"

#include <string.h>

/* 0, 1, 2, ... modulo 7, less 3. */
static tn_array *numbers(tn_context *context, int rank, const int64_t *shape)
{
	float data[1024];
	int64_t n = 1;
	for (int d = 0; d < rank; d++)
		n *= shape[d];
	for (int64_t i = 0; i < n; i++)
		data[i] = (float)(i % 7 - 3);
	return tn_from_host(context, TN_F32, rank, shape, data);
}

static void fetch(const tn_array *array, float *results, size_t *n)
{
	size_t count = array ? (size_t)tn_array_size(array) : 0;
	if (array && !tn_to_host(array, results + *n, count * sizeof(float)))
		*n += count;
}

static void map(tn_context *context, float *results, size_t *n)
{
	tn_array *x = numbers(context, 2, (int64_t[]){6, 10});
	fetch(tn_map("z = 2 * x + 1", 1, (const char *[]){"x"}, (const tn_array *[]){x}, 0, NULL,
		     NULL),
	      results, n);
	fetch(tn_add(x, tn_exp(x)), results, n);
}

static void reduce(tn_context *context, float *results, size_t *n)
{
	tn_array *x = numbers(context, 3, (int64_t[]){3, 5, 8});
	fetch(tn_sum(x, 1, (int[]){1}, 0), results, n);
	fetch(tn_max(x, TN_ALL_AXES, NULL, 0), results, n);
}

static void product(tn_context *context, float *results, size_t *n)
{
	tn_array *x = numbers(context, 2, (int64_t[]){5, 8});
	tn_array *w = numbers(context, 2, (int64_t[]){6, 8});
	fetch(tn_matmul(x, tn_transpose(w, NULL)), results, n);
	fetch(tn_linear(x, w, numbers(context, 1, (int64_t[]){6})), results, n);
}

static void copy(tn_context *context, float *results, size_t *n)
{
	tn_array *x = numbers(context, 2, (int64_t[]){9, 7});
	fetch(tn_contiguous(tn_transpose(x, NULL)), results, n);
	tn_array *y = tn_copy(x);
	tn_fill(tn_slice(y, 1, 0, INT64_MIN, 2), 5);
	fetch(y, results, n);
}

static void layers(tn_context *context, float *results, size_t *n)
{
	const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};
	tn_array *x = numbers(context, 4, (int64_t[]){2, 2, 6, 6});
	tn_array *w = numbers(context, 4, (int64_t[]){3, 2, 3, 3});
	tn_array *y = tn_conv2d(x, w, numbers(context, 1, (int64_t[]){3}), NULL);
	fetch(tn_softmax(tn_flatten(tn_max_pool2d(y, &pool), 1), 1), results, n);
}

static tn_module *make_net(tn_context *context)
{
	const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, 4, 3, 3, NULL));
	tn_module_sequential_add(net, "norm", tn_module_batch_norm2d(context, 4, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "pool", tn_module_max_pool2d(context, &pool));
	tn_module_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_module_sequential_add(net, "fc", tn_module_linear(context, 36, 5, NULL));
	return net;
}

/* The losses of two steps. */
static void train(tn_context *context, float *results, size_t *n)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	sgd.momentum = 0.9;
	const int32_t labels[] = {0, 3, 1, 4};
	tn_random_set_state(context, (struct tn_random_state){.seed = 1});
	tn_module *net = make_net(context);
	tn_optimizer *optimizer = NULL;
	if (net && !tn_module_build(net))
		optimizer = tn_sgd(net, &sgd);
	if (optimizer)
		tn_module_set_training(net, 1);
	tn_array *x = numbers(context, 4, (int64_t[]){4, 1, 8, 8});
	tn_array *t = tn_from_host(context, TN_I32, 1, (int64_t[]){4}, labels);
	for (int step = 0; optimizer && step < 2; step++) {
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), t, NULL);
		tn_status status = tn_tape_backward(tape, loss, NULL);
		tn_tape_end(tape);
		if (!status && !tn_optimizer_step(optimizer))
			fetch(loss, results, n);
	}
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

static const struct sweep_step steps[] = {
	{"map", map},   {"reduce", reduce}, {"product", product},
	{"copy", copy}, {"layers", layers}, {"train", train},
};

const struct sweep_step *sweep_step_at(size_t index)
{
	return index < sizeof(steps) / sizeof(steps[0]) ? &steps[index] : NULL;
}

const struct sweep_step *sweep_step(const char *name)
{
	size_t i = 0;
	while (sweep_step_at(i) && strcmp(steps[i].name, name) != 0)
		i++;
	return sweep_step_at(i);
}
