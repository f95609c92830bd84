/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks, gate products, states and results that tn_rnn, tn_gru and tn_lstm share, and the
 * gradients of their weights.
 */
#include "layers/recurrent.h"

#include "array/array.h"
#include "array/make.h"
#include "layers/check_floating.h"

/* ---- Checks ----------------------------------------------------------------------------------*/

static int has_shape(const tn_array *a, int rank, int64_t first, int64_t second)
{
	return a->rank == rank && a->shape[0] == first && (rank < 2 || a->shape[1] == second);
}

static tn_status check_state(const struct tn_recurrent_call *call, const char *which,
			     const tn_array *state)
{
	int64_t n = call->x->shape[0], hidden = call->w_hh->shape[1];
	if (!state || has_shape(state, 2, n, hidden))
		return TN_OK;
	return tn_runtime_fail(call->x->runtime, TN_SHAPE, call->operation,
			       "%s: expected (%lld, %lld), found rank %d, %lld elements", which,
			       (long long)n, (long long)hidden, state->rank,
			       (long long)state->size);
}

tn_status tn_recurrent_check(struct tn_recurrent_call *call,
			     const struct tn_recurrent_options *options)
{
	const tn_array *x = call->x, *w_ih = call->w_ih, *w_hh = call->w_hh;
	tn_status status = tn_arrays_given(3, (const tn_array *[]){x, w_ih, w_hh}, call->operation);
	if (status)
		return status;
	struct tn_runtime *rt = x->runtime;
	status = tn_runtime_take(rt, &call->options, sizeof(call->options), options,
				 "struct tn_recurrent_options", call->operation);
	if (status)
		return status;
	if (tn_check_floating(call->operation, x))
		return rt->error.status;
	if (x->rank != 3 || x->shape[1] < 1)
		return tn_runtime_fail(rt, TN_SHAPE, call->operation,
				       "x: expected (N, L, I) of one step at least, found rank %d, "
				       "%lld elements",
				       x->rank, (long long)x->size);
	if (w_hh->rank != 2 || w_hh->shape[0] != call->gates * w_hh->shape[1] ||
	    !has_shape(w_ih, 2, w_hh->shape[0], x->shape[2]))
		return tn_runtime_fail(
			rt, TN_SHAPE, call->operation,
			"expected w_ih (%lld H, %lld) and w_hh (%lld H, H), found ranks %d and %d "
			"with %lld and %lld elements",
			(long long)call->gates, (long long)x->shape[2], (long long)call->gates,
			w_ih->rank, w_hh->rank, (long long)w_ih->size, (long long)w_hh->size);
	if (!call->b_ih != !call->b_hh)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, call->operation,
				       "expected b_ih and b_hh, or none");
	if (call->b_ih && (!has_shape(call->b_ih, 1, w_hh->shape[0], 0) ||
			   !has_shape(call->b_hh, 1, w_hh->shape[0], 0)))
		return tn_runtime_fail(rt, TN_SHAPE, call->operation,
				       "expected biases of %lld elements, found %lld and %lld",
				       (long long)w_hh->shape[0], (long long)call->b_ih->size,
				       (long long)call->b_hh->size);
	status = check_state(call, "h0", call->options.h0);
	return status ? status : check_state(call, "c0", call->options.c0);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static const int exchange[] = {1, 0, 2};

tn_array *tn_recurrent_gates(const struct tn_recurrent_call *call, const tn_array *bias)
{
	tn_array *steps = tn_transpose(call->x, exchange);
	tn_array *gates = tn_linear(steps, call->w_ih, bias);
	tn_array_destroy(steps);
	return gates;
}

tn_array *tn_recurrent_state(const struct tn_recurrent_call *call, const tn_array *given)
{
	const tn_array *x = call->x;
	if (given)
		return tn_contiguous(given);
	struct tn_device *current = x->runtime->device;
	x->runtime->device = tn_array_home(x);
	tn_array *zeros = tn_zeros(tn_array_context(x), x->dtype, 2,
				   (const int64_t[]){x->shape[0], call->w_hh->shape[1]});
	x->runtime->device = current;
	return zeros;
}

tn_array *tn_recurrent_last(const tn_array *out, int64_t hidden, int64_t which, int reverse)
{
	if (!out)
		return NULL;
	int64_t t = reverse ? 0 : out->shape[0] - 1;
	tn_array *step = tn_slice(out, 0, t, t + 1, 1);
	tn_array *state = tn_slice(step, 2, which * hidden, (which + 1) * hidden, 1);
	tn_array *last = tn_squeeze(state, 0);
	tn_array_destroy(step);
	tn_array_destroy(state);
	return last;
}

tn_array *tn_recurrent_result(const tn_array *out, int64_t hidden, int reverse, tn_array **last)
{
	tn_array *steps = tn_slice(out, 2, 0, hidden, 1);
	tn_array *y = tn_transpose(steps, exchange);
	tn_array_destroy(steps);
	if (!last)
		return y;
	*last = y ? tn_recurrent_last(out, hidden, 0, reverse) : NULL;
	if (*last)
		return y;
	tn_array_destroy(y);
	return NULL;
}

tn_array *tn_recurrent_part(const tn_array *sequence, int64_t t, int64_t part, int64_t width)
{
	const int64_t *strides = sequence->strides;
	return tn_array_view(sequence, 2, (const int64_t[]){sequence->shape[1], width}, strides + 1,
			     sequence->offset + t * strides[0] + part * width * strides[2]);
}

/* ---- Backward --------------------------------------------------------------------------------*/

static tn_array *as_rows(const tn_array *a)
{
	return a ? tn_reshape(a, 2, (const int64_t[]){a->shape[0] * a->shape[1], a->shape[2]})
		 : NULL;
}

tn_status tn_recurrent_give_weights(struct tn_node *node, uint32_t input, const tn_array *d,
				    const tn_array *out, const tn_array *h0, int reverse)
{
	int64_t n_steps = out->shape[0], hidden = h0->shape[1];
	tn_array *after = tn_slice(out, 2, 0, hidden, 1);
	tn_array *others =
		reverse ? tn_slice(after, 0, 1, n_steps, 1) : tn_slice(after, 0, 0, n_steps - 1, 1);
	tn_array *first = tn_expand_dims(h0, 0);
	const tn_array *forward[] = {first, others}, *backward[] = {others, first};
	tn_array *before =
		first && others ? tn_concatenate(2, reverse ? backward : forward, 0) : NULL;
	tn_array *rows = as_rows(d), *columns = as_rows(before);
	int accumulate = 0;
	tn_array *target = tn_node_target(node, input, &accumulate);
	if (!rows || !columns)
		return tn_runtime_status(tn_node_runtime(node));
	if (!target)
		return tn_node_give(node, input, tn_matmul(tn_transpose(rows, NULL), columns));
	return tn_node_wrote(
		node, input,
		tn_matmul_into(target, rows, 1, columns, 0, 1.0, accumulate ? 1.0 : 0.0));
}
