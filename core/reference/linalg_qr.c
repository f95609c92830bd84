/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * QR factorisation by Householder's reflections, with the signs of LAPACK's xGEQRF: R's diagonal is
 * real, and has the sign opposite to that of the element that it replaces.
 */
#include <math.h>

#include "reference/linalg.h"

/* The norm of n elements, scaled so that no square over- or underflows. */
static double norm(const double complex *x, int64_t n)
{
	double largest = 0, sum = 0;
	for (int64_t i = 0; i < n; i++) {
		double size = fmax(fabs(creal(x[i])), fabs(cimag(x[i])));
		if (!(size <= largest))
			largest = size;
	}
	if (!(largest > 0) || isinf(largest))
		return largest;
	for (int64_t i = 0; i < n; i++)
		sum += square(x[i] / largest);
	return largest * sqrt(sum);
}

/* H^H x = beta e1 with H = I - tau v v^H, v[0] = 1: x becomes beta and v; returns tau. */
static double complex reflector(double complex *x, int64_t n)
{
	double rest = norm(x + 1, n - 1);
	double complex alpha = x[0];
	if (rest == 0 && cimag(alpha) == 0)
		return 0;
	double beta = -copysign(hypot(cabs(alpha), rest), creal(alpha));
	for (int64_t i = 1; i < n; i++)
		x[i] /= alpha - beta;
	x[0] = beta;
	return (beta - alpha) / beta;
}

/* x -= tau v (v^H x), over n elements, v[0] = 1. */
static void reflect(double complex tau, const double complex *v, double complex *x, int64_t n)
{
	double complex sum = x[0];
	for (int64_t i = 1; i < n; i++)
		sum += conj(v[i]) * x[i];
	x[0] -= tau * sum;
	for (int64_t i = 1; i < n; i++)
		x[i] -= tau * sum * v[i];
}

/* Q e_j, from the last reflection to the first. */
static void form_columns(const struct factoring *f)
{
	for (int64_t j = 0; j < f->u.columns; j++) {
		double complex *x = column(&f->u, j);
		for (int64_t i = 0; i < f->m; i++)
			x[i] = i == j;
		for (int64_t l = f->k - 1; l >= 0; l--)
			reflect(f->values[l], column(&f->a, l) + l, x + l, f->m - l);
	}
}

/* Scaled, as lengths of subnormal columns would be too coarse for orthonormal ones. */
static int32_t qr(struct factoring *f)
{
	const int is_scaled = tn_reference_is_finite(&f->a, 0);
	const double unit = is_scaled ? tn_reference_scale(&f->a) : 1;
	for (int64_t l = 0; l < f->k; l++) {
		double complex *v = column(&f->a, l) + l;
		f->values[l] = reflector(v, f->m - l);
		for (int64_t j = l + 1; j < f->n; j++)
			reflect(conj(f->values[l]), v, column(&f->a, j) + l, f->m - l);
	}
	form_columns(f);
	for (int64_t i = 0; is_scaled && i < f->m * f->n; i++)
		f->a.at[i] *= unit;
	return 0;
}

tn_status tn_reference_qr(void *device, const struct tn_linalg_args *args)
{
	static const struct entry entry = {"qr", HAS_U, qr, NULL};
	return tn_reference_factor(device, args, &entry);
}
