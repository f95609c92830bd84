/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A call becomes a piece of work that runs later: everything that its arguments point to is copied
 * after the work, in one block, and handles become addresses of the hidden memory.  This detects
 * hosts that name a freed buffer, a buffer of another device, or elements outside of one.
 */
#include <string.h>

#include "mock.h"

/* ---- Operands --------------------------------------------------------------------------------*/

tn_status mock_operand_check(const struct tn_operand *operand, const char *role,
			     struct tn_error_info *error, const char *operation)
{
	size_t size = tn_dtype_size(operand->dtype);
	int64_t count = 1;
	if (!size)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "%s: dtype %d is not supported", role, operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "%s: rank %u, expected at most %d", role, operand->rank,
				      TN_MAX_RANK);
	for (uint32_t d = 0; d < operand->rank; d++) {
		if (operand->shape[d] < 1 ||
		    __builtin_mul_overflow(count, operand->shape[d], &count))
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
					      "%s: axis %u has length %lld", role, d,
					      (long long)operand->shape[d]);
	}
	if (operand->offset % size)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, operation,
			"%s: offset %llu is not a multiple of the element's %zu bytes", role,
			(unsigned long long)operand->offset, size);
	return TN_OK;
}

int mock_operand_span(const struct tn_operand *operand, uint64_t *low, uint64_t *high)
{
	int64_t size = (int64_t)tn_dtype_size(operand->dtype), first = 0, last = 0;
	for (uint32_t d = 0; d < operand->rank; d++) {
		int64_t reach;
		if (__builtin_mul_overflow(operand->shape[d] - 1, operand->strides[d], &reach) ||
		    __builtin_mul_overflow(reach, size, &reach))
			return 0;
		int64_t *end = reach < 0 ? &first : &last;
		if (__builtin_add_overflow(*end, reach, end))
			return 0;
	}
	return !__builtin_add_overflow(last, size, &last) &&
	       !__builtin_add_overflow(operand->offset, first, low) &&
	       !__builtin_add_overflow(operand->offset, last, high);
}

/* ---- Packing ---------------------------------------------------------------------------------*/

size_t mock_room(size_t size)
{
	return (size + 15) / 16 * 16;
}

size_t mock_program_room(const struct tn_program *program)
{
	return mock_room(sizeof(*program)) +
	       mock_room(program->n_instructions * sizeof(*program->instructions)) +
	       mock_room(program->n_constants * sizeof(*program->constants)) +
	       mock_room(program->n_outputs * sizeof(*program->outputs)) +
	       mock_room(program->n_bytes);
}

tn_status mock_pack_begin(struct mock_packing *packing, uint32_t n_buffers, size_t room)
{
	size_t list = mock_room(n_buffers * sizeof(struct mock_buffer *));
	size_t size = mock_room(sizeof(struct mock_work)) + list + room;
	struct mock_work *work = mock_host_alloc(packing->device, size);
	if (!work)
		return tn_plugin_fail(packing->error, TN_OUT_OF_MEMORY, packing->operation,
				      "no host memory for %zu bytes of work", size);
	memset(work, 0, sizeof(*work));
	work->operation = packing->operation;
	packing->work = work;
	packing->at = (char *)work + mock_room(sizeof(*work));
	work->buffers = (struct mock_buffer **)packing->at;
	packing->at += list;
	return TN_OK;
}

void *mock_pack_bytes(struct mock_packing *packing, const void *from, size_t size)
{
	void *to = packing->at;
	packing->at += mock_room(size);
	if (size)
		memcpy(to, from, size);
	return to;
}

const struct tn_program *mock_pack_program(struct mock_packing *packing,
					   const struct tn_program *program)
{
	struct tn_program *own = mock_pack_bytes(packing, program, sizeof(*program));
	own->instructions =
		mock_pack_bytes(packing, program->instructions,
				program->n_instructions * sizeof(*program->instructions));
	own->constants = mock_pack_bytes(packing, program->constants,
					 program->n_constants * sizeof(*program->constants));
	own->outputs = mock_pack_bytes(packing, program->outputs,
				       program->n_outputs * sizeof(*program->outputs));
	own->bytes = mock_pack_bytes(packing, program->bytes, program->n_bytes);
	return own;
}

/* The memory of a handle, of which bytes [low, high) are used; NULL after filling the error. */
static unsigned char *resolve(struct mock_packing *packing, const char *role, uint64_t handle,
			      uint64_t low, uint64_t high)
{
	struct mock_buffer *buffer = mock_buffer_find(packing->device, handle);
	if (!buffer) {
		tn_plugin_fail(packing->error, TN_INVALID_ARGUMENT, packing->operation,
			       "%s: buffer %#llx does not belong to this device", role,
			       (unsigned long long)handle);
		return NULL;
	}
	if (high > buffer->size || low > high) {
		tn_plugin_fail(packing->error, TN_INVALID_ARGUMENT, packing->operation,
			       "%s: bytes %llu to %llu exceed the buffer's %llu", role,
			       (unsigned long long)low, (unsigned long long)high,
			       (unsigned long long)buffer->size);
		return NULL;
	}
	packing->work->buffers[packing->work->n_buffers++] = buffer;
	buffer->n_users++;
	return buffer->memory;
}

tn_status mock_pack_operands(struct mock_packing *packing, const struct tn_operand *from,
			     uint32_t n, const char *role, const struct tn_operand **to)
{
	struct tn_operand *own = mock_pack_bytes(packing, from, n * sizeof(*from));
	*to = own;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t low, high;
		if (!mock_operand_span(&own[i], &low, &high))
			return tn_plugin_fail(
				packing->error, TN_INVALID_ARGUMENT, packing->operation,
				"%s %u: its elements lie outside any buffer", role, i);
		unsigned char *memory = resolve(packing, role, own[i].buffer, low, high);
		if (!memory)
			return TN_INVALID_ARGUMENT;
		own[i].buffer = (uint64_t)(uintptr_t)memory;
	}
	return TN_OK;
}

tn_status mock_pack_scalars(struct mock_packing *packing, const struct tn_scalar *from, uint32_t n,
			    const struct tn_scalar **to)
{
	struct tn_scalar *own = mock_pack_bytes(packing, from, n * sizeof(*from));
	*to = own;
	for (uint32_t i = 0; i < n; i++) {
		unsigned char *element;
		if (!own[i].on_device)
			continue;
		tn_status status =
			mock_pack_bytes_at(packing, "scalar", own[i].buffer, own[i].offset,
					   tn_dtype_size(own[i].dtype), &element);
		if (status)
			return status;
		own[i].buffer = (uint64_t)(uintptr_t)element;
		own[i].offset = 0;
	}
	return TN_OK;
}

tn_status mock_pack_bytes_at(struct mock_packing *packing, const char *what, uint64_t buffer,
			     uint64_t offset, uint64_t size, unsigned char **address)
{
	uint64_t high = offset + size;
	unsigned char *memory = resolve(packing, what, buffer, offset, high);
	if (!memory)
		return TN_INVALID_ARGUMENT;
	*address = memory + offset;
	return TN_OK;
}

void mock_pack_pinned(struct mock_packing *packing, const void *host, uint64_t size)
{
	struct mock_buffer *buffer = packing->device->buffers;
	uint64_t low = (uint64_t)(uintptr_t)host;
	while (buffer && !(buffer->is_pinned && low >= buffer->handle &&
			   low + size <= buffer->handle + buffer->size))
		buffer = buffer->next;
	if (!buffer)
		return;
	packing->work->buffers[packing->work->n_buffers++] = buffer;
	buffer->n_users++;
}

tn_status mock_pack_end(struct mock_packing *packing, void *stream, mock_run *run)
{
	packing->work->run = run;
	mock_queue(packing->device, mock_stream_find(packing->device, stream), packing->work);
	return TN_OK;
}

void mock_work_free(struct mock_device *device, struct mock_work *work)
{
	for (uint32_t i = 0; i < work->n_buffers; i++)
		work->buffers[i]->n_users--;
	mock_mark_release(device, work->mark);
	if (work->graph)
		mock_replay_end(work->graph);
	mock_host_free(device, work);
}
