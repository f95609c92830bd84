/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lookahead: M. R. Zhang et al., "Lookahead Optimizer: k steps forward, 1 step back", NeurIPS 2019.
 *
 * A graph contains the synchronisation, which a scalar of each replay switches on or off;
 * uncaptured steps run it only when it is due.
 */
#include "optim/lookahead.h"

#include "array/array.h"
#include "array/make.h"
#include "base/options.h"
#include "capture/capture.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "ops/map.h"
#include "optim/masters.h"
#include "optim/shard.h"

enum { ALPHA, DUE };

struct captured_step {
	struct tn_captured captured;
	tn_optimizer *optimizer;
};

/* The scalar of the next step. */
static struct tn_scalar due(const struct tn_lookahead_state *lookahead)
{
	return tn_scalar_of(lookahead->slow->dtype, (lookahead->steps + 1) % lookahead->k == 0);
}

static tn_status captured_next(struct tn_runtime *rt, void *state, struct tn_scalar *scalars)
{
	const struct captured_step *step = state;
	tn_status status = tn_captured_check(rt, &step->captured, "the optimizer");
	if (status)
		return status;
	scalars[0] = due(&step->optimizer->lookahead);
	step->optimizer->lookahead.steps++;
	return TN_OK;
}

static void captured_take_back(void *state)
{
	const struct captured_step *step = state;
	if (step->captured.list)
		step->optimizer->lookahead.steps--;
}

static const struct tn_stepped_source captured_step = {
	.size = sizeof(struct captured_step),
	.next = captured_next,
	.take_back = captured_take_back,
	.release = tn_captured_release,
};

/* Of the masters where there are some, which are then rounded to the weights. */
static tn_status synchronise(const tn_optimizer *optimizer, const struct tn_scalar scalars[2])
{
	static const struct tn_formula plain = {.text = "s = slow + alpha * (w - slow);"
							"slow = due > 0 ? s : slow;"
							"w = due > 0 ? s : w",
						.inputs = "w slow",
						.scalars = "alpha due",
						.outputs = "w slow"};
	static const struct tn_formula of_masters = {.text = "s = slow + alpha * (w - slow);"
							     "slow = due > 0 ? s : slow;"
							     "w = due > 0 ? s : w; stored = w",
						     .inputs = "w slow",
						     .scalars = "alpha due",
						     .outputs = "w slow stored"};
	const tn_dtype dtype = optimizer->lookahead.slow->dtype, dtypes[] = {dtype, dtype};
	tn_array *const arrays[] = {tn_weights_to_step(optimizer), optimizer->lookahead.slow,
				    tn_weights_of_share(optimizer)};
	struct tn_runtime *rt = optimizer->module->runtime;
	struct tn_map_run map = {.operation = tn_operation_named(rt, "lookahead"),
				 .inputs = (const tn_array *const[]){arrays[0], arrays[1]},
				 .outputs = arrays,
				 .scalars = scalars};
	tn_status status =
		tn_formula_program_typed(rt, "lookahead", optimizer->masters ? &of_masters : &plain,
					 dtypes, dtypes, &map.program);
	return status ? status : tn_map_run(rt, &map);
}

tn_status tn_lookahead_step(tn_optimizer *optimizer)
{
	struct tn_lookahead_state *lookahead = &optimizer->lookahead;
	if (!lookahead->slow)
		return TN_OK;
	struct tn_device *device = tn_array_home(optimizer->module->arena.values);
	struct tn_runtime *rt = optimizer->module->runtime;
	struct tn_scalar scalars[2] = {
		[ALPHA] = tn_scalar_of(lookahead->slow->dtype, lookahead->alpha),
		[DUE] = due(lookahead)};
	const int is_due = scalars[DUE].bits != 0;
	void *state;
	tn_status status = tn_stepped_add(rt, device, &captured_step, 1, &scalars[DUE], &state);
	if (status)
		return tn_runtime_keep(rt, &rt->report);
	lookahead->steps++;
	if (state) {
		struct captured_step *step = state;
		step->optimizer = optimizer;
		tn_captured_add(&optimizer->captured, &step->captured);
	} else if (!is_due) {
		return TN_OK;
	}
	return tn_end_into(rt, synchronise(optimizer, scalars));
}

/* ---- Settings --------------------------------------------------------------------------------*/

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_lookahead_options, alpha), .most = 1},
	{0},
};

tn_status tn_lookahead(tn_optimizer *optimizer, const struct tn_lookahead_options *options)
{
	struct tn_lookahead_options o = tn_lookahead_defaults();
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_lookahead_state *lookahead = &optimizer->lookahead;
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_take(rt, &o, sizeof(o), options,
					   "struct tn_lookahead_options", "lookahead");
	if (!status)
		status = tn_runtime_ready(rt);
	if (!status)
		status = tn_capture_refuse(rt, "lookahead", "the first slow weights");
	if (status)
		return status;
	status = tn_runtime_check(rt, &o, members, "lookahead");
	if (!status && !o.k)
		status = tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "lookahead",
					 "k: expected at least 1, found 0");
	if (!status)
		status = tn_shard_take_back(optimizer);
	if (!status)
		status = tn_masters_update(optimizer);
	if (status)
		return status;
	if (lookahead->slow) {
		status = tn_assign(lookahead->slow, tn_weights_to_step(optimizer));
	} else {
		status = tn_scope_begin(module->context);
		tn_array *slow = status ? NULL : tn_copy(tn_weights_to_step(optimizer));
		if (slow)
			lookahead->slow = tn_array_hold(slow);
		if (!status) {
			status = slow ? TN_OK : rt->error.status;
			tn_scope_end(module->context, NULL);
		}
	}
	if (status)
		return status;
	lookahead->k = o.k;
	lookahead->alpha = o.alpha;
	lookahead->steps = 0;
	return TN_OK;
}

uint64_t tn_lookahead_steps(const tn_optimizer *optimizer)
{
	return optimizer && !tn_module_user_check(optimizer->module, "lookahead_steps")
		       ? optimizer->lookahead.steps
		       : 0;
}

tn_status tn_lookahead_set_steps(tn_optimizer *optimizer, uint64_t steps)
{
	static const char operation[] = "lookahead_set_steps";
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = optimizer->module->runtime;
	tn_status status = tn_capture_refuse(rt, operation, "the number of steps");
	if (status)
		return status;
	if (!optimizer->lookahead.slow)
		return tn_runtime_fail(rt, TN_STATE, operation, "the optimizer has no Lookahead");
	optimizer->lookahead.steps = steps;
	return TN_OK;
}
