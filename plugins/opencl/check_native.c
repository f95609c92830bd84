/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program of check.sh that uses OpenCL itself: its context, its queue and its buffer are Tenon's
 * too.  The program writes the buffer in its queue, Tenon computes there, and the program reads the
 * result in the same queue; nothing else orders them.
 */
#include <stdio.h>
#include <tenon/tenon.h>

#include "library.h"

enum { N = 1 << 16 };

struct program {
	struct opencl_library cl;
	cl_context context;
	cl_command_queue queue;
	cl_mem buffer;
	float host[N];
};

static int fail(const char *what, int code)
{
	fprintf(stderr, "check_native: %s (%d)\n", what, code);
	return 0;
}

/* The first device of the first platform, which is opencl:0. */
static int open_program(struct program *p)
{
	char text[256];
	cl_platform_id platform;
	cl_device_id device;
	cl_int code;
	if (opencl_library_open(&p->cl, text, sizeof(text)))
		return fail(text, 0);
	code = p->cl.clGetPlatformIDs(1, &platform, NULL);
	if (!code)
		code = p->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	if (code)
		return fail("no device", code);
	p->context = p->cl.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	if (!code)
		p->queue = p->cl.clCreateCommandQueue(p->context, device, 0, &code);
	if (!code)
		p->buffer = p->cl.clCreateBuffer(p->context, CL_MEM_READ_WRITE, sizeof(p->host),
						 NULL, &code);
	return code ? fail("no context, queue or buffer", code) : 1;
}

static tn_context *open_tenon(const struct program *p)
{
	const struct tn_native_device native = {.device = "opencl:0",
						.native = (uint64_t)(uintptr_t)p->context};
	struct tn_context_options options = tn_context_defaults();
	struct tn_error_info error;
	tn_context *ctx;
	options.native_devices = &native;
	options.n_native_devices = 1;
	if (!tn_context_open(&options, &ctx, &error))
		return ctx;
	fail(error.text, error.status);
	return NULL;
}

/* y := 2 (x + 1) + x in the program's queue, where x is the program's buffer. */
static tn_array *compute(struct program *p, tn_device *device)
{
	static const char *const names[] = {"x"};
	struct tn_wrap_options memory = tn_wrap_defaults();
	memory.data = p->buffer;
	memory.size_bytes = sizeof(p->host);
	memory.dtype = TN_F32;
	memory.rank = 1;
	memory.shape = (const int64_t[]){N};
	const tn_array *x = tn_array_import(device, &memory);
	return tn_map("y = 2*(x + 1) + x", 1, names, &x, 0, NULL, NULL);
}

/* Reads y in the program's queue, from where Tenon has put it. */
static int read_result(struct program *p, const tn_array *y)
{
	void *memory = NULL;
	uint64_t offset = 0;
	if (tn_array_export(y, &memory, &offset))
		return 0;
	cl_int code = p->cl.clEnqueueReadBuffer(p->queue, memory, CL_TRUE, offset, sizeof(p->host),
						p->host, 0, NULL, NULL);
	return code ? fail("clEnqueueReadBuffer", code) : 1;
}

static int run(struct program *p, tn_context *ctx)
{
	tn_device *device = tn_device_current(ctx);
	uint64_t context = 0;
	void *queue = NULL;
	int right = 0;
	for (int i = 0; i < N; i++)
		p->host[i] = (float)i;
	if (tn_device_native(device, &context) || context != (uint64_t)(uintptr_t)p->context)
		return fail("the device is not open in the program's context", 0);
	tn_stream *stream = tn_stream_wrap(device, p->queue);
	if (tn_stream_native(stream, &queue) || queue != p->queue)
		return fail("the stream is not the program's queue", 0);
	cl_int code = p->cl.clEnqueueWriteBuffer(p->queue, p->buffer, CL_FALSE, 0, sizeof(p->host),
						 p->host, 0, NULL, NULL);
	if (code)
		return fail("clEnqueueWriteBuffer", code);
	tn_scope_begin(ctx);
	tn_stream_push(stream);
	const tn_array *y = compute(p, device);
	if (y)
		right = read_result(p, y);
	for (int i = 0; i < N && right; i++)
		if (p->host[i] != 3.0f * (float)i + 2)
			right = fail("a wrong element", i);
	tn_stream_pop(device);
	tn_scope_end(ctx, NULL);
	tn_stream_destroy(stream);
	return right;
}

int main(void)
{
	static struct program p;
	int right = 0;
	if (!open_program(&p))
		return 1;
	tn_context *ctx = open_tenon(&p);
	if (ctx) {
		right = run(&p, ctx);
		if (tn_error(ctx))
			right = fail(tn_error_text(ctx), tn_error(ctx)->status);
	}
	tn_context_close(ctx);
	/* What is the program's is still alive. */
	if (p.cl.clFinish(p.queue) || p.cl.clReleaseMemObject(p.buffer) ||
	    p.cl.clReleaseCommandQueue(p.queue) || p.cl.clReleaseContext(p.context))
		right = fail("the program's objects are gone", 0);
	return !right;
}
