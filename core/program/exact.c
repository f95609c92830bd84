/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions to a small interval, and power series there.  This file must be compiled without
 * contraction (-ffp-contract=off).
 */
#include "program/exact.h"

#include <math.h>

#if defined(__FAST_MATH__)
#error "exact.c needs exact floating-point arithmetic"
#endif

/* log 2 in two parts: products of the first with exponents are exact. */
#define LOG2_HIGH 0x1.62e42fefa3800p-1
#define LOG2_LOW 0x1.ef35793c76730p-45

/* exp(x) - 1 where |x| is within half of log 2 or little more. */
static double series_expm1(double x)
{
	double sum = 0;
	for (int n = 14; n > 0; n--)
		sum = (sum + 1) * x / n;
	return sum;
}

double tn_exact_exp(double x)
{
	if (x < -700)
		return 0;
	if (x > 710)
		return INFINITY;
	double power = rint(x / (LOG2_HIGH + LOG2_LOW));
	double rest = x - power * LOG2_HIGH - power * LOG2_LOW; /* within half of log 2 */
	return ldexp(1 + series_expm1(rest), (int)power);
}

double tn_exact_expm1(double x)
{
	return fabs(x) < 0.35 ? series_expm1(x) : tn_exact_exp(x) - 1;
}

double tn_exact_log(double x)
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

/* The rounding of 1 + x cancels in the quotient. */
double tn_exact_log1p(double x)
{
	double sum = 1 + x;
	return sum == 1 ? x : tn_exact_log(sum) * (x / (sum - 1));
}

/* Half the angle has the tangent t, an eighth of it one of at most tan(pi / 16): a series. */
double tn_exact_arccos(double x)
{
	double a = sqrt(1 - x), b = sqrt(1 + x), t = a < b ? a / b : b / a, sum = 0;
	for (int i = 0; i < 2; i++)
		t = t / (1 + sqrt(1 + t * t));
	for (int n = 23; n > 1; n -= 2)
		sum = (1.0 / n + sum) * -(t * t);
	const double half = 4 * (t + t * sum);
	return a < b ? 2 * half : 3.14159265358979323846 - 2 * half;
}

/* ---- The normal quantile ---------------------------------------------------------------------*/

static const double centre[2][8] = {
	{2.50908092873012267270e+3, 3.34305755835881281050e+4, 6.72657709270087008530e+4,
	 4.59219539315498714570e+4, 1.37316937655094611250e+4, 1.97159095030655144270e+3,
	 1.33141667891784377450e+2, 3.38713287279636660800e+0},
	{5.22649527885285456100e+3, 2.87290857357219426740e+4, 3.93078958000927106100e+4,
	 2.12137943015865958670e+4, 5.39419602142475110770e+3, 6.87187007492057908300e+2,
	 4.23133307016009112520e+1, 1.0},
};
static const double tail[2][8] = {
	{7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
	 1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
	 4.63033784615654529590e+0, 1.42343711074968357734e+0},
	{1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
	 1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0,
	 2.05319162663775882187e+0, 1.0},
};
static const double far_tail[2][8] = {
	{2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
	 2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0,
	 5.46378491116411436990e+0, 6.65790464350110377720e+0},
	{2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
	 7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
	 5.99832206555887937690e-1, 1.0},
};

/* One polynomial divided by another. */
static double quotient(const double terms[2][8], double r)
{
	double part[2];
	for (int k = 0; k < 2; k++) {
		part[k] = terms[k][0];
		for (int i = 1; i < 8; i++)
			part[k] = part[k] * r + terms[k][i];
	}
	return part[0] / part[1];
}

double tn_exact_normal(double p)
{
	double q = p - 0.5;
	if (fabs(q) <= 0.425)
		return q * quotient(centre, 0.180625 - q * q);
	double r = sqrt(-tn_exact_log(q < 0 ? p : 1 - p));
	double x = r <= 5 ? quotient(tail, r - 1.6) : quotient(far_tail, r - 5);
	return q < 0 ? -x : x;
}
