/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations shared by the files of the simulated libcublas.
 */
#ifndef TN_TESTS_SIMCUDA_CUBLAS_H
#define TN_TESTS_SIMCUDA_CUBLAS_H

#include <cublas_v2.h>

#include "gemm.h"

struct sim_cublas {
	struct sim_cublas *next;
	cudaStream_t stream;
	cublasMath_t math;
	cublasPointerMode_t pointers;
	cublasAtomicsMode_t atomics;
	void *workspace;
	size_t workspace_size;
};

/* Begins a call: counts it; the handle, or NULL and the status to return. */
struct sim_cublas *sim_cublas_enter(const char *name, cublasHandle_t handle,
				    cublasStatus_t *status);
/* Puts work onto the handle's stream. */
cublasStatus_t sim_cublas_enqueue(const struct sim_cublas *cublas, const char *name,
				  int (*run)(void *data), const void *data, size_t size);

#endif
