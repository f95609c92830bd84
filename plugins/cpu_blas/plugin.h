/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the files of this plugin: its instance and device, and how entries take arguments and
 * report failures.
 */
#ifndef CPU_PLUGIN_H
#define CPU_PLUGIN_H

#include <tenon/plugin.h>

#include "blas.h"
#include "kernels/kernels.h"

struct cpu_instance {
	const struct tn_host *host;
	const struct cpu_kernels *kernels; /* for this processor */
	struct cpu_block_table blocks;     /* the same, in the layout of the host's interpreter */
	struct cpu_blas blas;
	uint32_t convolution; /* the result of cpu_conv_choose */
	char name[128];       /* the processor's own name */
};

struct cpu_device {
	struct cpu_instance *instance;
};

extern const struct tn_device_table cpu_device_table;
extern const struct tn_compute_table cpu_compute_table;
extern const struct tn_copy_table cpu_copy_table;
extern const struct tn_memory_table cpu_memory_table;
extern const struct tn_linalg_table cpu_linalg_table; /* with LAPACK only */
extern const struct tn_report_table cpu_report_table;

/* Runs body over [0, n) on the host's threads. */
void cpu_parallel(const struct cpu_device *device, uint64_t n, uint64_t grain,
		  void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument);

#endif
