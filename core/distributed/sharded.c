/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An arena is gathered in place where the host addresses the device's memory, and else in pinned
 * memory: the equal parts of all ranks by an all-gather, the few elements after them, the last
 * rank's, by a broadcast.
 */
#include "distributed/sharded.h"

#include <stdio.h>

#include "array/array.h"
#include "base/dtype.h"
#include "nn/shard.h"

/* An arena whose share is in host memory. */
struct arena {
	char *memory;
	size_t width; /* bytes of an element */
	tn_dtype dtype;
	uint64_t each; /* elements of a rank's equal part */
	uint64_t rest; /* after those of all ranks */
	const char *label;
};

static tn_status start_parts(const struct tn_sharded *s, const struct arena *a,
			     tn_request **request)
{
	const uint64_t rank = tn_communicator_rank(s->communicator);
	const struct tn_collective_host gather = {
		.struct_size = sizeof(gather),
		.operation = TN_COLLECTIVE_ALL_GATHER,
		.dtype = a->dtype,
		.n = a->each,
		.source = a->memory + rank * a->each * a->width,
		.target = a->memory,
		.label = a->label,
	};
	return a->each ? tn_communicator_start(s->communicator, &gather, request) : TN_OK;
}

static tn_status start_rest(const struct tn_sharded *s, const struct arena *a, tn_request **request)
{
	const uint32_t n = tn_communicator_size(s->communicator);
	const struct tn_collective_host broadcast = {
		.struct_size = sizeof(broadcast),
		.operation = TN_COLLECTIVE_BROADCAST,
		.dtype = a->dtype,
		.root = n - 1,
		.n = a->rest,
		.target = a->memory + n * a->each * a->width,
		.label = a->label,
	};
	return a->rest ? tn_communicator_start(s->communicator, &broadcast, request) : TN_OK;
}

static tn_status exchange(const struct tn_sharded *s, const struct arena *a)
{
	tn_request *parts = NULL, *rest = NULL;
	tn_status status = start_parts(s, a, &parts);
	if (!status)
		status = start_rest(s, a, &rest);
	const tn_status first = tn_request_wait(parts), second = tn_request_wait(rest);
	if (status)
		return status;
	return first ? first : second;
}

/* Copies this rank's share to its place in pinned memory, and waits for that. */
static tn_status fetch_share(struct tn_sharded *s, const tn_array *whole, size_t width)
{
	struct tn_runtime *rt = s->module->runtime;
	struct tn_device *device = tn_array_home(whole);
	const struct tn_share share =
		tn_share_of(whole->size, tn_communicator_rank(s->communicator),
			    tn_communicator_size(s->communicator));
	if (!s->host) /* no arena is wider than that of the gradients */
		s->host = tn_host_buffer_create(
			device, (size_t)whole->size * tn_dtype_size(tn_arena_dtype(s->module)));
	if (s->host && !s->copied)
		s->copied = tn_event_create(device);
	if (!s->copied)
		return rt->error.status;
	const tn_array *own = tn_slice(whole, 0, share.begin, share.end, 1);
	tn_status status = own ? TN_OK : rt->error.status;
	if (!status && own->size)
		status = tn_to_host_async(own, s->host, (size_t)share.begin * width);
	if (!status)
		status = tn_event_record(s->copied);
	return status ? status : tn_event_synchronize(s->copied);
}

static tn_status gather(void *user, tn_array *whole, const char *label)
{
	struct tn_sharded *s = user;
	const struct tn_device *device = tn_array_home(whole);
	const uint32_t n = tn_communicator_size(s->communicator);
	const int is_in_place = device->host_memory && device->synchronous;
	struct arena a = {.width = tn_dtype_size(whole->dtype),
			  .dtype = whole->dtype,
			  .each = (uint64_t)tn_share_each(whole->size, n),
			  .label = label};
	a.rest = (uint64_t)whole->size - n * a.each;
	tn_status status = is_in_place ? TN_OK : fetch_share(s, whole, a.width);
	if (status)
		return status;
	a.memory = is_in_place
			   ? (char *)whole->storage->block.address + (size_t)whole->offset * a.width
			   : tn_host_buffer_data(s->host);
	status = exchange(s, &a);
	if (status)
		return status;
	if (!is_in_place)
		return tn_assign_host_async(whole, s->host, 0);
	tn_array_touch(whole);
	return TN_OK;
}

tn_status tn_sharded_open(struct tn_sharded *s, tn_module *module, tn_communicator *communicator)
{
	const struct tn_shard shard = {.rank = tn_communicator_rank(communicator),
				       .n_ranks = tn_communicator_size(communicator),
				       .gather = gather,
				       .user = s};
	*s = (struct tn_sharded){.module = module, .communicator = communicator};
	const tn_status status = tn_module_set_shard(module, &shard);
	if (status)
		*s = (struct tn_sharded){0};
	return status;
}

void tn_sharded_close(struct tn_sharded *s)
{
	if (!s->module)
		return;
	/* Of a built module this cannot fail. */
	(void)tn_module_set_shard(s->module, &(struct tn_shard){0});
	tn_event_destroy(s->copied);
	tn_host_buffer_destroy(s->host);
	*s = (struct tn_sharded){0};
}
