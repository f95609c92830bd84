/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One direction of one layer of GRU (Cho et al. 2014), in PyTorch's form.  The part of all gates
 * that depends on x is one product; each step is then a product with h and one program:
 *
 *     r, z = sigmoid(of x + of h),  n = tanh(of x + r m),  m = of h,  h' = (1 - z) n + z h
 *
 * The steps are one node, which keeps r, z, n and m.
 */
#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "dispatch/ledger.h"
#include "layers/recurrent_double_backward.h"
#include "ops/map.h"

enum { GX, W_HH, B_HH, H0, N_INPUTS };
/* The last four are for create_graph; the node of the gates' parts from x holds x and w_ih too. */
enum {
	SAVED_GATES,
	SAVED_OUT,
	SAVED_W_HH,
	SAVED_H0,
	SAVED_X,
	SAVED_W_IH,
	SAVED_B_IH,
	SAVED_B_HH,
	N_SAVED
};
enum { R, Z, N, N_GATES, M = N_GATES, N_KEPT };

struct gru_state {
	int reverse;
};

/* Of each gate: its part from x, its part from h, and its bias b_hh. */
static const struct tn_formula step_forward = {
	.text = "r = sigmoid(r_x + r_h + r_b); z = sigmoid(z_x + z_h + z_b)\n"
		"m = n_h + n_b; n = tanh(n_x + r * m)\n"
		"h = (1 - z) * n + z * h_before",
	.inputs = "r_x z_x n_x r_h z_h n_h r_b z_b n_b h_before",
	.outputs = "r z n m h"};
enum { FORWARD_H_BEFORE = 3 * N_GATES, N_FORWARD_INPUTS };
enum { FORWARD_H = N_KEPT, N_FORWARD_OUTPUTS };

/* Gradients come from above and from the step that follows; dh_before is what does not come through
 * the gates. */
static const struct tn_formula step_backward = {
	.text = "dh = dh_above + dh_next\n"
		"dn_x = dh * (1 - z) * (1 - n * n); dn_h = dn_x * r\n"
		"dr_x = dn_x * m * r * (1 - r); dr_h = dr_x\n"
		"dz_x = dh * (h_before - n) * z * (1 - z); dz_h = dz_x\n"
		"dh_before = dh * z",
	.inputs = "r z n m h_before dh_above dh_next",
	.outputs = "dr_x dz_x dn_x dr_h dz_h dn_h dh_before"};
enum { H_BEFORE = N_KEPT, DH_ABOVE, DH_NEXT, N_BACKWARD };
enum { DH_BEFORE = 2 * N_GATES };
_Static_assert(DH_BEFORE + 1 == N_BACKWARD, "as many outputs as inputs");

/* ---- Backward --------------------------------------------------------------------------------*/

/* dh, of after step t, becomes that of before it. */
static tn_status back(struct tn_node *node, const tn_array *dy, int64_t t, tn_array *dx,
		      tn_array *d, tn_array *dh)
{
	struct tn_runtime *rt = tn_node_runtime(node);
	const struct gru_state *state = node->state;
	const tn_array *gates = node->saved[SAVED_GATES].array, *out = node->saved[SAVED_OUT].array;
	int64_t hidden = dh->shape[1], before = state->reverse ? t + 1 : t - 1;
	const tn_array *inputs[N_BACKWARD] = {NULL};
	tn_array *outputs[N_BACKWARD] = {NULL};
	for (int k = 0; k < N_KEPT; k++)
		inputs[k] = tn_recurrent_part(gates, t, k, hidden);
	for (int k = 0; k < N_GATES; k++) {
		outputs[k] = tn_recurrent_part(dx, t, k, hidden);
		outputs[N_GATES + k] = tn_recurrent_part(d, t, k, hidden);
	}
	inputs[H_BEFORE] = before < 0 || before == out->shape[0]
				   ? node->saved[SAVED_H0].array
				   : tn_recurrent_part(out, before, 0, hidden);
	inputs[DH_ABOVE] = tn_recurrent_part(dy, t, 0, hidden);
	inputs[DH_NEXT] = outputs[DH_BEFORE] = dh;
	tn_array *all = tn_recurrent_part(d, t, 0, N_GATES * hidden);
	int is_ready = all != NULL;
	for (int k = 0; k < N_BACKWARD; k++)
		is_ready &= inputs[k] && outputs[k];
	if (!is_ready)
		return tn_end_into(rt, rt->report.status);
	tn_status status =
		tn_end_into(rt, tn_formula_map_apart(rt, tn_operation_named(rt, "gru"),
						     &step_backward, inputs, outputs, NULL));
	if (status)
		return status;
	return tn_matmul_into(dh, all, 0, node->saved[SAVED_W_HH].array, 0, 1.0, 1.0);
}

/* The columns of a gate. */
static tn_array *gate(const tn_array *pre, int64_t k)
{
	const int64_t hidden = pre->shape[1] / N_GATES;
	return tn_slice(pre, 1, k * hidden, (k + 1) * hidden, 1);
}

static int advance_unrolled(const struct tn_recurrent_call *call, const tn_array *gates,
			    const tn_array *of_h, tn_array *states[TN_RECURRENT_STATES])
{
	const tn_array *pre = call->b_hh ? tn_add(of_h, call->b_hh) : of_h;
	if (!pre)
		return 0;
	tn_array *r = tn_sigmoid(tn_add(gate(gates, R), gate(pre, R)));
	tn_array *z = tn_sigmoid(tn_add(gate(gates, Z), gate(pre, Z)));
	tn_array *n = tn_tanh(tn_add(gate(gates, N), tn_multiply(r, gate(pre, N))));
	states[0] = tn_add(n, tn_multiply(z, tn_subtract(states[0], n)));
	return states[0] != NULL;
}

static tn_status double_backward(struct tn_node *node, const tn_array *dy)
{
	const struct gru_state *state = node->state;
	const struct tn_saved *saved = node->saved;
	const struct tn_recurrent_unrolled unrolled = {.call = {.operation = "gru",
								.gates = N_GATES,
								.x = saved[SAVED_X].array,
								.w_ih = saved[SAVED_W_IH].array,
								.w_hh = saved[SAVED_W_HH].array,
								.b_hh = saved[SAVED_B_HH].array,
								.options.reverse = state->reverse},
						       .bias = saved[SAVED_B_IH].array,
						       .h0 = saved[SAVED_H0].array,
						       .advance = advance_unrolled};
	return tn_recurrent_double_backward(node, dy, &unrolled);
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	if (tn_node_records(node))
		return double_backward(node, dy);
	const struct gru_state *state = node->state;
	const tn_array *out = node->saved[SAVED_OUT].array, *h0 = node->saved[SAVED_H0].array;
	tn_context *context = tn_array_context(dy);
	int64_t n_steps = out->shape[0];
	const int64_t shape[] = {n_steps, out->shape[1], N_GATES * out->shape[2]};
	tn_array *dx = tn_empty(context, out->dtype, 3, shape);
	tn_array *d = tn_empty(context, out->dtype, 3, shape);
	tn_array *dh = tn_zeros(context, h0->dtype, 2, h0->shape);
	tn_status status = dx && d && dh ? TN_OK : tn_runtime_status(tn_node_runtime(node));
	for (int64_t i = 0; i < n_steps && !status; i++) {
		int64_t t = state->reverse ? i : n_steps - 1 - i;
		status = tn_scope_begin(context);
		if (status)
			return status;
		status = back(node, dy, t, dx, d, dh);
		tn_scope_end(context, NULL);
	}
	if (!status && tn_node_wants(node, W_HH))
		status = tn_recurrent_give_weights(node, W_HH, d, out, h0, state->reverse);
	if (!status && tn_node_wants(node, B_HH))
		status = tn_node_give(node, B_HH, tn_sum(d, 2, (const int[]){0, 1}, 0));
	if (!status && tn_node_wants(node, H0))
		status = tn_node_give(node, H0, dh);
	return status ? status : tn_node_give(node, GX, dx);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_status advance(const tn_array *gx, int64_t t, const tn_array *w_hh, const tn_array *b_hh,
			 const tn_array *h, tn_array *pre, tn_array *gates, tn_array *out)
{
	struct tn_runtime *rt = gx->runtime;
	int64_t hidden = w_hh->shape[1];
	const tn_array *inputs[N_FORWARD_INPUTS] = {NULL};
	tn_array *outputs[N_FORWARD_OUTPUTS] = {NULL};
	tn_status status = tn_matmul_into(pre, h, 0, w_hh, 1, 1.0, 0.0);
	if (status)
		return status;
	int is_ready = 1;
	for (int k = 0; k < N_GATES; k++) {
		inputs[k] = tn_recurrent_part(gx, t, k, hidden);
		inputs[N_GATES + k] =
			tn_array_view(pre, 2, h->shape, pre->strides, pre->offset + k * hidden);
		inputs[2 * N_GATES + k] =
			tn_array_view(b_hh, 1, &hidden, b_hh->strides,
				      b_hh->offset + k * hidden * b_hh->strides[0]);
		is_ready &= inputs[k] && inputs[N_GATES + k] && inputs[2 * N_GATES + k];
	}
	inputs[FORWARD_H_BEFORE] = h;
	for (int k = 0; k < N_KEPT; k++) {
		outputs[k] = tn_recurrent_part(gates, t, k, hidden);
		is_ready &= outputs[k] != NULL;
	}
	outputs[FORWARD_H] = tn_recurrent_part(out, t, 0, hidden);
	if (!is_ready || !outputs[FORWARD_H])
		return tn_end_into(rt, rt->report.status);
	return tn_end_into(rt, tn_formula_map_apart(rt, tn_operation_named(rt, "gru"),
						    &step_forward, inputs, outputs, NULL));
}

static tn_status run_steps(const tn_array *gx, const tn_array *w_hh, const tn_array *b_hh,
			   const tn_array *h0, int reverse, tn_array *gates, tn_array *out)
{
	struct tn_runtime *rt = gx->runtime;
	tn_context *context = tn_array_context(gx);
	int64_t n_steps = gx->shape[0], hidden = w_hh->shape[1];
	tn_array *pre = tn_empty(context, gx->dtype, 2, gx->shape + 1);
	tn_status status = pre ? TN_OK : tn_runtime_status(rt);
	for (int64_t i = 0; i < n_steps && !status; i++) {
		int64_t t = reverse ? n_steps - 1 - i : i, before = reverse ? t + 1 : t - 1;
		status = tn_scope_begin(context);
		if (status)
			break;
		const tn_array *h = i ? tn_recurrent_part(out, before, 0, hidden) : h0;
		status = h ? advance(gx, t, w_hh, b_hh, h, pre, gates, out)
			   : tn_end_into(rt, rt->report.status);
		tn_scope_end(context, NULL);
	}
	tn_array_destroy(pre);
	return status;
}

/* h after each step; b_hh may be NULL. */
static tn_array *steps(const struct tn_recurrent_call *call, const tn_array *gx, const tn_array *h0)
{
	const tn_array *w_hh = call->w_hh, *b_hh = call->b_hh;
	const struct gru_state state = {.reverse = call->options.reverse != 0};
	if (!gx || !h0)
		return NULL;
	struct tn_suspension suspension = tn_tape_suspend(gx);
	if (!suspension.runtime)
		return NULL;
	tn_context *context = tn_array_context(gx);
	int64_t hidden = w_hh->shape[1];
	const int64_t shape[] = {gx->shape[0], gx->shape[1], hidden};
	const int64_t kept[] = {gx->shape[0], gx->shape[1], N_KEPT * hidden};
	tn_array *zeros = b_hh ? NULL : tn_zeros(context, gx->dtype, 1, w_hh->shape);
	tn_array *gates = tn_empty(context, gx->dtype, 3, kept);
	tn_array *out = gates && (b_hh || zeros) ? tn_empty(context, gx->dtype, 3, shape) : NULL;
	if (out && run_steps(gx, w_hh, b_hh ? b_hh : zeros, h0, state.reverse, gates, out)) {
		tn_array_destroy(out);
		out = NULL;
	}
	out = tn_tape_resume(suspension, out,
			     &(struct tn_node_request){.operation = "gru",
						       .backward = backward,
						       .is_twice = 1,
						       .n_inputs = N_INPUTS,
						       .inputs = {gx, w_hh, b_hh, h0},
						       .n_saved = N_SAVED,
						       .saved = {gates, out, w_hh, h0, call->x,
								 call->w_ih, call->b_ih, b_hh},
						       .state = &state,
						       .state_size = sizeof(state)});
	tn_array_destroy(zeros);
	tn_array_destroy(gates);
	return out;
}

tn_array *tn_gru(const tn_array *x, const tn_array *w_ih, const tn_array *w_hh,
		 const tn_array *b_ih, const tn_array *b_hh,
		 const struct tn_recurrent_options *options, tn_array **h_n)
{
	struct tn_recurrent_call call = {.operation = "gru",
					 .gates = N_GATES,
					 .x = x,
					 .w_ih = w_ih,
					 .w_hh = w_hh,
					 .b_ih = b_ih,
					 .b_hh = b_hh};
	if (h_n)
		*h_n = NULL;
	if (tn_recurrent_check(&call, options))
		return NULL;
	int reverse = call.options.reverse != 0;
	tn_array *gx = tn_recurrent_gates(&call, b_ih);
	tn_array *h0 = tn_recurrent_state(&call, call.options.h0);
	tn_array *out = steps(&call, gx, h0);
	tn_array *y = tn_recurrent_result(out, w_hh->shape[1], reverse, h_n);
	tn_array_destroy(gx);
	tn_array_destroy(h0);
	tn_array_destroy(out);
	return y;
}
