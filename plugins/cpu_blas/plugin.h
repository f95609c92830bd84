/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the files of this plugin share: its instance and device, and how entries take arguments and
 * report failures.
 */
#ifndef CPU_PLUGIN_H
#define CPU_PLUGIN_H

#include <tenon/backend.h>

#include "blas.h"
#include "kernels/kernels.h"

struct cpu_instance {
	const struct tn_host *host;
	const struct cpu_kernels *kernels; /* for this processor */
	struct cpu_block_table blocks;     /* the same, as the host's interpreter takes them */
	struct cpu_blas blas;
	uint32_t convolution; /* what cpu_conv_choose answered */
	char name[128];       /* the processor's own name */
};

struct cpu_device {
	struct cpu_instance *instance;
};

extern const struct tn_device_table cpu_device_table;
extern const struct tn_compute_table cpu_compute_table;
extern const struct tn_copy_table cpu_copy_table;
extern const struct tn_memory_table cpu_memory_table;
extern const struct tn_report_table cpu_report_table;

/* Fills `error` (when given) and returns `status`. */
tn_status cpu_fail(struct tn_error_info *error, tn_status status, const char *operation,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Copies a call's arguments into `own`, zero for what the caller did not know.  TN_UNSUPPORTED: they
 * carry something that this plugin does not know, a flag outside `flags` included. */
tn_status cpu_take(void *own, size_t own_size, const void *theirs, uint32_t flags,
		   const char *operation);

/* Ends a dry run that found the call possible without workspace. */
tn_status cpu_dry(const struct tn_call *call);

/* One line to the host's log. */
void cpu_log(const struct tn_host *host, int32_t level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Runs body over [0, n) on the host's threads. */
void cpu_parallel(const struct cpu_device *device, uint64_t n, uint64_t grain,
		  void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument);

#endif
