/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layer operations, over a table of shapes: compositions of map, reduce and matmul agree with the
 * reference's own slots, and so do host runs of a far device.
 */
#include "array_fixture.h"
#include "layers/conv2d.h"
#include "layers/cross_entropy.h"
#include "layers/norm.h"
#include "layers/pool2d.h"
#include "layers/softmax.h"
#include "layers/window.h"

/* The routes compared with the reference's slots: composed of the mandatory entries, and on the
 * host for memory that it cannot read. */
struct way {
	struct fixture *f;
	struct tn_device *device;
	const char *route;
};

enum { WAYS = 2 };

static void open_ways(struct fixture *f, struct way ways[WAYS])
{
	ways[0] = (struct way){f, add_device(f, "small", MANDATORY, 0), "composed"};
	ways[1] = (struct way){f, add_device(f, "far", MEMORY_ALONE, 1), "host"};
}

static const tn_array *there(const struct way *way, const tn_array *a)
{
	return a ? tn_to(a, way->device) : NULL;
}

/* The operation took that route on the last device. */
static void check_route(const struct way *way, const char *operation)
{
	struct tn_ledger_row row = ledger_row(way->f, operation);
	int composed = strcmp(way->route, "composed") == 0;
	const struct tn_error_info *error = tn_error(context_of(way->f));
	if (error)
		print_error("%s: %s\n", error->operation, error->text);
	assert_int_equal(row.composed, composed);
	assert_int_equal(row.host, !composed);
	assert_int_equal(row.lent, 0);
	assert_null(tn_error(context_of(way->f)));
}

static tn_array *back(const struct way *way, const tn_array *a)
{
	return tn_to(a, way->f->context.runtime.reference);
}

/* ---- Convolution -----------------------------------------------------------------------------*/

static const struct {
	int64_t N, C, H, W, O, R, S;
	struct tn_window window;
} convolutions[] = {
	{1, 1, 3, 3, 1, 3, 3, {.groups = 1}},
	{2, 3, 7, 6, 4, 3, 2, {.groups = 1}},
	{2, 3, 7, 6, 4, 3, 3, {.padding = {1, 1, 1, 1}}},
	{1, 2, 9, 8, 3, 3, 3, {.stride = {2, 3}, .padding = {0, 1, 2, 3}}},
	{2, 2, 9, 9, 2, 3, 2, {.dilation = {2, 3}, .padding = {1, 0, 1, 2}}},
	{3, 4, 5, 5, 6, 3, 3, {.groups = 2, .padding = {1, 1, 1, 1}}},
	{2, 4, 6, 5, 8, 3, 3, {.groups = 4, .stride = {2, 1}}},
	{2, 4, 6, 5, 4, 3, 3, {.groups = 4, .padding = {1, 1, 1, 1}, .dilation = {1, 2}}},
	{3, 5, 4, 6, 7, 1, 1, {.groups = 1}},
	{3, 4, 4, 6, 6, 1, 1, {.groups = 2}},
	{2, 3, 5, 5, 2, 1, 1, {.stride = {2, 2}}},
	{2, 3, 5, 5, 2, 1, 1, {.padding = {1, 0, 0, 1}}},
	{2, 2, 4, 5, 3, 4, 5, {.groups = 1}},
	{2, 2, 5, 5, 3, 2, 2, {.stride = {3, 3}}},
	/* Columns of more than one tile: 90 x 8 x 25 x 144 x 4 bytes. */
	{90, 8, 12, 12, 2, 5, 5, {.padding = {2, 2, 2, 2}}},
};

/* Sums of up to K products below 1, each rounded, in another order: K 2^-24 K^1/2 is ample. */
static double tolerance(double K)
{
	return K * 6e-8 * (sqrt(K) + 1);
}

static void check_convolution(struct way *way, size_t i, int strided)
{
	struct fixture *f = way->f;
	const struct tn_window *window = &convolutions[i].window;
	const int64_t N = convolutions[i].N, C = convolutions[i].C, H = convolutions[i].H,
		      W = convolutions[i].W, O = convolutions[i].O, R = convolutions[i].R,
		      S = convolutions[i].S, G = window->groups ? window->groups : 1;
	tn_array *x = noise(f, 1, SHAPE(N, C, H, W)), *w = noise(f, 2, SHAPE(O, C / G, R, S));
	tn_array *bias = noise(f, 3, SHAPE(O));
	if (strided) {
		x = tn_transpose(noise(f, 1, SHAPE(H, N, W, C)), (const int[]){1, 3, 0, 2});
		w = tn_slice(noise(f, 2, SHAPE(O, C / G, R, 2 * S)), 3, 0, 2 * S, 2);
		bias = tn_slice(bias, 0, INT64_MIN, INT64_MIN, -1);
	}
	const tn_array *x_there = there(way, x), *w_there = there(way, w);
	if (strided) {
		/* tn_to made them compact: restores the strides. */
		x_there = tn_transpose(there(way, tn_transpose(x, (const int[]){2, 0, 3, 1})),
				       (const int[]){1, 3, 0, 2});
		w_there = tn_transpose(there(way, tn_transpose(w, NULL)), NULL);
	}
	tn_array *y = tn_conv2d_forward(x, w, bias, window);
	assert_non_null(y);
	tn_ledger_reset(context_of(f));
	tn_array *y_there = tn_conv2d_forward(x_there, w_there, there(way, bias), window);
	check_route(way, "conv2d");
	assert_arrays_close(back(way, y_there), y, tolerance((double)(C / G * R * S)));
	y_there = tn_conv2d_forward(x_there, w_there, NULL, window);
	assert_arrays_close(back(way, y_there), tn_conv2d_forward(x, w, NULL, window),
			    tolerance((double)(C / G * R * S)));

	tn_array *dy = noise(f, 4, y->rank, y->shape);
	const int64_t x_shape[] = {N, C, H, W};
	tn_ledger_reset(context_of(f));
	tn_array *dx_there = tn_conv2d_input_gradient(there(way, dy), w_there, x_shape, window);
	check_route(way, "conv2d_input_gradient");
	assert_arrays_close(back(way, dx_there), tn_conv2d_input_gradient(dy, w, x_shape, window),
			    tolerance((double)(O / G * R * S)));

	for (int accumulate = 0; accumulate < 2; accumulate++) {
		tn_array *dw = noise(f, 5, 4, w->shape);
		tn_array *dw_there = tn_to(dw, way->device);
		assert_ok(tn_conv2d_weight_gradient(dw, x, dy, window, accumulate));
		tn_ledger_reset(context_of(f));
		assert_ok(tn_conv2d_weight_gradient(dw_there, x_there, there(way, dy), window,
						    accumulate));
		check_route(way, "conv2d_weight_gradient");
		assert_arrays_close(back(way, dw_there), dw, tolerance((double)(y->size / O)));
	}
}

static void convolutions_are_composed_of_copies_and_products(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	open_ways(f, ways);
	for (size_t i = 0; i < sizeof(convolutions) / sizeof(convolutions[0]); i++) {
		for (int k = 0; k < WAYS; k++) {
			for (int strided = 0; strided < 2; strided++) {
				assert_ok(tn_scope_begin(context_of(f)));
				check_convolution(&ways[k], i, strided);
				tn_scope_end(context_of(f), NULL);
			}
		}
	}
}

static void a_convolution_of_no_images_is_empty(void **state)
{
	struct fixture *f = *state;
	const struct tn_window window = {.groups = 1};
	tn_array *x = counted(f, 0, SHAPE(0, 2, 4, 4)), *w = noise(f, 1, SHAPE(3, 2, 3, 3));
	tn_array *y = tn_conv2d_forward(x, w, NULL, &window);
	assert_shape(y, 0, 3, 2, 2);
	assert_ok(tn_conv2d_weight_gradient(w, x, y, &window, 0));
	assert_elements(tn_sum(tn_abs(w), TN_ALL_AXES, NULL, 0), 0);
	assert_shape(tn_conv2d_input_gradient(y, w, x->shape, &window), 0, 2, 4, 4);
}

static void convolutions_that_do_not_fit_say_so(void **state)
{
	struct fixture *f = *state;
	tn_array *x = counted(f, 0, SHAPE(1, 3, 4, 4));
	assert_null(tn_conv2d_forward(x, counted(f, 0, SHAPE(2, 2, 3, 3)), NULL,
				      &(struct tn_window){0}));
	assert_kept(f, TN_SHAPE, "(2, 2, 3, 3)");
	assert_null(tn_conv2d_forward(x, counted(f, 0, SHAPE(2, 3, 5, 5)), NULL,
				      &(struct tn_window){0}));
	assert_kept(f, TN_SHAPE, "(2, 3, 5, 5)");
	assert_null(tn_conv2d_forward(x, counted(f, 0, SHAPE(2, 3, 1, 1)), NULL,
				      &(struct tn_window){.stride = {-1, 1}}));
	assert_kept(f, TN_INVALID_ARGUMENT, "stride -1");
	assert_null(tn_conv2d_forward(x, tn_astype(counted(f, 0, SHAPE(2, 3, 1, 1)), TN_F64), NULL,
				      &(struct tn_window){0}));
	assert_kept(f, TN_DTYPE, "f64");
}

/* ---- Pooling ---------------------------------------------------------------------------------*/

static const struct {
	int64_t N, C, H, W;
	struct tn_window window;
} poolings[] = {
	{2, 3, 4, 6, {.kernel = {2, 2}}},
	{1, 1, 5, 5, {.kernel = {2, 2}}},
	{2, 2, 7, 6, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}}},
	{1, 2, 6, 7, {.kernel = {3, 2}, .stride = {1, 1}, .padding = {0, 1, 1, 0}}},
	{2, 1, 6, 7, {.kernel = {4, 3}, .stride = {1, 2}, .padding = {2, 1, 1, 1}}},
	{1, 3, 4, 4, {.kernel = {4, 4}}},
	{2, 2, 11, 12, {.kernel = {5, 4}, .stride = {2, 3}, .padding = {2, 1, 1, 2}}},
	{1, 2, 10, 10, {.kernel = {5, 5}}},
	{1, 2, 7, 9, {.kernel = {3, 3}, .padding = {1, 1, 1, 0}}},
	{1, 1, 6, 6, {.kernel = {1, 2}, .stride = {3, 3}}},
};

static void check_pooling(struct way *way, struct tn_window window, const tn_array *x)
{
	struct fixture *f = way->f;
	tn_array *index = NULL, *index_there = NULL;
	tn_array *y = tn_pool2d_forward(x, &window, &index);
	tn_ledger_reset(context_of(f));
	tn_array *y_there = tn_pool2d_forward(there(way, x), &window, &index_there);
	check_route(way, "pool2d");
	/* A mean of at most 16 numbers below 1. */
	assert_arrays_close(back(way, y_there), y, window.kind == TN_POOL_MAX ? 0 : 16 * 6e-8);
	if (window.kind == TN_POOL_MAX) {
		assert_arrays_close(back(way, index_there), index, 0);
		assert_arrays_close(back(way, tn_pool2d_forward(there(way, x), &window, NULL)), y,
				    0);
	}
	tn_array *dy = noise(f, 9, y->rank, y->shape);
	tn_ledger_reset(context_of(f));
	tn_array *dx_there = tn_pool2d_backward(there(way, dy), index_there, x->shape, &window);
	check_route(way, "pool2d_backward");
	assert_arrays_close(back(way, dx_there), tn_pool2d_backward(dy, index, x->shape, &window),
			    16 * 6e-8);
}

static void poolings_are_composed_of_reductions_and_maps(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	open_ways(f, ways);
	for (size_t i = 0; i < sizeof(poolings) / sizeof(poolings[0]); i++) {
		struct tn_window window = poolings[i].window;
		tn_array *x = noise(
			f, 6, SHAPE(poolings[i].N, poolings[i].C, poolings[i].H, poolings[i].W));
		/* Many ties, and planes of -inf next to padding of -inf. */
		tn_array *ties = tn_round(x);
		tn_array *low = tn_log(tn_relu(ties));
		for (int k = 0; k < WAYS; k++) {
			window.kind = TN_POOL_MAX;
			check_pooling(&ways[k], window, x);
			check_pooling(&ways[k], window, ties);
			check_pooling(&ways[k], window, low);
			window.kind = TN_POOL_AVERAGE;
			check_pooling(&ways[k], window, x);
			window.count_padding = 1;
			check_pooling(&ways[k], window, x);
			window.count_padding = 0;
		}
	}
}

static void padding_is_never_chosen(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	open_ways(f, ways);
	for (int k = 0; k < WAYS; k++) {
		/* Read cell by cell, and reduced. */
		for (int64_t kernel = 3; kernel <= 5; kernel += 2) {
			const struct tn_window window = {.kernel = {kernel, kernel},
							 .stride = {1, 1},
							 .padding = {1, 1, 1, 1},
							 .kind = TN_POOL_MAX};
			tn_array *x = tn_full(context_of(f), TN_F32, SHAPE(1, 2, 6, 5), -INFINITY);
			check_pooling(&ways[k], window, x);
		}
	}
}

static void a_nan_wins_its_window(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	static const float data[] = {1, 2, NAN, 0, 3, 4, 9, NAN};
	const struct tn_window window = {.kernel = {2, 2}, .kind = TN_POOL_MAX};
	open_ways(f, ways);
	for (int k = 0; k < WAYS; k++) {
		tn_array *x = tn_from_host(context_of(f), TN_F32, SHAPE(1, 1, 2, 4), data), *index;
		tn_array *y = tn_pool2d_forward(there(&ways[k], x), &window, &index);
		assert_elements(back(&ways[k], y), 4, NAN);
		assert_elements(back(&ways[k], index), 5, 2);
	}
}

/* ---- Softmax and cross-entropy ---------------------------------------------------------------*/

static void softmax_is_composed(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	tn_array *arrays[] = {noise(f, 1, SHAPE(7)), tn_affine(noise(f, 2, SHAPE(3, 5)), 90, 0),
			      noise(f, 3, SHAPE(2, 3, 4))};
	open_ways(f, ways);
	for (int i = 0; i < 3; i++) {
		for (int axis = -1; axis < arrays[i]->rank; axis++) {
			for (int k = 0; k < 2 * WAYS; k++) {
				struct way *way = &ways[k / 2];
				tn_array *y = tn_softmax_forward(arrays[i], axis, k % 2);
				tn_array *dy = noise(f, 5, y->rank, y->shape);
				tn_ledger_reset(context_of(f));
				tn_array *y_there =
					tn_softmax_forward(there(way, arrays[i]), axis, k % 2);
				check_route(way, "softmax");
				/* Logarithms go down to -180, where an ulp is 1.5e-5. */
				assert_arrays_close(back(way, y_there), y, k % 2 ? 4e-5 : 1e-6);
				tn_array *dx_there = tn_softmax_backward(
					there(way, y), there(way, dy), axis, k % 2);
				check_route(way, "softmax_backward");
				assert_arrays_close(back(way, dx_there),
						    tn_softmax_backward(y, dy, axis, k % 2), 2e-6);
			}
		}
	}
}

static void cross_entropy_is_composed(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	static const int32_t numbers[] = {0, 4, -100, 2, 1, 3};
	tn_array *x = tn_affine(noise(f, 1, SHAPE(6, 5)), 50, 0);
	tn_array *labels = tn_from_host(context_of(f), TN_I32, SHAPE(6), numbers);
	tn_array *loss, *maximum, *log_sum, *loss_there, *maximum_there, *log_sum_there;
	open_ways(f, ways);
	assert_ok(tn_cross_entropy_forward(x, labels, -100, &loss, &maximum, &log_sum));
	double value;
	assert_ok(tn_item(tn_slice(loss, 0, 2, 3, 1), &value));
	assert_close(value, 0, 0);
	for (int k = 0; k < WAYS; k++) {
		struct way *way = &ways[k];
		tn_ledger_reset(context_of(f));
		assert_ok(tn_cross_entropy_forward(there(way, x), there(way, labels), -100,
						   &loss_there, &maximum_there, &log_sum_there));
		check_route(way, "cross_entropy");
		/* Differences of numbers up to 100, whose ulp is 8e-6. */
		assert_arrays_close(back(way, loss_there), loss, 2e-5);
		assert_arrays_close(back(way, maximum_there), maximum, 0);
		assert_arrays_close(back(way, log_sum_there), log_sum, 1e-6);
		tn_array *dloss = tn_full(context_of(f), TN_F32, SHAPE(1), 0.25);
		dloss = tn_broadcast_to(dloss, SHAPE(6));
		tn_array *dloss_there =
			tn_broadcast_to(there(way, tn_slice(dloss, 0, 0, 1, 1)), SHAPE(6));
		tn_array *dx_there =
			tn_cross_entropy_backward(there(way, x), there(way, labels), maximum_there,
						  log_sum_there, dloss_there, -100);
		check_route(way, "cross_entropy_backward");
		assert_arrays_close(
			back(way, dx_there),
			tn_cross_entropy_backward(x, labels, maximum, log_sum, dloss, -100), 3e-5);
	}
}

/* Whole logits, to which offsets are added exactly. */
static void an_offset_of_logits_changes_no_gradient(void **state)
{
	static const float offsets[] = {0, 1e3f, -1e4f, 1e6f, 1e7f};
	static const int32_t numbers[] = {0, 4, -100, 2, 1, 3};
	struct fixture *f = *state;
	struct way ways[WAYS];
	tn_array *labels = tn_from_host(context_of(f), TN_I32, SHAPE(6), numbers);
	tn_array *dloss = tn_full(context_of(f), TN_F32, SHAPE(6), 0.25);
	open_ways(f, ways);
	for (int k = 0; k < WAYS; k++) {
		tn_array *plain = NULL;
		for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
			float logits[30];
			tn_array *loss, *maximum, *log_sum;
			for (int j = 0; j < 30; j++)
				logits[j] = offsets[i] + (float)(j * 7 % 11) - 5;
			const tn_array *x = there(
				&ways[k], tn_from_host(context_of(f), TN_F32, SHAPE(6, 5), logits));
			const tn_array *t = there(&ways[k], labels);
			assert_ok(tn_cross_entropy_forward(x, t, -100, &loss, &maximum, &log_sum));
			tn_array *dx = back(
				&ways[k], tn_cross_entropy_backward(x, t, maximum, log_sum,
								    there(&ways[k], dloss), -100));
			plain = plain ? plain : dx;
			assert_arrays_close(dx, plain, 0);
		}
	}
}

/* ---- Norms -----------------------------------------------------------------------------------*/

static void check_norm(struct way *way, int kind, const tn_array *x, int has_affine)
{
	struct fixture *f = way->f;
	const char *names[] = {"batch_norm", "batch_norm_backward", "layer_norm",
			       "layer_norm_backward"};
	tn_array *w = has_affine ? noise(f, 2, 1, x->shape + 1) : NULL;
	tn_array *b = has_affine ? noise(f, 3, 1, x->shape + 1) : NULL;
	tn_array *mean, *rstd, *mean_there, *rstd_there;
	tn_array *y = tn_norm_forward(kind, x, w, b, 1e-5, 0, &mean, &rstd);
	tn_ledger_reset(context_of(f));
	tn_array *y_there = tn_norm_forward(kind, there(way, x), there(way, w), there(way, b), 1e-5,
					    0, &mean_there, &rstd_there);
	check_route(way, names[2 * kind]);
	/* Values of a few units from sums of up to 60 numbers. */
	assert_arrays_close(back(way, y_there), y, 2e-5);
	assert_arrays_close(back(way, mean_there), mean, 2e-6);
	assert_arrays_close(back(way, rstd_there), rstd, 2e-5);
	tn_array *dy = noise(f, 4, x->rank, x->shape);
	for (int given = 0; given < (kind ? 1 : 2); given++) {
		tn_array *dw = has_affine ? noise(f, 5, 1, x->shape + 1) : NULL;
		tn_array *db = has_affine ? noise(f, 6, 1, x->shape + 1) : NULL;
		tn_array *dw_there = dw ? tn_to(dw, way->device) : NULL;
		tn_array *db_there = db ? tn_to(db, way->device) : NULL;
		tn_array *dx = tn_norm_backward(kind, dy, x, w, mean, rstd, given, dw, db, given);
		tn_ledger_reset(context_of(f));
		tn_array *dx_there =
			tn_norm_backward(kind, there(way, dy), there(way, x), there(way, w),
					 mean_there, rstd_there, given, dw_there, db_there, given);
		check_route(way, names[2 * kind + 1]);
		assert_arrays_close(back(way, dx_there), dx, 5e-5);
		if (dw) {
			assert_arrays_close(back(way, dw_there), dw, 5e-5);
			assert_arrays_close(back(way, db_there), db, 5e-5);
		}
	}
	if (kind == 0) {
		tn_array *given = tn_norm_forward(kind, x, w, b, 1e-5, 1, &mean, &rstd);
		y_there = tn_norm_forward(kind, there(way, x), there(way, w), there(way, b), 1e-5,
					  1, &mean_there, &rstd_there);
		assert_arrays_close(back(way, y_there), given, 2e-5);
	}
}

static void norms_are_composed_of_reductions_and_maps(void **state)
{
	struct fixture *f = *state;
	struct way ways[WAYS];
	open_ways(f, ways);
	for (int k = 0; k < WAYS; k++) {
		for (int has_affine = 0; has_affine < 2; has_affine++) {
			check_norm(&ways[k], 0, noise(f, 1, SHAPE(4, 3)), has_affine);
			check_norm(&ways[k], 0, noise(f, 1, SHAPE(4, 3, 5)), has_affine);
			check_norm(&ways[k], 0, noise(f, 1, SHAPE(2, 3, 4, 5)), has_affine);
			check_norm(&ways[k], 1, noise(f, 1, SHAPE(4, 7)), has_affine);
		}
	}
}

/* ---- Failures --------------------------------------------------------------------------------*/

static tn_status fail_matmul(void *device, const struct tn_matmul_args *args)
{
	(void)device;
	return args->call.flags & TN_DRY_RUN ? TN_OK : TN_BACKEND_FAILURE;
}

static void a_step_that_fails_fails_the_operation_by_its_name(void **state)
{
	struct fixture *f = *state;
	const struct tn_window window = {.groups = 1};
	f->context.runtime.device = add_device(f, "small", MANDATORY, 0);
	f->backends[1].compute.matmul = fail_matmul;
	tn_array *x = noise(f, 1, SHAPE(1, 1, 4, 4)), *w = noise(f, 2, SHAPE(1, 1, 2, 2));
	assert_null(tn_conv2d_forward(x, w, NULL, &window));
	assert_string_equal(tn_error(context_of(f))->operation, "conv2d");
	assert_kept(f, TN_BACKEND_FAILURE, "composed: ");
	assert_null(f->context.runtime.scope->parent);
	assert_int_equal(f->context.runtime.depth, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(convolutions_are_composed_of_copies_and_products),
		TEST(a_convolution_of_no_images_is_empty),
		TEST(convolutions_that_do_not_fit_say_so),
		TEST(poolings_are_composed_of_reductions_and_maps),
		TEST(padding_is_never_chosen),
		TEST(a_nan_wins_its_window),
		TEST(softmax_is_composed),
		TEST(cross_entropy_is_composed),
		TEST(an_offset_of_logits_changes_no_gradient),
		TEST(norms_are_composed_of_reductions_and_maps),
		TEST(a_step_that_fails_fails_the_operation_by_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
