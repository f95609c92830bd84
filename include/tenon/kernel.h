/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels from source: a program's own code for a device, in the device's language, on Tenon's arrays.
 *
 *     tn_kernel *saxpy = tn_kernel_compile(ctx, TN_OPTIONS(struct tn_kernel_source,
 *             .format = "cuda-c",
 *             .name = "saxpy",
 *             .text = "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y)\n"
 *                     "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }"));
 *     tn_kernel_launch(saxpy, (struct tn_kernel_grid){.blocks = {(n + 255) / 256}, .threads = {256}},
 *                      4, (struct tn_kernel_argument[]){{.value = &n, .size = sizeof(n)},
 *                                                       {.value = &a, .size = sizeof(a)},
 *                                                       {.array = x, .is_read_only = 1}, {.array = y}});
 *
 * Such a kernel runs on the devices of one backend alone and has no gradient; an element program
 * (tn_map) runs everywhere and has one.  Nothing looks at what a kernel does: one that reads or writes
 * where it should not ends the device's work, and the error has the kernel's name.
 */
#ifndef TENON_KERNEL_H
#define TENON_KERNEL_H

#include <tenon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_kernel tn_kernel;

/* What to compile; zero means the default everywhere but in struct_size (TN_OPTIONS). */
struct tn_kernel_source {
	uint32_t struct_size;
	const char *format; /* the language: "cuda-c" */
	const char *text;
	const char *name;    /* of the kernel in the text, as the compiler exports it */
	const char *options; /* for the compiler, with blanks between them; NULL: none */
	tn_device *device;   /* NULL: the current one */
	/* What the compiler says, whether it compiles or not: written to `log` as far as it fits in
	 * `log_size` bytes, the NUL included; *log_length is the length of the whole.  May be NULL. */
	char *log;
	size_t log_size;
	size_t *log_length;
};

/* Compiles a kernel for a device, which is opened when it is not open.  Owned (tn_kernel_destroy).
 * NULL, and the error is kept:
 *   TN_UNSUPPORTED       the device's backend has no compiler, or not for that language; a source of a
 *                        newer version
 *   TN_FORMAT            the text does not compile; the error has what the compiler said first
 *   TN_NOT_FOUND         the text has no kernel of that name
 *   TN_INVALID_ARGUMENT  no struct_size, format, text or name, or an option that the compiler does not know
 *   TN_DEVICE            the device is of another context
 * [thread: one per context | since 0.1] */
TN_API tn_kernel *tn_kernel_compile(tn_context *context, const struct tn_kernel_source *source);

/* Gives it back; waits for its work.  To be called before its context is closed.  Takes NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_kernel_destroy(tn_kernel *kernel);

/* How many copies of a kernel run: blocks of threads, each in up to three axes; 0 counts as 1. */
struct tn_kernel_grid {
	uint32_t blocks[3];
	uint32_t threads[3];   /* in a block */
	uint32_t shared_bytes; /* memory that a block shares, beyond what the kernel declares */
};

/* An argument: the address of an array's first element on the device (its strides are the kernel's own
 * business), or a value of `size` bytes.  An array counts as changed unless it is read only. */
struct tn_kernel_argument {
	tn_array *array; /* NULL: a value */
	const void *value;
	size_t size;
	uint32_t is_read_only;
	uint32_t reserved;
};

/* Starts it on its device, in order with the other operations there, and returns before it has run.
 * Errors are kept:
 *   TN_INVALID_ARGUMENT  number or sizes of the arguments are not the kernel's; the device has not so
 *                        many threads, or so much memory to share
 *   TN_DEVICE            an array lives on another device
 *   TN_STATE             a tape records and wants a gradient of one of the arrays
 *   TN_PENDING_ERROR     the context keeps an error
 * A fault while it runs is answered later, by what waits for it, with the kernel's name.
 * [thread: one per context | may return before the result is ready | since 0.1] */
TN_API tn_status tn_kernel_launch(tn_kernel *kernel, struct tn_kernel_grid grid, size_t n_arguments,
				  const struct tn_kernel_argument *arguments);

#ifdef __cplusplus
}
#endif
#endif
