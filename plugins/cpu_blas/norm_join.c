/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Combines the parts of a batch or group norm, in order and in double, to the per-channel values
 * that the pieces need.
 */
#include <math.h>

#include "norm_job.h"

#define CHUNK 64   /* channels whose parts are combined together */
#define WORK 16384 /* numbers that are combined in about 10 us */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The parts of `set`, from a channel on. */
static struct cpu_norm_parts parts_of(const struct cpu_norm_job *job, int64_t set, int64_t channel)
{
	const struct cpu_norm *n = &job->norm;
	int64_t units = n->samples * job->blocks / job->sets,
		step = CPU_NORM_PART_ROWS * n->channels;
	return (struct cpu_norm_parts){
		.first = job->parts + set * units * step + channel,
		.n_units = units,
		.step = step,
		.cycle = job->blocks,
		.rows = job->block_rows,
		.last_rows = n->rows - (job->blocks - 1) * job->block_rows,
	};
}

/* Elements that share a mean. */
static double group_size(const struct cpu_norm_job *job)
{
	const struct cpu_norm *n = &job->norm;
	int64_t pixels = n->samples / job->sets * n->rows, channels = n->channels / n->groups;
	return (double)pixels * (double)channels;
}

static float weight(const struct cpu_norm *n, int64_t channel)
{
	return n->args.has_affine ? *cpu_norm_value(&n->args.w, channel) : 1;
}

static void set_forward(struct cpu_norm_job *job, int64_t set, int64_t channel, float mean,
			float rstd)
{
	const struct cpu_norm *n = &job->norm;
	int64_t i = set * n->channels + channel;
	job->mean[i] = mean;
	job->scale[i] = rstd * weight(n, channel);
	job->shift[i] = n->args.has_affine ? *cpu_norm_value(&n->args.b, channel) : 0;
}

static float rstd_of(const struct cpu_norm_job *job, double square)
{
	return (float)(1 / sqrt(square / group_size(job) + job->norm.args.epsilon));
}

/* Runs body over all groups of all sets; those of batch norm are channels, which it takes in
 * chunks. */
static void run_groups(struct cpu_norm_job *job, void (*body)(void *, uint64_t, uint64_t))
{
	const struct cpu_norm *n = &job->norm;
	int64_t units = n->samples * job->blocks / job->sets;
	int64_t grain = divide_up(WORK, units * (n->channels / n->groups));
	if (n->kind == CPU_NORM_BATCH)
		grain = divide_up(grain, CHUNK) * CHUNK;
	cpu_parallel(n->device, (uint64_t)(job->sets * n->groups), (uint64_t)grain, body, job);
}

/* ---- Statistics ------------------------------------------------------------------------------*/

/* Batch norm's statistics of some channels. */
static void join_channels(struct cpu_norm_job *job, int64_t channel, int64_t channels)
{
	const struct tn_norm_args *args = &job->norm.args;
	struct cpu_norm_parts parts = parts_of(job, 0, channel);
	double mean[CHUNK], square[CHUNK];
	job->kernels->merge_statistics(&parts, job->norm.channels, channels, mean, square);
	for (int64_t c = 0; c < channels; c++) {
		float rstd = rstd_of(job, square[c]);
		set_forward(job, 0, channel + c, (float)mean[c], rstd);
		*cpu_norm_value(&args->mean, channel + c) = (float)mean[c];
		*cpu_norm_value(&args->rstd, channel + c) = rstd;
	}
}

/* Group norm's statistics of a group, whose channels have equal weight. */
static void join_group(struct cpu_norm_job *job, int64_t number)
{
	const struct cpu_norm *n = &job->norm;
	int64_t shared = n->channels / n->groups, set = number / n->groups;
	int64_t first = number % n->groups * shared;
	double mean[CHUNK], square[CHUNK], all = 0, squares = 0;
	for (int64_t done = 0; done < shared; done += CHUNK) {
		int64_t channels = least(CHUNK, shared - done);
		struct cpu_norm_parts parts = parts_of(job, set, first + done);
		job->kernels->merge_statistics(&parts, n->channels, channels, mean, square);
		for (int64_t c = 0; c < channels; c++) {
			double count = (double)(done + c), away = mean[c] - all;
			all += away / (count + 1);
			squares += square[c] + away * away * count / (count + 1) * (double)n->rows;
		}
	}
	float rstd = rstd_of(job, squares);
	for (int64_t c = 0; c < shared; c++)
		set_forward(job, set, first + c, (float)all, rstd);
	*cpu_norm_value(&n->args.mean, number) = (float)all;
	*cpu_norm_value(&n->args.rstd, number) = rstd;
}

static void join_some(void *argument, uint64_t begin, uint64_t end)
{
	struct cpu_norm_job *job = argument;
	int64_t last = (int64_t)end;
	for (int64_t i = (int64_t)begin; i < last;) {
		int64_t n = job->norm.kind == CPU_NORM_BATCH ? least(CHUNK, last - i) : 1;
		if (job->norm.kind == CPU_NORM_BATCH)
			join_channels(job, i, n);
		else
			join_group(job, i);
		i += n;
	}
}

void cpu_norm_join_statistics(struct cpu_norm_job *job)
{
	run_groups(job, join_some);
}

void cpu_norm_given_statistics(struct cpu_norm_job *job)
{
	const struct cpu_norm *n = &job->norm;
	int64_t shared = n->channels / n->groups;
	for (int64_t set = 0; set < job->sets; set++)
		for (int64_t c = 0; c < n->channels; c++) {
			int64_t i = set * n->groups + c / shared;
			set_forward(job, set, c, *cpu_norm_value(&n->args.mean, i),
				    *cpu_norm_value(&n->args.rstd, i));
		}
}

/* ---- Sums ------------------------------------------------------------------------------------*/

void cpu_norm_find_means(struct cpu_norm_job *job)
{
	const struct cpu_norm *n = &job->norm;
	int64_t shared = n->channels / n->groups;
	for (int64_t set = 0; set < job->sets; set++)
		for (int64_t c = 0; c < n->channels; c++)
			job->mean[set * n->channels + c] =
				*cpu_norm_value(&n->args.mean, set * n->groups + c / shared);
}

/* With the means over a group of g and g (x - mean) rstd^2, where g is weighted:
 * dx = rstd w dy - rstd g_mean - rstd gx_mean (x - mean). */
static void set_backward(struct cpu_norm_job *job, int64_t set, int64_t channel, float rstd,
			 double g_mean, double gx_mean)
{
	int64_t i = set * job->norm.channels + channel;
	job->scale[i] = rstd * weight(&job->norm, channel);
	job->shift[i] = (float)(-rstd * g_mean);
	job->slope[i] = (float)(-rstd * gx_mean);
}

/* Sums of some channels over the parts of a set. */
static void join_sums(const struct cpu_norm_job *job, int64_t set, int64_t channel,
		      int64_t channels, double *g, double *gx)
{
	struct cpu_norm_parts parts = parts_of(job, set, channel);
	job->kernels->merge_sums(&parts, channels, g);
	parts.first += job->norm.channels;
	job->kernels->merge_sums(&parts, channels, gx);
}

static void deliver(const struct cpu_norm *n, const struct tn_operand *operand, int64_t i,
		    double value)
{
	float *at = cpu_norm_value(operand, i);
	*at = (float)(n->args.call.flags & TN_ACCUMULATE ? *at + value : value);
}

/* Batch norm's: a channel's own sums also give its dw and db. */
static void slopes_of_channels(struct cpu_norm_job *job, int64_t channel, int64_t channels)
{
	const struct cpu_norm *n = &job->norm;
	double g[CHUNK], gx[CHUNK], size = group_size(job);
	join_sums(job, 0, channel, channels, g, gx);
	for (int64_t c = 0; c < channels; c++) {
		float rstd = *cpu_norm_value(&n->args.rstd, channel + c);
		double w = weight(n, channel + c) / size;
		if (n->args.use_statistics)
			set_backward(job, 0, channel + c, rstd, 0, 0);
		else
			set_backward(job, 0, channel + c, rstd, g[c] * w, gx[c] * w * rstd * rstd);
		if (n->args.wants & CPU_NORM_DW) {
			deliver(n, &n->args.db, channel + c, g[c]);
			deliver(n, &n->args.dw, channel + c, gx[c] * rstd);
		}
	}
}

static void slopes_of_group(struct cpu_norm_job *job, int64_t number)
{
	const struct cpu_norm *n = &job->norm;
	int64_t shared = n->channels / n->groups, set = number / n->groups;
	int64_t first = number % n->groups * shared;
	double g[CHUNK], gx[CHUNK], g_mean = 0, gx_mean = 0;
	float rstd = *cpu_norm_value(&n->args.rstd, number);
	for (int64_t done = 0; done < shared && !n->args.use_statistics; done += CHUNK) {
		int64_t channels = least(CHUNK, shared - done);
		join_sums(job, set, first + done, channels, g, gx);
		for (int64_t c = 0; c < channels; c++) {
			g_mean += g[c] * weight(n, first + done + c);
			gx_mean += gx[c] * weight(n, first + done + c);
		}
	}
	g_mean /= group_size(job);
	gx_mean *= (double)rstd * rstd / group_size(job);
	for (int64_t c = 0; c < shared; c++)
		set_backward(job, set, first + c, rstd, g_mean, gx_mean);
}

static void find_slopes(void *argument, uint64_t begin, uint64_t end)
{
	struct cpu_norm_job *job = argument;
	int64_t last = (int64_t)end;
	for (int64_t i = (int64_t)begin; i < last;) {
		int64_t n = job->norm.kind == CPU_NORM_BATCH ? least(CHUNK, last - i) : 1;
		if (job->norm.kind == CPU_NORM_BATCH)
			slopes_of_channels(job, i, n);
		else
			slopes_of_group(job, i);
		i += n;
	}
}

/* Group norm's dw and db of a chunk of channels, over all samples. */
static void write_chunk(const struct cpu_norm_job *job, int64_t channel, int64_t channels)
{
	const struct cpu_norm *n = &job->norm;
	int64_t shared = n->channels / n->groups;
	double g[CHUNK], gx[CHUNK], db[CHUNK] = {0}, dw[CHUNK] = {0};
	for (int64_t set = 0; set < job->sets; set++) {
		join_sums(job, set, channel, channels, g, gx);
		for (int64_t c = 0; c < channels; c++) {
			int64_t group = set * n->groups + (channel + c) / shared;
			db[c] += g[c];
			dw[c] += gx[c] * *cpu_norm_value(&n->args.rstd, group);
		}
	}
	for (int64_t c = 0; c < channels; c++) {
		deliver(n, &n->args.db, channel + c, db[c]);
		deliver(n, &n->args.dw, channel + c, dw[c]);
	}
}

static void write_parameters(void *argument, uint64_t begin, uint64_t end)
{
	const struct cpu_norm_job *job = argument;
	for (int64_t c = (int64_t)begin; c < (int64_t)end; c += CHUNK)
		write_chunk(job, c, least(CHUNK, (int64_t)end - c));
}

void cpu_norm_join_sums(struct cpu_norm_job *job)
{
	const struct cpu_norm *n = &job->norm;
	int64_t grain = divide_up(divide_up(WORK, n->samples * job->blocks), CHUNK) * CHUNK;
	run_groups(job, find_slopes);
	if (n->kind == CPU_NORM_GROUP && n->args.wants & CPU_NORM_DW)
		cpu_parallel(n->device, (uint64_t)n->channels, (uint64_t)grain, write_parameters,
			     job);
}
