/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scalars lie in pages: a block on the device, and on the host one copy of its bytes for each
 * replay of a round.  The used part of a page is one upload; few graphs have a second page.
 */
#include "capture/stepped.h"

#include <string.h>

#include <tenon/program.h>

#include "array/observer.h"
#include "base/bits.h"
#include "base/memory.h"
#include "capture/graph.h"
#include "device/pool.h"
#include "device/transfer.h"

enum { CELLS = 128, MOST_SCALARS = TN_PROGRAM_MAX_SCALARS };
_Static_assert((int)CELLS >= (int)MOST_SCALARS, "the scalars of one program lie in one page");

struct tn_stepped_entry {
	struct tn_stepped_entry *next;
	const struct tn_stepped_source *source;
	struct tn_stepped_page *page;
	uint32_t cell;
	uint32_t n;
	int is_counted; /* by the step being captured, or prepared for a replay */
	tn_dtype dtypes[MOST_SCALARS];
	void *state;
};

struct tn_stepped_page {
	struct tn_stepped_page *next;
	struct tn_block block;
	uint32_t used; /* cells */
	uint64_t host[TN_STEPPED_ROUND][CELLS];
};

void tn_stepped_begin(struct tn_stepped *stepped, const struct tn_runtime *runtime)
{
	stepped->device = runtime->device;
	stepped->random = runtime->random;
}

/* ---- Registering -----------------------------------------------------------------------------*/

/* A page with room for n cells.  It is filled before the work runs, so it is never memory the
 * captured work has used. */
static struct tn_stepped_page *page_for(struct tn_stepped *stepped, uint32_t n,
					struct tn_error_info *error)
{
	struct tn_stepped_page *page = stepped->pages;
	if (page && CELLS - page->used >= n)
		return page;
	page = tn_mem_zeroed(1, sizeof(*page));
	if (!page) {
		tn_no_memory(error, "capture", NULL, "the capture");
		return NULL;
	}
	if (tn_block_take_apart(stepped->device, sizeof(page->host[0]), &page->block, error)) {
		tn_mem_free(page);
		return NULL;
	}
	page->next = stepped->pages;
	stepped->pages = page;
	return page;
}

static struct tn_stepped_entry *add_entry(struct tn_stepped *stepped,
					  const struct tn_stepped_source *source, uint32_t n,
					  struct tn_error_info *error)
{
	struct tn_stepped_page *page = page_for(stepped, n, error);
	struct tn_stepped_entry *entry = page ? tn_mem_zeroed(1, sizeof(*entry)) : NULL;
	if (!page)
		return NULL;
	if (entry && source->size)
		entry->state = tn_mem_zeroed(1, source->size);
	if (!entry || (source->size && !entry->state)) {
		tn_mem_free(entry);
		tn_no_memory(error, "capture", NULL, "the capture");
		return NULL;
	}
	entry->source = source;
	entry->page = page;
	entry->cell = page->used;
	entry->n = n;
	entry->is_counted = 1;
	page->used += n;
	if (stepped->last)
		stepped->last->next = entry;
	else
		stepped->first = entry;
	stepped->last = entry;
	return entry;
}

tn_status tn_stepped_add(struct tn_runtime *runtime, struct tn_device *device,
			 const struct tn_stepped_source *source, uint32_t n,
			 struct tn_scalar *scalars, void **state)
{
	struct tn_stepped *stepped = runtime->capture ? &runtime->capture->stepped : NULL;
	*state = NULL;
	if (!stepped)
		return TN_OK;
	if (device != stepped->device)
		return tn_fail(&runtime->report, TN_NOT_CAPTURABLE, "capture",
			       "work on %s is being captured, and the values that change from step "
			       "to step are on %s",
			       stepped->device->name, device->name);
	struct tn_stepped_entry *entry = add_entry(stepped, source, n, &runtime->report);
	if (!entry)
		return runtime->report.status;
	for (uint32_t i = 0; i < n; i++) {
		entry->dtypes[i] = scalars[i].dtype;
		scalars[i] = (struct tn_scalar){.dtype = scalars[i].dtype,
						.on_device = 1,
						.buffer = entry->page->block.buffer,
						.offset = entry->page->block.offset +
							  (entry->cell + i) * sizeof(uint64_t)};
	}
	*state = entry->state;
	return TN_OK;
}

/* ---- Random numbers --------------------------------------------------------------------------*/

static void draw_scalars(struct tn_generator *generator, struct tn_scalar scalars[2])
{
	scalars[0].bits = generator->state->seed;
	scalars[1].bits = generator->state->stream++;
}

static tn_status draw_next(struct tn_runtime *runtime, void *state, struct tn_scalar *scalars)
{
	(void)state;
	draw_scalars(&runtime->generator, scalars);
	return TN_OK;
}

static tn_status draw_next_of(struct tn_runtime *runtime, void *state, struct tn_scalar *scalars)
{
	struct tn_generator **generator = state;
	(void)runtime;
	draw_scalars(*generator, scalars);
	return TN_OK;
}

static void undo_draw(void *state)
{
	struct tn_generator **generator = state;
	(*generator)->state->stream--;
}

static void release_generator(void *state)
{
	struct tn_generator **generator = state;
	if (*generator)
		tn_generator_release(*generator);
}

/* The graph itself restores the state of the default generator. */
static const struct tn_stepped_source default_source = {.next = draw_next};
static const struct tn_stepped_source other_source = {.size = sizeof(struct tn_generator *),
						      .next = draw_next_of,
						      .take_back = undo_draw,
						      .release = release_generator};

static tn_status draw_stream(struct tn_generator *generator, struct tn_device *device,
			     struct tn_scalar scalars[2])
{
	struct tn_runtime *runtime = generator->runtime;
	const int is_default = generator == &runtime->generator;
	void *state;
	scalars[0] = scalars[1] = (struct tn_scalar){.dtype = TN_I64};
	draw_scalars(generator, scalars);
	if (!is_default) /* recorded calls notice draws from the default one themselves */
		tn_observe_unrepeatable(runtime);
	tn_status status = tn_stepped_add(
		runtime, device, is_default ? &default_source : &other_source, 2, scalars, &state);
	if (is_default)
		return status;
	if (status) /* the end of the capture does not know of this draw */
		generator->state->stream--;
	else if (state) {
		*(struct tn_generator **)state = generator;
		tn_generator_hold(generator);
	}
	return status;
}

static tn_status keep_draw(struct tn_draws *draws, const struct tn_scalar scalars[2],
			   struct tn_error_info *error)
{
	if (draws->n == draws->room) {
		size_t room = draws->room ? 2 * draws->room : 4;
		void *more = tn_mem_realloc(draws->scalars, room, sizeof(*draws->scalars));
		if (!more)
			return tn_no_memory(error, "random", NULL, "a draw");
		draws->scalars = more;
		draws->room = room;
	}
	memcpy(draws->scalars[draws->n++], scalars, sizeof(*draws->scalars));
	return TN_OK;
}

static tn_status draw(struct tn_generator *generator, struct tn_device *device,
		      struct tn_draws *draws, struct tn_scalar scalars[2])
{
	struct tn_runtime *runtime = generator->runtime;
	if (!draws)
		return draw_stream(generator, device, scalars);
	if (!draws->repeats) {
		tn_status status = draw(generator, device, draws->outer, scalars);
		return status ? status : keep_draw(draws, scalars, &runtime->report);
	}
	if (draws->next == draws->n)
		return tn_fail(
			&runtime->report, TN_STATE, "random",
			"%zu streams of random numbers were drawn in forward, and more when it "
			"was computed again",
			draws->n);
	memcpy(scalars, draws->scalars[draws->next++], sizeof(*draws->scalars));
	return TN_OK;
}

tn_status tn_stepped_draw(struct tn_generator *generator, struct tn_device *device,
			  struct tn_scalar scalars[2])
{
	return draw(generator, device, generator->runtime->draws, scalars);
}

tn_status tn_stepped_random(struct tn_runtime *runtime, struct tn_device *device,
			    struct tn_scalar scalars[2])
{
	return tn_stepped_draw(&runtime->generator, device, scalars);
}

int tn_draws_repeat(const struct tn_runtime *runtime)
{
	const struct tn_draws *draws = runtime->draws;
	while (draws && !draws->repeats)
		draws = draws->outer;
	return draws != NULL;
}

tn_status tn_stepped_end_draw(struct tn_generator *generator, struct tn_random_state before,
			      tn_status status)
{
	if (status && !generator->runtime->capture)
		*generator->state = before;
	return status;
}

tn_status tn_stepped_drawn(struct tn_runtime *runtime, struct tn_random_state before,
			   tn_status status)
{
	return tn_stepped_end_draw(&runtime->generator, before, status);
}

/* ---- Replaying -------------------------------------------------------------------------------*/

tn_status tn_stepped_next(struct tn_stepped *stepped, struct tn_runtime *runtime)
{
	uint64_t turn = stepped->n_replays % TN_STEPPED_ROUND;
	tn_status status = TN_OK;
	stepped->random = runtime->random;
	for (struct tn_stepped_entry *entry = stepped->first; entry; entry = entry->next)
		entry->is_counted = 0;
	if (!stepped->first)
		return TN_OK;
	if (stepped->n_replays && !turn)
		status = tn_device_sync(stepped->device, &runtime->report);
	if (status)
		return status;
	for (struct tn_stepped_entry *entry = stepped->first; entry; entry = entry->next) {
		struct tn_scalar scalars[MOST_SCALARS] = {{0}};
		for (uint32_t i = 0; i < entry->n; i++)
			scalars[i].dtype = entry->dtypes[i];
		status = entry->source->next(runtime, entry->state, scalars);
		if (status)
			return status;
		entry->is_counted = 1;
		for (uint32_t i = 0; i < entry->n; i++)
			bits_store(&entry->page->host[turn][entry->cell + i],
				   tn_dtype_size(scalars[i].dtype), scalars[i].bits);
	}
	stepped->n_replays++;
	for (struct tn_stepped_page *page = stepped->pages; page && !status; page = page->next)
		status = tn_device_upload_later(stepped->device, &page->block, 0, page->host[turn],
						page->used * sizeof(uint64_t), &runtime->report);
	return status;
}

void tn_stepped_take_back(struct tn_stepped *stepped, struct tn_runtime *runtime)
{
	runtime->random = stepped->random;
	for (struct tn_stepped_entry *entry = stepped->first; entry; entry = entry->next) {
		if (entry->is_counted && entry->source->take_back)
			entry->source->take_back(entry->state);
		entry->is_counted = 0;
	}
}

void tn_stepped_release(struct tn_stepped *stepped)
{
	while (stepped->first) {
		struct tn_stepped_entry *entry = stepped->first;
		stepped->first = entry->next;
		if (entry->source->release)
			entry->source->release(entry->state);
		tn_mem_free(entry->state);
		tn_mem_free(entry);
	}
	while (stepped->pages) {
		struct tn_stepped_page *page = stepped->pages;
		stepped->pages = page->next;
		tn_block_give(stepped->device, &page->block);
		tn_mem_free(page);
	}
}
