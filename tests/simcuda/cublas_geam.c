/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuBLAS: sums of two matrices, which may be transposed.
 */
#include "cublas.h"

#include "simcuda.h"

struct sum {
	int64_t m, n, lda, ldb, ldc;
	int transa, transb;
	const void *a, *b;
	void *c;
	struct sim_scalar alpha, beta;
	cudaDataType_t type;
};

static int64_t place(int64_t i, int64_t j, int64_t ld, int is_transposed)
{
	return is_transposed ? i * ld + j : i + j * ld;
}

static int check(const struct sum *s, const void *data, int64_t ld, int is_transposed, int write)
{
	int64_t extent = place(s->m - 1, s->n - 1, ld, is_transposed) + 1;
	return simcudaRange(data, (size_t)extent * sim_type_size(s->type), write);
}

/* An operand multiplied by zero is not read. */
static int run(void *data)
{
	const struct sum *s = data;
	double alpha = 0, beta = 0;
	int error = sim_scalar_read(&s->alpha, &alpha);
	if (!error)
		error = sim_scalar_read(&s->beta, &beta);
	if (!error && alpha != 0)
		error = check(s, s->a, s->lda, s->transa, 0);
	if (!error && beta != 0)
		error = check(s, s->b, s->ldb, s->transb, 0);
	if (!error)
		error = check(s, s->c, s->ldc, 0, 1);
	const void *a = simcudaMemory(s->a), *b = simcudaMemory(s->b);
	void *c = simcudaMemory(s->c);
	for (int64_t j = 0; j < s->n && !error; j++)
		for (int64_t i = 0; i < s->m; i++) {
			double value = 0;
			if (alpha != 0)
				value += alpha *
					 sim_load(s->type, a, place(i, j, s->lda, s->transa));
			if (beta != 0)
				value +=
					beta * sim_load(s->type, b, place(i, j, s->ldb, s->transb));
			sim_store(s->type, c, place(i, j, s->ldc, 0), value);
		}
	return error;
}

static cublasStatus_t add(const char *name, cublasHandle_t handle, const struct sum *sum,
			  const void *alpha, const void *beta)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct sum s = *sum;
	const struct sim_cublas *cublas = sim_cublas_enter(name, handle, &status);
	if (!cublas)
		return status;
	if (s.m < 0 || s.n < 0 || s.lda < (s.transa ? s.n : s.m) ||
	    s.ldb < (s.transb ? s.n : s.m) || s.ldc < s.m)
		return CUBLAS_STATUS_INVALID_VALUE;
	if ((s.c == s.a && s.transa) || (s.c == s.b && s.transb))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (s.m == 0 || s.n == 0)
		return CUBLAS_STATUS_SUCCESS;
	const int on_device = cublas->pointers == CUBLAS_POINTER_MODE_DEVICE;
	s.alpha = sim_scalar_at(alpha, s.type, on_device);
	s.beta = sim_scalar_at(beta, s.type, on_device);
	return sim_cublas_enqueue(cublas, name, run, &s, sizeof(s));
}

cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
			   cublasOperation_t transb, int m, int n, const float *alpha,
			   const float *a, int lda, const float *beta, const float *b, int ldb,
			   float *c, int ldc)
{
	const struct sum sum = {.m = m,
				.n = n,
				.lda = lda,
				.ldb = ldb,
				.ldc = ldc,
				.transa = transa != CUBLAS_OP_N,
				.transb = transb != CUBLAS_OP_N,
				.a = a,
				.b = b,
				.c = c,
				.type = CUDA_R_32F};
	return add("cublasSgeam", handle, &sum, alpha, beta);
}

cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa,
			   cublasOperation_t transb, int m, int n, const double *alpha,
			   const double *a, int lda, const double *beta, const double *b, int ldb,
			   double *c, int ldc)
{
	const struct sum sum = {.m = m,
				.n = n,
				.lda = lda,
				.ldb = ldb,
				.ldc = ldc,
				.transa = transa != CUBLAS_OP_N,
				.transb = transb != CUBLAS_OP_N,
				.a = a,
				.b = b,
				.c = c,
				.type = CUDA_R_64F};
	return add("cublasDgeam", handle, &sum, alpha, beta);
}
