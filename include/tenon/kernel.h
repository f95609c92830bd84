/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels from source: code that a program writes in the device's language and runs on Tenon's
 * arrays.
 *
 *     struct tn_kernel_source source = tn_kernel_source_defaults();
 *     source.format = "cuda-c";
 *     source.name = "saxpy";
 *     source.text = "extern \"C\" __global__\n"
 *                   "void saxpy(int n, float a, const float *x, float *y)\n"
 *                   "{\n"
 *                   "        int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
 *                   "        if (i < n)\n"
 *                   "                y[i] += a * x[i];\n"
 *                   "}";
 *     tn_kernel *saxpy = tn_kernel_compile(ctx, &source);
 *     struct tn_kernel_grid grid = {.blocks = {(n + 255) / 256}, .threads = {256}};
 *     struct tn_kernel_argument arguments[] = {
 *             {.value = &n, .size = sizeof(n)},
 *             {.value = &a, .size = sizeof(a)},
 *             {.array = x, .is_read_only = 1},
 *             {.array = y},
 *     };
 *     tn_kernel_launch(saxpy, grid, 4, arguments);
 *
 * Such a kernel runs only on devices of one backend and has no gradient; an element program
 * (tn_map) runs everywhere and has one.  The memory accesses of a kernel are not checked: a kernel
 * that reads or writes out of bounds ends the device's work, with an error that contains its name.
 */
#ifndef TENON_KERNEL_H
#define TENON_KERNEL_H

#include <string.h>

#include <tenon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_kernel tn_kernel;

/* What to compile. */
struct tn_kernel_source {
	uint32_t struct_size;
	const char *format; /* the language: "cuda-c" */
	const char *text;
	const char *name;    /* of the kernel in the text, as the compiler exports it */
	const char *options; /* for the compiler, separated by blanks; NULL: none */
	tn_device *device;   /* NULL: the current one */
	/* The compiler's messages, on success and failure: `log` receives as much as fits in
	 * `log_size` bytes, including the NUL; *log_length receives the full length.  Both may be
	 * NULL. */
	char *log;
	size_t log_size;
	size_t *log_length;
	size_t text_size; /* bytes of `text`, which may then be binary; 0: it ends with a NUL */
};
static inline struct tn_kernel_source tn_kernel_source_defaults(void)
{
	struct tn_kernel_source source;
	memset(&source, 0, sizeof(source));
	source.struct_size = sizeof(source);
	return source;
}

/* Compiles a kernel for a device, and opens the device if necessary.  Owned (tn_kernel_destroy).
 * On failure it returns NULL, and the error is kept:
 *   TN_UNSUPPORTED       the device's backend has no compiler for that language, or the struct is
 *                        of a newer version
 *   TN_FORMAT            the text does not compile; the error contains the compiler's first message
 *   TN_NOT_FOUND         the text has no kernel of that name
 *   TN_INVALID_ARGUMENT  no struct_size, format, text or name, or an option unknown to the compiler
 *   TN_DEVICE            the device belongs to another context
 * [thread: one per context | since 0.1] */
TN_API tn_kernel *tn_kernel_compile(tn_context *context, const struct tn_kernel_source *source);

/* Waits for the kernel's work and frees it.  Call it before the context is closed.  Takes NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_kernel_destroy(tn_kernel *kernel);

/* The number of blocks and of threads per block, each in up to three axes; 0 counts as 1. */
struct tn_kernel_grid {
	uint32_t blocks[3];
	uint32_t threads[3];   /* per block */
	uint32_t shared_bytes; /* shared memory per block, beyond what the kernel declares */
};

/* An argument: the address of an array's first element on the device (the kernel itself must handle
 * strides), or a value of `size` bytes.  An array counts as modified unless it is read-only. */
struct tn_kernel_argument {
	tn_array *array; /* NULL: a value */
	const void *value;
	size_t size;
	int is_read_only;
	uint32_t reserved;
};

/* Starts the kernel in the current stream of its device (tenon/stream.h) and returns before it has
 * run.  Errors are kept:
 *   TN_INVALID_ARGUMENT  number or sizes of the arguments do not match the kernel's parameters, or
 *                        the grid exceeds the device's limits of threads or shared memory
 *   TN_DEVICE            an array is on another device
 *   TN_STATE             a tape is recording, and one of the arrays requires a gradient
 *   TN_PENDING_ERROR     the context keeps an error
 * The next synchronising call reports a fault while it runs, with the kernel's name.
 * [thread: one per context | may return before the result is ready | since 0.1] */
TN_API tn_status tn_kernel_launch(tn_kernel *kernel, struct tn_kernel_grid grid, size_t n_arguments,
				  const struct tn_kernel_argument *arguments);

#ifdef __cplusplus
}
#endif
#endif
