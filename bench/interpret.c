/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * bench/interpret [THREADS [VARIANT [NAME]]]: the host's interpreter with the CPU backend's kernels
 * ("none": with the portable ones), against the plain copy of memory, measured in turns in one run.
 * Best of the rounds; GB/s count every operand once; the ratio is to the better of two copies: by
 * memcpy in cache-sized pieces and by the non-temporal copy.  NAME: only cases whose name has it,
 * or "small".
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tenon/program.h>

#include "../plugins/cpu_blas/kernels/kernels.h"
#include "base/threads.h"
#include "interpret/interpret.h"

#define N 10000000
#define ROUNDS 30
#define CALLS 1000

static struct tn_threads *threads;
static const struct tn_block_kernels *kernels;
static struct cpu_block_table table;
static float *memory[8];

/* One thread is measured by the processor's time, which neighbours disturb less. */
static double now(void)
{
	struct timespec t;
	clock_gettime(tn_threads_count(threads) == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
		      &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct tn_program *parse(const char *text, uint32_t n_inputs, const char *const *inputs,
				uint32_t n_scalars, const char *const *scalars, uint32_t n_outputs,
				const char *const *outputs)
{
	static const tn_dtype f32[8] = {TN_F32, TN_F32, TN_F32, TN_F32,
					TN_F32, TN_F32, TN_F32, TN_F32};
	struct tn_program_names names = {.struct_size = sizeof(names),
					 .n_inputs = n_inputs,
					 .n_scalars = n_scalars,
					 .n_outputs = n_outputs,
					 .inputs = inputs,
					 .input_dtypes = f32,
					 .scalars = scalars,
					 .scalar_dtypes = f32,
					 .outputs = outputs};
	struct tn_error_info error;
	struct tn_program *program;
	if (tn_program_parse(text, &names, &program, &error)) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	return program;
}

static struct tn_operand operand(float *at, unsigned rank, const int64_t *shape,
				 const int64_t *strides)
{
	struct tn_operand o = {.buffer = (uint64_t)at, .dtype = TN_F32, .rank = rank};
	int64_t stride = 1;
	for (unsigned d = rank; d-- > 0;) {
		o.shape[d] = shape[d];
		o.strides[d] = strides ? strides[d] : stride;
		stride *= shape[d];
	}
	return o;
}

static void check(tn_status status, const struct tn_error_info *error)
{
	if (status) {
		fprintf(stderr, "%s: %s\n", error->operation, error->text);
		exit(1);
	}
}

/* ---- The cases: each is prepared once and run in turns ---- */

struct work {
	const char *name;
	double bytes; /* read and written */
	double best;
	void (*copy)(void);
	struct tn_map_args map;
	struct tn_reduce_args reduce;
	struct tn_operand inputs[8], outputs[4];
	struct tn_scalar scalars[8];
	struct tn_error_info error;
};

static void copy_plain(void *argument, uint64_t begin, uint64_t end)
{
	(void)argument;
	memcpy(memory[1] + begin, memory[0] + begin, (end - begin) * sizeof(float));
}

static void copy_streamed(void *argument, uint64_t begin, uint64_t end)
{
	(void)argument;
	kernels->stream_copy(memory[1] + begin, memory[0] + begin, (end - begin) * sizeof(float));
}

static void run_plain(void)
{
	tn_parallel_for(threads, N, 1 << 16, copy_plain, NULL);
}

static void run_streamed(void)
{
	if (kernels && kernels->stream_copy)
		tn_parallel_for(threads, N, 1 << 16, copy_streamed, NULL);
	else
		run_plain();
}

static void run(struct work *w)
{
	double start = now();
	if (w->copy)
		w->copy();
	else if (w->map.program)
		check(tn_interpret_map(threads, &w->map, kernels), &w->error);
	else
		check(tn_interpret_reduce(threads, &w->reduce, kernels), &w->error);
	double seconds = now() - start;
	if (!w->best || seconds < w->best)
		w->best = seconds;
}

static struct work *new_map(const char *name, struct tn_program *program, double bytes)
{
	struct work *w = calloc(1, sizeof(*w));
	w->name = name;
	w->bytes = bytes;
	w->map = (struct tn_map_args){.call = {.struct_size = sizeof(w->map), .error = &w->error},
				      .program = program,
				      .inputs = w->inputs,
				      .outputs = w->outputs,
				      .scalars = w->scalars};
	for (int s = 0; s < 8; s++) {
		float value = 0.01f * (float)(s + 1);
		w->scalars[s].dtype = TN_F32;
		memcpy(&w->scalars[s].bits, &value, sizeof(value));
	}
	return w;
}

static struct work *new_reduce(const char *name, struct tn_program *program, uint32_t combiner,
			       uint32_t n_reduced, double bytes)
{
	struct work *w = calloc(1, sizeof(*w));
	w->name = name;
	w->bytes = bytes;
	w->reduce = (struct tn_reduce_args){
		.call = {.struct_size = sizeof(w->reduce), .error = &w->error},
		.prologue = program,
		.inputs = w->inputs,
		.outputs = w->outputs,
		.n_reduced = n_reduced,
		.n_values = 1,
		.combiners = {combiner}};
	return w;
}

static struct tn_program *identity(void)
{
	return parse("y = x", 1, (const char *[]){"x"}, 0, NULL, 1, (const char *[]){"y"});
}

static const char adamw[] = "m = b1*m0 + (1-b1)*g;"
			    "v = b2*v0 + (1-b2)*g*g;"
			    "p = p0 - lr*wd*p0 - lr*(m*c1)/(sqrt(v*c2) + eps);";

static struct work *new_adamw(const char *name, int in_place)
{
	static const char *const inputs[] = {"p0", "g", "m0", "v0"};
	static const char *const scalars[] = {"lr", "b1", "b2", "wd", "c1", "c2", "eps"};
	static const char *const outputs[] = {"p", "m", "v"};
	struct work *w = new_map(name, parse(adamw, 4, inputs, 7, scalars, 3, outputs), 28.0 * N);
	const int64_t shape[] = {N};
	for (int k = 0; k < 4; k++)
		w->inputs[k] = operand(memory[k], 1, shape, NULL);
	w->outputs[0] = operand(in_place ? memory[0] : memory[4], 1, shape, NULL);
	w->outputs[1] = operand(in_place ? memory[2] : memory[5], 1, shape, NULL);
	w->outputs[2] = operand(in_place ? memory[3] : memory[6], 1, shape, NULL);
	return w;
}

static struct work *new_unary(const char *name, const char *text)
{
	const int64_t shape[] = {N};
	struct work *w = new_map(
		name, parse(text, 1, (const char *[]){"x"}, 0, NULL, 1, (const char *[]){"y"}),
		8.0 * N);
	w->inputs[0] = operand(memory[0], 1, shape, NULL);
	w->outputs[0] = operand(memory[1], 1, shape, NULL);
	return w;
}

static struct work *new_axpy(void)
{
	const int64_t shape[] = {N};
	struct work *w = new_map("z = a*x + y",
				 parse("z = a*x + y", 2, (const char *[]){"x", "y"}, 1,
				       (const char *[]){"a"}, 1, (const char *[]){"z"}),
				 12.0 * N);
	w->inputs[0] = operand(memory[0], 1, shape, NULL);
	w->inputs[1] = operand(memory[1], 1, shape, NULL);
	w->outputs[0] = operand(memory[2], 1, shape, NULL);
	return w;
}

static struct work *new_rows(const char *name, uint32_t combiner, int transposed, int64_t rows,
			     int64_t columns)
{
	struct work *w = new_reduce(name, identity(), combiner, 1, 4.0 * N);
	if (transposed)
		w->inputs[0] = operand(memory[0], 2, (const int64_t[]){columns, rows},
				       (const int64_t[]){1, columns});
	else
		w->inputs[0] = operand(memory[0], 2, (const int64_t[]){rows, columns}, NULL);
	w->outputs[0] = operand(memory[1], 1, (const int64_t[]){transposed ? columns : rows}, NULL);
	return w;
}

static struct work *new_transposition(void)
{
	struct work *w = new_map("transposed copy 10000x1000", identity(), 8.0 * N);
	w->inputs[0] =
		operand(memory[0], 2, (const int64_t[]){1000, 10000}, (const int64_t[]){1, 1000});
	w->outputs[0] = operand(memory[1], 2, (const int64_t[]){1000, 10000}, NULL);
	return w;
}

static struct work *new_bias(void)
{
	struct work *w = new_map("bias and relu, rows of 1000",
				 parse("z = max(x + b, 0.0)", 2, (const char *[]){"x", "b"}, 0,
				       NULL, 1, (const char *[]){"z"}),
				 8.0 * N);
	w->inputs[0] = operand(memory[0], 2, (const int64_t[]){10000, 1000}, NULL);
	w->inputs[1] =
		operand(memory[2], 2, (const int64_t[]){10000, 1000}, (const int64_t[]){0, 1});
	w->outputs[0] = operand(memory[1], 2, (const int64_t[]){10000, 1000}, NULL);
	return w;
}

/* A batch of 32 pictures of `side` by `side`, whose logical axes are N, C, H, W; in memory the
 * channels come last, or first. */
static struct tn_operand pictures(float *at, int64_t channels, int64_t side, int channels_last)
{
	const int64_t plane = side * side, picture = plane * channels;
	const int64_t shape[] = {32, channels, side, side};
	const int64_t last[] = {picture, 1, side * channels, channels};
	return operand(at, 4, shape, channels_last ? last : NULL);
}

/* The sum for each channel: the gradient of a bias. */
static struct work *new_channel_sum(const char *name, int64_t channels, int64_t side,
				    int channels_last)
{
	const int64_t n = 32 * channels * side * side;
	struct work *w = new_reduce(name, identity(), TN_REDUCE_SUM, 3, 4.0 * (double)n);
	struct tn_operand x = pictures(memory[0], channels, side, channels_last);
	const int order[] = {1, 0, 2, 3};
	w->inputs[0] = x;
	for (int d = 0; d < 4; d++) {
		w->inputs[0].shape[d] = x.shape[order[d]];
		w->inputs[0].strides[d] = x.strides[order[d]];
	}
	w->outputs[0] = operand(memory[1], 1, &channels, NULL);
	return w;
}

/* y = a x + b with a and b for each channel. */
static struct work *new_channel_scale(const char *name, int64_t channels, int64_t side,
				      int channels_last)
{
	static const char *const inputs[] = {"x", "a", "b"};
	const int64_t n = 32 * channels * side * side;
	const int64_t shape[] = {32, channels, side, side};
	struct work *w =
		new_map(name, parse("y = a*x + b", 3, inputs, 0, NULL, 1, (const char *[]){"y"}),
			8.0 * (double)n);
	w->inputs[0] = pictures(memory[0], channels, side, channels_last);
	w->inputs[1] = operand(memory[2], 4, shape, (const int64_t[]){0, 1, 0, 0});
	w->inputs[2] = operand(memory[3], 4, shape, (const int64_t[]){0, 1, 0, 0});
	w->outputs[0] = pictures(memory[1], channels, side, channels_last);
	return w;
}

/* z = x + y with all operands in one order that is not the row-major one, or y in another one. */
static struct work *new_sum_of_pictures(const char *name, int second_channels_last)
{
	struct work *w = new_map(name,
				 parse("z = x + y", 2, (const char *[]){"x", "y"}, 0, NULL, 1,
				       (const char *[]){"z"}),
				 12.0 * 32 * 64 * 32 * 32);
	w->inputs[0] = pictures(memory[0], 64, 32, 1);
	w->inputs[1] = pictures(memory[2], 64, 32, second_channels_last);
	w->outputs[0] = pictures(memory[1], 64, 32, 1);
	return w;
}

/* Largest of 2 by 2 windows of 128 x 6 planes of 28 x 28. */
static struct work *new_pool(void)
{
	struct work *w = new_reduce("max pool 2x2 of 128x6x28x28", identity(), TN_REDUCE_MAX, 2,
				    4.0 * 128 * 6 * 28 * 28 * 1.25);
	w->inputs[0] = operand(memory[0], 5, (const int64_t[]){128 * 6, 14, 14, 2, 2},
			       (const int64_t[]){784, 56, 2, 28, 1});
	w->outputs[0] = operand(memory[1], 3, (const int64_t[]){128 * 6, 14, 14}, NULL);
	return w;
}

/* K by K depthwise convolution of 8 x 96 planes; its bytes are given as if each product were one,
 * so that GB/s / 2 are GFLOP/s / 2. */
static struct work *new_depthwise(const char *name, int64_t k, int64_t side)
{
	struct work *w = new_reduce(
		name,
		parse("z = x*w", 2, (const char *[]){"x", "w"}, 0, NULL, 1, (const char *[]){"z"}),
		TN_REDUCE_SUM, 2, 2.0 * 8 * 96 * side * side * k * k);
	int64_t padded = side + k - 1;
	const int64_t shape[] = {8, 96, side, side, k, k};
	w->inputs[0] = operand(
		memory[0], 6, shape,
		(const int64_t[]){96 * padded * padded, padded * padded, padded, 1, padded, 1});
	w->inputs[1] = operand(memory[2], 6, shape, (const int64_t[]){0, k * k, 0, 0, k, 1});
	w->outputs[0] = operand(memory[1], 4, shape, NULL);
	return w;
}

static struct work *new_copy(const char *name, void (*copy)(void))
{
	struct work *w = calloc(1, sizeof(*w));
	w->name = name;
	w->bytes = 8.0 * N;
	w->copy = copy;
	return w;
}

/* ---- Small calls ---- */

static void time_small(const char *name, struct work *w)
{
	double best = 1;
	for (int round = 0; round < 10 * ROUNDS; round++) {
		double start = now();
		for (int i = 0; i < CALLS; i++) {
			if (w->map.program)
				tn_interpret_map(threads, &w->map, kernels);
			else
				tn_interpret_reduce(threads, &w->reduce, kernels);
		}
		double seconds = (now() - start) / CALLS;
		best = seconds < best ? seconds : best;
	}
	printf("%-36s %8.0f ns a call\n", name, 1e9 * best);
}

static void small_calls(void)
{
	static const int64_t sizes[] = {1, 16, 1000};
	for (int s = 0; s < 3; s++) {
		char name[64];
		struct work *w = new_axpy();
		w->inputs[0].shape[0] = w->inputs[1].shape[0] = w->outputs[0].shape[0] = sizes[s];
		snprintf(name, sizeof(name), "z = a*x + y, %d elements", (int)sizes[s]);
		time_small(name, w);
		w = new_map("",
			    parse("z = x + y", 2, (const char *[]){"x", "y"}, 0, NULL, 1,
				  (const char *[]){"z"}),
			    0);
		for (int k = 0; k < 2; k++)
			w->inputs[k] = operand(memory[k], 1, &sizes[s], NULL);
		w->outputs[0] = operand(memory[2], 1, &sizes[s], NULL);
		snprintf(name, sizeof(name), "z = x + y, %d elements", (int)sizes[s]);
		time_small(name, w);
		w = new_rows("", TN_REDUCE_SUM, 0, 1, sizes[s]);
		snprintf(name, sizeof(name), "sum of %d elements", (int)sizes[s]);
		time_small(name, w);
		w = new_adamw("", 1);
		for (int k = 0; k < 4; k++)
			w->inputs[k].shape[0] = w->outputs[k % 3].shape[0] = sizes[s];
		snprintf(name, sizeof(name), "AdamW step, %d elements", (int)sizes[s]);
		time_small(name, w);
	}
}

int main(int argc, char **argv)
{
	const struct cpu_kernels *chosen = cpu_kernels_choose(argc > 2 ? argv[2] : NULL);
	threads = tn_threads_create(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
	if (chosen && !(argc > 2 && !strcmp(argv[2], "none"))) {
		cpu_block_table_fill(&table, chosen);
		kernels = &table.block;
	}
	for (int k = 0; k < 8; k++) {
		memory[k] = aligned_alloc(4096, (N + 2048) * sizeof(float));
		for (int i = 0; i < N; i++)
			memory[k][i] = (float)(i % 1000 + 1) * 0.001f;
	}
	struct work *works[] = {
		new_copy("copy by memcpy", run_plain),
		new_copy("copy past the caches", run_streamed),
		new_axpy(),
		new_adamw("AdamW in place", 1),
		new_adamw("AdamW to new arrays", 0),
		new_unary("relu", "y = max(x, 0.0)"),
		new_unary("exp", "y = exp(x)"),
		new_unary("tanh", "y = tanh(x)"),
		new_unary("gelu", "y = 0.5*x*(1.0 + erf(x*0.70710678))"),
		new_bias(),
		new_transposition(),
		new_rows("sum of all", TN_REDUCE_SUM, 0, 1, N),
		new_rows("sum of rows, 10000x1000", TN_REDUCE_SUM, 0, 10000, 1000),
		new_rows("sum of columns, 10000x1000", TN_REDUCE_SUM, 1, 10000, 1000),
		new_rows("sum of rows, 1000000x10", TN_REDUCE_SUM, 0, 1000000, 10),
		new_rows("max of rows, 10000x1000", TN_REDUCE_MAX, 0, 10000, 1000),
		new_rows("argmax of rows, 10000x1000", TN_REDUCE_ARGMAX, 0, 10000, 1000),
		new_rows("argmax of columns, 10000x1000", TN_REDUCE_ARGMAX, 1, 10000, 1000),
		new_rows("max of columns, 10000x1000", TN_REDUCE_MAX, 1, 10000, 1000),
		new_channel_sum("sum of channels, NHWC 32x64x32x32", 64, 32, 1),
		new_channel_sum("sum of channels, NHWC 32x512x4x4", 512, 4, 1),
		new_channel_sum("sum of channels, NHWC 32x6x112x112", 6, 112, 1),
		new_channel_sum("sum of channels, NCHW 32x64x32x32", 64, 32, 0),
		new_channel_sum("sum of channels, NCHW 32x512x4x4", 512, 4, 0),
		new_channel_scale("scale of channels, NHWC 32x64x32x32", 64, 32, 1),
		new_channel_scale("scale of channels, NHWC 32x512x4x4", 512, 4, 1),
		new_channel_scale("scale of channels, NHWC 32x6x112x112", 6, 112, 1),
		new_channel_scale("scale of channels, NCHW 32x64x32x32", 64, 32, 0),
		new_channel_scale("scale of channels, NCHW 32x512x4x4", 512, 4, 0),
		new_sum_of_pictures("NHWC + NHWC, 32x64x32x32", 1),
		new_sum_of_pictures("NHWC + NCHW, 32x64x32x32", 0),
		new_pool(),
		new_depthwise("depthwise 3x3, 8x96x32x32", 3, 32),
		new_depthwise("depthwise 7x7, 8x96x16x16", 7, 16),
	};
	const char *only = argc > 3 ? argv[3] : "";
	int n = 2;
	for (int i = 2; i < (int)(sizeof(works) / sizeof(*works)); i++) {
		if (strstr(works[i]->name, only))
			works[n++] = works[i];
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < n; i++)
			run(works[i]);
	}
	double copy = fmax(works[0]->bytes / works[0]->best, works[1]->bytes / works[1]->best);
	printf("%u threads, kernels: %s\n", tn_threads_count(threads),
	       kernels ? chosen->name : "portable");
	for (int i = 0; i < n; i++)
		printf("%-36s %8.3f ms %7.1f GB/s  %5.2f of copy\n", works[i]->name,
		       1e3 * works[i]->best, 1e-9 * works[i]->bytes / works[i]->best,
		       works[i]->bytes / works[i]->best / copy);
	if (!*only || !strcmp(only, "small"))
		small_calls();
	return 0;
}
