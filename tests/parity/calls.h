/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of functions against recorded NumPy numbers, with compact operands and with strided ones:
 * every second element of memory, the axes in reverse order, the last one backwards.
 */
#ifndef TN_TESTS_PARITY_CALLS_H
#define TN_TESTS_PARITY_CALLS_H

#include "parity/functions.h"

/* One call: operands, settings, second results. */
struct call {
	const struct record *record;
	tn_context *context;
	const tn_array *x, *y, *z, *w;
	int n; /* axes */
	int axes[TN_MAX_RANK];
	int keepdims;
	const double *numbers;
	size_t n_numbers;
	tn_array *others[3];
};

static inline int64_t setting(const struct call *c, const char *name)
{
	const int64_t *values = record_ints(c->record, name);
	return values ? values[0] : 0;
}

/* A function of the test: one of reduce, which is Tenon's, and f is NULL. */
struct call_row {
	const char *name;
	tn_array *(*reduce)(const tn_array *a, int n, const int *axes, int keepdims);
	tn_array *(*f)(struct call *c);
};

struct call_rows {
	const char *file;
	int n_cases; /* that it has */
	size_t n;
	const struct call_row *rows;
};

/* ---- Operands --------------------------------------------------------------------------------*/

/* The same elements elsewhere in memory; an array of rank 0 as it is. */
static inline tn_array *strided(const tn_array *a)
{
	const int last = tn_array_rank(a) - 1;
	if (last < 0 || !tn_array_size(a))
		return tn_copy(a);
	tn_array *turned = tn_copy(tn_transpose(tn_slice(a, last, INT64_MIN, INT64_MIN, -1), NULL));
	tn_array *twice = tn_expand_dims(turned, last + 1);
	const tn_array *both[] = {twice, twice};
	tn_array *gaps = tn_slice(tn_concatenate(2, both, last + 1), last + 1, 0, 1, 1);
	return tn_slice(tn_transpose(tn_squeeze(gaps, last + 1), NULL), last, INT64_MIN, INT64_MIN,
			-1);
}

static inline tn_array *make(const struct call *c, const char *name, tn_dtype dtype, int is_strided)
{
	const struct record_array *array = record_array(c->record, name);
	if (!array)
		return NULL;
	tn_array *wide =
		tn_from_host(c->context, TN_F64, (int)array->rank, array->shape, array->values);
	if (dtype == TN_C64 || dtype == TN_C128) {
		const int last = (int)array->rank - 1;
		wide = tn_complex(tn_squeeze(tn_slice(wide, last, 0, 1, 1), last),
				  tn_squeeze(tn_slice(wide, last, 1, 2, 1), last));
	}
	tn_array *made = tn_astype(wide, dtype);
	return is_strided ? strided(made) : made;
}

/* ---- Results ---------------------------------------------------------------------------------*/

/* What the functions' own roundings may add up to, of the largest number involved. */
static inline double tolerance_of(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F16:
		return 1e-3;
	case TN_F32:
	case TN_C64:
		return 16 * FLT_EPSILON;
	case TN_F64:
	case TN_C128:
		return 16 * DBL_EPSILON;
	default:
		return 0;
	}
}

/* Real numbers, with a last axis of two parts for complex ones. */
static inline tn_array *as_doubles(const tn_array *a)
{
	if (tn_array_dtype(a) != TN_C64 && tn_array_dtype(a) != TN_C128)
		return tn_astype(a, TN_F64);
	const int last = tn_array_rank(a);
	const tn_array *parts[] = {tn_expand_dims(tn_real(a), last),
				   tn_expand_dims(tn_imag(a), last)};
	return tn_astype(tn_concatenate(2, parts, last), TN_F64);
}

/* Is number i NaN, or of a complex number one of its parts?  Division by a real number makes both
 * NaN in NumPy, and one here. */
static inline int is_nan(const double *values, size_t i, tn_dtype dtype)
{
	if (dtype == TN_C64 || dtype == TN_C128)
		return isnan(values[i & ~(size_t)1]) || isnan(values[i | 1]);
	return isnan(values[i]);
}

static inline void expect(const struct call *c, const char *name, const tn_array *found,
			  tn_dtype dtype)
{
	const struct record_array *array = record_array(c->record, name);
	const char *layer = c->record->layer;
	double largest = 1, *values = malloc((array->count + 1) * sizeof(*values));
	if (tn_error(c->context))
		fail_msg("%s: %s: %s", layer, tn_error(c->context)->operation,
			 tn_error(c->context)->text);
	if (tn_array_dtype(found) != dtype)
		fail_msg("%s: expected %s, found %s", layer, tn_dtype_name(dtype),
			 tn_dtype_name(tn_array_dtype(found)));
	const tn_array *wide = as_doubles(found);
	assert_int_equal(tn_array_rank(wide), array->rank);
	for (uint32_t i = 0; i < array->rank; i++)
		assert_int_equal(tn_array_shape(wide)[i], array->shape[i]);
	assert_ok(tn_to_host(wide, values, array->count * sizeof(*values)));
	for (size_t i = 0; i < array->count; i++)
		largest = isfinite(array->values[i]) ? fmax(largest, fabs(array->values[i]))
						     : largest;
	for (size_t i = 0; i < array->count; i++) {
		double expected = array->values[i];
		const int is_number = !is_nan(array->values, i, dtype);
		if (is_number == !is_nan(values, i, dtype) &&
		    (!is_number || values[i] == expected ||
		     fabs(values[i] - expected) <= tolerance_of(dtype) * largest))
			continue;
		fail_msg("%s: %s[%zu]: NumPy has %.17g, found %.17g (%s)", layer, name, i, expected,
			 values[i], tn_dtype_name(dtype));
	}
	free(values);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static inline void read_settings(struct call *c)
{
	const int64_t *axes = record_ints(c->record, "axes");
	const struct record_array *numbers = record_array(c->record, "numbers");
	c->n = axes ? (int)axes[0] : 0;
	for (int i = 0; i < c->n; i++)
		c->axes[i] = (int)axes[i + 1];
	c->keepdims = (int)setting(c, "keepdims");
	c->numbers = numbers ? numbers->values : NULL;
	c->n_numbers = numbers ? numbers->count : 0;
}

static inline void run_case(struct call *c, const struct call_rows *rows, int is_strided)
{
	const int64_t *dtypes = record_ints(c->record, "dtype");
	const int64_t *results = record_ints(c->record, "result");
	size_t i = 0;
	c->x = make(c, "x", (tn_dtype)dtypes[0], is_strided);
	c->y = make(c, "y", (tn_dtype)dtypes[1], is_strided);
	c->z = make(c, "z", (tn_dtype)dtypes[2], is_strided);
	c->w = make(c, "w", (tn_dtype)dtypes[3], is_strided);
	memset(c->others, 0, sizeof(c->others));
	while (i < rows->n && strcmp(rows->rows[i].name, c->record->layer) != 0)
		i++;
	if (i == rows->n)
		fail_msg("the function %s is not known", c->record->layer);
	const struct call_row *row = &rows->rows[i];
	tn_array *r = row->f ? row->f(c) : row->reduce(c->x, c->n, c->axes, c->keepdims);
	expect(c, "r", r, (tn_dtype)results[0]);
	for (int k = 0; k < 3; k++) {
		const char name[] = {"stu"[k], 0};
		if (record_array(c->record, name))
			expect(c, name, c->others[k], (tn_dtype)results[k + 1]);
	}
}

/* The first case in f32 of each function; `seen` has the name of the last one. */
static inline int is_first_in_f32(const struct record *record, char seen[RECORD_NAME])
{
	if (record_ints(record, "dtype")[0] != TN_F32 || strcmp(record->layer, seen) == 0)
		return 0;
	memcpy(seen, record->layer, RECORD_NAME);
	return 1;
}

/* With is_brief, only those. */
static inline void run_calls(tn_context *context, const struct call_rows *rows, int is_brief)
{
	FILE *file = record_open(rows->file);
	struct record record;
	char seen[RECORD_NAME] = "";
	int n_cases = 0;
	for (; record_read(file, &record); n_cases++) {
		struct call c = {.record = &record, .context = context};
		if (is_brief && !is_first_in_f32(&record, seen)) {
			record_free(&record);
			continue;
		}
		read_settings(&c);
		for (int is_strided = 0; is_strided < 2; is_strided++) {
			assert_ok(tn_scope_begin(context));
			run_case(&c, rows, is_strided);
			tn_scope_end(context, NULL);
		}
		record_free(&record);
	}
	fclose(file);
	assert_int_equal(n_cases, rows->n_cases);
	tn_context_close(context);
}

#endif
