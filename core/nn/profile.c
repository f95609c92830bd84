/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Profiles: a watch (array/watch.h) that takes the time of each span.  Beginnings and ends are
 * processed in order, with a stack of the spans that are open: a span's own time is its duration
 * without that of the spans in it.  It goes to the row of the module that ran, or whose forward
 * recorded the node, as forward or, inside a backward pass, as backward.  The time of a module with
 * its members is the sum over its part of the tree.
 *
 * With the device's events the times are known later: marks wait in a list until it is full.
 */
#include "nn/profile.h"

#include <stdio.h>
#include <string.h>

#include "array/handle.h"
#include "base/memory.h"
#include "device/queue.h"
#include "device/transfer.h"
#include "dispatch/route.h"
#include "nn/summary.h"
#include "nn/tree.h"

static void note_failure(tn_profile *profile, tn_status status)
{
	if (!profile->status)
		profile->status = status;
}

/* Room for one more of *n elements; NULL: out of memory, and noted. */
static void *grow(tn_profile *profile, void *elements, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return elements;
	size_t more = *room ? 2 * *room : 64;
	void *larger = tn_mem_realloc(elements, more, size);
	if (larger)
		*room = more;
	else
		note_failure(profile, TN_OUT_OF_MEMORY);
	return larger;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

/* Adds a row; its number, or that of backward when memory runs out. */
static uint32_t add_row(tn_profile *profile, uint32_t kind, const char *name,
			const char *class_name)
{
	size_t room = profile->room;
	struct tn_profile_entry *rows =
		grow(profile, profile->rows, profile->n_rows, &room, sizeof(*rows));
	char *name_copy = rows ? tn_mem_copy_string(name) : NULL;
	char *class_copy = name_copy ? tn_mem_copy_string(class_name) : NULL;
	if (rows) {
		profile->rows = rows;
		profile->room = (uint32_t)room;
	}
	if (!name_copy || (class_name && !class_copy)) {
		tn_mem_free(name_copy);
		note_failure(profile, TN_OUT_OF_MEMORY);
		return profile->n_modules;
	}
	rows[profile->n_rows] = (struct tn_profile_entry){.kind = kind,
							  .depth = tn_path_depth(name),
							  .name = name_copy,
							  .class_name = class_copy};
	return profile->n_rows++;
}

/* The row of an optimizer or a section. */
static uint32_t row_named(tn_profile *profile, uint32_t kind, const char *name)
{
	for (uint32_t i = profile->n_modules + 1; i < profile->n_rows; i++) {
		if (profile->rows[i].kind == kind && !strcmp(profile->rows[i].name, name))
			return i;
	}
	return add_row(profile, kind, name, NULL);
}

static uint32_t row_of(tn_profile *profile, const struct tn_watch_frame *frame)
{
	switch (frame->kind) {
	case TN_WATCH_STEP:
		return row_named(profile, TN_PROFILE_STEP, frame->name);
	case TN_WATCH_SECTION:
		return row_named(profile, TN_PROFILE_SECTION, frame->name);
	case TN_WATCH_FORWARD:
	case TN_WATCH_NODE:
		return frame->row ? frame->row - 1 : profile->n_modules;
	default:
		return profile->n_modules;
	}
}

/* The profile's own copy of an operation's name, which may end with the tape. */
static const char *own_name(tn_profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->n_names; i++) {
		if (!strcmp(profile->names[i], name))
			return profile->names[i];
	}
	char **names = tn_mem_realloc(profile->names, profile->n_names + 1, sizeof(*names));
	if (names)
		profile->names = names;
	char *copy = names ? tn_mem_copy_string(name) : NULL;
	if (!copy) {
		note_failure(profile, TN_OUT_OF_MEMORY);
		return "";
	}
	return names[profile->n_names++] = copy;
}

/* ---- Spans in order --------------------------------------------------------------------------*/

static void keep_event(tn_profile *profile, const struct tn_profile_open *span, double seconds)
{
	if (profile->n_events >= profile->most_events) {
		profile->n_lost++;
		return;
	}
	struct tn_profile_event *events = grow(profile, profile->events, profile->n_events,
					       &profile->event_room, sizeof(*events));
	if (!events)
		return;
	profile->events = events;
	events[profile->n_events++] =
		(struct tn_profile_event){.row = span->mark.row,
					  .kind = (uint8_t)span->mark.kind,
					  .is_in_backward = (uint8_t)span->is_in_backward,
					  .name = span->mark.name,
					  .start = span->start,
					  .seconds = seconds};
}

static void count_call(struct tn_profile_entry *row, const struct tn_profile_open *span)
{
	if (span->mark.kind == TN_WATCH_NODE)
		row->backward_calls++;
	else if (span->mark.kind != TN_WATCH_FORWARD || !span->is_in_backward)
		row->calls++;
}

/* A span begins or ends, `seconds` after the profile began. */
static void process(tn_profile *profile, const struct tn_profile_mark *mark, double seconds)
{
	struct tn_profile_open *open = profile->open;
	if (mark->begins) {
		open = grow(profile, open, profile->n_open, &profile->open_room, sizeof(*open));
		if (!open)
			return;
		profile->open = open;
		const struct tn_profile_open *outer =
			profile->n_open ? &open[profile->n_open - 1] : NULL;
		open[profile->n_open++] = (struct tn_profile_open){
			.mark = *mark,
			.start = seconds,
			.is_in_backward = mark->kind == TN_WATCH_BACKWARD ||
					  (outer && outer->is_in_backward)};
		return;
	}
	if (!profile->n_open) /* its beginning was lost */
		return;
	const struct tn_profile_open *span = &open[--profile->n_open];
	double duration = seconds - span->start, own = duration - span->inner;
	struct tn_profile_entry *row = &profile->rows[span->mark.row];
	*(span->is_in_backward ? &row->backward : &row->forward) += own;
	count_call(row, span);
	if (profile->n_open)
		open[profile->n_open - 1].inner += duration;
	else
		profile->total += duration;
	keep_event(profile, span, duration);
}

/* ---- Clocks ----------------------------------------------------------------------------------*/

/* Processes the marks whose time is measured by events. */
static void collect(tn_profile *profile)
{
	struct tn_error_info error;
	size_t n = profile->n_marks;
	tn_status status = TN_OK;
	double seconds = 0;
	profile->n_marks = 0;
	for (size_t i = 0; i < n && !status && !profile->status; i++) {
		status = tn_device_sync_event(profile->device_events[i], &error);
		if (!status)
			status = tn_device_elapsed(profile->anchor, profile->device_events[i],
						   &seconds, &error);
		if (!status)
			process(profile, &profile->marks[i], profile->anchor_seconds + seconds);
	}
	if (status)
		note_failure(profile, status);
	if (!n || profile->status)
		return;
	struct tn_event *last = profile->device_events[n - 1];
	profile->device_events[n - 1] = profile->anchor;
	profile->anchor = last;
	profile->anchor_seconds += seconds;
}

static void record_event(tn_profile *profile, const struct tn_profile_mark *mark)
{
	struct tn_device *device = profile->watch.device;
	struct tn_event **event = &profile->device_events[profile->n_marks];
	struct tn_error_info error;
	tn_status status = *event ? TN_OK : tn_device_add_event(device, event, &error);
	if (!status)
		status = tn_device_record_event(*event, &error);
	if (status) {
		note_failure(profile, status);
		return;
	}
	profile->marks[profile->n_marks++] = *mark;
	if (profile->n_marks == TN_PROFILE_MARKS)
		collect(profile);
}

static void note_mark(tn_profile *profile, const struct tn_profile_mark *mark)
{
	struct tn_error_info error;
	if (profile->status)
		return;
	if (profile->clock == TN_PROFILE_EVENTS) {
		record_event(profile, mark);
		return;
	}
	tn_status status = profile->clock == TN_PROFILE_SYNC
				   ? tn_device_sync(profile->watch.device, &error)
				   : TN_OK;
	if (status)
		note_failure(profile, status);
	else
		process(profile, mark, tn_route_clock() - profile->began);
}

/* ---- The watch -------------------------------------------------------------------------------*/

/* Work that is captured does not run. */
static void begun(struct tn_watch *watch, struct tn_watch_frame *frame)
{
	tn_profile *profile = (tn_profile *)watch;
	frame->is_skipped = profile->runtime->capture != NULL;
	if (frame->is_skipped)
		return;
	profile->n_backward += frame->kind == TN_WATCH_BACKWARD;
	note_mark(profile,
		  &(struct tn_profile_mark){.begins = 1,
					    .kind = frame->kind,
					    .row = row_of(profile, frame),
					    .name = frame->kind == TN_WATCH_NODE
							    ? own_name(profile, frame->name)
							    : NULL});
}

static void ended(struct tn_watch *watch, const struct tn_watch_frame *frame,
		  const tn_array *result)
{
	tn_profile *profile = (tn_profile *)watch;
	(void)result;
	if (frame->is_skipped)
		return;
	struct tn_profile_entry *row = &profile->rows[row_of(profile, frame)];
	uint64_t *most = profile->n_backward ? &row->backward_bytes : &row->forward_bytes;
	uint64_t bytes = frame->high - frame->base;
	if (*most < bytes)
		*most = bytes;
	if (profile->peak < frame->high)
		profile->peak = frame->high;
	profile->n_backward -= frame->kind == TN_WATCH_BACKWARD;
	note_mark(profile, &(struct tn_profile_mark){.begins = 0});
}

static const struct tn_watch_functions functions = {.begun = begun, .ended = ended};

/* ---- Begin -----------------------------------------------------------------------------------*/

static tn_status check(const tn_module *module)
{
	struct tn_runtime *rt = module->runtime;
	const char *why = NULL;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (module->parent)
		why = "the module is a member of another module: profile that one";
	else if (!tn_module_is_built(module))
		why = "the module has not been built";
	else if (module->frozen)
		why = "the network is frozen: unfreeze it";
	else if (rt->watch)
		why = "the context already has a profile, or a summary is being made";
	else if (rt->tape || rt->capture)
		why = rt->tape ? "a tape has begun: begin the profile before it"
			       : "work is being captured";
	return why ? tn_runtime_fail(rt, TN_STATE, "profile_begin", "%s", why) : TN_OK;
}

static tn_status start_clock(tn_profile *profile, struct tn_error_info *error)
{
	struct tn_device *device = profile->watch.device;
	tn_status status = TN_OK;
	profile->clock = device->synchronous            ? TN_PROFILE_HOST
			 : tn_device_has_queues(device) ? TN_PROFILE_EVENTS
							: TN_PROFILE_SYNC;
	if (!device->synchronous)
		status = tn_device_sync_all(device, error);
	if (!status && profile->clock == TN_PROFILE_EVENTS)
		status = tn_device_add_event(device, &profile->anchor, error);
	if (!status && profile->anchor)
		status = tn_device_record_event(profile->anchor, error);
	profile->began = tn_route_clock();
	return status;
}

static tn_status make_rows(tn_profile *profile, const tn_module *module)
{
	for (size_t i = 0; i < module->n_module_listing; i++) {
		const struct tn_named_module *named = &module->module_listing[i];
		add_row(profile, TN_PROFILE_MODULE, named->path, named->module->class_name);
		if (profile->status)
			return profile->status;
		profile->n_modules++;
	}
	add_row(profile, TN_PROFILE_BACKWARD, "backward", NULL);
	return profile->status;
}

tn_profile *tn_profile_begin(tn_module *module, const struct tn_profile_options *options)
{
	struct tn_profile_options o = tn_profile_defaults();
	struct tn_error_info error;
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_profile_options", "profile_begin"))
		return NULL;
	struct tn_runtime *rt = module->runtime;
	if (check(module) || tn_module_list(module))
		return NULL;
	struct tn_device *device = tn_array_home(module->arena.values);
	tn_profile *profile = tn_mem_zeroed(1, sizeof(*profile));
	struct tn_profile_mark *marks =
		profile ? tn_mem_zeroed(TN_PROFILE_MARKS, sizeof(*marks)) : NULL;
	if (!marks) {
		tn_mem_free(profile);
		tn_runtime_no_memory(rt, "profile_begin", "a profile");
		return NULL;
	}
	profile->runtime = rt;
	profile->marks = marks;
	profile->watch = (struct tn_watch){.functions = &functions, .device = device};
	profile->most_events = o.max_events;
	snprintf(profile->device, sizeof(profile->device), "%s", device->name);
	if (make_rows(profile, module)) {
		tn_profile_destroy(profile);
		tn_runtime_no_memory(rt, "profile_begin", "the rows of a profile");
		return NULL;
	}
	if (start_clock(profile, &error)) {
		tn_profile_destroy(profile);
		tn_runtime_keep(rt, &error);
		return NULL;
	}
	profile->module = module;
	tn_watch_modules(module, &profile->watch);
	return profile;
}

/* ---- Sections --------------------------------------------------------------------------------*/

tn_status tn_profile_section_begin(tn_profile *profile, const char *name)
{
	if (profile && tn_handle_check(profile->runtime, "profile_section_begin"))
		return TN_STATE;
	if (!profile || !profile->module)
		return TN_OK;
	if (!name)
		return tn_runtime_null(profile->runtime, "profile_section_begin", "name");
	if (!*name)
		return TN_INVALID_ARGUMENT;
	/* The frame refers to the row's name until the section ends. */
	uint32_t row = row_named(profile, TN_PROFILE_SECTION, name);
	tn_watch_begin(&profile->watch, TN_WATCH_SECTION, 0, profile->rows[row].name);
	return profile->status;
}

tn_status tn_profile_section_end(tn_profile *profile)
{
	if (profile && tn_handle_check(profile->runtime, "profile_section_end"))
		return TN_STATE;
	if (!profile || !profile->module)
		return TN_OK;
	const struct tn_watch *watch = &profile->watch;
	if (!watch->n_lost &&
	    (!watch->n_frames || watch->frames[watch->n_frames - 1].kind != TN_WATCH_SECTION))
		return TN_STATE;
	tn_watch_end(&profile->watch, NULL);
	return profile->status;
}

/* ---- End -------------------------------------------------------------------------------------*/

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The rows of modules with their members. */
static void add_members(tn_profile *profile)
{
	for (uint32_t i = profile->n_rows; i-- > 0;) {
		struct tn_profile_entry *row = &profile->rows[i];
		row->all_forward = row->forward;
		row->all_backward = row->backward;
		for (uint32_t k = i + 1; k < profile->n_modules && i < profile->n_modules &&
					 profile->rows[k].depth > row->depth;
		     k++) {
			const struct tn_profile_entry *member = &profile->rows[k];
			if (member->depth != row->depth + 1)
				continue;
			row->all_forward += member->all_forward;
			row->all_backward += member->all_backward;
			row->backward_bytes = larger(row->backward_bytes, member->backward_bytes);
		}
	}
}

static void release_events(tn_profile *profile)
{
	for (size_t i = 0; i < TN_PROFILE_MARKS; i++) {
		if (profile->device_events[i])
			tn_device_remove_event(profile->device_events[i]);
		profile->device_events[i] = NULL;
	}
	if (profile->anchor)
		tn_device_remove_event(profile->anchor);
	profile->anchor = NULL;
}

static void end(tn_profile *profile)
{
	struct tn_error_info error;
	if (profile->clock != TN_PROFILE_HOST && !profile->status) {
		tn_status status = tn_device_sync_all(profile->watch.device, &error);
		if (status)
			note_failure(profile, status);
	}
	collect(profile);
	profile->wall = tn_route_clock() - profile->began;
	if (profile->watch.failed)
		note_failure(profile, profile->watch.failed);
	tn_watch_modules(profile->module, NULL);
	profile->module = NULL;
	release_events(profile);
	add_members(profile);
}

tn_status tn_profile_end(tn_profile *profile)
{
	if (!profile)
		return TN_INVALID_ARGUMENT;
	if (tn_handle_check(profile->runtime, "profile_end"))
		return TN_STATE;
	const struct tn_watch *watch = &profile->watch;
	if (profile->module && (watch->n_frames || watch->n_lost)) {
		const struct tn_watch_frame *frame =
			watch->n_frames ? &watch->frames[watch->n_frames - 1] : NULL;
		return tn_runtime_fail(
			profile->runtime, TN_STATE, "profile_end", "%s%s has begun and not ended",
			frame && frame->kind == TN_WATCH_SECTION ? "section " : "a call",
			frame && frame->kind == TN_WATCH_SECTION ? frame->name : "");
	}
	if (profile->module)
		end(profile);
	return profile->status;
}

void tn_profile_destroy(tn_profile *profile)
{
	if (!profile || tn_handle_has_ended(profile->runtime, profile, "profile_destroy"))
		return;
	if (profile->module)
		end(profile);
	release_events(profile);
	for (uint32_t i = 0; i < profile->n_rows; i++) {
		tn_mem_free(profile->rows[i].name);
		tn_mem_free(profile->rows[i].class_name);
	}
	for (size_t i = 0; i < profile->n_names; i++)
		tn_mem_free(profile->names[i]);
	tn_watch_release(&profile->watch);
	tn_mem_free(profile->rows);
	profile->n_rows = 0;
	tn_mem_free(profile->names);
	tn_mem_free(profile->open);
	tn_mem_free(profile->events);
	tn_mem_free(profile->marks);
	tn_handle_end(&profile->runtime, profile, "the profile");
}

/* ---- Asking ----------------------------------------------------------------------------------*/

size_t tn_profile_count(const tn_profile *profile)
{
	return profile && !tn_handle_check(profile->runtime, "profile_count") && !profile->module
		       ? profile->n_rows
		       : 0;
}

tn_status tn_profile_at(const tn_profile *profile, size_t index, struct tn_profile_row *row)
{
	if (profile && tn_handle_check(profile->runtime, "profile_at"))
		return TN_STATE;
	if (index >= tn_profile_count(profile))
		return TN_INVALID_ARGUMENT;
	const struct tn_profile_entry *entry = &profile->rows[index];
	int is_module = entry->kind == TN_PROFILE_MODULE;
	const struct tn_profile_row own = {
		.struct_size = sizeof(own),
		.kind = entry->kind,
		.path = entry->name,
		.class_name = entry->class_name,
		.depth = is_module ? entry->depth : 0,
		.calls = entry->calls,
		.backward_calls = entry->backward_calls,
		.forward_seconds = is_module ? entry->all_forward : 0,
		.backward_seconds = is_module ? entry->all_backward : 0,
		.own_seconds = entry->forward + entry->backward,
		.forward_bytes = entry->forward_bytes,
		.backward_bytes = entry->backward_bytes,
	};
	return tn_runtime_answer(profile->runtime, row, &own, sizeof(own), "struct tn_profile_row",
				 "profile_at");
}

tn_status tn_profile_get_facts(const tn_profile *profile, struct tn_profile_facts *facts)
{
	if (!profile || tn_handle_check(profile->runtime, "profile_get_facts") || profile->module)
		return TN_INVALID_ARGUMENT;
	const struct tn_profile_facts own = {.struct_size = sizeof(own),
					     .clock = profile->clock,
					     .device = profile->device,
					     .wall_seconds = profile->wall,
					     .total_seconds = profile->total,
					     .peak_bytes = profile->peak,
					     .events = profile->n_events,
					     .lost_events = profile->n_lost};
	return tn_runtime_answer(profile->runtime, facts, &own, sizeof(own),
				 "struct tn_profile_facts", "profile_get_facts");
}
