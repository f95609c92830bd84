/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of functions against recorded NumPy numbers, with compact operands and with strided ones:
 * every second element of memory, the axes in reverse order, the last one backwards.
 */
#ifndef TN_TESTS_PARITY_NUMPY_CALLS_H
#define TN_TESTS_PARITY_NUMPY_CALLS_H

#include "parity/functions.h"
#include "parity/numpy.h"
#include "parity/parity.h"

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

/* The axes, the method and keepdims of a call. */
static inline struct tn_quantile_options quantile_options(const struct call *c)
{
	struct tn_quantile_options options = tn_quantile_defaults();
	options.method = (uint32_t)setting(c, "method");
	options.n_axes = c->n;
	options.axes = c->axes;
	options.keepdims = c->keepdims;
	return options;
}

/* A function of the test: one of reduce, which is Tenon's, and f is NULL. */
struct call_row {
	const char *name;
	tn_array *(*reduce)(const tn_array *a, int n, const int *axes, int keepdims);
	tn_array *(*f)(struct call *c);
};

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

static inline void run_case(struct call *c, int is_strided)
{
	const int64_t *dtypes = record_ints(c->record, "dtype");
	const int64_t *results = record_ints(c->record, "result");
	size_t i = 0;
	c->x = numpy_array(c->context, c->record, "x", (tn_dtype)dtypes[0], is_strided);
	c->y = numpy_array(c->context, c->record, "y", (tn_dtype)dtypes[1], is_strided);
	c->z = numpy_array(c->context, c->record, "z", (tn_dtype)dtypes[2], is_strided);
	c->w = numpy_array(c->context, c->record, "w", (tn_dtype)dtypes[3], is_strided);
	memset(c->others, 0, sizeof(c->others));
	while (i < parity.n_rows && strcmp(parity.rows[i].name, c->record->layer) != 0)
		i++;
	if (i == parity.n_rows)
		fail_msg("the function %s is not known", c->record->layer);
	const struct call_row *row = &parity.rows[i];
	tn_array *r = row->f ? row->f(c) : row->reduce(c->x, c->n, c->axes, c->keepdims);
	numpy_expect(c->context, c->record, "r", r, (tn_dtype)results[0]);
	for (int k = 0; k < 3; k++) {
		const char name[] = {"stu"[k], 0};
		if (record_array(c->record, name))
			numpy_expect(c->context, c->record, name, c->others[k],
				     (tn_dtype)results[k + 1]);
	}
}

/* The check of a program that has rows. */
static inline void check_call(tn_context *context, const struct record *record, int number)
{
	struct call c = {.record = record, .context = context};
	(void)number;
	read_settings(&c);
	run_case(&c, 0);
	run_case(&c, 1);
}

#endif
