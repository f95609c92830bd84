/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Helpers of the tests of the simulated CUDA.
 */
#ifndef TN_TESTS_SIMCUDA_FIXTURE_H
#define TN_TESTS_SIMCUDA_FIXTURE_H

#include <cuda_runtime_api.h>

#include "check.h"
#include "simcuda.h"

/* The call must return `expected`; otherwise prints the error's name and the simulator's
 * message. */
#define assert_cuda(expression, expected)                                                          \
	check_cuda((expression), (expected), #expression, __FILE__, __LINE__)

static inline void check_cuda(cudaError_t found, cudaError_t expected, const char *what,
			      const char *file, int line)
{
	if (found == expected)
		return;
	print_error("%s: expected %s, found %s (%s)\n", what, cudaGetErrorName(expected),
		    cudaGetErrorName(found), simcudaMessage());
	_fail(file, line);
}

/* A new simulation with only these settings (NAME=VALUE, ended by NULL). */
static inline void restart_simcuda(const char *const *settings)
{
	static const char *const names[] = {
		"CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES",
		"SIMCUDA_MODELS",    "SIMCUDA_ARCH",         "SIMCUDA_DEFER",
		"SIMCUDA_DEVICES",   "SIMCUDA_DRIVER",       "SIMCUDA_FAIL",
		"SIMCUDA_MEMORY",    "SIMCUDA_ORDER",        "SIMCUDA_PAGEABLE",
		"SIMCUDA_PEER",      "SIMCUDA_POOLS",        "SIMCUDA_SEED",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	for (; settings && *settings; settings++)
		putenv((char *)(uintptr_t)*settings);
	simcudaRestart();
}

#endif
