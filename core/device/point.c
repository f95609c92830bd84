/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Orders the queues that use one piece of memory in turn: makes events at the ends of queues, and
 * has the next user's queue wait for them.
 */
#include "device/point.h"

#include "base/fork.h"
#include "base/memory.h"
#include "device/open.h"
#include "device/pool_parts.h"
#include "device/transfer.h"
#include "device/turn.h"

struct tn_point {
	struct tn_point *next; /* of the piece, or unused */
	struct tn_point *next_of_all;
	const struct tn_queue *queue;
	void *event;
};

/* An unused point; NULL: it cannot be made. */
static struct tn_point *take_point(struct tn_device *device)
{
	struct tn_pool *pool = device->pool;
	struct tn_point *point = pool->points;
	if (point) {
		pool->points = point->next;
		return point;
	}
	struct tn_event_args args = {.call = {.struct_size = sizeof(args)}};
	point = tn_mem_zeroed(1, sizeof(*point));
	if (!point)
		return NULL;
	if (tn_turn_end(device, device->backend->stream.event_create(tn_turn_begin(device), &args,
								     &point->event)) ||
	    !point->event) {
		tn_mem_free(point);
		return NULL;
	}
	point->next_of_all = pool->all_points;
	pool->all_points = point;
	return point;
}

static void give_point(struct tn_pool *pool, struct tn_point *point)
{
	point->next = pool->points;
	pool->points = point;
}

/* The end of the queue's work so far.  NULL: the host has waited for that instead, or the device
 * does no more work. */
static struct tn_point *point_at_end(struct tn_device *device, struct tn_queue *queue)
{
	if (tn_device_ready(device, NULL))
		return NULL;
	struct tn_point *point = take_point(device);
	if (point) {
		struct tn_event_args args = {
			.call = {.struct_size = sizeof(args), .stream = queue->handle},
			.event = point->event};
		point->queue = queue;
		if (!tn_turn_end(device, device->backend->stream.event_record(tn_turn_begin(device),
									      &args)))
			return point;
		give_point(device->pool, point);
	}
	tn_queue_settle(device, queue);
	return NULL;
}

/* Later work of the queue waits for the point. */
static void wait_for_point(struct tn_device *device, const struct tn_queue *queue,
			   const struct tn_point *point)
{
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .stream = queue->handle},
				     .event = point->event};
	if (point->queue != queue &&
	    tn_turn_end(device, device->backend->stream.event_wait(tn_turn_begin(device), &args)))
		tn_queue_settle(device, point->queue);
}

void tn_points_destroy(struct tn_device *device)
{
	struct tn_pool *pool = device->pool;
	int forked = device->fork_generation != tn_fork_generation();
	while (pool->all_points) {
		struct tn_point *point = pool->all_points;
		struct tn_event_args args = {.call = {.struct_size = sizeof(args)},
					     .event = point->event};
		pool->all_points = point->next_of_all;
		if (!forked)
			(void)tn_turn_end(device, device->backend->stream.event_destroy(
							  tn_turn_begin(device), &args));
		tn_mem_free(point);
	}
	pool->points = NULL;
}

/* ---- Pieces ----------------------------------------------------------------------------------*/

void tn_piece_leave(struct tn_device *device, struct tn_piece *piece)
{
	/* Captured work uses the piece next. */
	struct tn_store *store = piece->store ? piece->store : device->store;
	uint64_t users = piece->users;
	if (piece->is_captured)
		users |= device->replayers;
	piece->users = 0;
	if (store) {
		store->users |= users | tn_queue_bit(piece->queue);
		return;
	}
	users &= ~tn_queue_bit(piece->queue);
	for (; users; users &= users - 1) {
		struct tn_queue *queue = device->pool->queues[__builtin_ctzll(users)];
		struct tn_point *point = queue ? point_at_end(device, queue) : NULL;
		if (!point)
			continue;
		point->next = piece->points;
		piece->points = point;
	}
}

void tn_piece_await(struct tn_device *device, struct tn_piece *piece)
{
	while (piece->points) {
		struct tn_point *point = piece->points;
		piece->points = point->next;
		if (device->store)
			device->store->users |= tn_queue_bit(point->queue);
		else
			wait_for_point(device, device->queue, point);
		give_point(device->pool, point);
	}
}

void tn_piece_join(struct tn_device *device, struct tn_piece *piece)
{
	struct tn_queue *queue = device->queue;
	tn_piece_await(device, piece);
	if (piece->queue != queue) {
		tn_queue_follow(device, queue, tn_queue_bit(piece->queue));
		piece->queue = queue;
	}
}

void tn_piece_merge_points(struct tn_piece *piece, struct tn_piece *other)
{
	struct tn_point **end = &piece->points;
	while (*end)
		end = &(*end)->next;
	*end = other->points;
	other->points = NULL;
}

void tn_piece_settle(struct tn_device *device, struct tn_piece *piece)
{
	while (piece->points) {
		struct tn_point *point = piece->points;
		piece->points = point->next;
		give_point(device->pool, point);
	}
}

void tn_piece_forget(struct tn_device *device, struct tn_piece *piece, const struct tn_queue *queue)
{
	for (struct tn_point **link = &piece->points; *link;) {
		struct tn_point *point = *link;
		if (point->queue != queue) {
			link = &point->next;
			continue;
		}
		*link = point->next;
		give_point(device->pool, point);
	}
}

/* ---- Queues ----------------------------------------------------------------------------------*/

void tn_queue_follow(struct tn_device *device, const struct tn_queue *queue, uint64_t queues)
{
	queues &= ~tn_queue_bit(queue);
	if (device->store) {
		device->store->users |= queues;
		return;
	}
	for (; queues; queues &= queues - 1) {
		struct tn_queue *other = device->pool->queues[__builtin_ctzll(queues)];
		struct tn_point *point = other ? point_at_end(device, other) : NULL;
		if (!point)
			continue;
		wait_for_point(device, queue, point);
		give_point(device->pool, point);
	}
}

int tn_stream_follow(struct tn_device *device, void *stream, void *other)
{
	struct tn_point *point = take_point(device);
	if (!point)
		return 0;
	struct tn_event_args args = {.call = {.struct_size = sizeof(args), .stream = other},
				     .event = point->event};
	int is_done = !tn_turn_end(
		device, device->backend->stream.event_record(tn_turn_begin(device), &args));
	args.call.stream = stream;
	is_done = is_done && !tn_turn_end(device, device->backend->stream.event_wait(
							  tn_turn_begin(device), &args));
	give_point(device->pool, point);
	return is_done;
}

void tn_device_align(struct tn_device *device)
{
	struct tn_queue **queues = device->pool->queues;
	uint32_t n = 0;
	for (uint32_t i = 0; i < TN_MOST_QUEUES; i++)
		n += queues[i] != NULL;
	struct tn_point *point =
		n > 1 && !device->store ? point_at_end(device, device->queue) : NULL;
	if (!point)
		return;
	for (uint32_t i = 0; i < TN_MOST_QUEUES; i++) {
		if (queues[i])
			wait_for_point(device, queues[i], point);
	}
	give_point(device->pool, point);
}
