/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A step is a copy of one call's arguments, with the arrays that they point to.  Operands in x's or
 * y's block are found by their address at the end and listed; a run sets these addresses and makes
 * the calls.
 */
#include "capture/replay.h"

#include <string.h>

#include "base/memory.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/turn.h"
#include "dispatch/ledger.h"
#include "loader/slot_contents.h"
#include "loader/slots.h"

/* ---- A replay --------------------------------------------------------------------------------*/

/* What the ledger counts. */
enum counted { NOT_COUNTED, NATIVE, LENT, WIDENED, COMPOSED };

struct step {
	struct tn_device *device;
	uint32_t slot; /* enum tn_slot */
	uint32_t operation;
	enum counted counted;
	struct tn_call *args; /* a full copy; NULL: only a count */
	struct tn_workspace workspace;
};

/* An operand in x's or y's block. */
struct patch {
	struct tn_operand *operand;
	uint64_t distance; /* from the block's start */
	int is_y;
};

/* The layout of a recorded array. */
struct likeness {
	struct tn_device *device;
	struct tn_block block;
	tn_dtype dtype;
	int rank;
	int contiguous, dense;
	int64_t size;
	int64_t offset;
	int64_t shape[TN_MAX_RANK];
	int64_t strides[TN_MAX_RANK];
};

struct tn_replay {
	struct tn_runtime *runtime;
	struct likeness x;
	struct likeness y;
	struct step *steps;
	size_t n_steps, room_for_steps;
	struct patch *patches;
	size_t n_patches, room_for_patches;
	int writes_y;
	int goes_beyond_y; /* temporaries are in y's block, outside its elements */
	/* The store: blocks that are not in use while writing, all of them afterwards. */
	struct owned {
		struct tn_device *device;
		struct tn_block block;
	} * store;
	size_t n_store, room_in_store;
	uint64_t random; /* the random state's stream when writing began */
	int is_spoilt;
};

static struct likeness likeness_of(const tn_array *a)
{
	struct likeness l = {.device = tn_array_home(a),
			     .block = a->storage->block,
			     .dtype = a->dtype,
			     .rank = a->rank,
			     .contiguous = a->contiguous,
			     .dense = a->dense,
			     .size = a->size,
			     .offset = a->offset};
	memcpy(l.shape, a->shape, sizeof(l.shape[0]) * (size_t)a->rank);
	memcpy(l.strides, a->strides, sizeof(l.strides[0]) * (size_t)a->rank);
	return l;
}

int tn_replay_fits(const struct tn_replay *replay, const tn_array *x)
{
	const struct likeness *l = &replay->x;
	size_t n = sizeof(l->shape[0]) * (size_t)l->rank;
	return x->runtime == replay->runtime && tn_array_home(x) == l->device &&
	       x->dtype == l->dtype && x->rank == l->rank && !memcmp(x->shape, l->shape, n) &&
	       !memcmp(x->strides, l->strides, n);
}

void tn_replay_destroy(struct tn_replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->n_steps; i++)
		tn_mem_free(replay->steps[i].args);
	for (size_t i = 0; i < replay->n_store; i++)
		tn_block_give(replay->store[i].device, &replay->store[i].block);
	tn_mem_free(replay->steps);
	tn_mem_free(replay->patches);
	tn_mem_free(replay->store);
	tn_mem_free(replay);
}

static void spoil(struct tn_runtime *runtime)
{
	runtime->writing->is_spoilt = 1;
}

/* Room for one more of n things of that size; 0: out of memory. */
static int grow(void **things, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return 1;
	size_t more = *room ? 2 * *room : 16;
	void *moved = tn_mem_realloc(*things, more, size);
	if (!moved)
		return 0;
	*things = moved;
	*room = more;
	return 1;
}

/* ---- The store -------------------------------------------------------------------------------*/

static tn_status take_block(struct tn_runtime *runtime, struct tn_device *device, uint64_t size,
			    struct tn_block *block, struct tn_error_info *error)
{
	struct tn_replay *replay = runtime->writing;
	for (size_t i = replay->n_store; i-- > 0;) {
		struct owned *owned = &replay->store[i];
		if (owned->device != device || owned->block.size < size ||
		    owned->block.size / 2 > size)
			continue;
		*block = owned->block;
		*owned = replay->store[--replay->n_store];
		return TN_OK;
	}
	return tn_block_take(device, size, block, error);
}

static void give_block(struct tn_runtime *runtime, struct tn_device *device,
		       const struct tn_block *block)
{
	struct tn_replay *replay = runtime->writing;
	if (grow((void **)&replay->store, replay->n_store, &replay->room_in_store,
		 sizeof(*replay->store))) {
		replay->store[replay->n_store++] = (struct owned){device, *block};
		return;
	}
	/* No memory to store the block: other data could overwrite it before a replay. */
	replay->is_spoilt = 1;
	tn_block_give(device, block);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

/* NULL: out of memory; the replay is spoilt. */
static struct step *add_step(struct tn_replay *replay)
{
	if (grow((void **)&replay->steps, replay->n_steps, &replay->room_for_steps,
		 sizeof(*replay->steps)))
		return &replay->steps[replay->n_steps++];
	replay->is_spoilt = 1;
	return NULL;
}

static void add_call(struct tn_runtime *runtime, uint32_t operation, uint32_t slot,
		     struct tn_device *device, const struct tn_call *args)
{
	struct tn_replay *replay = runtime->writing;
	if (!(device->description.flags & TN_DEVICE_SYNCHRONOUS))
		replay->is_spoilt = 1;
	struct tn_call *copy = replay->is_spoilt ? NULL : tn_slot_copy(slot, args, NULL);
	struct step *step = copy ? add_step(replay) : NULL;
	if (!step) {
		tn_mem_free(copy);
		replay->is_spoilt = 1;
		return;
	}
	*step = (struct step){.device = device, .slot = slot, .operation = operation, .args = copy};
	if (device != replay->x.device)
		step->counted = LENT;
	else if (!runtime->depth)
		step->counted = NATIVE;
	if (args->workspace)
		step->workspace = *args->workspace;
}

static void add_count(struct tn_runtime *runtime, uint32_t operation, enum counted counted)
{
	struct step *step = add_step(runtime->writing);
	if (step)
		*step = (struct step){.operation = operation, .counted = counted};
}

static void add_composed(struct tn_runtime *runtime, uint32_t operation)
{
	add_count(runtime, operation, COMPOSED);
}

static void add_widened(struct tn_runtime *runtime, uint32_t operation)
{
	add_count(runtime, operation, WIDENED);
}

static const struct tn_observer observer = {
	.take = take_block,
	.give = give_block,
	.called = add_call,
	.composed = add_composed,
	.widened = add_widened,
	.unrepeatable = spoil,
};

tn_status tn_replay_begin(struct tn_runtime *runtime, const tn_array *x)
{
	if (runtime->observer || runtime->recorder)
		return tn_runtime_fail(runtime, TN_STATE, "replay",
				       "a tape or another observer is recording already");
	struct tn_replay *replay = tn_mem_zeroed(1, sizeof(*replay));
	if (!replay)
		return tn_runtime_no_memory(runtime, "replay", "a list of calls");
	replay->runtime = runtime;
	replay->x = likeness_of(x);
	replay->random = runtime->random.stream;
	runtime->writing = replay;
	runtime->observer = &observer;
	return TN_OK;
}

/* ---- The end of writing ----------------------------------------------------------------------*/

static int lies_in(const struct tn_operand *operand, const struct tn_block *block)
{
	return operand->buffer == block->buffer && operand->offset >= block->offset &&
	       operand->offset - block->offset < block->size;
}

/* Does the operand, `distance` bytes into y's block, have elements outside those of y? */
static int goes_beyond(const struct likeness *y, const struct tn_operand *operand,
		       uint64_t distance)
{
	const int64_t size = (int64_t)tn_dtype_size(operand->dtype);
	const int64_t begin = y->offset * (int64_t)tn_dtype_size(y->dtype);
	const int64_t end = begin + y->size * (int64_t)tn_dtype_size(y->dtype);
	int64_t first = (int64_t)distance, last = first;
	for (uint32_t i = 0; i < operand->rank; i++) {
		const int64_t reach = (operand->shape[i] - 1) * operand->strides[i] * size;
		*(reach < 0 ? &first : &last) += reach;
	}
	return first < begin || last + size > end;
}

/* Checks an operand; 0: it spoils the replay, or no memory is left for its patch. */
static int patch_operand(struct tn_replay *replay, struct tn_operand *operand, int is_written)
{
	int is_x = lies_in(operand, &replay->x.block), is_y = lies_in(operand, &replay->y.block);
	int is_own = is_y;
	for (size_t i = 0; i < replay->n_store && is_written && !is_own; i++)
		is_own = lies_in(operand, &replay->store[i].block);
	if (is_written && !is_own)
		return 0;
	if (!is_x && !is_y)
		return 1;
	if (!grow((void **)&replay->patches, replay->n_patches, &replay->room_for_patches,
		  sizeof(*replay->patches)))
		return 0;
	replay->writes_y |= is_written && is_y;
	const struct tn_block *block = is_x ? &replay->x.block : &replay->y.block;
	const uint64_t distance = operand->offset - block->offset;
	replay->goes_beyond_y |= is_y && goes_beyond(&replay->y, operand, distance);
	replay->patches[replay->n_patches++] = (struct patch){operand, distance, is_y};
	return 1;
}

/* Lists the operands to patch; 0: the calls cannot be repeated. */
static int patch_steps(struct tn_replay *replay, const tn_array *y)
{
	if (!y || replay->is_spoilt || replay->runtime->random.stream != replay->random ||
	    !replay->n_steps)
		return 0;
	replay->y = likeness_of(y);
	/* x itself, or a view of it. */
	if (replay->y.device != replay->x.device ||
	    replay->y.block.buffer + replay->y.block.offset ==
		    replay->x.block.buffer + replay->x.block.offset)
		return 0;
	for (size_t i = 0; i < replay->n_steps; i++) {
		struct step *step = &replay->steps[i];
		struct tn_slot_contents contents;
		if (!step->args)
			continue;
		/* The steps no longer move in memory. */
		if (step->args->workspace)
			step->args->workspace = &step->workspace;
		tn_slot_list(step->slot, step->args, &contents);
		for (uint32_t k = 0; k < contents.n_operands; k++) {
			if (!patch_operand(replay, contents.operands[k].operand,
					   (contents.operands[k].access & TN_WRITES) != 0))
				return 0;
		}
		for (uint32_t k = 0; k < contents.n_scalars; k++) {
			if (contents.scalars[k]->on_device)
				return 0;
		}
	}
	/* Otherwise y is an older array, unless the calls write it. */
	return replay->writes_y;
}

struct tn_replay *tn_replay_end(struct tn_runtime *runtime, const tn_array *y)
{
	struct tn_replay *replay = runtime->writing;
	runtime->writing = NULL;
	runtime->observer = NULL;
	if (patch_steps(replay, y))
		return replay;
	tn_replay_destroy(replay);
	return NULL;
}

/* ---- Running ---------------------------------------------------------------------------------*/

/* An array like the recorded y, in new memory. */
static tn_array *make_y(const struct tn_replay *replay)
{
	const struct likeness *l = &replay->y;
	const int64_t bytes = (int64_t)l->block.size;
	tn_array *y = tn_array_make(replay->runtime, l->device, TN_U8, 1, &bytes);
	if (!y)
		return NULL;
	y->dtype = l->dtype;
	y->rank = l->rank;
	y->contiguous = l->contiguous;
	y->dense = l->dense;
	y->size = l->size;
	y->offset = l->offset;
	memcpy(y->shape, l->shape, sizeof(l->shape[0]) * (size_t)l->rank);
	memcpy(y->strides, l->strides, sizeof(l->strides[0]) * (size_t)l->rank);
	return y;
}

static tn_status repeat_steps(struct tn_replay *replay)
{
	struct tn_runtime *runtime = replay->runtime;
	struct tn_device *device = replay->x.device;
	tn_status status = tn_device_ready(device, &runtime->report);
	for (size_t i = 0; i < replay->n_steps && !status; i++) {
		const struct step *step = &replay->steps[i];
		if (tn_runtime_is_cancelled(runtime))
			return tn_fail(&runtime->report, TN_CANCELLED, "replay", "cancelled");
		struct tn_ledger_row *row = tn_ledger_row_of(runtime->ledger, step->operation);
		row->native += step->counted == NATIVE;
		row->lent += step->counted == LENT;
		row->widened += step->counted == WIDENED;
		row->composed += step->counted == COMPOSED;
		if (!step->args)
			continue;
		runtime->report.status = TN_OK;
		step->args->error = &runtime->report;
		status = tn_turn_end(step->device,
				     tn_slot_call(step->device->backend, step->slot,
						  tn_turn_begin(step->device), step->args));
		if (status)
			return tn_device_answer(step->device, status, &runtime->report);
	}
	return status;
}

/* Gives the operands in x's and y's blocks their addresses. */
static void patch_addresses(struct tn_replay *replay, const tn_array *x, const tn_array *y)
{
	for (size_t i = 0; i < replay->n_patches; i++) {
		const struct patch *patch = &replay->patches[i];
		const struct likeness *recorded = patch->is_y ? &replay->y : &replay->x;
		const tn_array *home = patch->is_y ? y : x;
		const struct tn_block *block = &home->storage->block;
		/* It may be a different view of its block than the recorded one. */
		const uint64_t shift =
			(uint64_t)(home->offset - recorded->offset) * tn_dtype_size(home->dtype);
		patch->operand->buffer = block->buffer;
		patch->operand->offset = block->offset + patch->distance + shift;
	}
}

tn_array *tn_replay_run(struct tn_replay *replay, const tn_array *x)
{
	struct tn_runtime *runtime = replay->runtime;
	if (tn_runtime_ready(runtime))
		return NULL;
	tn_array *y = make_y(replay);
	if (!y) {
		tn_runtime_keep(runtime, &runtime->report);
		return NULL;
	}
	patch_addresses(replay, x, y);
	if (!repeat_steps(replay))
		return y;
	tn_runtime_keep(runtime, &runtime->report);
	tn_array_discard(y);
	return NULL;
}

int tn_replay_fits_result(const struct tn_replay *replay, const tn_array *y)
{
	const struct likeness *l = &replay->y;
	size_t n = sizeof(l->shape[0]) * (size_t)l->rank;
	return !replay->goes_beyond_y && tn_array_home(y) == l->device && y->dtype == l->dtype &&
	       y->rank == l->rank && !memcmp(y->shape, l->shape, n) && y->contiguous &&
	       l->contiguous;
}

tn_status tn_replay_run_into(struct tn_replay *replay, const tn_array *x, tn_array *y)
{
	struct tn_runtime *runtime = replay->runtime;
	tn_status status = tn_runtime_ready(runtime);
	if (status)
		return status;
	patch_addresses(replay, x, y);
	tn_array_touch(y);
	status = repeat_steps(replay);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}
