/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The one-dimensional transforms of F(4, 3) at the points 0, +-a, +-b and infinity with a = 5/8 and
 * b = 3/2.  Both and their required powers are exact in f32, and of the pairs with few bits this
 * has about the smallest error.  The worst case for each output, |A^T| (|G| |G|^T . |B^T| |B|) |A|
 * with ones for data, is 63 times its direct sum (256 times with the usual points 1 and 2), and for
 * weights' gradients 51 (178); random data lose a tenth of that.
 */
#ifndef CPU_WINOGRAD_POINTS_H
#define CPU_WINOGRAD_POINTS_H

#include "vector.h"

#define POINT_A 0.625f
#define POINT_B 1.5f
#define A2 (POINT_A * POINT_A)
#define A3 (POINT_A * A2)
#define B2 (POINT_B * POINT_B)
#define B3 (POINT_B * B2)
/* One over the product of a point's differences from the others. */
#define SCALE_0 (1 / (A2 * B2))
#define SCALE_A (1 / (2 * A2 * (A2 - B2)))
#define SCALE_B (1 / (2 * B2 * (B2 - A2)))

/* out := B^T in; elements are `to` and `step` apart. */
static inline void winograd_bt(vf *out, int to, const vf *in, int step)
{
	vf x0 = in[0], x1 = in[step], x2 = in[2 * step];
	vf x3 = in[3 * step], x4 = in[4 * step], x5 = in[5 * step];
	vf even_a = x4 - B2 * x2, odd_a = x3 - B2 * x1;
	vf even_b = x4 - A2 * x2, odd_b = x3 - A2 * x1;
	out[0] = A2 * B2 * x0 - (A2 + B2) * x2 + x4;
	out[to] = even_a + POINT_A * odd_a;
	out[2 * to] = even_a - POINT_A * odd_a;
	out[3 * to] = even_b + POINT_B * odd_b;
	out[4 * to] = even_b - POINT_B * odd_b;
	out[5 * to] = A2 * B2 * x1 - (A2 + B2) * x3 + x5;
}

/* out (4) := A^T in (6). */
static inline void winograd_at(vf *out, int to, const vf *in, int step)
{
	vf sum_a = in[step] + in[2 * step], difference_a = in[step] - in[2 * step];
	vf sum_b = in[3 * step] + in[4 * step], difference_b = in[3 * step] - in[4 * step];
	out[0] = in[0] + (sum_a + sum_b);
	out[to] = POINT_A * difference_a + POINT_B * difference_b;
	out[2 * to] = A2 * sum_a + B2 * sum_b;
	out[3 * to] = A3 * difference_a + B3 * difference_b + in[5 * step];
}

/* out (6) := A in (4). */
static inline void winograd_a(vf *out, int to, const vf *in, int step)
{
	vf x0 = in[0], x1 = in[step], x2 = in[2 * step], x3 = in[3 * step];
	vf even_a = x0 + A2 * x2, odd_a = POINT_A * x1 + A3 * x3;
	vf even_b = x0 + B2 * x2, odd_b = POINT_B * x1 + B3 * x3;
	out[0] = x0;
	out[to] = even_a + odd_a;
	out[2 * to] = even_a - odd_a;
	out[3 * to] = even_b + odd_b;
	out[4 * to] = even_b - odd_b;
	out[5 * to] = x3;
}

/* out (6) := G in (3). */
static inline void winograd_g(vf *out, int to, const vf *in, int step)
{
	vf x0 = in[0], x1 = in[step], x2 = in[2 * step];
	vf even_a = SCALE_A * x0 + SCALE_A * A2 * x2, odd_a = SCALE_A * POINT_A * x1;
	vf even_b = SCALE_B * x0 + SCALE_B * B2 * x2, odd_b = SCALE_B * POINT_B * x1;
	out[0] = SCALE_0 * x0;
	out[to] = even_a + odd_a;
	out[2 * to] = even_a - odd_a;
	out[3 * to] = even_b + odd_b;
	out[4 * to] = even_b - odd_b;
	out[5 * to] = x2;
}

/* out (3) := G^T in (6). */
static inline void winograd_gt(vf *out, int to, const vf *in, int step)
{
	vf sum_a = in[step] + in[2 * step], difference_a = in[step] - in[2 * step];
	vf sum_b = in[3 * step] + in[4 * step], difference_b = in[3 * step] - in[4 * step];
	out[0] = SCALE_0 * in[0] + SCALE_A * sum_a + SCALE_B * sum_b;
	out[to] = SCALE_A * POINT_A * difference_a + SCALE_B * POINT_B * difference_b;
	out[2 * to] = SCALE_A * A2 * sum_a + SCALE_B * B2 * sum_b + in[5 * step];
}

#endif
