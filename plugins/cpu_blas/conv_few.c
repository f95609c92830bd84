/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution of few channels in planes; kernels/conv_few.h describes the layout.
 *
 * With 6 or 16 channels registers along channels are half empty, and windows of 1 x 5 elements do
 * not justify a copy.  Here each image is copied to padded planes, computed and copied back, all in
 * L1 or L2: for LeNet's first layer 4 KB in, 20 KB out and 235,200 multiply-adds without other
 * loads than those described in the kernels' header.  Positions between rows are computed too: 30
 * for 28 of the first layer, 14 for 10 of the second, none of the input gradient.
 *
 * Pieces are a few images, whose number depends on the shape alone; each has its own planes.  The
 * input gradient is a forward pass of dy with the window rotated.  Each piece has its own gradient
 * of the weights, and they are added in order.
 */
#include <string.h>

#include "conv2d.h"
#include "kernels/conv_few.h"

#define FLOATS_ALIGNED 16
/* Limit for planes of an image to stay in L2. */
#define SCRATCH_BYTES (512 << 10)
#define SUMS_BYTES (24 << 10)
/* Multiply-adds of a piece: some tens of microseconds on one core. */
#define PIECE_SIZE 1e6
#define PIECES 32

struct job {
	const struct cpu_conv *conv;
	struct cpu_few few;
	struct cpu_few_image in, out; /* of a piece's first image */
	int64_t top, left;            /* padding of the planes */
	int64_t images, pieces;       /* of a piece; of all */
	/* Offsets in the workspace, in floats. */
	int64_t weights_at, bias_at, partial_at, scratch_at, floats;
	/* Offsets in a piece's scratch, which begins with the in planes. */
	int64_t out_at, spare_at, sums_at, scratch;
	int64_t block, n_weights;
	const float *weights;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t b)
{
	return divide_up(a, b) * b;
}

/* ---- The plan --------------------------------------------------------------------------------*/

static struct cpu_few_image image_of(const struct cpu_images *images, int64_t rows, int64_t columns,
				     int64_t channels)
{
	struct cpu_few_image made = {.data = images->data,
				     .row = images->row,
				     .pixel = images->pixel,
				     .rows = rows,
				     .columns = columns,
				     .channels = channels};
	return made;
}

static void plan_images(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	job->in = image_of(&conv->x, conv->h, conv->w, conv->c);
	job->out = image_of(&conv->y, conv->p, conv->q, conv->o);
	job->top = conv->padding[0];
	job->left = conv->padding[1];
	if (conv->pass != CPU_CONV_INPUT_GRADIENT)
		return;
	job->in = job->out;
	job->out = image_of(&conv->x, conv->h, conv->w, conv->c);
	job->top = conv->r - 1 - conv->padding[0];
	job->left = conv->s - 1 - conv->padding[1];
}

static void plan_planes(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	struct cpu_few *f = &job->few;
	int64_t right = job->out.columns + conv->s - 1 - job->in.columns - job->left;
	f->in_channels = job->in.channels;
	f->out_channels = job->out.channels;
	f->rows = conv->r;
	f->columns = conv->s;
	f->pitch = most(job->in.columns + most(job->left, right), job->out.columns);
	f->positions = round_up(job->out.rows * f->pitch, CPU_FEW_STEP);
	f->in_plane = round_up(f->positions + (conv->r - 1) * f->pitch + conv->s + job->left,
			       FLOATS_ALIGNED) +
		      CPU_FEW_STEP;
	f->out_plane = f->positions + CPU_FEW_STEP;
}

static void plan_scratch(struct job *job)
{
	const struct cpu_few *f = &job->few;
	job->out_at = f->in_channels * f->in_plane;
	job->spare_at = job->out_at + f->out_channels * f->out_plane;
	job->sums_at = job->spare_at +
		       round_up((job->out.columns + CPU_FEW_STEP) * f->out_channels + CPU_FEW_STEP,
				FLOATS_ALIGNED);
	job->scratch = job->sums_at;
	if (job->conv->pass == CPU_CONV_WEIGHT_GRADIENT)
		job->scratch += round_up(job->conv->kernels->conv_few->sums(f), FLOATS_ALIGNED);
}

static int64_t take_floats(struct job *job, int64_t floats)
{
	int64_t at = job->floats;
	job->floats += round_up(floats, FLOATS_ALIGNED);
	return at;
}

static void plan_few(struct job *job, const struct cpu_conv *conv)
{
	*job = (struct job){.conv = conv};
	plan_images(job);
	plan_planes(job);
	plan_scratch(job);
	const struct cpu_few *f = &job->few;
	int64_t n = job->conv->n;
	double size = (double)(f->positions * f->in_channels * f->out_channels) *
		      (double)(f->rows * f->columns);
	int64_t pieces = (int64_t)most(1, (int64_t)((double)n * size / PIECE_SIZE));
	job->images = divide_up(most(n, 1), least(pieces, PIECES));
	job->pieces = divide_up(n, job->images);
	job->block = conv->kernels->conv_few->block(job->few.out_channels);
	job->n_weights = round_up(job->few.out_channels, job->block) * job->few.in_channels *
			 conv->r * conv->s;
	job->weights_at = take_floats(job, job->n_weights);
	job->bias_at = take_floats(job, job->out.columns * job->out.channels);
	if (conv->pass == CPU_CONV_WEIGHT_GRADIENT)
		job->partial_at = take_floats(job, job->pieces * job->n_weights);
	job->scratch_at = take_floats(job, job->pieces * job->scratch);
}

static int suits(const struct cpu_conv *conv)
{
	struct job job = {.conv = conv};
	if (conv->groups > 1 || conv->stride[0] > 1 || conv->stride[1] > 1 ||
	    conv->dilation[0] > 1 || conv->dilation[1] > 1 || conv->c > CPU_FEW_CHANNELS ||
	    conv->o > CPU_FEW_CHANNELS || conv->r > CPU_FEW_WINDOW || conv->s > CPU_FEW_WINDOW)
		return 0;
	for (int i = 0; i < 4; i++) {
		if (conv->padding[i] >= (i % 2 ? conv->s : conv->r))
			return 0;
	}
	if (!conv->n || !conv->c || !conv->o || !conv->h || !conv->w || !conv->r || !conv->s)
		return 0;
	/* Prevents overflow in the plan. */
	if (conv->h * conv->w > SCRATCH_BYTES || conv->p * conv->q > SCRATCH_BYTES)
		return 0;
	plan_images(&job);
	plan_planes(&job);
	plan_scratch(&job);
	return job.sums_at * (int64_t)sizeof(float) <= SCRATCH_BYTES;
}

/* If the sums of a gradient exceed L1, the general algorithm is as fast and takes less memory. */
static int pays(const struct cpu_conv *conv)
{
	struct job job = {.conv = conv};
	plan_images(&job);
	plan_planes(&job);
	return conv->pass != CPU_CONV_WEIGHT_GRADIENT ||
	       conv->kernels->conv_few->sums(&job.few) * (int64_t)sizeof(float) <= SUMS_BYTES;
}

static uint64_t workspace(const struct cpu_conv *conv)
{
	struct job job;
	plan_few(&job, conv);
	return (uint64_t)job.floats * sizeof(float);
}

/* ---- Weights and bias ------------------------------------------------------------------------*/

static float weight(const struct job *job, int64_t out, int64_t in, int64_t r, int64_t s)
{
	const struct cpu_conv *conv = job->conv;
	const int64_t *strides = conv->w_strides;
	if (out >= job->few.out_channels)
		return 0;
	if (conv->pass == CPU_CONV_INPUT_GRADIENT)
		return conv
			->weights[in * strides[0] + out * strides[1] +
				  (conv->r - 1 - r) * strides[2] + (conv->s - 1 - s) * strides[3]];
	return conv->weights[out * strides[0] + in * strides[1] + r * strides[2] + s * strides[3]];
}

static void pack_into(const struct job *job, float *to)
{
	const struct cpu_few *f = &job->few;
	for (int64_t o = 0; o < f->out_channels; o += job->block)
		for (int64_t c = 0; c < f->in_channels; c++)
			for (int64_t r = 0; r < f->rows; r++)
				for (int64_t s = 0; s < f->columns; s++)
					for (int64_t i = 0; i < job->block; i++)
						*to++ = weight(job, o + i, c, r, s);
}

static uint64_t packed_size(const struct cpu_conv *conv)
{
	struct job job;
	plan_few(&job, conv);
	return (uint64_t)job.n_weights * sizeof(float);
}

static void pack_weights(const struct cpu_conv *conv, void *packed)
{
	struct job job;
	plan_few(&job, conv);
	pack_into(&job, packed);
}

static float *at(const struct job *job, int64_t place)
{
	return (float *)(void *)job->conv->workspace + place;
}

static void prepare_operands(struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	float *bias = at(job, job->bias_at);
	int64_t n = job->out.channels;
	job->weights = conv->packed;
	if (!job->weights && conv->pass != CPU_CONV_WEIGHT_GRADIENT) {
		pack_into(job, at(job, job->weights_at));
		job->weights = at(job, job->weights_at);
	}
	for (int64_t i = 0; i < job->out.columns * n; i++)
		bias[i] = conv->bias ? conv->bias[i % n * conv->bias_stride] : 0;
}

/* ---- Forward and input gradient --------------------------------------------------------------*/

static struct cpu_few_epilogue epilogue_of(const struct job *job, int64_t image)
{
	const struct cpu_conv *conv = job->conv;
	const struct cpu_images *residual = conv->accumulate ? &conv->x : &conv->residual;
	int clamps =
		conv->activation == TN_ACTIVATION_RELU || conv->activation == TN_ACTIVATION_RELU6;
	struct cpu_few_epilogue e = {
		.bias = at(job, job->bias_at),
		.residual = residual->data ? residual->data + image * residual->image : NULL,
		.residual_row = residual->row,
		.residual_pixel = residual->pixel,
		.low = clamps ? 0 : -__builtin_inff(),
		.high = conv->activation == TN_ACTIVATION_RELU6 ? 6 : __builtin_inff()};
	return e;
}

/* For activations that the kernel does not implement. */
static void activate(const struct cpu_conv *conv, const struct cpu_few_image *out)
{
	int compact = out->pixel == out->channels;
	int64_t pixels = compact ? 1 : out->columns;
	int64_t n = compact ? out->columns * out->channels : out->channels;
	if (conv->activation <= TN_ACTIVATION_RELU6)
		return;
	for (int64_t i = 0; i < out->rows * pixels; i++)
		cpu_activate(conv->device->instance, conv->activation,
			     out->data + i / pixels * out->row + i % pixels * out->pixel, n);
}

static void convolve_image(const struct job *job, int64_t image, float *scratch)
{
	const struct cpu_few_kernels *kernels = job->conv->kernels->conv_few;
	const struct cpu_few *f = &job->few;
	int backward = job->conv->pass == CPU_CONV_INPUT_GRADIENT;
	struct cpu_few_image in = job->in, out = job->out;
	struct cpu_few_epilogue epilogue = epilogue_of(job, image);
	in.data += image * (backward ? job->conv->y.image : job->conv->x.image);
	out.data += image * (backward ? job->conv->x.image : job->conv->y.image);
	kernels->spread(&in, scratch + job->top * f->pitch + job->left, f->in_plane, f->pitch);
	kernels->correlate(f, scratch, job->weights, scratch + job->out_at);
	kernels->collect(&out, scratch + job->out_at, f->out_plane, f->pitch, &epilogue,
			 scratch + job->spare_at);
	activate(job->conv, &out);
}

static float *clean_scratch(const struct job *job, int64_t piece)
{
	float *scratch = at(job, job->scratch_at + piece * job->scratch);
	memset(scratch, 0, (size_t)job->scratch * sizeof(float));
	return scratch;
}

static void convolve_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		float *scratch = clean_scratch(job, i);
		int64_t last = least((i + 1) * job->images, job->conv->n);
		for (int64_t image = i * job->images; image < last; image++)
			convolve_image(job, image, scratch);
	}
}

/* ---- Weight gradient -------------------------------------------------------------------------*/

static void sum_image(const struct job *job, int64_t image, float *scratch)
{
	const struct cpu_few_kernels *kernels = job->conv->kernels->conv_few;
	const struct cpu_few *f = &job->few;
	struct cpu_few_image in = job->in, out = job->out;
	in.data += image * job->conv->x.image;
	out.data += image * job->conv->y.image;
	kernels->spread(&in, scratch + job->top * f->pitch + job->left, f->in_plane, f->pitch);
	kernels->spread(&out, scratch + job->out_at, f->out_plane, f->pitch);
	kernels->gradient(f, scratch, scratch + job->out_at, scratch + job->sums_at);
}

static void sum_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		float *scratch = clean_scratch(job, i);
		int64_t last = least((i + 1) * job->images, job->conv->n);
		for (int64_t image = i * job->images; image < last; image++)
			sum_image(job, image, scratch);
		job->conv->kernels->conv_few->fold(&job->few, scratch + job->sums_at,
						   at(job, job->partial_at + i * job->n_weights));
	}
}

/* dw := (or +=) the sum over the pieces. */
static void add_pieces(const struct job *job)
{
	const struct cpu_conv *conv = job->conv;
	const int64_t *strides = conv->w_strides;
	int64_t n = conv->o * conv->c * conv->r * conv->s;
	float *total = at(job, job->partial_at);
	for (int64_t i = 1; i < job->pieces; i++) {
		const float *part = at(job, job->partial_at + i * job->n_weights);
		for (int64_t k = 0; k < n; k++)
			total[k] += part[k];
	}
	for (int64_t o = 0; o < conv->o; o++)
		for (int64_t c = 0; c < conv->c; c++)
			for (int64_t k = 0; k < conv->r * conv->s; k++, total++) {
				float *to = conv->weights + o * strides[0] + c * strides[1] +
					    k / conv->s * strides[2] + k % conv->s * strides[3];
				*to = conv->accumulate ? *to + *total : *total;
			}
}

static void run_few(const struct cpu_conv *conv)
{
	struct job job;
	int summing = conv->pass == CPU_CONV_WEIGHT_GRADIENT;
	plan_few(&job, conv);
	prepare_operands(&job);
	cpu_parallel(conv->device, (uint64_t)job.pieces, 1, summing ? sum_pieces : convolve_pieces,
		     &job);
	if (summing)
		add_pieces(&job);
}

const struct cpu_conv_algorithm cpu_conv_few = {
	.name = "few",
	.suits = suits,
	.pays = pays,
	.workspace = workspace,
	.run = run_few,
	.packed_size = packed_size,
	.pack = pack_weights,
};
