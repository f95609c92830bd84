/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.capture/1.  A graph holds pieces of work, and the buffers that they use: freeing one
 * of those is detected as with waiting work.  A replay is one piece of work that runs them in turn.
 */
#include <string.h>

#include "mock.h"

struct mock_graph {
	struct mock_graph *next;
	struct mock_work *first, *last;
	uint64_t n_waiting; /* replays that have not run */
};

/* ---- Graphs ----------------------------------------------------------------------------------*/

void mock_graph_add(struct mock_graph *graph, struct mock_work *work)
{
	work->next = NULL;
	if (graph->last)
		graph->last->next = work;
	else
		graph->first = work;
	graph->last = work;
}

static void free_graph(struct mock_device *device, struct mock_graph *graph)
{
	while (graph->first) {
		struct mock_work *work = graph->first;
		graph->first = work->next;
		mock_work_free(device, work);
	}
	mock_host_free(device, graph);
}

void mock_graphs_free(struct mock_device *device)
{
	while (device->graphs) {
		struct mock_graph *graph = device->graphs;
		device->graphs = graph->next;
		free_graph(device, graph);
	}
	if (device->captured) {
		free_graph(device, device->captured->graph);
		device->captured->graph = NULL;
	}
	device->captured = NULL;
}

static struct mock_graph **find_graph(struct mock_device *device, const void *graph)
{
	struct mock_graph **link = &device->graphs;
	while (*link && *link != graph)
		link = &(*link)->next;
	return link;
}

tn_status mock_capture_refuse(struct mock_device *device, const struct tn_call *call,
			      const char *operation)
{
	const struct mock_stream *stream = mock_stream_find(device, call->stream);
	if (!stream || !stream->graph)
		return TN_OK;
	return tn_plugin_fail(call->error, TN_NOT_CAPTURABLE, operation,
			      "the stream is being captured; its work cannot be waited for");
}

/* ---- Entries ---------------------------------------------------------------------------------*/

static tn_status capture_begin(void *device, const struct tn_graph_args *args)
{
	struct mock_device *mock = device;
	struct tn_graph_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "capture_begin");
	if (status)
		return status;
	if (mock->captured)
		return tn_plugin_fail(own.call.error, TN_STATE, "capture_begin",
				      "a stream is being captured already");
	struct mock_graph *graph = mock_host_alloc(mock, sizeof(*graph));
	if (!graph)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "capture_begin",
				      "no memory for a graph");
	memset(graph, 0, sizeof(*graph));
	mock->captured = mock_stream_find(mock, own.call.stream);
	mock->captured->graph = graph;
	return TN_OK;
}

static tn_status capture_end(void *device, const struct tn_graph_args *args, void **graph)
{
	struct mock_device *mock = device;
	struct tn_graph_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "capture_end");
	if (status)
		return status;
	struct mock_stream *stream = mock_stream_find(mock, own.call.stream);
	if (!stream->graph)
		return tn_plugin_fail(own.call.error, TN_STATE, "capture_end",
				      "the stream is not being captured");
	stream->graph->next = mock->graphs;
	mock->graphs = stream->graph;
	*graph = stream->graph;
	stream->graph = NULL;
	mock->captured = NULL;
	return TN_OK;
}

void mock_replay_end(struct mock_graph *graph)
{
	graph->n_waiting--;
}

static tn_status run_replay(struct mock_device *device, struct mock_work *work,
			    struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (struct mock_work *each = work->graph->first; each && !status; each = each->next)
		status = each->run(device, each, error);
	return status;
}

static tn_status graph_launch(void *device, const struct tn_graph_args *args)
{
	struct mock_device *mock = device;
	struct tn_graph_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "graph_launch");
	if (!status)
		status = mock_capture_refuse(mock, &own.call, "graph_launch");
	if (status)
		return status;
	struct mock_graph *graph = *find_graph(mock, own.graph);
	if (!graph)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "graph_launch",
				      "the graph does not belong to this device");
	struct mock_packing packing = {
		.device = mock, .error = own.call.error, .operation = "replay"};
	status = mock_pack_begin(&packing, 0, 0);
	if (status)
		return status;
	packing.work->graph = graph;
	graph->n_waiting++;
	return mock_pack_end(&packing, own.call.stream, run_replay);
}

/* On a lost device too: its replays are dropped. */
static tn_status graph_release(void *device, const struct tn_graph_args *args)
{
	struct mock_device *mock = device;
	struct tn_graph_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, "graph_release");
	if (status)
		return status;
	struct mock_graph **link = find_graph(mock, own.graph), *gone = *link;
	if (!gone)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "graph_release",
				      "the graph does not belong to this device");
	if (gone->n_waiting && !mock->loss.status)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "graph_release",
				      "%llu replays of the graph have not run",
				      (unsigned long long)gone->n_waiting);
	*link = gone->next;
	free_graph(mock, gone);
	return TN_OK;
}

const struct tn_capture_table mock_capture_table = {
	.struct_size = sizeof(mock_capture_table),
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_launch = graph_launch,
	.graph_release = graph_release,
};
