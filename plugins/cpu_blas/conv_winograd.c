/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions of 3 x 3 weights and stride 1 by Winograd's F(4x4, 3x3), see kernels/winograd.h:
 * forward, and the input's gradient, which is the same with the weights rotated and the two images
 * exchanged.  (The weights' gradient is in conv_winograd_gradient.c.)
 *
 * The products are few, so the memory traffic between the transforms is the bottleneck: V and M are
 * 2.25 times as large as the images, U four times as large as the weights.  A block that fits L2
 * (1 MB here) stays there and the rest is streamed once for each block:
 *
 *     few channels   U is computed once.  A unit of work is a block of tiles: V of all its channels
 *                    stays (330 KB for 36 tiles of 64), M of one panel (170 KB) is converted to
 *                    pixels at once, U is streamed from L2 or L3, and the next panel's rows are
 *                    prefetched while one is multiplied.
 *     many channels  U would be tens of megabytes.  V of all tiles is computed once, and a unit of
 *                    work is one panel of output channels: slice after slice of its weights is
 *                    transformed (295 KB for 64 x 32) and used at once for up to 128 tiles, adding
 *                    to M (590 KB), while V is streamed.
 */
#include "conv_winograd.h"

#include <string.h>

enum { PLANES = WINOGRAD_PLANES, TILE = WINOGRAD_TILE };

/* Floats of U up to which it is streamed. */
#define MOST_WEIGHTS 700000
/* Tiles of a unit, with few channels; few: 64. */
#define STREAM_TILES 36
#define STREAM_TILES_DEEP 24
#define DEEP 64
/* Tiles of a unit, and channels of a slice, with many. */
#define RESIDENT_TILES 128
#define RESIDENT_SLICE 64
/* Rows of a panel that are transformed in one piece. */
#define WEIGHT_ROWS 16

struct job {
	const struct cpu_conv *conv;
	const struct cpu_winograd *kernels;
	struct cpu_winograd_image in, out, residual;
	struct cpu_winograd_grid grid;
	struct cpu_winograd_weights weights;
	struct cpu_winograd_finish finish;
	int64_t tiles, depth, columns, panels;
	int many;                 /* channels */
	int64_t block, blocks;    /* tiles of a unit */
	int64_t slice, row;       /* channels of a slice; floats that they take */
	int64_t u_plane, u_panel; /* floats from plane to plane, panel to panel, slice to slice */
	int64_t v_plane, v_slice;
	int64_t m_plane;
	int64_t bias_floats, u_floats, v_floats, scratch_floats;
	int64_t units;
	float *bias, *u, *v, *scratch;
};

/* ---- The plan --------------------------------------------------------------------------------*/

static void take_images(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	int forward = conv->pass == CPU_CONV_FORWARD;
	struct cpu_winograd_image x = winograd_image(&conv->x, conv->h, conv->w, conv->c);
	struct cpu_winograd_image y = winograd_image(&conv->y, conv->p, conv->q, conv->o);
	job->in = forward ? x : y;
	job->out = forward ? y : x;
	job->depth = job->in.channels;
	job->columns = job->out.channels;
	job->grid.rows = winograd_divide_up(job->out.height, TILE);
	job->grid.columns = winograd_divide_up(job->out.width, TILE);
	job->grid.top = forward ? conv->padding[0] : 2 - conv->padding[0];
	job->grid.left = forward ? conv->padding[1] : 2 - conv->padding[1];
	job->tiles = conv->n * job->grid.rows * job->grid.columns;
	job->panels = winograd_divide_up(job->columns, job->kernels->panel);
	job->weights.data = conv->weights;
	job->weights.column = conv->w_strides[forward ? 0 : 1];
	job->weights.row = conv->w_strides[forward ? 1 : 0];
	job->weights.rotated = !forward;
}

static void plan_winograd(struct job *job, const struct cpu_conv *conv)
{
	*job = (struct job){.conv = conv, .kernels = conv->kernels->winograd};
	take_images(job);
	double weights = (double)PLANES * (double)job->depth * (double)job->columns;
	job->many = weights > MOST_WEIGHTS;
	job->block = job->many           ? RESIDENT_TILES
		     : job->depth > DEEP ? STREAM_TILES_DEEP
					 : STREAM_TILES;
	job->block = winograd_least(job->block, job->tiles);
	job->blocks = winograd_divide_up(job->tiles, job->block);
	job->slice = job->many ? winograd_least(RESIDENT_SLICE, job->depth) : job->depth;
	job->row = winograd_round_up(job->slice, WINOGRAD_LINE);
	job->units = job->many ? job->blocks * job->panels : job->blocks;
	int64_t panel = job->kernels->panel;
	job->u_plane = job->slice * panel + WINOGRAD_LINE;
	job->u_panel = PLANES * job->u_plane;
	job->v_plane = (job->many ? job->tiles : job->block) * job->row + WINOGRAD_LINE;
	job->v_slice = PLANES * job->v_plane;
	job->m_plane = job->block * panel + WINOGRAD_LINE;
	job->bias_floats = job->conv->pass == CPU_CONV_FORWARD ? job->panels * panel : 0;
	job->scratch_floats = PLANES * job->m_plane;
	if (job->many) {
		job->v_floats = winograd_divide_up(job->depth, job->slice) * job->v_slice;
		job->scratch_floats += job->u_panel;
	} else {
		job->u_floats = job->panels * job->u_panel;
		job->scratch_floats += job->v_slice;
	}
}

static void take_finish(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	struct cpu_winograd_finish *finish = &job->finish;
	int clamps =
		conv->activation == TN_ACTIVATION_RELU || conv->activation == TN_ACTIVATION_RELU6;
	finish->low = clamps ? 0 : -__builtin_inff();
	finish->high = conv->activation == TN_ACTIVATION_RELU6 ? 6 : __builtin_inff();
	if (conv->residual.data) {
		job->residual = winograd_image(&conv->residual, conv->p, conv->q, conv->o);
		finish->residual = &job->residual;
	} else if (conv->pass == CPU_CONV_INPUT_GRADIENT && conv->accumulate) {
		finish->residual = &job->out;
	}
	if (!conv->bias)
		return;
	for (int64_t i = 0; i < conv->o; i++)
		job->bias[i] = conv->bias[i * conv->bias_stride];
	finish->bias = job->bias;
}

/* ---- Shared by both --------------------------------------------------------------------------*/

/* Rows first .. first + n - 1 of a panel of U. */
static void transform_weights(const struct job *job, int64_t panel, int64_t first, int64_t n,
			      float *u)
{
	struct cpu_winograd_weights w = job->weights;
	int64_t column = panel * job->kernels->panel;
	w.data += column * w.column + first * w.row;
	job->kernels->weights(&w, winograd_least(job->kernels->panel, job->columns - column), n, u,
			      job->u_plane);
}

/* M := (or +=) V U for n tiles, `depth` channels and one panel. */
static void multiply_tiles(const struct job *job, const float *v, const float *u, float *m,
			   int64_t n, int64_t depth, int accumulate)
{
	struct cpu_winograd_product p = {.down = job->row,
					 .across = 1,
					 .c_down = job->kernels->panel,
					 .m = n,
					 .k = depth,
					 .accumulate = accumulate};
	for (int64_t plane = 0; plane < PLANES; plane++) {
		p.a = v + plane * job->v_plane;
		p.panel = u + plane * job->u_plane;
		p.next_panel = job->many ? NULL : p.panel + job->u_plane;
		p.c = m + plane * job->m_plane;
		job->kernels->product(&p);
	}
}

/* Activations that the kernel does not implement, pixel by pixel of a tile. */
static void activate(const struct job *job, int64_t tile, int64_t c0, int64_t c1)
{
	const struct cpu_conv *conv = job->conv;
	const struct cpu_winograd_image *y = &job->out;
	int64_t image = tile / (job->grid.rows * job->grid.columns);
	int64_t row = tile / job->grid.columns % job->grid.rows * TILE;
	int64_t column = tile % job->grid.columns * TILE;
	int64_t rows = winograd_least(TILE, y->height - row);
	int64_t columns = winograd_least(TILE, y->width - column);
	float *data = y->data + image * y->image + row * y->down + column * y->across + c0;
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < columns; j++)
			cpu_activate(conv->device->instance, conv->activation,
				     data + i * y->down + j * y->across, c1 - c0);
	}
}

/* Converts M of n tiles and one panel to pixels. */
static void finish(const struct job *job, int64_t panel, int64_t first, int64_t n, float *m)
{
	struct cpu_winograd_tiles from = {
		.data = m, .plane = job->m_plane, .row = job->kernels->panel};
	int64_t c0 = panel * job->kernels->panel;
	int64_t c1 = winograd_least(c0 + job->kernels->panel, job->columns);
	uint32_t activation = job->conv->activation;
	job->kernels->pixels(&job->out, &job->grid, first, n, c0, c1, &from, &job->finish);
	if (activation == TN_ACTIVATION_NONE || activation == TN_ACTIVATION_RELU ||
	    activation == TN_ACTIVATION_RELU6)
		return;
	for (int64_t tile = first; tile < first + n; tile++)
		activate(job, tile, c0, c1);
}

/* ---- Few channels ----------------------------------------------------------------------------*/

static int64_t weight_pieces(const struct job *job)
{
	return job->panels * winograd_divide_up(job->depth, WEIGHT_ROWS);
}

static void make_weights(const void *argument, int64_t unit, float *scratch)
{
	const struct job *job = argument;
	int64_t pieces = winograd_divide_up(job->depth, WEIGHT_ROWS);
	int64_t panel = unit / pieces, first = unit % pieces * WEIGHT_ROWS;
	(void)scratch;
	transform_weights(job, panel, first, winograd_least(WEIGHT_ROWS, job->depth - first),
			  job->u + panel * job->u_panel + first * job->kernels->panel);
}

static void stream_weights(const void *argument, int64_t unit, float *scratch)
{
	const struct job *job = argument;
	int64_t first = unit * job->block, n = winograd_least(job->block, job->tiles - first);
	struct cpu_winograd_tiles v = {
		.data = scratch, .plane = job->v_plane, .row = job->row, .block = job->row};
	float *m = scratch + job->v_slice;
	job->kernels->patches(&job->in, &job->grid, first, n, 0, job->depth, &v);
	for (int64_t panel = 0; panel < job->panels; panel++) {
		multiply_tiles(job, scratch, job->u + panel * job->u_panel, m, n, job->depth, 0);
		finish(job, panel, first, n, m);
	}
}

static void run_few(struct job *job)
{
	struct winograd_units weights = {.device = job->conv->device,
					 .job = job,
					 .work = make_weights,
					 .n = weight_pieces(job)};
	struct winograd_units units = {.device = job->conv->device,
				       .job = job,
				       .work = stream_weights,
				       .n = job->units,
				       .scratch = job->scratch,
				       .scratch_floats = job->scratch_floats};
	if (!job->conv->packed)
		winograd_run(&weights);
	winograd_run(&units);
}

/* ---- Many channels ---------------------------------------------------------------------------*/

static void make_tile(const void *argument, int64_t unit, float *scratch)
{
	const struct job *job = argument;
	struct cpu_winograd_tiles v = {.data = job->v + unit * job->row,
				       .plane = job->v_plane,
				       .row = job->row,
				       .block = job->slice,
				       .block_stride = job->v_slice};
	(void)scratch;
	job->kernels->patches(&job->in, &job->grid, unit, 1, 0, job->depth, &v);
}

static void stream_tiles(const void *argument, int64_t unit, float *scratch)
{
	const struct job *job = argument;
	int64_t panel = unit / job->blocks, first = unit % job->blocks * job->block;
	int64_t n = winograd_least(job->block, job->tiles - first);
	float *m = scratch + job->u_panel;
	for (int64_t k = 0; k < job->depth; k += job->slice) {
		int64_t depth = winograd_least(job->slice, job->depth - k);
		const float *v = job->v + k / job->slice * job->v_slice + first * job->row;
		transform_weights(job, panel, k, depth, scratch);
		multiply_tiles(job, v, scratch, m, n, depth, k > 0);
	}
	finish(job, panel, first, n, m);
}

static void run_many(struct job *job)
{
	struct winograd_units tiles = {
		.device = job->conv->device, .job = job, .work = make_tile, .n = job->tiles};
	struct winograd_units units = {.device = job->conv->device,
				       .job = job,
				       .work = stream_tiles,
				       .n = job->units,
				       .scratch = job->scratch,
				       .scratch_floats = job->scratch_floats};
	winograd_run(&tiles);
	winograd_run(&units);
}

/* ---- The algorithm ---------------------------------------------------------------------------*/

static int suits(const struct cpu_conv *conv)
{
	const int64_t *strides = conv->w_strides;
	return conv->r == 3 && conv->s == 3 && conv->groups == 1 && conv->stride[0] == 1 &&
	       conv->stride[1] == 1 && conv->dilation[0] == 1 && conv->dilation[1] == 1 &&
	       strides[2] == 3 && strides[3] == 1;
}

static double cost(const struct cpu_conv *conv)
{
	struct job job;
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT)
		return winograd_gradient_cost(conv);
	plan_winograd(&job, conv);
	double depth = (double)job.depth, columns = (double)(job.panels * job.kernels->panel);
	double filters = depth * columns * (double)(job.many ? job.blocks : 1);
	return (double)job.tiles * (PLANES * depth * columns + WINOGRAD_INPUT_COST * depth +
				    WINOGRAD_OUTPUT_COST * columns) +
	       WINOGRAD_FILTER_COST * filters;
}

/* Is it clearly faster than the direct product? */
static int pays(const struct cpu_conv *conv)
{
	double direct = 9.0 * (double)(conv->n * conv->p * conv->q) * (double)(conv->c * conv->o);
	return cost(conv) < 0.8 * direct;
}

static uint64_t workspace(const struct cpu_conv *conv)
{
	struct job job;
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT)
		return winograd_gradient_workspace(conv);
	plan_winograd(&job, conv);
	int64_t scratch = winograd_threads(conv->device, job.units) * job.scratch_floats;
	return (uint64_t)(job.bias_floats + job.u_floats + job.v_floats + scratch) * sizeof(float);
}

static void run_winograd(const struct cpu_conv *conv)
{
	struct job job;
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT) {
		winograd_gradient_run(conv);
		return;
	}
	plan_winograd(&job, conv);
	job.bias = (float *)(void *)job.conv->workspace;
	job.u = job.bias + job.bias_floats;
	job.v = job.u + job.u_floats;
	job.scratch = job.v + job.v_floats;
	take_finish(&job);
	if (conv->packed)
		job.u = (float *)(uintptr_t)conv->packed;
	if (job.many)
		run_many(&job);
	else
		run_few(&job);
}

/* U of many channels is not kept: reading it takes longer than computing it. */
static uint64_t packed_size(const struct cpu_conv *conv)
{
	struct job job;
	plan_winograd(&job, conv);
	return (uint64_t)job.u_floats * sizeof(float);
}

static void pack_weights(const struct cpu_conv *conv, void *packed)
{
	struct job job;
	plan_winograd(&job, conv);
	job.u = packed;
	struct winograd_units weights = {.device = conv->device,
					 .job = &job,
					 .work = make_weights,
					 .n = weight_pieces(&job)};
	winograd_run(&weights);
}

const struct cpu_conv_algorithm cpu_conv_winograd = {
	.name = "winograd",
	.suits = suits,
	.pays = pays,
	.workspace = workspace,
	.run = run_winograd,
	.packed_size = packed_size,
	.pack = pack_weights,
};
