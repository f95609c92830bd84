/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions to a small interval, and power series there.  This file must be compiled without
 * contraction, as all files of augmentations are.
 */
#include "data/augment_number.h"

#include <math.h>

#define PI 3.14159265358979323846

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
