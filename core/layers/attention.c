/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scaled dot-product attention: one call on backends that have it (attention_slot.h), else recorded
 * products, a softmax and one program for the masks.
 */
#include <math.h>
#include <stdio.h>

#include <tenon/autograd.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "layers/attention_slot.h"
#include "layers/check_floating.h"
#include "ops/formula.h"

static tn_status check_shapes(const tn_array *q, const tn_array *k, const tn_array *v)
{
	struct tn_runtime *rt = q->runtime;
	if (q->rank < 2 || k->rank < 2 || v->rank < 2)
		return tn_runtime_fail(rt, TN_SHAPE, "scaled_dot_product_attention",
				       "expected q (..., L, E), k (..., S, E) and v (..., S, F), "
				       "found ranks %d, %d and %d",
				       q->rank, k->rank, v->rank);
	if (q->shape[q->rank - 1] != k->shape[k->rank - 1] ||
	    k->shape[k->rank - 2] != v->shape[v->rank - 2])
		return tn_runtime_fail(
			rt, TN_SHAPE, "scaled_dot_product_attention",
			"expected q and k of one width, and k and v of one length, "
			"found widths %lld and %lld, lengths %lld and %lld",
			(long long)q->shape[q->rank - 1], (long long)k->shape[k->rank - 1],
			(long long)k->shape[k->rank - 2], (long long)v->shape[v->rank - 2]);
	return TN_OK;
}

static tn_array *transposed(const tn_array *a)
{
	int axes[TN_MAX_RANK];
	for (int i = 0; i < a->rank; i++)
		axes[i] = i;
	axes[a->rank - 1] = a->rank - 2;
	axes[a->rank - 2] = a->rank - 1;
	return tn_transpose(a, axes);
}

/* scores + mask, and -inf where a later element would be seen; `scores` is released. */
static tn_array *masked(tn_array *scores, const tn_array *mask, int causal)
{
	char text[96];
	const struct tn_formula formula = {.text = text, .inputs = mask ? "scores mask" : "scores"};
	if (!scores || (!mask && !causal))
		return scores;
	const char *sum = mask ? "scores + mask" : "scores";
	if (causal)
		snprintf(text, sizeof(text), "z = index(%d) > index(%d) ? -inf : %s",
			 scores->rank - 1, scores->rank - 2, sum);
	else
		snprintf(text, sizeof(text), "z = %s", sum);
	tn_array *z = tn_formula_map_number(&formula, (const tn_array *[]){scores, mask}, NULL);
	tn_array_destroy(scores);
	return z;
}

/* softmax(scale q k^T + mask), recorded */
static tn_array *weights_of(const struct tn_attention *attention)
{
	tn_array *scaled = tn_affine(attention->q, attention->scale, 0.0);
	tn_array *columns = transposed(attention->k);
	tn_array *scores = masked(tn_matmul(scaled, columns), attention->mask, attention->causal);
	tn_array *weights = scores ? tn_softmax(scores, scores->rank - 1) : NULL;
	tn_array *const temporaries[] = {scaled, columns, scores};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return weights;
}

static tn_array *compose(const struct tn_attention *attention, double dropout)
{
	tn_array *weights = weights_of(attention);
	tn_array *kept = weights && dropout != 0 ? tn_dropout(weights, dropout) : NULL;
	tn_array *y = tn_matmul(dropout != 0 ? kept : weights, attention->v);
	tn_array_destroy(weights);
	tn_array_destroy(kept);
	return y;
}

/* ---- In one call -----------------------------------------------------------------------------*/

/* The arrays that a node saves; its inputs are the first three. */
enum { Q, K, V, MASK, Y, MAXIMUM, LOG_SUM, SAVED };

struct attention_state {
	double scale;
	int causal;
};

static struct tn_attention saved_attention(const struct tn_node *node)
{
	const struct attention_state *state = node->state;
	return (struct tn_attention){.q = node->saved[Q].array,
				     .k = node->saved[K].array,
				     .v = node->saved[V].array,
				     .mask = node->saved[MASK].array,
				     .scale = state->scale,
				     .causal = state->causal,
				     .y = node->saved[Y].array,
				     .maximum = node->saved[MAXIMUM].array,
				     .log_sum = node->saved[LOG_SUM].array};
}

/* With p the weights and g = dy v^T:  dv = p^T dy,   ds = p (g - sum of p g along its rows),
 * dq = scale ds k,   dk = scale ds^T q. */
static void compose_gradients(const struct tn_attention *attention, const tn_array *dy,
			      tn_array *gradients[3])
{
	tn_array *p = weights_of(attention), *g = tn_matmul(dy, transposed(attention->v));
	tn_array *weighted = tn_multiply(p, g);
	tn_array *sums = tn_sum(weighted, 1, (const int[]){-1}, 1);
	tn_array *ds = tn_affine(tn_subtract(weighted, tn_multiply(p, sums)), attention->scale, 0);
	gradients[Q] = tn_matmul(ds, attention->k);
	gradients[K] = ds ? tn_matmul(transposed(ds), attention->q) : NULL;
	gradients[V] = p ? tn_matmul(transposed(p), dy) : NULL;
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct tn_attention attention = saved_attention(node);
	tn_array *gradients[3];
	uint32_t wants = 0;
	for (uint32_t i = 0; i < 3; i++)
		wants |= tn_node_wants(node, i) ? 1u << i : 0;
	tn_status status = TN_UNSUPPORTED;
	if (!tn_node_records(node))
		status = tn_attention_backward(&attention, dy, wants, gradients);
	if (status == TN_UNSUPPORTED) {
		compose_gradients(&attention, dy, gradients);
		status = tn_runtime_status(tn_node_runtime(node));
	}
	for (uint32_t i = 0; i < 3 && !status; i++) {
		if (wants & 1u << i)
			status = tn_node_give(node, i, gradients[i]);
	}
	return status;
}

/* TN_UNSUPPORTED: the backend does not compute it. */
static tn_status in_one_call(struct tn_attention *attention, tn_array **y)
{
	const struct attention_state state = {attention->scale, attention->causal};
	struct tn_suspension suspension = tn_tape_suspend(attention->q);
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	tn_status status = tn_attention_forward(attention);
	*y = tn_tape_resume(
		suspension, attention->y,
		&(struct tn_node_request){.operation = "attention",
					  .backward = backward,
					  .is_twice = 1,
					  .n_inputs = 3,
					  .inputs = {attention->q, attention->k, attention->v},
					  .n_saved = SAVED,
					  .saved = {attention->q, attention->k, attention->v,
						    attention->mask, attention->y,
						    attention->maximum, attention->log_sum},
					  .state = &state,
					  .state_size = sizeof(state)});
	tn_array_destroy(attention->maximum);
	tn_array_destroy(attention->log_sum);
	return status;
}

/* The slots have no dropout, and no gradient of the mask. */
static int may_be_one_call(const struct tn_attention *attention, double dropout)
{
	const tn_array *mask = attention->mask;
	return dropout == 0 && !(mask && mask->tracked && mask->runtime->recorder) &&
	       tn_attention_fits(attention);
}

tn_array *tn_scaled_dot_product_attention(const tn_array *q, const tn_array *k, const tn_array *v,
					  const struct tn_attention_options *options)
{
	struct tn_attention_options o = tn_attention_defaults();
	if (tn_arrays_given(3, (const tn_array *[]){q, k, v}, "scaled_dot_product_attention") ||
	    tn_runtime_take(q->runtime, &o, sizeof(o), options, "struct tn_attention_options",
			    "scaled_dot_product_attention") ||
	    check_shapes(q, k, v) || tn_check_floating("scaled_dot_product_attention", q))
		return NULL;
	if (o.mask && !tn_is_floating(o.mask->dtype)) {
		tn_runtime_fail(
			q->runtime, TN_DTYPE, "scaled_dot_product_attention",
			"mask: expected a floating type (0, or -inf where nothing is seen), "
			"found %s",
			tn_dtype_name(o.mask->dtype));
		return NULL;
	}
	const int64_t width = q->shape[q->rank - 1];
	struct tn_attention attention = {
		.q = q,
		.k = k,
		.v = v,
		.mask = o.mask,
		.scale = isnan(o.scale) ? 1.0 / sqrt((double)(width ? width : 1)) : o.scale,
		.causal = o.causal};
	tn_array *y = NULL;
	tn_status status = may_be_one_call(&attention, o.dropout) ? in_one_call(&attention, &y)
								  : TN_UNSUPPORTED;
	return status == TN_UNSUPPORTED ? compose(&attention, o.dropout) : y;
}
