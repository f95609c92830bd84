/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels: lookup, build, arguments, launch.
 *
 * A job is one call of one kernel: a nest of views, a few numbers, scalars.  The same job prints
 * the kernel's parameters and fills them.  Values that change from call to call (lengths, strides,
 * offsets, scalars) are one struct of 64-bit words, passed by value, so that a new shape needs no
 * new kernel; if the words exceed the device's limit for parameters, they are passed in the call's
 * workspace.
 *
 * In a kernel's source:
 *     g.n0, g.n1, ...      the job's numbers
 *     g.length[d]          the nest's lengths
 *     b0, b1, ...          the views' memory; g.o0 the offset and g.t0[d] the strides of view 0
 *     the scalars through opencl_print_scalar
 */
#ifndef OPENCL_KERNEL_H
#define OPENCL_KERNEL_H

#include "operand.h"
#include "stream.h"

enum {
	OPENCL_MAX_NUMBERS = 24,
	OPENCL_MAX_JOB_SCALARS = 2 * TN_PROGRAM_MAX_SCALARS,
	OPENCL_MAX_WORDS = OPENCL_MAX_NUMBERS + 2 * TN_PLUGIN_MAX_AXES +
			   TN_PLUGIN_MAX_VIEWS * (1 + TN_PLUGIN_MAX_AXES) + OPENCL_MAX_JOB_SCALARS,
};

struct opencl_job {
	struct opencl_device *device;
	const struct tn_call *call;
	const char *operation; /* a literal */
	struct opencl_stream *stream;
	struct tn_plugin_nest nest;
	uint32_t n_numbers;
	int64_t number[OPENCL_MAX_NUMBERS];
	uint32_t n_scalars;
	const struct tn_scalar *scalar[OPENCL_MAX_JOB_SCALARS];
	cl_mem scratch; /* one more buffer, of ulong, after the scalars; NULL: none */
	int has_scratch;
	uint32_t fixed_group; /* items in a group, if the kernel's text depends on it; else 0 */
	int is_wide;          /* element numbers need 64 bits */
	int divides;          /* the words include the multipliers for print_division */
	int spills;           /* the words are passed in the workspace */
};

struct opencl_kernel;

tn_status opencl_cache_open(struct opencl_device *device, struct tn_error_info *error);
void opencl_cache_close(struct opencl_device *device);

/* Begins a job for the arguments of a call; the stream is looked up. */
tn_status opencl_job_begin(struct opencl_job *job, struct opencl_device *device,
			   const struct tn_call *call, const char *operation);
void opencl_job_number(struct opencl_job *job, int64_t number);
void opencl_job_scalars(struct opencl_job *job, const struct tn_scalar *scalars, uint32_t n);
/* Bytes of workspace for the words: 0 if they fit the parameters.  Sets `spills`. */
uint64_t opencl_job_spill(struct opencl_job *job);
/* Handles a dry run; otherwise checks that the call has that much workspace.  *goes_on: there is
 * work to do now. */
tn_status opencl_job_workspace(const struct opencl_job *job, uint64_t bytes, int *goes_on);

/* ---- Keys ----*/

/* Begins a key with its kind, which names the family ("map"), and the job's views and scalars. */
struct tn_plugin_text *opencl_key_begin(struct opencl_job *job, const char *kind);
void opencl_key_number(struct tn_plugin_text *key, uint64_t number);
void opencl_key_program(struct tn_plugin_text *key, const struct tn_program *program);

/* ---- Printing ----*/

/* "kernel void run(...)" with its parameters, without a body. */
void opencl_print_header(struct tn_plugin_text *text, const struct opencl_job *job);
/* " + index0 * g.t5[0] + ..." over the axes from `first` to `end`, whose indices are named prefix0,
 * ... */
void opencl_print_steps(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t view,
			const char *prefix, uint32_t first, uint32_t end);
/* Prints "c<axis> := rest modulo the axis's length, rest := the quotient" of a tn_number, for a job
 * that divides: by a multiplication if 31 bits are enough. */
void opencl_print_division(struct tn_plugin_text *text, const struct opencl_job *job,
			   const char *rest, uint32_t axis);
/* The type tn_number. */
void opencl_print_number_type(struct tn_plugin_text *text, const struct opencl_job *job);
/* Scalar number `number`, converted to `to`. */
void opencl_print_scalar(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t number,
			 tn_dtype to);
/* "const tn_f32 PREFIXs0 = ...;" for each scalar that the program reads;
 * the first is job scalar `first`. */
void opencl_print_program_scalars(struct tn_plugin_text *text, const struct opencl_job *job,
				  const struct tn_program *program, const char *prefix,
				  uint32_t first);

/* ---- Running ----*/

/* Finds the kernel of the key begun last, or lets `print` print its source and builds it. */
tn_status opencl_kernel_get(struct opencl_job *job,
			    void (*print)(struct tn_plugin_text *text, const struct opencl_job *job,
					  const void *argument),
			    const void *argument, struct opencl_kernel **kernel);
/* Starts it with that many items; a group of 0 is the usual size.  If the job fixes no group size,
 * it may be reduced. */
tn_status opencl_kernel_run(struct opencl_job *job, struct opencl_kernel *kernel, uint64_t items,
			    size_t group);
/* The number of items in a group, for kernels that depend on it. */
size_t opencl_group(const struct opencl_device *device, size_t wanted);

#endif
