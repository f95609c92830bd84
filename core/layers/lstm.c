/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One direction of one layer of an LSTM (Hochreiter and Schmidhuber 1997).  The part of all gates
 * that depends on x is one product; each step is then a product with h and one program:
 *
 *     i, f, o = sigmoid(gates),  g = tanh(gates),  c' = f c + i g,  h' = o tanh(c')
 *
 * The steps are one node, which keeps the gates and the states (L, N, 2 H), h before c.
 */
#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "dispatch/ledger.h"
#include "layers/recurrent_double_backward.h"
#include "ops/map.h"

enum { GX, W_HH, H0, C0, N_INPUTS };
/* The last three are for create_graph; the node of the gates' parts from x holds x and w_ih too. */
enum {
	SAVED_GATES,
	SAVED_OUT,
	SAVED_W_HH,
	SAVED_H0,
	SAVED_C0,
	SAVED_X,
	SAVED_W_IH,
	SAVED_BIAS,
	N_SAVED
};
enum { I, F, G, O, N_GATES };
enum { H, C, N_STATES };

struct lstm_state {
	int reverse;
};

/* Of each gate: its part from x, and its part from h. */
static const struct tn_formula step_forward = {
	.text = "i = sigmoid(i_x + i_h); f = sigmoid(f_x + f_h)\n"
		"g = tanh(g_x + g_h); o = sigmoid(o_x + o_h)\n"
		"c = f * c_before + i * g; h = o * tanh(c)",
	.inputs = "i_x f_x g_x o_x i_h f_h g_h o_h c_before",
	.outputs = "i f g o c h"};
enum { FORWARD_C_BEFORE = 2 * N_GATES, N_FORWARD_INPUTS };
enum { FORWARD_C = N_GATES, FORWARD_H, N_FORWARD_OUTPUTS };

/* Gradients come from above and from the step that follows. */
static const struct tn_formula step_backward = {
	.text = "tanh_c = tanh(c); dh = dh_above + dh_next\n"
		"dc = dc_above + dc_next + dh * o * (1 - tanh_c * tanh_c)\n"
		"di = dc * g * i * (1 - i); df = dc * c_before * f * (1 - f)\n"
		"dg = dc * i * (1 - g * g); do_ = dh * tanh_c * o * (1 - o)\n"
		"dc_before = dc * f",
	.inputs = "i f g o c_before c dh_above dc_above dh_next dc_next",
	.outputs = "di df dg do_ dc_before"};
enum { C_BEFORE = N_GATES, C_AFTER, DH_ABOVE, DC_ABOVE, DH_NEXT, DC_NEXT, N_BACKWARD_INPUTS };
enum { DC_BEFORE = N_GATES, N_BACKWARD_OUTPUTS };

/* ---- Backward --------------------------------------------------------------------------------*/

/* dh and dc, of after step t, become those of before it. */
static tn_status back(struct tn_node *node, const tn_array *dy, int64_t t, tn_array *d,
		      tn_array *dh, tn_array *dc)
{
	struct tn_runtime *rt = tn_node_runtime(node);
	const struct lstm_state *state = node->state;
	const tn_array *gates = node->saved[SAVED_GATES].array, *out = node->saved[SAVED_OUT].array;
	int64_t hidden = dh->shape[1], before = state->reverse ? t + 1 : t - 1;
	const tn_array *inputs[N_BACKWARD_INPUTS] = {NULL};
	tn_array *outputs[N_BACKWARD_OUTPUTS] = {NULL};
	for (int k = 0; k < N_GATES; k++) {
		inputs[k] = tn_recurrent_part(gates, t, k, hidden);
		outputs[k] = tn_recurrent_part(d, t, k, hidden);
	}
	inputs[C_BEFORE] = before < 0 || before == out->shape[0]
				   ? node->saved[SAVED_C0].array
				   : tn_recurrent_part(out, before, C, hidden);
	inputs[C_AFTER] = tn_recurrent_part(out, t, C, hidden);
	inputs[DH_ABOVE] = tn_recurrent_part(dy, t, H, hidden);
	inputs[DC_ABOVE] = tn_recurrent_part(dy, t, C, hidden);
	inputs[DH_NEXT] = dh;
	inputs[DC_NEXT] = outputs[DC_BEFORE] = dc;
	tn_array *all = tn_recurrent_part(d, t, 0, N_GATES * hidden);
	int is_ready = all != NULL;
	for (int k = 0; k < N_BACKWARD_INPUTS; k++)
		is_ready &= inputs[k] && (k >= N_BACKWARD_OUTPUTS || outputs[k]);
	if (!is_ready)
		return tn_end_into(rt, rt->report.status);
	tn_status status =
		tn_end_into(rt, tn_formula_map_apart(rt, tn_operation_named(rt, "lstm"),
						     &step_backward, inputs, outputs, NULL));
	if (status)
		return status;
	return tn_matmul_into(dh, all, 0, node->saved[SAVED_W_HH].array, 0, 1.0, 0.0);
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
	(void)call;
	tn_array *pre = tn_add(gates, of_h);
	if (!pre)
		return 0;
	tn_array *new = tn_multiply(tn_sigmoid(gate(pre, I)), tn_tanh(gate(pre, G)));
	states[C] = tn_add(tn_multiply(tn_sigmoid(gate(pre, F)), states[C]), new);
	states[H] = tn_multiply(tn_sigmoid(gate(pre, O)), tn_tanh(states[C]));
	return states[H] != NULL;
}

static tn_status double_backward(struct tn_node *node, const tn_array *dy)
{
	const struct lstm_state *state = node->state;
	const struct tn_saved *saved = node->saved;
	const struct tn_recurrent_unrolled unrolled = {.call = {.operation = "lstm",
								.gates = N_GATES,
								.x = saved[SAVED_X].array,
								.w_ih = saved[SAVED_W_IH].array,
								.w_hh = saved[SAVED_W_HH].array,
								.options.reverse = state->reverse},
						       .bias = saved[SAVED_BIAS].array,
						       .h0 = saved[SAVED_H0].array,
						       .c0 = saved[SAVED_C0].array,
						       .advance = advance_unrolled};
	return tn_recurrent_double_backward(node, dy, &unrolled);
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	if (tn_node_records(node))
		return double_backward(node, dy);
	const struct lstm_state *state = node->state;
	const tn_array *out = node->saved[SAVED_OUT].array, *h0 = node->saved[SAVED_H0].array;
	const tn_array *gates = node->saved[SAVED_GATES].array;
	tn_context *context = tn_array_context(dy);
	int64_t n_steps = out->shape[0];
	tn_array *d = tn_empty(context, gates->dtype, 3, gates->shape);
	tn_array *dh = tn_zeros(context, h0->dtype, 2, h0->shape);
	tn_array *dc = tn_zeros(context, h0->dtype, 2, h0->shape);
	tn_status status = d && dh && dc ? TN_OK : tn_runtime_status(tn_node_runtime(node));
	for (int64_t i = 0; i < n_steps && !status; i++) {
		int64_t t = state->reverse ? i : n_steps - 1 - i;
		status = tn_scope_begin(context);
		if (status)
			return status;
		status = back(node, dy, t, d, dh, dc);
		tn_scope_end(context, NULL);
	}
	if (!status && tn_node_wants(node, W_HH))
		status = tn_recurrent_give_weights(node, W_HH, d, out, h0, state->reverse);
	if (!status && tn_node_wants(node, H0))
		status = tn_node_give(node, H0, dh);
	if (!status && tn_node_wants(node, C0))
		status = tn_node_give(node, C0, dc);
	return status ? status : tn_node_give(node, GX, d);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_status advance(struct tn_runtime *rt, const tn_array *gx, int64_t t, const tn_array *w_hh,
			 const tn_array *h, const tn_array *c, tn_array *pre, tn_array *gates,
			 tn_array *out)
{
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
		outputs[k] = tn_recurrent_part(gates, t, k, hidden);
		is_ready &= inputs[k] && inputs[N_GATES + k] && outputs[k];
	}
	inputs[FORWARD_C_BEFORE] = c;
	outputs[FORWARD_C] = tn_recurrent_part(out, t, C, hidden);
	outputs[FORWARD_H] = tn_recurrent_part(out, t, H, hidden);
	if (!is_ready || !outputs[FORWARD_C] || !outputs[FORWARD_H])
		return tn_end_into(rt, rt->report.status);
	return tn_end_into(rt, tn_formula_map_apart(rt, tn_operation_named(rt, "lstm"),
						    &step_forward, inputs, outputs, NULL));
}

static tn_status run_steps(const tn_array *gx, const tn_array *w_hh, const tn_array *h0,
			   const tn_array *c0, int reverse, tn_array *gates, tn_array *out)
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
		const tn_array *h = i ? tn_recurrent_part(out, before, H, hidden) : h0;
		const tn_array *c = i ? tn_recurrent_part(out, before, C, hidden) : c0;
		status = h && c ? advance(rt, gx, t, w_hh, h, c, pre, gates, out)
				: tn_end_into(rt, rt->report.status);
		tn_scope_end(context, NULL);
	}
	tn_array_destroy(pre);
	return status;
}

/* The states after each step. */
static tn_array *steps(const struct tn_recurrent_call *call, const tn_array *bias,
		       const tn_array *gx, const tn_array *h0, const tn_array *c0)
{
	const tn_array *w_hh = call->w_hh;
	const struct lstm_state state = {.reverse = call->options.reverse != 0};
	if (!gx || !h0 || !c0)
		return NULL;
	struct tn_suspension suspension = tn_tape_suspend(gx);
	if (!suspension.runtime)
		return NULL;
	const int64_t shape[] = {gx->shape[0], gx->shape[1], N_STATES * w_hh->shape[1]};
	tn_array *gates = tn_empty(tn_array_context(gx), gx->dtype, 3, gx->shape);
	tn_array *out = gates ? tn_empty(tn_array_context(gx), gx->dtype, 3, shape) : NULL;
	if (out && run_steps(gx, w_hh, h0, c0, state.reverse, gates, out)) {
		tn_array_destroy(out);
		out = NULL;
	}
	out = tn_tape_resume(suspension, out,
			     &(struct tn_node_request){
				     .operation = "lstm",
				     .backward = backward,
				     .is_twice = 1,
				     .n_inputs = N_INPUTS,
				     .inputs = {gx, w_hh, h0, c0},
				     .n_saved = N_SAVED,
				     .saved = {gates, out, w_hh, h0, c0, call->x, call->w_ih, bias},
				     .state = &state,
				     .state_size = sizeof(state)});
	tn_array_destroy(gates);
	return out;
}

tn_array *tn_lstm(const tn_array *x, const tn_array *w_ih, const tn_array *w_hh,
		  const tn_array *b_ih, const tn_array *b_hh,
		  const struct tn_recurrent_options *options, tn_array **h_n, tn_array **c_n)
{
	struct tn_recurrent_call call = {.operation = "lstm",
					 .gates = N_GATES,
					 .x = x,
					 .w_ih = w_ih,
					 .w_hh = w_hh,
					 .b_ih = b_ih,
					 .b_hh = b_hh};
	if (h_n)
		*h_n = NULL;
	if (c_n)
		*c_n = NULL;
	if (tn_recurrent_check(&call, options))
		return NULL;
	int64_t hidden = w_hh->shape[1];
	int reverse = call.options.reverse != 0;
	tn_array *bias = b_ih ? tn_add(b_ih, b_hh) : NULL;
	tn_array *gx = b_ih && !bias ? NULL : tn_recurrent_gates(&call, bias);
	tn_array *h0 = tn_recurrent_state(&call, call.options.h0);
	tn_array *c0 = tn_recurrent_state(&call, call.options.c0);
	tn_array *out = steps(&call, bias, gx, h0, c0);
	tn_array *y = tn_recurrent_result(out, hidden, reverse, h_n);
	if (y && c_n)
		*c_n = tn_recurrent_last(out, hidden, C, reverse);
	if (y && c_n && !*c_n) {
		tn_array_destroy(y);
		tn_array_destroy(h_n ? *h_n : NULL);
		y = NULL;
		if (h_n)
			*h_n = NULL;
	}
	tn_array *const temporaries[] = {bias, gx, h0, c0, out};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}
