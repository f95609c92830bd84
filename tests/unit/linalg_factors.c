/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Factorisations of random, graded, singular, tiny and empty matrices: the factors multiply to the
 * matrix, and what should be orthonormal is.
 */
#include <complex.h>
#include <float.h>

#include "nn_backends.h"

/* A residual may be this multiple of max(m, n) epsilon times the norm (<tenon/backend.h>), and as
 * much again for the products that measure it. */
enum { MULTIPLE = 20, BATCH = 2 };

static tn_context *context;

static const char *const backends[] = {"reference!", "cpu!", "mock"};
static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_C64, TN_C128};

enum kind { RANDOM, GRADED, SINGULAR, TINY, HUGE_ONES, ZERO, KINDS };
static const char *const kinds[] = {"random", "graded", "singular", "tiny", "huge", "zero"};
static const int64_t shapes[][2] = {{1, 1}, {2, 2}, {5, 3}, {3, 5}, {16, 16}, {33, 17}, {17, 33}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* A number in (-1, 1), the same each time. */
static double draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* CMPLX of C11, which not every compiler has. */
static double complex complex_of(double real, double imaginary)
{
	const double parts[2] = {real, imaginary};
	double complex z;
	memcpy(&z, parts, sizeof(z));
	return z;
}

static double epsilon_of(tn_dtype dtype)
{
	return dtype == TN_F32 || dtype == TN_C64 ? (double)FLT_EPSILON : DBL_EPSILON;
}

static double factor_of(enum kind kind, int64_t i, int64_t j, tn_dtype dtype)
{
	const int is_narrow = epsilon_of(dtype) > 1e-10;
	switch (kind) {
	case GRADED:
		return pow(10, -0.5 * (double)(i + j));
	case TINY:
		return is_narrow ? 1e-30 : 1e-280;
	case HUGE_ONES:
		return is_narrow ? 1e15 : 1e140;
	case ZERO:
		return 0;
	default:
		return 1;
	}
}

/* (BATCH, m, n); a singular one has its last column equal to its first. */
static tn_array *make(tn_dtype dtype, enum kind kind, int64_t m, int64_t n)
{
	const int is_complex = dtype == TN_C64 || dtype == TN_C128;
	const int64_t shape[] = {BATCH, m, n};
	double complex *numbers = calloc((size_t)(BATCH * m * n) + 1, sizeof(*numbers));
	uint64_t state = (uint64_t)(m * 100 + n);
	for (int64_t i = 0; i < BATCH * m * n; i++) {
		const int64_t row = i / n % m, column = i % n;
		double re = draw(&state), im = is_complex ? draw(&state) : 0;
		numbers[i] = complex_of(re, im) * factor_of(kind, row, column, dtype);
		if (kind == SINGULAR && column == n - 1)
			numbers[i] = numbers[i - column];
	}
	tn_array *wide = tn_from_host(context, TN_C128, 3, shape, numbers);
	free(numbers);
	return is_complex ? tn_astype(wide, dtype) : tn_astype(tn_real(wide), dtype);
}

static tn_array *adjoint(const tn_array *a)
{
	return tn_conj(tn_matrix_transpose(a));
}

static double norm(const tn_array *a)
{
	double value = NAN;
	const tn_dtype wide = tn_array_dtype(a) == TN_F32   ? TN_F64
			      : tn_array_dtype(a) == TN_C64 ? TN_C128
							    : tn_array_dtype(a);
	if (!tn_array_size(a))
		return 0;
	/* Scaled, so that squares of tiny and huge numbers stay in range. */
	tn_array *size = tn_abs(tn_astype(a, wide));
	tn_array *most = tn_max(size, TN_ALL_AXES, NULL, 0);
	double largest = 0;
	assert_ok(tn_item(most, &largest));
	if (largest == 0 || !isfinite(largest))
		return largest;
	assert_ok(tn_item(tn_norm(tn_affine(size, 1 / largest, 0), TN_ALL_AXES, NULL, 0), &value));
	return value * largest;
}

static char where[160];

/* ||a - b|| is small beside ||a||. */
static void assert_near(const char *what, const tn_array *a, const tn_array *b)
{
	const int64_t *shape = tn_array_shape(a);
	const int64_t m = shape[1], n = shape[2];
	const double bound = MULTIPLE * (double)(m > n ? m : n) * epsilon_of(tn_array_dtype(a));
	double size = norm(a), residual = norm(tn_subtract(a, b));
	if (!(residual <= bound * size))
		fail_msg("%s: %s: residual %g, expected at most %g", where, what, residual,
			 bound * size);
}

static void assert_orthonormal(const char *what, const tn_array *q)
{
	const int64_t n = tn_array_shape(q)[2];
	if (n)
		assert_near(what,
			    tn_broadcast_to(tn_identity(context, tn_array_dtype(q), n), 3,
					    (const int64_t[]){BATCH, n, n}),
			    tn_matmul(adjoint(q), q));
}

/* columns of a times the elements of d */
static tn_array *scaled(const tn_array *a, const tn_array *d)
{
	return tn_multiply(a, tn_expand_dims(d, -2));
}

/* ---- Factors ---------------------------------------------------------------------------------*/

static void check_qr(const tn_array *a)
{
	tn_array *q, *r, *alone;
	for (int complete = 0; complete < 2; complete++) {
		assert_ok(tn_qr(a, complete, &q, &r));
		assert_near("q r", a, tn_matmul(q, r));
		assert_orthonormal("q", q);
		assert_ok(tn_qr(a, complete, NULL, &alone));
		assert_true(norm(tn_subtract(r, alone)) == 0);
		assert_true(norm(tn_tril(r, -1)) == 0);
	}
}

static void check_lu(const tn_array *a)
{
	tn_array *p, *l, *u;
	assert_ok(tn_lu(a, &p, &l, &u));
	assert_near("p l u", a, tn_matmul(tn_astype(p, tn_array_dtype(a)), tn_matmul(l, u)));
	assert_true(norm(tn_triu(l, 1)) == 0 && norm(tn_tril(u, -1)) == 0);
}

static void check_svd(const tn_array *a)
{
	tn_array *u, *s, *vh, *all;
	const int64_t m = tn_array_shape(a)[1], n = tn_array_shape(a)[2], k = m < n ? m : n;
	for (int full = 0; full < 2; full++) {
		assert_ok(tn_svd(a, full, &u, &s, &vh));
		assert_orthonormal("u", u);
		assert_orthonormal("v", adjoint(vh));
		assert_near(
			"u s vh", a,
			tn_matmul(scaled(tn_slice(u, 2, 0, k, 1), s), tn_slice(vh, 1, 0, k, 1)));
		all = tn_diff(s, 1, -1);
		double most = -1;
		if (tn_array_size(all))
			assert_ok(tn_item(tn_max(all, TN_ALL_AXES, NULL, 0), &most));
		assert_true(most <= 0);
	}
	assert_near("svdvals", tn_expand_dims(s, 1), tn_expand_dims(tn_svdvals(a), 1));
}

static void check_hermitian(const tn_array *any)
{
	tn_array *w, *v, *a = tn_affine(tn_add(any, adjoint(any)), 0.5, 0);
	assert_ok(tn_eigh(a, 0, &w, &v));
	assert_orthonormal("v", v);
	assert_near("v w v^H", a, tn_matmul(scaled(v, w), adjoint(v)));
	/* The other triangle is not read. */
	tn_array *w2, *v2;
	assert_ok(tn_eigh(tn_triu(a, 0), 1, &w2, &v2));
	assert_near("upper", a, tn_matmul(scaled(v2, w2), adjoint(v2)));
	assert_near("eigvalsh", tn_expand_dims(w, 1), tn_expand_dims(tn_eigvalsh(a, 0), 1));
}

static void check_eig(const tn_array *a)
{
	tn_array *w, *v;
	if (tn_eig(a, &w, &v))
		fail_msg("%s: %s", where, tn_error(context)->text);
	const tn_array *wide = tn_astype(a, tn_array_dtype(v));
	/* ||a v - v w|| beside ||a||, where v has columns of length 1. */
	double residual = norm(tn_subtract(tn_matmul(wide, v), scaled(v, w)));
	double n = (double)tn_array_shape(a)[1];
	if (!(residual <= MULTIPLE * n * epsilon_of(tn_array_dtype(a)) * norm(a)))
		fail_msg("%s: eig: residual %g of %g", where, residual, norm(a));
	assert_true(tn_array_size(tn_eigvals(a)) == tn_array_size(w));
}

static void check_cholesky(const tn_array *any)
{
	const int64_t n = tn_array_shape(any)[1];
	tn_array *unit = tn_identity(context, tn_array_dtype(any), n);
	double size = norm(any);
	tn_array *a = tn_add(tn_matmul(any, adjoint(any)), tn_affine(unit, size * size, 0));
	tn_array *l = tn_cholesky(a, 0);
	assert_non_null(l);
	assert_near("l l^H", a, tn_matmul(l, adjoint(l)));
	assert_true(norm(tn_triu(l, 1)) == 0);
	tn_array *u = tn_cholesky(tn_triu(a, 0), 1);
	assert_near("u^H u", a, tn_matmul(adjoint(u), u));
}

static void check_kind(tn_dtype dtype, enum kind kind)
{
	for (int i = 0; i < SHAPES; i++) {
		const int64_t m = shapes[i][0], n = shapes[i][1];
		const char *dtype_name = tn_dtype_name(dtype);
		assert_ok(tn_scope_begin(context));
		snprintf(where, sizeof(where), "%s, %s, (%d, %d)", dtype_name, kinds[kind], (int)m,
			 (int)n);
		tn_array *a = make(dtype, kind, m, n);
		check_qr(a);
		check_lu(a);
		check_svd(a);
		if (m == n) {
			check_hermitian(a);
			check_eig(a);
		}
		if (m == n && (kind == RANDOM || kind == GRADED))
			check_cholesky(a);
		tn_scope_end(context, NULL);
		assert_null(tn_error(context));
	}
}

static void factors_multiply_to_the_matrix(void **state)
{
	(void)state;
	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; i < 4; i++)
			check_kind(dtypes[i], (enum kind)kind);
}

/* ---- Systems ---------------------------------------------------------------------------------*/

static void check_systems(tn_dtype dtype, int64_t n)
{
	tn_array *any = make(dtype, RANDOM, n, n);
	tn_array *a = tn_add(any, tn_affine(tn_identity(context, dtype, n), (double)n, 0));
	tn_array *b = make(dtype, RANDOM, n, 3);
	snprintf(where, sizeof(where), "%s, %d", tn_dtype_name(dtype), (int)n);
	assert_near("solve", b, tn_matmul(a, tn_solve(a, b)));
	assert_near(
		"inv",
		tn_broadcast_to(tn_identity(context, dtype, n), 3, (const int64_t[]){BATCH, n, n}),
		tn_matmul(a, tn_inv(a)));
	for (int lower = 0; lower < 2; lower++) {
		for (int transpose = 0; transpose < 3; transpose++) {
			tn_array *t = lower ? tn_tril(a, 0) : tn_triu(a, 0);
			tn_array *op = transpose == 0   ? t
				       : transpose == 1 ? tn_matrix_transpose(t)
							: adjoint(t);
			tn_array *x = tn_solve_triangular(a, b, lower, transpose, 0);
			assert_near("solve_triangular", b, tn_matmul(op, x));
		}
	}
	/* Of a vector, and one matrix for all. */
	tn_array *first = tn_squeeze(tn_slice(a, 0, 0, 1, 1), 0);
	tn_array *vector = tn_squeeze(tn_slice(tn_slice(b, 0, 0, 1, 1), 2, 0, 1, 1), 2);
	tn_array *line = tn_squeeze(vector, 0), *x = tn_solve(first, line);
	assert_int_equal(tn_array_rank(x), 1);
	assert_near("vector", tn_expand_dims(tn_expand_dims(line, 0), 2),
		    tn_expand_dims(tn_expand_dims(tn_matmul(first, x), 0), 2));
	assert_near("one for all", b, tn_matmul(first, tn_solve(first, b)));
}

static void solutions_solve(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		for (int64_t n = 1; n < 40; n += 12) {
			assert_ok(tn_scope_begin(context));
			check_systems(dtypes[i], n);
			tn_scope_end(context, NULL);
		}
	}
}

static void pseudo_inverses_have_their_four_properties(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		for (int kind = RANDOM; kind <= SINGULAR; kind += SINGULAR) {
			assert_ok(tn_scope_begin(context));
			tn_array *a = make(dtypes[i], (enum kind)kind, 7, 4), *x = tn_pinv(a, -1);
			snprintf(where, sizeof(where), "%s, %s", tn_dtype_name(dtypes[i]),
				 kinds[kind]);
			assert_near("a x a", a, tn_matmul(tn_matmul(a, x), a));
			assert_near("x a x", x, tn_matmul(tn_matmul(x, a), x));
			tn_array *ax = tn_matmul(a, x), *xa = tn_matmul(x, a);
			assert_near("a x", ax, adjoint(ax));
			assert_near("x a", xa, adjoint(xa));
			double rank[BATCH] = {0};
			assert_ok(tn_to_host(tn_astype(tn_matrix_rank(a, -1), TN_F64), rank,
					     sizeof(rank)));
			assert_true(rank[0] == (kind == SINGULAR ? 3 : 4));
			tn_scope_end(context, NULL);
		}
	}
}

/* ---- Numbers ---------------------------------------------------------------------------------*/

static double value_of(tn_array *a)
{
	double value = NAN;
	assert_ok(tn_item(a, &value));
	return value;
}

static tn_array *matrix(int64_t m, int64_t n, const double *numbers)
{
	return tn_from_host(context, TN_F64, 2, (const int64_t[]){m, n}, numbers);
}

static void determinants_are_those_of_known_matrices(void **state)
{
	static const struct {
		int64_t n;
		double numbers[9];
		double det;
	} rows[] = {
		{0, {0}, 1},
		{1, {-3}, -3},
		{2, {1, 2, 3, 4}, -2},
		{2, {1, 2, 2, 4}, 0},
		{3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, 1},
		{3, {0, 1, 0, 1, 0, 0, 0, 0, 1}, -1},
		{2, {1e200, 0, 0, 1e-200}, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tn_array *sign, *log, *a = matrix(rows[i].n, rows[i].n, rows[i].numbers);
		assert_close(value_of(tn_det(a)), rows[i].det, 1e-12 * fabs(rows[i].det));
		assert_ok(tn_slogdet(a, &sign, &log));
		assert_close(value_of(sign), rows[i].det > 0 ? 1 : rows[i].det < 0 ? -1 : 0, 0);
		assert_close(value_of(log), log2(fabs(rows[i].det)) * 0.69314718055994531, 1e-12);
	}
}

static void an_exponential_is_that_of_its_eigenvalues(void **state)
{
	static const double turn[] = {0, -1.5, 1.5, 0}, jordan[] = {2, 1, 0, 2},
			    large[] = {-300, 0, 0, 40};
	double found[4];
	(void)state;
	assert_ok(tn_to_host(tn_expm(matrix(2, 2, turn)), found, sizeof(found)));
	assert_close(found[0], cos(1.5), 1e-14);
	assert_close(found[2], sin(1.5), 1e-14);
	assert_ok(tn_to_host(tn_expm(matrix(2, 2, jordan)), found, sizeof(found)));
	assert_close(found[0], exp(2), 1e-13);
	assert_close(found[1], exp(2), 1e-13);
	assert_true(found[2] == 0);
	assert_ok(tn_to_host(tn_expm(matrix(2, 2, large)), found, sizeof(found)));
	assert_close(found[3], exp(40), 1e-12 * exp(40));
}

/* Since the ledger was reset. */
static uint64_t calls(const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!strcmp(row.operation, operation))
			n += row.native + row.lent + row.composed + row.host;
	}
	return n;
}

/* Without squarings; of a batch, the other matrices have theirs. */
static void an_exponential_of_what_is_not_finite_is_nan(void **state)
{
	const double numbers[] = {NAN, 0, 0, 1, INFINITY, 0, 0, 1, 0, 6, 0, 0};
	double found[12];
	(void)state;
	tn_array *a = tn_from_host(context, TN_F64, 3, (const int64_t[]){3, 2, 2}, numbers);
	tn_ledger_reset(context);
	assert_ok(tn_to_host(tn_expm(a), found, sizeof(found)));
	assert_true(calls("matmul") < 10);
	for (int i = 0; i < 8; i++)
		assert_true(isnan(found[i]));
	assert_close(found[8], 1, 1e-14);
	assert_close(found[9], 6, 1e-13);
}

static void least_squares_are_the_shortest(void **state)
{
	static const double a[] = {1, 1, 1, 2, 1, 3}, b[] = {1, 2, 2}, wide[] = {1, 1, 1};
	tn_array *x, *residuals, *rank, *s;
	double found[3];
	(void)state;
	tn_array *right = tn_from_host(context, TN_F64, 1, (const int64_t[]){3}, b);
	assert_ok(tn_lstsq(matrix(3, 2, a), right, -1, &x, &residuals, &rank, &s));
	assert_ok(tn_to_host(x, found, 2 * sizeof(double)));
	assert_close(found[0], 2.0 / 3, 1e-14);
	assert_close(found[1], 0.5, 1e-14);
	assert_close(value_of(tn_sum(residuals, TN_ALL_AXES, NULL, 0)), 1.0 / 6, 1e-14);
	assert_close(value_of(rank), 2, 0);
	tn_array *three = tn_from_host(context, TN_F64, 1, (const int64_t[]){1}, (double[]){3});
	assert_ok(tn_lstsq(matrix(1, 3, wide), three, -1, &x, NULL, NULL, NULL));
	assert_ok(tn_to_host(x, found, sizeof(found)));
	for (int i = 0; i < 3; i++)
		assert_close(found[i], 1, 1e-14);
}

/* Not in that of a or b alone. */
static void a_tolerance_is_that_of_the_common_dtype(void **state)
{
	tn_array *x, *rank, *a = matrix(2, 2, (double[]){1, 0, 0, 1e-9});
	tn_array *b = matrix(2, 1, (double[]){1, 1}), *single = tn_astype(a, TN_F32);
	(void)state;
	assert_ok(tn_lstsq(single, tn_astype(b, TN_F32), -1, &x, NULL, &rank, NULL));
	assert_close(value_of(rank), 1, 0);
	assert_ok(tn_lstsq(single, b, -1, &x, NULL, &rank, NULL));
	assert_close(value_of(rank), 2, 0);
	assert_ok(tn_lstsq(a, tn_astype(b, TN_F32), -1, &x, NULL, &rank, NULL));
	assert_close(value_of(rank), 2, 0);
}

static void tensors_are_solved_as_matrices(void **state)
{
	(void)state;
	tn_array *a = tn_reshape(tn_squeeze(tn_slice(make(TN_F64, RANDOM, 6, 6), 0, 0, 1, 1), 0), 4,
				 (const int64_t[]){2, 3, 3, 2});
	tn_array *b = tn_reshape(tn_arange(context, TN_F64, 0, 6, 1), 2, (const int64_t[]){2, 3});
	tn_array *x = tn_tensorsolve(a, b, 0, NULL), *inverse = tn_tensorinv(a, 2);
	assert_non_null(x);
	assert_close(norm(tn_subtract(tn_tensordot(a, x, 2, NULL, NULL), b)), 0, 1e-13);
	assert_close(norm(tn_subtract(tn_tensordot(inverse, b, 2, NULL, NULL), x)), 0, 1e-12);
	tn_array *turned = tn_moveaxis(a, 1, (int[]){3}, (int[]){0});
	assert_close(norm(tn_subtract(tn_tensorsolve(turned, b, 1, (int[]){0}), x)), 0, 0);
}

static void condition_numbers_are_ratios(void **state)
{
	static const double diagonal[] = {4, 0, 0, 0.5}, singular[] = {1, 1, 1, 1};
	(void)state;
	for (uint32_t order = TN_NORM_FRO; order <= TN_NORM_MINUS_INF; order++) {
		if (order == TN_NORM_NUC)
			continue;
		double found = value_of(tn_cond(matrix(2, 2, diagonal), order));
		double expected = order == TN_NORM_FRO ? 65.0 / 8 : 8;
		if (order == TN_NORM_MINUS_1 || order == TN_NORM_MINUS_2 ||
		    order == TN_NORM_MINUS_INF)
			expected = 1.0 / 8;
		assert_close(found, expected, 1e-12);
	}
	assert_true(value_of(tn_cond(matrix(2, 2, singular), TN_NORM_2)) > 1e15);
	assert_true(isinf(value_of(tn_cond(matrix(2, 2, (double[4]){0}), TN_NORM_2))));
}

/* ---- Errors and edges ------------------------------------------------------------------------*/

static void expect(tn_status status, const char *part)
{
	assert_kept(context, status, part);
}

static void singular_matrices_are_refused_by_name(void **state)
{
	static const double singular[] = {1, 2, 2, 4}, indefinite[] = {1, 2, 2, 1};
	tn_array *a = matrix(2, 2, singular), *b = matrix(2, 2, indefinite);
	(void)state;
	assert_null(tn_inv(a));
	expect(TN_SINGULAR, "singular");
	assert_null(tn_solve(a, b));
	expect(TN_SINGULAR, "singular");
	assert_null(tn_solve(a, tn_slice(b, 1, 0, 0, 1)));
	expect(TN_SINGULAR, "singular");
	assert_int_equal(tn_array_size(tn_solve(b, tn_slice(b, 1, 0, 0, 1))), 0);
	assert_null(
		tn_solve_triangular(tn_zeros(context, TN_F64, 2, (int64_t[]){2, 2}), b, 1, 0, 0));
	expect(TN_SINGULAR, "singular");
	assert_null(tn_cholesky(b, 0));
	expect(TN_SINGULAR, "not positive definite");
	const tn_array *both[] = {matrix(2, 2, (double[]){1, 0, 0, 1}), b};
	assert_null(tn_cholesky(tn_stack(2, both, 0), 0));
	expect(TN_SINGULAR, "a[1]");
}

static void what_is_not_finite_is_refused_or_spreads(void **state)
{
	static const double values[] = {NAN, INFINITY};
	tn_array *w, *v, *u;
	(void)state;
	for (int i = 0; i < 2; i++) {
		double numbers[16] = {[0] = 1, [5] = 2, [10] = 3, [15] = 4, [9] = values[i]};
		tn_array *a = matrix(4, 4, numbers);
		assert_status(tn_eigh(a, 0, &w, &v), TN_NOT_FINITE);
		expect(TN_NOT_FINITE, "infinite or NaN");
		assert_status(tn_eig(a, &w, &v), TN_NOT_FINITE);
		expect(TN_NOT_FINITE, "infinite or NaN");
		assert_status(tn_svd(a, 0, &u, &w, &v), TN_NOT_FINITE);
		expect(TN_NOT_FINITE, "infinite or NaN");
		assert_null(tn_pinv(a, -1));
		expect(TN_NOT_FINITE, "infinite or NaN");
		assert_null(tn_cholesky(a, 0));
		expect(TN_SINGULAR, "not positive definite");
		/* Of an infinity the inverse may be 0. */
		tn_array *inverse = tn_inv(a), *solution = tn_solve(a, a);
		assert_true(i || (isnan(norm(inverse)) && isnan(norm(solution))));
		tn_error_clear(context);
		assert_ok(tn_qr(a, 0, &u, &v));
		assert_null(tn_error(context));
	}
}

static void empty_matrices_have_empty_factors(void **state)
{
	static const int64_t empty[][3] = {{0, 3, 3}, {2, 0, 0}, {2, 0, 3}, {2, 3, 0}};
	(void)state;
	for (int i = 0; i < 4; i++) {
		tn_array *u, *s, *v, *a = tn_zeros(context, TN_F32, 3, empty[i]);
		assert_ok(tn_svd(a, 1, &u, &s, &v));
		assert_int_equal(tn_array_shape(u)[2], empty[i][1]);
		assert_ok(tn_qr(a, 1, &u, &v));
		assert_ok(tn_lu(a, &u, &s, &v));
		assert_non_null(tn_pinv(a, -1));
		assert_non_null(tn_matrix_rank(a, -1));
		if (empty[i][1] != empty[i][2])
			continue;
		assert_ok(tn_eigh(a, 0, &u, &v));
		assert_ok(tn_eig(a, &u, &v));
		assert_non_null(tn_cholesky(a, 0));
		assert_non_null(tn_inv(a));
		assert_non_null(tn_solve(a, a));
		assert_non_null(tn_expm(a));
		assert_int_equal(tn_array_size(tn_det(a)), empty[i][0]);
	}
	assert_null(tn_error(context));
}

static void wrong_operands_are_refused(void **state)
{
	tn_array *wide = make(TN_F64, RANDOM, 2, 3), *line = tn_arange(context, TN_F64, 0, 3, 1);
	tn_array *x;
	(void)state;
	assert_null(tn_inv(wide));
	expect(TN_SHAPE, "square");
	assert_null(tn_svdvals(line));
	expect(TN_SHAPE, "two axes");
	assert_null(tn_inv(tn_astype(wide, TN_F16)));
	expect(TN_DTYPE, "f16");
	assert_null(tn_solve(make(TN_F64, RANDOM, 2, 2), line));
	expect(TN_SHAPE, "2 rows");
	assert_null(tn_solve_triangular(make(TN_F64, RANDOM, 3, 3), line, 1, 3, 0));
	expect(TN_INVALID_ARGUMENT, "transpose");
	assert_null(tn_cond(tn_zeros(context, TN_F64, 2, (int64_t[]){0, 0}), TN_NORM_2));
	expect(TN_SHAPE, "with elements");
	assert_null(tn_cond(tn_zeros(context, TN_F64, 2, (int64_t[]){2, 2}), 8));
	expect(TN_INVALID_ARGUMENT, "order");
	assert_null(tn_pinv(wide, NAN));
	expect(TN_INVALID_ARGUMENT, "rtol");
	assert_null(tn_matrix_rank(wide, NAN));
	expect(TN_INVALID_ARGUMENT, "rtol");
	assert_status(tn_lstsq(wide, wide, NAN, &x, NULL, NULL, NULL), TN_INVALID_ARGUMENT);
	expect(TN_INVALID_ARGUMENT, "rtol");
	assert_int_equal(tn_array_dtype(tn_det(tn_identity(context, TN_I32, 2))), TN_F64);
}

/* ---- Devices ---------------------------------------------------------------------------------*/

static tn_array *g_qr(const tn_array *a)
{
	tn_array *q, *r;
	return tn_qr(a, 0, &q, &r) ? NULL : q;
}

static tn_array *g_lu(const tn_array *a)
{
	tn_array *p, *l, *u;
	return tn_lu(a, &p, &l, &u) ? NULL : tn_matmul(p, l);
}

static tn_array *g_eigh(const tn_array *a)
{
	tn_array *w, *v;
	return tn_eigh(a, 0, &w, &v) ? NULL : tn_square(v);
}

static tn_array *g_eig(const tn_array *a)
{
	tn_array *w, *v;
	return tn_eig(a, &w, &v) ? NULL : tn_abs(v);
}

static tn_array *g_svd(const tn_array *a)
{
	tn_array *u, *s, *vh;
	return tn_svd(a, 0, &u, &s, &vh) ? NULL : tn_matmul(u, vh);
}

static tn_array *g_lstsq(const tn_array *a)
{
	tn_array *x, *residuals, *rank, *s;
	return tn_lstsq(a, a, -1, &x, &residuals, &rank, &s) ? NULL : x;
}

static tn_array *g_slogdet(const tn_array *a)
{
	tn_array *sign, *log;
	return tn_slogdet(a, &sign, &log) ? NULL : log;
}

static tn_array *g_cholesky(const tn_array *a)
{
	return tn_cholesky(a, 0);
}

static tn_array *g_solve(const tn_array *a)
{
	return tn_solve(a, tn_slice(a, -1, 0, 1, 1));
}

static tn_array *g_pinv(const tn_array *a)
{
	return tn_pinv(a, -1);
}

static tn_array *g_power(const tn_array *a)
{
	return tn_add(tn_matrix_power(a, 0), tn_matrix_power(a, -2));
}

static tn_array *g_cond(const tn_array *a)
{
	return tn_add(tn_cond(a, TN_NORM_2), tn_cond(a, TN_NORM_1));
}

static const struct {
	const char *name;
	tn_array *(*f)(const tn_array *a);
} functions[] = {
	{"cholesky", g_cholesky}, {"qr", g_qr},       {"lu", g_lu},       {"eigh", g_eigh},
	{"eig", g_eig},           {"svd", g_svd},     {"solve", g_solve}, {"inv", tn_inv},
	{"pinv", g_pinv},         {"lstsq", g_lstsq}, {"det", tn_det},    {"slogdet", g_slogdet},
	{"cond", g_cond},         {"power", g_power}, {"expm", tn_expm},
};

/* f, and its gradient. */
static void evaluate(size_t i, const tn_array *a, double value[9], double gradient[9])
{
	tn_tape *tape = tn_tape_begin(context);
	tn_array *own = tn_copy(a);
	if (functions[i].f != g_lu)
		assert_ok(tn_tape_watch(tape, own));
	tn_array *y = functions[i].f(own);
	if (!y)
		fail_msg("%s: %s", functions[i].name, tn_error(context)->text);
	assert_ptr_equal(tn_array_device(y), tn_array_device(a));
	assert_ok(tn_to_host(y, value, (size_t)tn_array_size(y) * sizeof(double)));
	if (functions[i].f != g_lu) {
		assert_ok(tn_tape_backward(tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
		assert_ok(tn_to_host(tn_tape_gradient(tape, own), gradient, 9 * sizeof(double)));
	}
	tn_tape_end(tape);
}

/* Nothing remains of a result that its scope frees. */
static void nothing_is_kept(void **state)
{
	struct tn_memory_use before = {.struct_size = sizeof(before)}, after = before;
	tn_array *a = matrix(3, 3, (const double[]){4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2});
	tn_device *device = tn_array_device(a);
	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		assert_ok(tn_device_get_memory_use(device, &before));
		assert_ok(tn_scope_begin(context));
		assert_non_null(functions[i].f(a));
		tn_scope_end(context, NULL);
		assert_ok(tn_device_get_memory_use(device, &after));
		if (after.used != before.used)
			fail_msg("%s: %zu bytes remain", functions[i].name,
				 (size_t)(after.used - before.used));
	}
}

/* Results are on the device of the matrix, which need not be the current one. */
static void matrices_stay_on_their_device(void **state)
{
	const double numbers[] = {4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2};
	tn_array *here = matrix(3, 3, numbers), *there = NULL;
	(void)state;
	for (size_t i = 0; i < tn_context_device_count(context) && !there; i++) {
		tn_device *device = tn_context_device(context, i);
		if (device != tn_array_device(here))
			there = tn_to(here, device);
	}
	if (!there)
		return;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		double values[2][9] = {{0}}, gradients[2][9] = {{0}};
		evaluate(i, here, values[0], gradients[0]);
		evaluate(i, there, values[1], gradients[1]);
		for (int k = 0; k < 9; k++) {
			assert_close(values[1][k], values[0][k], 1e-12);
			assert_close(gradients[1][k], gradients[0][k], 1e-9);
		}
	}
}

/* The host's code in the place of a backend's is counted, and may be forbidden. */
static void who_factors_is_counted(void **state)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)}, found = row;
	(void)state;
	tn_ledger_reset(context);
	assert_non_null(tn_inv(tn_identity(context, TN_F32, 3)));
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!strcmp(row.operation, "inv"))
			found = row;
	}
	const int is_mock =
		!strcmp(tn_device_name(tn_array_device(matrix(1, 1, &(double){1}))), "mock:0");
	assert_int_equal(found.host, is_mock);
	assert_int_equal(found.native, !is_mock);
}

/* ---- Backends --------------------------------------------------------------------------------*/

static int setup(void **state)
{
	(void)state;
	assert_ok(tn_scope_begin(context));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_error_clear(context);
	tn_scope_end(context, NULL);
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(factors_multiply_to_the_matrix),
		CASE(solutions_solve),
		CASE(pseudo_inverses_have_their_four_properties),
		CASE(determinants_are_those_of_known_matrices),
		CASE(an_exponential_is_that_of_its_eigenvalues),
		CASE(an_exponential_of_what_is_not_finite_is_nan),
		CASE(a_tolerance_is_that_of_the_common_dtype),
		CASE(least_squares_are_the_shortest),
		CASE(tensors_are_solved_as_matrices),
		CASE(condition_numbers_are_ratios),
		CASE(singular_matrices_are_refused_by_name),
		CASE(what_is_not_finite_is_refused_or_spreads),
		CASE(empty_matrices_have_empty_factors),
		CASE(wrong_operands_are_refused),
		CASE(nothing_is_kept),
		CASE(matrices_stay_on_their_device),
		CASE(who_factors_is_counted),
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
