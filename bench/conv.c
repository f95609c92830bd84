/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions of the CPU backend beside oneDNN's, each pass of the layers of LeNet, ResNet-18,
 * EfficientNet-Lite0 and ConvNeXt-T.  Tenon's images are channels last and its weights as a model
 * has them, packed in each call; oneDNN has everything in the form that it likes.
 */
#include "bench.h"
#include "onednn.h"

#include <dlfcn.h>

static const struct bench_conv convs[] = {
	{"3x3 3-64 32x32 b32", 32, 3, 32, 32, 64, 3, 3, 1, 1, 1},
	{"3x3 64-64 32x32 b32", 32, 64, 32, 32, 64, 3, 3, 1, 1, 1},
	{"3x3 128-128 16x16 b32", 32, 128, 16, 16, 128, 3, 3, 1, 1, 1},
	{"3x3 256-256 8x8 b32", 32, 256, 8, 8, 256, 3, 3, 1, 1, 1},
	{"3x3 512-512 4x4 b32", 32, 512, 4, 4, 512, 3, 3, 1, 1, 1},
	{"3x3 stride 2 64-128 32x32 b32", 32, 64, 32, 32, 128, 3, 3, 1, 2, 1},
	{"3x3 stride 2 128-256 16x16 b32", 32, 128, 16, 16, 256, 3, 3, 1, 2, 1},
	{"3x3 stride 2 256-512 8x8 b32", 32, 256, 8, 8, 512, 3, 3, 1, 2, 1},
	{"1x1 stride 2 64-128 32x32 b32", 32, 64, 32, 32, 128, 1, 1, 1, 2, 0},
	{"1x1 stride 2 256-512 8x8 b32", 32, 256, 8, 8, 512, 1, 1, 1, 2, 0},
	{"3x3 64-64 32x32 b1", 1, 64, 32, 32, 64, 3, 3, 1, 1, 1},
	{"3x3 512-512 4x4 b1", 1, 512, 4, 4, 512, 3, 3, 1, 1, 1},
	{"5x5 1-6 28x28 b128", 128, 1, 28, 28, 6, 5, 5, 1, 1, 2},
	{"5x5 6-16 14x14 b128", 128, 6, 14, 14, 16, 5, 5, 1, 1, 0},
	{"3x3 stride 2 3-32 64x64 b8", 8, 3, 64, 64, 32, 3, 3, 1, 2, 1},
	{"1x1 32-16 32x32 b8", 8, 32, 32, 32, 16, 1, 1, 1, 1, 0},
	{"1x1 16-96 32x32 b8", 8, 16, 32, 32, 96, 1, 1, 1, 1, 0},
	{"1x1 96-24 16x16 b8", 8, 96, 16, 16, 24, 1, 1, 1, 1, 0},
	{"1x1 144-40 8x8 b8", 8, 144, 8, 8, 40, 1, 1, 1, 1, 0},
	{"1x1 480-112 4x4 b8", 8, 480, 4, 4, 112, 1, 1, 1, 1, 0},
	{"1x1 192-1152 2x2 b8", 8, 192, 2, 2, 1152, 1, 1, 1, 1, 0},
	{"1x1 320-1280 2x2 b8", 8, 320, 2, 2, 1280, 1, 1, 1, 1, 0},
	{"4x4 stride 4 3-96 64x64 b8", 8, 3, 64, 64, 96, 4, 4, 1, 4, 0},
	{"2x2 stride 2 96-192 16x16 b8", 8, 96, 16, 16, 192, 2, 2, 1, 2, 0},
	{"2x2 stride 2 384-768 4x4 b8", 8, 384, 4, 4, 768, 2, 2, 1, 2, 0},
	{"7x7 96 16x16 b8", 8, 96, 16, 16, 96, 7, 7, 96, 1, 3},
	{"7x7 192 8x8 b8", 8, 192, 8, 8, 192, 7, 7, 192, 1, 3},
	{"7x7 384 4x4 b8", 8, 384, 4, 4, 384, 7, 7, 384, 1, 3},
	{"7x7 768 2x2 b8", 8, 768, 2, 2, 768, 7, 7, 768, 1, 3},
	{"5x5 240 8x8 b8", 8, 240, 8, 8, 240, 5, 5, 240, 1, 2},
	{"3x3 96 32x32 b8", 8, 96, 32, 32, 96, 3, 3, 96, 1, 1},
	{"3x3 144 16x16 b8", 8, 144, 16, 16, 144, 3, 3, 144, 1, 1},
};

static const char *const passes[] = {"forward", "dgrad", "wgrad"};

struct job {
	struct bench_backend *host;
	tn_status (*entry)(void *device, const struct tn_conv2d_args *args);
	struct tn_conv2d_args args;
	struct tn_workspace workspace;
	float *memory[4];
};

static struct tn_operand operand(float *data, const int64_t *shape, int channels_last)
{
	struct tn_operand made = {.buffer = (uint64_t)(uintptr_t)data, .dtype = TN_F32, .rank = 4};
	memcpy(made.shape, shape, 4 * sizeof(*shape));
	made.strides[1] = channels_last ? 1 : shape[2] * shape[3];
	made.strides[3] = channels_last ? shape[1] : 1;
	made.strides[2] = made.strides[3] * shape[3];
	made.strides[0] = shape[1] * shape[2] * shape[3];
	return made;
}

static float *room(const int64_t *shape)
{
	return bench_floats((size_t)(shape[0] * shape[1] * shape[2] * shape[3]));
}

static void run(void *argument)
{
	struct job *job = argument;
	if (job->entry(job->host->device, &job->args) != TN_OK)
		fprintf(stderr, "conv2d failed\n");
}

static void prepare(struct job *job, const struct bench_conv *c, int pass)
{
	const struct tn_nn_table *nn =
		job->host->descriptor->query(job->host->instance, TN_TABLE_NN);
	const int64_t x[4] = {c->n, c->c, c->h, c->w}, w[4] = {c->o, c->c / c->groups, c->r, c->s};
	const int64_t y[4] = {c->n, c->o, bench_windows(c, c->h, c->r),
			      bench_windows(c, c->w, c->s)};
	struct tn_conv2d_args *args = &job->args;
	job->entry = pass == BENCH_FORWARD ? nn->conv2d_forward
		     : pass == BENCH_DGRAD ? nn->conv2d_input_gradient
					   : nn->conv2d_weight_gradient;
	*args = (struct tn_conv2d_args){
		.call = {.struct_size = sizeof(*args)},
		.groups = (uint32_t)c->groups,
		.stride = {c->stride, c->stride},
		.dilation = {1, 1},
		.padding = {c->padding, c->padding, c->padding, c->padding}};
	args->x = operand(job->memory[0] = room(x), x, 1);
	args->w = operand(job->memory[1] = room(w), w, 0);
	args->y = operand(job->memory[2] = room(y), y, 1);
	job->workspace = (struct tn_workspace){.struct_size = sizeof(job->workspace)};
	args->call.workspace = &job->workspace;
	args->call.flags = TN_DRY_RUN;
	run(job);
	args->call.flags = 0;
	job->workspace.size = job->workspace.preferred;
	job->memory[3] = bench_floats(job->workspace.size / sizeof(float) + 64);
	job->workspace.buffer = (uint64_t)(uintptr_t)job->memory[3];
}

/* The way that is fastest in a few calls. */
static struct bench_onednn *best_way(const struct bench_conv *conv, int pass, const char **name)
{
	struct bench_onednn *best = NULL;
	double least = 0;
	for (int way = 0; way < BENCH_ONEDNN_WAYS; way++) {
		struct bench_onednn *one = bench_onednn_open(conv, pass, way);
		struct bench_side side = {.run = bench_onednn_run, .argument = one};
		double time = 0;
		for (int i = 0; one && i < 5; i++) {
			double once = bench_time(&side, 1);
			time = i == 0 || once < time ? once : time;
		}
		if (!one || (best && time >= least)) {
			bench_onednn_close(one);
			continue;
		}
		bench_onednn_close(best);
		best = one;
		least = time;
		*name = bench_onednn_name(way);
	}
	return best;
}

static void measure(struct bench_backend *host, const struct bench_conv *c, int pass,
		    const char *name, int samples)
{
	struct job job = {.host = host};
	const char *rival = "";
	double flops = 2.0 * (double)(c->n * c->o * (c->c / c->groups) * c->r * c->s) *
		       (double)(bench_windows(c, c->h, c->r) * bench_windows(c, c->w, c->s));
	prepare(&job, c, pass);
	struct bench_onednn *other = best_way(c, pass, &rival);
	struct bench_side sides[2] = {{.run = run, .argument = &job},
				      {.run = bench_onednn_run, .argument = other}};
	if (other) {
		bench_interleave_n(sides, 2, samples);
		bench_line(name, "GFLOP/s", flops / bench_median(&sides[0].samples) / 1e9,
			   flops / bench_median(&sides[1].samples) / 1e9, rival);
	} else {
		printf("# %s: oneDNN does not do it\n", name);
	}
	bench_onednn_close(other);
	for (int i = 0; i < 4; i++)
		tn_mem_free(job.memory[i]);
}

static void set_threads(int threads)
{
	void (*set)(int);
	*(void **)&set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
	if (set)
		set(threads);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	struct bench_backend host = {0};
	char name[128];
	if (!bench_open(&host, "cpu", (unsigned)options.threads))
		return 77;
	set_threads(options.threads);
	for (size_t i = 0; i < sizeof(convs) / sizeof(*convs); i++) {
		for (int pass = 0; pass < 3; pass++) {
			snprintf(name, sizeof(name), "%s %s %s",
				 convs[i].groups > 1 ? "depthwise" : "conv", passes[pass],
				 convs[i].name);
			if (bench_wanted(&options, name))
				measure(&host, &convs[i], pass, name, options.samples);
		}
	}
	bench_close(&host);
	return 0;
}
