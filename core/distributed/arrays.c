/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Collective operations on arrays.  Compact arrays in memory that the host can address are operands
 * as they lie; others go through host memory, which is pinned where the device has such memory.
 */
#include <inttypes.h>
#include <string.h>

#include <tenon/memory.h>

#include "array/make.h"

#include "array/handle.h"
#include "array/shape.h"
#include "device/transfer.h"
#include "distributed/collective.h"

/* An array's elements in host memory, compact and row-major. */
struct elements {
	tn_array *array;
	tn_host_buffer *buffer; /* NULL: the array's own memory */
	void *data;
};

static size_t bytes_of(const tn_array *array)
{
	return (size_t)array->size * tn_dtype_size(array->dtype);
}

/* `reads`: the elements are needed as they are. */
static tn_status take_elements(tn_array *array, int reads, struct elements *elements)
{
	struct tn_runtime *runtime = array->runtime;
	struct tn_device *device = tn_array_home(array);
	const struct tn_block *block = &array->storage->block;
	*elements = (struct elements){.array = array};
	tn_observe_unrepeatable(runtime);
	if (!array->size)
		return TN_OK;
	if (array->contiguous && block->address) {
		elements->data = (char *)block->address +
				 (uint64_t)array->offset * tn_dtype_size(array->dtype);
		return tn_device_sync(device, &runtime->report)
			       ? tn_runtime_keep(runtime, &runtime->report)
			       : TN_OK;
	}
	elements->buffer = tn_host_buffer_create(device, bytes_of(array));
	if (!elements->buffer)
		return runtime->error.status;
	elements->data = tn_host_buffer_data(elements->buffer);
	return reads ? tn_to_host(array, elements->data, bytes_of(array)) : TN_OK;
}

/* After the operation: `writes`, it has changed the elements. */
static tn_status give_elements(struct elements *elements, int writes, tn_status status)
{
	tn_array *array = elements->array;
	if (!status && writes && elements->buffer)
		status = tn_assign_host(array, elements->data, bytes_of(array));
	else if (writes && array && elements->data)
		tn_array_touch(array);
	tn_host_buffer_destroy(elements->buffer);
	return status;
}

/* May the operation have the array? */
static tn_status begin(const tn_communicator *communicator, const tn_array *array,
		       const char *operation, int writes)
{
	struct tn_runtime *runtime = communicator ? communicator->runtime
				     : array      ? array->runtime
						  : NULL;
	if (!communicator || !array)
		return tn_runtime_null(runtime, operation, communicator ? "x" : "communicator");
	tn_status status = tn_runtime_ready(runtime);
	if (status)
		return status;
	status = tn_handle_check(array->runtime, operation);
	if (status)
		return status;
	if (array->runtime != runtime)
		return tn_runtime_fail(
			runtime, TN_DEVICE, operation,
			"x: the array and the communicator are of different contexts");
	if (writes && tn_array_writable(runtime, operation, array))
		return tn_runtime_keep(runtime, &runtime->report);
	return TN_OK;
}

tn_status tn_barrier(tn_communicator *communicator)
{
	const struct tn_collective_host barrier = {.struct_size = sizeof(barrier),
						   .operation = TN_COLLECTIVE_BARRIER};
	return tn_communicator_run(communicator, &barrier);
}

/* An operation with one operand, which is source and target. */
static tn_status run_in_place(tn_communicator *communicator, tn_array *x,
			      struct tn_collective_host *operation)
{
	struct elements elements;
	const char *name = tn_collective_name(operation->operation);
	tn_status status = begin(communicator, x, name, 1);
	if (status)
		return status;
	int receives = operation->operation == TN_COLLECTIVE_BROADCAST &&
		       operation->root != communicator->description.rank;
	status = take_elements(x, !receives, &elements);
	operation->struct_size = sizeof(*operation);
	operation->dtype = x->dtype;
	operation->n = (uint64_t)x->size;
	operation->target = elements.data;
	operation->source = operation->operation == TN_COLLECTIVE_BROADCAST ? NULL : elements.data;
	if (!status)
		status = tn_communicator_run(communicator, operation);
	return give_elements(&elements, 1, status);
}

tn_status tn_broadcast(tn_communicator *communicator, tn_array *x, uint32_t root)
{
	struct tn_collective_host operation = {.operation = TN_COLLECTIVE_BROADCAST, .root = root};
	return run_in_place(communicator, x, &operation);
}

tn_status tn_all_reduce(tn_communicator *communicator, tn_array *x, uint32_t combiner)
{
	struct tn_collective_host operation = {.operation = TN_COLLECTIVE_ALL_REDUCE,
					       .combiner = combiner};
	return run_in_place(communicator, x, &operation);
}

/* An operation from x to a new array of that shape. */
static tn_array *run_into_new(tn_communicator *communicator, const tn_array *x, int rank,
			      const int64_t *shape, struct tn_collective_host *operation)
{
	struct tn_runtime *runtime = communicator->runtime;
	struct elements from = {.array = NULL}, to = {.array = NULL};
	tn_array *out = tn_array_make(runtime, tn_array_home(x), x->dtype, rank, shape);
	if (!out) {
		tn_runtime_keep(runtime, &runtime->report);
		return NULL;
	}
	/* The source is read alone. */
	tn_status status = take_elements(tn_array_const_cast(x), 1, &from);
	if (!status)
		status = take_elements(out, 0, &to);
	operation->struct_size = sizeof(*operation);
	operation->dtype = x->dtype;
	operation->source = from.data;
	operation->target = to.data;
	if (!status)
		status = tn_communicator_run(communicator, operation);
	status = give_elements(&to, 1, status);
	status = give_elements(&from, 0, status);
	if (!status)
		return out;
	tn_array_discard(out);
	return NULL;
}

tn_array *tn_all_gather(tn_communicator *communicator, const tn_array *x)
{
	int64_t shape[TN_MAX_RANK];
	if (begin(communicator, x, "all_gather", 0))
		return NULL;
	uint32_t size = communicator->description.size;
	size_t element = tn_dtype_size(x->dtype);
	if (x->rank == TN_MAX_RANK || (x->size && size > INT64_MAX / element / (uint64_t)x->size)) {
		tn_runtime_fail(communicator->runtime, TN_LIMIT, "all_gather",
				"x: %" PRId64 " elements of rank %d, of %u ranks: at most %d axes "
				"and 2^63 bytes",
				x->size, x->rank, size, TN_MAX_RANK);
		return NULL;
	}
	shape[0] = size;
	memcpy(shape + 1, x->shape, (size_t)x->rank * sizeof(*shape));
	struct tn_collective_host operation = {.operation = TN_COLLECTIVE_ALL_GATHER,
					       .n = (uint64_t)x->size};
	return run_into_new(communicator, x, x->rank + 1, shape, &operation);
}

tn_array *tn_reduce_scatter(tn_communicator *communicator, const tn_array *x, uint32_t combiner)
{
	int64_t shape[TN_MAX_RANK];
	char text[TN_SHAPE_TEXT];
	if (begin(communicator, x, "reduce_scatter", 0))
		return NULL;
	uint32_t size = communicator->description.size;
	if (!x->rank || x->shape[0] % size) {
		tn_runtime_fail(communicator->runtime, TN_SHAPE, "reduce_scatter",
				"x: expected a multiple of the number of ranks, %u, on axis 0, "
				"found shape %s",
				size, tn_array_text(x, text));
		return NULL;
	}
	memcpy(shape, x->shape, (size_t)x->rank * sizeof(*shape));
	shape[0] /= size;
	struct tn_collective_host operation = {.operation = TN_COLLECTIVE_REDUCE_SCATTER,
					       .combiner = combiner,
					       .n = (uint64_t)x->size / size};
	return run_into_new(communicator, x, x->rank, shape, &operation);
}
