/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution of any shape as an implicit product, without a column matrix; kernels/conv.h
 * describes it.
 *
 * Forward and input gradient: weights are packed into panels, and the output is cut into pieces of
 * pixels x panels, as many panels as stay in L2.  The input gradient of a stride > 1 is done in
 * phases: pixels with the same position modulo the stride see the same taps.  Weight gradient:
 * pieces of (one panel, one range of pixels), with sums in panels of their own, which are then
 * added in order.  Pieces depend on the shape alone.
 *
 * With few channels a row of the window is one tap: in a compact image with its padding stored
 * around it, the row is one run of elements.
 */
#include <string.h>

#include "conv2d.h"

#define ALIGNMENT 256
#define FLOAT_BYTES ((int64_t)sizeof(float))
/* Panels of weights that stay in L2 beside the input. */
#define BLOCK_BYTES (384 << 10)
/* Work of a piece: some tens of microseconds on one core. */
#define PIECE_FLOPS 4e6
/* Pixels of whole tiles, on every level. */
#define PIXELS 24
/* Few channels: below this, images are padded so that taps are rows. */
#define FEW 16
#define PADDED_BYTES (8 << 20)
/* Ranges of pixels of a weight gradient: this many pieces, unless the sums take too much memory. */
#define GRADIENT_PIECES 16
#define GRADIENT_BYTES (16 << 20)
#define GRADIENT_PIXELS 256

/* Common to all pieces, with their offsets in the workspace. */
struct job {
	const struct cpu_conv *conv;
	struct cpu_taps taps; /* of the current phase, group 0 */
	struct cpu_tap *list; /* of the taps */
	int64_t channels;     /* of output, in a group; o / groups or c / groups */
	int64_t depth;        /* of input, in a group */
	int64_t panels, panel_rows, width;
	int64_t in_by_group, out_by_group; /* elements */
	int padded, merged, accumulate;
	int64_t images;                                             /* of a round */
	int64_t zeros, bias, list_at, images_at, weights_at, bytes; /* offsets */
	int64_t block, blocks;                                      /* panels together */
	int64_t range, ranges, pixels;                              /* of pixels */
	const float *weights;
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

static int has_padding(const struct cpu_conv *conv)
{
	return conv->padding[0] || conv->padding[1] || conv->padding[2] || conv->padding[3];
}

/* ---- The plan --------------------------------------------------------------------------------*/

static int64_t padded_floats(const struct cpu_conv *conv)
{
	return (conv->h + conv->padding[0] + conv->padding[2]) *
	       (conv->w + conv->padding[1] + conv->padding[3]) * conv->c;
}

/* Is the padded copy worth its memory?  Padding may be as large as any int32. */
static int pads_little(const struct cpu_conv *conv)
{
	double own = (double)conv->h * (double)conv->w * (double)conv->c;
	double padded = (double)(conv->h + conv->padding[0] + conv->padding[2]) *
			(double)(conv->w + conv->padding[1] + conv->padding[3]) * (double)conv->c;
	return padded <= 4 * own || padded * (double)FLOAT_BYTES <= PADDED_BYTES;
}

/* Can a row of the window be one tap?  If pixels are not contiguous, or with padding, in a copy. */
static void plan_input(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	job->images = conv->n;
	if (conv->pass == CPU_CONV_INPUT_GRADIENT || conv->groups > 1 || conv->dilation[1] > 1 ||
	    conv->s == 1)
		return;
	job->padded = conv->c < FEW && has_padding(conv) && pads_little(conv);
	job->merged = job->padded || (!has_padding(conv) && conv->x.pixel == conv->c);
	if (job->padded)
		job->images =
			most(1, least(conv->n, PADDED_BYTES / FLOAT_BYTES / padded_floats(conv)));
}

static void plan_channels(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	int backward = conv->pass == CPU_CONV_INPUT_GRADIENT;
	int64_t c = conv->c / conv->groups, o = conv->o / conv->groups;
	job->channels = backward ? c : o;
	job->depth = backward ? o : c;
	job->out_by_group = job->channels;
	job->in_by_group = job->depth;
	job->width = conv->kernels->conv->panel;
	job->panels = divide_up(job->channels, job->width);
	job->panel_rows = conv->r * conv->s * job->depth;
}

static int64_t panel_bytes(const struct job *job)
{
	return job->panel_rows * job->width * FLOAT_BYTES;
}

static int64_t take_bytes(struct job *job, int64_t bytes)
{
	int64_t at = job->bytes;
	job->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return at;
}

/* Ranges of pixels of the weight gradient. */
static void plan_gradient(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	int64_t sums = conv->groups * job->panels * panel_bytes(job);
	job->pixels = job->images * conv->p * conv->q;
	job->ranges = divide_up(GRADIENT_PIECES, conv->groups * job->panels);
	job->ranges = least(job->ranges, most(1, GRADIENT_BYTES / sums));
	job->ranges = least(job->ranges, divide_up(job->pixels, GRADIENT_PIXELS));
	job->range = divide_up(job->pixels, job->ranges);
	job->ranges = divide_up(job->pixels, job->range);
}

static void plan_implicit(struct job *job, const struct cpu_conv *conv)
{
	*job = (struct job){.conv = conv};
	plan_channels(job);
	plan_input(job);
	int64_t weights = conv->groups * job->panels * panel_bytes(job);
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT) {
		plan_gradient(job);
		weights *= job->ranges;
	}
	job->zeros = take_bytes(job, job->panel_rows * FLOAT_BYTES);
	job->bias = take_bytes(job, conv->groups * job->panels * job->width * FLOAT_BYTES);
	job->list_at = take_bytes(job, conv->r * conv->s * (int64_t)sizeof(struct cpu_tap));
	if (job->padded)
		job->images_at = take_bytes(job, job->images * padded_floats(conv) * FLOAT_BYTES);
	job->weights_at = take_bytes(job, weights);
}

static int suits(const struct cpu_conv *conv)
{
	(void)conv;
	return 1;
}

/* Whether pixels are contiguous may depend on the operands: the size must suffice for both
 * cases. */
static uint64_t workspace(const struct cpu_conv *conv)
{
	struct job job;
	plan_implicit(&job, conv);
	return (uint64_t)job.bytes;
}

/* ---- Weights ---------------------------------------------------------------------------------*/

static struct cpu_weights weights_of(const struct job *job, int64_t group)
{
	const struct cpu_conv *conv = job->conv;
	const int64_t *strides = conv->w_strides;
	int backward = conv->pass == CPU_CONV_INPUT_GRADIENT;
	struct cpu_weights w = {.at = conv->weights + group * (conv->o / conv->groups) * strides[0],
				.channels = job->channels,
				.depth = job->depth,
				.rows = conv->r,
				.columns = conv->s,
				.by_channel = strides[backward ? 1 : 0],
				.by_depth = strides[backward ? 0 : 1],
				.by_row = strides[2],
				.by_column = strides[3]};
	return w;
}

struct packing {
	const struct job *job;
	float *to;
};

static void pack_panels(void *argument, uint64_t begin, uint64_t end)
{
	const struct packing *packing = argument;
	const struct job *job = packing->job;
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		struct cpu_weights w = weights_of(job, i / job->panels);
		job->conv->kernels->conv->pack(&w, i % job->panels,
					       packing->to + i * job->panel_rows * job->width);
	}
}

static void pack_into(const struct job *job, float *to)
{
	struct packing packing = {job, to};
	uint64_t grain = (uint64_t)((64 << 10) / panel_bytes(job)) + 1;
	cpu_parallel(job->conv->device, (uint64_t)(job->conv->groups * job->panels), grain,
		     pack_panels, &packing);
}

static uint64_t packed_size(const struct cpu_conv *conv)
{
	struct job job;
	plan_implicit(&job, conv);
	return (uint64_t)(conv->groups * job.panels * panel_bytes(&job));
}

static void pack_weights(const struct cpu_conv *conv, void *packed)
{
	struct job job;
	plan_implicit(&job, conv);
	pack_into(&job, packed);
}

/* ---- Input: zeros, and images with their padding ----------------------------------------------*/

/* One image: padding above, each row with padding on both sides, padding below. */
static void pad_image(const struct job *job, int64_t image, int64_t number)
{
	const struct cpu_conv *conv = job->conv;
	const float *from = conv->x.data + image * conv->x.image;
	int64_t c = conv->c, left = conv->padding[1] * c, right = conv->padding[3] * c;
	int64_t row = left + conv->w * c + right;
	float *to =
		(float *)(void *)(conv->workspace + job->images_at) + number * padded_floats(conv);
	memset(to, 0, (size_t)(conv->padding[0] * row * FLOAT_BYTES));
	to += conv->padding[0] * row;
	for (int64_t h = 0; h < conv->h; h++, from += conv->x.row, to += row) {
		memset(to, 0, (size_t)(left * FLOAT_BYTES));
		for (int64_t w = 0; w < conv->w && conv->x.pixel != c; w++)
			memcpy(to + left + w * c, from + w * conv->x.pixel,
			       (size_t)(c * FLOAT_BYTES));
		if (conv->x.pixel == c)
			memcpy(to + left, from, (size_t)(conv->w * c * FLOAT_BYTES));
		memset(to + row - right, 0, (size_t)(right * FLOAT_BYTES));
	}
	memset(to, 0, (size_t)(conv->padding[2] * row * FLOAT_BYTES));
}

struct padding {
	const struct job *job;
	int64_t first;
};

static void pad_images(void *argument, uint64_t begin, uint64_t end)
{
	const struct padding *padding = argument;
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
		pad_image(padding->job, padding->first + i, i);
}

/* Sets the input to images first .. first + n - 1. */
static void take_input(struct job *job, int64_t first, int64_t n)
{
	const struct cpu_conv *conv = job->conv;
	struct cpu_taps *t = &job->taps;
	int backward = conv->pass == CPU_CONV_INPUT_GRADIENT;
	const struct cpu_images *in = backward ? &conv->y : &conv->x;
	t->in = in->data + first * in->image;
	t->in_image = in->image;
	t->in_row = in->row;
	t->in_pixel = in->pixel;
	t->height = backward ? conv->p : conv->h;
	t->width = backward ? conv->q : conv->w;
	if (!job->padded)
		return;
	struct padding padding = {job, first};
	int64_t bytes = padded_floats(conv) * FLOAT_BYTES;
	cpu_parallel(conv->device, (uint64_t)n, (uint64_t)((64 << 10) / bytes + 1), pad_images,
		     &padding);
	t->in = (const float *)(const void *)(conv->workspace + job->images_at);
	t->height += conv->padding[0] + conv->padding[2];
	t->width += conv->padding[1] + conv->padding[3];
	t->in_pixel = conv->c;
	t->in_row = t->width * conv->c;
	t->in_image = t->height * t->in_row;
}

/* ---- Taps ------------------------------------------------------------------------------------*/

static void add_tap(struct job *job, int64_t down, int64_t across, int64_t number)
{
	struct cpu_tap tap = {down, across, number * job->depth};
	job->list[job->taps.n_taps++] = tap;
}

static void forward_taps(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	int64_t top = job->padded ? 0 : conv->padding[0], left = job->padded ? 0 : conv->padding[1];
	job->taps.n_taps = 0;
	for (int64_t r = 0; r < conv->r; r++) {
		for (int64_t s = 0; s < (job->merged ? 1 : conv->s); s++)
			add_tap(job, r * conv->dilation[0] - top, s * conv->dilation[1] - left,
				r * conv->s + s);
	}
	job->taps.depth = job->merged ? conv->s * job->depth : job->depth;
	memcpy(job->taps.step, conv->stride, sizeof(conv->stride));
}

/* The taps that a dx pixel at this position modulo the stride sees. */
static void backward_taps(struct job *job, int64_t row, int64_t column)
{
	const struct cpu_conv *conv = job->conv;
	job->taps.n_taps = 0;
	for (int64_t r = 0; r < conv->r; r++) {
		int64_t down = row + conv->padding[0] - r * conv->dilation[0];
		for (int64_t s = 0; s < conv->s; s++) {
			int64_t across = column + conv->padding[1] - s * conv->dilation[1];
			if (down % conv->stride[0] == 0 && across % conv->stride[1] == 0)
				add_tap(job, down / conv->stride[0], across / conv->stride[1],
					r * conv->s + s);
		}
	}
	job->taps.depth = job->depth;
	job->taps.step[0] = job->taps.step[1] = 1;
}

/* ---- Forward and input gradient ---------------------------------------------------------------*/

/* Applies an activation that the kernel does not implement to the channels of a block of panels. */
static void activate(const struct job *job, const struct cpu_taps *t, int64_t first, int64_t last,
		     int64_t begin, int64_t end)
{
	const struct cpu_conv *conv = job->conv;
	int64_t channel = begin * job->width;
	int64_t n = least(end * job->width, t->channels) - channel;
	if (conv->activation <= TN_ACTIVATION_RELU6)
		return;
	for (int64_t i = first; i < last; i++) {
		int64_t row = i / t->columns;
		float *out = t->out + row / t->rows * t->out_image + row % t->rows * t->out_row +
			     i % t->columns * t->out_pixel;
		cpu_activate(conv->device->instance, conv->activation, out + channel, n);
	}
}

static void run_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t first = i % job->ranges * job->range;
		int64_t last = least(first + job->range, job->pixels);
		int64_t block = i / job->ranges % job->blocks * job->block;
		int64_t group = i / job->ranges / job->blocks;
		int64_t to = least(block + job->block, job->panels);
		struct cpu_taps t = job->taps;
		t.in += group * job->in_by_group;
		t.out += group * job->out_by_group;
		t.bias += group * job->panels * job->width;
		t.panels += group * job->panels * job->panel_rows * job->width;
		if (t.residual)
			t.residual += group * job->out_by_group;
		job->conv->kernels->conv->taps(&t, first, last, block, to);
		activate(job, &t, first, last, block, to);
	}
}

/* Cuts the output, of `images` images, into pieces and computes it. */
static void run_taps(struct job *job, int64_t images)
{
	const struct cpu_taps *t = &job->taps;
	job->pixels = images * t->rows * t->columns;
	if (!job->pixels)
		return;
	double flops = 2.0 * (double)(t->n_taps * t->depth + 1);
	job->blocks = divide_up(job->panels, most(1, BLOCK_BYTES / panel_bytes(job)));
	job->block = divide_up(job->panels, job->blocks);
	job->blocks = divide_up(job->panels, job->block);
	flops *= (double)least(job->block * job->width, job->channels);
	job->range = ((int64_t)(PIECE_FLOPS / flops) / PIXELS + 1) * PIXELS;
	job->ranges = divide_up(job->pixels, job->range);
	cpu_parallel(job->conv->device, (uint64_t)(job->conv->groups * job->blocks * job->ranges),
		     1, run_pieces, job);
}

static void take_epilogue(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	struct cpu_taps *t = &job->taps;
	float *bias = (float *)(void *)(conv->workspace + job->bias);
	int64_t room = job->panels * job->width;
	for (int64_t g = 0; g < conv->groups; g++) {
		for (int64_t i = 0; i < room; i++)
			bias[g * room + i] =
				conv->bias && i < job->channels
					? conv->bias[(g * job->channels + i) * conv->bias_stride]
					: 0;
	}
	t->bias = bias;
	int clamps =
		conv->activation == TN_ACTIVATION_RELU || conv->activation == TN_ACTIVATION_RELU6;
	t->clamps = clamps;
	t->low = clamps ? 0 : -__builtin_inff();
	t->high = conv->activation == TN_ACTIVATION_RELU6 ? 6 : __builtin_inff();
	t->accumulate = conv->pass == CPU_CONV_INPUT_GRADIENT && conv->accumulate;
}

static void prepare_taps(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	float *zeros = (float *)(void *)(conv->workspace + job->zeros);
	memset(zeros, 0, (size_t)(job->panel_rows * FLOAT_BYTES));
	job->list = (struct cpu_tap *)(void *)(conv->workspace + job->list_at);
	job->taps.taps = job->list;
	job->taps.zeros = zeros;
	job->taps.channels = job->channels;
	job->taps.panel_rows = job->panel_rows;
}

static void take_weights(struct job *job)
{
	float *own = (float *)(void *)(job->conv->workspace + job->weights_at);
	if (!job->conv->packed)
		pack_into(job, own);
	job->taps.panels = job->conv->packed ? job->conv->packed : own;
}

static void take_output(struct job *job, const struct cpu_images *out, int64_t first)
{
	struct cpu_taps *t = &job->taps;
	t->out = out->data + first * out->image;
	t->out_image = out->image;
	t->out_row = out->row;
	t->out_pixel = out->pixel;
}

static void take_residual(struct job *job, int64_t first)
{
	const struct cpu_images *residual = &job->conv->residual;
	if (!residual->data)
		return;
	job->taps.residual = residual->data + first * residual->image;
	job->taps.residual_image = residual->image;
	job->taps.residual_row = residual->row;
	job->taps.residual_pixel = residual->pixel;
}

static void run_forward(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	take_weights(job);
	take_epilogue(job);
	forward_taps(job);
	job->taps.rows = conv->p;
	job->taps.columns = conv->q;
	for (int64_t first = 0; first < conv->n; first += job->images) {
		int64_t n = least(job->images, conv->n - first);
		take_input(job, first, n);
		take_output(job, &conv->y, first);
		take_residual(job, first);
		run_taps(job, n);
	}
}

static void run_input_gradient(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	struct cpu_taps *t = &job->taps;
	take_weights(job);
	take_epilogue(job);
	take_input(job, 0, conv->n);
	for (int64_t row = 0; row < least(conv->stride[0], conv->h); row++) {
		for (int64_t column = 0; column < least(conv->stride[1], conv->w); column++) {
			backward_taps(job, row, column);
			take_output(job, &conv->x, 0);
			t->out += row * t->out_row + column * t->out_pixel;
			t->out_row *= conv->stride[0];
			t->out_pixel *= conv->stride[1];
			t->rows = divide_up(conv->h - row, conv->stride[0]);
			t->columns = divide_up(conv->w - column, conv->stride[1]);
			run_taps(job, conv->n);
		}
	}
}

/* ---- Weight gradient --------------------------------------------------------------------------*/

static float *sums_of(const struct job *job, int64_t number, int64_t range)
{
	float *sums = (float *)(void *)(job->conv->workspace + job->weights_at);
	return sums + (number * job->ranges + range) * job->panel_rows * job->width;
}

static void sum_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t range = i % job->ranges, number = i / job->ranges;
		int64_t group = number / job->panels, first = range * job->range;
		struct cpu_taps t = job->taps;
		t.in += group * job->in_by_group;
		t.out += group * job->out_by_group;
		job->conv->kernels->conv->gradient(
			&t, first, least(first + job->range, job->pixels), number % job->panels,
			sums_of(job, number, range));
	}
}

#define UNPACKED 256

static void unpack_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	int64_t parts = divide_up(job->panel_rows, UNPACKED);
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t number = i / parts, first = i % parts * UNPACKED;
		struct cpu_weights w = weights_of(job, number / job->panels);
		job->conv->kernels->conv->unpack(&w, number % job->panels, sums_of(job, number, 0),
						 job->ranges, job->panel_rows * job->width, first,
						 least(first + UNPACKED, job->panel_rows),
						 job->accumulate);
	}
}

static void run_weight_gradient(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	int64_t panels = conv->groups * job->panels;
	job->accumulate = conv->accumulate;
	forward_taps(job);
	job->taps.rows = conv->p;
	job->taps.columns = conv->q;
	for (int64_t first = 0; first < conv->n; first += job->images) {
		int64_t n = least(job->images, conv->n - first);
		take_input(job, first, n);
		take_output(job, &conv->y, first);
		job->pixels = n * conv->p * conv->q;
		job->ranges = divide_up(job->pixels, job->range);
		cpu_parallel(conv->device, (uint64_t)(panels * job->ranges), 1, sum_pieces, job);
		cpu_parallel(conv->device,
			     (uint64_t)(panels * divide_up(job->panel_rows, UNPACKED)), 8,
			     unpack_pieces, job);
		job->accumulate = 1;
	}
}

static void run_implicit(const struct cpu_conv *conv)
{
	struct job job;
	plan_implicit(&job, conv);
	prepare_taps(&job);
	if (conv->pass == CPU_CONV_FORWARD)
		run_forward(&job);
	else if (conv->pass == CPU_CONV_INPUT_GRADIENT)
		run_input_gradient(&job);
	else
		run_weight_gradient(&job);
}

const struct cpu_conv_algorithm cpu_conv_implicit = {
	.name = "implicit",
	.suits = suits,
	.workspace = workspace,
	.run = run_implicit,
	.packed_size = packed_size,
	.pack = pack_weights,
};
