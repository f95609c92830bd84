/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * loss = (1 / n) sum over rows of (lse - logit of the label), n the rows that are not ignored:
 *     dlogits = (softmax - one-hot) dloss / n
 */
#include "array/array.h"
#include "autograd/node.h"
#include "ops/cross_entropy.h"

enum { LOGITS, LABELS, LSE, COUNT };

struct entropy_state {
	int32_t ignore_label;
};

/* The number of rows that are not ignored, 0-d, on the device, in the type of the losses: f16 and
 * bf16 cannot count many. */
static tn_array *count_rows(const tn_array *losses, const tn_array *labels, int32_t ignore_label)
{
	tn_context *context = tn_array_context(losses);
	if (ignore_label == TN_NO_LABEL)
		return tn_full(context, losses->dtype, 0, NULL, (double)labels->shape[0]);
	tn_array *ignored = tn_full(context, TN_I32, 0, NULL, (double)ignore_label);
	return tn_sum(tn_astype(tn_not_equal(labels, ignored), losses->dtype), TN_ALL_AXES, NULL,
		      0);
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct entropy_state *state = node->state;
	const tn_array *labels = node->saved[LABELS].array;
	tn_array *share = tn_divide(dy, node->saved[COUNT].array);
	tn_array *rows = tn_broadcast_to(share, 1, labels->shape);
	return tn_node_give(node, LOGITS,
			    tn_cross_entropy_backward(node->saved[LOGITS].array, labels,
						      node->saved[LSE].array, rows,
						      state->ignore_label));
}

tn_array *tn_cross_entropy(const tn_array *logits, const tn_array *labels, int32_t ignore_label)
{
	if (!logits || !labels)
		return NULL;
	struct entropy_state state = {ignore_label};
	struct tn_suspension suspension = tn_tape_suspend(logits);
	if (!suspension.runtime)
		return NULL;
	tn_array *rows = NULL, *lse = NULL, *count = NULL, *loss = NULL;
	if (!tn_cross_entropy_forward(logits, labels, ignore_label, &rows, &lse)) {
		tn_array *sum = tn_sum(rows, TN_ALL_AXES, NULL, 0);
		count = count_rows(rows, labels, ignore_label);
		loss = tn_divide(sum, count);
		tn_array_destroy(sum);
		tn_array_destroy(rows);
	}
	loss = tn_tape_resume(suspension, loss,
			      &(struct tn_node_request){.operation = "cross_entropy",
							.backward = backward,
							.n_inputs = 1,
							.inputs = {logits},
							.n_saved = 4,
							.saved = {logits, labels, lse, count},
							.state = &state,
							.state_size = sizeof(state)});
	tn_array_destroy(lse);
	tn_array_destroy(count);
	return loss;
}
