/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients of reductions.  dy and y have the reduced axes reinserted, so that they broadcast
 * against x.
 */
#include "autograd/gradient_reduce.h"

#include <string.h>

#include "array/array.h"
#include "autograd/gradients.h"
#include "autograd/node.h"
#include "ops/formula.h"

tn_array *tn_with_reduced_axes(tn_array *a, const struct tn_recorded *recorded)
{
	int64_t shape[TN_MAX_RANK] = {0};
	for (int i = 0; i < recorded->rank; i++)
		shape[i] = recorded->record.axes & 1u << i ? 1 : recorded->shape[i];
	return tn_reshape(a, recorded->rank, shape);
}

tn_array *tn_sum_to_shape(tn_array *g, int rank, const int64_t *shape)
{
	int axes[TN_MAX_RANK], n = 0;
	int extra = tn_array_rank(g) - rank;
	if (!g)
		return NULL;
	for (int i = 0; i < g->rank; i++) {
		if (i < extra || (shape[i - extra] == 1 && g->shape[i] != 1))
			axes[n++] = i;
	}
	return n ? tn_reshape(tn_sum(g, n, axes, 0), rank, shape) : g;
}

/* y = s sum x;  dx = s dy */
tn_status tn_sum_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	double scale = recorded->record.scale;
	tn_array *g = scale == 1.0 ? dy : tn_affine(dy, scale, 0.0);
	g = tn_broadcast_to(tn_with_reduced_axes(g, recorded), recorded->rank, recorded->shape);
	return tn_node_give(node, 0, g);
}

/* y = max x;  dx = dy / n where x is y, n the number of such x */
tn_status tn_extremum_backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_recorded *recorded = node->state;
	const tn_array *x = node->saved[0].array;
	int axes[TN_MAX_RANK], n = 0;
	for (int i = 0; i < recorded->rank; i++) {
		if (recorded->record.axes & 1u << i)
			axes[n++] = i;
	}
	tn_array *y = tn_with_reduced_axes(node->saved[1].array, recorded);
	tn_array *equal = tn_astype(tn_equal(x, y), recorded->dtype);
	tn_array *count = n ? tn_sum(equal, n, axes, 1) : equal;
	tn_array *share = tn_divide(tn_with_reduced_axes(dy, recorded), count);
	return tn_node_give(node, 0, tn_multiply(equal, share));
}

/* The product of the elements before each one along an axis, of 1 before the first. */
static tn_array *product_before(const tn_array *x, int axis)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, x->shape, sizeof(shape));
	if (shape[axis] < 1)
		return tn_copy(x);
	shape[axis] = 1;
	tn_array *one = tn_ones(tn_array_context(x), x->dtype, x->rank, shape);
	tn_array *rest = tn_slice(x, axis, 0, x->shape[axis] - 1, 1);
	const tn_array *both[] = {one, rest};
	return tn_cumprod(tn_concatenate(2, both, axis), axis);
}

/* dx = dy times the product of all other elements, by operations that have derivatives at zeros
 * too: the product of those before times the product of those after, along the reduced axes made
 * one, the last. */
static tn_array *product_of_others(const tn_array *x, const struct tn_recorded *recorded)
{
	int order[TN_MAX_RANK], inverse[TN_MAX_RANK], n_kept = 0, to = 0;
	int64_t merged[TN_MAX_RANK + 1], moved[TN_MAX_RANK];
	for (int reduced = 0; reduced < 2; reduced++) {
		for (int i = 0; i < x->rank; i++) {
			if ((int)(recorded->record.axes >> i & 1) == reduced)
				order[to++] = i;
		}
		n_kept = reduced ? n_kept : to;
	}
	merged[n_kept] = 1;
	for (int i = 0; i < x->rank; i++) {
		inverse[order[i]] = i;
		moved[i] = x->shape[order[i]];
		if (i < n_kept)
			merged[i] = moved[i];
		else
			merged[n_kept] *= moved[i];
	}
	tn_array *rows = tn_reshape(tn_transpose(x, order), n_kept + 1, merged);
	tn_array *before = rows ? product_before(rows, n_kept) : NULL;
	tn_array *back = tn_slice(rows, n_kept, INT64_MIN, INT64_MIN, -1);
	tn_array *after = back ? product_before(back, n_kept) : NULL;
	after = tn_slice(after, n_kept, INT64_MIN, INT64_MIN, -1);
	return tn_transpose(tn_reshape(tn_multiply(before, after), x->rank, moved), inverse);
}

/* y = prod x;  without zeros dx = dy y / x; with one zero, dy times the other elements there; with
 * two, 0 */
tn_status tn_product_backward(struct tn_node *node, tn_array *dy)
{
	static const struct tn_formula is_zero = {.text = "zero = x == 0 ? 1.0 : 0.0",
						  .inputs = "x"};
	static const struct tn_formula without_zero = {.text = "filled = x == 0 ? 1 : x",
						       .inputs = "x"};
	static const struct tn_formula gradient = {
		.text = "dx = zeros == 0 ? dy * others / x "
			": (zeros == 1 && x == 0 ? dy * others : 0)",
		.inputs = "x zeros others dy"};
	const struct tn_recorded *recorded = node->state;
	const tn_array *x = node->saved[0].array;
	int axes[TN_MAX_RANK], n = 0;
	if (tn_node_records(node))
		return tn_node_give(node, 0,
				    tn_multiply(tn_with_reduced_axes(dy, recorded),
						product_of_others(x, recorded)));
	for (int i = 0; i < recorded->rank; i++) {
		if (recorded->record.axes & 1u << i)
			axes[n++] = i;
	}
	tn_array *zero = tn_formula_map_number(&is_zero, &x, NULL);
	tn_array *zeros = n ? tn_sum(zero, n, axes, 1) : zero;
	tn_array *filled = tn_formula_map_number(&without_zero, &x, NULL);
	tn_array *others = n ? tn_prod(filled, n, axes, 1) : filled;
	const tn_array *inputs[] = {x, zeros, others, tn_with_reduced_axes(dy, recorded)};
	return tn_node_give(node, 0, tn_formula_map_number(&gradient, inputs, NULL));
}

/* y = log sum exp x;  dx = dy exp(x - y) */
tn_status tn_logsumexp_backward(struct tn_node *node, tn_array *dy)
{
	static const struct tn_formula gradient = {.text = "dx = dy * exp(x - y)",
						   .inputs = "x y dy"};
	const struct tn_recorded *recorded = node->state;
	const tn_array *inputs[] = {node->saved[0].array,
				    tn_with_reduced_axes(node->saved[1].array, recorded),
				    tn_with_reduced_axes(dy, recorded)};
	return tn_node_give(node, 0, tn_formula_map_number(&gradient, inputs, NULL));
}
