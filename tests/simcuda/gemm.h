/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of matrices in plain loops, behind the simulated cuBLAS and cuBLASLt.
 */
#ifndef TN_TESTS_SIMCUDA_GEMM_H
#define TN_TESTS_SIMCUDA_GEMM_H

#include <stdint.h>

#include <cublas_v2.h>

/* Element (i, j) lies at data + batch * at + i * row + j * column, in elements; of an array, at
 * data[batch]. */
struct sim_matrix {
	void *data;
	cudaDataType_t type;
	int64_t row, column, at;
	int is_array; /* data is an array of pointers, on the device */
};

struct sim_scalar {
	double value;
	const void *address; /* on the device, read when the work runs; NULL: the value */
	cudaDataType_t type;
};

enum sim_activation { SIM_NONE, SIM_RELU, SIM_GELU };

/* d = activation(alpha * a * b + beta * c + bias), for each of the batches; a is m x k. */
struct sim_gemm {
	int64_t m, n, k, batches;
	struct sim_matrix a, b, c, d;
	struct sim_scalar alpha, beta;
	int is_tf32;            /* a and b are rounded to TF32 */
	struct sim_matrix bias; /* one for each row; no data: none */
	enum sim_activation activation;
	void *workspace; /* the caller's workspace, overwritten like by the real one */
	size_t workspace_size;
};

size_t sim_type_size(cudaDataType_t type); /* 0 for one that is not simulated */
double sim_load(cudaDataType_t type, const void *address, int64_t index);
void sim_store(cudaDataType_t type, void *address, int64_t index, double value);
/* The type of alpha and beta; -1 for a type of computation that is not simulated. */
int sim_scale_type(cublasComputeType_t compute);
/* The value at a caller's pointer, on the host or on the device. */
struct sim_scalar sim_scalar_at(const void *address, cudaDataType_t type, int on_device);
/* Its value when the work runs; a cudaError_t. */
int sim_scalar_read(const struct sim_scalar *scalar, double *value);
/* Runs it; to be given to simcudaEnqueue.  A cudaError_t. */
int sim_gemm_run(void *gemm);
/* Is this combination of types supported? */
cublasStatus_t sim_gemm_check(const struct sim_gemm *gemm, cublasComputeType_t compute);

#endif
