/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Factorisations: drawn matrices of every size, dtype and kind are factored, and the factors
 * multiplied again in double.  Bounds are those of the header.
 */
#include "factoring.h"
#include "loader/slots.h"

/* ---- Matrices --------------------------------------------------------------------------------*/

static int is_hermitian(const struct factoring *f)
{
	return f->slot == TN_SLOT_CHOLESKY || f->slot == TN_SLOT_EIGH;
}

/* In (-1, 1), and in the circle round 0 for complex dtypes. */
static double complex draw(struct kit *kit, tn_dtype dtype)
{
	double re = kit_uniform(kit, -1, 1);
	return complex_of(re, tn_is_complex(dtype) ? kit_uniform(kit, -1, 1) : 0);
}

/* The factor of row or column i: powers of two, which round nothing. */
static double grade(const struct factoring *f, int64_t i)
{
	const int64_t most = f->m > f->n ? f->m : f->n;
	return f->content == GRADED ? ldexp(1, -(int)(12 * i / most)) : 1;
}

static double size_of(const struct factoring *f)
{
	const int is_single = f->dtype == TN_F32 || f->dtype == TN_C64;
	const int exponent = is_single ? 80 : 600, subnormal = is_single ? 135 : 1060;
	if (f->unit) /* ones stay ones */
		return 1;
	return f->content == TINY        ? ldexp(1, -exponent)
	       : f->content == LARGE     ? ldexp(1, exponent)
	       : f->content == SUBNORMAL ? ldexp(1, -subnormal)
					 : 1;
}

/* A plain matrix, with the columns of its first half again in the second if it is deficient. */
static void draw_plain(const struct factoring *f, const struct matrix *a)
{
	const int64_t half = f->content == DEFICIENT ? (a->columns + 1) / 2 : a->columns;
	for (int64_t j = 0; j < a->columns; j++)
		for (int64_t i = 0; i < a->rows; i++)
			*at(a, i, j) = j < half                  ? draw(f->kit, f->dtype)
				       : f->content == DEFICIENT ? *at(a, i, j - half)
								 : 0;
	for (int64_t j = 0; f->content == MULTIPLE && j < a->columns; j++)
		for (int64_t i = 0; i < a->rows; i++)
			*at(a, i, j) = i == j ? 3 : 0;
}

/* Of a plain x: x^H x with a stronger diagonal for Cholesky, and x + x^H for eigenvalues. */
static void make_hermitian(const struct factoring *f, const struct matrix *a)
{
	struct matrix x = *a;
	x.at = matrix_memory(a->rows, a->columns);
	memcpy(x.at, a->at, (size_t)(a->rows * a->columns) * sizeof(*a->at));
	if (f->slot == TN_SLOT_CHOLESKY)
		multiply(a, &x, 1, &x, 0);
	for (int64_t j = 0; j < a->columns; j++) {
		for (int64_t i = 0; i <= j; i++) {
			double complex sum = *at(&x, i, j) + conj(*at(&x, j, i));
			if (f->slot == TN_SLOT_CHOLESKY)
				sum = *at(a, i, j);
			if (i == j)
				sum = creal(sum) + (f->slot == TN_SLOT_CHOLESKY ? 1 : 0);
			*at(a, i, j) = sum;
			*at(a, j, i) = conj(sum);
		}
	}
	free(x.at);
}

/* A triangle whose solution does not grow. */
static void make_triangular(const struct factoring *f, const struct matrix *a)
{
	for (int64_t j = 0; j < a->columns; j++) {
		for (int64_t i = 0; i < a->rows; i++) {
			const int is_kept = f->upper ? i < j : i > j;
			*at(a, i, j) = is_kept  ? *at(a, i, j) / (double)a->rows
				       : i == j ? (f->unit ? 1 : 1 + *at(a, i, j) / 4)
						: 0;
		}
	}
}

static void draw_matrix(const struct factoring *f, const struct matrix *a)
{
	draw_plain(f, a);
	if (is_hermitian(f))
		make_hermitian(f, a);
	if (f->slot == TN_SLOT_SOLVE_TRIANGULAR)
		make_triangular(f, a);
	for (int64_t j = 0; j < a->columns; j++)
		for (int64_t i = 0; i < a->rows; i++)
			*at(a, i, j) *= grade(f, i) * grade(f, j) * size_of(f);
}

/* What an entry may not read is NaN: the other triangle, and a diagonal of ones. */
static int is_unread(const struct factoring *f, int64_t i, int64_t j)
{
	if (is_hermitian(f))
		return i < j;
	if (f->slot != TN_SLOT_SOLVE_TRIANGULAR)
		return 0;
	return i == j ? (int)f->unit : f->upper ? i > j : i < j;
}

static void hide_unread(const struct factoring *f)
{
	struct matrix a;
	for (int64_t number = 0; number < f->batch; number++) {
		a = matrix_read(&f->a, number);
		for (int64_t j = 0; j < a.columns; j++)
			for (int64_t i = 0; i < a.rows; i++)
				if (is_unread(f, i, j))
					*at(&a, i, j) =
						complex_of(NAN, tn_is_complex(f->dtype) ? NAN : 0);
		matrix_write(&f->a, number, &a);
		free(a.at);
	}
}

/* What makes the middle one of several matrices fail at `place`, counted from 1. */
static void spoil(const struct factoring *f, const struct matrix *a)
{
	const int64_t p = f->place - 1;
	if (f->slot == TN_SLOT_CHOLESKY)
		*at(a, p, p) = -creal(*at(a, p, p));
	else if (f->slot == TN_SLOT_SOLVE_TRIANGULAR)
		*at(a, p, p) = 0;
	else if (f->slot == TN_SLOT_LU || f->slot == TN_SLOT_SOLVE)
		for (int64_t i = 0; i < a->rows; i++)
			*at(a, i, p) = 0;
	else
		*at(a, a->rows - 1, p) = f->place % 2 ? NAN : INFINITY;
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

/* Column-major, with gaps between columns and matrices where the case has some. */
static void make_matrices(struct factoring *f, struct array *array, enum role role, tn_dtype dtype,
			  int64_t rows, int64_t columns)
{
	const int64_t shape[] = {f->batch, rows, columns};
	const int64_t leading = rows + f->gap, strides[] = {leading * columns + f->gap, 1, leading};
	array_make_view(f->kit, array, role, dtype, 3, shape, strides, (uint64_t)f->gap);
	f->all[f->n_all++] = array;
}

static void make_list(struct factoring *f, struct array *array, tn_dtype dtype, uint32_t rank,
		      int64_t length)
{
	const int64_t shape[] = {f->batch, length};
	array_make(f->kit, array, OUTPUT, dtype, rank, shape, COMPACT);
	f->all[f->n_all++] = array;
}

static void make_outputs(struct factoring *f, struct tn_linalg_args *args)
{
	const tn_dtype of_values =
		f->slot == TN_SLOT_EIG ? tn_complex_dtype(f->dtype) : tn_real_dtype(f->dtype);
	if (f->slot == TN_SLOT_QR || (f->slot == TN_SLOT_SVD && f->vectors)) {
		make_matrices(f, &f->u, OUTPUT, f->dtype, f->m, f->full ? f->m : f->k);
		args->u = f->u.operand;
	}
	if ((f->slot == TN_SLOT_SVD || f->slot == TN_SLOT_EIG) && f->vectors) {
		make_matrices(f, &f->v, OUTPUT, f->slot == TN_SLOT_EIG ? of_values : f->dtype,
			      f->full ? f->n : f->k, f->n);
		args->v = f->v.operand;
	}
	if (has_values(f)) {
		make_list(f, &f->values, of_values, 2, f->k);
		args->values = f->values.operand;
	}
	if (f->slot == TN_SLOT_LU && f->vectors) {
		make_list(f, &f->pivots, TN_I32, 2, f->k);
		make_list(f, &f->permutation, TN_I32, 2, f->m);
		args->pivots = f->pivots.operand;
		args->permutation = f->permutation.operand;
	}
	if (f->slot != TN_SLOT_QR) {
		make_list(f, &f->info, TN_I32, 1, 0);
		args->info = f->info.operand;
	}
}

/* Draws a and b, and keeps what was stored. */
static void make_inputs(struct factoring *f, struct tn_linalg_args *args)
{
	const int reads = f->slot == TN_SLOT_SOLVE_TRIANGULAR;
	make_matrices(f, &f->a, reads ? INPUT : OUTPUT, f->dtype, f->m, f->n);
	if (has_b(f))
		make_matrices(f, &f->b, OUTPUT, f->dtype, f->n, f->r);
	for (int64_t number = 0; number < f->batch; number++) {
		struct matrix a = {f->m, f->n, matrix_memory(f->m, f->n)};
		draw_matrix(f, &a);
		if (f->place && number == f->batch / 2)
			spoil(f, &a);
		matrix_write(&f->a, number, &a);
		free(a.at);
		f->before_a[number] = matrix_read(&f->a, number);
		if (!has_b(f))
			continue;
		struct matrix b = {f->n, f->r, matrix_memory(f->n, f->r)};
		for (int64_t i = 0; i < f->n * f->r; i++)
			b.at[i] =
				draw(f->kit, f->dtype) * (f->content == SUBNORMAL ? size_of(f) : 1);
		matrix_write(&f->b, number, &b);
		free(b.at);
		f->before_b[number] = matrix_read(&f->b, number);
	}
	hide_unread(f);
	args->a = f->a.operand;
	if (has_b(f))
		args->b = f->b.operand;
}

static void end(struct factoring *f)
{
	while (f->n_all)
		array_free(f->all[--f->n_all]);
	for (int64_t number = 0; number < f->batch; number++) {
		free(f->before_a[number].at);
		if (has_b(f))
			free(f->before_b[number].at);
	}
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void check_results(struct factoring *f)
{
	for (int64_t number = 0; number < f->batch && !f->kit->case_failed; number++) {
		const int is_bad = f->place && number == f->batch / 2;
		const int is_iteration =
			f->slot == TN_SLOT_EIGH || f->slot == TN_SLOT_SVD || f->slot == TN_SLOT_EIG;
		const int32_t expected = !is_bad ? 0 : is_iteration ? -1 : (int32_t)f->place;
		int32_t found = f->slot == TN_SLOT_QR
					? expected
					: (int32_t)array_bits(&f->info, (uint64_t)number);
		if (found != expected)
			kit_fail(f->kit, "matrix %lld: expected an info of %d, found %d",
				 (long long)number, expected, found);
		else if (!is_bad || f->slot == TN_SLOT_LU)
			factoring_judge(f, number);
	}
}

static void factors(const struct factoring *drawn)
{
	static const char *const contents[CONTENTS] = {"plain", "graded", "deficient", "multiple",
						       "tiny",  "huge",   "subnormal"};
	struct factoring f = *drawn;
	struct tn_linalg_args args = {.call = CALL(struct tn_linalg_args),
				      .upper = f.upper,
				      .unit = f.unit,
				      .transpose = f.transpose,
				      .vectors = f.vectors && f.slot != TN_SLOT_SVD &&
						 f.slot != TN_SLOT_LU};
	f.k = f.m < f.n ? f.m : f.n;
	f.n_all = 0;
	kit_case(f.kit, f.slot,
		 "%s: %s, %lld x (%lld, %lld), r %lld, %s, gap %d%s%s%s%s, transpose %u, fails at "
		 "%lld",
		 tn_slots[f.slot].name, tn_dtype_name(f.dtype), (long long)f.batch, (long long)f.m,
		 (long long)f.n, (long long)f.r, contents[f.content], (int)f.gap,
		 f.vectors ? ", vectors" : "", f.full ? ", full" : "", f.upper ? ", upper" : "",
		 f.unit ? ", unit" : "", f.transpose, (long long)f.place);
	make_inputs(&f, &args);
	make_outputs(&f, &args);
	if (!kit_run(f.kit, &args, f.all, f.n_all))
		check_results(&f);
	end(&f);
}

static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_C64, TN_C128};
enum { N_DTYPES = 4, N_SLOTS = TN_SLOT_EIG - TN_SLOT_CHOLESKY + 1 };

static int is_square(int slot)
{
	return slot != TN_SLOT_LU && slot != TN_SLOT_QR && slot != TN_SLOT_SVD;
}

/* Is there a table?  The check is skipped without one. */
static int is_there(struct kit *kit)
{
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++)
		if (tn_backend_has(kit->backend, (enum tn_slot)slot))
			return 1;
	kit_skip(kit, "the table has no entry");
	return 0;
}

/* The settings rotate with `turn`; `drawn` has the sizes and the content. */
static void runs(const struct factoring *drawn, unsigned turn)
{
	struct factoring f = *drawn;
	if (!tn_backend_has(f.kit->backend, (enum tn_slot)f.slot) ||
	    !kit_claims_storage(f.kit, f.dtype))
		return;
	if (is_square(f.slot))
		f.m = f.n;
	f.vectors = turn % 4 != 3;
	f.full = turn / 2 % 2 || f.slot == TN_SLOT_EIG;
	f.upper = f.slot == TN_SLOT_SOLVE_TRIANGULAR && turn % 2;
	f.unit = f.slot == TN_SLOT_SOLVE_TRIANGULAR && turn / 2 % 2;
	f.transpose = f.slot == TN_SLOT_SOLVE_TRIANGULAR ? turn / 4 % 3 : 0;
	f.gap = turn % 3;
	factors(&f);
}

void check_linalg_factors(struct kit *kit)
{
	static const int64_t sizes[][3] = {{1, 1, 1},  {2, 2, 1},   {3, 5, 3}, {5, 3, 2},
					   {1, 7, 1},  {7, 1, 4},   {8, 8, 1}, {12, 9, 17},
					   {9, 12, 2}, {19, 19, 5}, {6, 6, 6}, {33, 17, 3}};
	unsigned turn = 0;
	if (!is_there(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, turn++) {
			for (int d = 0; d < N_DTYPES; d++) {
				struct factoring f = {.kit = kit,
						      .slot = slot,
						      .dtype = dtypes[d],
						      .batch =
							      1 + (int64_t)(turn + (unsigned)d) % 3,
						      .m = sizes[i][0],
						      .n = sizes[i][1],
						      .r = sizes[i][2]};
				runs(&f, turn + (unsigned)d);
			}
		}
	}
}

/* Matrices whose longer side squared is more than memory holds. */
static void run_long(struct kit *kit, int slot)
{
	enum { LONG = 60000, SHORT = 3 };
	for (unsigned turn = 0; turn < 2 && !is_square(slot); turn++) {
		struct factoring f = {.kit = kit,
				      .slot = slot,
				      .dtype = turn ? TN_C64 : TN_F64,
				      .batch = 1,
				      .m = turn ? SHORT : LONG,
				      .n = turn ? LONG : SHORT};
		runs(&f, 0);
	}
}

/* A length near a power of two, of one axis, of all, or of the batch, in each dtype; and a long
 * side beside a short one. */
void check_linalg_sizes(struct kit *kit)
{
	enum { POWERS = 7, KINDS = 4 };
	if (!is_there(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		for (unsigned turn = 0; turn < POWERS * KINDS * N_DTYPES; turn++) {
			const unsigned kind = turn % KINDS;
			kit_vary(kit, turn * N_SLOTS + (unsigned)slot);
			const int64_t near = (INT64_C(2) << turn / KINDS / N_DTYPES) - 1 +
					     (int64_t)(kit_random(kit) % 3);
			const int64_t far = 2 + (int64_t)(kit_random(kit) % 19);
			struct factoring f = {.kit = kit,
					      .slot = slot,
					      .dtype = dtypes[turn / KINDS % N_DTYPES],
					      .batch = kind == 3 ? near : 1,
					      .m = kind == 0 || kind == 2 ? near : far,
					      .n = kind == 1 || kind == 2 ? near : far,
					      .r = kind == 0 || kind == 2 ? near : far};
			if (kit_reaches(kit, (uint64_t)(near * near) << 10))
				runs(&f, kind == 2 ? 0 : (unsigned)(kit_random(kit) % 12));
		}
		run_long(kit, slot);
	}
}

static int is_meant(int slot, enum content content)
{
	if (slot == TN_SLOT_SOLVE_TRIANGULAR)
		return content != DEFICIENT && content != MULTIPLE && content != GRADED;
	return content != DEFICIENT ||
	       (slot != TN_SLOT_LU && slot != TN_SLOT_SOLVE && slot != TN_SLOT_CHOLESKY);
}

void check_linalg_kinds(struct kit *kit)
{
	if (!is_there(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		for (int content = GRADED; content < CONTENTS; content++) {
			for (int d = 0; d < N_DTYPES && is_meant(slot, content); d++) {
				struct factoring f = {.kit = kit,
						      .slot = slot,
						      .dtype = dtypes[d],
						      .batch = 2,
						      .m = 14,
						      .n = d % 2 ? 11 : 18,
						      .r = 2,
						      .content = content};
				runs(&f, (unsigned)(content + d) % 3);
			}
		}
	}
}

/* One of three matrices fails, at its first, last or any place; the others do not. */
void check_linalg_failures(struct kit *kit)
{
	if (!is_there(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		for (unsigned turn = 0; turn < 3 * N_DTYPES && slot != TN_SLOT_QR; turn++) {
			kit_vary(kit, turn * N_SLOTS + (unsigned)slot);
			const int64_t n = 2 + (int64_t)(kit_random(kit) % 30);
			const int64_t places[] = {1, n,
						  1 + (int64_t)(kit_random(kit) % (uint64_t)n)};
			struct factoring f = {.kit = kit,
					      .slot = slot,
					      .dtype = dtypes[turn % N_DTYPES],
					      .batch = 3,
					      .m = n,
					      .n = n,
					      .r = 2,
					      .place = places[turn / N_DTYPES]};
			/* A unit diagonal cannot be 0. */
			runs(&f, slot == TN_SLOT_SOLVE_TRIANGULAR ? turn % 2 : turn);
		}
	}
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void is_refused(struct factoring *f, struct tn_linalg_args args, tn_status status,
		       const char *what)
{
	kit_case(f->kit, f->slot, "%s: %s", tn_slots[f->slot].name, what);
	kit_run_refused(f->kit, &args, f->all, f->n_all, status);
}

static void wrong_operands_are_refused(struct factoring *f, const struct tn_linalg_args *right)
{
	struct tn_linalg_args args = *right;
	args.a.dtype = TN_I32;
	is_refused(f, args, TN_UNSUPPORTED, "a matrix of i32");
	args = *right;
	args.a.strides[1] = 3;
	args.a.strides[2] = 1;
	is_refused(f, args, TN_UNSUPPORTED, "a row-major matrix");
	args = *right;
	args.a.rank = 2;
	is_refused(f, args, TN_SHAPE, "a matrix without a batch");
	args = *right;
	args.transpose = 3;
	is_refused(f, args, TN_INVALID_ARGUMENT, "transpose 3");
	args = *right;
	args.upper = 2;
	is_refused(f, args, TN_INVALID_ARGUMENT, "a flag of 2");
	args = *right;
	args.b.shape[1] = 2;
	if (args.b.dtype)
		is_refused(f, args, TN_SHAPE, "a right side with too few rows");
	args = *right;
	args.values.shape[1] = 2;
	if (args.values.dtype)
		is_refused(f, args, TN_SHAPE, "too few values");
	args = *right;
	args.v.dtype = 0;
	if (right->v.dtype)
		is_refused(f, args, TN_UNSUPPORTED, "vectors without v");
	args = *right;
	args.vectors = 0;
	if (f->slot == TN_SLOT_EIG)
		is_refused(f, args, TN_UNSUPPORTED, "v without vectors");
	args = *right;
	args.u.shape[1] = 2;
	if (args.u.dtype)
		is_refused(f, args, TN_SHAPE, "vectors that are too short");
}

void check_linalg_refused(struct kit *kit)
{
	if (!is_there(kit))
		return;
	for (int slot = TN_SLOT_CHOLESKY; slot <= TN_SLOT_EIG; slot++) {
		if (!tn_backend_has(kit->backend, (enum tn_slot)slot) ||
		    !kit_claims_storage(kit, TN_F32))
			continue;
		struct factoring f = {.kit = kit,
				      .slot = slot,
				      .dtype = TN_F32,
				      .batch = 1,
				      .m = 3,
				      .n = 3,
				      .k = 3,
				      .r = 1,
				      .vectors = 1,
				      .full = 1};
		struct tn_linalg_args args = {.call = CALL(struct tn_linalg_args)};
		kit_case(kit, slot, "%s: operands", tn_slots[slot].name);
		make_inputs(&f, &args);
		make_outputs(&f, &args);
		args.vectors = slot == TN_SLOT_EIG || slot == TN_SLOT_EIGH;
		wrong_operands_are_refused(&f, &args);
		end(&f);
	}
}
