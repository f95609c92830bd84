/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scaled dot-product attention, as recorded products, a softmax and one program for the masks.
 */
#include <math.h>
#include <stdio.h>

#include <tenon/autograd.h>

#include "array/array.h"
#include "array/make.h"
#include "base/dtype.h"
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
	int64_t width = q->shape[q->rank - 1];
	double scale = isnan(o.scale) ? 1.0 / sqrt((double)(width ? width : 1)) : o.scale;
	tn_array *scaled = tn_affine(q, scale, 0.0), *columns = transposed(k);
	tn_array *scores = masked(tn_matmul(scaled, columns), o.mask, o.causal);
	tn_array *weights = scores ? tn_softmax(scores, scores->rank - 1) : NULL;
	tn_array *kept = weights && o.dropout != 0 ? tn_dropout(weights, o.dropout) : NULL;
	tn_array *y = o.dropout != 0 ? tn_matmul(kept, v) : tn_matmul(weights, v);
	tn_array *const temporaries[] = {scaled, columns, scores, weights, kept};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}
