/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The weights' gradient by Winograd's F(3x3, 4x4): for each of 36 planes dU = Z^T V, where a row of
 * V = B^T x B and of Z = A dy A^T is a tile, and dw = G^T dU G.
 *
 * A unit of work is the gradient of OUTPUTS x INPUTS channels over a part of the tiles: dU of that
 * size stays in L2 (its 36 planes take 576 KiB), while tiles are transformed block by block beside
 * it and added to it.  Transforms are repeated for each pair of channel blocks, which costs a sixth
 * of the products.  With too few pairs for the threads, the tiles are cut into parts, whose
 * gradients are added in order; their number depends on the shape alone.
 */
#include <string.h>

#include "conv_winograd.h"

enum { PLANES = WINOGRAD_PLANES, TILE = WINOGRAD_TILE, FILTER = 9 };

#define OUTPUTS 64
#define INPUTS 64
#define BLOCK 24 /* tiles */
#define UNITS 8  /* enough for the threads */

struct job {
	const struct cpu_conv *conv;
	const struct cpu_winograd *kernels;
	struct cpu_winograd_image x, dy;
	struct cpu_winograd_grid grid;
	int64_t tiles, inputs, outputs; /* in total; channels of a block */
	int64_t input_blocks, output_blocks;
	int64_t parts, part;               /* of tiles; tiles in each */
	int64_t block;                     /* tiles that are transformed at once */
	int64_t panels;                    /* of a unit's input channels */
	struct cpu_winograd_tiles v, z, u; /* u: dU, as tiles whose rows are output channels */
	int64_t scratch_floats;
	float *partial; /* gradients of parts, if there is more than one */
};

static void plan_gradient(struct job *job, const struct cpu_conv *conv)
{
	job->conv = conv;
	job->kernels = conv->kernels->winograd;
	job->x = winograd_image(&conv->x, conv->h, conv->w, conv->c);
	job->dy = winograd_image(&conv->y, conv->p, conv->q, conv->o);
	job->grid.rows = winograd_divide_up(conv->p, TILE);
	job->grid.columns = winograd_divide_up(conv->q, TILE);
	job->tiles = conv->n * job->grid.rows * job->grid.columns;
	job->inputs = winograd_least(INPUTS, conv->c);
	job->outputs = winograd_least(OUTPUTS, conv->o);
	job->input_blocks = winograd_divide_up(conv->c, job->inputs);
	job->output_blocks = winograd_divide_up(conv->o, job->outputs);
	int64_t pairs = job->input_blocks * job->output_blocks;
	int64_t parts = winograd_least(winograd_divide_up(UNITS, pairs),
				       winograd_divide_up(job->tiles, BLOCK));
	job->part = winograd_divide_up(job->tiles, parts);
	job->parts = winograd_divide_up(job->tiles, job->part);
	job->block = winograd_least(BLOCK, job->part);
	int64_t panel = job->kernels->panel;
	job->panels = winograd_divide_up(job->inputs, panel);
	job->v.row = job->v.block = panel;
	job->v.plane = job->block * panel + WINOGRAD_LINE;
	job->v.block_stride = PLANES * job->v.plane;
	job->z.row = job->z.block = winograd_round_up(job->outputs, WINOGRAD_LINE);
	job->z.plane = job->block * job->z.row + WINOGRAD_LINE;
	job->u.row = job->u.block = panel;
	job->u.plane = job->outputs * panel + WINOGRAD_LINE;
	job->u.block_stride = PLANES * job->u.plane;
	job->scratch_floats =
		job->panels * (job->v.block_stride + job->u.block_stride) + PLANES * job->z.plane;
}

static int64_t partial_floats(const struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	return job->parts > 1 ? job->parts * conv->o * conv->c * FILTER : 0;
}

static int64_t n_units(const struct job *job)
{
	return job->input_blocks * job->output_blocks * job->parts;
}

/* One unit: its channels, and its scratch. */
struct unit {
	const struct job *job;
	int64_t c0, c1, o0, o1;
	struct cpu_winograd_tiles v, z, u;
};

/* dU := (or +=) Z^T V over n tiles. */
static void multiply_tiles(const struct unit *unit, int64_t n, int accumulate)
{
	const struct cpu_winograd *kernels = unit->job->kernels;
	struct cpu_winograd_product p = {.down = 1,
					 .across = unit->z.row,
					 .c_down = unit->u.row,
					 .m = unit->o1 - unit->o0,
					 .k = n,
					 .accumulate = accumulate};
	for (int64_t plane = 0; plane < PLANES; plane++) {
		for (int64_t i = 0; i * unit->v.block < unit->c1 - unit->c0; i++) {
			p.a = unit->z.data + plane * unit->z.plane;
			p.panel = unit->v.data + i * unit->v.block_stride + plane * unit->v.plane;
			p.next_panel = p.panel + unit->v.plane;
			p.c = unit->u.data + i * unit->u.block_stride + plane * unit->u.plane;
			kernels->product(&p);
		}
	}
}

static void write_gradient(const struct unit *unit, int64_t part)
{
	const struct job *job = unit->job;
	const struct cpu_conv *conv = job->conv;
	struct cpu_winograd_weights w = {
		.data = conv->weights, .column = conv->w_strides[1], .row = conv->w_strides[0]};
	if (job->parts > 1) {
		w.data = job->partial + part * conv->o * conv->c * FILTER;
		w.column = FILTER;
		w.row = conv->c * FILTER;
	}
	w.data += unit->o0 * w.row + unit->c0 * w.column;
	for (int64_t c = unit->c0; c < unit->c1; c += job->kernels->panel) {
		int64_t i = (c - unit->c0) / job->kernels->panel;
		job->kernels->weight_gradients(
			&w, winograd_least(job->kernels->panel, unit->c1 - c), unit->o1 - unit->o0,
			unit->u.data + i * unit->u.block_stride, unit->u.plane,
			job->parts == 1 && conv->accumulate);
		w.data += job->kernels->panel * w.column;
	}
}

static void add_part(const void *argument, int64_t number, float *scratch)
{
	const struct job *job = argument;
	struct unit unit = {.job = job, .v = job->v, .z = job->z, .u = job->u};
	int64_t part = number % job->parts, pair = number / job->parts;
	unit.c0 = pair % job->input_blocks * job->inputs;
	unit.o0 = pair / job->input_blocks * job->outputs;
	unit.c1 = winograd_least(unit.c0 + job->inputs, job->conv->c);
	unit.o1 = winograd_least(unit.o0 + job->outputs, job->conv->o);
	unit.v.data = scratch;
	unit.u.data = unit.v.data + job->panels * job->v.block_stride;
	unit.z.data = unit.u.data + job->panels * job->u.block_stride;
	int64_t begin = part * job->part, end = winograd_least(begin + job->part, job->tiles);
	struct cpu_winograd_grid patches = job->grid;
	patches.top = job->conv->padding[0];
	patches.left = job->conv->padding[1];
	for (int64_t first = begin; first < end; first += job->block) {
		int64_t n = winograd_least(job->block, end - first);
		job->kernels->patches(&job->x, &patches, first, n, unit.c0, unit.c1, &unit.v);
		job->kernels->gradients(&job->dy, &job->grid, first, n, unit.o0, unit.o1, &unit.z);
		multiply_tiles(&unit, n, first > begin);
	}
	write_gradient(&unit, part);
}

/* dw := (or +=) the sum of the parts' gradients, for one output channel. */
static void add_parts(const void *argument, int64_t o, float *scratch)
{
	const struct job *job = argument;
	const struct cpu_conv *conv = job->conv;
	(void)scratch;
	for (int64_t c = 0; c < conv->c; c++) {
		const float *from = job->partial + (o * conv->c + c) * FILTER;
		float *to = conv->weights + o * conv->w_strides[0] + c * conv->w_strides[1];
		for (int64_t i = 0; i < FILTER; i++) {
			float sum = conv->accumulate ? to[i] : 0;
			for (int64_t part = 0; part < job->parts; part++)
				sum += from[part * conv->o * conv->c * FILTER + i];
			to[i] = sum;
		}
	}
}

double winograd_gradient_cost(const struct cpu_conv *conv)
{
	struct job job = {0};
	plan_gradient(&job, conv);
	double c = (double)conv->c, o = (double)conv->o;
	double inputs = (double)(job.input_blocks * job.panels * job.kernels->panel);
	return (double)job.tiles *
		       (PLANES * inputs * o + WINOGRAD_INPUT_COST * c * (double)job.output_blocks +
			WINOGRAD_OUTPUT_COST * o * (double)job.input_blocks) +
	       WINOGRAD_FILTER_COST * c * o * (double)job.parts;
}

uint64_t winograd_gradient_workspace(const struct cpu_conv *conv)
{
	struct job job = {0};
	plan_gradient(&job, conv);
	return (uint64_t)(partial_floats(&job) +
			  winograd_threads(conv->device, n_units(&job)) * job.scratch_floats) *
	       sizeof(float);
}

void winograd_gradient_run(const struct cpu_conv *conv)
{
	struct job job = {0};
	plan_gradient(&job, conv);
	job.partial = (float *)(void *)conv->workspace;
	struct winograd_units units = {.device = conv->device,
				       .job = &job,
				       .work = add_part,
				       .n = n_units(&job),
				       .scratch = job.partial + partial_floats(&job),
				       .scratch_floats = job.scratch_floats};
	winograd_run(&units);
	if (job.parts > 1) {
		struct winograd_units sums = {
			.device = conv->device, .job = &job, .work = add_parts, .n = conv->o};
		winograd_run(&sums);
	}
}
