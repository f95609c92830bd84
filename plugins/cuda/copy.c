/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.copy/1: fill and copy.  Kernels that only move elements are specialised by the size
 * of a unit, which is made as wide as lengths, strides and addresses allow.  Where input and output
 * are dense along different axes, tiles are transposed in shared memory, so that both sides are
 * read and written in whole lines.
 */
#include <string.h>

#include "gather.h"
#include "kernel.h"
#include "memory.h"
#include "operand.h"
#include "ranges.h"
#include "status.h"
#include "stream.h"

enum { BLOCK = 256, TILE = 32, TILE_ROWS = 8 };

/* Same layout as in kernels/copy.cu.  Addresses in bytes, strides in units. */
struct walk {
	uint64_t from, to;
	uint64_t n;        /* units; in a transposition, tiles */
	uint64_t value[2]; /* of a fill: a unit */
	uint64_t length[TN_MAX_RANK];
	int64_t in[TN_MAX_RANK];
	int64_t out[TN_MAX_RANK];
};

struct movement {
	struct tn_plugin_nest
		nest;  /* view 0 is the input, or a fill's output; the last is the output */
	uint32_t size; /* of a unit */
	uint64_t value[2];
	int is_fill;
};

/* ---- Units -----------------------------------------------------------------------------------*/

/* Can two neighbours along the last axis form one unit? */
static int can_widen(const struct movement *m)
{
	const struct tn_plugin_nest *nest = &m->nest;
	uint32_t last = nest->rank - 1;
	if (m->size == 16 || nest->lengths[last] % 2)
		return 0;
	for (uint32_t k = 0; k < nest->n_views; k++) {
		const struct tn_plugin_view *view = &nest->views[k];
		if (view->strides[last] != 1 || cuda_view_address(view) % (2 * m->size))
			return 0;
		for (uint32_t d = 0; d < last; d++)
			if (view->strides[d] % 2)
				return 0;
	}
	return 1;
}

static uint64_t magnitude(int64_t stride)
{
	return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* The axes in the output's memory order, the densest last. */
static void sort_axes(struct movement *m)
{
	struct tn_plugin_nest *nest = &m->nest;
	const int64_t *stride = nest->views[nest->n_views - 1].strides;
	for (uint32_t i = 1; i < nest->rank; i++)
		for (uint32_t d = i; d > 0 && magnitude(stride[d - 1]) < magnitude(stride[d]);
		     d--) {
			int64_t length = nest->lengths[d];
			nest->lengths[d] = nest->lengths[d - 1];
			nest->lengths[d - 1] = length;
			for (uint32_t k = 0; k < nest->n_views; k++) {
				int64_t *s = nest->views[k].strides, kept = s[d];
				s[d] = s[d - 1];
				s[d - 1] = kept;
			}
		}
}

static void prepare_nest(struct movement *m)
{
	struct tn_plugin_nest *nest = &m->nest;
	tn_plugin_nest_simplify(nest);
	sort_axes(m);
	tn_plugin_nest_simplify(nest);
	tn_plugin_nest_pad(nest, 1, 0);
	uint32_t last = nest->rank - 1;
	/* Neighbours along the last axis form wider units. */
	while (can_widen(m)) {
		nest->lengths[last] /= 2;
		for (uint32_t k = 0; k < nest->n_views; k++)
			for (uint32_t d = 0; d < last; d++)
				nest->views[k].strides[d] /= 2;
		m->size *= 2;
	}
}

/* ---- Kernels ---------------------------------------------------------------------------------*/

static void fill_walk(const struct movement *m, struct walk *walk)
{
	const struct tn_plugin_nest *nest = &m->nest;
	const struct tn_plugin_view *in = &nest->views[0], *out = &nest->views[nest->n_views - 1];
	memset(walk, 0, sizeof(*walk));
	walk->from = cuda_view_address(in);
	walk->to = cuda_view_address(out);
	walk->n = tn_plugin_count(nest->rank, nest->lengths);
	memcpy(walk->value, m->value, sizeof(walk->value));
	for (uint32_t d = 0; d < nest->rank; d++) {
		walk->length[d] = (uint64_t)nest->lengths[d];
		walk->in[d] = in->strides[d];
		walk->out[d] = out->strides[d];
	}
}

/* The axis along which the input is dense, if it is not the output's dense axis, which is the last,
 * and both are long enough for tiles; else -1. */
static int turned_axis(const struct movement *m)
{
	const struct tn_plugin_nest *nest = &m->nest;
	uint32_t last = nest->rank - 1;
	const int64_t *in = nest->views[0].strides, *out = nest->views[nest->n_views - 1].strides;
	if (m->is_fill || m->size > 8 || out[last] != 1 || in[last] == 1 || in[last] == 0 ||
	    nest->lengths[last] < TILE / 2)
		return -1;
	for (uint32_t d = 0; d < last; d++)
		if (in[d] == 1 && nest->lengths[d] >= TILE / 2)
			return (int)d;
	return -1;
}

static tn_status run_turn(struct cuda_job *job, struct movement *m, uint32_t turned)
{
	const uint32_t rank = m->nest.rank;
	const struct cuda_define defines[] = {{"SIZE", m->size}, {"RANK", rank}, {"WIDE", 1}};
	struct cuda_kernel *kernel;
	struct walk walk;
	void *arguments[] = {&walk};
	tn_status status = cuda_kernel_get(job, "copy", "copy_turn", defines, 3, &kernel);
	if (status)
		return status;
	fill_walk(m, &walk);
	/* Makes axis `turned` the last but one. */
	for (uint32_t d = turned; d + 2 < rank; d++) {
		uint64_t length = walk.length[d];
		int64_t in = walk.in[d], out = walk.out[d];
		walk.length[d] = walk.length[d + 1];
		walk.in[d] = walk.in[d + 1];
		walk.out[d] = walk.out[d + 1];
		walk.length[d + 1] = length;
		walk.in[d + 1] = in;
		walk.out[d + 1] = out;
	}
	walk.n = (walk.length[rank - 1] + TILE - 1) / TILE;
	walk.n *= (walk.length[rank - 2] + TILE - 1) / TILE;
	for (uint32_t d = 0; d + 2 < rank; d++)
		walk.n *= walk.length[d];
	const struct cuda_grid grid = {
		cuda_blocks(job->device, walk.n, 1), 1, 1, TILE, TILE_ROWS, 1, 0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

static tn_status run_movement(struct cuda_job *job, struct movement *m)
{
	int turned = turned_axis(m);
	if (turned >= 0)
		return run_turn(job, m, (uint32_t)turned);
	const struct cuda_define defines[] = {{"SIZE", m->size},
					      {"RANK", m->nest.rank},
					      {"WIDE", tn_plugin_nest_is_wide(&m->nest)}};
	struct cuda_kernel *kernel;
	struct walk walk;
	void *arguments[] = {&walk};
	tn_status status = cuda_kernel_get(job, "copy", m->is_fill ? "copy_fill" : "copy_walk",
					   defines, 3, &kernel);
	if (status)
		return status;
	fill_walk(m, &walk);
	const struct cuda_grid grid = {
		cuda_blocks(job->device, walk.n, BLOCK), 1, 1, BLOCK, 1, 1, 0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

/* ---- fill ------------------------------------------------------------------------------------*/

static tn_status check_fill(const struct tn_fill_args *args)
{
	const struct tn_scalar *value = &args->value;
	const struct tn_operand place = {
		.buffer = value->buffer, .offset = value->offset, .dtype = value->dtype};
	tn_status status = tn_plugin_check_operand(&args->call, "fill", "output", 0, &args->output,
						   CUDA_STORAGE, TN_PLUGIN_WRITES);
	if (status)
		return status;
	if (value->dtype != args->output.dtype || value->on_device > 1 ||
	    (value->dtype == TN_C128 && !value->on_device))
		return tn_plugin_fail(
			args->call.error, TN_UNSUPPORTED, "fill",
			"a value of dtype %d (on_device %u) for an output of dtype %d",
			(int)value->dtype, value->on_device, (int)args->output.dtype);
	if (!value->on_device)
		return TN_OK;
	return tn_plugin_check_operand(&args->call, "fill", "value", 0, &place, CUDA_STORAGE,
				       TN_PLUGIN_READS);
}

static tn_status fill(void *device, const struct tn_fill_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "fill");
	struct tn_fill_args own;
	struct cuda_job job;
	struct movement m = {.is_fill = 0};
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "fill");
	if (!status)
		status = check_fill(&own);
	if (!status)
		status = tn_plugin_workspace(&own.call, "fill", 0, &goes_on);
	if (status || !goes_on)
		return status;
	/* Copies one value to every element: the input is a view with strides 0. */
	struct tn_operand input = own.output;
	tn_plugin_nest_begin(&m.nest, own.output.rank, own.output.rank, own.output.shape);
	m.size = (uint32_t)tn_dtype_size(own.output.dtype);
	m.is_fill = !own.value.on_device;
	if (m.is_fill) {
		/* The value repeated over 16 bytes. */
		uint64_t bits = own.value.bits;
		if (m.size < 8)
			bits &= (UINT64_C(1) << (8 * m.size)) - 1;
		for (uint32_t bytes = m.size; bytes < 8; bytes *= 2)
			bits |= bits << (8 * bytes);
		m.value[0] = m.value[1] = bits;
	} else {
		input.buffer = own.value.buffer;
		input.offset = own.value.offset;
		memset(input.strides, 0, sizeof(input.strides));
		tn_plugin_nest_add(&m.nest, &input, 1);
	}
	tn_plugin_nest_add(&m.nest, &own.output, 1);
	prepare_nest(&m);
	return run_movement(&job, &m);
}

/* ---- copy ------------------------------------------------------------------------------------*/

static int is_dense(const struct movement *m)
{
	return m->nest.rank == 1 && m->nest.views[0].strides[0] == 1 &&
	       m->nest.views[1].strides[0] == 1;
}

/* One run of bytes: a runtime copy, which detects by itself if a side is pinned memory. */
static tn_status run_dense(struct cuda_job *job, const struct movement *m)
{
	cuda_stream_note(job->stream, job->operation);
	cudaError_t code = job->device->rt->cudaMemcpyAsync(
		cuda_pointer(cuda_view_address(&m->nest.views[1])),
		cuda_pointer(cuda_view_address(&m->nest.views[0])),
		(size_t)m->nest.lengths[0] * m->size, cudaMemcpyDefault,
		cuda_stream_handle(job->stream));
	if (code != cudaSuccess)
		return cuda_stream_fail(job->device, job->stream, job->call->error, code, "copy",
					"cudaMemcpyAsync");
	return TN_OK;
}

static tn_status copy(void *device, const struct tn_copy_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "copy");
	struct tn_copy_args own;
	struct cuda_job job;
	struct movement m = {.is_fill = 0};
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "copy");
	const struct tn_call *call = &own.call;
	if (!status)
		status = tn_plugin_check_operand(call, "copy", "input", 0, &own.input, CUDA_STORAGE,
						 TN_PLUGIN_READS);
	if (!status)
		status = tn_plugin_check_operand(call, "copy", "output", 0, &own.output,
						 CUDA_STORAGE, TN_PLUGIN_WRITES);
	if (!status && own.input.dtype != own.output.dtype)
		status = tn_plugin_fail(
			call->error, TN_DTYPE, "copy",
			"input of dtype %d, output of dtype %d: expected equal dtypes",
			(int)own.input.dtype, (int)own.output.dtype);
	if (!status)
		status = tn_plugin_check_shape(call, "copy", "input", 0, &own.input,
					       own.output.rank, own.output.shape);
	if (!status)
		status = tn_plugin_workspace(&own.call, "copy", 0, &goes_on);
	if (status || !goes_on)
		return status;
	m.size = (uint32_t)tn_dtype_size(own.output.dtype);
	tn_plugin_nest_begin(&m.nest, own.output.rank, own.output.rank, own.output.shape);
	tn_plugin_nest_add(&m.nest, &own.input, 1);
	tn_plugin_nest_add(&m.nest, &own.output, 1);
	prepare_nest(&m);
	if (cuda_view_address(&m.nest.views[0]) == cuda_view_address(&m.nest.views[1]) &&
	    is_dense(&m))
		return TN_OK; /* copies onto itself */
	return is_dense(&m) ? run_dense(&job, &m) : run_movement(&job, &m);
}

const struct tn_copy_table cuda_copy_table = {
	.struct_size = sizeof(cuda_copy_table),
	.fill = fill,
	.copy = copy,
	.gather = cuda_gather,
	.scatter_add = cuda_scatter_add,
};
