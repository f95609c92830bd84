/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Condition numbers: the norm of a matrix times that of its inverse, or the ratio of its largest
 * and smallest singular values.
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>
#include <tenon/map.h>

#include "array/make.h"
#include "linalg/factor.h"

static tn_array *ratio_of_values(const tn_array *a, uint32_t order)
{
	const tn_array *s = tn_svdvals(a);
	if (!s)
		return NULL;
	const int64_t k = s->shape[s->rank - 1];
	const tn_array *first = tn_squeeze(tn_slice(s, -1, 0, 1, 1), -1);
	const tn_array *last = tn_squeeze(tn_slice(s, -1, k - 1, k, 1), -1);
	const char *const names[] = {"x", "y"};
	const tn_array *both[] = {order == TN_NORM_2 ? first : last,
				  order == TN_NORM_2 ? last : first};
	return tn_map("ratio = x == 0 && y == 0 ? inf : x / y", 2, names, both, 0, NULL, NULL);
}

static tn_array *product_of_norms(const tn_array *a, uint32_t order)
{
	return tn_multiply(tn_matrix_norm(a, order, 0), tn_matrix_norm(tn_inv(a), order, 0));
}

tn_array *tn_cond(const tn_array *a, uint32_t order)
{
	const int by_values = order == TN_NORM_2 || order == TN_NORM_MINUS_2;
	struct tn_runtime *runtime = tn_begin(1, &a, "cond");
	if (!runtime || tn_matrix_check_order("cond", a, order) ||
	    tn_matrix_check("cond", "a", a, !by_values))
		return NULL;
	if (!a->shape[a->rank - 1] || !a->shape[a->rank - 2]) {
		tn_runtime_fail(runtime, TN_SHAPE, "cond", "a: expected matrices with elements");
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context,
			    by_values ? ratio_of_values(a, order) : product_of_norms(a, order));
}
