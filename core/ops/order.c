/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See order.h.  Sorting is stable: the last key decides.
 */
#include "ops/order.h"

#include "array/make.h"
#include "base/dtype.h"
#include "ops/formula.h"

static tn_array *by_real_key(const tn_array *earlier, const tn_array *key, int axis)
{
	if (!earlier)
		return tn_argsort(key, axis, 0);
	const tn_array *order = tn_argsort(tn_take_along_axis(key, earlier, axis), axis, 0);
	return tn_take_along_axis(earlier, order, axis);
}

/* NumPy's order: numbers by their real, then imaginary parts; then those whose imaginary part is
 * NaN, those whose real part is, and those of two NaN. */
static tn_array *by_complex_key(const char *operation, const tn_array *earlier, const tn_array *key,
				int axis)
{
	static const struct tn_short_program kind = {"z = (x == x ? 0 : 2) + (y == y ? 0 : 1)", 2,
						     0, 0, 0};
	const tn_array *parts[] = {tn_real(key), tn_imag(key)};
	const tn_array *kinds = tn_formula(operation, &kind, TN_U8, parts, NULL);
	const tn_array *keys[] = {parts[1], parts[0], kinds};
	tn_array *order = NULL;
	if (!kinds)
		return NULL;
	for (int i = 0; i < 3; i++) {
		order = by_real_key(i ? order : earlier, keys[i], axis);
		if (!order)
			return NULL;
	}
	return order;
}

tn_array *tn_order_by(const char *operation, const tn_array *earlier, const tn_array *key, int axis)
{
	const tn_array *free = tn_array_untracked(operation, key);
	if (!free)
		return NULL;
	return tn_is_complex(free->dtype) ? by_complex_key(operation, earlier, free, axis)
					  : by_real_key(earlier, free, axis);
}
