/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of matrices in plain loops.
 */
#include "gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda.h"

/* ---- Scalars ---------------------------------------------------------------------------------*/

struct sim_scalar sim_scalar_at(const void *address, cudaDataType_t type, int on_device)
{
	if (on_device)
		return (struct sim_scalar){.address = address, .type = type};
	return (struct sim_scalar){.value = sim_load(type, address, 0), .type = type};
}

int sim_scalar_read(const struct sim_scalar *scalar, double *value)
{
	int error = 0;
	*value = scalar->value;
	if (!scalar->address)
		return 0;
	error = simcudaRange(scalar->address, sim_type_size(scalar->type), 0);
	if (!error)
		*value = sim_load(scalar->type, simcudaMemory(scalar->address), 0);
	return error;
}

/* ---- One product -----------------------------------------------------------------------------*/

/* The operands of one batch. */
struct product {
	const struct sim_gemm *gemm;
	void *a, *b, *c, *d, *bias;
	double alpha, beta;
};

/* Rounds to ten fraction bits, ties away from zero. */
static float round_tf32(float value)
{
	uint32_t bits = 0;
	if (!isfinite(value))
		return value;
	memcpy(&bits, &value, sizeof(bits));
	bits = (bits + 0x1000) & 0xffffe000;
	memcpy(&value, &bits, sizeof(bits));
	return value;
}

/* Column-major, `rows` x `columns`. */
static void pack_f32(float *to, const struct sim_matrix *matrix, const void *from, int64_t rows,
		     int64_t columns, int is_tf32)
{
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++) {
			float value = (float)sim_load(matrix->type, from,
						      i * matrix->row + j * matrix->column);
			to[j * rows + i] = is_tf32 ? round_tf32(value) : value;
		}
}

static void pack_f64(double *to, const struct sim_matrix *matrix, const void *from, int64_t rows,
		     int64_t columns)
{
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			to[j * rows + i] =
				sim_load(matrix->type, from, i * matrix->row + j * matrix->column);
}

/* sums[i] += a[i, p] * b[p], four columns of a at a time. */
static void add_columns_f32(float *restrict sums, const float *restrict a, const float *b,
			    int64_t m, int64_t k)
{
	int64_t p = 0;
	for (; p + 4 <= k; p += 4, a += 4 * m)
		for (int64_t i = 0; i < m; i++)
			sums[i] += a[i] * b[p] + a[m + i] * b[p + 1] + a[2 * m + i] * b[p + 2] +
				   a[3 * m + i] * b[p + 3];
	for (; p < k; p++, a += m)
		for (int64_t i = 0; i < m; i++)
			sums[i] += a[i] * b[p];
}

static void add_columns_f64(double *restrict sums, const double *restrict a, const double *b,
			    int64_t m, int64_t k)
{
	for (int64_t p = 0; p < k; p++, a += m)
		for (int64_t i = 0; i < m; i++)
			sums[i] += a[i] * b[p];
}

static double activate(enum sim_activation activation, double x)
{
	if (activation == SIM_RELU)
		return x < 0 ? 0 : x;
	if (activation == SIM_GELU)
		return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
	return x;
}

static void finish(const struct product *p, int64_t i, int64_t j, double sum)
{
	const struct sim_gemm *g = p->gemm;
	double value = p->alpha * sum;
	if (p->beta != 0)
		value += p->beta * sim_load(g->c.type, p->c, i * g->c.row + j * g->c.column);
	if (p->bias)
		value += sim_load(g->bias.type, p->bias, i);
	sim_store(g->d.type, p->d, i * g->d.row + j * g->d.column, activate(g->activation, value));
}

static void multiply_f32(const struct product *p, int64_t k, float *memory)
{
	const struct sim_gemm *g = p->gemm;
	float *a = memory, *b = a + g->m * k, *sums = b + k * g->n;
	pack_f32(a, &g->a, p->a, g->m, k, g->is_tf32);
	pack_f32(b, &g->b, p->b, k, g->n, g->is_tf32);
	for (int64_t j = 0; j < g->n; j++) {
		memset(sums, 0, (size_t)g->m * sizeof(*sums));
		add_columns_f32(sums, a, b + j * k, g->m, k);
		for (int64_t i = 0; i < g->m; i++)
			finish(p, i, j, (double)sums[i]);
	}
}

static void multiply_f64(const struct product *p, int64_t k, double *memory)
{
	const struct sim_gemm *g = p->gemm;
	double *a = memory, *b = a + g->m * k, *sums = b + k * g->n;
	pack_f64(a, &g->a, p->a, g->m, k);
	pack_f64(b, &g->b, p->b, k, g->n);
	for (int64_t j = 0; j < g->n; j++) {
		memset(sums, 0, (size_t)g->m * sizeof(*sums));
		add_columns_f64(sums, a, b + j * k, g->m, k);
		for (int64_t i = 0; i < g->m; i++)
			finish(p, i, j, sums[i]);
	}
}

/* ---- All of them -----------------------------------------------------------------------------*/

/* The address of a matrix of one batch, if all of it may be accessed. */
static int find(const struct sim_matrix *matrix, int64_t batch, int64_t rows, int64_t columns,
		int write, void **address)
{
	const size_t size = sim_type_size(matrix->type);
	int error = 0;
	*address = NULL;
	if (!matrix->data || rows == 0 || columns == 0)
		return 0;
	if (matrix->is_array) {
		void *const *pointer = (void *const *)matrix->data + batch;
		error = simcudaRange(pointer, sizeof(*pointer), 0);
		if (error)
			return error;
		*address = *(void **)simcudaMemory(pointer);
	} else {
		*address = (char *)matrix->data + batch * matrix->at * (int64_t)size;
	}
	int64_t extent = (rows - 1) * matrix->row + (columns - 1) * matrix->column + 1;
	error = simcudaRange(*address, (size_t)extent * size, write);
	*address = simcudaMemory(*address);
	return error;
}

static int run_one(struct product *p, int64_t batch, void *memory)
{
	const struct sim_gemm *g = p->gemm;
	const int64_t k = p->alpha == 0 ? 0 : g->k;
	int error = find(&g->a, batch, g->m, k, 0, &p->a);
	if (!error)
		error = find(&g->b, batch, k, g->n, 0, &p->b);
	if (!error && p->beta != 0)
		error = find(&g->c, batch, g->m, g->n, 0, &p->c);
	if (!error)
		error = find(&g->d, batch, g->m, g->n, 1, &p->d);
	if (!error)
		error = find(&g->bias, batch, g->m, 1, 0, &p->bias);
	if (error)
		return error;
	if (g->d.type == CUDA_R_64F)
		multiply_f64(p, k, memory);
	else
		multiply_f32(p, k, memory);
	return 0;
}

/* It must not overlap other data: both ends are set to NaN before anything is read. */
static int use_workspace(const struct sim_gemm *g)
{
	const size_t most = (size_t)64 << 10, size = g->workspace_size;
	const size_t part = size < most ? size : most;
	if (!size)
		return 0;
	int error = simcudaRange(g->workspace, size, 1);
	if (error)
		return error;
	char *bytes = simcudaMemory(g->workspace);
	memset(bytes, 0xff, part);
	memset(bytes + size - part, 0xff, part);
	return 0;
}

int sim_gemm_run(void *data)
{
	const struct sim_gemm *g = data;
	struct product p = {.gemm = g};
	int error = sim_scalar_read(&g->alpha, &p.alpha);
	if (!error)
		error = sim_scalar_read(&g->beta, &p.beta);
	if (error || g->m == 0 || g->n == 0)
		return error;
	error = use_workspace(g);
	if (error)
		return error;
	void *memory = calloc((size_t)(g->m * g->k + g->k * g->n + g->m), sizeof(double));
	if (!memory)
		return cudaErrorMemoryAllocation;
	for (int64_t batch = 0; batch < g->batches && !error; batch++)
		error = run_one(&p, batch, memory);
	free(memory);
	return error;
}

/* The simulated rows of cuBLAS's tables. */
cublasStatus_t sim_gemm_check(const struct sim_gemm *g, cublasComputeType_t compute)
{
	const int scale = sim_scale_type(compute);
	if (scale < 0 || !sim_type_size(g->a.type) || g->a.type != g->b.type ||
	    g->c.type != g->d.type || !sim_type_size(g->d.type))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (scale == CUDA_R_64F || g->a.type == CUDA_R_64F || g->d.type == CUDA_R_64F)
		return scale == CUDA_R_64F && g->a.type == CUDA_R_64F && g->d.type == CUDA_R_64F
			       ? CUBLAS_STATUS_SUCCESS
			       : CUBLAS_STATUS_NOT_SUPPORTED;
	if (scale == CUDA_R_16F)
		return g->a.type == CUDA_R_16F && g->d.type == CUDA_R_16F
			       ? CUBLAS_STATUS_SUCCESS
			       : CUBLAS_STATUS_NOT_SUPPORTED;
	return g->d.type == g->a.type || g->d.type == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS
								 : CUBLAS_STATUS_NOT_SUPPORTED;
}
