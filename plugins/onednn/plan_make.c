/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creates and destroys plans.
 */
#include "plan.h"

/* Less work than this does not justify another thread: about 10 us on one core. */
#define PIECE_COST 1e5
/* More than this, if it cannot be cut, justifies oneDNN's own threads. */
#define OWN_THREADS_COST 4e6

void onednn_cut(struct onednn_work *work)
{
	int most = work->most_pieces ? work->most_pieces : ONEDNN_MOST_PIECES;
	work->n_pieces = 1;
	for (int pieces = 2; pieces <= most && work->cost / pieces >= PIECE_COST; pieces++) {
		if (work->length % pieces == 0)
			work->n_pieces = pieces;
	}
}

static uint64_t round_up(uint64_t size)
{
	return (size + 255) / 256 * 256;
}

/* Reserves a range of the workspace; returns its offset. */
static uint64_t reserve(struct onednn_plan *plan, uint64_t size)
{
	uint64_t place = plan->workspace;
	plan->workspace += round_up(size);
	return place;
}

/* ---- Memory and primitives -------------------------------------------------------------------*/

/* Memory without an address yet; created only if needed. */
static dnnl_status_t make_memory(const struct onednn_device *device, const dnnl_memory_desc_t *md,
				 dnnl_memory_t *memory)
{
	const struct onednn_library *dnn = device->library;
	if (!md || !dnn->memory_desc_get_size(md))
		return dnnl_success;
	return dnn->memory_create(memory, md, device->engine, DNNL_MEMORY_NONE);
}

/* Makes a primitive; all of a lane's primitives share their scratch memory, which is at `field` of
 * each lane. */
static dnnl_status_t make_primitive(struct onednn_work *work, const_dnnl_primitive_desc_t desc,
				    dnnl_primitive_t *primitive, dnnl_memory_t *field)
{
	const struct onednn_library *dnn = work->device->library;
	struct onednn_plan *plan = work->plan;
	const dnnl_memory_desc_t *md =
		dnn->primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
	uint64_t size = md ? dnn->memory_desc_get_size(md) : 0;
	dnnl_status_t answer = dnnl_success;
	size_t lane_step = sizeof(struct onednn_lane);
	for (int i = 0; i < plan->n_lanes && !answer; i++)
		answer = make_memory(work->device, md,
				     (dnnl_memory_t *)((char *)field + (size_t)i * lane_step));
	if (size > plan->scratch_size)
		plan->scratch_size = round_up(size);
	return answer ? answer : dnn->primitive_create(primitive, desc);
}

dnnl_status_t onednn_work_primitive(struct onednn_work *work, const_dnnl_op_desc_t description,
				    const_dnnl_primitive_desc_t hint)
{
	struct onednn_plan *plan = work->plan;
	dnnl_status_t answer = work->device->library->primitive_desc_create(
		&work->primitive, description, work->device->attributes, work->device->engine,
		hint);
	return answer ? answer
		      : make_primitive(work, work->primitive, &plan->primitive,
				       &plan->lanes[0].scratch);
}

/* ---- Parts -----------------------------------------------------------------------------------*/

static dnnl_status_t make_reorder(struct onednn_work *work, const dnnl_memory_desc_t *from,
				  const dnnl_memory_desc_t *to, int adds,
				  dnnl_primitive_t *primitive, dnnl_memory_t *field)
{
	const struct onednn_device *device = work->device;
	const struct onednn_library *dnn = device->library;
	dnnl_primitive_desc_t desc;
	dnnl_status_t answer =
		dnn->reorder_primitive_desc_create(&desc, from, device->engine, to, device->engine,
						   adds ? device->adding : device->attributes);
	if (answer)
		return answer;
	answer = make_primitive(work, desc, primitive, field);
	dnn->primitive_desc_destroy(desc);
	return answer;
}

static dnnl_status_t make_reorders(struct onednn_work *work, struct onednn_part *part,
				   const dnnl_memory_desc_t *own, const dnnl_memory_desc_t *theirs)
{
	struct onednn_lane *lane = &work->plan->lanes[0];
	int number = (int)(part - work->plan->parts);
	dnnl_status_t answer = dnnl_success;
	if (part->access == ONEDNN_READ)
		return make_reorder(work, theirs, own, 0, &part->reorder, &lane->pad[number]);
	if (part->access == ONEDNN_WRITE)
		answer = make_reorder(work, own, theirs, 0, &part->reorder, &lane->pad[number]);
	if (!answer && (part->access == ONEDNN_ADD || part->is_shared))
		answer = make_reorder(work, own, theirs, 1, &part->adding, &lane->adding[number]);
	return answer;
}

/* The number of copies of a moved part. */
static uint64_t n_places(const struct onednn_plan *plan, const struct onednn_part *part)
{
	if (!part->is_theirs || (part->is_shared && part->access != ONEDNN_READ))
		return (uint64_t)plan->n_pieces;
	return part->is_shared ? 1 : (uint64_t)plan->n_lanes;
}

dnnl_status_t onednn_work_part(struct onednn_work *work, int argument, enum onednn_access access,
			       const struct onednn_view *view, int64_t step)
{
	const struct onednn_library *dnn = work->device->library;
	struct onednn_plan *plan = work->plan;
	struct onednn_part *part = &plan->parts[plan->n_parts++];
	const dnnl_memory_desc_t *own =
		dnn->primitive_desc_query_md(work->primitive, dnnl_query_exec_arg_md, argument);
	dnnl_memory_desc_t theirs;
	dnnl_status_t answer = dnnl_success;
	*part = (struct onednn_part){.argument = argument,
				     .access = access,
				     .is_theirs = view != NULL,
				     .is_shared = view && !step && plan->n_pieces > 1,
				     .step = (uint64_t)step * sizeof(float)};
	if (!own || !dnn->memory_desc_get_size(own))
		return dnnl_unimplemented;
	if (view)
		answer = onednn_describe(dnn, view, &theirs);
	if (answer)
		return answer;
	part->is_moved = !view || access == ONEDNN_ADD ||
			 (part->is_shared && access == ONEDNN_WRITE) ||
			 !dnn->memory_desc_equal(own, &theirs);
	int number = (int)(part - plan->parts);
	for (int i = 0; i < plan->n_lanes && !answer; i++) {
		struct onednn_lane *lane = &plan->lanes[i];
		answer = make_memory(work->device, own, &lane->own[number]);
		if (!answer && part->is_theirs && part->is_moved)
			answer = make_memory(work->device, &theirs, &lane->theirs[number]);
	}
	if (answer || !part->is_moved)
		return answer;
	/* A part that is not the caller's is stored piece after piece, as one array. */
	part->size = dnn->memory_desc_get_size(own);
	if (view)
		part->size = round_up(part->size);
	part->place = reserve(plan, part->size * n_places(plan, part));
	return view ? make_reorders(work, part, own, &theirs) : dnnl_success;
}

/* ---- The life of a plan ----------------------------------------------------------------------*/

static void destroy_memories(const struct onednn_library *dnn, const dnnl_memory_t *memories, int n)
{
	for (int i = 0; i < n; i++) {
		if (memories[i])
			dnn->memory_destroy(memories[i]);
	}
}

static void destroy_primitive(const struct onednn_library *dnn, dnnl_primitive_t primitive)
{
	if (primitive)
		dnn->primitive_destroy(primitive);
}

void onednn_plan_destroy(struct onednn_device *device, struct onednn_plan *plan)
{
	const struct onednn_library *dnn = device->library;
	if (!plan)
		return;
	for (int i = 0; i < plan->n_lanes; i++) {
		const struct onednn_lane *lane = &plan->lanes[i];
		destroy_memories(dnn, lane->own, plan->n_parts);
		destroy_memories(dnn, lane->theirs, plan->n_parts);
		destroy_memories(dnn, lane->pad, plan->n_parts);
		destroy_memories(dnn, lane->adding, plan->n_parts);
		destroy_memories(dnn, &lane->scratch, 1);
	}
	for (int i = 0; i < plan->n_parts; i++) {
		destroy_primitive(dnn, plan->parts[i].reorder);
		destroy_primitive(dnn, plan->parts[i].adding);
	}
	destroy_primitive(dnn, plan->primitive);
	tn_plugin_free(device->instance->host, plan);
}

static struct onednn_plan *begin_plan(const struct onednn_work *work)
{
	int threads = work->device->library->n_threads;
	struct onednn_plan *plan = tn_plugin_alloc(work->device->instance->host, sizeof(*plan));
	if (!plan)
		return NULL;
	plan->key = work->key;
	plan->n_pieces = work->n_pieces;
	plan->n_lanes = threads < work->n_pieces ? threads : work->n_pieces;
	plan->n_threads = 1;
	if (work->n_pieces == 1 && work->cost >= OWN_THREADS_COST)
		plan->n_threads = work->device->library->own_threads;
	return plan;
}

tn_status onednn_plan_find(struct onednn_work *work, onednn_make make, const void *argument)
{
	if (work->key.overflow)
		return tn_plugin_fail(work->call->error, TN_UNSUPPORTED, work->operation,
				      "operands have more axes than are supported");
	work->plan = onednn_cache_find(work->device, &work->key);
	if (work->plan)
		return TN_OK;
	/* An unsupported operation is cached as well. */
	const struct onednn_library *dnn = work->device->library;
	struct onednn_plan *plan = begin_plan(work);
	if (!plan)
		return tn_plugin_fail(work->call->error, TN_OUT_OF_MEMORY, work->operation,
				      "no memory for a plan");
	work->plan = plan;
	work->primitive = NULL;
	int saved = onednn_library_enter(dnn, plan->n_threads);
	dnnl_status_t answer = make(work, argument);
	onednn_library_leave(dnn, saved);
	if (work->primitive)
		dnn->primitive_desc_destroy(work->primitive);
	if (answer && answer != dnnl_unimplemented && answer != dnnl_invalid_arguments) {
		onednn_plan_destroy(work->device, plan);
		return onednn_answer(work->call->error, answer, TN_BACKEND_FAILURE, work->operation,
				     "making the primitive");
	}
	plan->is_impossible = answer != dnnl_success;
	plan->scratch_place = reserve(plan, plan->scratch_size * (uint64_t)plan->n_lanes);
	onednn_cache_keep(work->device, plan);
	return TN_OK;
}
