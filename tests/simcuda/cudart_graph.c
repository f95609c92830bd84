/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Graphs: lists of work in the order of its capture, and their executable form.
 */
#include "cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exec {
	struct exec *next;
	struct sim_graph *graph;
	struct sim_place last; /* the end of its last launch, which the next has to wait for */
};

static struct sim_graph *graphs; /* those of execs too */
static struct exec *execs;

struct sim_graph *sim_graph_make(void)
{
	struct sim_graph *graph = calloc(1, sizeof(*graph));
	if (!graph)
		return NULL;
	graph->next = graphs;
	graphs = graph;
	return graph;
}

static void clear(struct sim_graph *graph)
{
	for (size_t i = 0; i < graph->n; i++)
		sim_work_drop(graph->works[i]);
	free(graph->works);
	graph->works = NULL;
	graph->n = graph->capacity = 0;
}

void sim_graph_destroy(struct sim_graph *graph)
{
	struct sim_graph **at = &graphs;
	while (*at != graph)
		at = &(*at)->next;
	*at = graph->next;
	clear(graph);
	free(graph);
}

cudaError_t sim_graph_add(struct sim_graph *graph, struct sim_work *work)
{
	if (graph->n == graph->capacity) {
		size_t wanted = graph->capacity ? 2 * graph->capacity : 16;
		struct sim_work **more = realloc(graph->works, wanted * sizeof(struct sim_work *));
		if (!more) {
			sim_work_drop(work);
			return cudaErrorMemoryAllocation;
		}
		graph->works = more;
		graph->capacity = wanted;
	}
	graph->works[graph->n++] = work;
	return cudaSuccess;
}

static cudaError_t copy(struct sim_graph *to, const struct sim_graph *from)
{
	cudaError_t error = cudaSuccess;
	for (size_t i = 0; i < from->n && !error; i++)
		error = sim_graph_add(to, sim_work_keep(from->works[i]));
	return error;
}

static int is_of_exec(const struct sim_graph *graph)
{
	for (const struct exec *exec = execs; exec; exec = exec->next)
		if (exec->graph == graph)
			return 1;
	return 0;
}

static struct sim_graph *find(cudaGraph_t handle)
{
	for (struct sim_graph *graph = graphs; graph; graph = graph->next)
		if (graph == (struct sim_graph *)handle && !is_of_exec(graph))
			return graph;
	sim_say(cudaErrorInvalidValue, "%p is no graph", (void *)handle);
	return NULL;
}

static struct exec *find_exec(cudaGraphExec_t handle)
{
	for (struct exec *exec = execs; exec; exec = exec->next)
		if (exec == (struct exec *)handle)
			return exec;
	sim_say(cudaErrorInvalidValue, "%p is no graph that can be launched", (void *)handle);
	return NULL;
}

static void drop_exec(struct exec *exec)
{
	struct exec **at = &execs;
	while (*at != exec)
		at = &(*at)->next;
	*at = exec->next;
	sim_graph_destroy(exec->graph);
	free(exec);
}

void sim_graphs_drop(void)
{
	while (execs)
		drop_exec(execs);
	while (graphs)
		sim_graph_destroy(graphs);
}

size_t sim_graphs_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (const struct sim_graph *graph = graphs; graph; graph = graph->next) {
		live++;
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "a graph of %zu works%s\n", graph->n,
						   is_of_exec(graph) ? ", instantiated" : "");
	}
	return live;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

cudaError_t cudaGraphDestroy(cudaGraph_t handle)
{
	cudaError_t error = sim_enter("cudaGraphDestroy");
	if (error)
		return error;
	struct sim_graph *graph = find(handle);
	if (!graph)
		return sim_leave(cudaErrorInvalidValue);
	sim_graph_destroy(graph);
	return sim_leave(cudaSuccess);
}

/* The number of nodes; the nodes themselves are not available. */
cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *n)
{
	cudaError_t error = sim_enter("cudaGraphGetNodes");
	if (error)
		return error;
	const struct sim_graph *graph = find(handle);
	if (!graph)
		return sim_leave(cudaErrorInvalidValue);
	if (nodes)
		return sim_leave(sim_say(cudaErrorNotSupported, "nodes of a graph"));
	*n = graph->n;
	return sim_leave(cudaSuccess);
}

static cudaError_t instantiate(cudaGraphExec_t *handle, cudaGraph_t graph_handle)
{
	const struct sim_graph *graph = find(graph_handle);
	if (!graph)
		return cudaErrorInvalidValue;
	struct exec *exec = calloc(1, sizeof(*exec));
	struct sim_graph *own = exec ? sim_graph_make() : NULL;
	if (!own) {
		free(exec);
		return cudaErrorMemoryAllocation;
	}
	*exec = (struct exec){.next = execs, .graph = own};
	execs = exec;
	cudaError_t error = copy(own, graph);
	if (error)
		drop_exec(exec);
	else
		*handle = (cudaGraphExec_t)exec;
	return error;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	cudaError_t error = sim_enter("cudaGraphInstantiate");
	(void)flags;
	return error ? error : sim_leave(instantiate(exec, graph));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
					  unsigned long long flags)
{
	cudaError_t error = sim_enter("cudaGraphInstantiateWithFlags");
	(void)flags;
	return error ? error : sim_leave(instantiate(exec, graph));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle)
{
	cudaError_t error = sim_enter("cudaGraphExecDestroy");
	if (error)
		return error;
	struct exec *exec = find_exec(handle);
	if (!exec)
		return sim_leave(cudaErrorInvalidValue);
	drop_exec(exec);
	return sim_leave(cudaSuccess);
}

static cudaError_t nothing(void *data)
{
	(void)data;
	return cudaSuccess;
}

/* This launch waits for the position of the last one. */
static cudaError_t wait_for_last(struct sim_stream *stream, const struct exec *exec)
{
	if (stream->capture || sim_is_reached(exec->last))
		return cudaSuccess;
	struct sim_work *work = sim_work_make("cudaGraphLaunch", nothing, NULL, 0);
	return work ? sim_enqueue_after(stream, work, exec->last) : cudaErrorMemoryAllocation;
}

static cudaError_t launch(cudaGraphExec_t handle, cudaStream_t stream_handle)
{
	cudaError_t error = cudaSuccess;
	struct exec *exec = find_exec(handle);
	struct sim_stream *stream = sim_stream_find(stream_handle, &error);
	if (!exec || !stream)
		return exec ? error : cudaErrorInvalidValue;
	error = wait_for_last(stream, exec);
	for (size_t i = 0; i < exec->graph->n && !error; i++)
		error = sim_enqueue(stream, sim_work_keep(exec->graph->works[i]));
	if (!stream->capture)
		exec->last = sim_place_now(stream);
	return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = sim_enter("cudaGraphLaunch");
	return error ? error : sim_leave(launch(exec, stream));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream_handle)
{
	cudaError_t error = sim_enter("cudaGraphUpload");
	if (error)
		return error;
	if (!find_exec(handle))
		return sim_leave(cudaErrorInvalidValue);
	sim_stream_find(stream_handle, &error);
	return sim_leave(error);
}

/* Work of the same kinds in the same order can be updated in place. */
static int is_alike(const struct sim_graph *one, const struct sim_graph *other)
{
	if (one->n != other->n)
		return 0;
	for (size_t i = 0; i < one->n; i++)
		if (one->works[i]->run != other->works[i]->run ||
		    strcmp(one->works[i]->name, other->works[i]->name) != 0)
			return 0;
	return 1;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
				cudaGraphExecUpdateResultInfo *info)
{
	cudaError_t error = sim_enter("cudaGraphExecUpdate");
	if (error)
		return error;
	struct exec *exec = find_exec(handle);
	const struct sim_graph *graph = find(graph_handle);
	if (!exec || !graph)
		return sim_leave(cudaErrorInvalidValue);
	if (info)
		memset(info, 0, sizeof(*info));
	if (!is_alike(exec->graph, graph)) {
		if (info)
			info->result = cudaGraphExecUpdateErrorTopologyChanged;
		return sim_leave(cudaErrorGraphExecUpdateFailure);
	}
	clear(exec->graph);
	return sim_leave(copy(exec->graph, graph));
}
