/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients of running sums, products and extremes, composed of reverse scans.
 */
#include "autograd/gradient_scan.h"

#include <stdio.h>

#include <tenon/backend.h>

#include "array/array.h"
#include "autograd/gradients.h"
#include "autograd/node.h"
#include "ops/formula.h"
#include "ops/scan.h"
#include "ops/take.h"
#include "ops/take_along.h"

static tn_array *flip(const tn_array *a, int axis)
{
	return tn_slice(a, axis, INT64_MIN, INT64_MIN, -1);
}

/* y = x + all before;  dx = dy + all after.  Recorded: by a sum in the other direction. */
tn_status tn_cumsum_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	int axis = recorded->record.axis;
	if (tn_node_records(node))
		return tn_node_give(node, 0, flip(tn_cumsum(flip(dy, axis), axis), axis));
	return tn_node_give(node, 0, tn_scan(dy, axis, TN_REDUCE_SUM, 1, 0));
}

/* y = x times all before.  With z the number of zeros up to an element,
 *     dx = (sum of dy y over this and later elements with z = 0) / x      where z = 0
 *     dx = sum of dy y' over this and later elements with z = 1           at the first zero
 *     dx = 0                                                              elsewhere
 * where y' is y with the first zero replaced by 1. */
tn_status tn_cumprod_backward(struct tn_node *node, tn_array *dy)
{
	static const struct tn_formula is_zero = {.text = "zero = i32(x == 0)", .inputs = "x"};
	static const struct tn_formula before_zero = {.text = "term = z == 0 ? dy * y : 0",
						      .inputs = "z dy y"};
	static const struct tn_formula without_zero = {.text = "filled = z == 1 && x == 0 ? 1 : x",
						       .inputs = "z x"};
	static const struct tn_formula after_zero = {.text = "term = z == 1 ? dy * others : 0",
						     .inputs = "z dy others"};
	static const struct tn_formula gradient = {
		.text = "dx = z == 0 ? before / x : (z == 1 && x == 0 ? at : 0)",
		.inputs = "z before x at"};
	const struct tn_recorded *recorded = node->state;
	int axis = recorded->record.axis;
	const tn_array *x = node->saved[0].array, *y = node->saved[1].array;
	tn_array *zero = tn_formula_map_number(&is_zero, &x, NULL);
	tn_array *z = tn_scan(zero, axis, TN_REDUCE_SUM, 0, 0);
	tn_array *before =
		tn_formula_map_number(&before_zero, (const tn_array *[]){z, dy, y}, NULL);
	tn_array *filled = tn_formula_map_number(&without_zero, (const tn_array *[]){z, x}, NULL);
	tn_array *others = tn_scan(filled, axis, TN_REDUCE_PRODUCT, 0, 0);
	tn_array *at =
		tn_formula_map_number(&after_zero, (const tn_array *[]){z, dy, others}, NULL);
	before = tn_scan(before, axis, TN_REDUCE_SUM, 1, 0);
	at = tn_scan(at, axis, TN_REDUCE_SUM, 1, 0);
	tn_array *dx =
		tn_formula_map_number(&gradient, (const tn_array *[]){z, before, x, at}, NULL);
	/* Zeros are counted in i64, so narrow types have become f32. */
	return tn_node_give(node, 0, tn_array_dtype(dx) == x->dtype ? dx : tn_astype(dx, x->dtype));
}

static tn_status take_places(struct tn_node *node, tn_array *ddx)
{
	return tn_node_give(
		node, 0, tn_take_along_axis(ddx, node->saved[0].array, *(const int *)node->state));
}

/* y = the extremum so far;  dy is added at the last index that had this value, or at the last NaN
 * once there is one.  These indices are a running maximum themselves. */
tn_status tn_cumulative_extremum_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	int axis = recorded->record.axis;
	char text[64];
	tn_array *places, *g;
	const struct tn_formula place = {.text = text, .inputs = "x y"};
	snprintf(text, sizeof(text), "place = x == y || x != x ? index(%d) : 0", axis);
	struct tn_suspension suspension = tn_tape_suspend(dy);
	places = tn_formula_map_number(
		&place, (const tn_array *[]){node->saved[0].array, node->saved[1].array}, NULL);
	places = tn_scan(places, axis, TN_REDUCE_MAX, 0, 0);
	g = places ? tn_scattered(tn_scatter_add_along_axis, recorded->rank, recorded->shape,
				  places, axis, dy)
		   : NULL;
	g = tn_tape_resume(suspension, g,
			   &(struct tn_node_request){.operation = node->operation,
						     .backward = take_places,
						     .is_twice = 1,
						     .n_inputs = 1,
						     .inputs = {dy},
						     .n_saved = 1,
						     .saved = {places},
						     .state = &axis,
						     .state_size = sizeof(axis)});
	return tn_node_give(node, 0, g);
}
