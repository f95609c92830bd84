/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The report as one JSON object; its fields are in tenon-conform(1).
 */
#include <jansson.h>

#include "frame.h"

#ifndef PACKAGE_VERSION
#include "config.h"
#endif

static json_t *routes_json(const unsigned *by)
{
	json_t *object = json_object();
	for (int route = 0; route < ROUTES; route++)
		json_object_set_new(object, route_names[route], json_integer(by[route]));
	return object;
}

static json_t *failures_json(const struct result *result)
{
	json_t *list = json_array();
	for (size_t i = 0; i < result->n_failures; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "case", result->failures[i].where,
						"why", result->failures[i].why));
	return list;
}

static json_t *remarks_json(const struct result *result)
{
	json_t *list = json_array();
	for (size_t i = 0; i < result->n_remarks; i++)
		json_array_append_new(list, json_string(result->remarks[i]));
	return list;
}

static json_t *operations_json(const struct coverage *rows, size_t n)
{
	json_t *object = json_object();
	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, rows[i].operation, routes_json(rows[i].by));
	return object;
}

/* "FAILED" on the terminal, "failed" here. */
static const char *state_word(enum state state)
{
	return state == FAILED ? "failed" : state_names[state];
}

static json_t *check_json(const struct result *result)
{
	struct coverage rows[KIT_TALLIES + KIT_OPERATIONS];
	size_t n = result_coverage(result, rows, 0, sizeof(rows) / sizeof(rows[0]));
	return json_pack(
		"{s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:s*, s:s*, s:s*}",
		"id", result->check->id, "level", (int)result->check->level, "promise",
		result->check->promise, "state", state_word(result->state), "cases",
		(json_int_t)result_cases(result), "failed", (json_int_t)result_failures(result),
		"unsupported", (json_int_t)result_unsupported(result), "not_tried",
		(json_int_t)result->not_tried, "seconds", result->seconds, "failures",
		failures_json(result), "remarks", remarks_json(result), "operations",
		operations_json(rows, n), "reason",
		result->exclusion ? result->exclusion->reason : result->reason, "excluded_since",
		result->exclusion ? result->exclusion->date : NULL, "printed", result->printed);
}

static json_t *level_json(const struct run *run, int level)
{
	struct level_summary s;
	level_summarise(run, level, &s);
	return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "level", level,
			 "state", state_word(s.state), "checks", (json_int_t)s.checks, "failed",
			 (json_int_t)s.failed, "skipped", (json_int_t)s.skipped, "excluded",
			 (json_int_t)s.excluded, "cases", (json_int_t)s.cases, "not_tried",
			 (json_int_t)s.not_tried, "seconds", s.seconds, "coverage",
			 routes_json(s.by));
}

static json_t *level_or_null(int level)
{
	return level == NO_LEVEL ? json_null() : json_integer(level);
}

static json_t *backend_json(const struct run *run)
{
	char *file = text_copy(run->options->which);
	json_t *backend = json_pack("{s:s, s:s*, s:s*, s:I, s:s*}", "file", file, "name",
				    run->backend[0] ? run->backend : NULL, "version",
				    run->backend[0] ? run->version : NULL, "device",
				    (json_int_t)run->options->device, "device_name",
				    run->backend[0] ? run->device_name : NULL);
	free(file);
	return backend;
}

int report_json(const struct run *run)
{
	int done;
	json_t *levels = json_array(), *checks = json_array(), *whole;
	for (int level = run->options->first_level; level <= run->options->last_level; level++)
		json_array_append_new(levels, level_json(run, level));
	for (size_t i = 0; i < run->n_results; i++)
		json_array_append_new(checks, check_json(&run->results[i]));
	whole = json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f, s:i, s:o, s:o}",
		"tenon_conform", PACKAGE_VERSION, "mode", "test", "backend", backend_json(run),
		"seed", json_integer((json_int_t)run->options->seed), "reached",
		level_or_null(level_reached(run)), "required", level_or_null(run->options->require),
		"executed", (json_int_t)run_executed(run), "failed", (json_int_t)run_failures(run),
		"not_tried", (json_int_t)run_not_tried(run), "timeout",
		(json_int_t)run->options->timeout_s, "effort", (json_int_t)run->options->effort,
		"seconds", run->seconds, "exit_status", run_exit_status(run), "levels", levels,
		"checks", checks);
	done = whole && !json_dumpf(whole, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	if (!done)
		fputs("tenon-conform: the report could not be created\n", stderr);
	putchar('\n');
	json_decref(whole);
	return done;
}
