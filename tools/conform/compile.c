/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels from source.  The kit's kernels are CUDA C; for backends with another language only
 * refusals are checked.
 */
#include <stdio.h>

#include "slots.h"

static const char text[] =
	"extern \"C\" __global__ void scale(float *y, const float *x, float a, long long n)\n"
	"{\n"
	"	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] = a * x[i];\n"
	"}\n";
static const char format[] = "cuda-c";

static int has_compiler(struct kit *kit)
{
	if (tn_backend_has_all(kit->backend, TN_SLOT_COMPILE, TN_SLOT_KERNEL_RELEASE))
		return 1;
	kit_skip(kit, "it cannot compile kernels from source");
	return 0;
}

void check_compile_table(struct kit *kit)
{
	static const enum tn_slot slots[] = {TN_SLOT_COMPILE, TN_SLOT_LAUNCH,
					     TN_SLOT_KERNEL_RELEASE};
	enum { N = sizeof(slots) / sizeof(slots[0]) };
	unsigned n = 0;
	for (size_t i = 0; i < N; i++)
		n += tn_backend_has(kit->backend, slots[i]) != 0;
	if (!n)
		return kit_skip(kit, "it cannot compile kernels from source");
	kit_case(kit, TN_SLOT_COMPILE, TN_TABLE_COMPILE);
	if (n < N)
		kit_fail(kit, "%u of its %d slots are filled: expected all or none", n, N);
	kit_pass(kit);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static tn_status compile(struct kit *kit, const char *language, const char *source,
			 const char *name, struct tn_compile_log *log, void **kernel)
{
	struct tn_compile_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				       .format = language,
				       .source = source,
				       .name = name,
				       .log = log};
	memset(&kit->error, 0, sizeof(kit->error));
	kit->error.struct_size = sizeof(kit->error);
	return kit->backend->compile.compile(kit->device, &args, kernel);
}

static void release(struct kit *kit, void *kernel)
{
	struct tn_kernel_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				      .kernel = kernel};
	if (kit->backend->compile.kernel_release(kit->device, &args))
		kit_fail(kit, "kernel_release: %s", kit->error.text);
}

static struct tn_launch_argument address_of(const struct array *array)
{
	return (struct tn_launch_argument){
		.is_buffer = 1, .buffer = array->operand.buffer, .offset = array->operand.offset};
}

struct scale {
	struct tn_launch_argument arguments[4];
	float a;
	int64_t n;
};

static tn_status launch(struct kit *kit, void *kernel, struct scale *scale, uint32_t n_arguments,
			uint32_t threads, uint32_t flags)
{
	struct tn_launch_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &kit->error},
		.kernel = kernel,
		.grid = {(uint32_t)(scale->n + 63) / 64, 1, 1},
		.block = {threads, 1, 1},
		.n_arguments = n_arguments,
		.arguments = scale->arguments};
	return kit->backend->compile.launch(kit->device, &args);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

/* The sample; NULL: the backend supports another language only. */
static void *compile_sample(struct kit *kit)
{
	void *kernel = NULL;
	tn_status status = compile(kit, format, text, "scale", NULL, &kernel);
	if (status == TN_UNSUPPORTED)
		kit_skip(kit, "it does not support %s, the only language of the kit", format);
	else if (status || !kernel)
		kit_give_up(kit, "compile: %s: %s", tn_status_name(status), kit->error.text);
	return kernel;
}

static void transfer(struct kit *kit, struct array *array, int to_device)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
					.buffer = array->operand.buffer,
					.size = array->size,
					.host = array->image};
	if (to_device ? kit->backend->device.upload(kit->device, &args)
		      : kit->backend->device.download(kit->device, &args))
		kit_give_up(kit, "transfer: %s", kit->error.text);
}

/* Checks the computed elements, and that those behind them are unchanged. */
static void expect_scaled(struct kit *kit, const struct array *x, const struct array *y,
			  const struct scale *scale, int has_run)
{
	for (uint64_t i = 0; i < y->count; i++) {
		double expected =
			has_run && i < (uint64_t)scale->n ? scale->a * array_number(x, i) : -1;
		if (array_number(y, i) != expected)
			kit_fail(kit, "element %llu is %g, expected %g", (unsigned long long)i,
				 array_number(y, i), expected);
	}
}

static void run_scale(struct kit *kit, void *kernel)
{
	static const int64_t length[] = {1000};
	struct array x, y;
	array_make(kit, &x, OUTPUT, TN_F32, 1, length, SHIFTED);
	array_make(kit, &y, OUTPUT, TN_F32, 1, length, SHIFTED);
	array_randomise(&x, -2, 2);
	for (uint64_t i = 0; i < y.count; i++)
		array_set_number(&y, i, -1);
	transfer(kit, &x, 1);
	transfer(kit, &y, 1);
	struct scale scale = {.a = 4, .n = 900};
	scale.arguments[0] = address_of(&y);
	scale.arguments[1] = address_of(&x);
	scale.arguments[2] = (struct tn_launch_argument){.size = 4, .value = &scale.a};
	scale.arguments[3] = (struct tn_launch_argument){.size = 8, .value = &scale.n};
	if (launch(kit, kernel, &scale, 4, 64, TN_DRY_RUN))
		kit_fail(kit, "a dry run: %s", kit->error.text);
	transfer(kit, &y, 0);
	expect_scaled(kit, &x, &y, &scale, 0);
	if (launch(kit, kernel, &scale, 4, 64, 0))
		kit_fail(kit, "launch: %s", kit->error.text);
	/* The entry must have read the values before it returned. */
	struct scale then = scale;
	scale.a = 9;
	scale.n = 2;
	transfer(kit, &y, 0);
	expect_scaled(kit, &x, &y, &then, 1);
	kit_pass(kit);
	kit_case(kit, TN_SLOT_LAUNCH, "launch: invalid arguments and blocks");
	if (launch(kit, kernel, &scale, 3, 64, 0) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "3 of 4 arguments: expected INVALID_ARGUMENT");
	if (launch(kit, kernel, &scale, 4, 0, 0) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "blocks of 0 threads: expected INVALID_ARGUMENT");
	scale.arguments[3].size = 4;
	if (launch(kit, kernel, &scale, 4, 64, 0) != TN_INVALID_ARGUMENT)
		kit_fail(kit, "4 bytes for a parameter of 8: expected INVALID_ARGUMENT");
	kit_pass(kit);
	array_free(&x);
	array_free(&y);
}

/* The sample without its NUL, before other text. */
static void compiles_part_of_a_text(struct kit *kit)
{
	const size_t size = strlen(text);
	char *whole = malloc(size + 16);
	void *kernel = NULL;
	struct tn_compile_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				       .format = format,
				       .source = whole,
				       .name = "scale",
				       .source_size = size};
	if (!whole)
		kit_give_up(kit, "no memory");
	snprintf(whole, size + 16, "%sthis is no code", text);
	kit_case(kit, TN_SLOT_COMPILE, "compile: a source of a stated size");
	if (kit->backend->compile.compile(kit->device, &args, &kernel) || !kernel)
		kit_fail(kit, "%s", kit->error.text);
	else
		release(kit, kernel);
	free(whole);
	kit_pass(kit);
}

void check_compile_kernel(struct kit *kit)
{
	if (!has_compiler(kit))
		return;
	void *kernel = compile_sample(kit);
	if (!kernel)
		return;
	compiles_part_of_a_text(kit);
	kit_case(kit, TN_SLOT_LAUNCH, "a kernel of four arguments");
	run_scale(kit, kernel);
	kit_case(kit, TN_SLOT_KERNEL_RELEASE, "kernel_release");
	release(kit, kernel);
	kit_pass(kit);
}

/* No refused call writes a handle. */
static void expect_refusal(struct kit *kit, const char *language, const char *source,
			   const char *name, struct tn_compile_log *log, tn_status expected)
{
	void *kernel = kit;
	tn_status status = compile(kit, language, source, name, log, &kernel);
	if (status != expected)
		kit_fail(kit, "expected %s, found %s: %s", tn_status_name(expected),
			 tn_status_name(status), kit->error.text);
	if (kernel != kit)
		kit_fail(kit, "a handle was written");
	if (!kit->error.text[0] || !kit->error.operation[0])
		kit_fail(kit, "the error is empty");
	kit_pass(kit);
}

/* The log of a source with an error, in a large and in a too small buffer. */
static void expect_log(struct kit *kit)
{
	char whole[4000], small[9];
	struct tn_compile_log log = {
		.struct_size = sizeof(log), .text = whole, .size = sizeof(whole)};
	memset(whole, 'x', sizeof(whole));
	kit_case(kit, TN_SLOT_COMPILE, "compile: a source with an error");
	expect_refusal(kit, format, "this is\nno kernel\n", "scale", &log, TN_FORMAT);
	if (!log.length || strnlen(whole, sizeof(whole)) != log.length)
		return kit_fail(kit, "the log has %zu bytes, but reports %llu",
				strnlen(whole, sizeof(whole)), (unsigned long long)log.length);
	log = (struct tn_compile_log){.struct_size = sizeof(log), .text = small, .size = 8};
	memset(small, 'x', sizeof(small));
	expect_refusal(kit, format, "this is\nno kernel\n", "scale", &log, TN_FORMAT);
	if (memcmp(small, whole, 7) != 0 || small[7] || small[8] != 'x' || log.length < 8)
		kit_fail(kit, "a log of 8 bytes: expected the first 7 of the whole log and a NUL");
	kit_pass(kit);
}

void check_compile_refused(struct kit *kit)
{
	if (!has_compiler(kit))
		return;
	kit_case(kit, TN_SLOT_COMPILE, "compile: an unknown language");
	expect_refusal(kit, "org.example.unknown", text, "scale", NULL, TN_UNSUPPORTED);
	void *kernel = compile_sample(kit);
	if (!kernel)
		return;
	release(kit, kernel);
	kit_case(kit, TN_SLOT_COMPILE, "compile: a missing kernel");
	expect_refusal(kit, format, text, "scales", NULL, TN_NOT_FOUND);
	expect_log(kit);
}
