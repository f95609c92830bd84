/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * All zeros of a polynomial at once: O. Aberth, Iteration methods for finding all zeros of a
 * polynomial simultaneously, Mathematics of Computation 27 (1973), from the first guesses of D. A.
 * Bini, Numerical computation of polynomial zeros by means of Aberth's method, Numerical
 * Algorithms 13 (1996).
 */
#include "numpy/polynomial_zeros.h"

#include <float.h>
#include <math.h>

enum { MOST_ROUNDS = 500 };

/* A value, its derivative, and what rounding may make of the value. */
struct value {
	double complex p, slope;
	double error;
};

/* At z of size 1 or less; with step -1 of the polynomial of the reversed coefficients, from the
 * last of them on. */
static struct value horner(const double complex *p, int64_t degree, int step, double complex z)
{
	const double size = cabs(z);
	struct value v = {*p, 0, cabs(*p)};
	for (int64_t k = 1; k <= degree; k++) {
		v.slope = v.slope * z + v.p;
		v.p = v.p * z + p[k * step];
		v.error = v.error * size + cabs(p[k * step]);
	}
	v.error *= 4 * (double)(degree + 1) * DBL_EPSILON;
	return v;
}

/* Newton's step p / p', and whether z is a zero but for rounding.  Beyond the unit circle by the
 * reversed polynomial q in w = 1 / z: p' / p = n w - w^2 q' / q. */
static double complex newton(const double complex *p, int64_t degree, double complex z,
			     int *is_zero)
{
	if (cabs(z) <= 1) {
		struct value v = horner(p, degree, 1, z);
		*is_zero = cabs(v.p) <= v.error;
		return v.p / v.slope;
	}
	const double complex w = 1 / z;
	struct value v = horner(p + degree, degree, -1, w);
	*is_zero = cabs(v.p) <= v.error;
	return v.p / ((double)degree * w * v.p - w * w * v.slope);
}

/* Guesses on circles: a side of the upper hull of log |a_k| over k from i to j says that about
 * j - i zeros have the size |a_i / a_j|^(1 / (j - i)), the a_k being those of the powers k. */
static void guess(const double complex *p, int64_t degree, double complex *zeros)
{
	for (int64_t i = 0, j = 0; i < degree; i = j) {
		double steepest = -INFINITY;
		const double here = log(cabs(p[degree - i]));
		for (int64_t k = i + 1; k <= degree; k++) {
			const double size = cabs(p[degree - k]);
			const double slope =
				size > 0 ? (log(size) - here) / (double)(k - i) : -INFINITY;
			if (slope >= steepest) {
				steepest = slope;
				j = k;
			}
		}
		for (int64_t k = i; k < j; k++) {
			const double turn = (double)(k - i) / (double)(j - i) + 0.11 +
					    (double)i / (double)degree;
			zeros[k] = exp(-steepest) * cexp(I * (6.283185307179586 * turn));
		}
	}
}

/* The correction of zero i: Newton's, away from the other zeros. */
static double complex aberth(const double complex *zeros, int64_t n, int64_t i, double complex step)
{
	double complex pull = 0;
	for (int64_t k = 0; k < n; k++) {
		const double complex apart = zeros[i] - zeros[k];
		if (k != i && apart != 0)
			pull += 1 / apart;
	}
	return step / (1 - step * pull);
}

static int is_real_polynomial(const double complex *p, int64_t degree)
{
	for (int64_t k = 0; k <= degree; k++) {
		if (cimag(p[k]) != 0)
			return 0;
	}
	return 1;
}

/* Makes zeros real whose real parts are zeros but for rounding, and the others pairs. */
static void pair_zeros(const double complex *p, int64_t n, double complex *zeros)
{
	for (int64_t i = 0; i < n; i++) {
		int is_zero;
		newton(p, n, creal(zeros[i]), &is_zero);
		if (is_zero)
			zeros[i] = creal(zeros[i]);
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t nearest = -1;
		if (cimag(zeros[i]) == 0)
			continue;
		for (int64_t k = i + 1; k < n; k++) {
			if (cimag(zeros[k]) * cimag(zeros[i]) < 0 &&
			    (nearest < 0 || cabs(zeros[k] - conj(zeros[i])) <
						    cabs(zeros[nearest] - conj(zeros[i]))))
				nearest = k;
		}
		if (nearest < 0) {
			zeros[i] = creal(zeros[i]);
			continue;
		}
		/* The partner moves beside it, where nothing looks for it again. */
		zeros[i] = 0.5 * (zeros[i] + conj(zeros[nearest]));
		zeros[nearest] = zeros[i + 1];
		zeros[i + 1] = conj(zeros[i]);
		i++;
	}
}

void tn_polynomial_sort(int64_t n, double complex *zeros)
{
	for (int64_t i = 1; i < n; i++) {
		const double complex z = zeros[i];
		int64_t k = i;
		for (;
		     k > 0 && (creal(zeros[k - 1]) > creal(z) ||
			       (creal(zeros[k - 1]) == creal(z) && cimag(zeros[k - 1]) > cimag(z)));
		     k--)
			zeros[k] = zeros[k - 1];
		zeros[k] = z;
	}
}

int tn_polynomial_zeros(const double complex *p, int64_t degree, double complex *zeros)
{
	int64_t moving = degree;
	guess(p, degree, zeros);
	for (int round = 0; round < MOST_ROUNDS && moving; round++) {
		moving = 0;
		for (int64_t i = 0; i < degree; i++) {
			int is_zero;
			const double complex step = newton(p, degree, zeros[i], &is_zero);
			if (is_zero)
				continue;
			const double complex change = aberth(zeros, degree, i, step);
			zeros[i] -= change;
			moving += !(cabs(change) <= 2 * DBL_EPSILON * cabs(zeros[i]));
		}
	}
	if (is_real_polynomial(p, degree))
		pair_zeros(p, degree, zeros);
	return moving == 0;
}
