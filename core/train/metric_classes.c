/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Accuracy, top-k accuracy, F1 and the confusion matrix, as sums on the device.
 */
#include "train/metric_classes.h"

#include <math.h>

#include "array/shape.h"
#include "base/dtype.h"
#include "ops/formula.h"

static const char operation[] = "metric";

/* ---- Checks ----------------------------------------------------------------------------------*/

static int is_each_label(const tn_array *output, const tn_array *target)
{
	return tn_shape_equal(output->rank, output->shape, target->rank, target->shape);
}

static tn_status check(const struct tn_metric_sums *sums, const tn_array *output,
		       const tn_array *target)
{
	struct tn_runtime *rt = output->runtime;
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	const char *name = sums->kind->name;
	int fits = output->rank >= 2 && target->rank == output->rank - 1 &&
		   target->shape[0] == output->shape[0];
	for (int i = 1; fits && i < target->rank; i++)
		fits = target->shape[i] == output->shape[i + 1];
	if (output->rank < 2 ||
	    (sums->options->is_multi_label ? !is_each_label(output, target)
					   : !fits && !is_each_label(output, target)))
		return tn_runtime_fail(
			rt, TN_SHAPE, operation,
			"%s: expected an output (N, C, ...) and %s, found shapes %s "
			"and %s",
			name,
			sums->options->is_multi_label ? "a target of its shape"
						      : "labels (N, ...), or a target of its shape",
			tn_array_text(output, expected), tn_array_text(target, found));
	if (!tn_is_floating(output->dtype))
		return tn_runtime_fail(rt, TN_DTYPE, operation,
				       "%s: expected a floating output, found %s", name,
				       tn_dtype_name(output->dtype));
	if (!is_each_label(output, target) && !tn_is_integer(target->dtype))
		return tn_runtime_fail(rt, TN_DTYPE, operation,
				       "%s: expected labels of integers, found %s", name,
				       tn_dtype_name(target->dtype));
	return TN_OK;
}

/* The label of each sample. */
static const tn_array *labels_of(const tn_array *output, const tn_array *target)
{
	return is_each_label(output, target) ? tn_argmax(target, 1, 0) : target;
}

/* The label that does not count; otherwise one that there is not. */
static tn_number ignored_label(const struct tn_metric_sums *sums)
{
	const struct tn_metric_options *o = sums->options;
	return tn_number_i64(o->has_ignore_label ? o->ignore_label : INT64_MIN);
}

/* Of answers and labels, with the scalar `ignored`. */
static tn_array *map_labels(const struct tn_formula *formula, const struct tn_metric_sums *sums,
			    const tn_array *answers, const tn_array *labels)
{
	const tn_number ignored = ignored_label(sums);
	return tn_formula_map_number(formula, (const tn_array *[]){answers, labels}, &ignored);
}

static tn_array *sum_all(const tn_array *array)
{
	return tn_sum(array, TN_ALL_AXES, NULL, 0);
}

/* ---- Fractions: right answers, and all -------------------------------------------------------*/

/* `hits` is true where the answer is right. */
static tn_status add_hits(struct tn_metric_sums *sums, const tn_array *hits, const tn_array *labels)
{
	static const struct tn_formula all = {
		.text = "right = right + batch_right; counted = counted + batch_size",
		.inputs = "right counted batch_right",
		.scalars = "batch_size",
		.outputs = "right counted",
		.scalar_dtype = TN_I64};
	static const struct tn_formula some = {
		.text = "right = right + batch_right; counted = counted + batch_counted",
		.inputs = "right counted batch_right batch_counted",
		.outputs = "right counted"};
	static const struct tn_formula is_counted = {
		.text = "z = answer != ignored", .inputs = "answer label", .scalars = "ignored"};
	if (!hits || !labels)
		return tn_runtime_of(sums->context)->error.status;
	const tn_array *right = sum_all(hits);
	double size = (double)labels->size;
	if (!sums->options->has_ignore_label)
		return tn_metric_sums_add(sums, &all, 1, &right, &size);
	const tn_array *counted = sum_all(map_labels(&is_counted, sums, labels, labels));
	return tn_metric_sums_add(sums, &some, 2, (const tn_array *[]){right, counted}, NULL);
}

static double fraction(const struct tn_metric_sums *sums, double *const *arrays)
{
	(void)sums;
	return arrays[1][0] > 0 ? arrays[0][0] / arrays[1][0] : NAN;
}

/* Of outputs and targets, with the scalar `threshold`. */
static tn_array *answered(const struct tn_formula *formula, const struct tn_metric_sums *sums,
			  const tn_array *output, const tn_array *target)
{
	const tn_number threshold = tn_number_f64(sums->options->threshold);
	return tn_formula_map_number(formula, (const tn_array *[]){output, target}, &threshold);
}

static tn_status add_accuracy(struct tn_metric_sums *sums, const tn_array *output,
			      const tn_array *target)
{
	static const struct tn_formula is_equal = {
		.text = "z = (output > threshold) == (f32(target) > 0.5)",
		.inputs = "output target",
		.scalars = "threshold"};
	static const struct tn_formula is_right = {
		.text = "z = answer == label && label != ignored",
		.inputs = "answer label",
		.scalars = "ignored"};
	tn_status status = check(sums, output, target);
	if (status)
		return status;
	if (sums->options->is_multi_label)
		return add_hits(sums, answered(&is_equal, sums, output, target), target);
	const tn_array *labels = labels_of(output, target);
	return add_hits(sums, map_labels(&is_right, sums, tn_argmax(output, 1, 0), labels), labels);
}

const struct tn_metric_kind tn_metric_accuracy = {
	.name = "accuracy",
	.is_rising = 1,
	.n_arrays = 2,
	.add = add_accuracy,
	.value = fraction,
};

/* The number of scores that are not at most the label's is compared with k: a NaN is not.  If the
 * label's is NaN, none is, also where k is above the number of classes. */
static tn_status add_top_k(struct tn_metric_sums *sums, const tn_array *output,
			   const tn_array *target)
{
	static const struct tn_formula score_of_label = {
		.text = "z = index(1) == label ? score : 0", .inputs = "score label"};
	static const struct tn_formula is_higher = {.text = "z = !(score <= own)",
						    .inputs = "score own"};
	static const struct tn_formula is_right = {
		.text = "z = higher < k && label >= 0 && label < n && label != ignored",
		.inputs = "higher label",
		.scalars = "k n ignored"};
	static const int classes = 1;
	tn_status status = check(sums, output, target);
	if (status)
		return status;
	const tn_array *labels = labels_of(output, target);
	const tn_array *column = labels ? tn_expand_dims(labels, 1) : NULL;
	const tn_array *own = tn_sum(
		tn_formula_map_number(&score_of_label, (const tn_array *[]){output, column}, NULL),
		1, &classes, 1);
	const tn_array *higher =
		tn_sum(tn_formula_map_number(&is_higher, (const tn_array *[]){output, own}, NULL),
		       1, &classes, 1);
	const int64_t n = output->shape[1], k = sums->options->k < n ? sums->options->k : n;
	const tn_number limits[] = {tn_number_i64(k), tn_number_i64(n), ignored_label(sums)};
	return add_hits(
		sums,
		tn_formula_map_number(&is_right, (const tn_array *[]){higher, column}, limits),
		labels);
}

const struct tn_metric_kind tn_metric_top_k = {
	.name = "top k",
	.is_rising = 1,
	.n_arrays = 2,
	.add = add_top_k,
	.value = fraction,
};

/* ---- F1: right answers, answers and labels of each class -------------------------------------*/

/* The rows of samples with one label: columns of answers and labels, and a row with an element for
 * each class, whose index is all that counts. */
struct rows {
	const tn_array *answers;
	const tn_array *labels;
	const tn_array *classes;
};

static struct rows rows_of(const tn_array *output, const tn_array *target)
{
	const int64_t column[] = {-1, 1}, row[] = {1, output->shape[1]};
	struct rows rows = {
		.answers = tn_reshape(tn_argmax(output, 1, 0), 2, column),
		.labels = tn_reshape(labels_of(output, target), 2, column),
		.classes = tn_zeros(tn_array_context(output), TN_BOOL, 2, row),
	};
	return rows;
}

/* Of answers, labels and the row, with the scalar `ignored`. */
static tn_array *rows_map(const struct tn_formula *formula, const struct rows *rows,
			  tn_number ignored)
{
	return tn_formula_map_number(
		formula, (const tn_array *[]){rows->answers, rows->labels, rows->classes},
		&ignored);
}

/* Sums over all axes but that of the classes. */
struct f1_sums {
	tn_array *right, *answers, *labels;
};

static struct f1_sums f1_of_multi_label(const struct tn_metric_sums *sums, const tn_array *output,
					const tn_array *target)
{
	static const struct tn_formula is_right = {
		.text = "z = output > threshold && f32(target) > 0.5",
		.inputs = "output target",
		.scalars = "threshold"};
	static const struct tn_formula is_answer = {.text = "z = output > threshold",
						    .inputs = "output target",
						    .scalars = "threshold"};
	static const struct tn_formula is_label = {
		.text = "z = f32(target) > 0.5", .inputs = "output target", .scalars = "threshold"};
	int axes[TN_MAX_RANK] = {0}, n = 1;
	for (int i = 2; i < output->rank; i++)
		axes[n++] = i;
	struct f1_sums f1;
	f1.right = tn_sum(answered(&is_right, sums, output, target), n, axes, 0);
	f1.answers = tn_sum(answered(&is_answer, sums, output, target), n, axes, 0);
	f1.labels = tn_sum(answered(&is_label, sums, output, target), n, axes, 0);
	return f1;
}

static struct f1_sums f1_of_labels(const struct tn_metric_sums *sums, const tn_array *output,
				   const tn_array *target)
{
	static const struct tn_formula is_right = {
		.text = "z = index(1) == answer && answer == label && label != ignored",
		.inputs = "answer label row",
		.scalars = "ignored"};
	static const struct tn_formula is_answer = {
		.text = "z = index(1) == answer && label != ignored",
		.inputs = "answer label row",
		.scalars = "ignored"};
	static const struct tn_formula is_label = {
		.text = "z = index(1) == label && label != ignored",
		.inputs = "answer label row",
		.scalars = "ignored"};
	static const int samples = 0;
	const struct rows rows = rows_of(output, target);
	const tn_number ignored = ignored_label(sums);
	struct f1_sums f1;
	f1.right = tn_sum(rows_map(&is_right, &rows, ignored), 1, &samples, 0);
	f1.answers = tn_sum(rows_map(&is_answer, &rows, ignored), 1, &samples, 0);
	f1.labels = tn_sum(rows_map(&is_label, &rows, ignored), 1, &samples, 0);
	return f1;
}

static tn_status add_f1(struct tn_metric_sums *sums, const tn_array *output, const tn_array *target)
{
	static const struct tn_formula added = {
		.text = "right = right + batch_right; answers = answers + batch_answers;"
			"labels = labels + batch_labels",
		.inputs = "right answers labels batch_right batch_answers batch_labels",
		.outputs = "right answers labels"};
	tn_status status = check(sums, output, target);
	if (!status)
		status = tn_metric_sums_form(sums, output->shape[1], TN_F32);
	if (status)
		return status;
	const struct f1_sums f1 = sums->options->is_multi_label
					  ? f1_of_multi_label(sums, output, target)
					  : f1_of_labels(sums, output, target);
	return tn_metric_sums_add(sums, &added, 3,
				  (const tn_array *[]){f1.right, f1.answers, f1.labels}, NULL);
}

static double f1_value(const struct tn_metric_sums *sums, double *const *arrays)
{
	double right = 0, named = 0, mean = 0;
	int64_t n = 0;
	for (int64_t i = 0; i < sums->form->width; i++) {
		double both = arrays[1][i] + arrays[2][i];
		right += arrays[0][i];
		named += both;
		n += both > 0;
		mean += both > 0 ? 2 * arrays[0][i] / both : 0;
	}
	if (!n)
		return NAN;
	return sums->options->average == TN_F1_MICRO ? 2 * right / named : mean / (double)n;
}

const struct tn_metric_kind tn_metric_f1 = {
	.name = "F1",
	.is_rising = 1,
	.n_arrays = 3,
	.arrays = {{.rank = 1}, {.rank = 1}, {.rank = 1}},
	.add = add_f1,
	.value = f1_value,
};

/* ---- The confusion matrix --------------------------------------------------------------------*/

/* A product of ones and zeros, whose sums are exact in f32 up to 2^24 samples in one batch. */
static tn_status add_confusion(struct tn_metric_sums *sums, const tn_array *output,
			       const tn_array *target)
{
	static const struct tn_formula added = {.text = "counts = counts + i64(batch)",
						.inputs = "counts batch",
						.outputs = "counts"};
	static const struct tn_formula is_answer = {
		.text = "z = f32(index(1) == answer && label != ignored ? 1 : 0)",
		.inputs = "answer label row",
		.scalars = "ignored"};
	static const struct tn_formula is_label = {
		.text = "z = f32(index(1) == label && label != ignored ? 1 : 0)",
		.inputs = "answer label row",
		.scalars = "ignored"};
	tn_status status = check(sums, output, target);
	if (!status)
		status = tn_metric_sums_form(sums, output->shape[1], TN_F32);
	if (status)
		return status;
	const struct rows rows = rows_of(output, target);
	const tn_number ignored = ignored_label(sums);
	const tn_array *answers = rows_map(&is_answer, &rows, ignored);
	const tn_array *labels = rows_map(&is_label, &rows, ignored);
	const tn_array *counts = tn_matmul(tn_transpose(labels, NULL), answers);
	return tn_metric_sums_add(sums, &added, 1, &counts, NULL);
}

static double confusion_value(const struct tn_metric_sums *sums, double *const *arrays)
{
	int64_t n = sums->form->width;
	double right = 0, all = 0;
	for (int64_t i = 0; i < n * n; i++) {
		right += i / n == i % n ? arrays[0][i] : 0;
		all += arrays[0][i];
	}
	return all > 0 ? right / all : NAN;
}

const struct tn_metric_kind tn_metric_confusion = {
	.name = "confusion",
	.is_rising = 1,
	.n_arrays = 1,
	.arrays = {{.rank = 2}},
	.add = add_confusion,
	.value = confusion_value,
};
