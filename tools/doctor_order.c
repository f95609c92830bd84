/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sorting along an axis, and scans: indices and selected values have the same bits on every
 * backend.
 */
#include <math.h>

#include "doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const int64_t cube[] = {7, 33, 18}, line[] = {20011};
static const float with_nan[] = {1, 9, NAN, -0.0F, NAN, INFINITY, 0, -INFINITY, 9, -3};

static void orders_of(struct doctor_run *run, const tn_array *x, int axis, const char *name)
{
	tn_array *places = NULL;
	for (int down = 0; down < 2; down++) {
		const char *way = down ? "down" : "up";
		doctor_give(run, tn_sort(x, axis, down), DOCTOR_EXACT, 0, "sort %s of %s, axis %d",
			    way, name, axis);
		doctor_give(run, tn_argsort(x, axis, down), DOCTOR_EXACT, 0,
			    "places %s of %s, axis %d", way, name, axis);
		doctor_give(run, tn_topk(x, 3, axis, down, &places), DOCTOR_EXACT, 0,
			    "first three %s of %s, axis %d", way, name, axis);
		doctor_give(run, places, DOCTOR_EXACT, 0, "their places");
	}
}

/* Few different values, so that ties occur. */
void doctor_orders(struct doctor_run *run)
{
	tn_array *x = doctor_whole(run, TN_F32, 0, 5, 3, cube);
	for (int axis = 0; axis < 3; axis++)
		orders_of(run, x, axis, "f32");
	orders_of(run, tn_transpose(x, NULL), 1, "a transpose");
	orders_of(run, doctor_whole(run, TN_I32, -9, 9, 3, cube), 1, "i32");
	orders_of(run, doctor_whole(run, TN_U8, 0, 255, 3, cube), 0, "u8");
	orders_of(run, doctor_given(run, COUNT(with_nan), with_nan), 0, "NaN");
	x = doctor_reals(run, -1, 1, 1, line);
	doctor_give(run, tn_argsort(x, 0, 0), DOCTOR_EXACT, 0, "places in a long line");
	doctor_give(run, tn_topk(x, 3, 0, 1, NULL), DOCTOR_EXACT, 0, "first three of a long line");
	tn_array *real = doctor_reals(run, -1, 1, 3, cube);
	tn_tape *tape = doctor_record(run, 1, &real);
	tn_array *y = tn_sort(real, 1, 1);
	doctor_give_gradients(run, tape, y, 1, &real, DOCTOR_EXACT, 0, "sort");
}

void doctor_scans(struct doctor_run *run)
{
	tn_array *whole = doctor_whole(run, TN_F32, -9, 9, 3, cube);
	tn_array *real = doctor_reals(run, -2, 2, 3, cube);
	tn_array *near_one = doctor_reals(run, 0.999, 1.001, 3, cube);
	for (int axis = 0; axis < 3; axis++) {
		double n = (double)cube[axis];
		doctor_give(run, tn_cumsum(whole, axis), DOCTOR_EXACT, 0,
			    "sums of whole numbers, axis %d", axis);
		doctor_give(run, tn_cumsum(real, axis), DOCTOR_OF_MAGNITUDE, n, "sums, axis %d",
			    axis);
		doctor_give(run, tn_cumprod(near_one, axis), DOCTOR_OF_VALUE, n,
			    "products, axis %d", axis);
		doctor_give(run, tn_cummax(real, axis), DOCTOR_EXACT, 0, "maxima, axis %d", axis);
		doctor_give(run, tn_cummin(real, axis), DOCTOR_EXACT, 0, "minima, axis %d", axis);
	}
	doctor_give(run, tn_cumsum(doctor_whole(run, TN_I32, INT32_MAX - 9, INT32_MAX, 3, cube), 1),
		    DOCTOR_EXACT, 0, "sums of i32");
	tn_array *nan = doctor_given(run, COUNT(with_nan), with_nan);
	doctor_give(run, tn_cummax(nan, 0), DOCTOR_EXACT, 0, "maxima with NaN");
	doctor_give(run, tn_cumsum(doctor_whole(run, TN_F32, -9, 9, 1, line), 0), DOCTOR_EXACT, 0,
		    "sums of a long line");
	tn_tape *tape = doctor_record(run, 1, &real);
	tn_array *y = tn_cumsum(real, 1);
	doctor_give_gradients(run, tape, y, 1, &real, DOCTOR_OF_MAGNITUDE, 64, "sums");
}
