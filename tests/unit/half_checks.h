/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operations on f16 and bf16 compared with the same operations on the same numbers in f32, for
 * tests on several backends.
 */
#ifndef TN_TESTS_HALF_CHECKS_H
#define TN_TESTS_HALF_CHECKS_H

#include <math.h>
#include <stdlib.h>
#include <tenon/tenon.h>

#include "check.h"
#include "layers/conv2d.h"
#include "layers/cross_entropy.h"
#include "layers/norm.h"
#include "layers/pool2d.h"
#include "layers/softmax.h"
#include "layers/window.h"
#include "ops/take.h"

enum { MOST_RESULTS = 16 };

/* One side of a comparison. */
struct half {
	tn_context *context;
	tn_dtype dtype; /* of the numbers */
	int is_wide;    /* 1: the numbers are stored in f32 */
	int n_results;
	tn_array *results[MOST_RESULTS];
};

static inline void keep_result(struct half *h, tn_array *result)
{
	assert_true(h->n_results < MOST_RESULTS);
	if (!result)
		fail_msg("result %d: %s: %s", h->n_results, tn_error(h->context)->operation,
			 tn_error(h->context)->text);
	h->results[h->n_results++] = result;
}

/* Reproducible pseudo-random numbers between -1 and 1, rounded to the narrow type. */
static inline tn_array *half_noise(struct half *h, unsigned seed, int rank, const int64_t *shape)
{
	int64_t size = 1;
	for (int i = 0; i < rank; i++)
		size *= shape[i];
	float *data = calloc((size_t)size + 1, sizeof(*data));
	for (int64_t i = 0; i < size; i++) {
		seed = seed * 1664525u + 1013904223u;
		data[i] = (float)(int32_t)seed / 2147483648.0f;
	}
	tn_array *narrow = tn_astype(tn_from_host(h->context, TN_F32, rank, shape, data), h->dtype);
	free(data);
	assert_non_null(narrow);
	return h->is_wide ? tn_astype(narrow, TN_F32) : narrow;
}

#define HALF(h, seed, ...)                                                                         \
	half_noise((h), (seed), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),         \
		   (const int64_t[]){__VA_ARGS__})

static inline float *half_numbers(const tn_array *array)
{
	size_t n = (size_t)tn_array_size(array);
	float *data = calloc(n + 1, sizeof(*data));
	assert_ok(tn_to_host(tn_astype(array, TN_F32), data, n * sizeof(*data)));
	return data;
}

/* Runs the operations on both sides and compares.  A result is computed in f32 and rounded once,
 * with a relative error of half an epsilon; the rest of `epsilons`, of the largest element, is for
 * sums in another order and for results of results. */
static inline void check_halves(tn_context *context, tn_dtype dtype, const char *name,
				double epsilons, void (*run)(struct half *))
{
	struct half narrow = {.context = context, .dtype = dtype};
	struct half wide = {.context = context, .dtype = dtype, .is_wide = 1};
	const double epsilon = dtype == TN_F16 ? 0x1p-10 : 0x1p-7;
	assert_ok(tn_scope_begin(context));
	run(&narrow);
	run(&wide);
	assert_int_equal(narrow.n_results, wide.n_results);
	assert_true(narrow.n_results > 0);
	for (int k = 0; k < narrow.n_results; k++) {
		const tn_array *result = narrow.results[k];
		int64_t n = tn_array_size(result);
		assert_int_equal(n, tn_array_size(wide.results[k]));
		/* Saved statistics and losses are f32 on both sides. */
		if (tn_array_dtype(result) != tn_array_dtype(wide.results[k]))
			assert_int_equal(tn_array_dtype(result), dtype);
		float *found = half_numbers(result), *expected = half_numbers(wide.results[k]);
		double largest = 0;
		for (int64_t i = 0; i < n; i++)
			largest = fmax(largest, fabs((double)expected[i]));
		for (int64_t i = 0; i < n; i++) {
			if (!(fabs((double)found[i] - expected[i]) <= epsilons * epsilon * largest))
				fail_msg("%s of dtype %d, result %d, element %lld: expected %.9g, "
					 "found %.9g",
					 name, dtype, k, (long long)i, expected[i], found[i]);
		}
		free(found);
		free(expected);
	}
	assert_null(tn_error(context));
	tn_scope_end(context, NULL);
}

/* ---- Operations ------------------------------------------------------------------------------*/

static inline void half_products(struct half *h)
{
	tn_array *a = HALF(h, 1, 33, 40), *b = HALF(h, 2, 40, 21);
	keep_result(h, tn_matmul(a, b));
	keep_result(h, tn_matmul(tn_transpose(b, NULL), tn_transpose(a, NULL)));
	keep_result(h, tn_matmul(HALF(h, 3, 2, 1, 5, 7), HALF(h, 4, 3, 7, 4)));
	keep_result(h, tn_matmul(HALF(h, 5, 7), HALF(h, 6, 3, 7, 2)));
	keep_result(h, tn_matmul(tn_slice(a, 1, 0, 40, 3), tn_slice(b, 0, 0, 14, 1)));
	/* Into every second column, whose neighbours keep their values. */
	tn_array *c = HALF(h, 7, 33, 42), *columns = tn_slice(c, 1, 0, 42, 2);
	assert_ok(tn_matmul_into(columns, a, 0, b, 0, 0.5, 2));
	keep_result(h, c);
	tn_array *d = HALF(h, 8, 40, 40);
	assert_ok(tn_matmul_into(d, a, 1, a, 0, 1, 1));
	keep_result(h, d);
	/* C is A: a copy of A is multiplied. */
	assert_ok(tn_matmul_into(d, d, 0, d, 1, 1, 0));
	keep_result(h, d);
}

static inline void half_convolutions(struct half *h)
{
	static const struct tn_window windows[] = {
		{.padding = {1, 1, 1, 1}},
		{.stride = {2, 1}, .padding = {0, 1, 2, 0}, .groups = 2},
		{.dilation = {2, 2}},
	};
	for (int i = 0; i < 3; i++) {
		tn_array *x = HALF(h, 1, 2, 4, 8, 7);
		tn_array *w = HALF(h, 2, 6, windows[i].groups == 2 ? 2 : 4, 3, 3);
		tn_array *y = tn_conv2d_forward(x, w, HALF(h, 3, 6), &windows[i]);
		keep_result(h, y);
		tn_array *dy = half_noise(h, 4, 4, y->shape),
			 *dw = HALF(h, 5, 6, w->shape[1], 3, 3);
		keep_result(h, tn_conv2d_input_gradient(dy, w, x->shape, &windows[i]));
		assert_ok(tn_conv2d_weight_gradient(dw, x, dy, &windows[i], i % 2));
		keep_result(h, dw);
	}
	/* With all that may follow in the same call, channels last. */
	tn_array *x = tn_channels_last(HALF(h, 6, 2, 3, 5, 6)), *w = HALF(h, 7, 4, 3, 1, 1);
	const struct tn_conv2d_finish finish = {.residual = HALF(h, 8, 2, 4, 5, 6),
						.activation = TN_ACTIVATION_RELU};
	keep_result(h, tn_conv2d_forward_finished(x, w, HALF(h, 9, 4), &(struct tn_window){0},
						  &finish));
}

static inline void half_poolings(struct half *h)
{
	tn_array *x = HALF(h, 1, 2, 3, 9, 8), *index = NULL;
	struct tn_window window = {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}};
	window.kind = TN_POOL_MAX;
	tn_array *y = tn_pool2d_forward(x, &window, &index);
	keep_result(h, y);
	keep_result(h, index);
	tn_array *dy = half_noise(h, 2, 4, y->shape);
	keep_result(h, tn_pool2d_backward(dy, index, x->shape, &window));
	window.kind = TN_POOL_AVERAGE;
	keep_result(h, tn_pool2d_forward(x, &window, NULL));
	keep_result(h, tn_pool2d_backward(dy, NULL, x->shape, &window));
}

static inline void half_norms(struct half *h)
{
	for (int kind = TN_NORM_BATCH; kind <= TN_NORM_GROUP; kind++) {
		tn_array *x = kind == TN_NORM_LAYER ? HALF(h, 1, 5, 6) : HALF(h, 1, 4, 6, 3, 5);
		struct tn_norm_call call = {.kind = kind,
					    .groups = 2,
					    .epsilon = 1e-5,
					    .x = x,
					    .w = HALF(h, 2, 6),
					    .b = HALF(h, 3, 6)};
		keep_result(h, tn_norm_call_forward(&call));
		/* The backward starts from the same statistics. */
		keep_result(h, call.mean);
		call.dy = half_noise(h, 4, x->rank, x->shape);
		call.dw = HALF(h, 5, 6);
		call.db = HALF(h, 6, 6);
		call.accumulate = kind == TN_NORM_BATCH;
		keep_result(h, tn_norm_call_backward(&call));
		keep_result(h, call.dw);
		keep_result(h, call.db);
	}
}

static inline void half_softmaxes(struct half *h)
{
	tn_array *x = tn_affine(HALF(h, 1, 4, 5, 3), 4, 0), *dy = HALF(h, 2, 4, 5, 3);
	for (int is_logarithm = 0; is_logarithm < 2; is_logarithm++) {
		keep_result(h, tn_softmax_forward(x, 1, is_logarithm));
		tn_array *y = HALF(h, 3, 4, 5, 3);
		keep_result(h, tn_softmax_backward(y, dy, 1, is_logarithm));
	}
}

static inline void half_losses(struct half *h)
{
	static const int32_t classes[] = {0, 4, -100, 2, 1, 3};
	tn_array *x = tn_affine(HALF(h, 1, 6, 5), 4, 0), *loss, *maximum, *log_sum;
	tn_array *labels = tn_from_host(h->context, TN_I32, 1, (const int64_t[]){6}, classes);
	tn_array *dloss = tn_full(h->context, TN_F32, 1, (const int64_t[]){6}, 0.25);
	assert_ok(tn_cross_entropy_forward(x, labels, -100, &loss, &maximum, &log_sum));
	keep_result(h, loss);
	keep_result(h, maximum);
	keep_result(h, log_sum);
	keep_result(h, tn_cross_entropy_backward(x, labels, maximum, log_sum, dloss, -100));
}

static inline void half_lines(struct half *h)
{
	static const int32_t places[] = {3, 0, 3, 5};
	tn_array *x = HALF(h, 1, 6, 5), *sums = HALF(h, 2, 6, 5);
	tn_array *indices = tn_from_host(h->context, TN_I32, 1, (const int64_t[]){4}, places);
	keep_result(h, tn_cumsum(x, 0));
	keep_result(h, tn_cummax(x, 1));
	keep_result(h, tn_sort(x, 1, 0));
	keep_result(h, tn_argsort(x, 0, 1));
	keep_result(h, tn_take(x, indices, 0, TN_RAISE));
	assert_ok(tn_scatter_add(sums, indices, 0, HALF(h, 3, 4, 5)));
	keep_result(h, sums);
}

/* Gradients of elements that are taken many times: a total of 5000 ones would stop at 2048 in f16,
 * and at 256 in bf16. */
static inline void half_totals(struct half *h)
{
	const int64_t n[] = {5000};
	tn_array *zeros = tn_zeros(h->context, TN_I32, 1, n);
	tn_array *table = HALF(h, 1, 3, 4), *line = HALF(h, 2, 7);
	tn_tape *tape = tn_tape_begin(h->context);
	assert_ok(tn_tape_watch(tape, table));
	assert_ok(tn_tape_watch(tape, line));
	tn_array *total = tn_sum(tn_take(table, zeros, 0, TN_RAISE), TN_ALL_AXES, NULL, 0);
	total = tn_add(total, tn_sum(tn_embedding(zeros, table, TN_NO_PADDING_INDEX), TN_ALL_AXES,
				     NULL, 0));
	total = tn_add(total, tn_sum(tn_take_along_axis(line, zeros, 0), TN_ALL_AXES, NULL, 0));
	assert_ok(tn_tape_backward(tape, total, NULL));
	keep_result(h, tn_tape_gradient(tape, table));
	keep_result(h, tn_tape_gradient(tape, line));
	tn_tape_end(tape);
}

/* A LeNet on a tape: the loss, and the gradients of all that it is computed from.  Every layer is
 * continuous, so that a rounded number does not select another element. */
static inline void half_network(struct half *h)
{
	static const int32_t classes[] = {1, 0, 2};
	static const struct tn_pool2d_options pool = {.struct_size = sizeof(pool),
						      .kernel = {2, 2}};
	enum { IMAGE, CONV1, BIAS1, CONV2, NORM_W, NORM_B, LINEAR, BIAS2, LEAVES };
	tn_array *leaves[LEAVES] = {[IMAGE] = HALF(h, 1, 3, 1, 12, 12),
				    [CONV1] = HALF(h, 2, 4, 1, 3, 3),
				    [BIAS1] = HALF(h, 3, 4),
				    [CONV2] = HALF(h, 4, 6, 4, 2, 2),
				    [NORM_W] = HALF(h, 5, 6),
				    [NORM_B] = HALF(h, 6, 6),
				    [LINEAR] = HALF(h, 7, 3, 24),
				    [BIAS2] = HALF(h, 8, 3)};
	struct tn_batch_norm_options norm = tn_batch_norm_defaults();
	norm.training = 1;
	tn_array *labels = tn_from_host(h->context, TN_I32, 1, (const int64_t[]){3}, classes);
	tn_tape *tape = tn_tape_begin(h->context);
	for (int i = 0; i < LEAVES; i++)
		assert_ok(tn_tape_watch(tape, leaves[i]));
	tn_array *x = tn_tanh(tn_conv2d(leaves[IMAGE], leaves[CONV1], leaves[BIAS1], NULL));
	x = tn_conv2d(tn_avg_pool2d(x, &pool), leaves[CONV2], NULL, NULL);
	x = tn_tanh(tn_batch_norm(x, leaves[NORM_W], leaves[NORM_B], &norm));
	x = tn_reshape(tn_avg_pool2d(x, &pool), 2, (const int64_t[]){3, 24});
	tn_array *logits = tn_linear(x, leaves[LINEAR], leaves[BIAS2]);
	tn_array *loss = tn_cross_entropy(logits, labels, NULL);
	keep_result(h, loss);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	for (int i = 0; i < LEAVES; i++)
		keep_result(h, tn_tape_gradient(tape, leaves[i]));
	tn_tape_end(tape);
}

static inline void check_all_halves(tn_context *context)
{
	static const tn_dtype dtypes[] = {TN_F16, TN_BF16};
	for (int i = 0; i < 2; i++) {
		check_halves(context, dtypes[i], "products", 1, half_products);
		check_halves(context, dtypes[i], "convolutions", 1, half_convolutions);
		check_halves(context, dtypes[i], "poolings", 1, half_poolings);
		check_halves(context, dtypes[i], "norms", 1, half_norms);
		check_halves(context, dtypes[i], "softmax", 1, half_softmaxes);
		check_halves(context, dtypes[i], "cross-entropy", 1, half_losses);
		check_halves(context, dtypes[i], "scans, sorts and takes", 1, half_lines);
		check_halves(context, dtypes[i], "totals", 1, half_totals);
		/* Nine layers and as many gradients, each rounded. */
		check_halves(context, dtypes[i], "a network", 18, half_network);
	}
}

#endif
