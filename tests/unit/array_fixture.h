/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A runtime as made by a context, over backends derived from the reference: with all of its slots,
 * a chosen set of them, or memory that the host cannot read.
 */
#ifndef TN_TESTS_ARRAY_FIXTURE_H
#define TN_TESTS_ARRAY_FIXTURE_H

#include "array/array.h"
#include "array/record.h"
#include "array/shape.h"
#include "base/memory.h"
#include "check.h"
#include "context/runtime.h"
#include "device/open.h"
#include "dispatch/ledger.h"
#include "dispatch/programs.h"
#include "loader/slots.h"
#include "reference/backend.h"

enum { MOST_DEVICES = 4 };

#define SLOT(name) (UINT64_C(1) << TN_SLOT_##name)
#define ALL_SLOTS UINT64_MAX
#define MANDATORY (SLOT(MAP) | SLOT(REDUCE) | SLOT(MATMUL))
#define MEMORY_ALONE 0

struct fixture {
	tn_context context;
	struct tn_host host;
	struct tn_threads *threads;
	struct tn_logger logger;
	void *instance;
	size_t n_backends;
	struct tn_backend backends[MOST_DEVICES];
	struct tn_device_description descriptions[MOST_DEVICES];
	struct tn_device *devices[MOST_DEVICES];
	struct tn_device *lenders[MOST_DEVICES];
	char log[1024];
	int fail_after; /* allocations of device memory that still succeed; -1: all */
};

static inline tn_context *context_of(struct fixture *f)
{
	return &f->context;
}

/* ---- Backends --------------------------------------------------------------------------------*/

static inline void *fixture_alloc(void *context, size_t size, size_t alignment)
{
	(void)context;
	return alignment ? tn_mem_aligned(size, alignment) : tn_mem_alloc(size);
}

static inline void fixture_free(void *context, void *memory)
{
	(void)context;
	tn_mem_free(memory);
}

/* Far memory: a handle is an address with its highest bit but one set, so a host that follows it
 * crashes. */
#define FAR (UINT64_C(1) << 62)

static inline tn_status far_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	void *memory = tn_mem_aligned(args->size, args->alignment ? args->alignment : 256);
	(void)device;
	if (!memory)
		return TN_OUT_OF_MEMORY;
	memset(memory, 0xa5, args->size);
	*buffer = (uint64_t)(uintptr_t)memory | FAR;
	return TN_OK;
}

static inline tn_status far_free(void *device, const struct tn_free_args *args)
{
	(void)device;
	tn_mem_free((void *)(uintptr_t)(args->buffer & ~FAR));
	return TN_OK;
}

static inline tn_status far_upload(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	memcpy((char *)(uintptr_t)(args->buffer & ~FAR) + args->offset, args->host, args->size);
	return TN_OK;
}

static inline tn_status far_download(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	memcpy(args->host, (char *)(uintptr_t)(args->buffer & ~FAR) + args->offset, args->size);
	return TN_OK;
}

/* An opened device of the reference with only those compute slots. */
static inline struct tn_device *add_device(struct fixture *f, const char *name, uint64_t slots,
					   int is_far)
{
	const struct tn_backend_descriptor *reference = &tn_reference_backend;
	size_t i = f->n_backends++;
	struct tn_backend *b = &f->backends[i];
	struct tn_error_info error = {.struct_size = sizeof(error)};
	assert_true(i < MOST_DEVICES);
	snprintf(b->plugin.name, sizeof(b->plugin.name), "%s", name);
	b->plugin.instance = f->instance;
	b->n_devices = 1;
	b->devices = &f->descriptions[i];
	b->plugin.descriptor = *reference;
	assert_ok(tn_slots_take(b, &error));
	for (int slot = TN_SLOT_MAP; slot < TN_SLOT_COUNT; slot++)
		b->native[slot] &= slot > 63 || (slots >> slot & 1);
	b->devices->struct_size = sizeof(*b->devices);
	assert_ok(b->device.describe(f->instance, 0, b->devices));
	if (is_far) {
		b->devices->flags &=
			~(uint32_t)(TN_DEVICE_HOST_MEMORY | TN_DEVICE_TAKES_ANY_ADDRESS);
		b->device.alloc = far_alloc;
		b->device.free = far_free;
		b->device.upload = far_upload;
		b->device.download = far_download;
	}
	assert_ok(tn_device_create(context_of(f), b, 0, 0, &f->logger, &f->devices[i], &error));
	assert_ok(tn_device_open(f->devices[i], &error));
	return f->devices[i];
}

/* ---- The runtime -----------------------------------------------------------------------------*/

static inline void keep_log(void *user, int level, const char *subsystem, const char *text,
			    size_t length)
{
	struct fixture *f = user;
	size_t used = strlen(f->log);
	(void)level;
	snprintf(f->log + used, sizeof(f->log) - used, "%s: %.*s\n", subsystem, (int)length, text);
}

/* The current device is the reference. */
static inline int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct tn_error_info error = {.struct_size = sizeof(error)};
	f->host.struct_size = sizeof(f->host);
	f->host.abi_minor = TN_ABI_MINOR;
	f->host.alloc = fixture_alloc;
	f->host.free = fixture_free;
	tn_logger_init(&f->logger);
	f->logger.callback = keep_log;
	f->logger.user = f;
	assert_ok(tn_reference_backend.create(&f->host, &error, &f->instance));
	f->context.runtime.logger = &f->logger;
	f->context.runtime.fallback = TN_FALLBACK_ALLOW;
	f->context.runtime.lenders = f->lenders;
	f->context.runtime.reference = add_device(f, "reference", ALL_SLOTS, 0);
	f->context.runtime.device = f->context.runtime.reference;
	assert_ok(tn_runtime_init(&f->context));
	*state = f;
	return 0;
}

static inline int close_fixture(void **state)
{
	struct fixture *f = *state;
	tn_runtime_release(&f->context);
	while (f->n_backends)
		tn_device_destroy(f->devices[--f->n_backends]);
	tn_reference_backend.destroy(f->instance);
	free(f);
	return 0;
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

/* A shape as rank and lengths: SHAPE(2, 3). */
#define SHAPE(...)                                                                                 \
	(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

/* f32 with the elements first, first + 1, ... */
static inline tn_array *counted(struct fixture *f, float first, int rank, const int64_t *shape)
{
	int64_t size = 1;
	float *data;
	tn_array *array;
	for (int i = 0; i < rank; i++)
		size *= shape[i];
	data = calloc((size_t)size + 1, sizeof(*data));
	for (int64_t i = 0; i < size; i++)
		data[i] = first + (float)i;
	array = tn_from_host(context_of(f), TN_F32, rank, shape, data);
	free(data);
	return array;
}

/* Reproducible pseudo-random f32 numbers between -1 and 1. */
static inline tn_array *noise(struct fixture *f, unsigned seed, int rank, const int64_t *shape)
{
	int64_t size = 1;
	float *data;
	tn_array *array;
	for (int i = 0; i < rank; i++)
		size *= shape[i];
	data = calloc((size_t)size + 1, sizeof(*data));
	for (int64_t i = 0; i < size; i++) {
		seed = seed * 1664525u + 1013904223u;
		data[i] = (float)(int32_t)seed / 2147483648.0f;
	}
	array = tn_from_host(context_of(f), TN_F32, rank, shape, data);
	free(data);
	return array;
}

static inline void check_shape(const tn_array *a, int rank, const int64_t *shape, const char *file,
			       int line)
{
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (a && tn_shape_equal(a->rank, a->shape, rank, shape))
		return;
	print_error("expected shape %s, found %s\n", tn_shape_print(rank, shape, expected),
		    a ? tn_array_text(a, found) : "no array");
	_fail(file, line);
}

/* assert_shape(array, 2, 3) */
#define assert_shape(array, ...) check_shape((array), SHAPE(__VA_ARGS__), __FILE__, __LINE__)

static inline void check_elements(const tn_array *a, size_t n, const double *expected,
				  double tolerance, const char *file, int line)
{
	double *found;
	tn_array *wide;
	if (!a) {
		print_error("no array\n");
		_fail(file, line);
		return;
	}
	wide = tn_array_make(a->runtime, a->runtime->reference, TN_F64, a->rank, a->shape);
	found = calloc(n + 1, sizeof(*found));
	assert_int_equal(a->size, n);
	unsigned char *bytes = malloc(n * tn_dtype_size(a->dtype) + 1);
	assert_ok(tn_to_host(a, bytes, n * tn_dtype_size(a->dtype)));
	tn_array *plain =
		tn_array_make(a->runtime, a->runtime->reference, a->dtype, a->rank, a->shape);
	assert_ok(tn_assign_host(plain, bytes, n * tn_dtype_size(a->dtype)));
	assert_ok(tn_assign(wide, plain));
	assert_ok(tn_to_host(wide, found, n * sizeof(*found)));
	for (size_t i = 0; i < n; i++) {
		if ((isnan(found[i]) && isnan(expected[i])) || found[i] == expected[i] ||
		    fabs(found[i] - expected[i]) <= tolerance)
			continue;
		print_error("element %zu: expected %.9g within %g, found %.9g\n", i, expected[i],
			    tolerance, found[i]);
		_fail(file, line);
	}
	free(bytes);
	free(found);
	tn_array_destroy(plain);
	tn_array_destroy(wide);
}

/* assert_elements(array, 1, 2, 3): exactly these, row-major. */
#define assert_elements(array, ...)                                                                \
	check_elements((array), sizeof((double[]){__VA_ARGS__}) / sizeof(double),                  \
		       (const double[]){__VA_ARGS__}, 0, __FILE__, __LINE__)

static inline void check_arrays(const tn_array *a, const tn_array *b, double tolerance,
				const char *file, int line)
{
	assert_non_null(a);
	assert_non_null(b);
	check_shape(a, b->rank, b->shape, file, line);
	size_t n = (size_t)b->size;
	double *expected = calloc(n + 1, sizeof(*expected));
	tn_array *wide = tn_array_make(b->runtime, b->storage->device, TN_F64, b->rank, b->shape);
	assert_ok(tn_assign(wide, b));
	assert_ok(tn_to_host(wide, expected, n * sizeof(*expected)));
	check_elements(a, n, expected, tolerance, file, line);
	free(expected);
	tn_array_destroy(wide);
}

#define assert_arrays_close(a, b, tolerance) check_arrays((a), (b), (tolerance), __FILE__, __LINE__)

/* The context keeps that error, with that part in its text; clears it. */
static inline void check_kept(struct fixture *f, tn_status status, const char *part,
			      const char *file, int line)
{
	const struct tn_error_info *error = tn_error(context_of(f));
	check_status(error ? error->status : TN_OK, status, "the kept error", file, line);
	if (error)
		check_contains(error->text, part, file, line);
	tn_error_clear(context_of(f));
}

#define assert_kept(f, status, part) check_kept((f), (status), (part), __FILE__, __LINE__)

/* The ledger's row of an operation; zeros if there is none. */
static inline struct tn_ledger_row ledger_row(struct fixture *f, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; i < tn_ledger_count(context_of(f)); i++) {
		assert_ok(tn_ledger_at(context_of(f), i, &row));
		if (strcmp(row.operation, operation) == 0)
			return row;
	}
	memset(&row, 0, sizeof(row));
	return row;
}

#endif
