/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul of the CPU backend beside a direct cblas_sgemm with the same number of threads (for one row
 * beside cblas_sgemv too).  Prints lines of GFLOP/s, medians.
 *
 *     TENON_BUILD=$PWD bench/matmul [--threads N] [--filter TEXT] [--samples N]
 */
#include <dlfcn.h>
#include <stdbool.h>

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
	struct bench_backend *host;
	sgemm_fn sgemm;
	void (*set_num_threads)(int);
	int threads;
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

static void measure(struct job *job, const struct shape *shape, const struct bench_options *options)
{
	char name[64];
	size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
	double gflop = 2e-9 * (double)m * (double)n * (double)k;
	struct bench_side sides[2] = {{.run = run_backend, .argument = job},
				      {.run = run_peer, .argument = job}};
	snprintf(name, sizeof(name), "matmul %s %dx%dx%d", shape->what, shape->m, shape->n,
		 shape->k);
	if (!bench_wanted(options, name))
		return;
	job->shape = shape;
	job->a = bench_floats(m * k);
	job->b = bench_floats(k * n);
	job->c = bench_floats(m * n);
	job->set_num_threads(job->threads);
	bench_interleave_n(sides, 2, options->samples);
	bench_line(name, "GFLOP/s", gflop / bench_median(&sides[0].samples),
		   gflop / bench_median(&sides[1].samples), "OpenBLAS");
	tn_mem_free(job->a);
	tn_mem_free(job->b);
	tn_mem_free(job->c);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	struct bench_backend host = {0};
	struct job job = {.host = &host, .threads = options.threads};
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library || !bench_open(&host, "cpu", (unsigned)job.threads)) {
		printf("# matmul needs libopenblas.so.0 and the plugin (TENON_BUILD)\n");
		return 77;
	}
	*(void **)&job.sgemm = dlsym(library, "cblas_sgemm");
	*(void **)&job.set_num_threads = dlsym(library, "openblas_set_num_threads");
	bench_pause.tv_nsec = 150000000;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		measure(&job, &shapes[i], &options);
	bench_close(&host);
	return 0;
}
