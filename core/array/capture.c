/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay.  The device keeps the memory that the work took and gave back (device/capture.c); here
 * is what it changes: storages that were there before, whose versions move with each replay, and which
 * live as long as the graph, as the kernels do.  What changes from step to step is in stepped.c.
 */
#include <tenon/capture.h>
#include <tenon/kernel.h>

#include "array/array.h"
#include "array/capture.h"
#include "array/flags.h"
#include "array/ledger.h"
#include "array/stepped.h"
#include "base/fork.h"
#include "base/memory.h"

struct list {
	void **items;
	size_t n, room;
};

struct tn_graph {
	struct tn_runtime *runtime;
	struct tn_device *device;
	void *handle;
	struct tn_store *store;
	struct list storages, kernels;
	struct tn_stepped stepped;
	struct tn_flags flags;
	struct tn_graph *next;  /* of the context's */
	struct tn_graph *later; /* destroyed meanwhile: when nobody could wait for their work */
	int is_incomplete;      /* the host had no memory to note something */
};

static int add(struct list *list, void *item)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		void **more = tn_mem_realloc(list->items, room, sizeof(*more));
		if (!more)
			return 0;
		list->items = more;
		list->room = room;
	}
	list->items[list->n++] = item;
	return 1;
}

static int has(const struct list *list, const void *item)
{
	size_t i = list->n;
	while (i > 0 && list->items[i - 1] != item)
		i--;
	return i > 0;
}

/* ---- For those whose work is captured --------------------------------------------------------*/

void tn_capture_note(struct tn_runtime *runtime, struct tn_storage *storage)
{
	struct tn_graph *graph = runtime->capture;
	/* What was made meanwhile lies in the graph's own memory. */
	if (storage->device != graph->device ||
	    tn_device_captures(storage->device, &storage->block) || has(&graph->storages, storage))
		return;
	storage->references++;
	if (!add(&graph->storages, storage)) {
		storage->references--;
		graph->is_incomplete = 1;
	}
}

int tn_capture_keeps(struct tn_storage *storage)
{
	const struct tn_device *device = storage->device;
	struct tn_runtime *runtime = device->context ? tn_runtime_of(device->context) : NULL;
	if (!runtime || !runtime->capture)
		return 0;
	tn_capture_note(runtime, storage);
	return storage->references > 0;
}

tn_status tn_capture_kernel(struct tn_runtime *runtime, struct tn_kernel *kernel)
{
	struct tn_graph *graph = runtime->capture;
	if (!graph || has(&graph->kernels, kernel))
		return TN_OK;
	if (!add(&graph->kernels, kernel))
		return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, "capture",
			       "the host has no memory left");
	(void)tn_kernel_hold(kernel);
	return TN_OK;
}

tn_status tn_capture_refuse(struct tn_runtime *runtime, const char *operation, const char *what)
{
	if (!runtime->capture)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_NOT_CAPTURABLE, operation,
			       "%s would be the same in each replay", what);
}

struct tn_stepped *tn_capture_stepped(struct tn_runtime *runtime)
{
	return runtime->capture ? &runtime->capture->stepped : NULL;
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

static void link_graph(struct tn_graph *graph)
{
	graph->next = graph->runtime->graphs;
	graph->runtime->graphs = graph;
}

static void unlink_graph(const struct tn_graph *graph)
{
	struct tn_graph **link = &graph->runtime->graphs;
	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
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
	if (runtime->capture || runtime->writing || runtime->tape)
		return tn_runtime_fail(runtime, TN_STATE, "capture_begin",
				       "work is captured already, or a tape has begun");
	struct tn_graph *graph = tn_mem_zeroed(1, sizeof(*graph));
	if (!graph)
		return tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, "capture_begin",
				       "the host has no memory left");
	graph->runtime = runtime;
	graph->device = runtime->device;
	tn_stepped_begin(&graph->stepped, runtime);
	status = tn_device_capture_begin(graph->device, &runtime->report);
	if (status) {
		tn_mem_free(graph);
		return tn_runtime_keep(runtime, &runtime->report);
	}
	link_graph(graph);
	runtime->capture = graph;
	return TN_OK;
}

/* What spoils a capture, seen when it ends. */
static tn_status check_end(const struct tn_graph *graph)
{
	struct tn_runtime *runtime = graph->runtime;
	if (runtime->error.status)
		return TN_PENDING_ERROR;
	if (runtime->tape)
		return tn_fail(&runtime->report, TN_NOT_CAPTURABLE, "capture_end",
			       "a tape has begun and not ended");
	if (graph->is_incomplete)
		return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, "capture_end",
			       "the host has no memory left");
	return TN_OK;
}

static void destroy_later(struct tn_graph *graph)
{
	while (graph->later) {
		struct tn_graph *gone = graph->later;
		graph->later = gone->later;
		gone->later = NULL;
		tn_graph_destroy(gone);
	}
}

void tn_capture_abandon(struct tn_runtime *runtime)
{
	tn_graph *graph = NULL;
	if (runtime->capture && !tn_capture_end((tn_context *)runtime, &graph))
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
								   "no work is captured");
	struct tn_error_info error;
	tn_error_reset(&error);
	runtime->capture = NULL;
	tn_stepped_take_back(&graph->stepped, runtime);
	tn_flags_take_back(&graph->flags);
	tn_status ended =
		tn_device_capture_end(graph->device, &graph->handle, &graph->store, &error);
	destroy_later(graph);
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
		return tn_runtime_fail(runtime, TN_NOT_CAPTURABLE, "graph_replay",
				       "work is captured: a graph is no part of another");
	status = tn_stepped_next(&graph->stepped, runtime);
	if (!status)
		status = tn_device_graph_launch(graph->device, graph->handle, &runtime->report);
	if (status) {
		tn_stepped_take_back(&graph->stepped, runtime);
		return tn_runtime_keep(runtime, &runtime->report);
	}
	for (size_t i = 0; i < graph->storages.n; i++)
		((struct tn_storage *)graph->storages.items[i])->version++;
	tn_flags_replay(&graph->flags);
	tn_ledger_at(runtime->ledger, tn_operation_named(runtime, "replay"))->native++;
	return TN_OK;
}

/* In a forked child handle and memory are the parent's. */
void tn_graph_destroy(tn_graph *graph)
{
	if (!graph)
		return;
	struct tn_graph *capture = graph->runtime->capture;
	if (capture) {
		graph->later = capture->later;
		capture->later = graph;
		return;
	}
	unlink_graph(graph);
	int is_own = graph->device->fork_generation == tn_fork_generation();
	tn_device_graph_release(graph->device, is_own ? graph->handle : NULL, graph->store);
	tn_stepped_release(&graph->stepped);
	tn_flags_release(&graph->flags);
	for (size_t i = 0; i < graph->storages.n; i++)
		tn_storage_release(graph->storages.items[i]);
	for (size_t i = 0; i < graph->kernels.n; i++)
		tn_kernel_destroy(graph->kernels.items[i]);
	tn_mem_free(graph->storages.items);
	tn_mem_free(graph->kernels.items);
	tn_mem_free(graph);
}
