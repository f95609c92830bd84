/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each type: T is the element, VECTOR a register full of it, NAME(name) a name
 * for it.  All are undefined at the end.
 */

#define WIDTH ((int64_t)(VECTOR_BYTES / sizeof(T)))

static inline T NAME(dot)(const T *a, const T *b, int64_t k)
{
	VECTOR sums[4] = {{0}};
	int64_t i = 0;
	for (; i + 4 * WIDTH <= k; i += 4 * WIDTH) {
#pragma GCC unroll 4
		for (int j = 0; j < 4; j++)
			sums[j] += *(const VECTOR *)(a + i + j * WIDTH) *
				   *(const VECTOR *)(b + i + j * WIDTH);
	}
	for (; i + WIDTH <= k; i += WIDTH)
		sums[0] += *(const VECTOR *)(a + i) * *(const VECTOR *)(b + i);
	sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
	T sum = 0;
	for (int64_t lane = 0; lane < WIDTH; lane++)
		sum += sums[0][lane];
	for (; i < k; i++)
		sum += a[i] * b[i];
	return sum;
}

static void NAME(lines)(const struct cpu_dots *d)
{
	const T *a = d->a, *b = d->b;
	const T alpha = (T)d->alpha, beta = (T)d->beta;
	T *c = d->c;
	for (int64_t i = 0; i < d->n; i++) {
		const T sum = alpha * NAME(dot)(a, b, d->k);
		*c = beta == 0 ? sum : sum + beta * *c;
		a += d->a_down;
		b += d->b_down;
		c += d->c_down;
	}
}

#undef T
#undef VECTOR
#undef NAME
#undef WIDTH
