/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.capture/1: CUDA graphs.  The capture is relaxed: memory and kernels do not come from
 * the stream and are not captured.  Calls that CUDA forbids during a capture would invalidate all
 * of it, so they are refused before they reach CUDA (cuda_stream_refuse).
 */
#include <string.h>

#include "ranges.h"
#include "status.h"
#include "stream.h"

enum { MOST_NAMES = 16 };

struct cuda_graph {
	struct cuda_graph *next;
	cudaGraphExec_t exec;
	/* Its operations, for errors: the ones captured last. */
	const char *names[MOST_NAMES];
	unsigned n_names;
};

/* ---- Life ------------------------------------------------------------------------------------*/

static void destroy(struct cuda_device *device, struct cuda_graph *graph)
{
	if (graph->exec && !device->loss.status)
		(void)device->rt->cudaGraphExecDestroy(graph->exec);
	tn_plugin_free(device->host, graph);
}

void cuda_graphs_close(struct cuda_device *device)
{
	for (struct cuda_stream *stream; (stream = cuda_stream_captured(device));) {
		cudaGraph_t captured = NULL;
		if (!device->loss.status)
			(void)device->rt->cudaStreamEndCapture(cuda_stream_handle(stream),
							       &captured);
		if (captured)
			(void)device->rt->cudaGraphDestroy(captured);
		cuda_stream_capture(device, stream, 0);
	}
	while (device->graphs) {
		struct cuda_graph *graph = device->graphs;
		device->graphs = graph->next;
		destroy(device, graph);
	}
}

static struct cuda_graph **find_graph(struct cuda_device *device, const void *graph)
{
	struct cuda_graph **link = &device->graphs;
	while (*link && *link != graph)
		link = &(*link)->next;
	return link;
}

/* ---- Entries ---------------------------------------------------------------------------------*/

static tn_status take_arguments(struct cuda_device *device, const struct tn_graph_args *args,
				const char *operation, struct tn_graph_args *taken,
				struct cuda_stream **stream)
{
	tn_status status = cuda_take(device, taken, sizeof(*taken), args, 0, operation);
	return status ? status : cuda_stream_of(device, &taken->call, operation, stream);
}

static tn_status capture_begin(void *device, const struct tn_graph_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "capture_begin");
	struct cuda_device *own = device;
	struct tn_graph_args taken;
	struct cuda_stream *stream;
	tn_status status = take_arguments(own, args, "capture_begin", &taken, &stream);
	if (status)
		return status;
	if (cuda_stream_is_captured(stream))
		return tn_plugin_fail(taken.call.error, TN_STATE, "capture_begin",
				      "the stream is being captured already");
	cudaError_t code = own->rt->cudaStreamBeginCapture(cuda_stream_handle(stream),
							   cudaStreamCaptureModeRelaxed);
	if (code != cudaSuccess)
		return cuda_stream_fail(own, stream, taken.call.error, code, "capture_begin",
					"cudaStreamBeginCapture");
	cuda_stream_capture(own, stream, 1);
	cuda_stream_mark(stream);
	return TN_OK;
}

/* An invalidated capture, or a graph that cannot be instantiated, is a failure of the step and not
 * of the device. */
static tn_status fail_capture(struct cuda_device *device, const struct cuda_stream *stream,
			      struct tn_error_info *error, cudaError_t code, const char *function)
{
	tn_status status = cuda_stream_fail(device, stream, error, code, "capture_end", function);
	if (status != TN_BACKEND_FAILURE)
		return status;
	if (error)
		error->status = TN_NOT_CAPTURABLE;
	return TN_NOT_CAPTURABLE;
}

static tn_status make_graph(struct cuda_device *device, const struct cuda_stream *stream,
			    struct tn_error_info *error, cudaGraph_t captured,
			    struct cuda_graph **made)
{
	struct cuda_graph *graph = tn_plugin_alloc(device->host, sizeof(*graph));
	if (!graph)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "capture_end",
				      "no memory for a graph");
	cudaError_t code = device->rt->cudaGraphInstantiate(&graph->exec, captured, 0);
	if (code != cudaSuccess) {
		tn_plugin_free(device->host, graph);
		return fail_capture(device, stream, error, code, "cudaGraphInstantiate");
	}
	*made = graph;
	return TN_OK;
}

static tn_status capture_end(void *device, const struct tn_graph_args *args, void **graph)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "capture_end");
	struct cuda_device *own = device;
	struct tn_graph_args taken;
	struct cuda_stream *stream;
	struct cuda_graph *made = NULL;
	cudaGraph_t captured = NULL;
	tn_status status = take_arguments(own, args, "capture_end", &taken, &stream);
	if (status)
		return status;
	if (!cuda_stream_is_captured(stream))
		return tn_plugin_fail(taken.call.error, TN_STATE, "capture_end",
				      "the stream is not being captured");
	cuda_stream_capture(own, stream, 0);
	cudaError_t code = own->rt->cudaStreamEndCapture(cuda_stream_handle(stream), &captured);
	const char *names[MOST_NAMES];
	unsigned n_names = cuda_stream_marked(stream, names, MOST_NAMES);
	if (code != cudaSuccess)
		return fail_capture(own, stream, taken.call.error, code, "cudaStreamEndCapture");
	status = make_graph(own, stream, taken.call.error, captured, &made);
	if (captured)
		(void)own->rt->cudaGraphDestroy(captured);
	if (status)
		return status;
	memcpy(made->names, names, n_names * sizeof(*names));
	made->n_names = n_names;
	made->next = own->graphs;
	own->graphs = made;
	*graph = made;
	return TN_OK;
}

static tn_status graph_launch(void *device, const struct tn_graph_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "graph_launch");
	struct cuda_device *own = device;
	struct tn_graph_args taken;
	struct cuda_stream *stream;
	tn_status status = take_arguments(own, args, "graph_launch", &taken, &stream);
	if (!status)
		status = cuda_stream_refuse(stream, taken.call.error, "graph_launch");
	if (status)
		return status;
	const struct cuda_graph *graph = *find_graph(own, taken.graph);
	if (!graph)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "graph_launch",
				      "the graph does not belong to this device");
	for (unsigned i = 0; i < graph->n_names; i++)
		cuda_stream_note(stream, graph->names[i]);
	cudaError_t code = own->rt->cudaGraphLaunch(graph->exec, cuda_stream_handle(stream));
	if (code != cudaSuccess)
		return cuda_stream_fail(own, stream, taken.call.error, code, "graph_launch",
					"cudaGraphLaunch");
	return TN_OK;
}

static tn_status graph_release(void *device, const struct tn_graph_args *args)
{
	struct cuda_device *own = device;
	struct tn_graph_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "graph_release");
	if (status && status != TN_DEVICE_LOST)
		return status;
	struct cuda_graph **link = find_graph(own, taken.graph), *gone = *link;
	if (!gone)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "graph_release",
				      "the graph does not belong to this device");
	*link = gone->next;
	destroy(own, gone);
	return status;
}

const struct tn_capture_table cuda_capture_table = {
	.struct_size = sizeof(cuda_capture_table),
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_launch = graph_launch,
	.graph_release = graph_release,
};
