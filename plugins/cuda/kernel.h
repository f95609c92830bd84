/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels.  A family begins a job with the arguments of its call, gets a kernel by name,
 * and starts it:
 *
 *	struct cuda_job job;
 *	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "softmax_forward");
 *	...                                        checks; tn_plugin_workspace() answers a dry run
 *	const struct cuda_define defines[] = {{"DTYPE", own.x.dtype}, {"LOGARITHM", own.logarithm}};
 *	status = cuda_kernel_get(&job, "softmax", "softmax_rows", defines, 2, &kernel);
 *	...
 *	void *arguments[] = {&x, &y, &rows, &columns};
 *	return cuda_kernel_launch(&job, kernel, (struct cuda_grid){rows, 1, 1, 256, 1, 1, 0},
 *				  arguments);
 *
 * The kernel is `extern "C" __global__ void softmax_rows(...)` in kernels/softmax.cu, which is
 * compiled behind kernels/prelude.cu with -DDTYPE=12 -DLOGARITHM=0: once for each set of values,
 * then kept in memory and on disk.  Compiling takes a tenth of a second or more, so a define is for
 * what inner loops depend on; the rest goes in as arguments.  -DKERNEL_softmax_rows lets a file
 * leave out its other kernels.
 */
#ifndef CUDA_KERNEL_H
#define CUDA_KERNEL_H

#include "plugin.h"

struct cuda_job {
	struct cuda_device *device;
	const struct tn_call *call; /* of the entry's own copy of its arguments */
	const char *operation;
	struct cuda_stream *stream;
};

struct cuda_kernel;

struct cuda_define {
	const char *name;
	int64_t value;
};

/* Blocks, threads per block, bytes of shared memory beyond what the kernel declares. */
struct cuda_grid {
	uint32_t x, y, z;
	uint32_t block_x, block_y, block_z;
	uint32_t shared;
};

tn_status cuda_kernels_open(struct cuda_device *device, struct tn_error_info *error);
void cuda_kernels_close(struct cuda_device *device);

/* Begins an entry (cuda_take) and finds its stream.  `own` begins with struct tn_call, and lives as
 * long as the job. */
tn_status cuda_job_begin(struct cuda_job *job, void *device, void *own, size_t own_size,
			 const void *args, const char *operation);
/* The same for an entry that supports TN_ACCUMULATE. */
tn_status cuda_job_begin_adding(struct cuda_job *job, void *device, void *own, size_t own_size,
				const void *args, const char *operation);

/* The kernel `name` of kernels/FILE.cu, compiled with those definitions. */
tn_status cuda_kernel_get(struct cuda_job *job, const char *file, const char *name,
			  const struct cuda_define *defines, uint32_t n_defines,
			  struct cuda_kernel **kernel);

/* Begins the key of a kernel whose source is printed; add to it whatever distinguishes kernels. */
struct tn_plugin_text *cuda_key_begin(struct cuda_device *device, const char *kind);
void cuda_key_number(struct tn_plugin_text *key, uint64_t number);
void cuda_key_program(struct tn_plugin_text *key, const struct tn_program *program);
/* The source of a kernel `run`, printed after the host's prelude, kernels/prelude.cu and
 * kernels/FILE.cu. */
struct cuda_printer {
	const char *file; /* NULL: the preludes alone */
	void (*print)(struct tn_plugin_text *text, const void *argument);
	const void *argument;
	int has_normal; /* a program has TN_OP_NORMAL */
};

/* The kernel of the key begun last, printed and compiled if it does not exist. */
tn_status cuda_kernel_print(struct cuda_job *job, const struct cuda_printer *printer,
			    struct cuda_kernel **kernel);

struct cuda_unit;
/* The binary of a source that a program brought: from disk (*is_kept := 1), unless it includes
 * files or a new one is requested, else compiled.  It is valid until the next kernel is made. */
tn_status cuda_kernel_foreign(struct cuda_job *job, const struct cuda_unit *unit, int anew,
			      int *is_kept, const void **binary);

/* Starts it on the call's stream; arguments[i] points to argument i. */
tn_status cuda_kernel_launch(struct cuda_job *job, const struct cuda_kernel *kernel,
			     struct cuda_grid grid, void **arguments);

/* Blocks for n items, with this many per block, for a kernel that loops in strides of its grid. */
uint32_t cuda_blocks(const struct cuda_device *device, uint64_t n, uint32_t items);

#endif
