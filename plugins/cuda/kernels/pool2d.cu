// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Pooling.  A thread computes one element of the result, its neighbour the next one along the dense
// axis: 256 pixels of a channel, or with CHANNELS_LAST 32 channels of 8 pixels.  Backward gathers
// from the windows that contain an element, so that no two threads add to the same element.
//
// DTYPE, MAXIMUM, HAS_INDEX, COUNT_PADDING, CHANNELS_LAST, ACCUMULATE.
//
// The lower bound is the memory traffic: x and y once (and the index).  Caches cover the overlap of
// windows.

typedef cu_type<DTYPE> element;
typedef cu_sum<element> sum;

#define LANES (CHANNELS_LAST ? 32 : 1)
#define PIXELS (256 / LANES)

struct pooling {
	cu_u64 x, y, index;
	cu_i64 xs[4], ys[4], is[4];
	cu_i32 images, channels, height, width, rows, columns;
	cu_i32 kernel[2], stride[2], padding[4];
};

struct spot {
	cu_i32 image, channel, h, w;
};

// The thread's element of a plane of that width; 0: none.
CU_FN bool find(const pooling &g, cu_i32 height, cu_i32 width, spot &at)
{
	const cu_u32 pixel = blockIdx.x * PIXELS + threadIdx.x / LANES;
	const cu_u32 line = pixel / (cu_u32)width;
	at.channel = (cu_i32)(blockIdx.y * LANES + threadIdx.x % LANES);
	at.w = (cu_i32)(pixel - line * (cu_u32)width);
	at.image = (cu_i32)(line / (cu_u32)height);
	at.h = (cu_i32)(line - (cu_u32)at.image * (cu_u32)height);
	return at.image < g.images && at.channel < g.channels;
}

CU_FN cu_i64 place(const cu_i64 *stride, const spot &at, cu_i32 h, cu_i32 w)
{
	return at.image * stride[0] + at.channel * stride[1] + h * stride[2] + w * stride[3];
}

struct window {
	cu_i32 top, left, bottom, right;
};

CU_FN window window_at(const pooling &g, cu_i32 p, cu_i32 q)
{
	const cu_i32 top = p * g.stride[0] - g.padding[0], left = q * g.stride[1] - g.padding[1];
	return {max(top, 0), max(left, 0), min(top + g.kernel[0], g.height),
		min(left + g.kernel[1], g.width)};
}

CU_FN sum divisor(const pooling &g, const window &a)
{
	return COUNT_PADDING ? (sum)g.kernel[0] * (sum)g.kernel[1]
			     : (sum)(a.bottom - a.top) * (sum)(a.right - a.left);
}

// The first of the largest; the first NaN counts as largest.
CU_FN sum largest(const pooling &g, const element *x, const spot &at, const window &a, cu_i32 &best)
{
	sum value = cu_convert<sum>(x[place(g.xs, at, a.top, a.left)]);
	best = a.top * g.width + a.left;
	for (cu_i32 h = a.top; h < a.bottom; h++) {
		for (cu_i32 w = a.left; w < a.right; w++) {
			const sum other = cu_convert<sum>(x[place(g.xs, at, h, w)]);
			if (value == value && !(other <= value)) {
				value = other;
				best = h * g.width + w;
			}
		}
	}
	return value;
}

#ifdef KERNEL_pool2d_forward
extern "C" __global__ void __launch_bounds__(256) pool2d_forward(const pooling g)
{
	const element *x = (const element *)g.x;
	spot at;
	if (!find(g, g.rows, g.columns, at))
		return;
	const window a = window_at(g, at.h, at.w);
	sum value = 0;
	cu_i32 best = 0;
	if (MAXIMUM) {
		value = largest(g, x, at, a, best);
	} else {
		for (cu_i32 h = a.top; h < a.bottom; h++)
			for (cu_i32 w = a.left; w < a.right; w++)
				value += cu_convert<sum>(x[place(g.xs, at, h, w)]);
		value /= divisor(g, a);
	}
	((element *)g.y)[place(g.ys, at, at.h, at.w)] = cu_convert<element>(value);
	if (HAS_INDEX)
		((cu_i32 *)g.index)[place(g.is, at, at.h, at.w)] = best;
}
#endif

// The first and the last window along an axis that contain a cell; `n` is its padded position.
CU_FN cu_i32 first_window(cu_i32 n, cu_i32 kernel, cu_i32 stride)
{
	return n < kernel ? 0 : (n - kernel) / stride + 1;
}

CU_FN cu_i32 last_window(cu_i32 n, cu_i32 stride, cu_i32 count)
{
	return min(n / stride, count - 1);
}

#ifdef KERNEL_pool2d_backward
extern "C" __global__ void __launch_bounds__(256) pool2d_backward(const pooling g)
{
	spot at;
	if (!find(g, g.height, g.width, at))
		return;
	const cu_i32 h = at.h + g.padding[0], w = at.w + g.padding[1];
	const cu_i32 p_end = last_window(h, g.stride[0], g.rows);
	const cu_i32 q_end = last_window(w, g.stride[1], g.columns);
	const cu_i32 own = at.h * g.width + at.w;
	sum total = 0;
	for (cu_i32 p = first_window(h, g.kernel[0], g.stride[0]); p <= p_end; p++) {
		for (cu_i32 q = first_window(w, g.kernel[1], g.stride[1]); q <= q_end; q++) {
			const sum dy =
				cu_convert<sum>(((const element *)g.y)[place(g.ys, at, p, q)]);
			if (!MAXIMUM)
				total += dy / divisor(g, window_at(g, p, q));
			else if (((const cu_i32 *)g.index)[place(g.is, at, p, q)] == own)
				total += dy;
		}
	}
	element *dx = (element *)g.x + place(g.xs, at, at.h, at.w);
	if (ACCUMULATE)
		total += cu_convert<sum>(*dx);
	*dx = cu_convert<element>(total);
}
#endif
