/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay.  The device keeps the memory that the work took and released
 * (device/capture.c); this file tracks what the work changes: older storages, whose versions
 * increase with each replay and which, like kernels and memory that is shared with other contexts,
 * live as long as the graph.  Values that change
 * from step to step are in stepped.c.
 */
#include "capture/capture.h"

#include "array/array.h"
#include "array/storage.h"
#include "base/fork.h"
#include "array/handle.h"
#include "base/memory.h"
#include "capture/graph.h"
#include "device/capture.h"
#include "dispatch/ledger.h"

/* ---- What the work uses ----------------------------------------------------------------------*/

static int list_has(const struct tn_kept_list *list, const void *thing)
{
	size_t i = list->n;
	while (i > 0 && list->items[i - 1].thing != thing)
		i--;
	return i > 0;
}

/* 0: the host has no memory left. */
static int list_add(struct tn_kept_list *list, void *thing, void (*release)(void *))
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct tn_kept *more = tn_mem_realloc(list->items, room, sizeof(*more));
		if (!more)
			return 0;
		list->items = more;
		list->room = room;
	}
	list->items[list->n++] = (struct tn_kept){thing, release};
	return 1;
}

static void release_all(struct tn_kept_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		list->items[i].release(list->items[i].thing);
	tn_mem_free(list->items);
}

static void release_storage(void *storage)
{
	tn_storage_release(storage);
}

static void note_storage(struct tn_runtime *runtime, struct tn_storage *storage)
{
	struct tn_graph *graph = runtime->capture;
	/* Storage made during the capture lies in the graph's own memory. */
	if (storage->device != graph->device ||
	    tn_device_captures(storage->device, &storage->block) ||
	    list_has(&graph->storages, storage))
		return;
	if (list_add(&graph->storages, storage, release_storage))
		storage->references++;
	else
		graph->is_incomplete = 1;
}

/* It stays as long as the graph, even if nobody else has the memory by then. */
static void note_shared(struct tn_runtime *runtime, struct tn_storage *storage)
{
	struct tn_graph *graph = runtime->capture;
	if (list_has(&graph->others, storage))
		return;
	if (list_add(&graph->others, storage, release_storage))
		storage->references++;
	else
		graph->is_incomplete = 1;
}

static int keep_storage(struct tn_runtime *runtime, struct tn_storage *storage)
{
	note_storage(runtime, storage);
	return storage->references > 0;
}

static const struct tn_observer observer = {
	.changed = note_storage, .shared = note_shared, .keep = keep_storage};

int tn_capture_writes(const struct tn_runtime *runtime, const struct tn_storage *storage)
{
	const struct tn_graph *graph = runtime->graphs;
	while (graph && !list_has(&graph->storages, storage))
		graph = graph->next;
	return graph || tn_block_is_captured(&storage->block);
}

tn_status tn_capture_keep(struct tn_runtime *runtime, void *thing, void (*release)(void *thing),
			  int *is_new)
{
	struct tn_graph *graph = runtime->capture;
	*is_new = graph && !list_has(&graph->others, thing);
	if (!*is_new || list_add(&graph->others, thing, release))
		return TN_OK;
	*is_new = 0;
	return tn_no_memory(&runtime->report, "capture", NULL, "the capture");
}

tn_status tn_capture_refuse(struct tn_runtime *runtime, const char *operation, const char *what)
{
	if (!runtime->capture)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_NOT_CAPTURABLE, operation,
			       "%s would be the same in each replay", what);
}

void tn_capture_flag(struct tn_runtime *runtime, int *flag)
{
	struct tn_graph *graph = runtime->capture;
	if (graph && !tn_flags_note(&graph->flags, flag))
		graph->is_incomplete = 1;
}

void tn_capture_forget(struct tn_runtime *runtime, const int *flag)
{
	for (struct tn_graph *graph = runtime->graphs; graph; graph = graph->next)
		tn_flags_forget(&graph->flags, flag);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

tn_status tn_capture_begin(tn_context *context)
{
	if (!context)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = tn_runtime_of(context);
	tn_status status = tn_runtime_ready(runtime);
	if (status)
		return status;
	if (runtime->observer || runtime->tape)
		return tn_runtime_fail(runtime, TN_STATE, "capture_begin",
				       "a capture or a tape has already begun");
	struct tn_graph *graph = tn_mem_zeroed(1, sizeof(*graph));
	if (!graph)
		return tn_runtime_no_memory(runtime, "capture_begin", "the capture");
	graph->runtime = runtime;
	graph->device = runtime->device;
	tn_stepped_begin(&graph->stepped, runtime);
	status = tn_device_capture_begin(graph->device, &runtime->report);
	if (status) {
		tn_mem_free(graph);
		return tn_runtime_keep(runtime, &runtime->report);
	}
	graph->next = runtime->graphs;
	runtime->graphs = graph;
	runtime->capture = graph;
	runtime->observer = &observer;
	return TN_OK;
}

/* The errors of a capture that are detected at its end. */
static tn_status check_end(const struct tn_graph *graph)
{
	struct tn_runtime *runtime = graph->runtime;
	if (runtime->error.status)
		return TN_PENDING_ERROR;
	if (runtime->tape)
		return tn_fail(&runtime->report, TN_NOT_CAPTURABLE, "capture_end",
			       "a tape has begun and not ended");
	if (graph->is_incomplete)
		return tn_no_memory(&runtime->report, "capture_end", NULL, "the capture");
	return TN_OK;
}

void tn_capture_abandon(struct tn_runtime *runtime)
{
	tn_graph *graph = NULL;
	if (runtime->capture && !tn_capture_end(runtime->context, &graph))
		tn_graph_destroy(graph);
}

tn_status tn_capture_end(tn_context *context, tn_graph **result)
{
	if (!context || !result)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_graph *graph = runtime->capture;
	*result = NULL;
	if (!graph)
		return tn_runtime_ready(runtime) ? TN_PENDING_ERROR
						 : tn_runtime_fail(runtime, TN_STATE, "capture_end",
								   "no capture has begun");
	struct tn_error_info error;
	tn_error_reset(&error);
	runtime->capture = NULL;
	runtime->observer = NULL;
	tn_stepped_take_back(&graph->stepped, runtime);
	tn_flags_take_back(&graph->flags);
	tn_status ended =
		tn_device_capture_end(graph->device, &graph->handle, &graph->store, &error);
	while (graph->later) {
		struct tn_graph *gone = graph->later;
		graph->later = gone->later;
		gone->later = NULL;
		tn_graph_destroy(gone);
	}
	tn_status status = check_end(graph);
	if (!status && ended) {
		runtime->report = error;
		status = ended;
	}
	if (!status) {
		*result = graph;
		return TN_OK;
	}
	tn_graph_destroy(graph);
	return status == TN_PENDING_ERROR ? runtime->error.status
					  : tn_runtime_keep(runtime, &runtime->report);
}

tn_status tn_graph_replay(tn_graph *graph)
{
	if (!graph)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = graph->runtime;
	tn_status status = tn_runtime_ready(runtime);
	if (status)
		return status;
	if (runtime->capture)
		return tn_runtime_fail(
			runtime, TN_NOT_CAPTURABLE, "graph_replay",
			"work is being captured: a graph cannot contain another graph");
	tn_device_graph_order(graph->device, graph->store);
	status = tn_stepped_next(&graph->stepped, runtime);
	if (!status)
		status = tn_device_graph_launch(graph->device, graph->handle, graph->store,
						&runtime->report);
	if (status) {
		tn_stepped_take_back(&graph->stepped, runtime);
		return tn_runtime_keep(runtime, &runtime->report);
	}
	for (size_t i = 0; i < graph->storages.n; i++)
		((struct tn_storage *)graph->storages.items[i].thing)->version++;
	tn_flags_replay(&graph->flags);
	tn_ledger_row_of(runtime->ledger, tn_operation_named(runtime, "replay"))->native++;
	return TN_OK;
}

/* In a forked child the handle and the memory belong to the parent. */
void tn_graph_destroy(tn_graph *graph)
{
	if (!graph || tn_handle_has_ended(graph->runtime, graph, "graph_destroy"))
		return;
	struct tn_graph *capture = graph->runtime->capture;
	if (capture) {
		graph->later = capture->later;
		capture->later = graph;
		return;
	}
	struct tn_graph **link = &graph->runtime->graphs;
	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
	int is_own = graph->device->fork_generation == tn_fork_generation();
	tn_device_graph_release(graph->device, is_own ? graph->handle : NULL, graph->store);
	tn_stepped_release(&graph->stepped);
	tn_flags_release(&graph->flags);
	release_all(&graph->storages);
	release_all(&graph->others);
	tn_handle_end(&graph->runtime, graph, "the graph");
}
