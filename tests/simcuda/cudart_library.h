/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Libraries of kernels: declarations shared with launches and function attributes.
 */
#ifndef TN_TESTS_SIMCUDA_CUDART_LIBRARY_H
#define TN_TESTS_SIMCUDA_CUDART_LIBRARY_H

#include "cudart.h"
#include "ptx.h"

struct sim_library;

struct sim_kernel {
	struct sim_kernel *next;
	struct sim_library *library;
	const struct ptx_kernel *ptx;
	int max_dynamic; /* bytes of shared memory that a launch may add; by device, but one here */
	int carveout;
	int is_loaded; /* onto the device, deferred until a query or launch */
};

/* The kernel of a launch; NULL, with the reason in `error`. */
struct sim_kernel *sim_kernel_find(const void *function, cudaError_t *error);
/* Loads its code, once; the fault simcudaLoad strikes here. */
cudaError_t sim_kernel_load(struct sim_kernel *kernel);
/* Work that waits keeps the library. */
void sim_library_keep(struct sim_library *library);
void sim_library_release(struct sim_library *library);
int sim_library_is_unloaded(const struct sim_library *library);

#endif
