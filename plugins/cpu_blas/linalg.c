/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.linalg/1 by LAPACK.
 *
 * Many matrices are divided among the host's threads, each of which computes on its own; a few
 * large ones are factored one after the other by OpenBLAS's threads.  Arguments are checked here:
 * LAPACK's own check prints.
 */
#include "linalg.h"

#include <math.h>
#include <string.h>

/* Multiplications that justify OpenBLAS's threads, or another thread of the host. */
#define LARGE 1e8
#define PIECE 2e4

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_operand(const struct factoring *f, const char *name,
			       const struct tn_operand *x)
{
	const uint64_t dtypes = UINT64_C(1) << TN_F32 | UINT64_C(1) << TN_F64 |
				UINT64_C(1) << TN_C64 | UINT64_C(1) << TN_C128 |
				UINT64_C(1) << TN_I32;
	return tn_plugin_check_operand(&f->args.call, f->operation, name, 0, x, dtypes,
				       TN_PLUGIN_READS);
}

static tn_status check_shape(const struct factoring *f, const char *name,
			     const struct tn_operand *x, uint32_t rank, const int64_t *shape)
{
	struct tn_error_info *error = f->args.call.error;
	if (x->rank != rank)
		return tn_plugin_fail(error, TN_SHAPE, f->operation,
				      "%s: expected rank %u, found %u", name, rank, x->rank);
	for (uint32_t axis = 0; axis < rank; axis++) {
		if (x->shape[axis] != shape[axis])
			return tn_plugin_fail(error, TN_SHAPE, f->operation,
					      "%s: axis %u: expected length %lld, found %lld", name,
					      axis, (long long)shape[axis],
					      (long long)x->shape[axis]);
	}
	return TN_OK;
}

static tn_status check_dtype(const struct factoring *f, const char *name,
			     const struct tn_operand *x, tn_dtype dtype)
{
	return x->dtype == dtype
		       ? TN_OK
		       : tn_plugin_fail(f->args.call.error, TN_UNSUPPORTED, f->operation,
					"%s: expected dtype %d, found %d", name, dtype, x->dtype);
}

/* Is a matrix column-major, and are its lengths those of LAPACK's integers? */
static tn_status check_layout(const struct factoring *f, const char *name,
			      const struct tn_operand *x, int32_t *ld)
{
	struct tn_error_info *error = f->args.call.error;
	const int64_t rows = x->shape[1], columns = x->shape[2];
	const int64_t leading = columns > 1 ? x->strides[2] : rows;
	if ((rows > 1 && x->strides[1] != 1) || leading < rows)
		return tn_plugin_fail(error, TN_UNSUPPORTED, f->operation,
				      "%s: expected strides of 1 and at least %lld, found %lld and "
				      "%lld",
				      name, (long long)rows, (long long)x->strides[1],
				      (long long)x->strides[2]);
	if (rows > INT32_MAX || columns > INT32_MAX || leading > INT32_MAX)
		return tn_plugin_fail(error, TN_LIMIT, f->operation,
				      "%s: expected fewer than 2^31 rows and columns, found %lld "
				      "and %lld with a leading dimension of %lld",
				      name, (long long)rows, (long long)columns,
				      (long long)leading);
	*ld = (int32_t)leading;
	return TN_OK;
}

static tn_status check_matrix(const struct factoring *f, const struct tn_operand *x,
			      const char *name, tn_dtype dtype, int64_t rows, int64_t columns,
			      int32_t *ld)
{
	const int64_t shape[] = {f->args.a.shape[0], rows, columns};
	tn_status status = check_operand(f, name, x);
	if (!status)
		status = check_dtype(f, name, x, dtype);
	if (!status)
		status = check_shape(f, name, x, 3, shape);
	return status ? status : check_layout(f, name, x, ld);
}

static tn_status check_list(const struct factoring *f, const struct tn_operand *x, const char *name,
			    tn_dtype dtype, uint32_t rank, int64_t n)
{
	const int64_t shape[] = {f->args.a.shape[0], n};
	tn_status status = check_operand(f, name, x);
	if (!status)
		status = check_dtype(f, name, x, dtype);
	if (!status)
		status = check_shape(f, name, x, rank, shape);
	if (!status && rank > 1 && n > 1 && x->strides[1] != 1)
		status = tn_plugin_fail(f->args.call.error, TN_UNSUPPORTED, f->operation,
					"%s: axis 1: expected stride 1, found %lld", name,
					(long long)x->strides[1]);
	return status;
}

static tn_status check_a(struct factoring *f)
{
	static const tn_dtype types[] = {TN_F32, TN_F64, TN_C64, TN_C128};
	const struct tn_operand *a = &f->args.a;
	struct tn_error_info *error = f->args.call.error;
	tn_status status = check_operand(f, "a", a);
	if (status)
		return status;
	if (a->rank != 3)
		return tn_plugin_fail(error, TN_SHAPE, f->operation, "a: expected rank 3, found %u",
				      a->rank);
	if (f->entry->is_square && a->shape[1] != a->shape[2])
		return tn_plugin_fail(error, TN_SHAPE, f->operation,
				      "a: expected square matrices, found %lld rows and %lld "
				      "columns",
				      (long long)a->shape[1], (long long)a->shape[2]);
	f->type = 0;
	while (f->type < LAPACK_TYPES && types[f->type] != a->dtype)
		f->type++;
	if (f->type == LAPACK_TYPES)
		return tn_plugin_fail(error, TN_UNSUPPORTED, f->operation,
				      "a: expected f32, f64, c64 or c128, found dtype %d",
				      a->dtype);
	status = check_layout(f, "a", a, &f->lda);
	f->size = tn_dtype_size(a->dtype);
	f->m = (int32_t)a->shape[1];
	f->n = (int32_t)a->shape[2];
	f->k = f->m < f->n ? f->m : f->n;
	return status;
}

/* Of m and n only the greater one makes vectors complete. */
static tn_status check_vectors(struct factoring *f, tn_dtype dtype)
{
	const struct linalg_entry *entry = f->entry;
	struct tn_linalg_args *args = &f->args;
	const int is_full_u = args->u.rank == 3 && args->u.shape[2] == f->m;
	const int is_full_v = args->v.rank == 3 && args->v.shape[1] == f->n;
	const int has_u = args->u.dtype != 0, has_v = args->v.dtype != 0;
	tn_status status = TN_OK;
	if (entry->has_u && has_u)
		status = check_matrix(f, &args->u, "u", dtype, f->m, is_full_u ? f->m : f->k,
				      &f->ldu);
	if (entry->has_v && has_v && !status)
		status = check_matrix(f, &args->v, "v", dtype, is_full_v ? f->n : f->k, f->n,
				      &f->ldv);
	if (!status && entry->has_u && entry->has_v && has_u != has_v)
		status = tn_plugin_fail(args->call.error, TN_UNSUPPORTED, f->operation,
					"expected u and v, or neither, found %s alone",
					has_u ? "u" : "v");
	if (!status && entry->is_eig && args->vectors != (uint32_t)has_v)
		status = tn_plugin_fail(args->call.error, TN_UNSUPPORTED, f->operation,
					"vectors: expected %d as v is %s, found %u", has_v,
					has_v ? "there" : "absent", args->vectors);
	return status;
}

static tn_status check_lists(const struct factoring *f, tn_dtype values)
{
	const struct tn_linalg_args *args = &f->args;
	tn_status status = TN_OK;
	if (f->entry->has_values)
		status = check_list(f, &args->values, "values", values, 2, f->k);
	if (f->entry->has_pivots && args->pivots.dtype && !status)
		status = check_list(f, &args->pivots, "pivots", TN_I32, 2, f->k);
	if (f->entry->has_pivots && args->permutation.dtype && !status)
		status = check_list(f, &args->permutation, "permutation", TN_I32, 2, f->m);
	if (args->info.dtype && !status)
		status = check_list(f, &args->info, "info", TN_I32, 1, 0);
	return status;
}

static tn_status check_flags(const struct tn_linalg_args *args, const char *operation)
{
	if (args->upper <= 1 && args->unit <= 1 && args->vectors <= 1 &&
	    args->transpose <= TN_TRANSPOSE_CONJUGATE)
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, operation,
			      "upper, unit, vectors, transpose: expected 0 or 1, and 0 to 2, found "
			      "%u, %u, %u, %u",
			      args->upper, args->unit, args->vectors, args->transpose);
}

static tn_status check(struct factoring *f)
{
	tn_status status = check_a(f);
	if (!status)
		status = check_flags(&f->args, f->operation);
	if (status)
		return status;
	const tn_dtype dtype = f->args.a.dtype;
	const tn_dtype real = linalg_real_size(f) == 4 ? TN_F32 : TN_F64;
	const tn_dtype wide = linalg_real_size(f) == 4 ? TN_C64 : TN_C128;
	if (f->entry->has_b) {
		const int64_t columns = f->args.b.rank == 3 ? f->args.b.shape[2] : 1;
		status = check_matrix(f, &f->args.b, "b", dtype, f->m, columns, &f->ldb);
		f->n_right = (int32_t)columns;
	}
	if (!status)
		status = check_vectors(f, f->entry->is_eig ? wide : dtype);
	return status ? status : check_lists(f, f->entry->is_eig ? wide : real);
}

/* ---- The loop --------------------------------------------------------------------------------*/

static void *place(const struct tn_operand *x, uint64_t number)
{
	if (!x->dtype)
		return NULL;
	return (char *)(uintptr_t)(x->buffer + x->offset) +
	       (int64_t)number * x->strides[0] * (int64_t)tn_dtype_size(x->dtype);
}

/* The operand of a part that is a copy of it. */
static const struct tn_operand *copied_operand(const struct factoring *f, int part)
{
	const struct tn_operand *const operands[] = {&f->args.a, &f->args.b, &f->args.u,
						     &f->args.v};
	return operands[part - LINALG_A];
}

/* Copies without gaps, and room behind their ends. */
static void plan_copies(struct factoring *f)
{
	enum { ROOM = 64 };
	if (!linalg_is_complex(f))
		return;
	for (int part = LINALG_A; part <= LINALG_V; part++) {
		const struct tn_operand *x = copied_operand(f, part);
		if (x->dtype)
			f->parts[part] = (uint64_t)(x->shape[1] * x->shape[2]) * f->size + ROOM;
	}
	f->lda = f->ldb = f->ldu = f->m;
	if (f->args.v.dtype)
		f->ldv = (int32_t)f->args.v.shape[1];
}

/* Column by column from a matrix of the batch to its copy, or back. */
static void copy_matrix(const struct factoring *f, int part, uint64_t number, char *copy, int back)
{
	const struct tn_operand *x = copied_operand(f, part);
	const size_t length = (size_t)x->shape[1] * f->size;
	char *own = place(x, number);
	for (int64_t j = 0; j < x->shape[2]; j++, copy += length) {
		char *at = own + (size_t)(j * x->strides[2]) * f->size;
		memcpy(back ? at : copy, back ? copy : at, length);
	}
}

/* The matrix with its copies in place of the operands. */
static int32_t factor_copies(const struct factoring *f, uint64_t number, struct matrix *x)
{
	void **const matrices[] = {&x->a, &x->b, &x->u, &x->v};
	for (int part = LINALG_A; part <= LINALG_V; part++) {
		if (!f->parts[part])
			continue;
		*matrices[part - LINALG_A] = x->parts[part];
		if (part <= LINALG_B)
			copy_matrix(f, part, number, x->parts[part], 0);
	}
	int32_t info = f->entry->factor(f, x);
	for (int part = f->entry->keeps_a ? LINALG_B : LINALG_A; part <= LINALG_V; part++) {
		if (f->parts[part])
			copy_matrix(f, part, number, x->parts[part], 1);
	}
	return info;
}

/* An argument that LAPACK refuses is a defect of this file, and fails the call. */
static void factor_one(struct factoring *f, uint64_t number, char *memory)
{
	struct matrix x = {.a = place(&f->args.a, number),
			   .b = place(&f->args.b, number),
			   .u = place(&f->args.u, number),
			   .v = place(&f->args.v, number),
			   .values = place(&f->args.values, number),
			   .pivots = place(&f->args.pivots, number),
			   .permutation = place(&f->args.permutation, number)};
	int32_t *info = place(&f->args.info, number);
	for (int part = 0; part < LINALG_PARTS; part++) {
		x.parts[part] = memory;
		memory += f->parts[part];
	}
	int32_t found =
		linalg_is_complex(f) ? factor_copies(f, number, &x) : f->entry->factor(f, &x);
	if (found < 0 && found != LINALG_NOT_FINITE)
		atomic_store(&f->refused, found);
	if (info)
		*info = found < 0 ? -1 : found;
}

static char *memory_of(const struct factoring *f, uint64_t lane)
{
	const struct tn_workspace *given = f->args.call.workspace;
	return f->bytes ? (char *)(uintptr_t)(given->buffer + given->offset) + lane * f->bytes
			: NULL;
}

/* Lane l factors matrices l, l + lanes, ... */
static void run_lanes(void *argument, uint64_t begin, uint64_t end)
{
	struct factoring *f = argument;
	const uint64_t batch = (uint64_t)f->args.a.shape[0];
	int count = cpu_blas_thread_enter(&f->cpu->instance->blas);
	for (uint64_t lane = begin; lane < end; lane++)
		for (uint64_t number = lane; number < batch; number += f->lanes)
			factor_one(f, number, memory_of(f, lane));
	cpu_blas_thread_leave(&f->cpu->instance->blas, count);
}

static void run_alone(struct factoring *f, uint32_t threads)
{
	const struct cpu_blas *blas = &f->cpu->instance->blas;
	int count = cpu_blas_enter_alone(blas, (int)threads);
	for (uint64_t number = 0; number < (uint64_t)f->args.a.shape[0]; number++)
		factor_one(f, number, memory_of(f, 0));
	cpu_blas_leave_alone(blas, count);
}

static double cost_of(const struct factoring *f)
{
	return (double)f->m * (double)f->n * (double)(f->k > f->n_right ? f->k : f->n_right);
}

/* Rounded up, so that every part is aligned as the workspace is. */
static void add_parts(struct factoring *f)
{
	f->bytes = 0;
	for (int part = 0; part < LINALG_PARTS; part++) {
		f->parts[part] = (f->parts[part] + 63) / 64 * 64;
		f->bytes += f->parts[part];
	}
}

static uint64_t lanes_of(const struct factoring *f, uint32_t threads)
{
	const uint64_t batch = (uint64_t)f->args.a.shape[0];
	const double pieces = cost_of(f) * (double)batch / PIECE;
	uint64_t lanes = threads < batch ? threads : batch;
	if (pieces < (double)lanes)
		lanes = pieces > 1 ? (uint64_t)pieces : 1;
	return lanes;
}

static tn_status end(const struct factoring *f)
{
	const int refused = atomic_load(&f->refused);
	return refused ? tn_plugin_fail(f->args.call.error, TN_INTERNAL, f->operation,
					"LAPACK refused argument %d", -refused)
		       : TN_OK;
}

tn_status cpu_linalg_run(void *device, const struct tn_linalg_args *args, const char *operation,
			 const struct linalg_entry *entry)
{
	struct factoring f = {.cpu = device, .operation = operation, .entry = entry};
	const struct tn_host *host = f.cpu->instance->host;
	const uint32_t threads = host->thread_count(host->context);
	tn_status status = tn_plugin_take(&f.args, sizeof(f.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC, operation);
	if (!status)
		status = check(&f);
	if (status)
		return status;
	plan_copies(&f);
	if (entry->plan && entry->plan(&f))
		return tn_plugin_fail(
			f.args.call.error, TN_LIMIT, operation,
			"a: %lld x %lld: LAPACK's integers of 32 bits do not count the "
			"workspace",
			(long long)f.m, (long long)f.n);
	add_parts(&f);
	f.lanes = lanes_of(&f, threads);
	if (f.args.call.flags & TN_DRY_RUN) {
		status = tn_plugin_dry_run(&f.args.call, f.bytes, f.bytes);
		if (f.args.call.workspace)
			f.args.call.workspace->preferred = f.bytes * f.lanes;
		return status;
	}
	int work = 0;
	status = tn_plugin_workspace(&f.args.call, operation, f.bytes, &work);
	if (status)
		return status;
	if (f.bytes && f.args.call.workspace->size / f.bytes < f.lanes)
		f.lanes = f.args.call.workspace->size / f.bytes;
	/* Whether nobody else is in OpenBLAS is chance, and so would be the last bits. */
	const int may_be_alone = !(f.args.call.flags & TN_DETERMINISTIC);
	if (may_be_alone && cost_of(&f) >= LARGE && threads > 1 && f.args.a.shape[0] < threads) {
		run_alone(&f, threads);
		return end(&f);
	}
	cpu_blas_enter(&f.cpu->instance->blas);
	cpu_parallel(f.cpu, f.lanes, 1, run_lanes, &f);
	cpu_blas_leave(&f.cpu->instance->blas);
	return end(&f);
}

int linalg_has_query(int64_t length)
{
	enum { WIDEST_BLOCK = 64 };
	return length <= INT32_MAX / WIDEST_BLOCK;
}

int linalg_take_size(const struct factoring *f, const void *answer, int32_t *length)
{
	float narrow = 0;
	double wide = 0;
	if (linalg_real_size(f) == sizeof(narrow)) {
		memcpy(&narrow, answer, sizeof(narrow));
		/* f32 rounds lengths above 2^24. */
		wide = (double)narrow * (narrow > 0x1p24f ? 1 + 0x1p-22 : 1);
	} else {
		memcpy(&wide, answer, sizeof(wide));
	}
	if (!(wide >= 0 && wide <= INT32_MAX))
		return 1;
	*length = wide > 1 ? (int32_t)ceil(wide) : 1;
	return 0;
}

/* ---- Cholesky --------------------------------------------------------------------------------*/

/* The order of the first minor whose pivot is not positive, NaN included; 0: none. */
static int32_t check_diagonal(const struct factoring *f, const char *a)
{
	for (int64_t j = 0; j < f->n; j++) {
		const char *at = a + (size_t)(j * f->lda + j) * f->size;
		float narrow = 0;
		double wide = 0;
		memcpy(&narrow, at, sizeof(narrow));
		if (linalg_real_size(f) == sizeof(wide))
			memcpy(&wide, at, sizeof(wide));
		if (!((linalg_real_size(f) == sizeof(wide) ? wide : (double)narrow) > 0))
			return (int32_t)j + 1;
	}
	return 0;
}

static int32_t factor_cholesky(const struct factoring *f, const struct matrix *x)
{
	int32_t info = 0;
	linalg_lapack(f)->potrf[f->type]("L", &f->n, x->a, &f->lda, &info, 1);
	if (!info)
		info = check_diagonal(f, x->a);
	for (int64_t j = 1; j < f->n; j++)
		memset((char *)x->a + (size_t)(j * f->lda) * f->size, 0, (size_t)j * f->size);
	return info;
}

static tn_status cholesky(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {.is_square = 1, .factor = factor_cholesky};
	return cpu_linalg_run(device, args, "cholesky", &entry);
}

/* ---- QR --------------------------------------------------------------------------------------*/

static int plan_qr(struct factoring *f)
{
	const struct cpu_lapack *lapack = linalg_lapack(f);
	const int32_t columns = f->args.u.dtype ? (int32_t)f->args.u.shape[2] : f->k, ask = -1;
	const int32_t least = f->n > columns ? f->n : columns;
	char first[16] = {0}, second[16] = {0};
	int32_t info = 0, other = 0;
	if (!linalg_has_query(least))
		return 1;
	lapack->geqrf[f->type](&f->m, &f->n, NULL, &f->lda, NULL, first, &ask, &info);
	lapack->orgqr[f->type](&f->m, &columns, &f->k, NULL, &f->m, NULL, second, &ask, &info);
	if (linalg_take_size(f, first, &f->lwork) || linalg_take_size(f, second, &other))
		return 1;
	f->lwork = other > f->lwork ? other : f->lwork;
	f->lwork = least > f->lwork ? least : f->lwork;
	f->parts[LINALG_TAU] = (uint64_t)f->k * f->size;
	f->parts[LINALG_WORK] = (uint64_t)f->lwork * f->size;
	return 0;
}

static int32_t factor_qr(const struct factoring *f, const struct matrix *x)
{
	const struct cpu_lapack *lapack = linalg_lapack(f);
	int32_t info = 0;
	lapack->geqrf[f->type](&f->m, &f->n, x->a, &f->lda, x->parts[LINALG_TAU],
			       x->parts[LINALG_WORK], &f->lwork, &info);
	if (!x->u || info)
		return info;
	const int32_t columns = (int32_t)f->args.u.shape[2];
	for (int64_t j = 0; j < f->k; j++)
		memcpy((char *)x->u + (size_t)(j * f->ldu) * f->size,
		       (char *)x->a + (size_t)(j * f->lda) * f->size, (size_t)f->m * f->size);
	lapack->orgqr[f->type](&f->m, &columns, &f->k, x->u, &f->ldu, x->parts[LINALG_TAU],
			       x->parts[LINALG_WORK], &f->lwork, &info);
	return info;
}

static tn_status qr(void *device, const struct tn_linalg_args *args)
{
	static const struct linalg_entry entry = {.has_u = 1, .plan = plan_qr, .factor = factor_qr};
	return cpu_linalg_run(device, args, "qr", &entry);
}

const struct tn_linalg_table cpu_linalg_table = {
	.struct_size = sizeof(cpu_linalg_table),
	.cholesky = cholesky,
	.lu = cpu_lu,
	.solve = cpu_solve,
	.solve_triangular = cpu_solve_triangular,
	.qr = qr,
	.eigh = cpu_eigh,
	.svd = cpu_svd,
	.eig = cpu_eig,
};
