/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Dropout by an integer threshold on the random word of (seed, stream, element): the same mask on
 * every backend.  Backward computes the mask again, so that nothing is saved.
 */
#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "layers/check_floating.h"
#include "ops/layout.h"
#include "ops/map.h"

struct dropout_state {
	struct tn_scalar random[2]; /* seed and stream */
	uint32_t threshold;         /* keep where the word is below it */
	double scale;
};

static tn_array *masked(const tn_array *x, const struct dropout_state *state)
{
	static const struct tn_formula dropped = {
		.text = "y = random(seed, stream, element()) < threshold ? x * scale : 0",
		.inputs = "x",
		.scalars = "seed stream threshold scale"};
	struct tn_runtime *rt = x->runtime;
	const tn_dtype scale_dtype = x->dtype == TN_F64 ? TN_F64 : TN_F32;
	const tn_dtype scalar_dtypes[] = {TN_I64, TN_I64, TN_U32, scale_dtype};
	const struct tn_scalar scalars[] = {
		state->random[0],
		state->random[1],
		{.dtype = TN_U32, .bits = state->threshold},
		tn_scalar_of(scale_dtype, state->scale),
	};
	tn_array *y = tn_array_make_like(x, x->dtype);
	if (!y)
		return tn_end(rt, rt->report.status, NULL);
	struct tn_map_run map = {.operation = tn_operation_named(rt, "dropout"),
				 .inputs = &x,
				 .outputs = &y,
				 .scalars = scalars};
	tn_status status = tn_formula_program_typed(rt, "dropout", &dropped, &x->dtype,
						    scalar_dtypes, &map.program);
	if (!status)
		status = tn_map_run(rt, &map);
	return tn_end(rt, status, y);
}

/* The mask is linear: the gradient of its gradient is the mask again. */
static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct dropout_state *state = node->state;
	struct tn_suspension suspension = tn_tape_suspend(dy);
	return tn_node_give(
		node, 0,
		tn_tape_resume(suspension, masked(dy, state),
			       &(struct tn_node_request){.operation = "dropout",
							 .backward = backward,
							 .is_twice = 1,
							 .n_inputs = 1,
							 .inputs = {dy},
							 .state = state,
							 .state_size = sizeof(*state)}));
}

tn_array *tn_dropout(const tn_array *x, double p)
{
	if (!x || tn_runtime_ready(x->runtime))
		return NULL;
	struct tn_runtime *rt = x->runtime;
	if (!(p >= 0.0 && p <= 1.0)) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "dropout",
				"expected p in [0, 1], found %g", p);
		return NULL;
	}
	if (tn_check_floating("dropout", x))
		return NULL;
	if (p == 0.0)
		return tn_reshape(x, x->rank, x->shape);
	struct tn_suspension suspension = tn_tape_suspend(x);
	double keep = (1.0 - p) * 4294967296.0;
	struct dropout_state state = {
		.threshold = keep > 4294967295.0 ? UINT32_MAX : (uint32_t)keep,
		.scale = p < 1.0 ? 1.0 / (1.0 - p) : 0.0,
	};
	const struct tn_random_state before = rt->random;
	tn_status status = tn_stepped_random(rt, tn_array_home(x), state.random);
	tn_array *y = status ? tn_end(rt, status, NULL) : masked(x, &state);
	(void)tn_stepped_drawn(rt, before, y ? TN_OK : rt->error.status);
	return tn_tape_resume(suspension, y,
			      &(struct tn_node_request){.operation = "dropout",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {x},
							.state = &state,
							.state_size = sizeof(state)});
}
