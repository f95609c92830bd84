/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Launches: checked and with a copy of the arguments at the call, run by the interpreter when the
 * stream gets there.
 */
#include "cudart_library.h"

#include <stdlib.h>
#include <string.h>

#include "simcuda.h"

struct launch_work {
	struct sim_kernel *kernel;
	struct ptx_launch launch;
	void *arguments; /* the pointers and, behind them, what they point to */
};

static struct simcuda_counts counts;

struct simcuda_counts simcudaCounts(void)
{
	return counts;
}

void sim_counts_restart(void)
{
	counts = (struct simcuda_counts){0};
}

/* ---- Running ---------------------------------------------------------------------------------*/

static const char *check(void *arg, uint64_t address, size_t size, int write)
{
	return sim_touch(*(const int *)arg, address, size, write);
}

static cudaError_t run(void *data)
{
	struct launch_work *work = data;
	struct ptx_launch launch = work->launch;
	struct ptx_counts more = {0};
	struct ptx_fault fault = {0};
	int device = sim_running_device();
	if (sim_library_is_unloaded(work->kernel->library))
		return sim_say(cudaErrorLaunchFailure, "%s: its library was unloaded",
			       ptx_kernel_name(work->kernel->ptx));
	launch.check = check;
	launch.arg = &device;
	launch.window = sim_arena_window();
	launch.order_seed = sim_settings.order ? sim_settings.order + (unsigned)counts.launches : 0;
	int code = ptx_run(work->kernel->ptx, &launch, &more, &fault);
	counts.instructions += more.instructions;
	counts.sectors += more.sectors;
	counts.written += more.written;
	counts.launches++;
	return code ? sim_say((cudaError_t)code, "%s", fault.text) : cudaSuccess;
}

static void drop(void *data)
{
	struct launch_work *work = data;
	free(work->arguments);
	sim_library_release(work->kernel->library);
}

/* ---- Launching -------------------------------------------------------------------------------*/

static size_t round_up(size_t size)
{
	return (size + 15) / 16 * 16;
}

/* The arguments of cudaLaunchKernel are read at the call. */
static void *copy_arguments(const struct ptx_kernel *ptx, void **arguments)
{
	size_t n = ptx_parameters(ptx), size = round_up(n * sizeof(void *));
	for (size_t i = 0; i < n; i++)
		size += round_up(ptx_parameter_size(ptx, i));
	char *all = calloc(1, size + 1);
	size_t at = round_up(n * sizeof(void *));
	for (size_t i = 0; all && i < n; i++) {
		void *to = all + at;
		memcpy(all + i * sizeof(void *), &to, sizeof(to));
		memcpy(to, arguments[i], ptx_parameter_size(ptx, i));
		at += round_up(ptx_parameter_size(ptx, i));
	}
	return all;
}

static int is_dimension(const unsigned size[3], const int most[3])
{
	for (int i = 0; i < 3; i++)
		if (size[i] == 0 || size[i] > (unsigned)most[i])
			return 0;
	return 1;
}

static cudaError_t check_launch(const struct sim_kernel *kernel, const struct ptx_launch *launch)
{
	static const int grid[3] = {0x7fffffff, 65535, 65535}, block[3] = {1024, 1024, 64};
	struct ptx_attributes attributes;
	ptx_kernel_attributes(kernel->ptx, &attributes);
	const unsigned *b = launch->block, *g = launch->grid;
	if (!is_dimension(g, grid) || !is_dimension(b, block) || b[0] * b[1] * b[2] > 1024)
		return sim_say(cudaErrorInvalidConfiguration,
			       "%s: a grid of %u x %u x %u blocks of %u x %u x %u threads",
			       ptx_kernel_name(kernel->ptx), g[0], g[1], g[2], b[0], b[1], b[2]);
	size_t limit = 48u << 10;
	if ((size_t)kernel->max_dynamic + attributes.static_shared > limit)
		limit = (size_t)kernel->max_dynamic + attributes.static_shared;
	if (launch->shared + attributes.static_shared > limit)
		return sim_say(cudaErrorInvalidValue,
			       "%s: %zu bytes of shared memory and %zu of its own, %zu are allowed",
			       ptx_kernel_name(kernel->ptx), launch->shared,
			       attributes.static_shared, limit);
	return cudaSuccess;
}

static cudaError_t enqueue(struct sim_kernel *kernel, const struct ptx_launch *launch,
			   void **arguments, struct sim_stream *stream)
{
	struct launch_work data = {.kernel = kernel, .launch = *launch};
	data.arguments = copy_arguments(kernel->ptx, arguments);
	data.launch.arguments = data.arguments;
	struct sim_work *work = data.arguments ? sim_work_make(ptx_kernel_name(kernel->ptx), run,
							       &data, sizeof(data))
					       : NULL;
	if (!work) {
		free(data.arguments);
		return cudaErrorMemoryAllocation;
	}
	sim_library_keep(kernel->library);
	work->drop = drop;
	return sim_enqueue(stream, work);
}

static cudaError_t launch_kernel(const void *function, const struct ptx_launch *launch,
				 void **arguments, cudaStream_t handle)
{
	cudaError_t error = cudaSuccess;
	struct sim_kernel *kernel = sim_kernel_find(function, &error);
	struct sim_stream *stream = kernel ? sim_stream_find(handle, &error) : NULL;
	if (!stream)
		return error;
	if (stream->device != sim_device_current())
		return sim_say(cudaErrorInvalidResourceHandle,
			       "%s: the stream is of device %d, the current one is %d",
			       ptx_kernel_name(kernel->ptx), stream->device, sim_device_current());
	if (!arguments && ptx_parameters(kernel->ptx) > 0)
		return sim_say(cudaErrorInvalidValue, "%s: no arguments, %zu expected",
			       ptx_kernel_name(kernel->ptx), ptx_parameters(kernel->ptx));
	error = check_launch(kernel, launch);
	if (!error)
		error = sim_kernel_load(kernel);
	if (!error)
		error = enqueue(kernel, launch, arguments, stream);
	return error ? error : sim_launched(handle);
}

static struct ptx_launch shape_of(dim3 grid, dim3 block, size_t shared)
{
	return (struct ptx_launch){.grid = {grid.x, grid.y, grid.z},
				   .block = {block.x, block.y, block.z},
				   .shared = shared};
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
			     size_t shared, cudaStream_t stream)
{
	const struct ptx_launch launch = shape_of(grid, block, shared);
	cudaError_t error = sim_enter("cudaLaunchKernel");
	return error ? error : sim_leave(launch_kernel(function, &launch, arguments, stream));
}

/* Attributes without effect on sequential blocks are accepted; others are refused. */
static cudaError_t check_attributes(const cudaLaunchConfig_t *config)
{
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const cudaLaunchAttribute *attribute = &config->attrs[i];
		int is_cluster = attribute->id == cudaLaunchAttributeClusterDimension &&
				 attribute->val.clusterDim.x * attribute->val.clusterDim.y *
						 attribute->val.clusterDim.z >
					 1;
		int is_cooperative = attribute->id == cudaLaunchAttributeCooperative &&
				     attribute->val.cooperative;
		if (is_cluster || is_cooperative)
			return sim_say(cudaErrorNotSupported,
				       "clusters and cooperative launches are not simulated");
	}
	return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
				void **arguments)
{
	cudaError_t error = sim_enter("cudaLaunchKernelExC");
	if (error)
		return error;
	const struct ptx_launch launch =
		shape_of(config->gridDim, config->blockDim, config->dynamicSmemBytes);
	error = check_attributes(config);
	if (error)
		return sim_leave(error);
	return sim_leave(launch_kernel(function, &launch, arguments, config->stream));
}
