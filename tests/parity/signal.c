/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Signals and polynomials against recorded NumPy numbers; gradients against differences; errors.
 */
#include "parity/numpy_calls.h"
#include "unit/kept_error.h"

/* ---- Recorded numbers ------------------------------------------------------------------------*/

static tn_array *interp(struct call *c)
{
	const int has_left = (int)setting(c, "left"), has_right = (int)setting(c, "right");
	return tn_interp(c->x, c->y, c->z, has_left ? &c->numbers[1] : NULL,
			 has_right ? &c->numbers[1 + has_left] : NULL, c->numbers[0]);
}
static tn_array *unwrap(struct call *c)
{
	return tn_unwrap(c->x, c->numbers[0], (int)setting(c, "axis"), c->numbers[1]);
}
static tn_array *convolve(struct call *c)
{
	return tn_convolve(c->x, c->y, (uint32_t)setting(c, "mode"));
}
static tn_array *correlate(struct call *c)
{
	return tn_correlate(c->x, c->y, (uint32_t)setting(c, "mode"));
}
static tn_array *cross(struct call *c)
{
	return tn_cross(c->x, c->y, (int)setting(c, "axis"));
}
static tn_array *bartlett(struct call *c)
{
	return tn_bartlett(c->context, tn_array_dtype(c->x), setting(c, "n"));
}
static tn_array *blackman(struct call *c)
{
	return tn_blackman(c->context, tn_array_dtype(c->x), setting(c, "n"));
}
static tn_array *hamming(struct call *c)
{
	return tn_hamming(c->context, tn_array_dtype(c->x), setting(c, "n"));
}
static tn_array *hanning(struct call *c)
{
	return tn_hanning(c->context, tn_array_dtype(c->x), setting(c, "n"));
}
static tn_array *kaiser(struct call *c)
{
	return tn_kaiser(c->context, tn_array_dtype(c->x), setting(c, "n"), c->numbers[0]);
}

static tn_array *polyval(struct call *c)
{
	return tn_polyval(c->x, c->y);
}
static tn_array *polyadd(struct call *c)
{
	return tn_polyadd(c->x, c->y);
}
static tn_array *polysub(struct call *c)
{
	return tn_polysub(c->x, c->y);
}
static tn_array *polymul(struct call *c)
{
	return tn_polymul(c->x, c->y);
}
static tn_array *polydiv(struct call *c)
{
	return tn_polydiv(c->x, c->y, &c->others[0]);
}
static tn_array *polyder(struct call *c)
{
	return tn_polyder(c->x, (int)setting(c, "m"));
}
static tn_array *polyint(struct call *c)
{
	return tn_polyint(c->x, (int)setting(c, "m"), c->y);
}
static tn_array *poly(struct call *c)
{
	return tn_poly(c->x);
}
static tn_array *roots(struct call *c)
{
	return tn_roots(c->x);
}
static tn_array *polyfit(struct call *c)
{
	return tn_polyfit(c->x, c->y, (int)setting(c, "degree"), c->z, &c->others[0]);
}

static const struct call_row rows[] = {
	{"interp", NULL, interp},   {"unwrap", NULL, unwrap},       {"convolve", NULL, convolve},
	{"cross", NULL, cross},     {"correlate", NULL, correlate}, {"bartlett", NULL, bartlett},
	{"hamming", NULL, hamming}, {"blackman", NULL, blackman},   {"hanning", NULL, hanning},
	{"kaiser", NULL, kaiser},   {"polyval", NULL, polyval},     {"polyadd", NULL, polyadd},
	{"polysub", NULL, polysub}, {"polymul", NULL, polymul},     {"polydiv", NULL, polydiv},
	{"polyder", NULL, polyder}, {"polyint", NULL, polyint},     {"poly", NULL, poly},
	{"roots", NULL, roots},     {"polyfit", NULL, polyfit},
};

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *weighted_sum(const tn_array *z)
{
	if (!z)
		return NULL;
	tn_array *weights =
		tn_arange(tn_array_context(z), TN_F64, 1, 1 + (double)tn_array_size(z), 1);
	return tn_sum(tn_multiply(z, tn_reshape(weights, tn_array_rank(z), tn_array_shape(z))),
		      TN_ALL_AXES, NULL, 0);
}

static tn_array *of_interp(void *user, tn_array *const *x)
{
	(void)user;
	const tn_array *places = tn_cumsum(x[1], 0);
	return tn_add(weighted_sum(tn_interp(x[0], places, x[2], NULL, NULL, 0)),
		      weighted_sum(tn_interp(x[0], places, x[2], NULL, NULL, 7)));
}

static tn_array *of_lines(void *user, tn_array *const *x)
{
	(void)user;
	tn_array *remainder;
	tn_array *quotient = tn_polydiv(x[0], x[1], &remainder);
	tn_array *sum = tn_add(weighted_sum(tn_convolve(x[0], x[1], TN_CONVOLVE_SAME)),
			       weighted_sum(tn_correlate(x[1], x[2], TN_CONVOLVE_FULL)));
	sum = tn_add(sum, weighted_sum(tn_cross(x[0], x[1], 0)));
	sum = tn_add(sum, weighted_sum(tn_unwrap(tn_affine(x[0], 20, 0), 0, 0, 6)));
	sum = tn_add(sum, tn_add(weighted_sum(quotient), weighted_sum(remainder)));
	sum = tn_add(sum, weighted_sum(tn_polyval(x[0], x[1])));
	sum = tn_add(sum, weighted_sum(tn_polyadd(x[0], tn_polyder(x[2], 1))));
	return tn_add(sum, weighted_sum(tn_polymul(tn_polyint(x[0], 2, x[2]), tn_poly(x[1]))));
}

static void gradients_are_those_of_differences(void **state)
{
	const int64_t three[] = {3}, two[] = {2};
	tn_context *context = trial_open("reference!");
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	(void)state;
	tn_array *x[] = {
		tn_from_host(context, TN_F64, 1, three, (double[]){0.3, 1.7, 2.2}),
		tn_from_host(context, TN_F64, 1, three, (double[]){0.5, 0.9, 1.3}),
		tn_from_host(context, TN_F64, 1, three, (double[]){1.5, -2, 0.7}),
	};
	if (tn_gradient_check(context, of_interp, NULL, 3, x, 0, 1e-6, 0, &report))
		fail_msg("interp: %s", tn_error(context)->text);
	x[2] = tn_slice(x[2], 0, 0, two[0], 1);
	if (tn_gradient_check(context, of_lines, NULL, 3, x, 0, 1e-6, 0, &report))
		fail_msg("lines: %s", tn_error(context)->text);
	tn_context_close(context);
}

/* ---- The host --------------------------------------------------------------------------------*/

static struct tn_ledger_row ledger_row(tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row), .operation = NULL};
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (strcmp(row.operation, operation) == 0)
			return row;
	}
	fail_msg("the ledger has no row of %s", operation);
	return row;
}

static void what_the_host_computes_is_counted(void **state)
{
	const int64_t four[] = {4};
	tn_context *context = trial_open("reference!");
	(void)state;
	tn_array *p = tn_from_host(context, TN_F64, 1, four, (double[]){1, -6, 11, -6});
	assert_non_null(tn_roots(p));
	assert_non_null(tn_polyfit(tn_arange(context, TN_F64, 0, 4, 1), p, 1, NULL, NULL));
	assert_int_equal(ledger_row(context, "roots").host, 1);
	assert_int_equal(ledger_row(context, "roots").bytes_moved, 64);
	assert_int_equal(ledger_row(context, "polyfit").host, 1);
	assert_int_equal(ledger_row(context, "polyfit").bytes_moved, 64);
	tn_context_close(context);
}

/* Wilkinson's polynomial, whose zeros are 1 to 20 though its coefficients reach 10^19: each found
 * zero is one of a polynomial whose coefficients differ by roundings alone. */
static void hard_zeros_are_zeros(void **state)
{
	tn_context *context = trial_open("reference!");
	double p[21] = {1}, found[40];
	(void)state;
	for (int i = 1; i <= 20; i++) {
		for (int k = i; k > 0; k--)
			p[k] -= i * p[k - 1];
	}
	tn_array *line = tn_from_host(context, TN_F64, 1, (int64_t[]){21}, p);
	assert_ok(tn_to_host(tn_roots(line), found, sizeof(found)));
	for (int i = 0; i < 20; i++) {
		double re = p[0], im = 0, size = fabs(p[0]);
		const double x = found[2 * i], y = found[2 * i + 1];
		for (int k = 1; k <= 20; k++) {
			const double next = re * x - im * y + p[k];
			im = re * y + im * x;
			re = next;
			size = size * hypot(x, y) + fabs(p[k]);
		}
		assert_true(hypot(re, im) <= 200 * DBL_EPSILON * size);
	}
	/* A zero of third order, to the third root of the precision. */
	line = tn_from_host(context, TN_F64, 1, (int64_t[]){4}, (double[]){1, -3, 3, -1});
	assert_ok(tn_to_host(tn_roots(line), found, 48));
	for (int i = 0; i < 3; i++)
		assert_true(hypot(found[2 * i] - 1, found[2 * i + 1]) < 1e-4);
	tn_context_close(context);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static void bad_signals_are_errors(void **state)
{
	const int64_t three[] = {3}, none[] = {0}, matrix[] = {3, 4};
	tn_context *c = trial_open("reference!");
	(void)state;
	tn_array *x = tn_ones(c, TN_F32, 1, three), *e = tn_ones(c, TN_F32, 1, none);
	tn_array *m = tn_ones(c, TN_F32, 2, matrix), *z = tn_ones(c, TN_C64, 1, three);
	tn_array *b = tn_ones(c, TN_BOOL, 1, three);
	assert_refused(c, tn_interp(x, m, x, NULL, NULL, 0), TN_SHAPE, "interp",
		       "found shapes (3, 4) and (3,)");
	assert_refused(c, tn_interp(x, e, e, NULL, NULL, 0), TN_SHAPE, "interp", "at least 1");
	assert_refused(c, tn_interp(z, x, x, NULL, NULL, 0), TN_DTYPE, "interp",
		       "found c64 and f32");
	assert_refused(c, tn_interp(x, x, x, NULL, NULL, NAN), TN_INVALID_ARGUMENT, "interp",
		       "period: expected a finite number, found nan");
	assert_refused(c, tn_unwrap(z, 0, 0, 6), TN_DTYPE, "unwrap", "found c64");
	assert_refused(c, tn_unwrap(x, 0, 0, 0), TN_INVALID_ARGUMENT, "unwrap", "above 0, found 0");
	assert_refused(c, tn_unwrap(x, 0, 1, 6), TN_INVALID_ARGUMENT, "unwrap", "axis");
	assert_refused(c, tn_convolve(x, e, 0), TN_SHAPE, "convolve", "found shapes (3,) and (0,)");
	assert_refused(c, tn_correlate(x, m, 0), TN_SHAPE, "correlate",
		       "found shapes (3,) and (3, 4)");
	assert_refused(c, tn_convolve(x, x, 3), TN_INVALID_ARGUMENT, "convolve",
		       "mode: expected 0 to 2, found 3");
	assert_refused(c, tn_cross(x, m, -1), TN_SHAPE, "cross",
		       "b: expected 2 or 3 elements along axis 1, found 4");
	assert_refused(c, tn_cross(x, b, 0), TN_DTYPE, "cross", "b: expected numbers, found bool");
	assert_refused(c, tn_cross(x, x, 1), TN_INVALID_ARGUMENT, "cross", "axis");
	assert_refused(c, tn_hanning(c, TN_I32, 3), TN_DTYPE, "hanning", "found i32");
	assert_refused(c, tn_kaiser(c, TN_F32, -1, 2), TN_INVALID_ARGUMENT, "kaiser",
		       "n: expected 0 or more, found -1");
	assert_null(tn_interp(NULL, x, x, NULL, NULL, 0));
	assert_null(tn_bartlett(NULL, TN_F32, 3));
	tn_context_close(c);
}

static void bad_polynomials_are_errors(void **state)
{
	const int64_t three[] = {3}, none[] = {0}, matrix[] = {3, 4};
	tn_context *c = trial_open("reference!");
	(void)state;
	tn_array *x = tn_ones(c, TN_F32, 1, three), *e = tn_ones(c, TN_F32, 1, none), *r = x;
	tn_array *m = tn_ones(c, TN_F32, 2, matrix), *z = tn_ones(c, TN_C64, 1, three);
	assert_refused(c, tn_polyval(m, x), TN_SHAPE, "polyval",
		       "p: expected a line of coefficients");
	assert_refused(c, tn_polyadd(x, m), TN_SHAPE, "polyadd",
		       "b: expected a line of coefficients");
	assert_refused(c, tn_polydiv(x, e, &r), TN_SHAPE, "polydiv", "found shape (0,)");
	assert_null(r);
	assert_refused(c, tn_polyder(x, -1), TN_INVALID_ARGUMENT, "polyder",
		       "m: expected 0 or more, found -1");
	assert_refused(c, tn_polyint(x, 2, x), TN_SHAPE, "polyint",
		       "k: expected a line of 1 or m = 2 numbers, found shape (3,)");
	assert_refused(c, tn_poly(m), TN_SHAPE, "poly", "found shape (3, 4)");
	assert_refused(c, tn_roots(tn_full(c, TN_F32, 1, three, NAN)), TN_INVALID_ARGUMENT, "roots",
		       "p: coefficient 0 is not finite");
	assert_refused(c, tn_polyfit(z, x, 1, NULL, NULL), TN_DTYPE, "polyfit", "found c64");
	assert_refused(c, tn_polyfit(x, x, -1, NULL, NULL), TN_INVALID_ARGUMENT, "polyfit",
		       "degree: expected 0 or more, found -1");
	assert_refused(c, tn_polyfit(x, e, 1, NULL, NULL), TN_SHAPE, "polyfit",
		       "found shapes (3,) and (0,)");
	assert_refused(c, tn_polyfit(x, x, 1, e, NULL), TN_SHAPE, "polyfit",
		       "w: expected shape (3,) of x, found (0,)");
	assert_refused(c, tn_polyfit(x, x, 3, NULL, NULL), TN_SHAPE, "polyfit",
		       "at least degree + 1 = 4 places, found 3");
	r = x;
	assert_refused(c, tn_polyfit(x, x, 1, NULL, &r), TN_INVALID_ARGUMENT, "polyfit",
		       "do not determine 2 coefficients");
	assert_null(r);
	tn_tape *tape = tn_tape_begin(c);
	assert_ok(tn_tape_watch(tape, x));
	assert_refused(c, tn_roots(x), TN_STATE, "roots", "a tape is recording");
	tn_tape_end(tape);
	tn_context_close(c);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(gradients_are_those_of_differences),
	cmocka_unit_test(what_the_host_computes_is_counted),
	cmocka_unit_test(hard_zeros_are_zeros),
	cmocka_unit_test(bad_signals_are_errors),
	cmocka_unit_test(bad_polynomials_are_errors),
};
const struct parity parity = {
	.claim = "has_numpys_signals",
	.records = {{"signal.txt", 513}},
	.check = check_call,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.is_brief = parity_is_first_in_f32,
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(tests[0]),
};
