/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs plans.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "plan.h"

tn_status onednn_begin(struct onednn_work *work, onednn_make make, const void *argument)
{
	const struct tn_call *call = work->call;
	struct tn_workspace *workspace = call->workspace;
	tn_status status = onednn_plan_find(work, make, argument);
	if (status)
		return status;
	uint64_t size = work->plan->workspace;
	if (work->plan->is_impossible)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, work->operation,
				      "oneDNN has no primitive for these operands");
	if (size && (!workspace || (!(call->flags & TN_DRY_RUN) && workspace->size < size)))
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, work->operation,
				      "workspace: expected %" PRIu64 " bytes, found %" PRIu64, size,
				      workspace ? workspace->size : 0);
	if (call->flags & TN_DRY_RUN) {
		work->plan = NULL;
		if (workspace)
			workspace->minimum = workspace->preferred = size;
		return TN_OK;
	}
	return TN_OK;
}

/* ---- Addresses -------------------------------------------------------------------------------*/

/* A call in progress: the state common to all pieces. */
struct run {
	const struct onednn_work *work;
	const struct onednn_library *dnn;
	const struct onednn_plan *plan;
	const uint64_t *addresses;
	_Atomic uint32_t busy;  /* bit i: lane i */
	_Atomic int32_t answer; /* the first that is not dnnl_success */
};

static void *in_workspace(const struct onednn_work *work, uint64_t place)
{
	const struct tn_workspace *workspace = work->call->workspace;
	return (void *)(uintptr_t)(workspace->buffer + workspace->offset + place);
}

float *onednn_part_place(const struct onednn_work *work, int part)
{
	return in_workspace(work, work->plan->parts[part].place);
}

static void *their_place(const struct run *run, int part, int piece)
{
	return (void *)(uintptr_t)(run->addresses[part] +
				   run->plan->parts[part].step * (uint64_t)piece);
}

static void *own_place(const struct run *run, int part, int piece, int lane)
{
	const struct onednn_part *p = &run->plan->parts[part];
	int number = lane;
	if (!p->is_moved)
		return their_place(run, part, piece);
	if (!p->is_theirs || (p->is_shared && p->access != ONEDNN_READ))
		number = piece;
	else if (p->is_shared)
		number = 0;
	return in_workspace(run->work, p->place + p->size * (uint64_t)number);
}

static dnnl_status_t set_place(const struct run *run, dnnl_memory_t memory, void *place)
{
	return memory ? run->dnn->memory_set_data_handle(memory, place) : dnnl_success;
}

/* Scratch memory of everything that a lane runs. */
static dnnl_status_t place_scratch(const struct run *run, int number)
{
	const struct onednn_plan *plan = run->plan;
	const struct onednn_lane *lane = &plan->lanes[number];
	void *place = in_workspace(run->work,
				   plan->scratch_place + plan->scratch_size * (uint64_t)number);
	dnnl_status_t answer = set_place(run, lane->scratch, place);
	for (int i = 0; i < plan->n_parts && !answer; i++) {
		answer = set_place(run, lane->pad[i], place);
		if (!answer)
			answer = set_place(run, lane->adding[i], place);
	}
	return answer;
}

static dnnl_status_t place_part(const struct run *run, int part, int piece, int lane)
{
	const struct onednn_lane *l = &run->plan->lanes[lane];
	dnnl_status_t answer = set_place(run, l->own[part], own_place(run, part, piece, lane));
	return answer ? answer : set_place(run, l->theirs[part], their_place(run, part, piece));
}

/* ---- Execution -------------------------------------------------------------------------------*/

static dnnl_status_t reorder_part(const struct run *run, int part, int lane, int adds)
{
	const struct onednn_part *p = &run->plan->parts[part];
	const struct onednn_lane *l = &run->plan->lanes[lane];
	int reads = p->access == ONEDNN_READ;
	dnnl_memory_t pad = adds ? l->adding[part] : l->pad[part];
	dnnl_exec_arg_t arguments[3] = {{DNNL_ARG_FROM, reads ? l->theirs[part] : l->own[part]},
					{DNNL_ARG_TO, reads ? l->own[part] : l->theirs[part]},
					{DNNL_ARG_SCRATCHPAD, pad}};
	return run->dnn->primitive_execute(adds ? p->adding : p->reorder, run->work->device->stream,
					   pad ? 3 : 2, arguments);
}

/* For one piece: the parts that only it reads or writes. */
static dnnl_status_t reorder_piece(const struct run *run, int lane, int reads)
{
	dnnl_status_t answer = dnnl_success;
	for (int i = 0; i < run->plan->n_parts && !answer; i++) {
		const struct onednn_part *part = &run->plan->parts[i];
		if (part->is_theirs && part->is_moved && !part->is_shared &&
		    (part->access == ONEDNN_READ) == reads)
			answer = reorder_part(run, i, lane, part->access == ONEDNN_ADD);
	}
	return answer;
}

static dnnl_status_t compute_piece(const struct run *run, int number)
{
	const struct onednn_plan *plan = run->plan;
	const struct onednn_lane *lane = &plan->lanes[number];
	dnnl_exec_arg_t arguments[ONEDNN_MOST_PARTS + 1];
	int n = 0;
	for (; n < plan->n_parts; n++)
		arguments[n] = (dnnl_exec_arg_t){plan->parts[n].argument, lane->own[n]};
	if (lane->scratch)
		arguments[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, lane->scratch};
	return run->dnn->primitive_execute(plan->primitive, run->work->device->stream, n,
					   arguments);
}

static dnnl_status_t run_piece(const struct run *run, int piece, int lane)
{
	dnnl_status_t answer = dnnl_success;
	for (int i = 0; i < run->plan->n_parts && !answer; i++) {
		const struct onednn_part *part = &run->plan->parts[i];
		if (!part->is_shared || part->access != ONEDNN_READ)
			answer = place_part(run, i, piece, lane);
	}
	if (!answer)
		answer = reorder_piece(run, lane, 1);
	if (!answer)
		answer = compute_piece(run, lane);
	return answer ? answer : reorder_piece(run, lane, 0);
}

/* There are as many lanes as threads that run pieces at once: one is free. */
static int take_lane(struct run *run)
{
	for (int lane = 0;; lane = (lane + 1) % run->plan->n_lanes) {
		uint32_t bit = UINT32_C(1) << lane;
		if (!(atomic_fetch_or_explicit(&run->busy, bit, memory_order_acquire) & bit))
			return lane;
	}
}

static void give_lane(struct run *run, int lane)
{
	atomic_fetch_and_explicit(&run->busy, ~(UINT32_C(1) << lane), memory_order_release);
}

static void run_pieces(void *argument, uint64_t begin, uint64_t end)
{
	struct run *run = argument;
	int saved = onednn_library_enter(run->dnn, run->plan->n_threads);
	int lane = take_lane(run);
	for (uint64_t i = begin; i < end; i++) {
		int32_t none = dnnl_success;
		dnnl_status_t answer = run_piece(run, (int)i, lane);
		if (answer)
			atomic_compare_exchange_strong(&run->answer, &none, (int32_t)answer);
	}
	give_lane(run, lane);
	onednn_library_leave(run->dnn, saved);
}

/* ---- Parts shared by all pieces ---------------------------------------------------------------*/

/* In the order of the pieces, whichever thread computed them. */
static dnnl_status_t add_pieces(const struct run *run, int part)
{
	dnnl_status_t answer = dnnl_success;
	for (int piece = 0; piece < run->plan->n_pieces && !answer; piece++) {
		int adds = piece > 0 || run->plan->parts[part].access == ONEDNN_ADD;
		answer = place_part(run, part, piece, 0);
		if (!answer)
			answer = reorder_part(run, part, 0, adds);
	}
	return answer;
}

static dnnl_status_t add_shared(const struct run *run)
{
	dnnl_status_t answer = dnnl_success;
	for (int i = 0; i < run->plan->n_parts && !answer; i++) {
		const struct onednn_part *part = &run->plan->parts[i];
		if (part->is_shared && part->access != ONEDNN_READ)
			answer = add_pieces(run, i);
	}
	return answer;
}

static dnnl_status_t run_all(struct run *run)
{
	const struct tn_host *host = run->work->device->instance->host;
	/* Before any piece runs: the parts common to all pieces. */
	const struct onednn_plan *plan = run->plan;
	dnnl_status_t answer = dnnl_success;
	for (int lane = 0; lane < plan->n_lanes && !answer; lane++) {
		if (plan->workspace)
			answer = place_scratch(run, lane);
		for (int i = 0; i < plan->n_parts && !answer; i++) {
			if (plan->parts[i].is_shared)
				answer = place_part(run, i, 0, lane);
		}
	}
	for (int i = 0; i < plan->n_parts && !answer; i++) {
		const struct onednn_part *part = &plan->parts[i];
		if (part->is_shared && part->is_moved && part->access == ONEDNN_READ)
			answer = reorder_part(run, i, 0, 0);
	}
	if (answer)
		return answer;
	/* One piece uses oneDNN's threads: it stays on the caller's. */
	if (plan->n_pieces == 1)
		run_pieces(run, 0, 1);
	else
		host->parallel_for(host->context, (uint64_t)plan->n_pieces, 1, run_pieces, run);
	answer = (dnnl_status_t)atomic_load(&run->answer);
	return answer ? answer : add_shared(run);
}

tn_status onednn_run(struct onednn_work *work, const uint64_t *addresses)
{
	struct run run = {.work = work,
			  .dnn = work->device->library,
			  .plan = work->plan,
			  .addresses = addresses};
	int saved = onednn_library_enter(run.dnn, work->plan->n_threads);
	dnnl_status_t answer = run_all(&run);
	onednn_library_leave(run.dnn, saved);
	return answer ? onednn_answer(work->call->error, answer, TN_BACKEND_FAILURE,
				      work->operation, "execution")
		      : TN_OK;
}
