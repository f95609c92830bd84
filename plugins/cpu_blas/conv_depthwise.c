/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Depthwise convolution: as many groups as channels, in and out.
 *
 * Weights are repacked to rows of channels, one per tap.  Work is cut into boxes of images, rows
 * and as many channels as have their weights in half of L1.  A box of the weight gradient has its
 * own sums, which are added in the order of the boxes.  All cuts depend on the shape alone.
 */
#include <math.h>
#include <string.h>

#include "conv2d.h"
#include "kernels/depthwise.h"

#define LANES CPU_DEPTHWISE_LANES
#define ALIGNMENT 256
#define L1_FLOATS 4096
/* Work of a box: some tens of microseconds on one core. */
#define BOX_FLOPS 1.5e6
/* Boxes of a weight gradient, unless their sums take too much memory. */
#define GRADIENT_BOXES 16
#define GRADIENT_FLOATS (1 << 20)
/* Numbers to repack in one piece. */
#define REPACK_GRAIN 8192

struct job {
	const struct cpu_conv *conv;
	struct cpu_depthwise d;
	int64_t taps;
	int64_t images, rows, channels; /* of a box */
	int64_t parts, bands, groups;   /* of images, of rows, of channels */
	float *sums; /* weight gradient: as many rows as taps for each part and band */
};

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* A row of weights; with few channels it is padded to a whole vector. */
static int64_t row_floats(const struct cpu_conv *conv)
{
	return divide_up(conv->c, LANES) * LANES;
}

/* Boxes of about BOX_FLOPS, in `rows` rows of one image or all rows of several. */
static void cut_rows(struct job *job, int64_t rows, int64_t columns)
{
	double row =
		2.0 * (double)(columns * job->taps) * (double)least(job->channels, job->conv->c);
	double wanted = ceil(BOX_FLOPS / row);
	int64_t many = wanted < 1e9 ? (int64_t)wanted : 1000000000;
	job->images = least(most(1, many / rows), job->conv->n);
	job->bands = many >= rows ? 1 : divide_up(rows, many);
	job->rows = divide_up(rows, job->bands);
	job->bands = divide_up(rows, job->rows);
	job->parts = divide_up(job->conv->n, job->images);
}

/* Divides images among the boxes, then rows of each, until there are enough boxes. */
static void cut_sums(struct job *job)
{
	int64_t n = job->conv->n, rows = job->conv->p;
	int64_t wanted = divide_up(GRADIENT_BOXES, job->groups);
	int64_t room = GRADIENT_FLOATS / (job->taps * row_floats(job->conv));
	cut_rows(job, rows, job->conv->q);
	wanted = most(1, least(least(wanted, room), job->parts * job->bands));
	job->images = divide_up(n, least(n, wanted));
	job->parts = divide_up(n, job->images);
	job->bands = least(rows, most(1, wanted / job->parts));
	job->rows = divide_up(rows, job->bands);
	job->bands = divide_up(rows, job->rows);
}

static struct job plan_depthwise(const struct cpu_conv *conv)
{
	struct job job = {.conv = conv, .taps = conv->r * conv->s};
	int64_t c = job.conv->c;
	int64_t most_channels = most(LANES, L1_FLOATS / job.taps / LANES * LANES);
	job.groups = divide_up(c, most_channels);
	job.channels = divide_up(divide_up(c, job.groups), LANES) * LANES;
	job.groups = divide_up(c, job.channels);
	if (conv->pass == CPU_CONV_FORWARD)
		cut_rows(&job, conv->p, conv->q);
	else if (conv->pass == CPU_CONV_INPUT_GRADIENT)
		cut_rows(&job, conv->h, conv->w);
	else
		cut_sums(&job);
	return job;
}

static uint64_t aligned(int64_t floats)
{
	uint64_t bytes = (uint64_t)floats * sizeof(float);
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t weights_bytes(const struct cpu_conv *conv)
{
	return aligned(conv->r * conv->s * row_floats(conv));
}

static int suits(const struct cpu_conv *conv)
{
	return conv->c > 1 && conv->groups == conv->c && conv->o == conv->c;
}

static uint64_t workspace(const struct cpu_conv *conv)
{
	struct job job = plan_depthwise(conv);
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT)
		return (uint64_t)(job.parts * job.bands) * weights_bytes(conv);
	return weights_bytes(conv) + aligned(row_floats(conv));
}

/* ---- Weights --------------------------------------------------------------------------------- */

struct weights {
	const struct cpu_conv *conv;
	float *to;
};

/* The range of the window's rows or columns that overlap the plane in some position. */
struct span {
	int64_t begin, end;
};

static struct span reach(const struct cpu_conv *conv, int axis)
{
	int64_t taps = axis ? conv->s : conv->r, length = axis ? conv->w : conv->h;
	int64_t last = ((axis ? conv->q : conv->p) - 1) * conv->stride[axis];
	int64_t padding = conv->padding[axis], dilation = conv->dilation[axis];
	struct span span = {0, taps};
	while (span.begin < taps && span.begin * dilation - padding + last < 0)
		span.begin++;
	while (span.end > span.begin && (span.end - 1) * dilation - padding >= length)
		span.end--;
	return span;
}

static float *weights_at(const struct cpu_conv *conv, int64_t c, int64_t r, int64_t s)
{
	const int64_t *stride = conv->w_strides;
	return conv->weights + c * stride[0] + r * stride[2] + s * stride[3];
}

/* A vector of channels of one tap. */
static void repack_tap(float *to, const float *from, int64_t stride, int64_t n)
{
	if (n == LANES) {
		for (int i = 0; i < LANES; i++)
			to[i] = from[i * stride];
		return;
	}
	for (int64_t i = 0; i < LANES; i++)
		to[i] = i < n ? from[i * stride] : 0;
}

/* Vectors begin..end-1 of channels; zeros after the last channel; unneeded taps are skipped. */
static void repack_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct weights *weights = argument;
	const struct cpu_conv *conv = weights->conv;
	struct span rows = reach(conv, 0), columns = reach(conv, 1);
	int64_t floats = row_floats(conv), last = (int64_t)end * LANES;
	for (int64_t c = (int64_t)begin * LANES; c < last; c += LANES)
		for (int64_t r = rows.begin; r < rows.end; r++)
			for (int64_t s = columns.begin; s < columns.end; s++)
				repack_tap(weights->to + (r * conv->s + s) * floats + c,
					   weights_at(conv, c, r, s), conv->w_strides[0],
					   least(LANES, conv->c - c));
}

/* Processes vectors of channels in pieces worth a thread; `each` is the cost per channel. */
static void over_vectors(const struct cpu_conv *conv, int64_t each,
			 void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
	uint64_t grain = (uint64_t)divide_up(REPACK_GRAIN, each * LANES);
	cpu_parallel(conv->device, (uint64_t)(row_floats(conv) / LANES), grain, body, argument);
}

static void pack_weights(const struct cpu_conv *conv, void *packed)
{
	struct weights weights = {conv, packed};
	over_vectors(conv, conv->r * conv->s, repack_some, &weights);
}

/* A vector of channels of one tap: the sums of all boxes in order. */
static void add_tap(const struct job *job, int64_t tap, int64_t c, float *to)
{
	const struct cpu_conv *conv = job->conv;
	int64_t boxes = job->parts * job->bands, n = least(LANES, conv->c - c);
	const float *from = job->sums + tap * job->d.weights_row + c;
	float sum[LANES] = {0};
	for (int64_t box = 0; box < boxes; box++, from += job->taps * job->d.weights_row)
		for (int i = 0; i < LANES; i++)
			sum[i] += from[i];
	for (int64_t i = 0; i < n; i++) {
		float *dw = to + i * conv->w_strides[0];
		*dw = conv->accumulate ? *dw + sum[i] : sum[i];
	}
}

static void add_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	const struct cpu_conv *conv = job->conv;
	for (int64_t c = (int64_t)begin * LANES; c < (int64_t)end * LANES; c += LANES)
		for (int64_t r = 0; r < conv->r; r++)
			for (int64_t s = 0; s < conv->s; s++)
				add_tap(job, r * conv->s + s, c, weights_at(conv, c, r, s));
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static struct cpu_depthwise_box box_at(const struct job *job, int64_t number, int64_t rows)
{
	const struct cpu_conv *conv = job->conv;
	int64_t group = number % job->groups, rest = number / job->groups;
	struct cpu_depthwise_box box = {.image = rest / job->bands * job->images,
					.row = rest % job->bands * job->rows,
					.channel = group * job->channels};
	box.images = least(job->images, conv->n - box.image);
	box.rows = least(job->rows, rows - box.row);
	box.channels = least(job->channels, conv->c - box.channel);
	return box;
}

static void activate(const struct job *job, const struct cpu_depthwise_box *box)
{
	const struct cpu_conv *conv = job->conv;
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		int64_t image = box->image + i / box->rows, p = box->row + i % box->rows;
		float *y = conv->y.data + image * conv->y.image + p * conv->y.row + box->channel;
		for (int64_t q = 0; q < conv->q; q++)
			cpu_activate(conv->device->instance, conv->activation,
				     y + q * conv->y.pixel, box->channels);
	}
}

static void forward_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	uint32_t activation = job->conv->activation;
	for (uint64_t i = begin; i < end; i++) {
		struct cpu_depthwise_box box = box_at(job, (int64_t)i, job->conv->p);
		job->conv->kernels->depthwise->forward(&job->d, &box);
		if (activation != TN_ACTIVATION_NONE && activation != TN_ACTIVATION_RELU &&
		    activation != TN_ACTIVATION_RELU6)
			activate(job, &box);
	}
}

static void input_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (uint64_t i = begin; i < end; i++) {
		struct cpu_depthwise_box box = box_at(job, (int64_t)i, job->conv->h);
		job->conv->kernels->depthwise->input_gradient(&job->d, &box);
	}
}

static void weights_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	struct cpu_depthwise d = job->d;
	for (uint64_t i = begin; i < end; i++) {
		struct cpu_depthwise_box box = box_at(job, (int64_t)i, job->conv->p);
		d.weights = job->sums + (int64_t)i / job->groups * job->taps * d.weights_row;
		for (int64_t tap = 0; tap < job->taps; tap++)
			memset(d.weights + tap * d.weights_row + box.channel, 0,
			       (size_t)(divide_up(box.channels, LANES) * LANES) * sizeof(float));
		job->conv->kernels->depthwise->weight_gradient(&d, &box);
	}
}

/* ---- The run --------------------------------------------------------------------------------- */

static struct cpu_depthwise kernel_of(const struct cpu_conv *conv)
{
	return (struct cpu_depthwise){.c = conv->c,
				      .h = conv->h,
				      .w = conv->w,
				      .p = conv->p,
				      .q = conv->q,
				      .r = conv->r,
				      .s = conv->s,
				      .stride = {conv->stride[0], conv->stride[1]},
				      .dilation = {conv->dilation[0], conv->dilation[1]},
				      .padding = {conv->padding[0], conv->padding[1]},
				      .x = conv->x.data,
				      .x_image = conv->x.image,
				      .x_row = conv->x.row,
				      .x_pixel = conv->x.pixel,
				      .y = conv->y.data,
				      .y_image = conv->y.image,
				      .y_row = conv->y.row,
				      .y_pixel = conv->y.pixel,
				      .weights_row = row_floats(conv),
				      .residual = conv->residual.data,
				      .residual_image = conv->residual.image,
				      .residual_row = conv->residual.row,
				      .residual_pixel = conv->residual.pixel,
				      .low = -INFINITY,
				      .high = INFINITY,
				      .accumulate = conv->accumulate};
}

static void take_bias(struct job *job, float *bias)
{
	const struct cpu_conv *conv = job->conv;
	if (!conv->bias)
		return;
	for (int64_t c = 0; c < conv->c; c++)
		bias[c] = conv->bias[c * conv->bias_stride];
	job->d.bias = bias;
}

static void run_depthwise(const struct cpu_conv *conv)
{
	struct job job = plan_depthwise(conv);
	float *weights = (float *)(void *)conv->workspace;
	uint64_t boxes = (uint64_t)(job.parts * job.bands * job.groups);
	job.d = kernel_of(conv);
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT) {
		job.sums = weights;
		cpu_parallel(conv->device, boxes, 1, weights_some, &job);
		over_vectors(conv, job.taps * job.parts * job.bands, add_some, &job);
		return;
	}
	job.d.weights = conv->packed ? (float *)(uintptr_t)conv->packed : weights;
	if (!conv->packed)
		pack_weights(conv, weights);
	take_bias(&job, (float *)(void *)(conv->workspace + weights_bytes(conv)));
	uint32_t activation = job.conv->activation;
	if (activation == TN_ACTIVATION_RELU || activation == TN_ACTIVATION_RELU6)
		job.d.low = 0;
	if (activation == TN_ACTIVATION_RELU6)
		job.d.high = 6;
	cpu_parallel(conv->device, boxes, 1,
		     conv->pass == CPU_CONV_FORWARD ? forward_some : input_some, &job);
}

const struct cpu_conv_algorithm cpu_conv_depthwise = {.name = "depthwise",
						      .suits = suits,
						      .workspace = workspace,
						      .run = run_depthwise,
						      .packed_size = weights_bytes,
						      .pack = pack_weights};
