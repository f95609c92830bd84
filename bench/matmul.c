/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul of the CPU backend beside a direct cblas_sgemm with the same number of threads each in a
 * process of its own, where OpenBLAS's threads do not wait on the other's processors.  Prints lines
 * of GFLOP/s, medians.
 *
 *     TENON_BUILD=$PWD bench/matmul [--threads N] [--filter TEXT] [--samples N]
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *,
			 int, float, float *, int);

struct shape {
	const char *what;
	int m, n, k;
	bool trans_a, trans_b;
};

static const struct shape shapes[] = {
	{"square", 32, 32, 32, 0, 0},        {"square", 64, 64, 64, 0, 0},
	{"square", 96, 96, 96, 0, 0},        {"square", 128, 128, 128, 0, 0},
	{"square", 192, 192, 192, 0, 0},     {"square", 256, 256, 256, 0, 0},
	{"square", 384, 384, 384, 0, 0},     {"square", 512, 512, 512, 0, 0},
	{"square", 1024, 1024, 1024, 0, 0},  {"square", 2048, 2048, 2048, 0, 0},
	{"conv1", 64, 32768, 27, 0, 0},      {"conv 64", 64, 32768, 576, 0, 0},
	{"conv 128", 128, 8192, 1152, 0, 0}, {"conv 512", 512, 512, 4608, 0, 0},
	{"one image", 64, 1024, 576, 0, 0},  {"one image", 512, 16, 4608, 0, 0},
	{"NHWC", 32768, 64, 576, 0, 0},      {"NHWC", 2048, 256, 2304, 0, 0},
	{"wgrad NT", 64, 576, 32768, 0, 1},  {"wgrad NT", 512, 4608, 512, 0, 1},
	{"MLP NT", 128, 256, 784, 0, 1},     {"MLP TN", 256, 784, 128, 1, 0},
	{"MLP NN", 128, 784, 256, 0, 0},     {"MLP NT", 128, 128, 256, 0, 1},
	{"MLP NT", 128, 10, 128, 0, 1},      {"LeNet NT", 128, 120, 400, 0, 1},
	{"LeNet TN", 120, 400, 128, 1, 0},   {"LeNet c1", 6, 83104, 25, 0, 0},
	{"LeNet c1", 6, 25, 83104, 0, 1},    {"LeNet c2", 16, 12800, 150, 0, 0},
	{"LeNet c2", 16, 150, 12800, 0, 1},  {"LeNet c2", 150, 12800, 16, 1, 0},
	{"1x1", 96, 8192, 16, 0, 0},         {"1x1", 24, 2048, 96, 0, 0},
	{"ConvNeXt", 384, 2048, 96, 0, 0},   {"ConvNeXt", 96, 2048, 384, 0, 0},
	{"ConvNeXt", 3072, 32, 768, 0, 0},   {"one row", 1, 256, 784, 0, 1},
	{"one row", 1, 4096, 4096, 0, 0},
};

struct job {
	const struct shape *shape;
	struct bench_backend *host; /* of the side that is Tenon's */
	sgemm_fn sgemm;             /* of the other */
	float *a, *b, *c;
};

static void run_peer(void *argument)
{
	const struct job *job = argument;
	const struct shape *s = job->shape;
	job->sgemm(ROW_MAJOR, s->trans_a ? TRANS : NO_TRANS, s->trans_b ? TRANS : NO_TRANS, s->m,
		   s->n, s->k, 1, job->a, s->trans_a ? s->m : s->k, job->b,
		   s->trans_b ? s->k : s->n, 0, job->c, s->n);
}

static struct tn_operand matrix(float *data, int rows, int columns, bool transposed)
{
	struct tn_operand operand = {.buffer = (uint64_t)(uintptr_t)data,
				     .dtype = TN_F32,
				     .rank = 2,
				     .shape = {rows, columns}};
	operand.strides[0] = transposed ? 1 : columns;
	operand.strides[1] = transposed ? rows : 1;
	return operand;
}

static void run_backend(void *argument)
{
	const struct job *job = argument;
	const struct shape *s = job->shape;
	struct tn_matmul_args args = {.call = {.struct_size = sizeof(args)},
				      .a = matrix(job->a, s->m, s->k, s->trans_a),
				      .b = matrix(job->b, s->k, s->n, s->trans_b),
				      .c = matrix(job->c, s->m, s->n, false),
				      .alpha = 1};
	if (job->host->compute->matmul(job->host->device, &args) != TN_OK)
		fprintf(stderr, "matmul failed\n");
}

/* ---- A side in a process of its own ----------------------------------------------------------*/

static void take_shape(struct job *job, const struct shape *shape)
{
	size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
	tn_mem_free(job->a);
	tn_mem_free(job->b);
	tn_mem_free(job->c);
	job->shape = shape;
	job->a = bench_floats(m * k);
	job->b = bench_floats(k * n);
	job->c = bench_floats(m * n);
}

/* For each number that comes in, a sample of that shape: seconds of a call. */
static void serve(struct bench_side *side, int in, int out)
{
	struct job *job = side->argument;
	int repeats = 1, index;
	while (read(in, &index, sizeof(index)) == sizeof(index)) {
		if (job->shape != &shapes[index]) {
			take_shape(job, &shapes[index]);
			double once = bench_time(side, 1);
			once = bench_time(side, 1);
			repeats = once < 0.001 ? (int)(0.001 / once) + 1 : 1;
		}
		bench_settle(side);
		double seconds = bench_time(side, repeats);
		if (write(out, &seconds, sizeof(seconds)) != sizeof(seconds))
			return;
	}
}

static int open_tenon(struct job *job, int threads)
{
	static struct bench_backend host;
	job->host = &host;
	return bench_open(&host, "cpu", (unsigned)threads);
}

static int open_openblas(struct job *job, int threads)
{
	void (*set_num_threads)(int) = NULL;
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return 0;
	*(void **)&job->sgemm = dlsym(library, "cblas_sgemm");
	*(void **)&set_num_threads = dlsym(library, "openblas_set_num_threads");
	if (!job->sgemm || !set_num_threads)
		return 0;
	set_num_threads(threads);
	if (threads > 1)
		bench_clock = CLOCK_MONOTONIC;
	return 1;
}

struct process {
	int to, from;
};

/* The child ends when its input does. */
static int start(struct process *process, int (*open)(struct job *job, int threads),
		 void (*run)(void *argument), int threads)
{
	int to[2], from[2];
	if (pipe(to) || pipe(from))
		return 0;
	pid_t child = fork();
	if (child < 0)
		return 0;
	if (child == 0) {
		struct job job = {0};
		struct bench_side side = {.run = run, .argument = &job};
		close(to[1]);
		close(from[0]);
		if (open(&job, threads))
			serve(&side, to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	*process = (struct process){to[1], from[0]};
	return 1;
}

/* Seconds of a call; negative: the process has ended. */
static double sample(const struct process *process, int index)
{
	double seconds;
	if (write(process->to, &index, sizeof(index)) != sizeof(index) ||
	    read(process->from, &seconds, sizeof(seconds)) != sizeof(seconds))
		return -1;
	return seconds;
}

/* ---- Both in turns ---------------------------------------------------------------------------*/

static int measure(const struct process sides[2], int index, const struct bench_options *options)
{
	const struct shape *s = &shapes[index];
	struct bench_samples samples[2] = {{.n = 0}, {.n = 0}};
	double gflop = 2e-9 * s->m * s->n * s->k;
	char name[64];
	snprintf(name, sizeof(name), "matmul %s %dx%dx%d", s->what, s->m, s->n, s->k);
	if (!bench_wanted(options, name))
		return 1;
	for (int i = 0; i < 2 * options->samples; i++) {
		double seconds = sample(&sides[i % 2], index);
		if (seconds < 0)
			return 0;
		samples[i % 2].seconds[samples[i % 2].n++] = seconds;
	}
	bench_line(name, "GFLOP/s", gflop / bench_median(&samples[0]),
		   gflop / bench_median(&samples[1]), "OpenBLAS");
	return 1;
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	struct process sides[2];
	signal(SIGPIPE, SIG_IGN);
	bench_pause.tv_nsec = 150000000;
	if (!start(&sides[0], open_tenon, run_backend, options.threads) ||
	    !start(&sides[1], open_openblas, run_peer, options.threads))
		return 1;
	for (int i = 0; i < (int)(sizeof(shapes) / sizeof(*shapes)); i++) {
		if (!measure(sides, i, &options)) {
			printf("# matmul needs libopenblas.so.0 and the plugin (TENON_BUILD)\n");
			return 77;
		}
	}
	return 0;
}
