/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions of one array: gradients against central differences in double, and what is refused.
 */
#ifndef TN_TESTS_UNIT_FORMULA_CHECKS_H
#define TN_TESTS_UNIT_FORMULA_CHECKS_H

#include <math.h>
#include <tenon/tenon.h>

#include "check.h"
#include "kept_error.h"

struct formula_row {
	const char *name;
	tn_array *(*f)(const tn_array *x);
};

enum { FORMULA_ROWS = 3, FORMULA_COLUMNS = 5, FORMULA_SIZE = FORMULA_ROWS * FORMULA_COLUMNS };

static inline tn_array *formula_input(tn_context *context, const double *values)
{
	return tn_from_host(context, TN_F64, 2, (int64_t[]){FORMULA_ROWS, FORMULA_COLUMNS}, values);
}

/* Weights that differ between elements, so that a misplaced gradient is detected. */
static inline tn_array *formula_total(tn_array *a)
{
	return tn_sum(tn_multiply(a, tn_sin(tn_affine(a, 0.3, 0.7))), TN_ALL_AXES, NULL, 0);
}

static inline double formula_value(tn_context *context, const struct formula_row *row,
				   const double *values)
{
	double value;
	assert_ok(tn_scope_begin(context));
	assert_ok(tn_item(formula_total(row->f(formula_input(context, values))), &value));
	tn_scope_end(context, NULL);
	return value;
}

static inline void formula_expect_gradient(tn_context *context, const struct formula_row *row,
					   double *values)
{
	const double step = 1e-5;
	double found[FORMULA_SIZE];
	tn_array *x = formula_input(context, values);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, formula_total(row->f(x)), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	tn_tape_end(tape);
	for (size_t i = 0; i < FORMULA_SIZE; i++) {
		const double at = values[i];
		values[i] = at + step;
		double difference = formula_value(context, row, values);
		values[i] = at - step;
		difference = (difference - formula_value(context, row, values)) / (2 * step);
		values[i] = at;
		if (!(fabs(found[i] - difference) <= 1e-6 * fmax(1, fabs(difference))))
			fail_msg("%s: gradient %zu: expected %.12g, found %.12g", row->name, i,
				 difference, found[i]);
	}
}

static inline void formula_expect_gradients(tn_context *context, size_t n,
					    const struct formula_row *rows)
{
	double values[FORMULA_SIZE];
	for (int i = 0; i < FORMULA_SIZE; i++)
		values[i] = sin(1.7 * i * i + 0.4) + 0.01 * i;
	for (size_t row = 0; row < n; row++) {
		assert_ok(tn_scope_begin(context));
		formula_expect_gradient(context, &rows[row], values);
		tn_scope_end(context, NULL);
	}
}

#endif
