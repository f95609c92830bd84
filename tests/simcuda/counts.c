/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The cost of the CUDA backend's kernels on the simulated device: a line for each of a fixed set of
 * operations on fixed shapes, with its launches, instructions of warps, and sectors of 32 bytes
 * read and written.  The last two numbers are the least number of bytes to move, each once, and the
 * allowed multiple of it; 0: not checked, because repeated reads are served by the caches.
 *
 *     counts          tests/simcuda/counts.sh runs it, and compares
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "simcuda.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SHAPE(...)                                                                                 \
	(int)COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[])                                        \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

enum { MOST = 1 << 18, CHANNELS = 32 };

struct work {
	tn_context *context;
	tn_array *in[3], *out, *gradient;
	tn_tape *tape;
	tn_module *net;
	tn_optimizer *optimizer;
};

/* ---- Inputs ----------------------------------------------------------------------------------*/

/* From -1 to 1, the same in every run. */
static tn_array *numbers(struct work *w, int rank, const int64_t *shape)
{
	static float data[MOST];
	static uint32_t seed = 1;
	int64_t n = 1;
	for (int d = 0; d < rank; d++)
		n *= shape[d];
	for (int64_t i = 0; i < n && i < MOST; i++) {
		seed = seed * 1664525 + 1013904223;
		data[i] = (float)(seed >> 8) * 0x1p-23f - 1;
	}
	return n <= MOST ? tn_from_host(w->context, TN_F32, rank, shape, data) : NULL;
}

/* n labels below `most`, some of them equal. */
static tn_array *labels(struct work *w, int64_t n, int32_t most)
{
	int32_t data[1024];
	for (int64_t i = 0; i < n; i++)
		data[i] = (int32_t)(i * i % most);
	return tn_from_host(w->context, TN_I32, 1, &n, data);
}

/* Starts recording gradients with respect to input `i`. */
static void record(struct work *w, int i)
{
	w->tape = tn_tape_begin(w->context);
	if (w->tape && tn_tape_watch(w->tape, w->in[i]))
		w->in[i] = NULL;
}

/* Keeps the result `out` and, if there is a tape, makes its upstream gradient. */
static void give(struct work *w, tn_array *out)
{
	w->out = out;
	if (out && w->tape && tn_array_rank(out) > 0)
		w->gradient = numbers(w, tn_array_rank(out), tn_array_shape(out));
}

static int go_back(struct work *w)
{
	return w->tape && w->out && !tn_tape_backward(w->tape, w->out, w->gradient);
}

/* ---- Element programs, copies ----------------------------------------------------------------*/

static void make_matrices(struct work *w)
{
	for (int i = 0; i < 3; i++)
		w->in[i] = numbers(w, SHAPE(256, 256));
}

static int run_map(struct work *w)
{
	const tn_array *in[] = {w->in[0], w->in[1], w->in[2]};
	return tn_map("z = max(a * x + y, 0.5 * x)", 3, (const char *[]){"a", "x", "y"}, in, 0,
		      NULL, NULL) != NULL;
}

static void make_row(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(256, 256));
	w->in[1] = numbers(w, SHAPE(256));
}

static int run_add(struct work *w)
{
	return tn_add(w->in[0], w->in[1]) != NULL;
}

static void make_strided(struct work *w)
{
	w->in[0] = tn_slice(numbers(w, SHAPE(256, 256)), 1, 0, 256, 2);
}

static void make_transpose(struct work *w)
{
	w->in[0] = tn_transpose(numbers(w, SHAPE(256, 256)), NULL);
}

static int run_copy(struct work *w)
{
	return tn_contiguous(w->in[0]) != NULL;
}

/* ---- Reductions ------------------------------------------------------------------------------*/

static int run_sum_rows(struct work *w)
{
	return tn_sum(w->in[0], 1, (int[]){1}, 0) != NULL;
}

static int run_sum_columns(struct work *w)
{
	return tn_sum(w->in[0], 1, (int[]){0}, 0) != NULL;
}

static int run_sum_all(struct work *w)
{
	return tn_sum(w->in[0], TN_ALL_AXES, NULL, 0) != NULL;
}

/* ---- Softmax, norms --------------------------------------------------------------------------*/

static int run_softmax(struct work *w)
{
	return tn_softmax(w->in[0], 1) != NULL;
}

static void make_softmax(struct work *w)
{
	make_row(w);
	record(w, 0);
	give(w, tn_softmax(w->in[0], 1));
}

static void make_layer_norm_inputs(struct work *w)
{
	make_row(w);
	w->in[2] = numbers(w, SHAPE(256));
}

static int run_layer_norm(struct work *w)
{
	return tn_layer_norm(w->in[0], w->in[1], w->in[2], 1, 1e-5) != NULL;
}

static void make_layer_norm(struct work *w)
{
	make_layer_norm_inputs(w);
	record(w, 0);
	give(w, tn_layer_norm(w->in[0], w->in[1], w->in[2], 1, 1e-5));
}

static tn_array *batch_norm(struct work *w)
{
	struct tn_batch_norm_options options = tn_batch_norm_defaults();
	options.training = 1;
	return tn_batch_norm(w->in[0], w->in[1], w->in[2], &options);
}

static void make_batch_norm_inputs(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(8, CHANNELS, 16, 16));
	w->in[1] = numbers(w, SHAPE(CHANNELS));
	w->in[2] = numbers(w, SHAPE(CHANNELS));
}

static int run_batch_norm(struct work *w)
{
	return batch_norm(w) != NULL;
}

static void make_batch_norm(struct work *w)
{
	make_batch_norm_inputs(w);
	record(w, 0);
	give(w, batch_norm(w));
}

/* ---- Convolutions, pools ---------------------------------------------------------------------*/

static tn_array *convolve(struct work *w)
{
	struct tn_conv2d_options options = tn_conv2d_defaults();
	options.padding[0] = options.padding[1] = 1;
	if (tn_array_shape(w->in[1])[1] == 1)
		options.groups = CHANNELS;
	return tn_conv2d(w->in[0], w->in[1], NULL, &options);
}

static int run_conv2d(struct work *w)
{
	return w->in[0] && w->in[1] && convolve(w) != NULL;
}

static void make_conv2d_inputs(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(4, 16, 16, 16));
	w->in[1] = numbers(w, SHAPE(CHANNELS, 16, 3, 3));
}

/* Of f16, channels last: by tensor cores. */
static void make_conv2d_half_inputs(struct work *w)
{
	make_conv2d_inputs(w);
	for (int i = 0; i < 2; i++)
		w->in[i] = tn_channels_last(tn_astype(w->in[i], TN_F16));
}

static void make_depthwise_inputs(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(4, CHANNELS, 16, 16));
	w->in[1] = numbers(w, SHAPE(CHANNELS, 1, 3, 3));
}

static void make_conv2d_gradient(struct work *w, int input)
{
	record(w, input);
	if (w->in[0] && w->in[1])
		give(w, convolve(w));
}

static void make_conv2d_dx(struct work *w)
{
	make_conv2d_inputs(w);
	make_conv2d_gradient(w, 0);
}

static void make_conv2d_dw(struct work *w)
{
	make_conv2d_inputs(w);
	make_conv2d_gradient(w, 1);
}

static void make_depthwise_dx(struct work *w)
{
	make_depthwise_inputs(w);
	make_conv2d_gradient(w, 0);
}

static void make_depthwise_dw(struct work *w)
{
	make_depthwise_inputs(w);
	make_conv2d_gradient(w, 1);
}

static const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};

static void make_pool_inputs(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(4, 16, 32, 32));
}

static int run_max_pool(struct work *w)
{
	return tn_max_pool2d(w->in[0], &pool) != NULL;
}

static int run_average_pool(struct work *w)
{
	return tn_avg_pool2d(w->in[0], &pool) != NULL;
}

static void make_max_pool(struct work *w)
{
	make_pool_inputs(w);
	record(w, 0);
	give(w, tn_max_pool2d(w->in[0], &pool));
}

static void make_average_pool(struct work *w)
{
	make_pool_inputs(w);
	record(w, 0);
	give(w, tn_avg_pool2d(w->in[0], &pool));
}

/* ---- Gathering, losses -----------------------------------------------------------------------*/

static void make_take_inputs(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(500, 64));
	w->in[1] = labels(w, 256, 500);
}

static int run_take(struct work *w)
{
	return tn_take(w->in[0], w->in[1], 0, TN_RAISE) != NULL;
}

static void make_take(struct work *w)
{
	make_take_inputs(w);
	record(w, 0);
	give(w, tn_take(w->in[0], w->in[1], 0, TN_RAISE));
}

static void make_logits(struct work *w)
{
	w->in[0] = numbers(w, SHAPE(256, 128));
	w->in[1] = labels(w, 256, 128);
}

static int run_cross_entropy(struct work *w)
{
	return tn_cross_entropy(w->in[0], w->in[1], NULL) != NULL;
}

static void make_cross_entropy(struct work *w)
{
	make_logits(w);
	record(w, 0);
	give(w, tn_cross_entropy(w->in[0], w->in[1], NULL));
}

/* ---- A step of training ----------------------------------------------------------------------*/

static int run_step(struct work *w)
{
	if (!w->optimizer)
		return 0;
	tn_module_zero_gradients(w->net);
	tn_tape *tape = tn_tape_begin(w->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(w->net, w->in[0]), w->in[1], NULL);
	int good = loss && !tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	return good && !tn_optimizer_step(w->optimizer);
}

/* After the first step, which does more. */
static void make_lenet(struct work *w)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.02;
	sgd.momentum = 0.9;
	w->in[0] = numbers(w, SHAPE(8, 1, 28, 28));
	w->in[1] = labels(w, 8, 10);
	w->net = tn_model_create(w->context, "lenet", &shape);
	if (!w->net || tn_module_build(w->net))
		return;
	tn_module_set_training(w->net, 1);
	w->optimizer = tn_sgd(w->net, &sgd);
	(void)run_step(w);
}

/* ---- The table -------------------------------------------------------------------------------*/

enum {
	MATRIX = 256 * 256 * 4,
	PICTURES = 8 * CHANNELS * 16 * 16 * 4,
	POOLED = 4 * 16 * 32 * 32 * 4,
	TAKEN = 256 * 64 * 4,
	LOGITS = 256 * 128 * 4,
};

/* Two percent above the least allow for costs independent of the shape.  Sums have a second stage,
 * whose terms are written and read again; over columns there are eight per column, each in its own
 * sector. */
static const struct item {
	const char *name;
	void (*make)(struct work *w);
	int (*run)(struct work *w);
	unsigned least; /* bytes */
	double most;    /* times the least */
} items[] = {
	{"map", make_matrices, run_map, 4 * MATRIX, 1.02},
	{"map.broadcast", make_row, run_add, 2 * MATRIX, 0},
	{"copy.strided", make_strided, run_copy, MATRIX + MATRIX / 2, 1.02},
	{"copy.transpose", make_transpose, run_copy, 2 * MATRIX, 1.02},
	{"sum.rows", make_row, run_sum_rows, MATRIX, 1.05},
	{"sum.columns", make_row, run_sum_columns, MATRIX, 1.3},
	{"sum.all", make_row, run_sum_all, MATRIX, 1.05},
	{"softmax", make_row, run_softmax, 2 * MATRIX, 0},
	{"softmax.gradient", make_softmax, go_back, 3 * MATRIX, 0},
	{"layer_norm", make_layer_norm_inputs, run_layer_norm, 2 * MATRIX, 0},
	{"layer_norm.gradient", make_layer_norm, go_back, 3 * MATRIX, 0},
	{"batch_norm", make_batch_norm_inputs, run_batch_norm, 2 * PICTURES, 0},
	{"batch_norm.gradient", make_batch_norm, go_back, 3 * PICTURES, 0},
	{"conv2d", make_conv2d_inputs, run_conv2d, 0, 0},
	{"conv2d.dx", make_conv2d_dx, go_back, 0, 0},
	{"conv2d.dw", make_conv2d_dw, go_back, 0, 0},
	{"conv2d.half", make_conv2d_half_inputs, run_conv2d, 0, 0},
	{"depthwise", make_depthwise_inputs, run_conv2d, 0, 0},
	{"depthwise.dx", make_depthwise_dx, go_back, 0, 0},
	{"depthwise.dw", make_depthwise_dw, go_back, 0, 0},
	{"max_pool", make_pool_inputs, run_max_pool, POOLED + POOLED / 4, 0},
	{"max_pool.gradient", make_max_pool, go_back, 2 * POOLED + POOLED / 4, 0},
	{"average_pool", make_pool_inputs, run_average_pool, POOLED + POOLED / 4, 0},
	{"average_pool.gradient", make_average_pool, go_back, POOLED + POOLED / 4, 0},
	{"take", make_take_inputs, run_take, 2 * TAKEN, 0},
	{"take.gradient", make_take, go_back, 0, 0},
	{"cross_entropy", make_logits, run_cross_entropy, LOGITS, 0},
	{"cross_entropy.gradient", make_cross_entropy, go_back, 2 * LOGITS, 0},
	{"lenet.step", make_lenet, run_step, 0, 0},
};

/* ---- Counting --------------------------------------------------------------------------------*/

static struct simcuda_counts (*counts_of_device)(void);

static void drop(struct work *w)
{
	tn_tape_end(w->tape);
	tn_optimizer_destroy(w->optimizer);
	tn_module_destroy(w->net);
	tn_scope_end(w->context, NULL);
}

static int count(tn_context *context, const struct item *item)
{
	struct work w = {.context = context};
	if (tn_scope_begin(context))
		return 0;
	item->make(&w);
	int good = !tn_error(context) && !tn_synchronize(context);
	const struct simcuda_counts before = counts_of_device();
	good = good && item->run(&w) && !tn_synchronize(context);
	const struct simcuda_counts after = counts_of_device();
	uint64_t written = after.written - before.written;
	drop(&w);
	if (good)
		printf("%s %llu %llu %llu %llu %u %g\n", item->name,
		       (unsigned long long)(after.launches - before.launches),
		       (unsigned long long)(after.instructions - before.instructions),
		       (unsigned long long)(after.sectors - before.sectors - written),
		       (unsigned long long)written, item->least, item->most);
	else
		fprintf(stderr, "%s: %s\n", item->name,
			tn_error(context) ? tn_error(context)->text : "it failed");
	return good;
}

/* Queries the simulated libraries, which the backend has opened. */
static void *find(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;
	if (!found)
		fprintf(stderr, "%s: %s is not there: not the simulated CUDA?\n", library, name);
	return found;
}

/* What the numbers depend on: the compiler, and the device. */
static int tell_head(tn_context *context)
{
	int (*version)(int *major, int *minor) = NULL;
	void *counts = find("libcudart.so.13", "simcudaCounts");
	void *asked = find("libnvrtc.so.13", "nvrtcVersion");
	int major = 0, minor = 0;
	memcpy(&counts_of_device, &counts, sizeof(counts));
	memcpy(&version, &asked, sizeof(asked));
	if (!counts || !version || version(&major, &minor))
		return 0;
	printf("# NVRTC %d.%d, %s\n", major, minor,
	       tn_device_describe(tn_device_current(context))->name);
	return 1;
}

int main(void)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	if (tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s: %s\n", error.operation, error.text);
		return 1;
	}
	struct work w = {.context = context};
	/* The compiler is opened by the first kernel. */
	int good = !tn_scope_begin(context) && numbers(&w, SHAPE(4)) &&
		   tn_exp(numbers(&w, SHAPE(4))) && !tn_synchronize(context);
	tn_scope_end(context, NULL);
	good = good && tell_head(context);
	for (size_t i = 0; good && i < COUNT(items); i++)
		good = count(context, &items[i]);
	tn_context_close(context);
	return !good;
}
