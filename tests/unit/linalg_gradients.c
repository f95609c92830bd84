/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients of factorisations, in double precision beside differences.  A complex matrix is made of
 * two real inputs; of complex vectors, whose phases are unspecified, only what does not depend on
 * them is compared.
 */
#include "nn_backends.h"

static tn_context *context;

static const char *const backends[] = {"reference!", "cpu!"};

/* The sum of the elements, each times a number of its own. */
static tn_array *weigh(const tn_array *x)
{
	const int64_t n = tn_array_size(x);
	if (!x)
		return NULL;
	tn_array *flat = tn_reshape(x, 1, &n);
	tn_array *weights = tn_sin(tn_affine(tn_arange(context, TN_F64, 0, (double)n, 1), 1.7, 1));
	return tn_sum(tn_multiply(flat, weights), TN_ALL_AXES, NULL, 0);
}

/* The same of both parts of complex elements. */
static tn_array *weigh_all(const tn_array *x)
{
	if (!x || tn_array_dtype(x) != TN_C128)
		return weigh(x);
	return tn_add(weigh(tn_real(x)), tn_affine(weigh(tn_imag(x)), 0.7, 0));
}

static tn_array *adjoint(const tn_array *a)
{
	return tn_conj(tn_matrix_transpose(a));
}

static tn_array *hermitian(const tn_array *a)
{
	return tn_affine(tn_add(a, adjoint(a)), 0.5, 0);
}

/* Hermitian, with all eigenvalues above 0. */
static tn_array *positive(const tn_array *a)
{
	const int64_t n = tn_array_shape(a)[tn_array_rank(a) - 1];
	return tn_add(tn_matmul(a, adjoint(a)), tn_identity(context, tn_array_dtype(a), n));
}

/* ---- Functions -------------------------------------------------------------------------------*/

static tn_array *f_cholesky(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_cholesky(positive(a), 0));
}

static tn_array *f_cholesky_upper(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_cholesky(positive(a), 1));
}

static tn_array *f_solve(const tn_array *a, const tn_array *b)
{
	return weigh_all(tn_solve(a, b));
}

static tn_array *f_solve_shared(const tn_array *a, const tn_array *b)
{
	return weigh_all(tn_solve(tn_squeeze(tn_slice(a, 0, 0, 1, 1), 0), b));
}

static tn_array *f_triangular(const tn_array *a, const tn_array *b)
{
	tn_array *sum = NULL;
	for (int i = 0; i < 12; i++) {
		tn_array *x = tn_solve_triangular(a, b, i % 2, i / 2 % 3, i / 6);
		tn_array *part = tn_affine(weigh_all(x), 1 + i, 0);
		sum = sum ? tn_add(sum, part) : part;
	}
	return sum;
}

static tn_array *f_inv(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_inv(a));
}

static tn_array *f_det(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_det(a));
}

static tn_array *f_slogdet(const tn_array *a, const tn_array *b)
{
	tn_array *sign, *log;
	(void)b;
	if (tn_slogdet(a, &sign, &log))
		return NULL;
	return tn_add(weigh_all(sign), weigh(log));
}

static tn_array *f_qr(const tn_array *a, const tn_array *b)
{
	tn_array *q, *r;
	(void)b;
	if (tn_qr(a, 0, &q, &r))
		return NULL;
	return tn_add(weigh_all(q), weigh_all(tn_affine(r, 0.5, 0)));
}

static tn_array *f_r(const tn_array *a, const tn_array *b)
{
	tn_array *r;
	(void)b;
	return tn_qr(a, 0, NULL, &r) ? NULL : weigh_all(r);
}

/* q has no gradient, r has. */
static tn_array *f_r_complete(const tn_array *a, const tn_array *b)
{
	tn_array *q, *r;
	(void)b;
	return tn_qr(a, 1, &q, &r) ? NULL : weigh_all(r);
}

static tn_array *f_eigh(const tn_array *a, const tn_array *b)
{
	tn_array *w, *v;
	(void)b;
	if (tn_eigh(hermitian(a), 0, &w, &v))
		return NULL;
	/* v f(w) v^H has no phase. */
	tn_array *part = tn_matmul(tn_multiply(v, tn_expand_dims(tn_sin(w), -2)), adjoint(v));
	return tn_add(weigh(w), tn_add(weigh_all(part), weigh(tn_square(tn_abs(v)))));
}

static tn_array *f_eigvalsh(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh(tn_eigvalsh(hermitian(a), 1));
}

/* With eigenvalues that lie apart: near equal ones differences are coarse. */
static tn_array *spread(const tn_array *a)
{
	return tn_add(a, tn_diag(tn_affine(tn_arange(context, TN_F64, 0, 3, 1), 4, 0), 0));
}

static tn_array *f_eig(const tn_array *a, const tn_array *b)
{
	tn_array *w, *v;
	(void)b;
	if (tn_eig(spread(a), &w, &v))
		return NULL;
	/* v f(w) v^-1 has no phase, nor an order. */
	tn_array *part = tn_matmul(tn_multiply(v, tn_expand_dims(tn_exp(tn_affine(w, 0.2, 0)), -2)),
				   tn_inv(v));
	return tn_add(weigh_all(part), weigh(tn_square(tn_abs(v))));
}

static tn_array *f_eigvals(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_eigvals(spread(a)));
}

static tn_array *f_svd(const tn_array *a, const tn_array *b)
{
	tn_array *u, *s, *vh;
	(void)b;
	if (tn_svd(a, 0, &u, &s, &vh))
		return NULL;
	tn_array *part = tn_matmul(tn_multiply(u, tn_expand_dims(tn_sin(s), -2)), vh);
	tn_array *sizes = tn_add(weigh(tn_square(tn_abs(u))), weigh(tn_square(tn_abs(vh))));
	return tn_add(tn_add(weigh(s), sizes), weigh_all(part));
}

/* Without the factor that has more than k vectors. */
static tn_array *f_svd_full(const tn_array *a, const tn_array *b)
{
	tn_array *u, *s, *vh;
	(void)b;
	if (tn_svd(a, 1, &u, &s, &vh))
		return NULL;
	const int is_tall = tn_array_size(u) > tn_array_size(vh);
	return tn_add(weigh(s), weigh(tn_square(tn_abs(is_tall ? vh : u))));
}

static tn_array *f_svdvals(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh(tn_svdvals(a));
}

static tn_array *f_pinv(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_pinv(a, -1));
}

static tn_array *f_lstsq(const tn_array *a, const tn_array *b)
{
	tn_array *x, *residuals;
	if (tn_lstsq(a, b, -1, &x, &residuals, NULL, NULL))
		return NULL;
	return tn_add(weigh_all(x), weigh(residuals));
}

static tn_array *f_expm(const tn_array *a, const tn_array *b)
{
	(void)b;
	return weigh_all(tn_expm(tn_affine(a, 3, 0)));
}

static const struct row {
	const char *name;
	tn_array *(*f)(const tn_array *a, const tn_array *b);
	int64_t m, n;
} rows[] = {
	{"cholesky", f_cholesky, 3, 3},
	{"cholesky, upper", f_cholesky_upper, 3, 3},
	{"solve", f_solve, 3, 3},
	{"solve, one for all", f_solve_shared, 3, 3},
	{"triangular", f_triangular, 3, 3},
	{"inv", f_inv, 3, 3},
	{"det", f_det, 3, 3},
	{"slogdet", f_slogdet, 3, 3},
	{"qr", f_qr, 3, 3},
	{"qr, tall", f_qr, 4, 2},
	{"qr, wide", f_qr, 2, 4},
	{"r", f_r, 3, 2},
	{"eigh", f_eigh, 3, 3},
	{"eigvalsh", f_eigvalsh, 3, 3},
	{"svd", f_svd, 3, 3},
	{"svd, tall", f_svd, 4, 2},
	{"svd, wide", f_svd, 2, 4},
	{"eig", f_eig, 3, 3},
	{"eigvals", f_eigvals, 3, 3},
	{"svdvals", f_svdvals, 3, 2},
	{"pinv, tall", f_pinv, 4, 2},
	{"pinv, wide", f_pinv, 2, 4},
	{"lstsq", f_lstsq, 4, 2},
	{"expm", f_expm, 3, 3},
};

/* Their gradients use complete factors, and so have none. */
static const struct row complete_rows[] = {
	{"r, complete", f_r_complete, 4, 2},
	{"svd, complete and tall", f_svd_full, 4, 2},
	{"svd, complete and wide", f_svd_full, 2, 4},
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_array *of_real(void *user, tn_array *const *inputs)
{
	return ((const struct row *)user)->f(inputs[0], inputs[1]);
}

static tn_array *of_complex(void *user, tn_array *const *inputs)
{
	return ((const struct row *)user)
		->f(tn_complex(inputs[0], inputs[2]), tn_complex(inputs[1], inputs[3]));
}

/* (2, m, n), the same each time; near the identity, so that nothing is nearly singular. */
static tn_array *make(int64_t m, int64_t n, double seed)
{
	const int64_t shape[] = {2, m, n}, size = 2 * m * n;
	tn_array *x = tn_affine(tn_arange(context, TN_F64, 0, (double)size, 1), 2.3, seed);
	tn_array *diagonal = tn_affine(tn_eye(context, TN_F64, m, n, 0), seed < 5 ? 1.5 : 0, 0);
	return tn_add(tn_reshape(tn_affine(tn_sin(x), 0.8, 0), 3, shape), diagonal);
}

static void check_row(const struct row *row)
{
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	struct row own = *row;
	assert_ok(tn_scope_begin(context));
	tn_array *inputs[] = {make(row->m, row->n, 1), make(row->m, 2, 7), make(row->m, row->n, 9),
			      make(row->m, 2, 13)};
	for (int is_complex = 0; is_complex < 2; is_complex++) {
		/* The gradient of b is 0 where it is not used: not checked. */
		tn_status status =
			tn_gradient_check(context, is_complex ? of_complex : of_real, &own,
					  is_complex ? 4 : 2, inputs, 1e-6, 3e-7, 0, &report);
		if (status)
			fail_msg("%s, %s: %s: input %d, element %d: %.9g, expected %.9g", row->name,
				 is_complex ? "complex" : "real",
				 tn_error(context) ? tn_error(context)->text : "", report.input,
				 (int)report.element, report.tape, report.difference);
	}
	tn_scope_end(context, NULL);
}

static void gradients_are_differences(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
	for (size_t i = 0; i < sizeof(complete_rows) / sizeof(complete_rows[0]); i++)
		check_row(&complete_rows[i]);
}

/* The weighed gradient of f at a, which the tape records. */
static tn_array *slope(const struct row *row, tn_tape *tape, tn_array *a, const tn_array *b)
{
	struct tn_gradients_options options = tn_gradients_defaults();
	tn_array *y, *g = NULL;
	options.create_graph = 1;
	assert_ok(tn_tape_watch(tape, a));
	y = row->f(a, b);
	assert_ok(tn_tape_gradients(tape, 1, &y, NULL, 1, &a, &g, &options));
	return weigh(g);
}

static double slope_at(const struct row *row, tn_array *a, const tn_array *b)
{
	double value = NAN;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_item(slope(row, tape, a, b), &value));
	tn_tape_end(tape);
	return value;
}

/* Along one direction. */
static void check_second(const struct row *row)
{
	const double step = 1e-5;
	double found = NAN;
	assert_ok(tn_scope_begin(context));
	tn_array *a = make(row->m, row->n, 1), *b = make(row->m, 2, 7), *h = NULL;
	tn_array *direction = make(row->m, row->n, 9), *move = tn_affine(direction, step, 0);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *sum = slope(row, tape, a, b);
	if (tn_tape_gradients(tape, 1, &sum, NULL, 1, &a, &h, NULL))
		fail_msg("%s: %s", row->name, tn_error(context)->text);
	tn_tape_end(tape);
	assert_ok(tn_item(tn_vdot(h, direction), &found));
	double expected =
		(slope_at(row, tn_add(a, move), b) - slope_at(row, tn_subtract(a, move), b)) /
		(2 * step);
	if (!(fabs(found - expected) <= 1e-6 * (1 + fabs(expected))))
		fail_msg("%s: second derivative %.9g, expected %.9g", row->name, found, expected);
	tn_scope_end(context, NULL);
}

static void second_gradients_are_differences(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_second(&rows[i]);
}

/* Of equal values, the values have gradients. */
static void values_have_gradients_where_they_are_equal(void **state)
{
	double found[4];
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_array *a = tn_identity(context, TN_F64, 2);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, a));
	tn_array *sum = tn_add(tn_sum(tn_eigvalsh(a, 0), TN_ALL_AXES, NULL, 0),
			       tn_sum(tn_svdvals(a), TN_ALL_AXES, NULL, 0));
	assert_ok(tn_tape_backward(tape, sum, NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, a), found, sizeof(found)));
	for (int i = 0; i < 4; i++)
		assert_close(found[i], i % 3 ? 0 : 2, 1e-14);
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

static void what_has_no_gradient_says_so(void **state)
{
	tn_array *u, *s, *vh;
	(void)state;
	assert_ok(tn_scope_begin(context));
	tn_array *a = make(3, 2, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, a));
	assert_status(tn_lu(a, &u, &s, &vh), TN_STATE);
	assert_kept(context, TN_STATE, "lu");
	assert_ok(tn_svd(a, 1, &u, &s, &vh));
	assert_status(tn_tape_backward(tape, tn_sum(u, TN_ALL_AXES, NULL, 0), NULL),
		      TN_UNSUPPORTED);
	assert_kept(context, TN_UNSUPPORTED, "full_matrices");
	tn_tape_end(tape);
	tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, a));
	assert_ok(tn_qr(a, 1, &u, &s));
	assert_status(tn_tape_backward(tape, tn_sum(u, TN_ALL_AXES, NULL, 0), NULL),
		      TN_UNSUPPORTED);
	assert_kept(context, TN_UNSUPPORTED, "complete q");
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradients_are_differences),
		cmocka_unit_test(second_gradients_are_differences),
		cmocka_unit_test(values_have_gradients_where_they_are_equal),
		cmocka_unit_test(what_has_no_gradient_says_so),
	};
	int failed = 0;
	keep_plugin_path();
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		context = open_backend(backends[i]);
		failed += cmocka_run_group_tests_name(backends[i], tests, NULL, NULL);
		tn_context_close(context);
	}
	return failed;
}
