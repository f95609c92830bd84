/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open device of the reference backend, accessed through its descriptor like a loader, and short
 * forms for operands over C arrays and hand-written programs.
 */
#ifndef TN_TESTS_REFERENCE_FIXTURE_H
#define TN_TESTS_REFERENCE_FIXTURE_H

#include <limits.h>

#include "base/error.h"
#include "base/memory.h"
#include "check.h"
#include "reference/backend.h"

struct fixture {
	struct tn_host host;
	void *instance;
	void *device;
	const struct tn_device_table *devices;
	const struct tn_compute_table *compute;
	const struct tn_copy_table *copies;
	const struct tn_memory_table *memory;
	const struct tn_nn_table *nn;
	struct tn_error_info error;
	int allocations_left; /* that succeed, if below INT_MAX */
	int outstanding;      /* allocations that have not been freed */
};

static inline void *fixture_alloc(void *context, size_t size, size_t alignment)
{
	struct fixture *f = context;
	if (f->allocations_left < INT_MAX && f->allocations_left-- <= 0)
		return NULL;
	f->outstanding++;
	return alignment ? tn_mem_aligned(size, alignment) : tn_mem_alloc(size);
}

static inline void fixture_free(void *context, void *memory)
{
	((struct fixture *)context)->outstanding--;
	tn_mem_free(memory);
}

/* The first members of every argument struct. */
#define CALL(type, fixture)                                                                        \
	{                                                                                          \
		.struct_size = sizeof(type), .error = &(fixture)->error                            \
	}

static inline int fixture_open(void **state)
{
	const struct tn_backend_descriptor *backend = &tn_reference_backend;
	struct fixture *f = calloc(1, sizeof(*f));
	f->host.struct_size = sizeof(f->host);
	f->host.abi_minor = TN_ABI_MINOR;
	f->host.context = f;
	f->host.alloc = fixture_alloc;
	f->host.free = fixture_free;
	f->allocations_left = INT_MAX;
	tn_error_reset(&f->error);
	assert_ok(backend->create(&f->host, &f->error, &f->instance));
	f->devices = backend->query(f->instance, TN_TABLE_DEVICE);
	f->compute = backend->query(f->instance, TN_TABLE_COMPUTE);
	f->copies = backend->query(f->instance, TN_TABLE_COPY);
	f->memory = backend->query(f->instance, TN_TABLE_MEMORY);
	f->nn = backend->query(f->instance, TN_TABLE_NN);
	struct tn_open_args args = {.call = CALL(struct tn_open_args, f)};
	assert_ok(f->devices->open(f->instance, &args, &f->device));
	*state = f;
	return 0;
}

static inline int fixture_close(void **state)
{
	struct fixture *f = *state;
	f->devices->close(f->device);
	tn_reference_backend.destroy(f->instance);
	assert_int_equal(f->outstanding, 0);
	free(f);
	return 0;
}

/* A compact operand over memory; shapes are given as SHAPE(2, 3). */
#define SHAPE(...)                                                                                 \
	(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

static inline struct tn_operand operand(tn_dtype dtype, const void *data, uint32_t rank,
					const int64_t *shape)
{
	struct tn_operand o = {.buffer = (uint64_t)(uintptr_t)data, .dtype = dtype, .rank = rank};
	int64_t stride = 1;
	for (uint32_t axis = rank; axis-- > 0;) {
		o.shape[axis] = shape[axis];
		o.strides[axis] = stride;
		stride *= shape[axis];
	}
	return o;
}

/* A program written by hand: .instructions and .outputs are C arrays that outlive it. */
#define PROGRAM(n_in, instruction_array, output_array)                                             \
	{                                                                                          \
		.struct_size = sizeof(struct tn_program), .n_inputs = (n_in),                      \
		.n_outputs = sizeof(output_array) / sizeof((output_array)[0]),                     \
		.n_instructions = sizeof(instruction_array) / sizeof((instruction_array)[0]),      \
		.instructions = (instruction_array), .outputs = (output_array)                     \
	}

#endif
