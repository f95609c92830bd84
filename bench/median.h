/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The median of samples.
 */
#ifndef TN_BENCH_MEDIAN_H
#define TN_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sorts the samples. */
static inline double bench_median_of(double *samples, int n)
{
	qsort(samples, (size_t)n, sizeof(*samples), bench_compare);
	return samples[n / 2];
}

#endif
