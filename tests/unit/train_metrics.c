/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Metrics against sums by hand, on the CPU backend, the built-in one and the mock device, whose
 * memory the host cannot read.
 */
#include "mock_fixture.h"

enum { N = 37, C = 4, CASES = 3 };

static tn_context *contexts[CASES];
static tn_context *context; /* of the case */

static int open_all(void **state)
{
	const char *const backends[] = {NULL, "reference!"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tn_context_options o = tn_context_defaults();
		o.backend = backends[i];
		assert_ok(tn_context_open(&o, &contexts[i], NULL));
	}
	contexts[2] = open_mock("");
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	for (int i = 0; i < CASES; i++)
		tn_context_close(contexts[i]);
	return 0;
}

/* ---- Data ------------------------------------------------------------------------------------*/

static float scores[N][C];
static int32_t labels[N];

/* Scores without ties, and labels that mostly have the highest; class 3 is never labelled. */
static void make_scores(void)
{
	for (int i = 0; i < N; i++) {
		for (int c = 0; c < C; c++)
			scores[i][c] = (float)((i * 31 + c * 17 + i * c * 7) % 101) / 50 - 1 +
				       (float)c / 1000;
		labels[i] = i % 3;
	}
}

static int answer(int i)
{
	int best = 0;
	for (int c = 1; c < C; c++)
		best = scores[i][c] > scores[i][best] ? c : best;
	return best;
}

static int rank_of(int i)
{
	int n = 0;
	for (int c = 0; c < C; c++)
		n += scores[i][c] > scores[i][labels[i]];
	return n;
}

/* Adds the samples in batches of 16, 16 and 5. */
static void add_all(tn_metric *metric, tn_dtype dtype)
{
	assert_ok(tn_metric_begin(metric));
	for (int at = 0; at < N; at += 16) {
		const int64_t shape[] = {N - at < 16 ? N - at : 16, C};
		assert_ok(tn_scope_begin(context));
		tn_array *x = tn_from_host(context, TN_F32, 2, shape, scores[at]);
		tn_array *y = tn_from_host(context, TN_I32, 1, shape, labels + at);
		assert_ok(tn_metric_add(metric, x, tn_astype(y, dtype)));
		tn_scope_end(context, NULL);
	}
}

static double value_of(tn_metric *metric)
{
	double value = -1;
	assert_ok(tn_metric_value(metric, &value));
	return value;
}

static tn_metric *metric_of(uint32_t kind)
{
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = kind;
	return tn_metric_create(context, &options);
}

static tn_metric *top_k(int64_t k)
{
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = TN_METRIC_TOP_K;
	options.k = k;
	return tn_metric_create(context, &options);
}

static tn_metric *multi_label(uint32_t kind, uint32_t average, double threshold)
{
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = kind;
	options.is_multi_label = 1;
	options.average = average;
	options.threshold = threshold;
	return tn_metric_create(context, &options);
}

/* Adds all samples to a new metric, twice, and destroys it. */
static double value_over_all(tn_metric *metric, tn_dtype dtype)
{
	assert_non_null(metric);
	add_all(metric, dtype);
	double first = value_of(metric);
	add_all(metric, dtype);
	assert_true(value_of(metric) == first);
	tn_metric_destroy(metric);
	return first;
}

/* ---- Classes ---------------------------------------------------------------------------------*/

static void accuracy_and_top_k_count_samples(void **state)
{
	int right = 0, in_two = 0, counted = 0;
	(void)state;
	make_scores();
	for (int i = 0; i < N; i++) {
		right += answer(i) == labels[i];
		in_two += labels[i] != 1 && rank_of(i) < 2;
		counted += labels[i] != 1;
	}
	assert_true(right > 3 && right < N - 3 && in_two < counted);
	for (int k = 0; k < CASES; k++) {
		context = contexts[k];
		assert_true(value_over_all(metric_of(TN_METRIC_ACCURACY), TN_I32) ==
			    (double)right / N);
		assert_true(value_over_all(metric_of(TN_METRIC_ACCURACY), TN_I64) ==
			    (double)right / N);
		assert_true(value_over_all(top_k(1), TN_U8) == (double)right / N);
		struct tn_metric_options options = tn_metric_defaults();
		options.kind = TN_METRIC_TOP_K;
		options.k = 2;
		options.has_ignore_label = 1;
		options.ignore_label = 1;
		assert_true(value_over_all(tn_metric_create(context, &options), TN_I32) ==
			    (double)in_two / counted);
		assert_true(value_over_all(top_k(4), TN_I32) == 1);
		tn_metric *five = metric_of(TN_METRIC_TOP_K);
		assert_string_equal(tn_metric_name(five), "top5");
		assert_true(value_over_all(five, TN_I32) == 1);
	}
}

/* A NaN is above every other score, and wrong for any k as the label's own. */
static void scores_that_are_nan_are_wrong(void **state)
{
	const float rows[2][3] = {{1, NAN, 0}, {NAN, 2, 1}};
	const int32_t own[] = {1, 1};
	(void)state;
	for (int i = 0; i < 2 * CASES; i++) {
		context = contexts[i / 2];
		tn_metric *top = top_k(i % 2 ? 4 : 2);
		assert_string_equal(tn_metric_name(top), i % 2 ? "top4" : "top2");
		assert_ok(tn_scope_begin(context));
		assert_ok(tn_metric_add(top,
					tn_from_host(context, TN_F32, 2, (int64_t[]){2, 3}, rows),
					tn_from_host(context, TN_I32, 1, (int64_t[]){2}, own)));
		tn_scope_end(context, NULL);
		assert_true(value_of(top) == 0.5);
		tn_metric_destroy(top);
	}
}

static void f1_is_that_of_the_confusion_matrix(void **state)
{
	uint64_t expected[C][C] = {{0}}, found[C][C];
	double macro = 0;
	int right = 0, n = 0;
	(void)state;
	make_scores();
	for (int i = 0; i < N; i++) {
		expected[labels[i]][answer(i)]++;
		right += answer(i) == labels[i];
	}
	for (int c = 0; c < C; c++) {
		double named = 0;
		for (int i = 0; i < C; i++)
			named += (double)(expected[c][i] + expected[i][c]);
		n += named > 0;
		macro += named > 0 ? 2 * (double)expected[c][c] / named : 0;
	}
	assert_int_equal(n, C);
	for (int k = 0; k < CASES; k++) {
		context = contexts[k];
		assert_close(value_over_all(metric_of(TN_METRIC_F1), TN_I32), macro / n, 1e-15);
		struct tn_metric_options options = tn_metric_defaults();
		options.kind = TN_METRIC_F1;
		options.average = TN_F1_MICRO;
		assert_close(value_over_all(tn_metric_create(context, &options), TN_I64),
			     (double)right / N, 1e-15);
		tn_metric *confusion = metric_of(TN_METRIC_CONFUSION);
		assert_status(tn_metric_counts(confusion, found[0], C * C), TN_STATE);
		tn_error_clear(context);
		add_all(confusion, TN_I32);
		assert_ok(tn_metric_counts(confusion, found[0], C * C));
		assert_memory_equal(found, expected, sizeof(found));
		assert_close(value_of(confusion), (double)right / N, 1e-15);
		assert_status(tn_metric_counts(confusion, found[0], C), TN_SHAPE);
		tn_error_clear(context);
		tn_metric_destroy(confusion);
	}
}

/* A class without answers and labels is none of those of the mean. */
static void a_class_that_does_not_occur_is_left_out(void **state)
{
	const float rows[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
	const int32_t own[] = {0, 1, 1};
	(void)state;
	context = contexts[0];
	tn_metric *f1 = metric_of(TN_METRIC_F1);
	double nothing = 7;
	assert_status(tn_metric_value(f1, &nothing), TN_STATE);
	assert_contains(tn_error_text(context), "f1: no samples have been added");
	assert_close(nothing, 7, 0);
	tn_error_clear(context);
	assert_ok(tn_metric_add(f1, tn_from_host(context, TN_F32, 2, (int64_t[]){3, 3}, rows),
				tn_from_host(context, TN_I32, 1, (int64_t[]){3}, own)));
	assert_close(value_of(f1), (2.0 / 3 + 2.0 / 3) / 2, 1e-15);
	tn_metric_destroy(f1);
}

/* Pictures with a class for each pixel, and one-hot targets. */
static void pixels_and_one_hot_targets_are_samples(void **state)
{
	const float pixels[2][3][2] = {{{1, 0}, {0, 2}, {0, 0}}, {{0, 1}, {0, 0}, {1, 0}}};
	const int32_t own[2][2] = {{0, 1}, {2, 2}};
	uint8_t hot[2][3][2] = {{{0}}};
	const int64_t shape[] = {2, 3, 2}, short_shape[] = {2, 2};
	(void)state;
	for (int i = 0; i < 4; i++)
		hot[i / 2][own[i / 2][i % 2]][i % 2] = 1;
	for (int k = 0; k < CASES; k++) {
		context = contexts[k];
		for (uint32_t kind = TN_METRIC_ACCURACY; kind <= TN_METRIC_CONFUSION; kind++) {
			struct tn_metric_options options = tn_metric_defaults();
			options.kind = kind;
			if (kind == TN_METRIC_TOP_K)
				options.k = 1;
			if (kind == TN_METRIC_F1)
				options.average = TN_F1_MICRO;
			tn_metric *metric = tn_metric_create(context, &options);
			assert_ok(tn_scope_begin(context));
			tn_array *x = tn_from_host(context, TN_F32, 3, shape, pixels);
			assert_ok(tn_metric_add(
				metric, x, tn_from_host(context, TN_I32, 2, short_shape, own)));
			assert_close(value_of(metric), 0.75, 1e-15);
			assert_ok(tn_metric_begin(metric));
			assert_ok(tn_metric_add(metric, x,
						tn_from_host(context, TN_U8, 3, shape, hot)));
			assert_close(value_of(metric), 0.75, 1e-15);
			tn_scope_end(context, NULL);
			tn_metric_destroy(metric);
		}
	}
}

static void samples_may_have_any_number_of_labels(void **state)
{
	const float logits[3][2] = {{1, -1}, {2, 3}, {-1, 0.5f}};
	const float given[3][2] = {{1, 1}, {1, 0}, {0, 1}};
	const int64_t shape[] = {3, 2};
	(void)state;
	for (int k = 0; k < CASES; k++) {
		context = contexts[k];
		tn_metric *metrics[] = {
			multi_label(TN_METRIC_ACCURACY, TN_F1_MACRO, 0),
			multi_label(TN_METRIC_F1, TN_F1_MACRO, 0),
			multi_label(TN_METRIC_F1, TN_F1_MICRO, 0),
			multi_label(TN_METRIC_ACCURACY, TN_F1_MACRO, 2.5),
		};
		/* Class 0: 2 right of 2 answers and 2 labels; class 1: 1 of 2 and 2. */
		const double expected[] = {4.0 / 6, (1 + 0.5) / 2, 6.0 / 8, 1.0 / 6};
		for (int i = 0; i < 4; i++) {
			assert_ok(tn_scope_begin(context));
			assert_ok(tn_metric_add(metrics[i],
						tn_from_host(context, TN_F32, 2, shape, logits),
						tn_from_host(context, TN_F32, 2, shape, given)));
			tn_scope_end(context, NULL);
			assert_close(value_of(metrics[i]), expected[i], 1e-15);
			tn_metric_destroy(metrics[i]);
		}
	}
}

/* ---- Numbers ---------------------------------------------------------------------------------*/

/* Targets around 1000, where sums of squares in f32 would lose what R2 is about. */
static void errors_of_numbers_are_exact(void **state)
{
	enum { ROWS = 6000, BATCH = 100 };
	static float outputs[ROWS][2], targets[ROWS][2];
	double mse = 0, mae = 0, mean[2] = {0}, errors[2] = {0}, all[2] = {0}, r2 = 0;
	(void)state;
	for (int i = 0; i < 2 * ROWS; i++) {
		targets[i / 2][i % 2] = 1000 + (float)(i * 37 % 101) / 64;
		outputs[i / 2][i % 2] = targets[i / 2][i % 2] + (float)(i % 7) / 32;
		double d = outputs[i / 2][i % 2] - targets[i / 2][i % 2];
		mse += d * d / (2 * ROWS);
		mae += fabs(d) / (2 * ROWS);
		errors[i % 2] += d * d;
		mean[i % 2] += targets[i / 2][i % 2] / (double)ROWS;
	}
	for (int i = 0; i < 2 * ROWS; i++) {
		double d = targets[i / 2][i % 2] - mean[i % 2];
		all[i % 2] += d * d;
	}
	for (int i = 0; i < 2; i++)
		r2 += (1 - errors[i] / all[i]) / 2;
	const double expected[] = {mse, mae, r2};
	for (int k = 0; k < CASES; k++) {
		context = contexts[k];
		for (uint32_t i = 0; i < 3; i++) {
			tn_metric *metric = metric_of(TN_METRIC_MSE + i);
			for (int at = 0; at < ROWS; at += BATCH) {
				const int64_t shape[] = {BATCH, 2};
				assert_ok(tn_scope_begin(context));
				assert_ok(tn_metric_add(
					metric,
					tn_from_host(context, TN_F32, 2, shape, outputs[at]),
					tn_from_host(context, TN_F32, 2, shape, targets[at])));
				tn_scope_end(context, NULL);
			}
			assert_close(value_of(metric), expected[i], 2e-7 * expected[i]);
			tn_metric_destroy(metric);
		}
	}
}

static void a_column_of_equal_targets_is_right_or_wrong(void **state)
{
	const double outputs[2][2] = {{3, 5}, {3, 5}}, targets[2][2] = {{3, 4}, {3, 4}};
	const int64_t shape[] = {2, 2};
	(void)state;
	context = contexts[0];
	tn_metric *r2 = metric_of(TN_METRIC_R2);
	assert_int_equal(tn_metric_is_rising(r2), 1);
	assert_ok(tn_metric_add(r2, tn_from_host(context, TN_F64, 2, shape, outputs),
				tn_from_host(context, TN_F64, 2, shape, targets)));
	assert_true(value_of(r2) == 0.5);
	/* The next batches are of the same dtype. */
	assert_status(tn_metric_add(r2, tn_ones(context, TN_F32, 2, shape),
				    tn_ones(context, TN_F32, 2, shape)),
		      TN_DTYPE);
	tn_error_clear(context);
	tn_metric_destroy(r2);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

/* The mock device captures: a metric may be part of a step, and counts its replays. */
static void metrics_count_replays(void **state)
{
	double once[TN_METRIC_R2 + 1];
	(void)state;
	context = contexts[2];
	const int64_t shape[] = {4, 3};
	tn_array *x = tn_random_normal(context, 2, shape, 0, 1);
	tn_array *y = tn_random_normal(context, 2, shape, 0, 1);
	for (uint32_t kind = 0; kind <= TN_METRIC_R2; kind++) {
		tn_graph *graph = NULL;
		tn_metric *metric = metric_of(kind);
		if (kind == TN_METRIC_F1) { /* its arrays come with the first batch */
			assert_ok(tn_capture_begin(context));
			assert_status(tn_metric_add(metric, x, y), TN_NOT_CAPTURABLE);
			assert_status(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
			tn_error_clear(context);
			tn_metric_begin(metric);
		}
		assert_ok(tn_metric_add(metric, x, y));
		once[kind] = value_of(metric);
		assert_ok(tn_metric_begin(metric));
		assert_ok(tn_capture_begin(context));
		if (tn_metric_add(metric, x, y))
			fail_msg("%s: %s", tn_metric_name(metric), tn_error(context)->text);
		assert_ok(tn_capture_end(context, &graph));
		assert_true(isnan(value_of(metric)));
		for (int i = 0; i < 3; i++)
			assert_ok(tn_graph_replay(graph));
		assert_close(value_of(metric), once[kind], 1e-6);
		tn_graph_destroy(graph);
		tn_metric_destroy(metric);
	}
	tn_array_destroy(x);
	tn_array_destroy(y);
}

/* ---- A class that a program defines -----------------------------------------------------------*/

struct largest {
	tn_array *value;
	int fails;
};

static void *begin_largest(void *user, tn_context *own)
{
	struct largest *largest = user;
	largest->value = tn_keep(tn_zeros(own, TN_F32, 0, NULL));
	return largest;
}

static tn_status add_largest(void *state, const tn_array *output, const tn_array *target)
{
	const struct largest *largest = state;
	(void)target;
	if (largest->fails)
		return TN_LIMIT;
	return tn_assign(largest->value,
			 tn_maximum(largest->value, tn_max(output, TN_ALL_AXES, NULL, 0)));
}

static tn_status value_of_largest(void *state, double *value)
{
	const struct largest *largest = state;
	return tn_item(largest->value, value);
}

static void end_largest(void *state)
{
	struct largest *largest = state;
	tn_array_destroy(largest->value);
}

static void a_class_of_ones_own_is_a_metric(void **state)
{
	struct largest largest = {0};
	struct tn_metric_class class_ = {.struct_size = sizeof(class_),
					 .name = "largest",
					 .is_rising = 2,
					 .user = &largest,
					 .begin = begin_largest,
					 .add = add_largest,
					 .value = value_of_largest,
					 .end = end_largest};
	double expected = 0;
	(void)state;
	make_scores();
	for (int i = 0; i < N; i++)
		expected = fmax(expected, (double)scores[i][answer(i)]);
	for (int k = 0; k < CASES; k++) {
		context = contexts[k];
		tn_metric *metric = tn_metric_custom(context, &class_);
		assert_string_equal(tn_metric_name(metric), "largest");
		assert_int_equal(tn_metric_is_rising(metric), 1);
		add_all(metric, TN_I32);
		assert_true(value_of(metric) == expected);
		largest.fails = 1;
		tn_array *x = tn_zeros(context, TN_F32, 0, NULL);
		assert_status(tn_metric_add(metric, x, x), TN_LIMIT);
		assert_contains(tn_error(context)->text, "add of the class largest failed: LIMIT");
		tn_error_clear(context);
		tn_array_destroy(x);
		largest.fails = 0;
		tn_metric_destroy(metric);
	}
	class_.value = NULL;
	assert_null(tn_metric_custom(context, &class_));
	assert_contains(tn_error(context)->text, "found no value");
	tn_error_clear(context);
	assert_null(tn_metric_custom(context, NULL));
	assert_contains(tn_error(context)->text, "found no name");
	tn_error_clear(context);
}

/* ---- Refusals --------------------------------------------------------------------------------*/

/* Refuses the options, and resets them. */
static void refuse(struct tn_metric_options *options, const char *text)
{
	assert_null(tn_metric_create(context, options));
	assert_int_equal(tn_error(context)->status, TN_INVALID_ARGUMENT);
	assert_contains(tn_error(context)->text, text);
	tn_error_clear(context);
	*options = tn_metric_defaults();
}

static void what_does_not_fit_is_refused(void **state)
{
	struct tn_metric_options options = tn_metric_defaults();
	(void)state;
	context = contexts[0];
	options.kind = 7;
	refuse(&options, "expected TN_METRIC_..., found 7");
	options.kind = TN_METRIC_ACCURACY;
	options.k = 3;
	refuse(&options, "accuracy: expected the default of k");
	options.kind = TN_METRIC_TOP_K;
	options.k = 0;
	refuse(&options, "k of 1 or more, found 0");
	options.kind = TN_METRIC_TOP_K;
	options.is_multi_label = 1;
	refuse(&options, "the default of is_multi_label");
	options.kind = TN_METRIC_MSE;
	options.average = 1;
	refuse(&options, "the default of average");
	options.kind = TN_METRIC_F1;
	options.average = 2;
	refuse(&options, "TN_F1_MICRO, found 2");
	options.kind = TN_METRIC_F1;
	options.threshold = 1;
	refuse(&options, "threshold, which it does not use without");
	options.kind = TN_METRIC_MAE;
	options.has_ignore_label = 1;
	refuse(&options, "the default of has_ignore_label");
	options.name = "";
	refuse(&options, "name: expected a text of UTF-8, found an empty one");
	options.name = "pr\xe9"
		       "cision";
	refuse(&options, "name: expected a text of UTF-8, found other bytes");
	tn_metric *accuracy = metric_of(TN_METRIC_ACCURACY), *f1 = metric_of(TN_METRIC_F1);
	tn_metric *mse = metric_of(TN_METRIC_MSE);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){3, 2});
	tn_array *wide = tn_ones(context, TN_F32, 2, (int64_t[]){3, 4});
	tn_array *three = tn_ones(context, TN_I32, 1, (int64_t[]){3});
	tn_array *four = tn_ones(context, TN_I32, 1, (int64_t[]){4});
	assert_status(tn_metric_add(accuracy, x, four), TN_SHAPE);
	assert_contains(tn_error(context)->text, "labels (N, ...)");
	tn_error_clear(context);
	assert_status(tn_metric_add(accuracy, three, three), TN_SHAPE);
	tn_error_clear(context);
	assert_status(tn_metric_add(accuracy, tn_astype(x, TN_I32), three), TN_DTYPE);
	tn_error_clear(context);
	assert_status(tn_metric_add(accuracy, x, tn_astype(three, TN_F32)), TN_DTYPE);
	tn_error_clear(context);
	assert_status(tn_metric_add(mse, x, wide), TN_SHAPE);
	assert_contains(tn_error(context)->text, "found shapes (3, 2) and (3, 4)");
	tn_error_clear(context);
	assert_ok(tn_metric_add(f1, x, three));
	assert_status(tn_metric_add(f1, wide, three), TN_SHAPE);
	assert_contains(tn_error(context)->text, "2 classes or columns, as before, found 4");
	tn_error_clear(context);
	assert_status(tn_metric_add(NULL, x, three), TN_INVALID_ARGUMENT);
	tn_metric_destroy(accuracy);
	tn_metric_destroy(f1);
	tn_metric_destroy(mse);
	tn_metric_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accuracy_and_top_k_count_samples),
		cmocka_unit_test(scores_that_are_nan_are_wrong),
		cmocka_unit_test(f1_is_that_of_the_confusion_matrix),
		cmocka_unit_test(a_class_that_does_not_occur_is_left_out),
		cmocka_unit_test(pixels_and_one_hot_targets_are_samples),
		cmocka_unit_test(samples_may_have_any_number_of_labels),
		cmocka_unit_test(errors_of_numbers_are_exact),
		cmocka_unit_test(a_column_of_equal_targets_is_right_or_wrong),
		cmocka_unit_test(metrics_count_replays),
		cmocka_unit_test(a_class_of_ones_own_is_a_metric),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
