/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuBLAS: products of matrices, and of a matrix with a vector.
 */
#include "cublas.h"

/* A call in the terms of the interface: column-major, with leading dimensions. */
struct call {
	const char *name;
	cublasHandle_t handle;
	cublasOperation_t transa, transb;
	int64_t m, n, k, batches;
	const void *alpha, *beta;
	struct {
		const void *data;
		cudaDataType_t type;
		int64_t ld, at;
	} a, b, c;
	int is_array;
	cublasComputeType_t compute;
};

static struct sim_matrix matrix_of(const void *data, cudaDataType_t type, int64_t ld, int64_t at,
				   int is_transposed, int is_array)
{
	return (struct sim_matrix){.data = (void *)(uintptr_t)data,
				   .type = type,
				   .row = is_transposed ? ld : 1,
				   .column = is_transposed ? 1 : ld,
				   .at = at,
				   .is_array = is_array};
}

static int is_operation(cublasOperation_t operation)
{
	return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

static int64_t at_least_one(int64_t n)
{
	return n > 1 ? n : 1;
}

static cublasStatus_t check(const struct call *c)
{
	if (!is_operation(c->transa) || !is_operation(c->transb) || c->m < 0 || c->n < 0 ||
	    c->k < 0 || c->batches < 0 || !c->alpha || !c->beta)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (c->a.ld < at_least_one(c->transa == CUBLAS_OP_N ? c->m : c->k) ||
	    c->b.ld < at_least_one(c->transb == CUBLAS_OP_N ? c->k : c->n) ||
	    c->c.ld < at_least_one(c->m))
		return CUBLAS_STATUS_INVALID_VALUE;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t multiply(const struct call *c)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	const struct sim_cublas *cublas = sim_cublas_enter(c->name, c->handle, &status);
	if (!cublas)
		return status;
	status = check(c);
	if (status)
		return status;
	const int on_device = cublas->pointers == CUBLAS_POINTER_MODE_DEVICE;
	const int scale = sim_scale_type(c->compute);
	struct sim_gemm gemm = {.m = c->m,
				.n = c->n,
				.k = c->k,
				.batches = c->batches,
				.workspace = cublas->workspace,
				.workspace_size = cublas->workspace_size};
	gemm.a = matrix_of(c->a.data, c->a.type, c->a.ld, c->a.at, c->transa != CUBLAS_OP_N,
			   c->is_array);
	gemm.b = matrix_of(c->b.data, c->b.type, c->b.ld, c->b.at, c->transb != CUBLAS_OP_N,
			   c->is_array);
	gemm.c = matrix_of(c->c.data, c->c.type, c->c.ld, c->c.at, 0, c->is_array);
	gemm.d = gemm.c;
	status = sim_gemm_check(&gemm, c->compute);
	if (status)
		return status;
	gemm.alpha = sim_scalar_at(c->alpha, (cudaDataType_t)scale, on_device);
	gemm.beta = sim_scalar_at(c->beta, (cudaDataType_t)scale, on_device);
	gemm.is_tf32 =
		gemm.a.type == CUDA_R_32F &&
		(c->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
		 (c->compute == CUBLAS_COMPUTE_32F && cublas->math & CUBLAS_TF32_TENSOR_OP_MATH));
	return sim_cublas_enqueue(cublas, c->name, sim_gemm_run, &gemm, sizeof(gemm));
}

/* ---- Matrices of one type --------------------------------------------------------------------*/

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
			      cublasOperation_t transb, int m, int n, int k, const float *alpha,
			      const float *a, int lda, const float *b, int ldb, const float *beta,
			      float *c, int ldc)
{
	const struct call call = {"cublasSgemm_v2",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  1,
				  alpha,
				  beta,
				  {a, CUDA_R_32F, lda, 0},
				  {b, CUDA_R_32F, ldb, 0},
				  {c, CUDA_R_32F, ldc, 0},
				  0,
				  CUBLAS_COMPUTE_32F};
	return multiply(&call);
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
			      cublasOperation_t transb, int m, int n, int k, const double *alpha,
			      const double *a, int lda, const double *b, int ldb,
			      const double *beta, double *c, int ldc)
{
	const struct call call = {"cublasDgemm_v2",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  1,
				  alpha,
				  beta,
				  {a, CUDA_R_64F, lda, 0},
				  {b, CUDA_R_64F, ldb, 0},
				  {c, CUDA_R_64F, ldc, 0},
				  0,
				  CUBLAS_COMPUTE_64F};
	return multiply(&call);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
					 cublasOperation_t transb, int m, int n, int k,
					 const float *alpha, const float *a, int lda,
					 long long at_a, const float *b, int ldb, long long at_b,
					 const float *beta, float *c, int ldc, long long at_c,
					 int batches)
{
	const struct call call = {"cublasSgemmStridedBatched",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  batches,
				  alpha,
				  beta,
				  {a, CUDA_R_32F, lda, at_a},
				  {b, CUDA_R_32F, ldb, at_b},
				  {c, CUDA_R_32F, ldc, at_c},
				  0,
				  CUBLAS_COMPUTE_32F};
	return multiply(&call);
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
					 cublasOperation_t transb, int m, int n, int k,
					 const double *alpha, const double *a, int lda,
					 long long at_a, const double *b, int ldb, long long at_b,
					 const double *beta, double *c, int ldc, long long at_c,
					 int batches)
{
	const struct call call = {"cublasDgemmStridedBatched",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  batches,
				  alpha,
				  beta,
				  {a, CUDA_R_64F, lda, at_a},
				  {b, CUDA_R_64F, ldb, at_b},
				  {c, CUDA_R_64F, ldc, at_c},
				  0,
				  CUBLAS_COMPUTE_64F};
	return multiply(&call);
}

/* ---- Matrices of any type --------------------------------------------------------------------*/

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
			    cublasOperation_t transb, int m, int n, int k, const void *alpha,
			    const void *a, cudaDataType type_a, int lda, const void *b,
			    cudaDataType type_b, int ldb, const void *beta, void *c,
			    cudaDataType type_c, int ldc, cublasComputeType_t compute,
			    cublasGemmAlgo_t algorithm)
{
	const struct call call = {"cublasGemmEx",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  1,
				  alpha,
				  beta,
				  {a, type_a, lda, 0},
				  {b, type_b, ldb, 0},
				  {c, type_c, ldc, 0},
				  0,
				  compute};
	(void)algorithm;
	return multiply(&call);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
					  cublasOperation_t transb, int m, int n, int k,
					  const void *alpha, const void *a, cudaDataType type_a,
					  int lda, long long at_a, const void *b,
					  cudaDataType type_b, int ldb, long long at_b,
					  const void *beta, void *c, cudaDataType type_c, int ldc,
					  long long at_c, int batches, cublasComputeType_t compute,
					  cublasGemmAlgo_t algorithm)
{
	const struct call call = {"cublasGemmStridedBatchedEx",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  batches,
				  alpha,
				  beta,
				  {a, type_a, lda, at_a},
				  {b, type_b, ldb, at_b},
				  {c, type_c, ldc, at_c},
				  0,
				  compute};
	(void)algorithm;
	return multiply(&call);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
				   cublasOperation_t transb, int m, int n, int k, const void *alpha,
				   const void *const a[], cudaDataType type_a, int lda,
				   const void *const b[], cudaDataType type_b, int ldb,
				   const void *beta, void *const c[], cudaDataType type_c, int ldc,
				   int batches, cublasComputeType_t compute,
				   cublasGemmAlgo_t algorithm)
{
	const struct call call = {"cublasGemmBatchedEx",
				  handle,
				  transa,
				  transb,
				  m,
				  n,
				  k,
				  batches,
				  alpha,
				  beta,
				  {a, type_a, lda, 0},
				  {b, type_b, ldb, 0},
				  {c, type_c, ldc, 0},
				  1,
				  compute};
	(void)algorithm;
	return multiply(&call);
}

/* ---- A matrix and a vector -------------------------------------------------------------------*/

struct vector_call {
	const char *name;
	cublasHandle_t handle;
	cublasOperation_t trans;
	int64_t m, n, batches;
	const void *alpha, *a, *x, *beta;
	void *y;
	int64_t lda, incx, incy, at_a, at_x, at_y;
	cudaDataType_t type;
};

static cublasStatus_t multiply_vector(const struct vector_call *c)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	const struct sim_cublas *cublas = sim_cublas_enter(c->name, c->handle, &status);
	if (!cublas)
		return status;
	if (!is_operation(c->trans) || c->m < 0 || c->n < 0 || c->lda < at_least_one(c->m) ||
	    c->incx == 0 || c->incy == 0 || c->batches < 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (c->incx < 0 || c->incy < 0)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	const int is_transposed = c->trans != CUBLAS_OP_N;
	const int on_device = cublas->pointers == CUBLAS_POINTER_MODE_DEVICE;
	struct sim_gemm gemm = {.m = is_transposed ? c->n : c->m,
				.n = 1,
				.k = is_transposed ? c->m : c->n,
				.batches = c->batches,
				.workspace = cublas->workspace,
				.workspace_size = cublas->workspace_size};
	gemm.a = matrix_of(c->a, c->type, c->lda, c->at_a, is_transposed, 0);
	gemm.b = matrix_of(c->x, c->type, c->incx, c->at_x, 1, 0);
	gemm.c = matrix_of(c->y, c->type, c->incy, c->at_y, 1, 0);
	gemm.d = gemm.c;
	gemm.alpha = sim_scalar_at(c->alpha, c->type, on_device);
	gemm.beta = sim_scalar_at(c->beta, c->type, on_device);
	return sim_cublas_enqueue(cublas, c->name, sim_gemm_run, &gemm, sizeof(gemm));
}

cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
			      const float *alpha, const float *a, int lda, const float *x, int incx,
			      const float *beta, float *y, int incy)
{
	const struct vector_call call = {"cublasSgemv_v2",
					 handle,
					 trans,
					 m,
					 n,
					 1,
					 alpha,
					 a,
					 x,
					 beta,
					 y,
					 lda,
					 incx,
					 incy,
					 0,
					 0,
					 0,
					 CUDA_R_32F};
	return multiply_vector(&call);
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
			      const double *alpha, const double *a, int lda, const double *x,
			      int incx, const double *beta, double *y, int incy)
{
	const struct vector_call call = {"cublasDgemv_v2",
					 handle,
					 trans,
					 m,
					 n,
					 1,
					 alpha,
					 a,
					 x,
					 beta,
					 y,
					 lda,
					 incx,
					 incy,
					 0,
					 0,
					 0,
					 CUDA_R_64F};
	return multiply_vector(&call);
}

cublasStatus_t cublasSgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
					 int n, const float *alpha, const float *a, int lda,
					 long long at_a, const float *x, int incx, long long at_x,
					 const float *beta, float *y, int incy, long long at_y,
					 int batches)
{
	const struct vector_call call = {"cublasSgemvStridedBatched",
					 handle,
					 trans,
					 m,
					 n,
					 batches,
					 alpha,
					 a,
					 x,
					 beta,
					 y,
					 lda,
					 incx,
					 incy,
					 at_a,
					 at_x,
					 at_y,
					 CUDA_R_32F};
	return multiply_vector(&call);
}

cublasStatus_t cublasDgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
					 int n, const double *alpha, const double *a, int lda,
					 long long at_a, const double *x, int incx, long long at_x,
					 const double *beta, double *y, int incy, long long at_y,
					 int batches)
{
	const struct vector_call call = {"cublasDgemvStridedBatched",
					 handle,
					 trans,
					 m,
					 n,
					 batches,
					 alpha,
					 a,
					 x,
					 beta,
					 y,
					 lda,
					 incx,
					 incy,
					 at_a,
					 at_x,
					 at_y,
					 CUDA_R_64F};
	return multiply_vector(&call);
}
