/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies, and which memory an address belongs to.
 */
#ifndef TN_TESTS_SIMCUDA_CUDART_COPY_H
#define TN_TESTS_SIMCUDA_CUDART_COPY_H

#include "cudart.h"

enum sim_side { SIM_PAGEABLE, SIM_PINNED, SIM_DEVICE };

enum sim_side sim_side_of(const void *address);

struct sim_rectangle {
	void *to;
	const void *from;
	size_t width, height, to_pitch, from_pitch;
};

struct sim_copy {
	const char *name;
	struct sim_rectangle r;
	enum cudaMemcpyKind kind;
	cudaStream_t stream;
	int is_async;
};

cudaError_t sim_copy(const struct sim_copy *call);

#endif
