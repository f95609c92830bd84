/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture of streams: work goes into a graph instead of onto the device.  Each stream of a capture
 * records, for every other, the last work that precedes it, so that an unjoined fork is detected.
 */
#include "cudart.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sim_capture {
	struct sim_capture *next;
	uint64_t id;
	enum cudaStreamCaptureMode mode;
	pthread_t thread;
	struct sim_stream *origin;
	struct sim_graph *graph;
	int is_invalid;
	unsigned n_members;
	uint32_t n_works, last[SIM_MEMBERS];
};

static struct sim_capture *captures;
static uint64_t next_id;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

/* ---- Streams in and out ----------------------------------------------------------------------*/

static cudaError_t enter(struct sim_stream *stream, struct sim_capture *capture)
{
	if (capture->n_members == SIM_MEMBERS)
		return sim_say(cudaErrorNotSupported, "more than %d streams in a capture",
			       SIM_MEMBERS);
	stream->seen = calloc(SIM_MEMBERS, sizeof(*stream->seen));
	if (!stream->seen)
		return cudaErrorMemoryAllocation;
	stream->member = capture->n_members++;
	stream->capture = capture;
	return cudaSuccess;
}

static void leave(struct sim_capture *capture)
{
	for (struct sim_stream *stream = sim_streams(); stream; stream = stream->next)
		if (stream->capture == capture) {
			stream->capture = NULL;
			free(stream->seen);
			stream->seen = NULL;
		}
}

static void drop(struct sim_capture *capture)
{
	struct sim_capture **at = &captures;
	while (*at != capture)
		at = &(*at)->next;
	*at = capture->next;
	leave(capture);
	if (capture->graph)
		sim_graph_destroy(capture->graph);
	free(capture);
}

void sim_captures_drop(void)
{
	while (captures)
		drop(captures);
}

/* ---- What others ask -------------------------------------------------------------------------*/

cudaError_t sim_capture_add(struct sim_stream *stream, struct sim_work *work)
{
	struct sim_capture *capture = stream->capture;
	if (capture->is_invalid) {
		sim_work_drop(work);
		return cudaErrorStreamCaptureInvalidated;
	}
	capture->n_works++;
	capture->last[stream->member] = capture->n_works;
	stream->seen[stream->member] = capture->n_works;
	return sim_graph_add(capture->graph, work);
}

void sim_capture_mark(struct sim_stream *stream, struct sim_mark *mark)
{
	mark->capture = stream->capture->id;
	memcpy(mark->seen, stream->seen, sizeof(mark->seen));
}

static struct sim_capture *find(uint64_t id)
{
	for (struct sim_capture *capture = captures; capture; capture = capture->next)
		if (capture->id == id)
			return capture;
	return NULL;
}

static cudaError_t invalidate(struct sim_capture *capture, cudaError_t error)
{
	capture->is_invalid = 1;
	return error;
}

cudaError_t sim_capture_join(struct sim_stream *stream, const struct sim_mark *mark)
{
	struct sim_capture *capture = find(mark->capture);
	if (stream->capture && !mark->capture)
		return invalidate(stream->capture, cudaErrorStreamCaptureIsolation);
	if (!capture)
		return cudaErrorCapturedEvent;
	if (capture->is_invalid)
		return cudaErrorStreamCaptureInvalidated;
	if (stream->is_null == 1)
		return invalidate(capture, cudaErrorStreamCaptureImplicit);
	if (stream->capture && stream->capture != capture) {
		stream->capture->is_invalid = 1;
		return invalidate(capture, cudaErrorStreamCaptureMerge);
	}
	cudaError_t error = stream->capture ? cudaSuccess : enter(stream, capture);
	for (unsigned i = 0; i < SIM_MEMBERS && !error; i++)
		if (stream->seen[i] < mark->seen[i])
			stream->seen[i] = mark->seen[i];
	return error;
}

/* A global capture forbids such a call in every thread, other captures in their own. */
static int forbids(const struct sim_capture *capture)
{
	int is_own = pthread_equal(capture->thread, pthread_self());
	if (thread_mode == cudaStreamCaptureModeRelaxed || capture->is_invalid)
		return 0;
	if (is_own)
		return capture->mode != cudaStreamCaptureModeRelaxed;
	return capture->mode == cudaStreamCaptureModeGlobal &&
	       thread_mode == cudaStreamCaptureModeGlobal;
}

cudaError_t sim_capture_unsafe(void)
{
	cudaError_t error = cudaSuccess;
	for (struct sim_capture *capture = captures; capture; capture = capture->next)
		if (forbids(capture))
			error = invalidate(capture, cudaErrorStreamCaptureUnsupported);
	return error;
}

cudaError_t sim_capture_refuse(struct sim_stream *stream)
{
	if (!stream->capture)
		return cudaSuccess;
	return invalidate(stream->capture, cudaErrorStreamCaptureUnsupported);
}

cudaError_t sim_capture_implicit(int device)
{
	cudaError_t error = cudaSuccess;
	for (struct sim_stream *stream = sim_streams(); stream; stream = stream->next)
		if (stream->capture && stream->device == device &&
		    !(stream->flags & cudaStreamNonBlocking))
			error = invalidate(stream->capture, cudaErrorStreamCaptureImplicit);
	return error;
}

int sim_capture_is_invalid(const struct sim_stream *stream)
{
	return stream->capture && stream->capture->is_invalid;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static cudaError_t begin(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream)
		return error;
	if (stream->is_null == 1)
		return cudaErrorStreamCaptureUnsupported;
	if (stream->capture)
		return cudaErrorIllegalState;
	struct sim_capture *capture = calloc(1, sizeof(*capture));
	struct sim_graph *graph = sim_graph_make();
	if (!capture || !graph) {
		free(capture);
		if (graph)
			sim_graph_destroy(graph);
		return cudaErrorMemoryAllocation;
	}
	*capture = (struct sim_capture){.next = captures,
					.id = ++next_id,
					.mode = mode,
					.thread = pthread_self(),
					.origin = stream,
					.graph = graph};
	captures = capture;
	error = enter(stream, capture);
	if (error)
		drop(capture);
	return error;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	cudaError_t error = sim_enter("cudaStreamBeginCapture");
	return error ? error : sim_leave(begin(stream, mode));
}

static int is_joined(const struct sim_capture *capture)
{
	for (unsigned i = 0; i < capture->n_members; i++)
		if (capture->origin->seen[i] < capture->last[i])
			return 0;
	return 1;
}

static cudaError_t end(cudaStream_t handle, cudaGraph_t *graph)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	struct sim_capture *capture = stream ? stream->capture : NULL;
	*graph = NULL;
	if (!capture)
		return error ? error : cudaErrorIllegalState;
	if (capture->origin != stream)
		return invalidate(capture, cudaErrorStreamCaptureUnmatched);
	if (capture->mode != cudaStreamCaptureModeRelaxed &&
	    !pthread_equal(capture->thread, pthread_self()))
		return cudaErrorStreamCaptureWrongThread;
	if (capture->is_invalid)
		error = cudaErrorStreamCaptureInvalidated;
	else if (!is_joined(capture))
		error = cudaErrorStreamCaptureUnjoined;
	if (!error) {
		*graph = (cudaGraph_t)capture->graph;
		capture->graph = NULL;
	}
	drop(capture);
	return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	cudaError_t error = sim_enter("cudaStreamEndCapture");
	return error ? error : sim_leave(end(stream, graph));
}

static enum cudaStreamCaptureStatus status_of(const struct sim_stream *stream)
{
	if (!stream->capture)
		return cudaStreamCaptureStatusNone;
	return stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
					   : cudaStreamCaptureStatusActive;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
	cudaError_t error = sim_enter("cudaStreamIsCapturing");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream && stream->is_null == 1)
		error = sim_capture_implicit(stream->device);
	if (stream && !error)
		*status = status_of(stream);
	return sim_leave(error);
}

/* The edges between works are not kept: the graph runs in the order of the calls. */
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, enum cudaStreamCaptureStatus *status,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
				     size_t *n_nodes)
{
	cudaError_t error = sim_enter("cudaStreamGetCaptureInfo");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream)
		return sim_leave(error);
	if (nodes || edges || n_nodes)
		return sim_leave(sim_say(cudaErrorNotSupported, "edges of a capture"));
	*status = status_of(stream);
	if (*status == cudaStreamCaptureStatusActive) {
		if (id)
			*id = stream->capture->id;
		if (graph)
			*graph = (cudaGraph_t)stream->capture->graph;
	}
	return sim_leave(cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	cudaError_t error = sim_enter("cudaThreadExchangeStreamCaptureMode");
	if (error)
		return error;
	enum cudaStreamCaptureMode before = thread_mode;
	thread_mode = *mode;
	*mode = before;
	return sim_leave(cudaSuccess);
}
