/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The node of the norms.  The gradients of w and b are computed together: both are written directly
 * to their targets if both have one and agree on accumulating, else they are passed like all
 * gradients.
 */
#include "layers/norm_backward.h"

#include "array/array.h"
#include "autograd/node.h"
#include "layers/norm.h"
#include "layers/norm_double_backward.h"

enum { X, W, B, RESIDUAL, N_INPUTS };
/* SAVED_INPUT is the tracked x, of which SAVED_X may be a view. */
enum { SAVED_X, SAVED_W, SAVED_MEAN, SAVED_RSTD, SAVED_RESULT, SAVED_INPUT, N_SAVED };

struct norm_state {
	int kind;
	int use_statistics;
	uint32_t activation;
	int64_t groups;
	double epsilon;
};

struct parameters {
	tn_array *dw; /* NULL: not wanted */
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

static tn_status backward_recorded(struct tn_node *node, const tn_array *dy)
{
	const struct norm_state *state = node->state;
	const struct tn_saved *saved = node->saved;
	const tn_array *rows = saved[SAVED_X].array;
	struct tn_norm_recorded norm = {
		.kind = state->kind,
		.groups = state->groups,
		.epsilon = state->epsilon,
		.activation = state->activation,
		.row = rows->shape[rows->rank - 1],
		.x = saved[SAVED_INPUT].array,
		.w = saved[SAVED_W].array,
		.mean = state->use_statistics ? saved[SAVED_MEAN].array : NULL,
		.rstd = state->use_statistics ? saved[SAVED_RSTD].array : NULL,
		.result = saved[SAVED_RESULT].array};
	tn_norm_differentiate(&norm, dy);
	tn_array *const gradients[N_INPUTS] = {norm.dx, norm.dw, norm.db, norm.dresidual};
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < N_INPUTS && !status; i++) {
		if (tn_node_wants(node, i))
			status = tn_node_give(node, i, gradients[i]);
	}
	return status;
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct norm_state *state = node->state;
	if (tn_node_records(node))
		return backward_recorded(node, dy);
	const tn_array *x = node->saved[SAVED_X].array;
	tn_array *w = node->saved[SAVED_W].array;
	struct parameters p;
	tn_status status = find_parameters(node, w, &p);
	struct tn_norm_call call = {.kind = state->kind,
				    .groups = state->groups,
				    .use_statistics = state->use_statistics,
				    .activation = state->activation,
				    .x = x,
				    .w = flat(w),
				    .mean = node->saved[SAVED_MEAN].array,
				    .rstd = node->saved[SAVED_RSTD].array,
				    .dy = tn_reshape(dy, x->rank, x->shape),
				    .result = node->saved[SAVED_RESULT].array,
				    .dw = p.dw,
				    .db = p.db,
				    .accumulate = p.accumulate,
				    .wants_dresidual =
					    state->activation && tn_node_wants(node, RESIDUAL)};
	if (status || !call.dy)
		return tn_runtime_status(tn_node_runtime(node));
	tn_array *dx = tn_norm_call_backward(&call);
	if (!dx)
		return tn_runtime_status(tn_node_runtime(node));
	/* Without an activation dy is the gradient of the residual. */
	if (tn_node_wants(node, RESIDUAL))
		status = tn_node_give(node, RESIDUAL, state->activation ? call.dresidual : dy);
	if (!status)
		status = tn_node_give(node, X, tn_reshape(dx, dy->rank, dy->shape));
	return status ? status : give_parameters(node, w, &p);
}

tn_array *tn_norm_record(struct tn_suspension suspension, const char *operation,
			 const struct tn_norm_call *call, const struct tn_norm_inputs *inputs,
			 tn_array *y)
{
	const struct norm_state state = {call->kind, call->use_statistics, call->activation,
					 call->groups, call->epsilon};
	return tn_tape_resume(suspension, y,
			      &(struct tn_node_request){
				      .operation = operation,
				      .backward = backward,
				      .is_twice = 1,
				      .n_inputs = N_INPUTS,
				      .inputs = {inputs->x, inputs->w, inputs->b, call->residual},
				      .n_saved = N_SAVED,
				      .saved = {call->x, inputs->w, call->mean, call->rstd,
						call->activation ? y : NULL, inputs->x},
				      .state = &state,
				      .state_size = sizeof(state)});
}
