/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Along one axis pixel h of x and tap r meet pixel p of y if h + padding = stride p + dilation r.
 * So tap r meets the h whose residue by the stride is that of dilation r - padding, and so do the
 * taps r + period, r + 2 period, ..., with period = stride / gcd(stride, dilation).  With h =
 * stride i + residue and r = tap + period j
 *
 *	p = i - (dilation period / stride) j + (residue + padding - dilation tap) / stride
 *
 * which is a gradient with stride 1 and other dilation and padding.
 */
#include "conv2d_phase.h"

enum { H = 2 };

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t period_of(const struct tn_conv2d_args *args, int i)
{
	int64_t a = args->stride[i], b = args->dilation[i];
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return args->stride[i] / a;
}

/* The number of residues that a tap meets. */
static int64_t residues(const struct tn_conv2d_args *args, int i)
{
	return smaller(args->w.shape[H + i], period_of(args, i));
}

/* The part of axis i that `tap` is the first to meet; 0: no pixel of x has that residue. */
static int cut_axis(const struct tn_conv2d_args *args, int i, int64_t tap,
		    struct tn_conv2d_args *part)
{
	const int64_t stride = args->stride[i], dilation = args->dilation[i];
	const int64_t size = (int64_t)tn_dtype_size(args->x.dtype), period = period_of(args, i);
	const int64_t residue = ((dilation * tap - args->padding[i]) % stride + stride) % stride;
	struct tn_operand *x = &part->x, *w = &part->w;
	if (residue >= x->shape[H + i])
		return 0;
	x->offset += (uint64_t)(residue * x->strides[H + i] * size);
	x->shape[H + i] = (x->shape[H + i] - 1 - residue) / stride + 1;
	x->strides[H + i] *= stride;
	w->offset += (uint64_t)(tap * w->strides[H + i] * size);
	w->shape[H + i] = (w->shape[H + i] - 1 - tap) / period + 1;
	w->strides[H + i] *= period;
	part->padding[i] = (residue + args->padding[i] - dilation * tap) / stride;
	part->dilation[i] = dilation * period / stride;
	part->stride[i] = 1;
	return 1;
}

/* All of x, and no tap. */
static void cut_taps(struct tn_conv2d_args *part)
{
	for (int i = 0; i < 2; i++) {
		part->w.shape[H + i] = 0;
		part->stride[i] = part->dilation[i] = 1;
	}
}

int cuda_conv2d_next_phase(const struct tn_conv2d_args *args, int64_t *number,
			   struct tn_conv2d_args *part)
{
	const int64_t n[] = {residues(args, 0), residues(args, 1)};
	const int adds = (args->call.flags & TN_ACCUMULATE) != 0;
	if (*number == 0) {
		++*number;
		*part = *args;
		cut_taps(part);
		if (!adds && (n[0] < args->stride[0] || n[1] < args->stride[1]))
			return 1;
	}
	while (*number <= n[0] * n[1]) {
		const int64_t tap = (*number)++ - 1;
		*part = *args;
		if (cut_axis(args, 0, tap / n[1], part) && cut_axis(args, 1, tap % n[1], part))
			return 1;
	}
	return 0;
}
