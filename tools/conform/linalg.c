/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon.linalg/1: batches of matrices of sizes around powers of two, in every dtype, with and
 * without gaps between columns.  The factors are multiplied on the host in double precision, and
 * compared with the matrix by the bounds of <tenon/backend.h>.
 */
#include <complex.h>

#include "loader/slots.h"
#include "slots.h"

/* The bound of <tenon/backend.h>, and as much for what the kit's tests add to it: growth of pivots,
 * and norms of solutions. */
enum { MULTIPLE = 20, BATCH = 2, RIGHT_SIDES = 3 };

static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 65};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* One call: its operands, those it has, and the matrices before it. */
struct factors {
	struct kit *kit;
	int slot;
	tn_dtype dtype;
	int64_t m, n, k;
	int64_t gap; /* between columns */
	struct tn_linalg_args args;
	struct array arrays[8];
	size_t n_arrays;
	double complex *a; /* BATCH matrices, column-major */
	double complex *b;
};

static int is_complex(tn_dtype dtype)
{
	return dtype == TN_C64 || dtype == TN_C128;
}

static int is_narrow(tn_dtype dtype)
{
	return dtype == TN_F32 || dtype == TN_C64;
}

/* CMPLX of C11, which not every compiler has. */
static double complex complex_of(double real, double imaginary)
{
	const double parts[2] = {real, imaginary};
	double complex z;
	memcpy(&z, parts, sizeof(z));
	return z;
}

static double complex get(const struct array *array, int64_t i)
{
	const unsigned char *at = array_at(array, (uint64_t)i);
	float narrow[2] = {0, 0};
	double wide[2] = {0, 0};
	int32_t whole = 0;
	const size_t size = tn_dtype_size(array->operand.dtype);
	if (array->operand.dtype == TN_I32) {
		memcpy(&whole, at, size);
		return whole;
	}
	memcpy(is_narrow(array->operand.dtype) ? (void *)narrow : (void *)wide, at, size);
	return is_narrow(array->operand.dtype) ? complex_of(narrow[0], narrow[1])
					       : complex_of(wide[0], wide[1]);
}

static void set(struct array *array, int64_t i, double complex value)
{
	const float narrow[2] = {(float)creal(value), (float)cimag(value)};
	const double wide[2] = {creal(value), cimag(value)};
	const size_t size = tn_dtype_size(array->operand.dtype);
	memcpy(array_at(array, (uint64_t)i),
	       is_narrow(array->operand.dtype) ? (const void *)narrow : (const void *)wide, size);
}

/* ---- Operands --------------------------------------------------------------------------------*/

static struct array *add_matrix(struct factors *f, struct tn_operand *operand, tn_dtype dtype,
				int64_t rows, int64_t columns)
{
	struct array *array = &f->arrays[f->n_arrays++];
	const int64_t leading = rows + f->gap, shape[] = {BATCH, rows, columns};
	const int64_t strides[] = {leading * columns + f->gap, 1, leading};
	array_make_view(f->kit, array, OUTPUT, dtype, 3, shape, strides, 0);
	*operand = array->operand;
	return array;
}

static struct array *add_list(struct factors *f, struct tn_operand *operand, tn_dtype dtype,
			      uint32_t rank, int64_t n)
{
	struct array *array = &f->arrays[f->n_arrays++];
	const int64_t shape[] = {BATCH, n};
	array_make(f->kit, array, OUTPUT, dtype, rank, shape, COMPACT);
	*operand = array->operand;
	return array;
}

/* The number of element (i, j) of matrix `number`, as arrays count. */
static int64_t element(int64_t rows, int64_t columns, int64_t number, int64_t i, int64_t j)
{
	return (number * rows + i) * columns + j;
}

static double complex draw(const struct factors *f)
{
	double re = kit_uniform(f->kit, -1, 1);
	return complex_of(re, is_complex(f->dtype) ? kit_uniform(f->kit, -1, 1) : 0);
}

/* Random elements, rounded to the dtype; of square matrices far from singular with `diagonal`. */
static double complex *fill(const struct factors *f, struct array *array, int64_t rows,
			    int64_t columns, int is_hermitian, double diagonal)
{
	double complex *copy = malloc((size_t)(BATCH * rows * columns) * sizeof(*copy));
	if (!copy)
		kit_give_up(f->kit, "the kit is out of memory");
	for (int64_t number = 0; number < BATCH; number++) {
		double complex *matrix = copy + number * rows * columns;
		for (int64_t j = 0; j < columns; j++) {
			for (int64_t i = 0; i < rows; i++) {
				double complex z = draw(f) + (i == j ? diagonal : 0);
				if (is_hermitian && i == j)
					z = creal(z);
				if (is_hermitian && i < j)
					z = conj(matrix[j + i * rows]);
				set(array, element(rows, columns, number, i, j), z);
				matrix[i + j * rows] =
					get(array, element(rows, columns, number, i, j));
			}
		}
	}
	return copy;
}

static const struct array *of(const struct factors *f, const struct tn_operand *operand)
{
	for (size_t i = 0; i < f->n_arrays; i++) {
		if (f->arrays[i].operand.buffer == operand->buffer)
			return &f->arrays[i];
	}
	return NULL;
}

/* Element (i, j) of a matrix after the call; 0 of one that is not there. */
static double complex at(const struct factors *f, const struct tn_operand *operand, int64_t number,
			 int64_t i, int64_t j)
{
	return get(of(f, operand), element(operand->shape[1], operand->shape[2], number, i, j));
}

static double complex value(const struct factors *f, const struct tn_operand *list, int64_t number,
			    int64_t i)
{
	return get(of(f, list), number * (list->rank > 1 ? list->shape[1] : 1) + i);
}

static void make(struct factors *f)
{
	struct tn_linalg_args *args = &f->args;
	const tn_dtype real = is_narrow(f->dtype) ? TN_F32 : TN_F64;
	const tn_dtype wide = is_narrow(f->dtype) ? TN_C64 : TN_C128;
	const int slot = f->slot,
		  is_solve = slot == TN_SLOT_SOLVE || slot == TN_SLOT_SOLVE_TRIANGULAR;
	const int is_eigh = slot == TN_SLOT_EIGH, is_eig = slot == TN_SLOT_EIG;
	f->a = fill(f, add_matrix(f, &args->a, f->dtype, f->m, f->n), f->m, f->n,
		    is_eigh || slot == TN_SLOT_CHOLESKY,
		    is_solve || slot == TN_SLOT_CHOLESKY ? 2.0 * (double)f->n : 0);
	if (is_solve)
		f->b = fill(f, add_matrix(f, &args->b, f->dtype, f->n, RIGHT_SIDES), f->n,
			    RIGHT_SIDES, 0, 0);
	if (slot == TN_SLOT_QR || slot == TN_SLOT_SVD)
		add_matrix(f, &args->u, f->dtype, f->m, f->gap ? f->m : f->k);
	if (slot == TN_SLOT_SVD)
		add_matrix(f, &args->v, f->dtype, f->gap ? f->n : f->k, f->n);
	if (is_eig)
		add_matrix(f, &args->v, wide, f->n, f->n);
	if (is_eig || is_eigh || slot == TN_SLOT_SVD)
		add_list(f, &args->values, is_eig ? wide : real, 2, f->k);
	if (slot == TN_SLOT_LU) {
		add_list(f, &args->pivots, TN_I32, 2, f->k);
		add_list(f, &args->permutation, TN_I32, 2, f->m);
	}
	if (slot != TN_SLOT_QR)
		add_list(f, &args->info, TN_I32, 1, 0);
	args->vectors = 1;
}

static void end(struct factors *f)
{
	for (size_t i = 0; i < f->n_arrays; i++)
		array_free(&f->arrays[i]);
	free(f->a);
	free(f->b);
}

/* ---- Products of factors ---------------------------------------------------------------------*/

/* Element (i, l) of the left factor. */
static double complex left(const struct factors *f, int64_t number, int64_t i, int64_t l)
{
	const struct tn_linalg_args *args = &f->args;
	switch (f->slot) {
	case TN_SLOT_LU:
		return i < l ? 0 : i == l ? 1 : at(f, &args->a, number, i, l);
	case TN_SLOT_QR:
		return at(f, &args->u, number, i, l);
	case TN_SLOT_SVD:
		return at(f, &args->u, number, i, l) * value(f, &args->values, number, l);
	case TN_SLOT_EIGH:
		return at(f, &args->a, number, i, l) * value(f, &args->values, number, l);
	default:
		return at(f, &args->a, number, i, l);
	}
}

/* Element (l, j) of the right factor. */
static double complex right(const struct factors *f, int64_t number, int64_t l, int64_t j)
{
	const struct tn_linalg_args *args = &f->args;
	switch (f->slot) {
	case TN_SLOT_LU:
	case TN_SLOT_QR:
		return l > j ? 0 : at(f, &args->a, number, l, j);
	case TN_SLOT_SVD:
		return at(f, &args->v, number, l, j);
	default:
		return conj(at(f, &args->a, number, j, l));
	}
}

/* Element (i, j) of the matrix that the factors should give. */
static double complex original(const struct factors *f, int64_t number, int64_t i, int64_t j)
{
	if (f->slot == TN_SLOT_LU)
		i = (int64_t)creal(value(f, &f->args.permutation, number, i));
	return i >= 0 && i < f->m ? f->a[number * f->m * f->n + i + j * f->m] : NAN;
}

static double square(double complex z)
{
	return creal(z) * creal(z) + cimag(z) * cimag(z);
}

static void compare(const struct factors *f, const char *what, double residual, double size)
{
	const double most = (double)(f->m > f->n ? f->m : f->n);
	const double bound = MULTIPLE * most * kit_epsilon(is_narrow(f->dtype) ? TN_F32 : TN_F64);
	if (!(sqrt(residual) <= bound * sqrt(size)))
		kit_fail(f->kit, "%s: a residual of %g, expected at most %g", what, sqrt(residual),
			 bound * sqrt(size));
}

static void compare_product(const struct factors *f, int64_t number)
{
	double residual = 0, size = 0;
	for (int64_t j = 0; j < f->n; j++) {
		for (int64_t i = 0; i < f->m; i++) {
			double complex sum = 0, expected = original(f, number, i, j);
			for (int64_t l = 0; l < f->k; l++)
				sum += left(f, number, i, l) * right(f, number, l, j);
			residual += square(sum - expected);
			size += square(expected);
		}
	}
	compare(f, "the product of the factors", residual, size);
}

/* Columns of a matrix, or with is_row its rows, beside those of the identity. */
static void compare_orthonormal(const struct factors *f, const struct tn_operand *operand,
				int64_t number, int is_row)
{
	const int64_t n = operand->shape[is_row ? 1 : 2], length = operand->shape[is_row ? 2 : 1];
	double residual = 0;
	for (int64_t p = 0; p < n; p++) {
		for (int64_t q = 0; q < n; q++) {
			double complex sum = p == q ? -1 : 0;
			for (int64_t i = 0; i < length; i++)
				sum += conj(at(f, operand, number, is_row ? p : i,
					       is_row ? i : p)) *
				       at(f, operand, number, is_row ? q : i, is_row ? i : q);
			residual += square(sum);
		}
	}
	compare(f, "orthonormal vectors", residual, (double)n);
}

static void compare_order(const struct factors *f, int64_t number)
{
	for (int64_t i = 1; i < f->k; i++) {
		double before = creal(value(f, &f->args.values, number, i - 1));
		double own = creal(value(f, &f->args.values, number, i));
		if (f->slot == TN_SLOT_SVD ? own > before || own < 0 : own < before)
			kit_fail(f->kit, "value %lld is %g, and the one before %g", (long long)i,
				 own, before);
	}
}

/* Element (i, l) of the triangle of a system, or of all of it. */
static double complex coefficient(const struct factors *f, int64_t number, int64_t i, int64_t l)
{
	const struct tn_linalg_args *args = &f->args;
	const int is_turned = args->transpose != TN_TRANSPOSE_NONE;
	const int64_t row = is_turned ? l : i, column = is_turned ? i : l;
	double complex z = f->a[number * f->n * f->n + row + column * f->n];
	if (f->slot == TN_SLOT_SOLVE)
		return z;
	if (row == column && args->unit)
		return 1;
	if (args->upper ? row > column : row < column)
		return 0;
	return args->transpose == TN_TRANSPOSE_CONJUGATE ? conj(z) : z;
}

/* a x - b beside the terms of the sums. */
static void compare_solution(const struct factors *f, int64_t number)
{
	double residual = 0, size = 0;
	for (int64_t j = 0; j < RIGHT_SIDES; j++) {
		for (int64_t i = 0; i < f->n; i++) {
			double complex sum = -f->b[number * f->n * RIGHT_SIDES + i + j * f->n];
			size += square(sum);
			for (int64_t l = 0; l < f->n; l++) {
				double complex term = coefficient(f, number, i, l) *
						      at(f, &f->args.b, number, l, j);
				sum += term;
				size += square(term);
			}
			residual += square(sum);
		}
	}
	compare(f, "a x - b", residual, size);
}

static void compare_vectors(const struct factors *f, int64_t number)
{
	double residual = 0, size = 0;
	for (int64_t j = 0; j < f->n; j++) {
		double length = 0;
		for (int64_t i = 0; i < f->n; i++) {
			double complex sum = -at(f, &f->args.v, number, i, j) *
					     value(f, &f->args.values, number, j);
			for (int64_t l = 0; l < f->n; l++)
				sum += original(f, number, i, l) * at(f, &f->args.v, number, l, j);
			residual += square(sum);
			size += square(original(f, number, i, j));
			length += square(at(f, &f->args.v, number, i, j));
		}
		if (!(fabs(length - 1) < 1e-4))
			kit_fail(f->kit, "vector %lld has the length %g", (long long)j,
				 sqrt(length));
	}
	compare(f, "a v - v w", residual, size);
}

/* Are the exchanges those of the permutation? */
static void compare_pivots(const struct factors *f, int64_t number)
{
	int64_t rows[64 + 1];
	for (int64_t i = 0; i < f->m; i++)
		rows[i] = i;
	for (int64_t i = 0; i < f->k; i++) {
		int64_t pivot = (int64_t)creal(value(f, &f->args.pivots, number, i)), row = rows[i];
		if (pivot < i || pivot >= f->m)
			return kit_fail(f->kit, "pivot %lld is %lld", (long long)i,
					(long long)pivot);
		rows[i] = rows[pivot];
		rows[pivot] = row;
	}
	for (int64_t i = 0; i < f->m; i++) {
		if (rows[i] != (int64_t)creal(value(f, &f->args.permutation, number, i)))
			kit_fail(f->kit, "pivots and permutation differ in row %lld", (long long)i);
	}
}

static void check_matrix(const struct factors *f, int64_t number)
{
	const struct tn_linalg_args *args = &f->args;
	const int slot = f->slot;
	if (slot != TN_SLOT_QR && value(f, &args->info, number, 0) != 0)
		kit_fail(f->kit, "info is %g, expected 0", creal(value(f, &args->info, number, 0)));
	if (slot == TN_SLOT_SOLVE || slot == TN_SLOT_SOLVE_TRIANGULAR)
		return compare_solution(f, number);
	if (slot == TN_SLOT_EIG)
		return compare_vectors(f, number);
	compare_product(f, number);
	if (slot == TN_SLOT_LU)
		compare_pivots(f, number);
	if (slot == TN_SLOT_QR || slot == TN_SLOT_SVD)
		compare_orthonormal(f, &args->u, number, 0);
	if (slot == TN_SLOT_SVD)
		compare_orthonormal(f, &args->v, number, 1);
	if (slot == TN_SLOT_EIGH)
		compare_orthonormal(f, &args->a, number, 0);
	if (slot == TN_SLOT_EIGH || slot == TN_SLOT_SVD)
		compare_order(f, number);
	for (int64_t j = 1; j < f->n && slot == TN_SLOT_CHOLESKY; j++) {
		if (at(f, &args->a, number, 0, j) != 0)
			kit_fail(f->kit, "above the diagonal L is not 0");
	}
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static int run(struct factors *f)
{
	struct array *all[8];
	for (size_t i = 0; i < f->n_arrays; i++)
		all[i] = &f->arrays[i];
	f->args.call = (struct tn_call)CALL(struct tn_linalg_args);
	/* What is read only keeps its bytes. */
	if (f->slot == TN_SLOT_SOLVE_TRIANGULAR)
		f->arrays[0].role = INPUT;
	return kit_run(f->kit, &f->args, all, f->n_arrays) == TN_OK;
}

static void factors_multiply(struct kit *kit, int slot, tn_dtype dtype, int64_t m, int64_t n,
			     unsigned turn)
{
	struct factors f = {.kit = kit,
			    .slot = slot,
			    .dtype = dtype,
			    .m = m,
			    .n = n,
			    .k = m < n ? m : n,
			    .gap = turn % 2 ? 3 : 0};
	f.args.upper = turn / 2 % 2;
	f.args.unit = turn / 4 % 2 && slot == TN_SLOT_SOLVE_TRIANGULAR && n < 4;
	f.args.transpose = slot == TN_SLOT_SOLVE_TRIANGULAR ? turn % 3 : 0;
	kit_case(kit, slot, "%s of (%lld, %lld), dtype %d, gaps of %lld", tn_slots[slot].name,
		 (long long)m, (long long)n, (int)dtype, (long long)f.gap);
	make(&f);
	if (run(&f)) {
		for (int64_t number = 0; number < BATCH; number++)
			check_matrix(&f, number);
	}
	end(&f);
}

static int has_none(struct kit *kit)
{
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		if (tn_backend_has(kit->backend, (enum tn_slot)slot))
			return 0;
	}
	kit_skip(kit, "the backend factors no matrices");
	return 1;
}

void check_linalg_factors(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_C64, TN_C128};
	unsigned turn = 0;
	if (has_none(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		const int is_any = slot == TN_SLOT_LU || slot == TN_SLOT_QR || slot == TN_SLOT_SVD;
		if (!tn_backend_has(kit->backend, (enum tn_slot)slot))
			continue;
		for (int i = 0; i < N_SIZES; i++) {
			const tn_dtype dtype = dtypes[(unsigned)i % 4];
			factors_multiply(kit, slot, dtype, sizes[i], sizes[i], turn++);
			if (i + 1 == N_SIZES || !is_any)
				continue;
			factors_multiply(kit, slot, dtype, sizes[i], sizes[i + 1], turn++);
			factors_multiply(kit, slot, dtype, sizes[i + 1], sizes[i], turn++);
		}
		for (int i = 0; i < 4; i++)
			factors_multiply(kit, slot, dtypes[i], 5, 5, turn++);
		for (int i = 0; i < 2; i++)
			factors_multiply(kit, slot, dtypes[i], 65, 65, turn++);
	}
}

/* The second matrix fails, and the first one does not notice. */
static void one_fails(struct kit *kit, int slot, tn_dtype dtype, double fault, int expected)
{
	struct factors f = {
		.kit = kit, .slot = slot, .dtype = dtype, .m = 5, .n = 5, .k = 5, .gap = 1};
	kit_case(kit, slot, "%s of a matrix of %g, dtype %d", tn_slots[slot].name, fault,
		 (int)dtype);
	make(&f);
	for (int64_t i = 0; i < f.n * f.n; i++)
		set(&f.arrays[0], f.n * f.n + i, fault);
	if (run(&f)) {
		double info = creal(value(&f, &f.args.info, 1, 0));
		check_matrix(&f, 0);
		if (expected < 0 ? info != -1 : !(info > 0))
			kit_fail(kit, "info is %g, expected %s", info,
				 expected < 0 ? "-1" : "more than 0");
	}
	end(&f);
}

void check_linalg_failures(struct kit *kit)
{
	static const double spoiled[] = {NAN, INFINITY, -INFINITY};
	if (has_none(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		const int is_iterative = slot >= TN_SLOT_EIGH;
		if (!tn_backend_has(kit->backend, (enum tn_slot)slot) || slot == TN_SLOT_QR)
			continue;
		for (int i = 0; i < 3 && is_iterative; i++) {
			one_fails(kit, slot, TN_F64, spoiled[i], -1);
			one_fails(kit, slot, TN_C64, spoiled[i], -1);
		}
		if (!is_iterative) {
			one_fails(kit, slot, TN_F32, 0, 1);
			one_fails(kit, slot, TN_C128, 0, 1);
		}
		if (slot == TN_SLOT_CHOLESKY)
			one_fails(kit, slot, TN_F64, NAN, 1);
	}
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void is_refused(struct factors *f, const struct tn_linalg_args *wrong, tn_status status,
		       const char *what)
{
	struct tn_linalg_args args = *wrong;
	struct array *all[8];
	for (size_t i = 0; i < f->n_arrays; i++)
		all[i] = &f->arrays[i];
	args.call = (struct tn_call)CALL(struct tn_linalg_args);
	kit_case(f->kit, f->slot, "%s: %s", tn_slots[f->slot].name, what);
	kit_run_refused(f->kit, &args, all, f->n_arrays, status);
}

static void wrong_operands_are_refused(struct kit *kit, int slot)
{
	struct factors f = {.kit = kit, .slot = slot, .dtype = TN_F32, .m = 3, .n = 3, .k = 3};
	kit_case(kit, slot, "%s: operands", tn_slots[slot].name);
	make(&f);
	struct tn_linalg_args args = f.args;
	args.a.dtype = TN_I32;
	is_refused(&f, &args, TN_UNSUPPORTED, "a matrix of i32");
	args = f.args;
	args.a.strides[1] = 3;
	args.a.strides[2] = 1;
	is_refused(&f, &args, TN_UNSUPPORTED, "a row-major matrix");
	args = f.args;
	args.a.rank = 2;
	is_refused(&f, &args, TN_SHAPE, "a matrix without a batch");
	args = f.args;
	args.transpose = 3;
	is_refused(&f, &args, TN_INVALID_ARGUMENT, "transpose 3");
	args = f.args;
	args.upper = 2;
	is_refused(&f, &args, TN_INVALID_ARGUMENT, "a flag of 2");
	args = f.args;
	args.b.shape[1] = 2;
	if (args.b.dtype)
		is_refused(&f, &args, TN_SHAPE, "a right side with too few rows");
	args = f.args;
	args.values.shape[1] = 2;
	if (args.values.dtype)
		is_refused(&f, &args, TN_SHAPE, "too few values");
	args = f.args;
	args.u.shape[1] = 2;
	if (args.u.dtype)
		is_refused(&f, &args, TN_SHAPE, "vectors that are too short");
	end(&f);
}

void check_linalg_refused(struct kit *kit)
{
	if (has_none(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		if (tn_backend_has(kit->backend, (enum tn_slot)slot))
			wrong_operands_are_refused(kit, slot);
	}
}
