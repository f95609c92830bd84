/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backward of the norms.  The gradients of w and b come together: both are written to their places
 * where they have some and agree on whether to add, and go the way of all gradients otherwise.
 */
#include "autograd/norm.h"

#include "array/array.h"
#include "array/layers.h"

enum { X, W, B };
enum { SAVED_X, SAVED_W, SAVED_MEAN, SAVED_RSTD };

struct parameters {
	tn_array *dw; /* NULL: nobody wants them */
	tn_array *db;
	int accumulate;
	int in_place;
};

static tn_array *flat(tn_array *a)
{
	return a && a->rank != 1 ? tn_reshape(a, 1, (const int64_t[]){-1}) : a;
}

static tn_status find_parameters(struct tn_node *node, const tn_array *w, struct parameters *p)
{
	int of_w = 0, of_b = 0;
	*p = (struct parameters){0};
	if (!w || (!tn_node_wants(node, W) && !tn_node_wants(node, B)))
		return TN_OK;
	p->dw = flat(tn_node_target(node, W, &of_w));
	p->db = flat(tn_node_target(node, B, &of_b));
	p->in_place = p->dw && p->db && of_w == of_b;
	p->accumulate = p->in_place && of_w;
	if (p->in_place)
		return TN_OK;
	p->dw = tn_empty(tn_array_context(w), w->dtype, 1, &w->size);
	p->db = tn_empty(tn_array_context(w), w->dtype, 1, &w->size);
	return p->dw && p->db ? TN_OK : tn_runtime_status(tn_node_runtime(node));
}

static tn_status give_parameters(struct tn_node *node, const tn_array *w,
				 const struct parameters *p)
{
	if (!p->dw)
		return TN_OK;
	if (p->in_place) {
		tn_node_wrote(node, W, TN_OK);
		return tn_node_wrote(node, B, TN_OK);
	}
	tn_status status = tn_node_give(node, W, tn_reshape(p->dw, w->rank, w->shape));
	return status ? status : tn_node_give(node, B, tn_reshape(p->db, w->rank, w->shape));
}

tn_status tn_norm_node_backward(struct tn_node *node, int kind, tn_array *dy, int use_statistics)
{
	const tn_array *x = node->saved[SAVED_X].array;
	tn_array *w = node->saved[SAVED_W].array;
	struct parameters p;
	tn_status status = find_parameters(node, w, &p);
	tn_array *rows = tn_reshape(dy, x->rank, x->shape);
	if (status || !rows)
		return tn_runtime_status(tn_node_runtime(node));
	tn_array *dx = tn_norm_backward(kind, rows, x, flat(w), node->saved[SAVED_MEAN].array,
					node->saved[SAVED_RSTD].array, use_statistics, p.dw, p.db,
					p.accumulate);
	status = tn_node_give(node, X, tn_reshape(dx, dy->rank, dy->shape));
	return status ? status : give_parameters(node, w, &p);
}

tn_array *tn_finish(tn_array *y, const tn_array *residual, uint32_t activation)
{
	if (y && residual) {
		tn_array *sum = tn_add(y, residual);
		tn_array_destroy(y);
		y = sum;
	}
	if (!y || !activation)
		return y;
	tn_array *z = activation == TN_ACTIVATION_RELU ? tn_relu(y) : tn_relu6(y);
	tn_array_destroy(y);
	return z;
}
