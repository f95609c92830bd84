/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adds rows to a load report: candidates, data files of absent plugins, and names that only the
 * user wrote, with the reason of each absence.
 */
#include "loader/report_rows.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tenon/status.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/place.h"
#include "base/text.h"
#include "loader/allowed.h"
#include "loader/report.h"

tn_status tn_report_rows_read_simulation(struct tn_loading *loading, struct tn_error_info *error)
{
	const char *simulate = tn_parameter_read(
		loading->options->parameters, "TENON_SIMULATE",
		"NAME:FAULT,...: simulate that a backend or communicator is absent for that reason "
		"(no-driver, no-device, driver-too-old, missing-library, no-plugin, bad-plugin, "
		"abi-mismatch, probe-failed, refused)");
	return tn_simulation_parse(loading->options->paths_only ? NULL : simulate,
				   &loading->simulation, error);
}

tn_status tn_report_rows_add_candidates(struct tn_loading *loading)
{
	tn_status status = tn_search(loading->options, loading->kind, &loading->candidates);
	for (size_t i = 0; !status && i < loading->candidates.n; i++) {
		struct tn_candidate *candidate = &loading->candidates.list[i];
		struct tn_load_row *row = tn_report_add(loading->report, candidate->name);
		if (!row || (candidate->path && !tn_report_set(&row->path, candidate->path)))
			return TN_OUT_OF_MEMORY;
		row->found = candidate->found;
		candidate->row = row;
	}
	return status;
}

/* Writes the reason into a row without a file.  `known`: the backend's data file, or NULL; `like`:
 * a name that may have been meant, or NULL. */
static tn_status explain_absent(struct tn_loading *loading, struct tn_load_row *row,
				const struct tn_known *known, const char *like)
{
	tn_status fault = tn_simulation_of(&loading->simulation, row->name);
	struct tn_error_info excluded;
	struct tn_text text;
	tn_text_init(&text);
	row->status = fault ? fault : TN_NO_PLUGIN;
	if (fault)
		tn_text_add(&text, "pretended by TENON_SIMULATE");
	else if (tn_plugin_allowed(loading, row->name, &excluded))
		row->status = excluded.status;
	if (row->status == TN_EXCLUDED)
		tn_text_add(&text, excluded.text);
	else if (!fault)
		tn_text_format(&text, "no file %s_%s.so was found", loading->kind->name, row->name);
	if (known && row->status == TN_NO_PLUGIN) {
		if (known->source[0])
			tn_text_format(&text, "; it is built from %s", known->source);
		if (known->packages[0])
			tn_text_format(&text, known->source[0] ? ", and needs %s" : "; install %s",
				       known->packages);
	}
	if (like)
		tn_text_format(&text, "; did you mean '%s'?", like);
	/* For an unknown name: those that are available, "cpu, reference". */
	int unknown =
		tn_selection_names(&loading->selection, row->name) && !like && !fault && !known;
	const char *separator = "; available: ";
	for (size_t i = 0; unknown && i < loading->report->n_rows; i++) {
		if (loading->report->rows[i]->status)
			continue;
		tn_text_format(&text, "%s%s", separator, loading->report->rows[i]->name);
		separator = ", ";
	}
	int done = !text.failed && tn_report_set(&row->text, text.data);
	tn_text_release(&text);
	return done ? TN_OK : TN_OUT_OF_MEMORY;
}

tn_status tn_report_rows_add_known(struct tn_loading *loading, const struct tn_known_list *known)
{
	tn_status status = TN_OK;
	for (size_t i = 0; !status && i < known->n; i++) {
		const struct tn_known *entry = &known->list[i];
		int absent = !tn_load_report_find(loading->report, entry->name);
		if (absent && !tn_report_add(loading->report, entry->name))
			return TN_OUT_OF_MEMORY;
		for (size_t j = 0; j < loading->report->n_rows; j++) {
			struct tn_load_row *row = loading->report->rows[j];
			if (strcmp(row->name, entry->name))
				continue;
			row->hardware_seen = (uint32_t)entry->seen;
			if (!tn_report_set(&row->hardware, entry->hardware) ||
			    !tn_report_set(&row->packages, entry->packages))
				return TN_OUT_OF_MEMORY;
			if (absent)
				status = explain_absent(loading, row, entry, NULL);
		}
	}
	return status;
}

tn_status tn_report_rows_add_asked(struct tn_loading *loading, const char *name, int guess)
{
	const struct tn_load_report *report = loading->report;
	if (tn_load_report_find(report, name))
		return TN_OK;
	size_t n = 0;
	const char **names = guess ? tn_mem_zeroed(report->n_rows + 2, sizeof(*names)) : NULL;
	for (; names && n < report->n_rows; n++)
		names[n] = report->rows[n]->name;
	for (size_t i = 0; names && tn_selection_kinds[i]; i++)
		names[n++] = tn_selection_kinds[i];
	const char *like = names ? tn_name_nearest(name, names, n) : NULL;
	tn_mem_free(names);
	struct tn_load_row *row = tn_report_add(loading->report, name);
	return row ? explain_absent(loading, row, NULL, like) : TN_OUT_OF_MEMORY;
}

/* A misspelt exclusion would exclude nothing.  One that is like no name is for another machine. */
static void check_exclusion(const struct tn_loading *loading, const char *excluded,
			    const char *const *names, size_t n)
{
	const char *like = tn_name_nearest(excluded, names, n);
	if (like && !strcmp(like, excluded))
		return;
	tn_log_format(loading->options->logger, like ? TN_LOG_WARNING : TN_LOG_INFO, "loader",
		      "%s: '^%s' excludes nothing%s%s%s", loading->source, excluded,
		      like ? "; did you mean '^" : "", like ? like : "", like ? "'?" : "");
}

tn_status tn_report_rows_check_exclusions(const struct tn_loading *loading,
					  const struct tn_known_list *known)
{
	const struct tn_load_report *report = loading->report;
	size_t n = 0;
	const char **names = tn_mem_zeroed(report->n_rows + known->n + 1, sizeof(*names));
	if (!names)
		return TN_OUT_OF_MEMORY;
	for (; n < report->n_rows; n++)
		names[n] = report->rows[n]->name;
	for (size_t i = 0; i < known->n; i++)
		names[n++] = known->list[i].name;
	for (size_t i = 0; i < loading->selection.n_excluded; i++)
		check_exclusion(loading, loading->selection.excluded[i], names, n);
	tn_mem_free(names);
	return TN_OK;
}

/* Writes the folder of a kind's data files. */
static void add_data_folder(struct tn_text *text, struct tn_parameters *parameters,
			    const struct tn_plugin_kind *kind)
{
	tn_place_add_data(text, parameters);
	tn_text_format(text, "/%ss.d", kind->name);
}

tn_status tn_report_rows_has_data_file(const struct tn_loading *loading,
				       const struct tn_plugin_kind *kind, const char *name,
				       int *has)
{
	struct tn_text path;
	tn_text_init(&path);
	add_data_folder(&path, loading->options->parameters, kind);
	tn_text_format(&path, "/%s.%s", name, kind->name);
	tn_status status = path.failed ? TN_OUT_OF_MEMORY : TN_OK;
	*has = !status && !access(path.data, F_OK);
	tn_text_release(&path);
	return status;
}

tn_status tn_report_rows_read_known(const struct tn_loading *loading, struct tn_known_list *known)
{
	const struct tn_registry_options *options = loading->options;
	struct tn_text folder;
	tn_text_init(&folder);
	add_data_folder(&folder, options->parameters, loading->kind);
	const struct tn_known_source source = {
		.kind = loading->kind,
		.folder = folder.data,
		.root = "",
		.parameters = options->parameters,
		.logger = options->logger,
	};
	tn_status status = folder.failed ? TN_OUT_OF_MEMORY : tn_known_read(&source, known);
	tn_text_release(&folder);
	return status;
}

void tn_report_rows_log_unused(const struct tn_loading *loading)
{
	const struct tn_registry_options *options = loading->options;
	for (size_t i = 0; i < options->given.n; i++) {
		const char *key = options->given.pairs[i].key;
		char name[32];
		snprintf(name, sizeof(name), "%.*s", (int)tn_given_plugin_length(key), key);
		const struct tn_load_row *row = tn_load_report_find(loading->report, name);
		if (!row || row->stage < TN_STAGE_CREATE)
			tn_log_format(options->logger, TN_LOG_INFO, "loader",
				      "option %s is not used: %s %s is not loaded", key,
				      loading->kind->name, name);
	}
}
