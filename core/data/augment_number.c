/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions to a small interval, and power series there.  This file must be compiled without
 * contraction, as all files of augmentations are.
 */
#include "data/augment_number.h"

#include <math.h>

#define PI 3.14159265358979323846
/* log 2 in two parts: products of the first with exponents are exact. */
#define LOG2_HIGH 0x1.62e42fefa3800p-1
#define LOG2_LOW 0x1.ef35793c76730p-45

void tn_number_sincos(double degrees, double *sine, double *cosine)
{
	double quarter = rint(degrees / 90);
	double x = (degrees - 90 * quarter) * (PI / 180); /* within a quarter of pi; exact at 0 */
	double square = x * x, s = 0, c = 0;
	for (int n = 19; n > 1; n -= 2) {
		s = (s + 1) * -square / (n * (n - 1));
		c = (c + 1) * -square / ((n - 1) * (n - 2));
	}
	s = x + x * s;
	c = 1 + c;
	switch ((int)quarter & 3) {
	case 0:
		*sine = s;
		*cosine = c;
		return;
	case 1:
		*sine = c;
		*cosine = -s;
		return;
	case 2:
		*sine = -s;
		*cosine = -c;
		return;
	default:
		*sine = -c;
		*cosine = s;
	}
}

double tn_number_exp(double x)
{
	if (x < -700)
		return 0;
	double power = rint(x / (LOG2_HIGH + LOG2_LOW));
	double rest = x - power * LOG2_HIGH - power * LOG2_LOW; /* within half of log 2 */
	double sum = 0;
	for (int n = 14; n > 0; n--)
		sum = (sum + 1) * rest / n;
	return ldexp(1 + sum, (int)power);
}

double tn_number_log(double x)
{
	int power;
	double part = frexp(x, &power);
	if (part < 0.70710678118654752) {
		part *= 2;
		power--;
	}
	/* log part = 2 artanh s, |s| < 0.172 */
	double s = (part - 1) / (part + 1), square = s * s, sum = 0;
	for (int n = 21; n > 1; n -= 2)
		sum = (sum + 1.0 / n) * square;
	return power * LOG2_HIGH + (power * LOG2_LOW + 2 * (s + s * sum));
}
