/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Places of quantiles, computed in f64 on the host.
 */
#ifndef TN_NUMPY_QUANTILE_POSITION_H
#define TN_NUMPY_QUANTILE_POSITION_H

#include <stdint.h>

struct tn_quantile_method {
	const char *name;
	int is_discrete; /* it gives elements */
};
/* NULL: there is no such method. */
const struct tn_quantile_method *tn_quantile_method(uint32_t method);

/* Where a quantile of `count` sorted elements lies: at `lower`, or between it and `upper`, `weight`
 * of the way. */
struct tn_quantile_position {
	int64_t lower, upper;
	double weight;
	int is_element; /* exactly at `lower`: nothing is computed */
};
struct tn_quantile_position tn_quantile_position_of(uint32_t method, int64_t count, double q);

#endif
