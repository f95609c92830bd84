/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What factors must be: their products, their shapes and their values.
 */
#include "factoring.h"

/* ---- Matrices on the host --------------------------------------------------------------------*/

double complex *matrix_memory(int64_t rows, int64_t columns)
{
	return (double complex *)(void *)numbers(2 * (size_t)(rows * columns));
}

static double complex load(const struct array *array, uint64_t i)
{
	const tn_dtype dtype = array->operand.dtype;
	float f[2] = {0, 0};
	double d[2] = {0, 0};
	if (tn_real_dtype(dtype) == TN_F32) {
		memcpy(f, array_at(array, i), tn_dtype_size(dtype));
		return complex_of(f[0], f[1]);
	}
	memcpy(d, array_at(array, i), tn_dtype_size(dtype));
	return complex_of(d[0], d[1]);
}

struct matrix matrix_read(const struct array *array, int64_t number)
{
	const int64_t *shape = array->operand.shape;
	struct matrix a = {shape[1], shape[2], matrix_memory(shape[1], shape[2])};
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.columns; j++)
			*at(&a, i, j) =
				load(array, (uint64_t)((number * a.rows + i) * a.columns + j));
	return a;
}

void matrix_write(const struct array *array, int64_t number, const struct matrix *a)
{
	const tn_dtype dtype = array->operand.dtype;
	for (int64_t i = 0; i < a->rows; i++) {
		for (int64_t j = 0; j < a->columns; j++) {
			unsigned char *to = array_at(
				array, (uint64_t)((number * a->rows + i) * a->columns + j));
			const double d[2] = {creal(*at(a, i, j)), cimag(*at(a, i, j))};
			const float f[2] = {(float)d[0], (float)d[1]};
			memcpy(to, tn_real_dtype(dtype) == TN_F32 ? (const void *)f : d,
			       tn_dtype_size(dtype));
		}
	}
}

static double complex element(const struct matrix *a, int is_adjoint, int64_t i, int64_t j)
{
	return is_adjoint ? conj(*at(a, j, i)) : *at(a, i, j);
}

/* Two real products for one complex one: the compiler's own looks for infinities. */
static double complex times(double complex x, double complex y)
{
	return complex_of(creal(x) * creal(y) - cimag(x) * cimag(y),
			  creal(x) * cimag(y) + cimag(x) * creal(y));
}

void multiply(const struct matrix *c, const struct matrix *a, int a_adjoint, const struct matrix *b,
	      int b_adjoint)
{
	const int64_t terms = a_adjoint ? a->rows : a->columns;
	for (int64_t j = 0; j < c->columns; j++) {
		for (int64_t i = 0; i < c->rows; i++) {
			double complex sum = 0;
			for (int64_t l = 0; l < terms; l++)
				sum += times(element(a, a_adjoint, i, l),
					     element(b, b_adjoint, l, j));
			*at(c, i, j) = sum;
		}
	}
}

static double largest_of(const struct matrix *a)
{
	double largest = 0;
	for (int64_t i = 0; i < a->rows * a->columns; i++) {
		const double size = hypot(creal(a->at[i]), cimag(a->at[i]));
		if (!(size <= largest)) /* a NaN stays */
			largest = size;
	}
	return largest;
}

/* Frobenius's, without squares that are 0 or infinite. */
static double norm(const struct matrix *a)
{
	const double largest = largest_of(a);
	double sum = 0;
	if (largest == 0 || !isfinite(largest))
		return largest;
	for (int64_t i = 0; i < a->rows * a->columns; i++) {
		const double size = hypot(creal(a->at[i]), cimag(a->at[i])) / largest;
		sum += size * size;
	}
	return largest * sqrt(sum);
}

/* The norm of a - b, whose memory is freed. */
static double distance(const struct matrix *a, struct matrix b)
{
	for (int64_t i = 0; i < a->rows * a->columns; i++)
		b.at[i] = a->at[i] - b.at[i];
	const double result = norm(&b);
	free(b.at);
	return result;
}

static struct matrix product(const struct matrix *a, int a_adjoint, const struct matrix *b,
			     int b_adjoint)
{
	struct matrix c = {a_adjoint ? a->columns : a->rows, b_adjoint ? b->rows : b->columns,
			   NULL};
	c.at = matrix_memory(c.rows, c.columns);
	multiply(&c, a, a_adjoint, b, b_adjoint);
	return c;
}

/* ---- Bounds ----------------------------------------------------------------------------------*/

static double unit_of(const struct factoring *f)
{
	return 20 * (double)(f->m > f->n ? f->m : f->n) * kit_epsilon(tn_real_dtype(f->dtype));
}

/* What sums of n subnormal products, for each element of a matrix, may err whatever their size. */
static double steps_of(const struct factoring *f)
{
	const double most = (double)(f->m > f->n ? f->m : f->n);
	const double least = tn_real_dtype(f->dtype) == TN_F32 ? 0x1p-149 : 0x1p-1074;
	return 4 * most * most * least;
}

static void expect_within(const struct factoring *f, const char *what, double error, double most)
{
	if (!(error <= most))
		kit_fail(f->kit, "%s: expected at most %.3g, found %.3g", what, most, error);
}

/* `error` is at most that many bounds of `size`, and what subnormal numbers err. */
static void expect_small(const struct factoring *f, const char *what, double error, double size,
			 double factor)
{
	expect_within(f, what, error, unit_of(f) * size * factor + steps_of(f));
}

/* q^H q, or q q^H of rows, is the identity. */
static void expect_orthonormal(const struct factoring *f, const char *what, const struct matrix *q,
			       int is_rows)
{
	struct matrix gram = product(q, !is_rows, q, is_rows);
	for (int64_t i = 0; i < gram.rows; i++)
		*at(&gram, i, i) -= 1;
	expect_small(f, what, norm(&gram), 1, 1);
	free(gram.at);
}

/* ---- Factors ---------------------------------------------------------------------------------*/

/* The columns of a times the values: a diag(values); or the rows. */
static void scale(const struct factoring *f, int64_t number, const struct matrix *a, int is_rows)
{
	for (int64_t j = 0; j < a->columns; j++)
		for (int64_t i = 0; i < a->rows; i++) {
			const int64_t place = is_rows ? i : j;
			double complex value =
				place < f->k ? load(&f->values, (uint64_t)(number * f->k + place))
					     : 0;
			*at(a, i, j) = times(*at(a, i, j), value);
		}
}

static void judge_cholesky(const struct factoring *f, int64_t number, const struct matrix *l)
{
	for (int64_t j = 0; j < l->columns; j++) {
		for (int64_t i = 0; i < j; i++)
			if (*at(l, i, j) != 0)
				return kit_fail(f->kit, "L: expected zeros above its diagonal");
		if (!(creal(*at(l, j, j)) > 0) || cimag(*at(l, j, j)) != 0)
			return kit_fail(f->kit, "L: expected a positive diagonal");
	}
	const struct matrix *a = &f->before_a[number];
	expect_small(f, "a - L L^H", distance(a, product(l, 0, l, 1)), norm(a), 1);
}

/* Rows of a in the order of the pivots, which that of the permutation must be. */
static int permute(const struct factoring *f, int64_t number, const struct matrix *a)
{
	int64_t *order = (int64_t *)(void *)numbers((size_t)a->rows);
	int is_right = 1;
	for (int64_t i = 0; i < a->rows; i++)
		order[i] = i;
	for (int64_t i = 0; i < f->k && is_right; i++) {
		const int64_t pivot =
			(int32_t)array_bits(&f->pivots, (uint64_t)(number * f->k + i));
		is_right = pivot >= i && pivot < a->rows;
		if (!is_right)
			break;
		const int64_t kept = order[i];
		order[i] = order[pivot];
		order[pivot] = kept;
		for (int64_t j = 0; j < a->columns; j++) {
			double complex x = *at(a, i, j);
			*at(a, i, j) = *at(a, pivot, j);
			*at(a, pivot, j) = x;
		}
	}
	for (int64_t i = 0; i < a->rows && is_right; i++)
		is_right = order[i] ==
			   (int32_t)array_bits(&f->permutation, (uint64_t)(number * a->rows + i));
	free(order);
	return is_right;
}

/* How many times larger the elements of U are than those of a; at least 1. */
static double growth_of(const struct factoring *f, int64_t number, const struct matrix *lu)
{
	const double size = largest_of(&f->before_a[number]);
	double largest = size;
	for (int64_t j = 0; j < lu->columns; j++)
		for (int64_t i = 0; i <= j && i < lu->rows; i++)
			largest = fmax(largest, cabs(*at(lu, i, j)));
	return size > 0 ? largest / size : 1;
}

static void judge_lu(const struct factoring *f, int64_t number, const struct matrix *lu)
{
	const struct matrix *a = &f->before_a[number];
	struct matrix l = {f->m, f->k, matrix_memory(f->m, f->k)};
	struct matrix u = {f->k, f->n, matrix_memory(f->k, f->n)};
	for (int64_t j = 0; j < f->n; j++)
		for (int64_t i = 0; i < f->m; i++) {
			if (i > j)
				*at(&l, i, j) = *at(lu, i, j);
			else
				*at(&u, i, j) = *at(lu, i, j);
			if (i == j)
				*at(&l, i, j) = 1;
		}
	/* LAPACK takes |re| + |im| for the size of a complex pivot. */
	if (!(largest_of(&l) <= 1.5))
		kit_fail(f->kit, "L: expected elements of at most 1 by partial pivoting");
	if (f->place && number == f->batch / 2 && *at(&u, f->place - 1, f->place - 1) != 0)
		kit_fail(f->kit, "U: expected a 0 at the place that info tells");
	if (f->vectors) {
		struct matrix permuted = {f->m, f->n, matrix_memory(f->m, f->n)};
		memcpy(permuted.at, a->at, (size_t)(f->m * f->n) * sizeof(*a->at));
		if (!permute(f, number, &permuted))
			kit_fail(f->kit, "the pivots and the permutation are of different orders");
		expect_small(f, "P a - L U", distance(&permuted, product(&l, 0, &u, 0)), norm(a),
			     growth_of(f, number, lu));
		free(permuted.at);
	}
	free(l.at);
	free(u.at);
}

/* op(a) x - b is small beside a and x. */
static void judge_solution(const struct factoring *f, int64_t number, const struct matrix *after)
{
	const struct matrix *a = &f->before_a[number], *b = &f->before_b[number];
	struct matrix x = matrix_read(&f->b, number);
	struct matrix other = {f->n, f->n, matrix_memory(f->n, f->n)};
	for (int64_t j = 0; j < f->n; j++)
		for (int64_t i = 0; i < f->n; i++)
			*at(&other, i, j) =
				f->transpose == TN_TRANSPOSE ? conj(*at(a, i, j)) : *at(a, i, j);
	expect_small(f, "a x - b",
		     distance(b, product(&other, f->transpose != TN_TRANSPOSE_NONE, &x, 0)),
		     norm(a) * norm(&x),
		     f->slot == TN_SLOT_SOLVE ? growth_of(f, number, after) : 1);
	free(other.at);
	free(x.at);
}

static void judge_qr(const struct factoring *f, int64_t number, const struct matrix *found)
{
	const struct matrix *a = &f->before_a[number];
	struct matrix u = matrix_read(&f->u, number);
	struct matrix r = {u.columns, f->n, matrix_memory(u.columns, f->n)};
	for (int64_t j = 0; j < f->n; j++) {
		for (int64_t i = 0; i <= j && i < f->k; i++)
			*at(&r, i, j) = *at(found, i, j);
		if (j < f->k && cimag(*at(found, j, j)) != 0)
			kit_fail(f->kit, "R: expected a real diagonal");
	}
	expect_orthonormal(f, "u^H u - I", &u, 0);
	expect_small(f, "a - u R", distance(a, product(&u, 0, &r, 0)), norm(a), 1);
	free(u.at);
	free(r.at);
}

/* Real values in order: rising, or falling and not negative. */
static void expect_order(const struct factoring *f, int64_t number, int is_falling)
{
	for (int64_t i = 0; i < f->k; i++) {
		const double value = creal(load(&f->values, (uint64_t)(number * f->k + i)));
		const double last =
			i ? creal(load(&f->values, (uint64_t)(number * f->k + i - 1))) : value;
		if (!(is_falling ? value <= last && value >= 0 : value >= last))
			return kit_fail(f->kit, "value %lld: %.9g follows %.9g", (long long)i,
					value, last);
	}
}

static double complex scaled(double complex z, int exponent)
{
	return complex_of(ldexp(creal(z), exponent), ldexp(cimag(z), exponent));
}

/* The sums of the values and of their squares, which the matrix determines without vectors: its
 * trace and that of its square, or for singular values that of a^H a. */
static void judge_values(const struct factoring *f, int64_t number)
{
	const struct matrix *a = &f->before_a[number];
	const double size = largest_of(a);
	const int exponent = size > 0 ? -ilogb(size) : 0;
	const double all = ldexp(norm(a), exponent), count = sqrt((double)f->k);
	const double steps = ldexp(steps_of(f), exponent) * count;
	double complex sum = 0, squares = 0, trace = 0, trace_of_square = 0;
	for (int64_t i = 0; i < f->k; i++) {
		const double complex value =
			scaled(load(&f->values, (uint64_t)(number * f->k + i)), exponent);
		sum += value;
		squares += times(value, value);
	}
	for (int64_t j = 0; j < f->n; j++) {
		for (int64_t i = 0; i < f->m; i++) {
			const double complex x = scaled(*at(a, i, j), exponent);
			trace_of_square +=
				times(x, f->slot == TN_SLOT_SVD ? conj(x)
								: scaled(*at(a, j, i), exponent));
		}
		trace += f->slot == TN_SLOT_SVD ? 0 : scaled(*at(a, j, j), exponent);
	}
	if (f->slot != TN_SLOT_SVD)
		expect_within(f, "the sum of the values", cabs(sum - trace),
			      unit_of(f) * all * count + steps);
	expect_within(f, "the sum of their squares", cabs(squares - trace_of_square),
		      2 * unit_of(f) * all * all + 2 * all * steps);
}

/* a V - V diag(values), whose columns have length 1. */
static void judge_eigenvectors(const struct factoring *f, int64_t number, const struct matrix *v)
{
	const struct matrix *a = &f->before_a[number];
	struct matrix left = product(a, 0, v, 0);
	struct matrix right = {v->rows, v->columns, matrix_memory(v->rows, v->columns)};
	memcpy(right.at, v->at, (size_t)(v->rows * v->columns) * sizeof(*v->at));
	scale(f, number, &right, 0);
	expect_small(f, "a V - V diag(values)", distance(&left, right), norm(a), 1);
	free(left.at);
	for (int64_t j = 0; j < v->columns; j++) {
		const struct matrix one = {v->rows, 1, at(v, 0, j)};
		expect_small(f, "the length of a vector - 1", fabs(norm(&one) - 1), 1, 1);
	}
	if (f->slot == TN_SLOT_EIGH)
		expect_orthonormal(f, "V^H V - I", v, 0);
}

static void judge_singular_vectors(const struct factoring *f, int64_t number)
{
	const struct matrix *a = &f->before_a[number];
	struct matrix u = matrix_read(&f->u, number), v = matrix_read(&f->v, number);
	expect_orthonormal(f, "u^H u - I", &u, 0);
	expect_orthonormal(f, "v v^H - I", &v, 1);
	struct matrix first = {f->m, f->k, u.at};
	struct matrix rows = {f->k, f->n, matrix_memory(f->k, f->n)};
	for (int64_t j = 0; j < f->n; j++)
		for (int64_t i = 0; i < f->k; i++)
			*at(&rows, i, j) = *at(&v, i, j);
	scale(f, number, &rows, 1);
	expect_small(f, "a - u diag(values) v", distance(a, product(&first, 0, &rows, 0)), norm(a),
		     1);
	free(rows.at);
	free(u.at);
	free(v.at);
}

void factoring_judge(struct factoring *f, int64_t number)
{
	struct matrix a = matrix_read(&f->a, number);
	if (f->slot == TN_SLOT_CHOLESKY)
		judge_cholesky(f, number, &a);
	else if (f->slot == TN_SLOT_LU)
		judge_lu(f, number, &a);
	else if (f->slot == TN_SLOT_QR)
		judge_qr(f, number, &a);
	if (has_b(f))
		judge_solution(f, number, &a);
	if (has_values(f)) {
		if (f->slot != TN_SLOT_EIG)
			expect_order(f, number, f->slot == TN_SLOT_SVD);
		judge_values(f, number);
	}
	if (f->vectors && f->slot == TN_SLOT_SVD)
		judge_singular_vectors(f, number);
	if (f->vectors && f->slot == TN_SLOT_EIGH)
		judge_eigenvectors(f, number, &a);
	if (f->vectors && f->slot == TN_SLOT_EIG) {
		struct matrix v = matrix_read(&f->v, number);
		judge_eigenvectors(f, number, &v);
		free(v.at);
	}
	free(a.at);
}
