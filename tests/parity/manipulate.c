/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * <tenon/manipulate.h> against recorded NumPy results: on the built-in backend, the preferred one
 * (TENON_BACKEND) and the mock; row-major inputs, column-major ones and reversed ones.  Where
 * elements only move, in every dtype; complex ones are then x + 2 i x.
 */
#include <float.h>

#include <tenon/tenon.h>

#include "parity/record.h"
#include "parity/parity.h"

enum { MOST = 16, ROW_MAJOR = 0, COLUMN_MAJOR = 1, REVERSED = 2, LAYOUTS = 3 };

struct trial {
	tn_context *context;
	const struct record *record;
	tn_dtype dtype;
	int layout;
	int n_args;
	const int64_t *args;
	const double *numbers;
	int n_x, n_y;
	const tn_array *x[MOST];
	tn_array *y[MOST];
};

/* ---- The functions ---------------------------------------------------------------------------*/

static int small[MOST]; /* arguments from the given one on */

static const int *axes_from(const struct trial *t, int first)
{
	for (int i = first; i < t->n_args; i++)
		small[i - first] = (int)t->args[i];
	return small;
}

static tn_array *eye(struct trial *t)
{
	return tn_eye(t->context, t->dtype, t->args[0], t->args[1], t->args[2]);
}
static tn_array *tri(struct trial *t)
{
	return tn_tri(t->context, t->dtype, t->args[0], t->args[1], t->args[2]);
}
static tn_array *identity(struct trial *t)
{
	return tn_identity(t->context, t->dtype, t->args[0]);
}
static tn_array *linspace(struct trial *t)
{
	return tn_linspace(t->context, t->dtype, t->numbers[0], t->numbers[1], t->args[0],
			   (int)t->args[1]);
}
static tn_array *logspace(struct trial *t)
{
	return tn_logspace(t->context, t->dtype, t->numbers[0], t->numbers[1], t->args[0],
			   (int)t->args[1], t->numbers[2]);
}
static tn_array *geomspace(struct trial *t)
{
	return tn_geomspace(t->context, t->dtype, t->numbers[0], t->numbers[1], t->args[0],
			    (int)t->args[1]);
}
static tn_array *indices(struct trial *t)
{
	return tn_indices(t->context, t->dtype, t->n_args, t->args);
}
static tn_array *empty_like(struct trial *t)
{
	tn_array *y = tn_empty_like(t->x[0], 0);
	assert_ok(tn_fill(y, 0));
	return y;
}
static tn_array *zeros_like(struct trial *t)
{
	return tn_zeros_like(t->x[0], 0);
}
static tn_array *ones_like(struct trial *t)
{
	return tn_ones_like(tn_astype(t->x[0], TN_I8), t->dtype);
}
static tn_array *full_like(struct trial *t)
{
	return tn_full_like(t->x[0], t->numbers[0], 0);
}
static tn_array *meshgrid(struct trial *t)
{
	const uint32_t indexing = t->args[0] ? TN_INDEXING_IJ : TN_INDEXING_XY;
	assert_ok(tn_meshgrid(t->n_x, t->x, indexing, t->y));
	t->n_y = t->n_x;
	return t->y[0];
}
static tn_array *diagonal(struct trial *t)
{
	return tn_diagonal(t->x[0], t->args[0], (int)t->args[1], (int)t->args[2]);
}
static tn_array *diag(struct trial *t)
{
	return tn_diag(t->x[0], t->args[0]);
}
static tn_array *tril(struct trial *t)
{
	return tn_tril(t->x[0], t->args[0]);
}
static tn_array *triu(struct trial *t)
{
	return tn_triu(t->x[0], t->args[0]);
}
static tn_array *vander(struct trial *t)
{
	return tn_vander(t->x[0], t->args[0], (int)t->args[1]);
}
static tn_array *stack(struct trial *t)
{
	return tn_stack(t->n_x, t->x, (int)t->args[0]);
}
static tn_array *append(struct trial *t)
{
	return tn_append(t->x[0], t->x[1], t->n_args ? (int)t->args[0] : TN_AXIS_NONE);
}
static tn_array *unstack(struct trial *t)
{
	int axis = (int)t->args[0], rank = tn_array_rank(t->x[0]);
	t->n_y = (int)tn_array_shape(t->x[0])[axis < 0 ? axis + rank : axis];
	assert_ok(tn_unstack(t->x[0], axis, t->y));
	return t->y[0];
}
static tn_array *split(struct trial *t)
{
	t->n_y = (int)t->args[1];
	assert_ok(tn_split(t->x[0], t->n_y, NULL, (int)t->args[0], t->y));
	return t->y[0];
}
static tn_array *array_split(struct trial *t)
{
	t->n_y = (int)t->args[1];
	assert_ok(tn_array_split(t->x[0], t->n_y, NULL, (int)t->args[0], t->y));
	return t->y[0];
}
static tn_array *split_at(struct trial *t)
{
	t->n_y = t->n_args;
	assert_ok(tn_split(t->x[0], t->n_args - 1, t->args + 1, (int)t->args[0], t->y));
	return t->y[0];
}
static tn_array *tile(struct trial *t)
{
	return tn_tile(t->x[0], t->n_args, t->args);
}
static tn_array *repeat(struct trial *t)
{
	return tn_repeat(t->x[0], t->n_args - 1, t->args + 1, (int)t->args[0]);
}
static tn_array *repeat_flat(struct trial *t)
{
	return tn_repeat(t->x[0], t->n_args, t->args, TN_AXIS_NONE);
}
static tn_array *delete (struct trial *t)
{
	return tn_delete(t->x[0], t->n_args - 1, t->args + 1, (int)t->args[0]);
}
static tn_array *delete_flat(struct trial *t)
{
	return tn_delete(t->x[0], t->n_args, t->args, TN_AXIS_NONE);
}
static tn_array *insert(struct trial *t)
{
	return tn_insert(t->x[0], t->n_args - 1, t->args + 1, t->x[1], (int)t->args[0]);
}
static tn_array *insert_flat(struct trial *t)
{
	return tn_insert(t->x[0], t->n_args, t->args, t->x[1], TN_AXIS_NONE);
}
static tn_array *moveaxis(struct trial *t)
{
	const int *axes = axes_from(t, 0);
	return tn_moveaxis(t->x[0], t->n_args / 2, axes, axes + t->n_args / 2);
}
static tn_array *swapaxes(struct trial *t)
{
	return tn_swapaxes(t->x[0], (int)t->args[0], (int)t->args[1]);
}
static tn_array *atleast_1d(struct trial *t)
{
	return tn_atleast_1d(t->x[0]);
}
static tn_array *atleast_2d(struct trial *t)
{
	return tn_atleast_2d(t->x[0]);
}
static tn_array *atleast_3d(struct trial *t)
{
	return tn_atleast_3d(t->x[0]);
}
static tn_array *flip(struct trial *t)
{
	return tn_flip(t->x[0], t->n_args, axes_from(t, 0));
}
static tn_array *flip_all(struct trial *t)
{
	return tn_flip(t->x[0], TN_ALL_AXES, NULL);
}
static tn_array *rot90(struct trial *t)
{
	return tn_rot90(t->x[0], (int)t->args[0], (int)t->args[1], (int)t->args[2]);
}
static tn_array *roll(struct trial *t)
{
	return tn_roll(t->x[0], t->n_args / 2, t->args, axes_from(t, t->n_args / 2));
}
static tn_array *roll_flat(struct trial *t)
{
	return tn_roll(t->x[0], 1, t->args, NULL);
}
static tn_array *pad(struct trial *t)
{
	return tn_pad(t->x[0], t->args + 1, (uint32_t)t->args[0], t->numbers);
}

static tn_array *trim_zeros(struct trial *t)
{
	const int n = t->n_args - 1;
	return tn_trim_zeros(t->x[0], (uint32_t)t->args[0], n ? n : TN_ALL_AXES, axes_from(t, 1));
}
static tn_array *resize(struct trial *t)
{
	return tn_resize(t->x[0], t->n_args, t->args);
}
static tn_array *block(struct trial *t)
{
	return tn_block(t->n_args, axes_from(t, 0), t->x);
}

#define ROW(name)                                                                                  \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct {
	const char *name;
	tn_array *(*f)(struct trial *t);
} rows[] = {
	ROW(eye),         ROW(tri),         ROW(identity),    ROW(linspace),   ROW(logspace),
	ROW(geomspace),   ROW(indices),     ROW(empty_like),  ROW(zeros_like), ROW(ones_like),
	ROW(full_like),   ROW(meshgrid),    ROW(diagonal),    ROW(diag),       ROW(tril),
	ROW(triu),        ROW(vander),      ROW(stack),       ROW(append),     ROW(unstack),
	ROW(split),       ROW(array_split), ROW(split_at),    ROW(tile),       ROW(repeat),
	ROW(repeat_flat), ROW(delete),      ROW(delete_flat), ROW(insert),     ROW(insert_flat),
	ROW(moveaxis),    ROW(swapaxes),    ROW(atleast_1d),  ROW(atleast_2d), ROW(atleast_3d),
	ROW(flip),        ROW(flip_all),    ROW(rot90),       ROW(roll),       ROW(roll_flat),
	ROW(pad),         ROW(trim_zeros),  ROW(resize),      ROW(block),
};

/* ---- A case ----------------------------------------------------------------------------------*/

static const struct record_array *numbered(const struct trial *t, char letter, int i)
{
	char name[16];
	snprintf(name, sizeof(name), "%c%d", letter, i);
	return record_array(t->record, name);
}

static tn_array *laid_out(tn_array *a, int layout)
{
	if (layout == COLUMN_MAJOR)
		return tn_transpose(tn_copy(tn_transpose(a, NULL)), NULL);
	for (int axis = 0; layout == REVERSED && axis < 2; axis++) {
		if (axis < tn_array_rank(a))
			a = tn_slice(tn_copy(tn_slice(a, axis, INT64_MIN, INT64_MIN, -1)), axis,
				     INT64_MIN, INT64_MIN, -1);
	}
	return a;
}

static tn_array *given(const struct trial *t, const struct record_array *array)
{
	tn_array *wide =
		tn_from_host(t->context, TN_F64, (int)array->rank, array->shape, array->values);
	int is_complex = t->dtype == TN_C64 || t->dtype == TN_C128;
	tn_array *a = is_complex ? tn_complex(wide, tn_add(wide, wide)) : wide;
	return laid_out(tn_astype(a, t->dtype), t->layout);
}

static double epsilon_of(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F16:
		return 0x1p-10;
	case TN_F32:
		return FLT_EPSILON;
	case TN_F64:
		return DBL_EPSILON;
	default:
		return 0;
	}
}

static void expect_part(const struct trial *t, const struct record_array *expected,
			const tn_array *found, double factor, double epsilon)
{
	double *values = malloc((expected->count + 1) * sizeof(*values));
	assert_ok(tn_to_host(tn_astype(found, TN_F64), values, expected->count * sizeof(*values)));
	for (size_t i = 0; i < expected->count; i++) {
		double wanted = expected->values[i] * factor;
		if (t->dtype == TN_BOOL)
			wanted = wanted != 0;
		if (fabs(values[i] - wanted) > epsilon * fabs(wanted))
			fail_msg("%s, %s, layout %d: y[%zu]: NumPy has %.17g, found %.17g",
				 t->record->layer, tn_dtype_name(t->dtype), t->layout, i, wanted,
				 values[i]);
	}
	free(values);
}

static void expect(const struct trial *t, const struct record_array *expected, tn_dtype dtype,
		   const tn_array *found, double epsilon)
{
	if (!found)
		fail_msg("%s, %s: %s", t->record->layer, tn_dtype_name(t->dtype),
			 tn_error(t->context) ? tn_error(t->context)->text : "NULL");
	if (tn_array_dtype(found) != dtype)
		fail_msg("%s: expected %s, found %s", t->record->layer, tn_dtype_name(dtype),
			 tn_dtype_name(tn_array_dtype(found)));
	if (tn_array_rank(found) != (int)expected->rank ||
	    (expected->rank &&
	     memcmp(tn_array_shape(found), expected->shape, expected->rank * sizeof(int64_t)) != 0))
		fail_msg("%s: another shape", t->record->layer);
	expect_part(t, expected, tn_real(found), 1, epsilon);
	const int64_t *imaginary = record_ints(t->record, "imaginary");
	if ((dtype == TN_C64 || dtype == TN_C128) && (!imaginary || *imaginary >= 0))
		expect_part(t, expected, tn_imag(found), imaginary ? (double)*imaginary : 2,
			    epsilon);
}

static void run_case(struct trial *t, tn_dtype result)
{
	const struct record_array *array;
	const double epsilon = record_ints(t->record, "dtype") ? 4 * epsilon_of(result) : 0;
	size_t row = 0;
	assert_ok(tn_scope_begin(t->context));
	for (t->n_x = 0; (array = numbered(t, 'x', t->n_x)); t->n_x++)
		t->x[t->n_x] = given(t, array);
	while (row < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[row].name, t->record->layer))
		row++;
	if (row == sizeof(rows) / sizeof(rows[0]))
		fail_msg("the function %s is not known", t->record->layer);
	t->n_y = 1;
	t->y[0] = rows[row].f(t);
	for (int i = 0; i < t->n_y; i++) {
		array = numbered(t, 'y', i);
		assert_non_null(array);
		expect(t, array, result, t->y[i], epsilon);
	}
	assert_null(numbered(t, 'y', t->n_y));
	tn_scope_end(t->context, NULL);
}

/* Is it one of the dtypes that the environment names?  Without names it is. */
static int is_chosen(tn_dtype dtype)
{
	const char *names = getenv("MANIPULATE_DTYPES");
	return !names || strstr(names, tn_dtype_name(dtype));
}

/* Inputs of f64 in every layout, of the others in one after the other. */
static void run_dtypes(struct trial *t)
{
	for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPES; dtype++) {
		if (!is_chosen(dtype))
			continue;
		t->dtype = dtype;
		for (int layout = 0; layout < LAYOUTS; layout++) {
			t->layout = layout;
			if (dtype == TN_F64 || (int)dtype % LAYOUTS == layout)
				run_case(t, dtype);
		}
	}
}

static int count_ints(const struct record *record, const char *name)
{
	for (int i = 0; i < record->n_ints; i++)
		if (strcmp(record->ints[i].name, name) == 0)
			return record->ints[i].n;
	return 0;
}

static void check(tn_context *context, const struct record *record, int number)
{
	const struct record_array *numbers = record_array(record, "numbers");
	const int64_t *dtypes = record_ints(record, "dtype");
	struct trial t = {.context = context,
			  .record = record,
			  .n_args = count_ints(record, "args"),
			  .args = record_ints(record, "args"),
			  .numbers = numbers ? numbers->values : NULL};
	(void)number;
	if (!dtypes) {
		run_dtypes(&t);
		return;
	}
	t.dtype = (tn_dtype)dtypes[0];
	if (is_chosen(t.dtype))
		run_case(&t, (tn_dtype)dtypes[1]);
}

const struct parity parity = {
	.claim = "moves_elements_as_numpy",
	.records = {{"manipulate.txt", 431}},
	.check = check,
};
