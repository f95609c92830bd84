/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The report owns every string in it, and every string is printable UTF-8: the names of plugins and
 * files cannot disturb a terminal or a JSON reader.
 */
#include "loader/report.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/quarantine.h"
#include "base/text.h"

static const char empty[] = "";

static const char *const found_names[] = {
	[TN_FOUND_NOWHERE] = "nowhere",
	[TN_FOUND_BUILT_IN] = "built-in",
	[TN_FOUND_API] = "api",
	[TN_FOUND_VARIABLE] = "variable",
	[TN_FOUND_INSTALLED] = "installed",
	[TN_FOUND_REGISTERED] = "registered",
};

static const char *const stage_names[] = {
	[TN_STAGE_SEARCH] = "search",       [TN_STAGE_INSPECT] = "inspect",
	[TN_STAGE_NEGOTIATE] = "negotiate", [TN_STAGE_OPEN] = "open",
	[TN_STAGE_DESCRIBE] = "describe",   [TN_STAGE_CREATE] = "create",
	[TN_STAGE_QUERY] = "query",         [TN_STAGE_DEVICES] = "devices",
	[TN_STAGE_READY] = "ready",
};

static const char *const option_type_names[] = {
	[0] = "unknown",
	[TN_OPTION_BOOL] = "bool",
	[TN_OPTION_INTEGER] = "integer",
	[TN_OPTION_NUMBER] = "number",
	[TN_OPTION_CHOICE] = "choice",
	[TN_OPTION_TEXT] = "text",
};

const char *tn_found_name(uint32_t found)
{
	return found < sizeof(found_names) / sizeof(found_names[0]) ? found_names[found]
								    : "unknown";
}

const char *tn_stage_name(uint32_t stage)
{
	return stage < sizeof(stage_names) / sizeof(stage_names[0]) ? stage_names[stage]
								    : "unknown";
}

const char *tn_option_type_name(uint32_t type)
{
	return type <= TN_OPTION_TEXT ? option_type_names[type] : "unknown";
}

struct tn_load_report *tn_report_create(const struct tn_plugin_kind *kind, const char *selection)
{
	struct tn_load_report *report = tn_mem_zeroed(1, sizeof(*report));
	if (!report)
		return NULL;
	report->kind = kind;
	report->selection = tn_mem_copy_string(selection);
	if (!report->selection) {
		tn_mem_free(report);
		return NULL;
	}
	tn_text_make_printable(report->selection);
	return report;
}

static void release(const char *string)
{
	if (string != empty)
		tn_mem_free((char *)string);
}

static void release_options(struct tn_load_row *row)
{
	for (uint32_t i = 0; i < row->n_options; i++) {
		const struct tn_load_option *option = row->options[i];
		release(option->name);
		release(option->variable);
		release(option->standard);
		release(option->value);
		release(option->origin);
		release(option->choices);
		release(option->help);
		tn_mem_free((void *)option);
	}
	tn_mem_free((void *)row->options);
	row->options = NULL;
	row->n_options = 0;
}

int tn_report_is_usable(const struct tn_load_report *report, const char *operation)
{
	return report && !tn_quarantine_check(report, operation, NULL);
}

void tn_load_report_destroy(tn_load_report *report)
{
	if (!tn_report_is_usable(report, "load_report_destroy"))
		return;
	for (size_t i = 0; i < report->n_rows; i++) {
		struct tn_load_row *row = report->rows[i];
		release(row->name);
		release(row->path);
		release(row->text);
		release(row->version);
		release(row->hardware);
		release(row->packages);
		tn_mem_free((void *)row->devices);
		release_options(row);
		tn_mem_free(row);
	}
	for (size_t i = 0; i < report->n_notices; i++)
		tn_mem_free(report->notices[i]);
	tn_mem_free(report->rows);
	tn_mem_free(report->notices);
	tn_mem_free(report->selection);
	tn_mem_free(report->text);
	tn_mem_free(report->json);
	tn_quarantine_end(report, "the report has been destroyed, or its context closed");
}

struct tn_load_row *tn_report_add(struct tn_load_report *report, const char *name)
{
	struct tn_load_row **rows =
		tn_mem_realloc(report->rows, report->n_rows + 1, sizeof(struct tn_load_row *));
	if (!rows)
		return NULL;
	report->rows = rows;
	struct tn_load_row *row = tn_mem_alloc(sizeof(*row));
	if (!row)
		return NULL;
	*row = (struct tn_load_row){
		.struct_size = sizeof(*row),
		.status = TN_NO_PLUGIN,
		.name = empty,
		.text = empty,
		.version = empty,
		.hardware = empty,
		.packages = empty,
	};
	if (!tn_report_set(&row->name, name)) {
		tn_mem_free(row);
		return NULL;
	}
	rows[report->n_rows++] = row;
	return row;
}

void tn_report_move(struct tn_load_row *row, struct tn_load_row *from)
{
	struct tn_load_row emptied = *row;
	uint32_t found = row->found;
	*row = *from;
	row->found = found;
	*from = emptied;
}

int tn_report_set(const char **field, const char *text)
{
	char *copy = tn_mem_copy_string(text);
	if (text && !copy)
		return 0;
	if (copy)
		tn_text_make_printable(copy);
	release(*field);
	*field = copy ? copy : empty;
	return 1;
}

static void copy_device(struct tn_device_description *copy,
			const struct tn_device_description *device)
{
	*copy = *device;
	tn_text_make_printable(copy->name);
	tn_text_make_printable(copy->note);
}

/* Fills a list of n pointers, behind which there is memory for what they point to. */
static void copy_devices(const struct tn_device_description **list,
			 const struct tn_device_description *devices, uint32_t n)
{
	struct tn_device_description *copy = (struct tn_device_description *)(list + n);
	for (uint32_t i = 0; i < n; i++) {
		copy_device(&copy[i], &devices[i]);
		list[i] = &copy[i];
	}
}

int tn_report_set_devices(struct tn_load_row *row, const struct tn_device_description *devices,
			  uint32_t n)
{
	const struct tn_device_description **list = NULL;
	if (n) {
		list = tn_mem_zeroed(n, sizeof(*list) + sizeof(*devices));
		if (!list)
			return 0;
		copy_devices(list, devices, n);
	}
	tn_mem_free((void *)row->devices);
	row->devices = list;
	row->n_devices = n;
	return 1;
}

void tn_report_set_device(struct tn_load_row *row, uint32_t index,
			  const struct tn_device_description *device)
{
	if (row->devices && index < row->n_devices)
		copy_device((struct tn_device_description *)row->devices[index], device);
}

struct tn_load_option *tn_report_add_option(struct tn_load_row *row)
{
	const struct tn_load_option **list =
		tn_mem_realloc((void *)row->options, row->n_options + 1, sizeof(*list));
	if (!list)
		return NULL;
	row->options = list;
	struct tn_load_option *option = tn_mem_alloc(sizeof(*option));
	if (!option)
		return NULL;
	*option = (struct tn_load_option){
		.struct_size = sizeof(*option),
		.name = empty,
		.variable = empty,
		.standard = empty,
		.value = empty,
		.origin = empty,
		.choices = empty,
		.help = empty,
		.least = -INFINITY,
		.most = INFINITY,
	};
	list[row->n_options++] = option;
	return option;
}

int tn_report_set_options(struct tn_load_row *row, const struct tn_option_value *values, size_t n)
{
	release_options(row);
	for (size_t i = 0; i < n; i++) {
		const struct tn_option_row *from = values[i].row;
		const int is_choice = from->type == TN_OPTION_CHOICE;
		struct tn_load_option *option = tn_report_add_option(row);
		if (!option || !tn_report_set(&option->name, from->name) ||
		    !tn_report_set(&option->variable, from->variable) ||
		    !tn_report_set(&option->standard, from->standard) ||
		    !tn_report_set(&option->value, values[i].value) ||
		    !tn_report_set(&option->origin, values[i].origin) ||
		    !tn_report_set(&option->choices, is_choice ? from->choices : NULL) ||
		    !tn_report_set(&option->help, from->help))
			return 0;
		option->type = from->type <= TN_OPTION_TEXT ? from->type : TN_OPTION_TEXT;
		if (from->type == TN_OPTION_INTEGER || from->type == TN_OPTION_NUMBER) {
			option->least = from->least;
			option->most = from->most;
		}
	}
	return 1;
}

int tn_report_add_notice(struct tn_load_report *report, const char *text)
{
	char **notices = tn_mem_realloc(report->notices, report->n_notices + 1, sizeof(char *));
	if (!notices)
		return 0;
	report->notices = notices;
	const char *copy = empty;
	if (!tn_report_set(&copy, text))
		return 0;
	notices[report->n_notices++] = (char *)copy;
	return 1;
}

size_t tn_load_report_count(const tn_load_report *report)
{
	return tn_report_is_usable(report, "load_report_count") ? report->n_rows : 0;
}

const struct tn_load_row *tn_load_report_at(const tn_load_report *report, size_t i)
{
	return i < tn_load_report_count(report) ? report->rows[i] : NULL;
}

/* Does row a represent the name better than row b? */
static int further(const struct tn_load_row *a, const struct tn_load_row *b)
{
	if ((!a->status) != (!b->status))
		return !a->status;
	if ((a->status == TN_DUPLICATE) != (b->status == TN_DUPLICATE))
		return b->status == TN_DUPLICATE;
	return a->stage > b->stage;
}

const struct tn_load_row *tn_load_report_find(const tn_load_report *report, const char *name)
{
	const struct tn_load_row *best = NULL;
	for (size_t i = 0; name && i < tn_load_report_count(report); i++) {
		const struct tn_load_row *row = report->rows[i];
		if (!strcmp(row->name, name) && (!best || further(row, best)))
			best = row;
	}
	return best;
}

int tn_load_report_fell_back(const tn_load_report *report)
{
	return tn_report_is_usable(report, "load_report_fell_back") ? report->fell_back : 0;
}

const char *tn_load_report_selection(const tn_load_report *report)
{
	return tn_report_is_usable(report, "load_report_selection") ? report->selection : "";
}

size_t tn_load_report_notice_count(const tn_load_report *report)
{
	return tn_report_is_usable(report, "load_report_notices") ? report->n_notices : 0;
}

const char *tn_load_report_notice(const tn_load_report *report, size_t i)
{
	return i < tn_load_report_notice_count(report) ? report->notices[i] : NULL;
}
