/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies and views read and write the right elements and no others.
 */
#include "base/dtype.h"
#include "doctor.h"

static const int64_t cube[] = {6, 10, 14};

static void give_copy(struct doctor_run *run, tn_array *view, const char *what, tn_dtype dtype)
{
	doctor_give(run, tn_copy(view), DOCTOR_EXACT, 0, "%s of %s", what, tn_dtype_name(dtype));
}

static void copies_of(struct doctor_run *run, tn_dtype dtype)
{
	tn_array *x = doctor_whole(run, dtype, 0, 100, 3, cube);
	give_copy(run, x, "copy", dtype);
	give_copy(run, tn_transpose(x, NULL), "transpose", dtype);
	give_copy(run, tn_transpose(x, (int[]){1, 0, 2}), "transpose of two axes", dtype);
	give_copy(run, tn_slice(x, 1, 8, 1, -3), "backward steps", dtype);
	give_copy(run, tn_slice(x, 2, 3, 13, 2), "steps", dtype);
	give_copy(run, tn_broadcast_to(tn_slice(x, 0, 2, 3, 1), 3, cube), "broadcast", dtype);
	give_copy(run, tn_sliding_window_view(x, 1, (int64_t[]){4}, (int[]){2}), "windows", dtype);
	doctor_give(run, tn_reshape(tn_transpose(x, NULL), 2, (int64_t[]){-1, 12}), DOCTOR_EXACT, 0,
		    "reshaped transpose of %s", tn_dtype_name(dtype));
}

void doctor_copies(struct doctor_run *run)
{
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (tn_compute_dtype(dtype) && run->storage_dtypes >> dtype & 1)
			copies_of(run, dtype);
	}
	tn_array *images = doctor_reals(run, -1, 1, 4, (int64_t[]){3, 5, 8, 7});
	tn_array *last = tn_channels_last(images);
	doctor_give(run, last, DOCTOR_EXACT, 0, "channels last");
	doctor_give(run, tn_contiguous(last), DOCTOR_EXACT, 0, "channels first again");
	doctor_give(run, tn_add(last, images), DOCTOR_EXACT, 0, "sum of two layouts");
	tn_array *back = tn_slice(doctor_reals(run, -1, 1, 1, (int64_t[]){1000}), 0, INT64_MIN,
				  INT64_MIN, -1);
	doctor_give(run, tn_affine(back, 2, 0), DOCTOR_EXACT, 0, "map of a reversed view");
}

void doctor_views(struct doctor_run *run)
{
	tn_array *x = doctor_whole(run, TN_F32, 0, 100, 3, cube);
	tn_array *y = doctor_whole(run, TN_I32, 0, 100, 3, cube);
	(void)tn_fill(tn_slice(x, 1, 2, 5, 1), -1);
	doctor_give(run, x, DOCTOR_EXACT, 0, "filled part");
	(void)tn_assign(tn_slice(x, 2, 13, 1, -2), tn_slice(y, 2, 0, 6, 1));
	doctor_give(run, x, DOCTOR_EXACT, 0, "part assigned backwards, with a cast");
	(void)tn_add_into(tn_transpose(x, (int[]){2, 1, 0}), tn_transpose(x, (int[]){2, 1, 0}),
			  tn_transpose(y, NULL));
	doctor_give(run, x, DOCTOR_EXACT, 0, "sum into a transpose");
	(void)tn_assign(tn_slice(x, 0, 1, 6, 1), tn_slice(x, 0, 0, 5, 1));
	doctor_give(run, x, DOCTOR_EXACT, 0, "assigned to an overlapping view");
}

void doctor_takes(struct doctor_run *run)
{
	tn_array *x = doctor_reals(run, -1, 1, 3, cube);
	for (int axis = 0; axis < 3; axis++) {
		/* Repeated indices, whose gradients add up. */
		tn_array *at = doctor_whole(run, axis == 1 ? TN_I64 : TN_I32,
					    run->magnitudes ? 0 : -cube[axis], cube[axis] - 1, 2,
					    (int64_t[]){5, 9});
		tn_tape *tape = doctor_record(run, 1, &x);
		tn_array *y = tn_take(x, at, axis, TN_RAISE);
		doctor_give(run, y, DOCTOR_EXACT, 0, "take, axis %d", axis);
		doctor_give_gradients(run, tape, y, 1, &x, DOCTOR_OF_LARGEST, 64, "take");
		const tn_array *parts[] = {x, x, tn_slice(x, axis, 1, 4, 1)};
		doctor_give(run, tn_concatenate(3, parts, axis), DOCTOR_EXACT, 0,
			    "concatenate, axis %d", axis);
	}
}
