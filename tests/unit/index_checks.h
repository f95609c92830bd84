/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indices and labels out of range, for tests on several backends: each is reported once, with the
 * operation's name, and the context is usable afterwards.
 */
#ifndef TN_TESTS_INDEX_CHECKS_H
#define TN_TESTS_INDEX_CHECKS_H

#include <tenon/tenon.h>

#include "check.h"

/* When an operation reports. */
enum report { AT_ONCE, LATER, EITHER };

static inline tn_array *index_list(tn_context *context, tn_dtype dtype, int n, const int64_t *from)
{
	int32_t narrow[16];
	int64_t shape[] = {n};
	for (int i = 0; i < n; i++)
		narrow[i] = (int32_t)from[i];
	return tn_from_host(context, dtype, 1, shape,
			    dtype == TN_I64 ? (const void *)from : narrow);
}

/* The context keeps that error; clears it. */
static inline void check_index_error(tn_context *context, const char *operation, const char *words)
{
	const struct tn_error_info *error = tn_error(context);
	assert_non_null(error);
	assert_status(error->status, TN_INVALID_ARGUMENT);
	assert_string_equal(error->operation, operation);
	assert_contains(error->text, words);
	tn_error_clear(context);
}

/* `made` is the result of an operation with a value out of range.  The host waits by reading
 * `probe`, an array of one element. */
static inline void check_reported(tn_context *context, const tn_array *made, enum report report,
				  const tn_array *probe, const char *operation, const char *words)
{
	double value = 7;
	if (report == LATER)
		assert_non_null(made);
	if (report == AT_ONCE)
		assert_null(made);
	if (made) {
		assert_null(tn_error(context));
		assert_status(tn_item(probe, &value), TN_INVALID_ARGUMENT);
		assert_true(value == 7);
	}
	check_index_error(context, operation, words);
	assert_ok(tn_item(probe, &value));
	assert_true(value == 1);
}

/* The mean loss of the rows whose label is not `ignored`. */
static inline tn_array *cross_entropy_without(const tn_array *logits, const tn_array *labels,
					      int32_t ignored)
{
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.has_ignore_label = 1;
	cross_entropy.ignore_label = ignored;
	return tn_cross_entropy(logits, labels, &cross_entropy);
}

/* NULL where the function failed. */
static inline const tn_array *unless(tn_status status, const tn_array *a)
{
	return status ? NULL : a;
}

/* The functions of <tenon/index.h> on a (4, 3), with indices that are out of range. */
static inline void check_term_errors(tn_context *context, enum report report, tn_array *a,
				     const tn_array *probe)
{
	tn_array *high = index_list(context, TN_I32, 3, (int64_t[]){0, 3, 1});
	tn_array *low = index_list(context, TN_I64, 3, (int64_t[]){-1, -5, 2});
	tn_array *narrow = tn_astype(low, TN_I8);
	tn_array *far = index_list(context, TN_I64, 3, (int64_t[]){0, 12, -1});
	const tn_array *choices[] = {probe, probe, probe};
	check_reported(context, tn_index(a, 2, (struct tn_index_term[]){TN_ALL, TN_BY(high)}),
		       report, probe, "index", "index 3");
	check_reported(context,
		       tn_index(a, 2, (struct tn_index_term[]){TN_BY(high), TN_BY(narrow)}), report,
		       probe, "index", "axis 1 has length 3");
	check_reported(context, unless(tn_index_put(a, 1, &TN_BY(narrow), probe, TN_PUT_ASSIGN), a),
		       report, probe, "index_put", "index -5");
	check_reported(context, unless(tn_index_put(a, 1, &TN_BY(low), probe, TN_PUT_ADD), a),
		       report, probe, "index_put", "axis 0 has length 4");
	check_reported(context, unless(tn_put(a, far, probe, TN_RAISE), a), report, probe, "put",
		       "a has size 12");
	check_reported(context, tn_take(a, narrow, 0, TN_RAISE), report, probe, "take", "index -5");
	check_reported(context, tn_choose(high, 3, choices, TN_RAISE), report, probe, "choose",
		       "the number of choices is 3");
	check_reported(context, tn_compress(tn_ones(context, TN_BOOL, 1, (int64_t[]){4}), a, 1),
		       report, probe, "compress", "element 3");
	/* Few elements of many, along two axes with a third, turned round, between them. */
	tn_array *many = tn_ones(context, TN_F32, 3, (int64_t[]){4, 3, 4});
	tn_array *nine = index_list(context, TN_I64, 1, (int64_t[]){9});
	const struct tn_index_term terms[] = {TN_BY(nine), TN_SLICE(TN_NONE, TN_NONE, -1),
					      TN_BY(nine)};
	check_reported(
		context,
		unless(tn_index_put(many, 3, terms, tn_add(probe, probe), TN_PUT_ASSIGN), many),
		report, probe, "index_put", "index 9");
	/* Nothing but ones was there, and nothing else was written. */
	double sum = 0;
	assert_ok(tn_item(tn_sum(tn_minimum(a, probe), TN_ALL_AXES, NULL, 0), &sum));
	assert_true(sum == 12);
	assert_ok(tn_item(tn_sum(many, TN_ALL_AXES, NULL, 0), &sum));
	assert_true(sum == 48);
}

/* takes: when tn_take and tn_take_along_axis report; losses: tn_cross_entropy. */
static inline void check_index_errors(tn_context *context, enum report takes, enum report losses)
{
	const int64_t one[] = {1}, shape[] = {4, 3}, wide = INT64_C(1) << 40;
	tn_array *probe = tn_ones(context, TN_F32, 1, one);
	tn_array *a = tn_ones(context, TN_F32, 2, shape);
	double sum = 0;

	/* Every value in range, from both ends. */
	tn_array *good = index_list(context, TN_I64, 4, (int64_t[]){-4, 3, 0, -1});
	assert_ok(tn_item(tn_sum(tn_take(a, good, 0, TN_RAISE), TN_ALL_AXES, NULL, 0), &sum));
	assert_true(sum == 12);

	tn_array *high = index_list(context, TN_I32, 5, (int64_t[]){0, 1, 4, 2, 3});
	check_reported(context, tn_take(a, high, 0, TN_RAISE), takes, probe, "take", "index 4");
	check_reported(context, tn_take(a, high, 1, TN_RAISE), takes, probe, "take",
		       "has length 3");
	tn_array *low = index_list(context, TN_I64, 3, (int64_t[]){-3, -4, -5});
	check_reported(context, tn_take(a, low, 0, TN_RAISE), takes, probe, "take", "index -5");
	low = index_list(context, TN_I64, 2, (int64_t[]){0, -wide});
	check_reported(context, tn_take(a, low, 1, TN_RAISE), takes, probe, "take",
		       "index -1099511627776");
	/* A view: every second index, turned round. */
	check_reported(context, tn_take(a, tn_slice(high, 0, 4, -6, -2), 0, TN_RAISE), takes, probe,
		       "take", "has length 4");
	/* The others of that list are in range. */
	assert_non_null(tn_take(a, tn_slice(high, 0, 1, 5, 2), 0, TN_RAISE));
	assert_ok(tn_item(probe, &sum));
	tn_array *scalar = tn_full(context, TN_I32, 0, NULL, 9);
	check_reported(context, tn_take(a, scalar, 0, TN_RAISE), takes, probe, "take", "index 9");
	/* An axis without elements has no index. */
	tn_array *nothing = tn_zeros(context, TN_F32, 1, (int64_t[]){0});
	assert_null(tn_take(nothing, scalar, 0, TN_RAISE));
	check_index_error(context, "take", "the axis has length 0");

	tn_array *turned = tn_transpose(tn_full(context, TN_I64, 2, (int64_t[]){3, 4}, -5), NULL);
	check_reported(context, tn_take_along_axis(a, turned, 0), takes, probe, "take_along_axis",
		       "index -5");

	check_term_errors(context, takes, tn_ones(context, TN_F32, 2, shape), probe);

	/* Labels have no negative numbers; one number may be ignored. */
	tn_array *labels = index_list(context, TN_I32, 4, (int64_t[]){0, 2, -7, 1});
	assert_ok(tn_item(cross_entropy_without(a, labels, -7), &sum));
	assert_close(sum, 1.0986123, 1e-5);
	labels = index_list(context, TN_I32, 4, (int64_t[]){0, 2, 255, 1});
	assert_ok(tn_item(cross_entropy_without(a, labels, 255), &sum));
	assert_close(sum, 1.0986123, 1e-5);
	labels = index_list(context, TN_I32, 4, (int64_t[]){0, 2, -7, 1});
	check_reported(context, tn_cross_entropy(a, labels, NULL), losses, probe, "cross_entropy",
		       "label -7");
	check_reported(context, cross_entropy_without(a, labels, 2), losses, probe, "cross_entropy",
		       "label -7");
	labels = index_list(context, TN_I32, 4, (int64_t[]){0, 3, 1, 2});
	check_reported(context, cross_entropy_without(a, labels, -7), losses, probe,
		       "cross_entropy", "label 3");
	check_reported(context, cross_entropy_without(a, labels, -7), losses, probe,
		       "cross_entropy", "the number of classes is 3");
}

/* A step of training with a label out of range, after one without. */
static inline void check_label_in_training(tn_context *context, enum report losses)
{
	const int64_t shape[] = {4, 3};
	tn_array *probe = tn_ones(context, TN_F32, 0, NULL);
	tn_array *x = tn_ones(context, TN_F32, 2, shape);
	tn_array *labels = index_list(context, TN_I32, 4, (int64_t[]){0, 2, 1, 1});
	for (int turn = 0; turn < 3; turn++) {
		const int32_t numbers[] = {0, turn == 1 ? 3 : 2, 1, 1};
		assert_ok(tn_assign_host(labels, numbers, sizeof(numbers)));
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		tn_array *loss = tn_cross_entropy(tn_multiply(x, x), labels, NULL);
		if (loss)
			assert_ok(tn_tape_backward(tape, loss, NULL));
		if (turn == 1) {
			check_reported(context, loss, losses, probe, "cross_entropy", "label 3");
		} else {
			double value;
			assert_ok(tn_item(loss, &value));
			assert_close(value, 1.0986123, 1e-5);
		}
		tn_tape_end(tape);
	}
}

/* A label out of range that appears in a later replay; the first check of the context is a captured
 * one. */
static inline void check_label_in_replay(tn_context *context)
{
	static const int32_t good[] = {0, 2, 1, 1}, bad[] = {0, 2, 5, -1};
	tn_graph *graph = NULL;
	double value = 7;
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){4, 3});
	tn_array *labels = tn_from_host(context, TN_I32, 1, (int64_t[]){4}, bad);
	assert_ok(tn_capture_begin(context));
	/* Memory that replays write, and that the captured work has given back. */
	tn_array_destroy(tn_add(x, x));
	tn_array *loss = tn_cross_entropy(x, labels, NULL);
	assert_ok(tn_capture_end(context, &graph));
	/* The captured work has not run. */
	assert_ok(tn_synchronize(context));
	for (int turn = 0; turn < 4; turn++) {
		assert_ok(tn_assign_host(labels, turn == 2 ? bad : good, sizeof(good)));
		assert_ok(tn_graph_replay(graph));
		if (turn == 2) {
			value = 7;
			assert_status(tn_item(loss, &value), TN_INVALID_ARGUMENT);
			assert_true(value == 7);
			check_index_error(context, "cross_entropy", "label 5");
			assert_ok(tn_synchronize(context));
			/* A later replay without it does not hide it. */
			assert_ok(tn_graph_replay(graph));
			assert_ok(tn_assign_host(labels, good, sizeof(good)));
			assert_ok(tn_graph_replay(graph));
			assert_status(tn_synchronize(context), TN_INVALID_ARGUMENT);
			check_index_error(context, "cross_entropy", "label 5");
			assert_ok(tn_synchronize(context));
		} else {
			assert_ok(tn_item(loss, &value));
			assert_close(value, 1.0986123, 1e-5);
		}
	}
	tn_graph_destroy(graph);
}

#endif
