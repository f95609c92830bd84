/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory pools: declarations shared with allocation.
 */
#ifndef TN_TESTS_SIMCUDA_CUDART_POOL_H
#define TN_TESTS_SIMCUDA_CUDART_POOL_H

#include "cudart.h"

/* The pool that cudaMallocAsync uses; NULL: out of memory. */
struct sim_pool *sim_pool_current(int device);
int sim_pool_device(const struct sim_pool *pool);
cudaError_t sim_pool_allocate(void **address, size_t size, struct sim_pool *pool,
			      cudaStream_t handle);

#endif
