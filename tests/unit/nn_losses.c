/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses: gradients against central differences, errors by name, narrow types, and extremes.
 * tests/parity/losses.c has their values.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "device/pool.h"
#include "nn_backends.h"

static tn_context *context;

static void open_context(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	assert_ok(tn_context_open(&options, &context, NULL));
}

static tn_array *doubles(int rank, const int64_t *shape, const double *values)
{
	return tn_from_host(context, TN_F64, rank, shape, values);
}

static tn_array *labels_of(int64_t n, const int32_t *values)
{
	return tn_from_host(context, TN_I32, 1, &n, values);
}

static double item(const tn_array *a)
{
	double value = NAN;
	assert_ok(tn_item(a, &value));
	return value;
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static const double twelve[] = {0.3, -1.2, 2.1, 0.7, -0.4, 1.9, -2.3, 0.9, 0.2, -0.8, 1.1, -1.7};
static const double others[] = {0.9, 0.2, 0.5, 0.8, 0.1, 0.4, 0.7, 0.3, 0.6, 0.25, 0.55, 0.95};
static const int64_t matrix[] = {4, 3};
static const int32_t classes[] = {2, 0, 7, 1};

static tn_array *f_mse(void *u, tn_array *const *x)
{
	(void)u;
	return tn_mse_loss(x[0], x[1], TN_REDUCTION_MEAN);
}
static tn_array *f_l1(void *u, tn_array *const *x)
{
	(void)u;
	return tn_l1_loss(x[0], x[1], TN_REDUCTION_SUM);
}
static tn_array *f_smooth_l1(void *u, tn_array *const *x)
{
	(void)u;
	return tn_smooth_l1_loss(x[0], x[1], 0.7, TN_REDUCTION_MEAN);
}
static tn_array *f_huber(void *u, tn_array *const *x)
{
	(void)u;
	return tn_huber_loss(x[0], x[1], 0.7, TN_REDUCTION_MEAN);
}
static tn_array *f_binary(void *u, tn_array *const *x)
{
	const int64_t three[] = {3}, column[] = {4, 1};
	const struct tn_binary_cross_entropy_options options = {
		.struct_size = sizeof(options),
		.weight = doubles(2, column, others),
		.pos_weight = doubles(1, three, others + 4)};
	(void)u;
	return tn_binary_cross_entropy_with_logits(x[0], x[1], &options);
}
static tn_array *f_kl_div(void *u, tn_array *const *x)
{
	(void)u;
	return tn_kl_div(x[0], x[1], 0, TN_REDUCTION_BATCH_MEAN);
}
static tn_array *f_kl_div_logs(void *u, tn_array *const *x)
{
	(void)u;
	return tn_kl_div(x[0], x[1], 1, TN_REDUCTION_MEAN);
}
static tn_array *f_hinge(void *u, tn_array *const *x)
{
	static const int32_t signs[] = {1, -1, -1, 1, -1, 1, 1, 1, -1, -1, 1, -1};
	(void)u;
	return tn_hinge_embedding_loss(x[0], tn_from_host(context, TN_I32, 2, matrix, signs), 0.6,
				       TN_REDUCTION_MEAN);
}
static tn_array *f_cosine(void *u, tn_array *const *x)
{
	static const int32_t signs[] = {1, -1, -1, 1};
	(void)u;
	return tn_cosine_embedding_loss(x[0], x[1], labels_of(4, signs), -0.2, TN_REDUCTION_SUM);
}
static tn_array *f_margin(void *u, tn_array *const *x)
{
	static const int32_t labels[] = {2, 0, 1, 1};
	(void)u;
	return tn_multi_margin_loss(x[0], labels_of(4, labels), 2, 0.9, NULL, TN_REDUCTION_MEAN);
}
static tn_array *f_nll(void *u, tn_array *const *x)
{
	const int64_t three[] = {3};
	(void)u;
	struct tn_nll_loss_options nll_loss = tn_nll_loss_defaults();
	nll_loss.has_ignore_label = 1;
	nll_loss.ignore_label = 7;
	nll_loss.weight = doubles(1, three, others);
	return tn_nll_loss(x[0], labels_of(4, classes), &nll_loss);
}
static tn_array *f_entropy(void *u, tn_array *const *x)
{
	const int64_t three[] = {3};
	(void)u;
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.has_ignore_label = 1;
	cross_entropy.ignore_label = 7;
	cross_entropy.label_smoothing = 0.2;
	cross_entropy.weight = doubles(1, three, others);
	return tn_cross_entropy(x[0], labels_of(4, classes), &cross_entropy);
}
static tn_array *f_entropy_soft(void *u, tn_array *const *x)
{
	(void)u;
	struct tn_cross_entropy_options cross_entropy_options = tn_cross_entropy_defaults();
	cross_entropy_options.label_smoothing = 0.2;
	return tn_cross_entropy(x[0], x[1], &cross_entropy_options);
}

static void gradients_agree_with_differences(void **state)
{
	static const struct {
		const char *name;
		tn_gradient_function f;
		int n_inputs;
	} rows[] = {
		{"mse", f_mse, 2},
		{"l1", f_l1, 2},
		{"smooth_l1", f_smooth_l1, 2},
		{"huber", f_huber, 2},
		{"binary_cross_entropy", f_binary, 2},
		{"kl_div", f_kl_div, 2},
		{"kl_div of logarithms", f_kl_div_logs, 2},
		{"hinge_embedding", f_hinge, 1},
		{"cosine_embedding", f_cosine, 2},
		{"multi_margin", f_margin, 1},
		{"nll", f_nll, 1},
		{"cross_entropy", f_entropy, 1},
		{"cross_entropy of probabilities", f_entropy_soft, 2},
	};
	(void)state;
	open_context("reference!");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tn_gradient_report report = {.struct_size = sizeof(report)};
		assert_ok(tn_scope_begin(context));
		tn_array *x[] = {doubles(2, matrix, twelve), doubles(2, matrix, others)};
		if (tn_gradient_check(context, rows[i].f, NULL, rows[i].n_inputs, x, 1e-6, 1e-7, 0,
				      &report))
			fail_msg("%s: %s", rows[i].name, tn_error(context)->text);
		tn_scope_end(context, NULL);
	}
	tn_context_close(context);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static void check_error(const tn_array *made, tn_status status, const char *operation,
			const char *words)
{
	const struct tn_error_info *error = tn_error(context);
	assert_null(made);
	if (!error || error->status != status || strcmp(error->operation, operation) != 0 ||
	    !strstr(error->text, words))
		fail_msg("expected %s of %s with '%s', found %s of %s: %s", tn_status_name(status),
			 operation, words, error ? tn_status_name(error->status) : "none",
			 error ? error->operation : "", error ? error->text : "");
	tn_error_clear(context);
}

static void wrong_pairs_are_errors(void **state)
{
	const int64_t turned[] = {3, 4};
	(void)state;
	open_context("auto");
	tn_array *x = tn_ones(context, TN_F32, 2, matrix);
	tn_array *whole = tn_ones(context, TN_I32, 2, matrix);
	check_error(tn_mse_loss(x, tn_ones(context, TN_F32, 2, turned), 0), TN_SHAPE, "mse_loss",
		    "target: expected the input's shape (4, 3), found (3, 4)");
	check_error(tn_l1_loss(whole, whole, 0), TN_DTYPE, "l1_loss",
		    "input: expected a floating type, found i32");
	check_error(tn_l1_loss(x, tn_ones(context, TN_F64, 2, matrix), 0), TN_DTYPE, "l1_loss",
		    "target: expected f32 like the input");
	check_error(tn_mse_loss(x, x, TN_REDUCTION_BATCH_MEAN), TN_INVALID_ARGUMENT, "mse_loss",
		    "reduction: expected TN_REDUCTION_MEAN, SUM or NONE, found 3");
	check_error(tn_kl_div(x, x, 0, 4), TN_INVALID_ARGUMENT, "kl_div", "BATCH_MEAN, found 4");
	check_error(tn_huber_loss(x, x, 0, 0), TN_INVALID_ARGUMENT, "huber_loss",
		    "delta: expected a finite number above 0, found 0");
	check_error(tn_huber_loss(x, x, INFINITY, 0), TN_INVALID_ARGUMENT, "huber_loss",
		    "delta: expected a finite number above 0, found inf");
	check_error(tn_smooth_l1_loss(x, x, -1, 0), TN_INVALID_ARGUMENT, "smooth_l1_loss",
		    "beta: expected a finite number of at least 0, found -1");
	check_error(tn_smooth_l1_loss(x, x, INFINITY, 0), TN_INVALID_ARGUMENT, "smooth_l1_loss",
		    "beta: expected a finite number of at least 0, found inf");
	check_error(tn_smooth_l1_loss(x, x, NAN, 0), TN_INVALID_ARGUMENT, "smooth_l1_loss",
		    "beta: expected a finite number");
	check_error(tn_hinge_embedding_loss(x, tn_ones(context, TN_U8, 2, matrix), 1, 0), TN_DTYPE,
		    "hinge_embedding_loss", "a signed integer, found u8");
	struct tn_binary_cross_entropy_options binary = {
		.struct_size = sizeof(binary), .pos_weight = tn_ones(context, TN_F32, 2, turned)};
	check_error(tn_binary_cross_entropy_with_logits(x, whole, &binary), TN_SHAPE,
		    "binary_cross_entropy_with_logits",
		    "pos_weight of shape (3, 4) does not broadcast to the input's (4, 3)");
	check_error(tn_cosine_embedding_loss(x, x, whole, 0, 0), TN_SHAPE, "cosine_embedding_loss",
		    "found (4, 3), (4, 3) and (4, 3)");
	tn_context_close(context);
}

static void wrong_labels_and_options_are_errors(void **state)
{
	static const int32_t far[] = {2, 0, 7, 1};
	(void)state;
	open_context("reference!");
	tn_array *x = tn_ones(context, TN_F32, 2, matrix), *labels = labels_of(4, far);
	tn_array *four = tn_ones(context, TN_F32, 1, (int64_t[]){4});
	check_error(tn_cross_entropy(x, labels, NULL), TN_INVALID_ARGUMENT, "cross_entropy",
		    "label 7 at position 2 is out of range: the number of classes is 3");
	check_error(tn_nll_loss(x, labels, NULL), TN_INVALID_ARGUMENT, "nll_loss",
		    "label 7 at position 2");
	check_error(tn_multi_margin_loss(x, labels, 1, 1, NULL, 0), TN_INVALID_ARGUMENT,
		    "multi_margin_loss", "label 7 at position 2");
	check_error(tn_multi_margin_loss(x, labels, 3, 1, NULL, 0), TN_INVALID_ARGUMENT,
		    "multi_margin_loss", "p: expected 1 or 2, found 3");
	check_error(tn_nll_loss(x, tn_astype(labels, TN_I64), NULL), TN_DTYPE, "nll_loss",
		    "labels: expected i32, found i64");
	check_error(tn_cross_entropy(x, labels_of(3, far), NULL), TN_SHAPE, "cross_entropy",
		    "found (4, 3) and (3,)");
	/* Also where their number is right. */
	check_error(tn_cross_entropy(tn_ones(context, TN_F32, 3, (int64_t[]){2, 3, 4}),
				     tn_zeros(context, TN_I32, 2, (int64_t[]){4, 2}), NULL),
		    TN_SHAPE, "cross_entropy", "found (2, 3, 4) and (4, 2)");
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.weight = four;
	check_error(tn_cross_entropy(x, labels, &cross_entropy), TN_SHAPE, "cross_entropy",
		    "weight: expected one for each of 3 classes");
	cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.label_smoothing = 1.5;
	check_error(tn_cross_entropy(x, labels, &cross_entropy), TN_INVALID_ARGUMENT,
		    "cross_entropy", "label_smoothing: expected a number from 0 to 1, found 1.5");
	cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.has_ignore_label = 1;
	check_error(tn_cross_entropy(x, x, &cross_entropy), TN_INVALID_ARGUMENT, "cross_entropy",
		    "has_ignore_label: expected 0");
	check_error(tn_cross_entropy(x, tn_ones(context, TN_F64, 2, matrix), NULL), TN_DTYPE,
		    "cross_entropy", "target: expected probabilities of f32");
	tn_context *own = context;
	open_context("reference!");
	tn_array *three = tn_ones(context, TN_F32, 1, (int64_t[]){3});
	tn_context *other = context;
	context = own;
	cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.weight = three;
	check_error(tn_cross_entropy(x, tn_zeros(context, TN_I32, 1, matrix), &cross_entropy),
		    TN_DEVICE, "cross_entropy", "context");
	struct tn_nll_loss_options nll_loss = tn_nll_loss_defaults();
	nll_loss.weight = three;
	check_error(tn_nll_loss(x, tn_zeros(context, TN_I32, 1, matrix), &nll_loss), TN_DEVICE,
		    "nll_loss", "context");
	tn_context_close(other);
	tn_context_close(context);
}

/* ---- Values ----------------------------------------------------------------------------------*/

static void large_logits_have_finite_losses_and_gradients(void **state)
{
	static const float x[] = {1e30f, -1e30f, 300, -300}, y[] = {1, 0, 1, 0};
	const int64_t n = 4;
	float found[4];
	(void)state;
	open_context("auto");
	tn_array *logits = tn_from_host(context, TN_F32, 1, &n, x);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, logits));
	tn_array *loss = tn_binary_cross_entropy_with_logits(
		logits, tn_from_host(context, TN_F32, 1, &n, y), NULL);
	assert_close(item(loss), 0, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, logits), found, sizeof(found)));
	for (int i = 0; i < 4; i++)
		assert_close(found[i], 0, 0);
	tn_tape_end(tape);
	tn_context_close(context);
}

/* A square would be infinite in f32. */
static const char *const backends[] = {"reference!", "auto", "mock"};

/* The loss and the gradient of logits that share an offset. */
static void loss_at(float offset, int way, double *loss, float gradient[12])
{
	static const int32_t few[] = {2, 0, 1, 1};
	static const float weights[] = {0.5f, 2, 1.25f};
	float x[12];
	for (int i = 0; i < 12; i++)
		x[i] = (float)((i * 7) % 12) / 8 + offset;
	tn_array *logits = tn_from_host(context, TN_F32, 2, matrix, x);
	tn_array *w = tn_from_host(context, TN_F32, 1, (int64_t[]){3}, weights);
	const struct tn_cross_entropy_options options = {.struct_size = sizeof(options),
							 .label_smoothing = way ? 0.25 : 0,
							 .weight = way == 2 ? w : NULL};
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, logits));
	tn_array *y = tn_cross_entropy(logits, labels_of(4, few), &options);
	*loss = item(y);
	assert_ok(tn_tape_backward(tape, y, NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, logits), gradient, 12 * sizeof(float)));
	tn_tape_end(tape);
}

static void logits_that_share_an_offset_keep_their_digits(void **state)
{
	(void)state;
	for (int b = 0; b < 3; b++) {
		context = open_backend(backends[b]);
		for (int way = 0; way < 3; way++) {
			double near, far;
			float g[12], h[12];
			loss_at(0, way, &near, g);
			loss_at(65536, way, &far, h);
			assert_close(far, near, 4e-7);
			/* Without smoothing, backward has the sums of exponentials with the offset,
			 * 0.004 to the last digit. */
			for (int i = 0; i < 12; i++)
				assert_close(h[i], g[i], way ? 1e-7 : 0.004);
		}
		tn_context_close(context);
	}
}

/* One element of each row is read: no array of the input's size is made. */
static void labels_are_picked_without_a_copy_of_the_input(void **state)
{
	enum { ROWS = 32, CLASSES = 4096 };
	int32_t labels[ROWS];
	(void)state;
	for (int b = 0; b < 3; b++) {
		context = open_backend(backends[b]);
		struct tn_device *device = tn_device_current(context);
		for (int i = 0; i < ROWS; i++)
			labels[i] = (i * 1009) % CLASSES;
		const int64_t shape[] = {ROWS, CLASSES};
		tn_array *x = tn_random_normal(context, 2, shape, 0, 1),
			 *known = labels_of(ROWS, labels);
		struct tn_memory_use use = {.struct_size = sizeof(use)};
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_pool_restart_high(device);
		tn_device_get_memory_use(device, &use);
		tn_array *loss = tn_nll_loss(x, known, NULL);
		assert_non_null(loss);
		assert_true(tn_pool_restart_high(device) < use.used + 4 * ROWS * CLASSES);
		assert_ok(tn_tape_backward(tape, loss, NULL));
		float *host = malloc(4 * ROWS * CLASSES), *g = malloc(4 * ROWS * CLASSES);
		assert_ok(tn_to_host(x, host, 4 * ROWS * CLASSES));
		assert_ok(tn_to_host(tn_tape_gradient(tape, x), g, 4 * ROWS * CLASSES));
		double sum = 0;
		for (int i = 0; i < ROWS; i++) {
			sum -= (double)host[i * CLASSES + labels[i]] / ROWS;
			for (int k = 0; k < CLASSES; k++)
				assert_close(g[i * CLASSES + k], k == labels[i] ? -1.0 / ROWS : 0,
					     1e-8);
		}
		assert_close(item(loss), sum, 1e-5);
		free(host);
		free(g);
		tn_tape_end(tape);
		tn_context_close(context);
	}
}

static void large_distances_have_huber_losses(void **state)
{
	(void)state;
	open_context("auto");
	tn_array *x = tn_full(context, TN_F32, 0, NULL, 1e30);
	tn_array *zero = tn_zeros(context, TN_F32, 0, NULL);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *loss = tn_huber_loss(x, zero, 2, TN_REDUCTION_SUM);
	assert_close(item(loss) / 2e30, 1, 1e-6);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	assert_close(item(tn_tape_gradient(tape, x)), 2, 0);
	tn_tape_end(tape);
	tn_context_close(context);
}

static void a_mean_over_ignored_labels_alone_is_nan(void **state)
{
	static const int32_t same[] = {1, 1, 1, 1};
	(void)state;
	open_context("auto");
	tn_array *x = tn_ones(context, TN_F32, 2, matrix), *labels = labels_of(4, same);
	for (int i = 0; i < 2; i++) {
		struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
		cross_entropy.has_ignore_label = 1;
		cross_entropy.ignore_label = 1;
		cross_entropy.label_smoothing = 0.1 * i;
		double loss = item(tn_cross_entropy(x, labels, &cross_entropy));
		assert_true(isnan(loss));
	}
	tn_context_close(context);
}

/* No value of a label means "none is ignored". */
static void the_lowest_label_is_one_like_others(void **state)
{
	static const int32_t lowest[] = {0, INT32_MIN, 2, 1};
	struct tn_cross_entropy_options o = {.struct_size = sizeof(o)};
	(void)state;
	open_context("auto");
	tn_array *x = doubles(2, matrix, twelve), *labels = labels_of(4, lowest);
	for (int smoothed = 0; smoothed < 2; smoothed++) {
		double sum, mean;
		o.label_smoothing = 0.25 * smoothed;
		o.has_ignore_label = 0;
		o.reduction = TN_REDUCTION_MEAN;
		tn_array *loss = tn_cross_entropy(x, labels, &o);
		assert_true(!loss || tn_item(loss, &mean) == TN_INVALID_ARGUMENT);
		assert_non_null(tn_error(context));
		assert_status(tn_error(context)->status, TN_INVALID_ARGUMENT);
		assert_contains(tn_error(context)->text, "label -2147483648");
		tn_error_clear(context);
		o.has_ignore_label = 1;
		o.ignore_label = INT32_MIN;
		mean = item(tn_cross_entropy(x, labels, &o));
		o.reduction = TN_REDUCTION_SUM;
		sum = item(tn_cross_entropy(x, labels, &o));
		assert_close(mean, sum / 3, 1e-14);
	}
	tn_context_close(context);
}

/* The weights of classes are constants, with and without smoothing. */
static void no_gradient_flows_to_the_weights_of_classes(void **state)
{
	static const int32_t rows[] = {2, 0, 1, 1};
	(void)state;
	open_context("auto");
	tn_array *x = doubles(2, matrix, twelve), *labels = labels_of(4, rows);
	tn_array *weight = doubles(1, (const int64_t[]){3}, others);
	for (int smoothed = 0; smoothed < 2; smoothed++) {
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		assert_ok(tn_tape_watch(tape, weight));
		struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
		cross_entropy.weight = weight;
		cross_entropy.label_smoothing = 0.25 * smoothed;
		tn_array *loss = tn_cross_entropy(x, labels, &cross_entropy);
		assert_ok(tn_tape_backward(tape, loss, NULL));
		assert_non_null(tn_tape_gradient(tape, x));
		assert_null(tn_tape_gradient(tape, weight));
		assert_null(tn_error(context));
		tn_tape_end(tape);
	}
	tn_context_close(context);
}

/* beta is 0 in f32. */
static void a_tiny_beta_is_none(void **state)
{
	const float values[] = {0.5F, -2};
	(void)state;
	open_context("auto");
	tn_array *x = tn_from_host(context, TN_F32, 1, (int64_t[]){2}, values);
	tn_array *zeros = tn_zeros(context, TN_F32, 1, (int64_t[]){2});
	assert_true(item(tn_smooth_l1_loss(x, zeros, 1e-60, TN_REDUCTION_SUM)) == 2.5);
	tn_context_close(context);
}

/* One-hot labels of any whole type are those labels. */
static void one_hot_labels_are_labels(void **state)
{
	static const int32_t rows[] = {0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}, labels[] = {2, 0, 1, 1};
	static const tn_dtype dtypes[] = {TN_BOOL, TN_U8, TN_I32, TN_I64, TN_F64};
	(void)state;
	open_context("auto");
	tn_array *x = doubles(2, matrix, twelve);
	double expected = item(tn_cross_entropy(x, labels_of(4, labels), NULL));
	tn_array *one_hot = tn_from_host(context, TN_I32, 2, matrix, rows);
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		assert_close(item(tn_cross_entropy(x, tn_astype(one_hot, dtypes[i]), NULL)),
			     expected, 1e-14);
	tn_context_close(context);
}

/* Losses of rows are f32, and count more rows than f16 can. */
static void narrow_logits_have_losses_of_f32(void **state)
{
	const int64_t shape[] = {5000, 2}, n = 5000;
	(void)state;
	open_context("auto");
	for (tn_dtype dtype = TN_F16; dtype <= TN_BF16; dtype++) {
		tn_array *x = tn_zeros(context, dtype, 2, shape);
		tn_array *labels = tn_zeros(context, TN_I32, 1, &n);
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
		cross_entropy.label_smoothing = 0.1;
		tn_array *loss = tn_cross_entropy(x, labels, &cross_entropy);
		assert_int_equal(tn_array_dtype(loss), TN_F32);
		assert_close(item(loss), log(2.0), 1e-6);
		assert_ok(tn_tape_backward(tape, loss, NULL));
		assert_int_equal(tn_array_dtype(tn_tape_gradient(tape, x)), dtype);
		tn_tape_end(tape);
		loss = tn_nll_loss(tn_full(context, dtype, 2, shape, -0.5), labels, NULL);
		assert_close(item(loss), 0.5, 1e-6);
		tn_array *half = tn_full(context, dtype, 2, shape, 0.5);
		assert_close(item(tn_mse_loss(x, half, TN_REDUCTION_MEAN)), 0.25, 1e-3);
		assert_int_equal(tn_array_dtype(tn_l1_loss(x, half, TN_REDUCTION_NONE)), dtype);
	}
	tn_context_close(context);
}

/* A weight need not be as narrow as the logits. */
static void narrow_logits_have_weights_of_f32(void **state)
{
	static const int32_t labels[] = {2, 0, 1, 1};
	static const float weights[] = {1, 2, 5};
	const int64_t three[] = {3};
	(void)state;
	open_context("auto");
	const struct tn_cross_entropy_options options = {
		.struct_size = sizeof(options),
		.weight = tn_from_host(context, TN_F32, 1, three, weights)};
	tn_array *x = tn_zeros(context, TN_F16, 2, matrix);
	assert_close(item(tn_cross_entropy(x, labels_of(4, labels), &options)), log(3.0), 1e-6);
	tn_context_close(context);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

struct batch {
	tn_array *x, *labels, *weight, *dx, *loss;
};

static void set_batch(const struct batch *b, int n)
{
	float x[12];
	int32_t labels[4];
	for (int i = 0; i < 12; i++)
		x[i] = (float)((i * 7 + n * 5) % 11) / 4 - 1;
	for (int i = 0; i < 4; i++)
		labels[i] = (i + n) % 3;
	assert_ok(tn_assign_host(b->x, x, sizeof(x)));
	assert_ok(tn_assign_host(b->labels, labels, sizeof(labels)));
}

/* Writes the sum of several losses and its gradient. */
static void run_losses(const struct batch *b)
{
	int filled = 0;
	assert_ok(tn_scope_begin(context));
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch_into(tape, b->x, b->dx, &filled));
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.weight = b->weight;
	cross_entropy.label_smoothing = 0.1;
	cross_entropy.has_ignore_label = 1;
	cross_entropy.ignore_label = 1;
	tn_array *entropy = tn_cross_entropy(b->x, b->labels, &cross_entropy);
	struct tn_nll_loss_options nll_loss = tn_nll_loss_defaults();
	nll_loss.weight = b->weight;
	tn_array *likelihood = tn_nll_loss(tn_log_softmax(b->x, 1), b->labels, &nll_loss);
	tn_array *margin = tn_multi_margin_loss(b->x, b->labels, 1, 1, b->weight, 0);
	tn_array *huber = tn_huber_loss(b->x, b->x, 1, TN_REDUCTION_MEAN);
	tn_array *sum = tn_add(tn_add(entropy, likelihood), tn_add(margin, huber));
	if (tn_tape_backward(tape, sum, NULL))
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	tn_tape_end(tape);
	assert_ok(tn_assign(b->loss, sum));
	tn_scope_end(context, NULL);
}

static void losses_can_be_captured(void **state)
{
	static const float weights[] = {0.5f, 2, 1.25f};
	float eager[3][12], replayed[3][12];
	double losses[3];
	tn_graph *graph = NULL;
	(void)state;
	context = open_mock("");
	const struct batch b = {
		.x = tn_zeros(context, TN_F32, 2, matrix),
		.labels = tn_zeros(context, TN_I32, 1, matrix),
		.weight = tn_from_host(context, TN_F32, 1, (const int64_t[]){3}, weights),
		.dx = tn_zeros(context, TN_F32, 2, matrix),
		.loss = tn_zeros(context, TN_F32, 0, NULL)};
	for (int n = 0; n < 3; n++) {
		set_batch(&b, n);
		run_losses(&b);
		losses[n] = item(b.loss);
		assert_ok(tn_to_host(b.dx, eager[n], sizeof(eager[n])));
	}
	assert_ok(tn_capture_begin(context));
	run_losses(&b);
	assert_ok(tn_capture_end(context, &graph));
	for (int n = 0; n < 3; n++) {
		set_batch(&b, n);
		assert_ok(tn_graph_replay(graph));
		assert_close(item(b.loss), losses[n], 0);
		assert_ok(tn_to_host(b.dx, replayed[n], sizeof(replayed[n])));
	}
	assert_memory_equal(eager, replayed, sizeof(eager));
	tn_graph_destroy(graph);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradients_agree_with_differences),
		cmocka_unit_test(the_lowest_label_is_one_like_others),
		cmocka_unit_test(no_gradient_flows_to_the_weights_of_classes),
		cmocka_unit_test(a_tiny_beta_is_none),
		cmocka_unit_test(wrong_pairs_are_errors),
		cmocka_unit_test(wrong_labels_and_options_are_errors),
		cmocka_unit_test(large_logits_have_finite_losses_and_gradients),
		cmocka_unit_test(large_distances_have_huber_losses),
		cmocka_unit_test(a_mean_over_ignored_labels_alone_is_nan),
		cmocka_unit_test(one_hot_labels_are_labels),
		cmocka_unit_test(narrow_logits_have_losses_of_f32),
		cmocka_unit_test(narrow_logits_have_weights_of_f32),
		/* Last: it changes the environment. */
		cmocka_unit_test(logits_that_share_an_offset_keep_their_digits),
		cmocka_unit_test(labels_are_picked_without_a_copy_of_the_input),
		cmocka_unit_test(losses_can_be_captured),
	};
	keep_plugin_path();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(nn_plugin_path);
	return failed;
}
