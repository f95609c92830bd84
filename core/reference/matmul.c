/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The matrix product, with its bias and activation, and packed factors: B in double, matrix by
 * matrix.
 */
#include "reference/activation.h"

enum { LOWEST_RANK = 2, HIGHEST_RANK = 6 };

/* Is C of a dtype that this one of A and that of B give? */
static int is_multiplied(tn_dtype a, tn_dtype b, tn_dtype c)
{
	if ((a == TN_I8 || a == TN_U8) && b == TN_I8)
		return c == TN_I32 || c == TN_F32;
	if (a == TN_F16 || a == TN_BF16)
		return b == a && c == TN_F32;
	return (a == TN_F32 || a == TN_F64) && b == a && c == a;
}

static tn_status check_dtypes(const struct tn_matmul_args *args)
{
	const struct tn_call *call = &args->call;
	const tn_dtype a = args->a.dtype, b = args->b.dtype, c = args->c.dtype;
	if (!is_multiplied(a, b, c))
		return tn_reference_fail(call, TN_UNSUPPORTED, "matmul",
					 "dtypes %d, %d and %d: expected f32 or f64 for all three, "
					 "or two of fewer bits with their sum's",
					 a, b, c);
	if (c == TN_I32 && args->activation)
		return tn_reference_fail(call, TN_UNSUPPORTED, "matmul",
					 "activation %u: expected none for a c of i32",
					 args->activation);
	if (c != TN_F32 && (args->a_scale || args->b_scale))
		return tn_reference_fail(call, TN_UNSUPPORTED, "matmul",
					 "scales: expected a c of f32, found dtype %d", c);
	return TN_OK;
}

/* A vector with an element for each row of A, or for each column of B; NULL: none. */
static tn_status check_vector(const struct tn_call *call, const char *name,
			      const struct tn_operand *vector, tn_dtype dtype, int64_t length)
{
	if (!vector)
		return TN_OK;
	if (vector->dtype != dtype)
		return tn_reference_fail(call, TN_DTYPE, "matmul",
					 "%s: expected dtype %d, found %d", name, dtype,
					 vector->dtype);
	tn_status status = tn_reference_check(call, "matmul", name, vector, READ);
	return status ? status : tn_reference_check_shape(call, "matmul", name, vector, 1, &length);
}

static tn_status check_arguments(const struct tn_matmul_args *args)
{
	const struct tn_operand *a = &args->a, *b = &args->b, *c = &args->c;
	const struct tn_call *call = &args->call;
	int64_t shape[TN_MAX_RANK];
	uint32_t rank = a->rank;
	tn_status status = check_dtypes(args);
	if (!status)
		status = tn_reference_check(call, "matmul", "a", a, READ);
	if (!status)
		status = tn_reference_check(call, "matmul", "b", b, READ);
	if (!status)
		status = tn_reference_check(call, "matmul", "c", c, WRITE);
	if (status)
		return status;
	if (rank < LOWEST_RANK || rank > HIGHEST_RANK)
		return tn_reference_fail(call, TN_SHAPE, "matmul",
					 "a: rank %u, expected 2 to 6 (4 batch axes)", rank);
	memcpy(shape, a->shape, rank * sizeof(*shape));
	shape[rank - 2] = a->shape[rank - 1];
	shape[rank - 1] = b->rank == rank ? b->shape[rank - 1] : 0;
	status = tn_reference_check_shape(call, "matmul", "b", b, rank, shape);
	shape[rank - 2] = a->shape[rank - 2];
	if (!status)
		status = tn_reference_check_shape(call, "matmul", "c", c, rank, shape);
	if (status)
		return status;
	const int64_t m = c->shape[rank - 2], n = c->shape[rank - 1];
	if (args->has_bias > 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "matmul",
					 "has_bias %u: expected 0 or 1", args->has_bias);
	status = tn_reference_check_activation(call, "matmul", args->activation);
	if (!status && args->has_bias)
		status = check_vector(call, "bias", &args->bias, c->dtype, n);
	if (!status)
		status = check_vector(call, "a_scale", args->a_scale, TN_F32, m);
	if (!status)
		status = check_vector(call, "b_scale", args->b_scale, TN_F32, n);
	return status;
}

/* The matrix at one index of the batch axes, as an operand. */
static struct tn_operand inner(const struct tn_operand *all, const char *at)
{
	struct tn_operand matrix = {
		.buffer = (uint64_t)(uintptr_t)at, .dtype = all->dtype, .rank = 2};
	memcpy(matrix.shape, all->shape + all->rank - 2, 2 * sizeof(int64_t));
	memcpy(matrix.strides, all->strides + all->rank - 2, 2 * sizeof(int64_t));
	return matrix;
}

/* Scratch memory: the inner matrices A (m x k) and B (k x n), a row of the result and of the old C,
 * and bias and scales, each NULL if absent. */
struct scratch {
	double *a, *b, *row, *old, *bias, *a_scale, *b_scale;
};

/* row[j] := alpha row[j] + beta old[j] + bias[j] modulo 2^32, in whole numbers */
static void finish_whole(const struct tn_matmul_args *args, const struct scratch *s, int64_t n_j)
{
	for (int64_t j = 0; j < n_j; j++) {
		int64_t old = args->beta != 0 ? (int64_t)s->old[j] : 0;
		int64_t bias = s->bias ? (int64_t)s->bias[j] : 0;
		uint64_t sum = (uint64_t)(int64_t)args->alpha * (uint64_t)(int64_t)s->row[j] +
			       (uint64_t)(int64_t)args->beta * (uint64_t)old + (uint64_t)bias;
		s->row[j] = (int32_t)(uint32_t)sum;
	}
}

/* row[j] := activation(alpha a_scale b_scale[j] row[j] + beta old[j] + bias[j]), in row i */
static void finish(const struct tn_matmul_args *args, const struct scratch *s, int64_t i,
		   int64_t n_j)
{
	for (int64_t j = 0; j < n_j; j++) {
		s->row[j] *= args->alpha;
		if (s->a_scale)
			s->row[j] *= s->a_scale[i];
		if (s->b_scale)
			s->row[j] *= s->b_scale[j];
		if (args->beta != 0)
			s->row[j] += args->beta * s->old[j];
	}
	tn_reference_finish(args->activation, s->row, s->bias, (uint64_t)n_j);
}

/* C[i, j] := activation(alpha a_scale[i] b_scale[j] sum_k A[i, k] B[k, j] + beta C[i, j] +
 * bias[j]), summed in f64, in which sums of products of 8-bit integers are exact; beta = 0 never
 * reads C.  The inner loop runs along rows of B and of the result. */
static void product(const struct tn_matmul_args *args, const struct scratch *s,
		    const struct tn_operand *c, int64_t n_k)
{
	struct tn_operand c_row = *c;
	int64_t n_j = c->shape[1];
	c_row.shape[0] = 1;
	for (int64_t i = 0; i < c->shape[0]; i++) {
		for (int64_t j = 0; j < n_j; j++)
			s->row[j] = 0;
		for (int64_t k = 0; k < n_k; k++) {
			for (int64_t j = 0; j < n_j; j++)
				s->row[j] += s->a[i * n_k + k] * s->b[k * n_j + j];
		}
		if (args->beta != 0)
			tn_reference_read(s->old, &c_row);
		if (c->dtype == TN_I32)
			finish_whole(args, s, n_j);
		else
			finish(args, s, i, n_j);
		tn_reference_write(&c_row, s->row, 0);
		c_row.offset += (uint64_t)(c->strides[0] * (int64_t)tn_dtype_size(c->dtype));
	}
}

/* B as matmul_prepack made it; NULL: it is not there, or too short to be B. */
static const double *packed_b(const struct tn_matmul_args *args)
{
	const uint64_t size = tn_reference_count(&args->b) * sizeof(double);
	return args->packed.size < size
		       ? NULL
		       : (const double *)(uintptr_t)(args->packed.buffer + args->packed.offset);
}

/* One product for every index of the batch axes. */
static void batch(const struct tn_matmul_args *args, const struct scratch *s)
{
	struct tn_operand leading[3] = {args->a, args->b, args->c}, matrix[3];
	const double *packed = packed_b(args);
	struct cursor at[3];
	uint64_t n;
	for (int i = 0; i < 3; i++) {
		leading[i].rank -= 2;
		tn_reference_cursor(&at[i], &leading[i]);
	}
	n = tn_reference_count(&leading[2]);
	for (uint64_t i = 0; i < n; i++) {
		matrix[0] = inner(&args->a, at[0].at);
		matrix[1] = inner(&args->b, at[1].at);
		matrix[2] = inner(&args->c, at[2].at);
		tn_reference_read(s->a, &matrix[0]);
		const size_t n_b = (size_t)tn_reference_count(&matrix[1]);
		if (packed)
			memcpy(s->b, packed + i * n_b, n_b * sizeof(*packed));
		else
			tn_reference_read(s->b, &matrix[1]);
		product(args, s, &matrix[2], matrix[0].shape[1]);
		for (int operand = 0; operand < 3; operand++)
			cursor_next(&at[operand]);
	}
}

tn_status tn_reference_matmul(void *device, const struct tn_matmul_args *theirs)
{
	struct scratch scratch = {0};
	struct tn_matmul_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "matmul");
	if (!status)
		status = check_arguments(&args);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	uint64_t m = (uint64_t)args.c.shape[args.c.rank - 2];
	uint64_t n = (uint64_t)args.c.shape[args.c.rank - 1];
	uint64_t k = (uint64_t)args.a.shape[args.a.rank - 1];
	scratch.a = tn_reference_numbers(device, m * k);
	scratch.b = tn_reference_numbers(device, k * n);
	scratch.row = tn_reference_numbers(device, n);
	scratch.old = tn_reference_numbers(device, n);
	if (args.has_bias)
		scratch.bias = tn_reference_unpack(device, &args.bias);
	if (args.a_scale)
		scratch.a_scale = tn_reference_unpack(device, args.a_scale);
	if (args.b_scale)
		scratch.b_scale = tn_reference_unpack(device, args.b_scale);
	status = scratch.a && scratch.b && scratch.row && scratch.old &&
				 (scratch.bias || !args.has_bias) &&
				 (scratch.a_scale || !args.a_scale) &&
				 (scratch.b_scale || !args.b_scale)
			 ? TN_OK
			 : tn_reference_no_memory(&args.call, "matmul");
	if (!status)
		batch(&args, &scratch);
	double *all[] = {scratch.a,    scratch.b,       scratch.row,    scratch.old,
			 scratch.bias, scratch.a_scale, scratch.b_scale};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tn_reference_release(device, all[i]);
	return status;
}

tn_status tn_reference_matmul_prepack(void *device, const struct tn_matmul_args *theirs,
				      uint64_t *size)
{
	struct tn_matmul_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "matmul_prepack");
	(void)device;
	if (!status)
		status = check_arguments(&args);
	if (status)
		return status;
	*size = tn_reference_count(&args.b) * sizeof(double);
	if (tn_reference_is_dry(&args.call))
		return TN_OK;
	if (args.packed.size < *size)
		return tn_reference_fail(&args.call, TN_INVALID_ARGUMENT, "matmul_prepack",
					 "packed: expected %llu bytes, found %llu",
					 (unsigned long long)*size,
					 (unsigned long long)args.packed.size);
	tn_reference_read((double *)(uintptr_t)(args.packed.buffer + args.packed.offset), &args.b);
	return TN_OK;
}
