/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions over each kind of axis: first, middle, last, several, all.
 */
#include <math.h>

#include "doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef tn_array *reduction(const tn_array *a, int n, const int *axes, int keepdims);

static const int64_t cube[] = {7, 33, 18};
enum { CUBE = 7 * 33 * 18 };

static const struct {
	int n;
	int axes[3];
} kinds[] = {{1, {0}}, {1, {1}}, {1, {2}}, {2, {0, 2}}, {2, {1, 2}}, {2, {0, 1}}, {3, {0, 1, 2}}};

static void over_all_kinds(struct doctor_run *run, reduction *reduce, const tn_array *x,
			   enum doctor_bound bound, double roundings, const char *name)
{
	for (size_t k = 0; k < COUNT(kinds); k++)
		doctor_give(run, reduce(x, kinds[k].n, kinds[k].axes, (int)k & 1), bound, roundings,
			    "%s, axes %zu", name, k);
}

void doctor_sums(struct doctor_run *run)
{
	tn_array *whole = doctor_whole(run, TN_F32, -9, 9, 3, cube);
	tn_array *real = doctor_reals(run, -2, 2, 3, cube);
	tn_array *near_one = doctor_reals(run, 0.999, 1.001, 3, cube);
	over_all_kinds(run, tn_sum, whole, DOCTOR_EXACT, 0, "sum of whole numbers");
	over_all_kinds(run, tn_sum, real, DOCTOR_OF_MAGNITUDE, CUBE, "sum");
	over_all_kinds(run, tn_mean, real, DOCTOR_OF_MAGNITUDE, CUBE + 2, "mean");
	over_all_kinds(run, tn_prod, near_one, DOCTOR_OF_VALUE, CUBE, "product");
	over_all_kinds(run, tn_logsumexp, real, DOCTOR_OF_VALUE, CUBE + 16, "logsumexp");
	over_all_kinds(run, tn_sum, doctor_whole(run, TN_I32, INT32_MAX - 9, INT32_MAX, 3, cube),
		       DOCTOR_EXACT, 0, "sum of i32");
	over_all_kinds(run, tn_sum, doctor_whole(run, TN_BOOL, 0, 1, 3, cube), DOCTOR_EXACT, 0,
		       "sum of bool");
	tn_array *turned = tn_transpose(real, NULL);
	over_all_kinds(run, tn_sum, turned, DOCTOR_OF_MAGNITUDE, CUBE, "sum of a transpose");
}

void doctor_extremes(struct doctor_run *run)
{
	static const float with_nan[] = {1, 5, -2, NAN, 7, INFINITY, -INFINITY, 3};
	tn_array *x = doctor_reals(run, -9, 9, 3, cube);
	over_all_kinds(run, tn_max, x, DOCTOR_EXACT, 0, "max");
	over_all_kinds(run, tn_min, x, DOCTOR_EXACT, 0, "min");
	tn_array *whole = doctor_whole(run, TN_I64, INT64_MIN / 2, INT64_MAX / 2, 3, cube);
	over_all_kinds(run, tn_max, whole, DOCTOR_EXACT, 0, "max of i64");
	tn_array *nan = doctor_given(run, COUNT(with_nan), with_nan);
	doctor_give(run, tn_max(nan, TN_ALL_AXES, NULL, 0), DOCTOR_EXACT, 0, "max with NaN");
	doctor_give(run, tn_min(nan, TN_ALL_AXES, NULL, 0), DOCTOR_EXACT, 0, "min with NaN");
	tn_array *rows = tn_reshape(nan, 2, (int64_t[]){4, 2});
	doctor_give(run, tn_max(rows, 1, (int[]){1}, 0), DOCTOR_EXACT, 0, "max of rows with NaN");
}

/* Few different values, so that ties occur. */
void doctor_places(struct doctor_run *run)
{
	static const float with_nan[] = {1, 9, NAN, 9, NAN, INFINITY, -INFINITY, 3};
	tn_array *x = doctor_whole(run, TN_F32, 0, 5, 3, cube);
	for (int axis = 0; axis < 3; axis++) {
		doctor_give(run, tn_argmax(x, axis, 0), DOCTOR_EXACT, 0, "argmax, axis %d", axis);
		doctor_give(run, tn_argmin(x, axis, 0), DOCTOR_EXACT, 0, "argmin, axis %d", axis);
	}
	tn_array *row = doctor_whole(run, TN_I32, 0, 5, 1, (int64_t[]){301});
	doctor_give(run, tn_argmax(row, 0, 0), DOCTOR_EXACT, 0, "argmax of i32 with equals");
	doctor_give(run, tn_argmin(row, 0, 0), DOCTOR_EXACT, 0, "argmin of i32 with equals");
	tn_array *nan = doctor_given(run, COUNT(with_nan), with_nan);
	doctor_give(run, tn_argmax(nan, 0, 0), DOCTOR_EXACT, 0, "argmax with NaN");
	doctor_give(run, tn_argmin(nan, 0, 0), DOCTOR_EXACT, 0, "argmin with NaN");
}

/* Sums stay below 2^24: exact in every order. */
void doctor_long_reductions(struct doctor_run *run)
{
	const int64_t n = 1100003;
	tn_array *ones = tn_ones(run->context, TN_F32, 1, &n);
	tn_array *up = tn_arange(run->context, TN_I32, 0, (double)n, 1);
	doctor_give(run, tn_sum(ones, TN_ALL_AXES, NULL, 0), DOCTOR_EXACT, 0, "sum of %lld ones",
		    (long long)n);
	doctor_give(run, tn_max(up, TN_ALL_AXES, NULL, 0), DOCTOR_EXACT, 0, "max of %lld",
		    (long long)n);
	doctor_give(run, tn_argmax(up, 0, 0), DOCTOR_EXACT, 0, "argmax of %lld", (long long)n);
	tn_array *tall = doctor_whole(run, TN_F32, -3, 3, 2, (int64_t[]){70001, 3});
	doctor_give(run, tn_sum(tall, 1, (int[]){0}, 0), DOCTOR_EXACT, 0, "sum down 70001 rows");
	doctor_give(run, tn_sum(tn_transpose(tall, NULL), 1, (int[]){1}, 0), DOCTOR_EXACT, 0,
		    "sum along 70001 columns");
}
