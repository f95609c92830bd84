/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling, channels last, beside copies of as many bytes by as many threads, in turns: the floor of
 * what reads and writes everything once.
 *
 *     TENON_BUILD=$PWD bench/pool [--threads N] [--filter TEXT] [--samples N]
 */
#include "bench.h"
#include "line.h"

#define PIECE (1 << 16)

struct shape {
	const char *name;
	uint32_t kind;
	int64_t n, c, h, w, kernel, stride, padding;
};

static const struct shape shapes[] = {
	{"max 2x2 128x6x28x28", TN_POOL_MAX, 128, 6, 28, 28, 2, 2, 0},
	{"max 2x2 128x16x10x10", TN_POOL_MAX, 128, 16, 10, 10, 2, 2, 0},
	{"max 3x3/2 8x64x56x56", TN_POOL_MAX, 8, 64, 56, 56, 3, 2, 1},
	{"average 2x2 32x64x32x32", TN_POOL_AVERAGE, 32, 64, 32, 32, 2, 2, 0},
	{"average of planes 8x96x32x32", TN_POOL_AVERAGE, 8, 96, 32, 32, 32, 1, 0},
	{"average of planes 32x512x4x4", TN_POOL_AVERAGE, 32, 512, 4, 4, 4, 1, 0},
};

struct job {
	struct bench_backend *host;
	const struct tn_nn_table *nn;
	struct tn_pool2d_args args;
	char *from, *to;
	uint64_t bytes; /* of a copy: read, and written again */
};

static struct tn_operand operand(tn_dtype dtype, const int64_t shape[4])
{
	int64_t c = shape[1], w = shape[3] * c, h = shape[2] * w;
	struct tn_operand made = {.buffer =
					  (uint64_t)(uintptr_t)bench_floats((size_t)(shape[0] * h)),
				  .dtype = dtype,
				  .rank = 4,
				  .strides = {h, 1, w, c}};
	memcpy(made.shape, shape, 4 * sizeof(int64_t));
	return made;
}

static void set_up(struct job *job, const struct shape *s)
{
	int64_t p = (s->h + 2 * s->padding - s->kernel) / s->stride + 1;
	int64_t q = (s->w + 2 * s->padding - s->kernel) / s->stride + 1;
	const int64_t x[4] = {s->n, s->c, s->h, s->w}, y[4] = {s->n, s->c, p, q};
	job->args = (struct tn_pool2d_args){.call = {.struct_size = sizeof(job->args)},
					    .x = operand(TN_F32, x),
					    .y = operand(TN_F32, y),
					    .index = operand(TN_I32, y),
					    .kind = s->kind,
					    .has_index = s->kind == TN_POOL_MAX,
					    .kernel = {s->kernel, s->kernel},
					    .stride = {s->stride, s->stride}};
	for (int i = 0; i < 4; i++)
		job->args.padding[i] = s->padding;
	int64_t numbers = s->n * s->c * (s->h * s->w + p * q * (s->kind == TN_POOL_MAX ? 2 : 1));
	job->bytes = (uint64_t)numbers * sizeof(float) / 2;
	job->from = (char *)bench_floats((size_t)numbers);
	job->to = (char *)bench_floats((size_t)numbers);
}

static void release(struct job *job)
{
	tn_mem_free((void *)(uintptr_t)job->args.x.buffer);
	tn_mem_free((void *)(uintptr_t)job->args.y.buffer);
	tn_mem_free((void *)(uintptr_t)job->args.index.buffer);
	tn_mem_free(job->from);
	tn_mem_free(job->to);
}

static void forward(void *argument)
{
	struct job *job = argument;
	if (job->nn->pool2d_forward(job->host->device, &job->args) != TN_OK)
		fprintf(stderr, "pool2d_forward failed\n");
}

static void backward(void *argument)
{
	struct job *job = argument;
	if (job->nn->pool2d_backward(job->host->device, &job->args) != TN_OK)
		fprintf(stderr, "pool2d_backward failed\n");
}

static void copy_piece(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	memcpy(job->to + begin, job->from + begin, end - begin);
}

static void copy(void *argument)
{
	struct job *job = argument;
	tn_parallel_for(job->host->threads, job->bytes, PIECE, copy_piece, job);
}

static void measure(struct job *job, const struct shape *shape, const struct bench_options *options)
{
	char name[96];
	set_up(job, shape);
	struct bench_side sides[3] = {{.run = forward, .argument = job},
				      {.run = backward, .argument = job},
				      {.run = copy, .argument = job}};
	bench_interleave_n(sides, 3, options->samples);
	double floor = 1e6 * bench_median(&sides[2].samples);
	bench_line(shape->name, "us", 1e6 * bench_median(&sides[0].samples), floor, "copy");
	snprintf(name, sizeof(name), "%s, gradient", shape->name);
	bench_line(name, "us", 1e6 * bench_median(&sides[1].samples), floor, "copy");
	printf("# best: forward %.4g, gradient %.4g, copy %.4g us\n",
	       1e6 * bench_best(&sides[0].samples), 1e6 * bench_best(&sides[1].samples),
	       1e6 * bench_best(&sides[2].samples));
	release(job);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	struct bench_backend host = {0};
	struct job job = {.host = &host};
	if (!bench_open(&host, "cpu", (unsigned)options.threads)) {
		fprintf(stderr, "needs the plugin (TENON_BUILD)\n");
		return 77;
	}
	job.nn = host.descriptor->query(host.instance, TN_TABLE_NN);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (bench_wanted(&options, shapes[i].name))
			measure(&job, &shapes[i], &options);
	}
	bench_close(&host);
	return 0;
}
