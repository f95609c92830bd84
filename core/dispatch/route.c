/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses the route and counts it.  A composition's steps are not counted as operations of the
 * program, except those that leave the device.
 */
#include "dispatch/route.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "array/array.h"
#include "base/memory.h"
#include "device/open.h"
#include "device/scratch.h"
#include "device/transfer.h"
#include "device/turn.h"
#include "dispatch/element_programs.h"
#include "dispatch/host_copies.h"
#include "dispatch/ledger.h"
#include "dispatch/widen.h"

double tn_route_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *name_of(const struct tn_route *route)
{
	return tn_ledger_row_of(route->runtime->ledger, route->operation)->operation;
}

/* ---- One slot --------------------------------------------------------------------------------*/

/* Would the device do it, and with what workspace?  Asks without an error text; after an error,
 * asks again for its text. */
static tn_status dry_run(struct tn_route *route, struct tn_device *device,
			 struct tn_workspace *workspace)
{
	struct tn_call *call = route->call;
	uint32_t flags = call->flags;
	tn_status status;
	call->flags |= TN_DRY_RUN;
	call->error = NULL;
	call->workspace = workspace;
	status = tn_turn_end(
		device, tn_slot_call(device->backend, route->slot, tn_turn_begin(device), call));
	if (status && status != TN_UNSUPPORTED) {
		call->error = &route->runtime->report;
		tn_error_reset(call->error);
		status = tn_turn_end(device, tn_slot_call(device->backend, route->slot,
							  tn_turn_begin(device), call));
	}
	call->flags = flags;
	call->workspace = NULL;
	return status;
}

/* Memory for a call.  Calls that are recorded keep theirs. */
static tn_status take_scratch(struct tn_runtime *runtime, struct tn_device *device, uint64_t size,
			      struct tn_block *block)
{
	const struct tn_observer *observer = runtime->observer;
	if (observer && observer->take)
		return observer->take(runtime, device, size, block, &runtime->report);
	return tn_scratch_take(device, size, block, &runtime->report);
}

/* Takes the preferred workspace, capped, or the minimum when that allocation fails. */
static tn_status take_workspace(struct tn_runtime *runtime, struct tn_device *device,
				struct tn_workspace *workspace, struct tn_block *block)
{
	uint64_t size = workspace->preferred;
	if (size > device->workspace_limit)
		size = device->workspace_limit;
	if (size < workspace->minimum)
		size = workspace->minimum;
	block->size = 0;
	if (!size)
		return TN_OK;
	if (take_scratch(runtime, device, size, block)) {
		size = workspace->minimum;
		block->size = 0;
		if (!size)
			return TN_OK;
		tn_status status = take_scratch(runtime, device, size, block);
		if (status)
			return status;
	}
	workspace->buffer = block->buffer;
	workspace->offset = block->offset;
	workspace->size = size;
	return TN_OK;
}

static inline void observe_call(const struct tn_route *route, struct tn_device *device)
{
	const struct tn_observer *observer = route->runtime->observer;
	if (observer && observer->called)
		observer->called(route->runtime, route->operation, route->slot, device,
				 route->call);
}

/* Asks how much workspace the call needs, takes it and calls.  A separate function, so that calls
 * without workspace do not pay for its frame. */
static __attribute__((noinline)) tn_status call_with_workspace(struct tn_route *route,
							       struct tn_device *device, int asks)
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_block block;
	tn_status status = dry_run(route, device, &workspace);
	if (!tn_slots[route->slot].asks)
		workspace.preferred = workspace.minimum;
	if (status && !asks)
		return TN_UNSUPPORTED;
	if (!status)
		status = take_workspace(runtime, device, &workspace, &block);
	if (status)
		return status;
	if (!asks && !block.size) /* the call without workspace was refused */
		return TN_UNSUPPORTED;
	if (!asks)
		device->asks[route->slot] = 1;
	route->call->workspace = block.size ? &workspace : NULL;
	route->call->error = &runtime->report;
	runtime->report.status = TN_OK;
	status = tn_turn_end(device, tn_slot_call(device->backend, route->slot,
						  tn_turn_begin(device), route->call));
	if (!status)
		observe_call(route, device);
	route->call->workspace = NULL;
	if (block.size && runtime->observer && runtime->observer->give)
		runtime->observer->give(runtime, device, &block);
	else if (block.size)
		tn_scratch_give(device, &block);
	return status;
}

/* Calls one device's slot, with workspace if needed.  An entry that refuses has had no effect: most
 * are called without asking, and asked only after a refusal, since they may lack only workspace.
 * The report is empty unless the answer is an error other than TN_UNSUPPORTED.  Inline, as part of
 * every small call: the compiler alone would not do it, for the turn. */
static inline __attribute__((always_inline)) tn_status call_slot(struct tn_route *route,
								 struct tn_device *device)
{
	const struct tn_slot_facts *facts = &tn_slots[route->slot];
	struct tn_error_info *report = &route->runtime->report;
	int asks = facts->asks || device->asks[route->slot];
	tn_status status = TN_UNSUPPORTED;
	if (!tn_backend_has(device->backend, (enum tn_slot)route->slot))
		return TN_UNSUPPORTED;
	route->call->stream = device->stream;
	if (!asks) {
		route->call->error = report;
		report->status = TN_OK;
		status = tn_turn_end(device,
				     facts->call((const char *)device->backend + facts->entry,
						 tn_turn_begin(device), route->call));
		if (!status)
			observe_call(route, device);
	}
	if (status == TN_UNSUPPORTED)
		status = call_with_workspace(route, device, asks);
	if (status && status != TN_UNSUPPORTED)
		return tn_device_answer(device, status, report);
	report->status = TN_OK;
	return status;
}

/* ---- The steps -------------------------------------------------------------------------------*/

/* Host-memory devices share arrays; the owner's work finishes before another device reads. */
static tn_status wait_for_owner(struct tn_route *route)
{
	struct tn_device *device = route->device;
	if (device->description.flags & TN_DEVICE_SYNCHRONOUS)
		return TN_OK;
	return tn_device_sync(device, &route->runtime->report);
}

static tn_status try_lenders(struct tn_route *route)
{
	struct tn_runtime *runtime = route->runtime;
	if (!route->device->host_memory || route->device == runtime->reference)
		return TN_UNSUPPORTED;
	for (size_t i = 0; i < runtime->n_lenders; i++) {
		struct tn_device *lender = runtime->lenders[i];
		tn_status status;
		if (lender == route->device || lender == runtime->reference ||
		    lender->backend == route->device->backend || !lender->handle ||
		    !tn_backend_has(lender->backend, route->slot))
			continue;
		status = wait_for_owner(route);
		if (!status)
			status = call_slot(route, lender);
		if (!status && !(lender->description.flags & TN_DEVICE_SYNCHRONOUS))
			status = tn_device_sync(lender, &runtime->report);
		if (status != TN_UNSUPPORTED)
			return status;
	}
	return TN_UNSUPPORTED;
}

/* Can the device, or a lender unless the route is native only, run that slot on that call? */
static int can_do(struct tn_route *route, enum tn_slot slot, struct tn_call *call)
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_route probe = {.runtime = runtime,
				 .device = route->device,
				 .operation = route->operation,
				 .slot = slot,
				 .call = call};
	size_t n_lenders = route->is_native_only ? 0 : runtime->n_lenders;
	for (size_t i = 0; i <= n_lenders; i++) {
		struct tn_device *device = i ? runtime->lenders[i - 1] : route->device;
		struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
		if (i && (!route->device->host_memory || device == runtime->reference ||
			  !device->handle))
			continue;
		if (tn_backend_has(device->backend, slot) && !dry_run(&probe, device, &workspace))
			return 1;
	}
	return 0;
}

static void small_operand(struct tn_operand *operand, tn_dtype dtype, uint32_t rank)
{
	memset(operand, 0, sizeof(*operand));
	operand->dtype = dtype;
	operand->rank = rank;
	for (uint32_t i = 0; i < rank; i++) {
		operand->shape[i] = 4;
		operand->strides[i] = i + 1 == rank ? 1 : 4;
	}
}

static int can_compose(struct tn_route *route)
{
	struct tn_element_program copy;
	struct tn_operand line, matrix;
	if (!route->compose || route->runtime->fallback == TN_FALLBACK_NATIVE)
		return 0;
	if (tn_element_program_find(route->runtime, TN_DO_COPY, 1, &route->dtype, &copy))
		return 0;
	small_operand(&line, route->dtype, 1);
	small_operand(&matrix, route->dtype, 2);
	if (route->needs & TN_NEEDS_MAP) {
		struct tn_map_args args = {.call = {.struct_size = sizeof(args)},
					   .program = copy.program,
					   .inputs = &line,
					   .outputs = &line};
		if (!can_do(route, TN_SLOT_MAP, &args.call))
			return 0;
	}
	if (route->needs & TN_NEEDS_REDUCE) {
		struct tn_reduce_args args = {.call = {.struct_size = sizeof(args)},
					      .prologue = copy.program,
					      .inputs = &matrix,
					      .outputs = &line,
					      .n_reduced = 1,
					      .n_values = 1,
					      .combiners = {TN_REDUCE_SUM}};
		if (!can_do(route, TN_SLOT_REDUCE, &args.call))
			return 0;
	}
	if (route->needs & TN_NEEDS_MATMUL) {
		struct tn_matmul_args args = {.call = {.struct_size = sizeof(args)},
					      .a = matrix,
					      .b = matrix,
					      .c = matrix,
					      .alpha = 1};
		if (!can_do(route, TN_SLOT_MATMUL, &args.call))
			return 0;
	}
	return 1;
}

/* Turns an error that a step has kept into this operation's error, which the caller keeps. */
static tn_status adopt_error(struct tn_route *route, tn_status status)
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_error_info inner = runtime->error.status ? runtime->error : runtime->report;
	if (!inner.status)
		inner.status = status == TN_PENDING_ERROR ? TN_INTERNAL : status;
	tn_error_reset(&runtime->error);
	tn_fail(&runtime->report, inner.status, name_of(route), "composed: %.40s: %.400s",
		inner.operation, inner.text);
	runtime->report.native_code = inner.native_code;
	return inner.status;
}

static tn_status run_composition(struct tn_route *route)
{
	struct tn_runtime *runtime = route->runtime;
	const struct tn_recorder *recorder = runtime->recorder;
	tn_context *context = runtime->context;
	tn_status status;
	tn_error_reset(&runtime->report);
	status = tn_scope_begin(context);
	if (status)
		return adopt_error(route, status);
	runtime->recorder = NULL;
	runtime->depth++;
	status = route->compose(route->argument);
	runtime->depth--;
	runtime->recorder = recorder;
	if (!status && runtime->error.status)
		status = runtime->error.status;
	tn_scope_end(context, NULL);
	return status ? adopt_error(route, status) : TN_OK;
}

/* Counts a run of an operation of the program, not one of a composition's steps. */
static void count_composed(struct tn_route *route)
{
	struct tn_runtime *runtime = route->runtime;
	if (runtime->depth)
		return;
	tn_ledger_row_of(runtime->ledger, route->operation)->composed++;
	if (runtime->observer && runtime->observer->composed)
		runtime->observer->composed(runtime, route->operation);
}

/* The call in f32, which has a route of its own, at the depth of a step. */
static tn_status call_widened(struct tn_widened *widened, struct tn_route *route, int anyway)
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_route *wide = &widened->route;
	tn_status status = tn_widened_make(widened, route, tn_route_run);
	if (!status && !anyway && !can_do(wide, wide->slot, wide->call) && !can_compose(wide))
		status = TN_UNSUPPORTED;
	if (!status)
		status = tn_widened_read(widened);
	if (!status) {
		runtime->depth++;
		status = tn_route_run(wide);
		runtime->depth--;
	}
	if (!status)
		status = tn_widened_write(widened);
	tn_widened_end(widened);
	return status;
}

/* Runs the call in f32 when an operand is narrow, and the device can do that, or `anyway`. */
static tn_status run_widened(struct tn_route *route, int anyway)
{
	struct tn_runtime *runtime = route->runtime;
	if (runtime->fallback == TN_FALLBACK_NATIVE || !tn_can_widen(route->slot, route->call))
		return TN_UNSUPPORTED;
	tn_error_reset(&runtime->report);
	tn_status status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	/* Too large for a small stack, on which the calls in f32 follow. */
	struct tn_widened *widened = tn_mem_alloc(sizeof(*widened));
	status = widened ? call_widened(widened, route, anyway)
			 : tn_fail(&runtime->report, TN_OUT_OF_MEMORY, name_of(route),
				   "no host memory for the call in f32");
	tn_mem_free(widened);
	tn_scope_end(runtime->context, NULL);
	if (status || runtime->depth)
		return status;
	tn_ledger_row_of(runtime->ledger, route->operation)->widened++;
	if (runtime->observer && runtime->observer->widened)
		runtime->observer->widened(runtime, route->operation);
	return TN_OK;
}

/* Calls the slot of the reference, on copies where the host cannot read the device's memory. */
static tn_status call_reference(struct tn_route *route, uint64_t *bytes_moved)
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_device *device = route->device;
	tn_status status = tn_device_open(runtime->reference, &runtime->report);
	if (status)
		return status;
	if (device->host_memory) {
		if (!(device->description.flags & TN_DEVICE_SYNCHRONOUS))
			status = tn_device_sync(device, &runtime->report);
		return status ? status : call_slot(route, runtime->reference);
	}
	struct tn_call *call = route->call;
	struct tn_host_copies copies;
	status = tn_host_copies_make(&copies, runtime, device, route->slot, call);
	if (!status) {
		route->call = copies.call;
		status = call_slot(route, runtime->reference);
		route->call = call;
	}
	if (!status)
		status = tn_host_copies_take_back(&copies);
	tn_host_copies_end(&copies);
	*bytes_moved = copies.bytes;
	return status;
}

tn_status tn_route_allow_host(struct tn_runtime *runtime, uint32_t operation,
			      const struct tn_device *device, const char *what)
{
	const char *mode = runtime->fallback == TN_FALLBACK_NATIVE ? "native" : "error";
	if (runtime->fallback != TN_FALLBACK_NATIVE && runtime->fallback != TN_FALLBACK_ERROR)
		return TN_OK;
	return tn_fail(&runtime->report, TN_UNSUPPORTED,
		       tn_ledger_row_of(runtime->ledger, operation)->operation,
		       "%s cannot %s, and TENON_FALLBACK=%s forbids the other routes", device->name,
		       what, mode);
}

void tn_route_count_host(struct tn_runtime *runtime, uint32_t operation,
			 const struct tn_device *device)
{
	struct tn_ledger_entry *entry = &runtime->ledger->entries[operation];
	entry->row.host++;
	if (runtime->fallback != TN_FALLBACK_WARN || entry->warned)
		return;
	entry->warned = 1;
	tn_log_format(runtime->logger, TN_LOG_WARNING, "route",
		      "%s runs on the host: %s cannot do it", entry->row.operation, device->name);
}

static tn_status run_on_host(struct tn_route *route, uint64_t *bytes_moved)
{
	struct tn_runtime *runtime = route->runtime;
	tn_status status = tn_route_allow_host(runtime, route->operation, route->device, "do it");
	if (status)
		return status;
	if (route->device == runtime->reference)
		return tn_fail(&runtime->report, TN_UNSUPPORTED, name_of(route),
			       "%s, the last resort, cannot do it", route->device->name);
	status = call_reference(route, bytes_moved);
	if (status == TN_UNSUPPORTED)
		return tn_fail(&runtime->report, TN_UNSUPPORTED, name_of(route),
			       "neither %s nor %s can do it", route->device->name,
			       runtime->reference->name);
	if (!status)
		tn_route_count_host(runtime, route->operation, route->device);
	return status;
}

/* After a refusal by the reference: f32, or the composition, with steps that the host can run. */
static tn_status run_in_steps(struct tn_route *route)
{
	uint32_t fallback = route->runtime->fallback;
	if (fallback == TN_FALLBACK_NATIVE || fallback == TN_FALLBACK_ERROR)
		return TN_UNSUPPORTED;
	tn_status status = run_widened(route, 1);
	if (status != TN_UNSUPPORTED || !route->compose)
		return status;
	status = run_composition(route);
	if (!status)
		count_composed(route);
	return status;
}

/* The steps after a refusal by the native slot.  A separate function, so that native calls do not
 * pay for its frame. */
static __attribute__((noinline)) tn_status fall_back(struct tn_route *route)
{
	struct tn_ledger *ledger = route->runtime->ledger;
	double start = tn_route_clock();
	uint64_t bytes_moved = 0;
	tn_status status = route->is_native_only ? TN_UNSUPPORTED : try_lenders(route);
	if (!status)
		tn_ledger_row_of(ledger, route->operation)->lent++;
	else if (status == TN_UNSUPPORTED)
		status = run_widened(route, 0);
	if (status == TN_UNSUPPORTED && route->is_native_only)
		return status;
	if (status == TN_UNSUPPORTED && can_compose(route)) {
		status = run_composition(route);
		if (!status)
			count_composed(route);
	} else if (status == TN_UNSUPPORTED) {
		tn_observe_unrepeatable(route->runtime);
		status = run_on_host(route, &bytes_moved);
		if (status == TN_UNSUPPORTED)
			status = run_in_steps(route);
	}
	tn_ledger_row_of(ledger, route->operation)->bytes_moved += bytes_moved;
	tn_ledger_row_of(ledger, route->operation)->seconds += tn_route_clock() - start;
	return status;
}

tn_status tn_route_run(struct tn_route *route)
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_ledger_row *row;
	double start = 0;
	tn_status status = tn_device_ready(route->device, &runtime->report);
	if (status)
		return status;
	if (tn_runtime_is_cancelled(runtime))
		return tn_fail(&runtime->report, TN_CANCELLED, name_of(route), "cancelled");
	route->call->flags |= runtime->call_flags;
	if (runtime->ledger_time)
		start = tn_route_clock();
	status = call_slot(route, route->device);
	if (status == TN_UNSUPPORTED &&
	    (!route->is_native_only || tn_can_widen(route->slot, route->call)))
		return fall_back(route);
	if (status || runtime->depth)
		return status;
	row = tn_ledger_row_of(runtime->ledger, route->operation);
	row->native++;
	/* Captured work has not run. */
	if (!runtime->ledger_time || runtime->capture)
		return TN_OK;
	status = wait_for_owner(route);
	row->seconds += tn_route_clock() - start;
	return status;
}
