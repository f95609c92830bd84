/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See chosen.h.  Every place is sent to one of its own, the true ones in front: a scatter in which
 * no two elements meet.
 */
#include "ops/chosen.h"

#include "array/make.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/host_read.h"
#include "ops/indexed.h"
#include "ops/take.h"

/* All places, those of true elements first. */
static tn_array *true_first(const char *operation, const tn_array *is_true)
{
	/* x = is it true, y = how many are so far, c = in all. */
	static const struct tn_short_program target = {"z = x ? y - 1 : c + index(0) - y", 3, 0, 0,
						       TN_I64};
	static const struct tn_short_program place = {"z = index(0)", 0, 0, 0, 0};
	const int64_t n = is_true->size;
	const tn_array *so_far = tn_cumsum(is_true, 0);
	const tn_array *inputs[] = {is_true, so_far, tn_slice(so_far, 0, n - 1, n, 1)};
	const tn_array *targets = tn_formula(operation, &target, TN_I64, inputs, NULL);
	const tn_array *places =
		tn_indexed_make(tn_array_home(is_true), operation, TN_I64, 1, &n, &place, NULL);
	tn_array *all = tn_array_filled(is_true, TN_I64, 1, &n, 0);
	return all && targets && places && !tn_scatter_add(all, targets, 0, places) ? all : NULL;
}

tn_array *tn_chosen_places(const char *operation, const tn_array *is_true)
{
	tn_number count;
	if (!is_true)
		return NULL;
	if (!is_true->size)
		return tn_astype(is_true, TN_I64);
	tn_array *places = true_first(operation, is_true);
	if (!places ||
	    tn_host_read_number(operation, tn_sum(is_true, TN_ALL_AXES, NULL, 0), &count))
		return NULL;
	return tn_slice(places, 0, 0, count.i64, 1);
}
