/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A profile as a table, as JSON, and as a trace.  Numbers are written from whole nanoseconds, so
 * that they have a point in any locale.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/handle.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/new_file.h"
#include "base/text.h"
#include "nn/profile.h"

enum { PLACES_OF_SECONDS = 9, PLACES_OF_MICROSECONDS = 3 };

/* Nanoseconds as a decimal number with that many places after the point. */
static const char *write_time(char *text, size_t size, double seconds, int places, int shown)
{
	int64_t unit = 1, rest = 1;
	for (int i = 0; i < places; i++)
		unit *= 10;
	for (int i = shown; i < places; i++)
		rest *= 10;
	int64_t n = llround(seconds * 1e9);
	int64_t positive = n < 0 ? -n : n;
	snprintf(text, size, "%s%" PRId64 ".%0*" PRId64, n < 0 ? "-" : "", positive / unit, shown,
		 positive % unit / rest);
	return text;
}

/* ---- Table -----------------------------------------------------------------------------------*/

enum { NAME, CALLS, FORWARD, BACKWARD, SHARE, MEMORY, N_COLUMNS };
enum { LINE = 80, CELL = 300, GAP = 2 };

static const char *const titles[N_COLUMNS] = {"module",      "calls", "forward ms",
					      "backward ms", "own %", "peak KiB"};
static const char *const clocks[] = {
	[TN_PROFILE_HOST] = "the host's clock",
	[TN_PROFILE_SYNC] = "the host's clock, waiting for the device",
	[TN_PROFILE_EVENTS] = "the device's events",
};

typedef char line_cells[N_COLUMNS][CELL];

static void write_name(char *cell, const struct tn_profile_row *row)
{
	const char *dot = strrchr(row->path, '.');
	if (row->kind == TN_PROFILE_MODULE && !row->depth)
		snprintf(cell, CELL, "%s", row->class_name);
	else if (row->kind == TN_PROFILE_MODULE)
		snprintf(cell, CELL, "%*s%s %s", 2 * row->depth, "", dot ? dot + 1 : row->path,
			 row->class_name);
	else
		snprintf(cell, CELL, "%s%s", row->path,
			 row->kind == TN_PROFILE_STEP      ? " (step)"
			 : row->kind == TN_PROFILE_SECTION ? " (section)"
							   : " (no module)");
	tn_text_make_printable(cell);
}

static void write_cells(const struct tn_profile_row *row, double total, line_cells cells)
{
	int is_module = row->kind == TN_PROFILE_MODULE;
	uint64_t bytes =
		row->forward_bytes > row->backward_bytes ? row->forward_bytes : row->backward_bytes;
	double forward = is_module                          ? row->forward_seconds
			 : row->kind == TN_PROFILE_BACKWARD ? 0
							    : row->own_seconds;
	double backward = is_module                          ? row->backward_seconds
			  : row->kind == TN_PROFILE_BACKWARD ? row->own_seconds
							     : 0;
	write_name(cells[NAME], row);
	snprintf(cells[CALLS], CELL, "%" PRIu64, row->calls);
	write_time(cells[FORWARD], CELL, forward, 6, 3);
	write_time(cells[BACKWARD], CELL, backward, 6, 3);
	/* Tenths of a percent as nanoseconds. */
	write_time(cells[SHARE], CELL, total > 0 ? row->own_seconds / total * 1e-6 : 0, 1, 1);
	snprintf(cells[MEMORY], CELL, "%" PRIu64, (bytes + 1023) / 1024);
}

static void add_line(struct tn_text *text, const int *widths, const char *const *cells)
{
	int n = (int)strlen(cells[NAME]);
	if (n > widths[NAME])
		tn_text_format(text, "%.*s..", widths[NAME] - 2, cells[NAME]);
	else
		tn_text_format(text, "%-*s", widths[NAME], cells[NAME]);
	for (int i = 1; i < N_COLUMNS; i++)
		tn_text_format(text, "%*s%*s", GAP, "", widths[i], cells[i]);
	tn_text_add(text, "\n");
}

static void set_widths(const tn_profile *profile, double total, int *widths)
{
	struct tn_profile_row row = {.struct_size = sizeof(row)};
	line_cells cells;
	int rest = (N_COLUMNS - 1) * GAP;
	for (int i = 0; i < N_COLUMNS; i++)
		widths[i] = (int)strlen(titles[i]);
	for (size_t k = 0; !tn_profile_at(profile, k, &row); k++) {
		write_cells(&row, total, cells);
		for (int i = 0; i < N_COLUMNS; i++) {
			int n = (int)strlen(cells[i]);
			widths[i] = n > widths[i] ? n : widths[i];
		}
	}
	for (int i = 1; i < N_COLUMNS; i++)
		rest += widths[i];
	if (widths[NAME] + rest > LINE)
		widths[NAME] = LINE - rest > 12 ? LINE - rest : 12;
}

char *tn_profile_table(const tn_profile *profile)
{
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	struct tn_profile_row row = {.struct_size = sizeof(row)};
	struct tn_text text;
	line_cells cells;
	char times[2][48];
	int widths[N_COLUMNS];
	if (profile && tn_handle_check(profile->runtime, "profile_table"))
		return NULL;
	if (tn_profile_get_facts(profile, &facts))
		return NULL;
	tn_text_init(&text);
	set_widths(profile, facts.total_seconds, widths);
	add_line(&text, widths, titles);
	for (size_t k = 0; !tn_profile_at(profile, k, &row); k++) {
		const char *line[N_COLUMNS];
		write_cells(&row, facts.total_seconds, cells);
		for (int i = 0; i < N_COLUMNS; i++)
			line[i] = cells[i];
		add_line(&text, widths, line);
	}
	tn_text_format(&text, "%s s in calls, of %s s; at most %" PRIu64 " KiB in use\n%s: by %s\n",
		       write_time(times[0], sizeof(times[0]), facts.total_seconds, 9, 3),
		       write_time(times[1], sizeof(times[1]), facts.wall_seconds, 9, 3),
		       (facts.peak_bytes + 1023) / 1024, facts.device, clocks[facts.clock]);
	return tn_text_take(&text);
}

/* ---- JSON ------------------------------------------------------------------------------------*/

static const char *const kind_names[] = {
	[TN_PROFILE_MODULE] = "module",
	[TN_PROFILE_BACKWARD] = "backward",
	[TN_PROFILE_STEP] = "step",
	[TN_PROFILE_SECTION] = "section",
};
static const char *const clock_names[] = {
	[TN_PROFILE_HOST] = "host", [TN_PROFILE_SYNC] = "sync", [TN_PROFILE_EVENTS] = "events"};

/* A time, as a number with that many places after the point. */
static void add_time(struct tn_json_writer *json, const char *key, double seconds, int places)
{
	char number[48];
	tn_json_add_raw(json, key, write_time(number, sizeof(number), seconds, places, places));
}

static void add_seconds(struct tn_json_writer *json, const char *key, double seconds)
{
	add_time(json, key, seconds, PLACES_OF_SECONDS);
}

/* A name that may come from outside. */
static void add_name(struct tn_json_writer *json, const char *key, const char *name)
{
	char *copy = tn_mem_copy_string(name);
	if (!copy) {
		json->text.failed = 1;
		return;
	}
	tn_text_make_printable(copy);
	tn_json_add_string(json, key, copy);
	tn_mem_free(copy);
}

static void add_row(struct tn_json_writer *json, const struct tn_profile_row *row)
{
	tn_json_begin_object(json, NULL);
	tn_json_add_string(json, "kind", kind_names[row->kind]);
	add_name(json, "path", row->path);
	if (row->class_name)
		add_name(json, "class_name", row->class_name);
	tn_json_add_integer(json, "depth", row->depth);
	tn_json_add_unsigned(json, "calls", row->calls);
	tn_json_add_unsigned(json, "backward_calls", row->backward_calls);
	add_seconds(json, "forward_seconds", row->forward_seconds);
	add_seconds(json, "backward_seconds", row->backward_seconds);
	add_seconds(json, "own_seconds", row->own_seconds);
	tn_json_add_unsigned(json, "forward_bytes", row->forward_bytes);
	tn_json_add_unsigned(json, "backward_bytes", row->backward_bytes);
	tn_json_end(json);
}

static void add_facts(struct tn_json_writer *json, const struct tn_profile_facts *facts)
{
	tn_json_add_string(json, "clock", clock_names[facts->clock]);
	add_name(json, "device", facts->device);
	add_seconds(json, "wall_seconds", facts->wall_seconds);
	add_seconds(json, "total_seconds", facts->total_seconds);
	tn_json_add_unsigned(json, "peak_bytes", facts->peak_bytes);
	tn_json_add_unsigned(json, "events", facts->events);
	tn_json_add_unsigned(json, "lost_events", facts->lost_events);
}

/* Ends the outermost object and its line. */
static char *take_line(struct tn_json_writer *json)
{
	tn_json_end(json);
	tn_text_add(&json->text, "\n");
	return tn_json_writer_take(json);
}

char *tn_profile_json(const tn_profile *profile)
{
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	struct tn_profile_row row = {.struct_size = sizeof(row)};
	struct tn_json_writer json;
	if (tn_profile_get_facts(profile, &facts))
		return NULL;
	tn_json_writer_init(&json, TN_JSON_SPACED);
	tn_json_begin_object(&json, NULL);
	add_facts(&json, &facts);
	tn_json_begin_lines(&json, "rows");
	for (size_t i = 0; !tn_profile_at(profile, i, &row); i++)
		add_row(&json, &row);
	tn_json_end(&json);
	return take_line(&json);
}

/* ---- Trace -----------------------------------------------------------------------------------*/

/* What every event of the Trace Event Format begins with. */
static void begin_event(struct tn_json_writer *json, const char *phase)
{
	tn_json_begin_object(json, NULL);
	tn_json_add_string(json, "ph", phase);
	tn_json_add_integer(json, "pid", 1);
	tn_json_add_integer(json, "tid", 1);
}

/* Names the process or the thread. */
static void add_metadata(struct tn_json_writer *json, const char *what, const char *name)
{
	begin_event(json, "M");
	tn_json_add_string(json, "name", what);
	tn_json_begin_object(json, "args");
	add_name(json, "name", name);
	tn_json_end(json);
	tn_json_end(json);
}

static void add_arguments(struct tn_json_writer *json, const char *class_name,
			  const char *operation)
{
	if (!class_name && !operation)
		return;
	tn_json_begin_object(json, "args");
	if (class_name)
		add_name(json, "class", class_name);
	if (operation)
		add_name(json, "operation", operation);
	tn_json_end(json);
}

/* A complete event: events nest by their times. */
static void add_event(struct tn_json_writer *json, const tn_profile *profile,
		      const struct tn_profile_event *event)
{
	static const char *const categories[] = {
		[TN_WATCH_FORWARD] = "forward",   [TN_WATCH_NODE] = "backward",
		[TN_WATCH_BACKWARD] = "backward", [TN_WATCH_STEP] = "step",
		[TN_WATCH_SECTION] = "section",
	};
	const struct tn_profile_entry *row = &profile->rows[event->row];
	int is_again = event->kind == TN_WATCH_FORWARD && event->is_in_backward;
	const char *name = event->kind == TN_WATCH_NODE && row->kind == TN_PROFILE_BACKWARD
				   ? event->name
			   : *row->name ? row->name
					: row->class_name;
	begin_event(json, "X");
	add_name(json, "name", name);
	tn_json_add_string(json, "cat", is_again ? "recompute" : categories[event->kind]);
	add_time(json, "ts", event->start, PLACES_OF_MICROSECONDS);
	add_time(json, "dur", event->seconds > 0 ? event->seconds : 0, PLACES_OF_MICROSECONDS);
	add_arguments(json, row->class_name, event->name);
	tn_json_end(json);
}

char *tn_profile_trace(const tn_profile *profile)
{
	struct tn_profile_facts facts = {.struct_size = sizeof(facts)};
	struct tn_json_writer json;
	if (tn_profile_get_facts(profile, &facts))
		return NULL;
	tn_json_writer_init(&json, TN_JSON_SPACED);
	tn_json_begin_object(&json, NULL);
	tn_json_add_string(&json, "displayTimeUnit", "ms");
	tn_json_begin_object(&json, "otherData");
	add_facts(&json, &facts);
	tn_json_end(&json);
	tn_json_begin_lines(&json, "traceEvents");
	add_metadata(&json, "process_name", "tenon");
	add_metadata(&json, "thread_name", facts.device);
	for (size_t i = 0; i < profile->n_events; i++)
		add_event(&json, profile, &profile->events[i]);
	tn_json_end(&json);
	return take_line(&json);
}

tn_status tn_profile_save_trace(const tn_profile *profile, const char *path)
{
	struct tn_error_info error;
	struct tn_runtime *rt = profile ? profile->runtime : NULL;
	if (!profile || !path)
		return tn_runtime_null(rt, "profile_save_trace", "path");
	if (profile->module)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	char *trace = tn_profile_trace(profile);
	if (!trace)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "profile_save_trace",
				       "no host memory for the text of %zu calls",
				       profile->n_events);
	status = tn_new_file_save(path, trace, strlen(trace), "profile_save_trace", &error);
	tn_string_free(trace);
	return status ? tn_runtime_keep(rt, &error) : TN_OK;
}
