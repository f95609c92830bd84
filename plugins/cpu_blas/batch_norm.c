/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch and group norm.  An array is cut into pieces by its shape alone: blocks of rows if channels
 * are contiguous, else planes.  Forward:
 *
 *   1. each piece computes the mean and the squared deviations of each of its channels (its part,
 *      in the workspace);
 *   2. parts are combined to mean and rstd (norm_join.c);
 *   3. each piece is written, the last one first: it is the most likely to be still in a cache.
 *
 * Backward does the same with the sums of g and g (x - mean), where g is dy times the derivative of
 * the activation.  Little work stays on the calling thread.
 */
#include "norm_job.h"

#define PIECE 32768 /* elements: about 10 us of work */
#define BLOCKS 32 /* per sample, unless they would be shorter than a piece, or longer than that: */
#define MOST_ROWS 2048

/* ---- Pieces ----------------------------------------------------------------------------------*/

struct piece {
	int64_t sample, row, channel; /* where it begins */
	int64_t rows, channels;
	int64_t part, set; /* its first index in parts, and in per-set arrays */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t count_pieces(const struct cpu_norm_job *job)
{
	const struct cpu_norm *n = &job->norm;
	return (uint64_t)(n->in_planes ? n->samples * n->channels : n->samples * job->blocks);
}

static struct piece piece_at(const struct cpu_norm_job *job, uint64_t number)
{
	const struct cpu_norm *n = &job->norm;
	int64_t i = (int64_t)number, in_a_sample = n->in_planes ? n->channels : job->blocks;
	int64_t block = n->in_planes ? 0 : i % in_a_sample;
	struct piece p = {.sample = i / in_a_sample, .row = block * job->block_rows};
	p.channel = n->in_planes ? i % in_a_sample : 0;
	p.channels = n->in_planes ? 1 : n->channels;
	p.rows = least(job->block_rows, n->rows - p.row);
	p.part = (p.sample * job->blocks + block) * CPU_NORM_PART_ROWS * n->channels + p.channel;
	p.set = (job->sets > 1 ? p.sample : 0) * n->channels + p.channel;
	return p;
}

static float *address(const struct cpu_norm *n, const struct cpu_norm_view *view,
		      const struct piece *p)
{
	int64_t along = n->in_planes ? p->channel : p->row;
	return view->is_used ? view->at + p->sample * view->sample + along * view->down : NULL;
}

static void run_pieces(struct cpu_norm_job *job, void (*body)(void *, uint64_t, uint64_t))
{
	const struct cpu_norm *n = &job->norm;
	int64_t elements = job->block_rows * (n->in_planes ? 1 : n->channels);
	cpu_parallel(n->device, count_pieces(job), (uint64_t)divide_up(PIECE, elements), body, job);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static void find_statistics(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_norm_job *job = argument;
	const struct cpu_norm *n = &job->norm;
	for (uint64_t i = begin; i < end; i++) {
		struct piece p = piece_at(job, i);
		job->form->statistics(address(n, &n->x, &p), n->x.down, p.rows, p.channels,
				      job->parts + p.part, n->channels);
	}
}

static void write_y(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_norm_job *job = argument;
	const struct cpu_norm *n = &job->norm;
	uint64_t last = count_pieces(job) - 1;
	struct cpu_norm_forward f = {
		.x_down = n->x.down, .residual_down = n->residual.down, .y_down = n->y.down};
	cpu_norm_clamp(n, &f.low, &f.high);
	for (uint64_t i = begin; i < end; i++) {
		struct piece p = piece_at(job, last - i);
		f.rows = p.rows;
		f.channels = p.channels;
		f.x = address(n, &n->x, &p);
		f.residual = address(n, &n->residual, &p);
		f.y = address(n, &n->y, &p);
		f.mean = job->mean + p.set;
		f.scale = job->scale + p.set;
		f.shift = job->shift + p.set;
		job->form->forward(&f);
	}
}

/* ---- Backward --------------------------------------------------------------------------------*/

static struct cpu_norm_backward backward_at(const struct cpu_norm_job *job, const struct piece *p)
{
	const struct cpu_norm *n = &job->norm;
	return (struct cpu_norm_backward){
		.rows = p->rows,
		.channels = p->channels,
		.x = address(n, &n->x, p),
		.dy = address(n, &n->y, p),
		.result = address(n, &n->result, p),
		.dx = address(n, &n->dx, p),
		.dresidual = address(n, &n->dresidual, p),
		.x_down = n->x.down,
		.dy_down = n->y.down,
		.result_down = n->result.down,
		.dx_down = n->dx.down,
		.dresidual_down = n->dresidual.down,
		.mean = job->mean + p->set,
		.scale = job->scale + p->set,
		.shift = job->shift + p->set,
		.slope = job->slope + p->set,
		.high = cpu_norm_limit(n),
	};
}

static void find_sums(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_norm_job *job = argument;
	for (uint64_t i = begin; i < end; i++) {
		struct piece p = piece_at(job, i);
		struct cpu_norm_backward b = backward_at(job, &p);
		job->form->sums(&b, job->parts + p.part, job->parts + p.part + job->norm.channels);
	}
}

static void write_dx(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_norm_job *job = argument;
	uint64_t last = count_pieces(job) - 1;
	for (uint64_t i = begin; i < end; i++) {
		struct piece p = piece_at(job, last - i);
		struct cpu_norm_backward b = backward_at(job, &p);
		job->form->gradient(&b);
	}
}

/* ---- The entries -----------------------------------------------------------------------------*/

#define LINE 16 /* floats: arrays of the workspace begin at cache lines */

/* Places the arrays of the workspace, from `memory` on; gives their size in floats. */
static int64_t place(struct cpu_norm_job *job, float *memory)
{
	const struct cpu_norm *n = &job->norm;
	int64_t parts = n->samples * job->blocks * CPU_NORM_PART_ROWS * n->channels,
		size = job->sets * n->channels;
	float **arrays[] = {&job->parts, &job->mean, &job->scale, &job->shift, &job->slope};
	int64_t at = 0;
	for (int i = 0; i < 5; i++) {
		*arrays[i] = memory ? memory + at : NULL;
		at += divide_up(i ? size : parts, LINE) * LINE;
	}
	return at;
}

/* Takes the arguments, cuts the work and finds the workspace. */
static tn_status begin_norm(struct cpu_norm_job *job, void *device, const struct tn_norm_args *args)
{
	const struct cpu_instance *cpu = ((struct cpu_device *)device)->instance;
	float *memory = NULL;
	job->norm.device = device;
	tn_status status = cpu_norm_take(&job->norm, args);
	if (status)
		return status;
	job->kernels = cpu->kernels->norm;
	job->form = job->norm.in_planes ? job->kernels->plane : job->kernels->columns;
	const struct cpu_norm *n = &job->norm;
	int64_t elements = n->rows * n->channels;
	int64_t block = elements / BLOCKS > PIECE ? elements / BLOCKS : PIECE;
	int64_t rows = least(divide_up(divide_up(block, n->channels), 8) * 8, MOST_ROWS);
	job->block_rows = n->in_planes ? n->rows : least(rows, n->rows);
	job->blocks = divide_up(n->rows, job->block_rows);
	job->sets = n->kind == CPU_NORM_GROUP ? n->samples : 1;
	status =
		cpu_norm_workspace(&job->norm, (uint64_t)place(job, NULL) * sizeof(float), &memory);
	if (!status && memory)
		place(job, memory);
	return status;
}

static tn_status forward(struct cpu_norm_job *job, void *device, const struct tn_norm_args *args)
{
	tn_status status = begin_norm(job, device, args);
	if (status || job->norm.args.call.flags & TN_DRY_RUN)
		return status;
	if (job->norm.args.use_statistics) {
		cpu_norm_given_statistics(job);
	} else {
		run_pieces(job, find_statistics);
		cpu_norm_join_statistics(job);
	}
	run_pieces(job, write_y);
	return TN_OK;
}

static tn_status backward(struct cpu_norm_job *job, void *device, const struct tn_norm_args *args)
{
	struct cpu_norm *n = &job->norm;
	tn_status status = begin_norm(job, device, args);
	if (status || n->args.call.flags & TN_DRY_RUN)
		return status;
	struct cpu_norm_view late = {0}, wanted = n->dresidual;
	int overwrites = wanted.is_used && n->dx.is_used && wanted.at == n->x.at;
	cpu_norm_find_means(job);
	if (overwrites)
		n->dresidual = late;
	if (!n->args.use_statistics || n->args.wants & CPU_NORM_DW || n->dresidual.is_used)
		run_pieces(job, find_sums);
	cpu_norm_join_sums(job);
	if (overwrites) {
		n->dresidual = wanted;
	} else if (wanted.is_used) {
		/* g is stored while its sums are made, and the second pass then reads it in place
		 * of dy and result; unless that would overwrite the x that it still needs. */
		n->y = n->dresidual;
		n->result.is_used = 0;
		n->dresidual.is_used = 0;
	}
	if (n->dx.is_used)
		run_pieces(job, write_dx);
	return TN_OK;
}

tn_status cpu_batch_norm_forward(void *device, const struct tn_norm_args *args)
{
	struct cpu_norm_job job = {.norm = {.kind = CPU_NORM_BATCH, .name = "batch_norm_forward"}};
	return forward(&job, device, args);
}

tn_status cpu_batch_norm_backward(void *device, const struct tn_norm_args *args)
{
	struct cpu_norm_job job = {
		.norm = {.kind = CPU_NORM_BATCH, .is_backward = 1, .name = "batch_norm_backward"}};
	return backward(&job, device, args);
}

tn_status cpu_group_norm_forward(void *device, const struct tn_norm_args *args)
{
	struct cpu_norm_job job = {.norm = {.kind = CPU_NORM_GROUP, .name = "group_norm_forward"}};
	return forward(&job, device, args);
}

tn_status cpu_group_norm_backward(void *device, const struct tn_norm_args *args)
{
	struct cpu_norm_job job = {
		.norm = {.kind = CPU_NORM_GROUP, .is_backward = 1, .name = "group_norm_backward"}};
	return backward(&job, device, args);
}
