/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creates and destroys the queues of a device: a stream of the backend with a number and free
 * memory of its own.
 */
#include "device/queue.h"

#include <tenon/stream.h>

#include "base/fork.h"
#include "base/memory.h"
#include "device/checks.h"
#include "device/chunk.h"
#include "device/native.h"
#include "device/open.h"
#include "device/opened.h"
#include "device/point.h"
#include "device/pool_parts.h"
#include "device/transfer.h"

_Static_assert(TN_MAX_STREAMS + 1 == TN_MOST_QUEUES, "the ordinary queue is one more");

tn_status tn_queue_create(struct tn_device *device, uint64_t native, struct tn_queue **result,
			  struct tn_error_info *error)
{
	const char *operation = native ? "stream_wrap" : "stream_create";
	struct tn_queue **queues = device->pool->queues;
	uint32_t number = 0;
	while (number < TN_MOST_QUEUES && queues[number])
		number++;
	if (number == TN_MOST_QUEUES)
		return tn_fail(error, TN_LIMIT, operation,
			       "%s: expected at most %d streams at a time", device->name,
			       TN_MAX_STREAMS);
	struct tn_queue *queue = tn_mem_zeroed(1, sizeof(*queue));
	if (!queue)
		return tn_no_memory(error, operation, NULL, "a stream");
	tn_status status =
		native ? tn_device_import_stream(device, native, operation, &queue->handle, error)
		       : tn_device_answer(device,
					  tn_opened_make_stream(device, &queue->handle, error),
					  error);
	if (status) {
		tn_mem_free(queue);
		return status;
	}
	queue->is_imported = native != 0;
	queue->number = number;
	queues[number] = queue;
	/* What the library wrote for all queues (tn_device_align) may not be done yet. */
	tn_queue_follow(device, queue, UINT64_MAX);
	device->replayers &= ~tn_queue_bit(queue);
	device->tracks_use = 1;
	*result = queue;
	return TN_OK;
}

void tn_queue_destroy(struct tn_device *device, struct tn_queue *queue)
{
	tn_queue_settle(device, queue);
	tn_pool_inherit(device, queue);
	tn_checks_leave(device, queue);
	device->pool->queues[queue->number] = NULL;
	if (queue->is_imported)
		tn_device_release_stream(device, queue->handle);
	else if (device->fork_generation == tn_fork_generation())
		tn_opened_end_stream(device, queue->handle);
	tn_mem_free(queue);
}
