/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Householder's method: reflections H_k = I - 2 v v^T make R of a, column by column, and are then
 * applied to the first columns of I in reverse.
 */
#include "nn/orthogonal.h"

#include <math.h>
#include <string.h>

static double dot(int64_t n, const double *a, const double *b)
{
	double sum = 0.0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* x -= 2 v (v x) */
static void reflect(int64_t n, const double *v, double *x)
{
	double twice = 2.0 * dot(n, v, x);
	for (int64_t i = 0; i < n; i++)
		x[i] -= twice * v[i];
}

/* Makes of x the unit vector v whose reflection takes x to a multiple of the first axis, whose sign
 * is returned. */
static double make_reflector(int64_t n, double *x)
{
	double norm = sqrt(dot(n, x, x)), sign = x[0] > 0.0 ? -1.0 : 1.0;
	x[0] -= sign * norm;
	double length = sqrt(dot(n, x, x));
	/* x was 0: no reflection. */
	for (int64_t i = 0; i < n && length > 0.0; i++)
		x[i] /= length;
	return length > 0.0 ? sign : 1.0;
}

void tn_orthogonalise(int64_t m, int64_t n, double *a, double *q, double *signs)
{
	for (int64_t k = 0; k < n; k++) {
		double *v = a + k * m + k;
		signs[k] = make_reflector(m - k, v);
		for (int64_t j = k + 1; j < n; j++)
			reflect(m - k, v, a + j * m + k);
	}
	memset(q, 0, (size_t)(m * n) * sizeof(*q));
	for (int64_t k = 0; k < n; k++)
		q[k * m + k] = 1.0;
	for (int64_t k = n - 1; k >= 0; k--) {
		for (int64_t j = k; j < n; j++)
			reflect(m - k, a + k * m + k, q + j * m + k);
	}
	for (int64_t k = 0; k < n; k++) {
		for (int64_t i = 0; i < m; i++)
			a[k * m + i] = signs[k] * q[k * m + i];
	}
}
