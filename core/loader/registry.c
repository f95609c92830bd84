/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening a registry: the order of the steps and the ownership of their results.  Every candidate
 * has its row before the first one is loaded, so that no failure can leave a plugin out of the
 * report.
 */
#include "loader/registry.h"

#include <string.h>

#include <tenon/status.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "loader/choose.h"
#include "loader/known.h"
#include "loader/load.h"
#include "loader/probe.h"
#include "loader/report.h"
#include "loader/version.h"
#include "paths.h"

static tn_status read_selection(struct tn_loading *loading, struct tn_error_info *error)
{
	const struct tn_registry_options *options = loading->options;
	const char *variable = tn_parameter_read(
		options->parameters, "TENON_BACKEND",
		"which backend to use: auto, or NAME[:INDEX] in order of preference with commas "
		"between; ^NAME excludes, a trailing '!' forbids all others");
	const char *simulate = tn_parameter_read(
		options->parameters, "TENON_SIMULATE",
		"NAME:FAULT,...: simulate that a backend is absent for that reason (no-driver, "
		"no-device, driver-too-old, missing-library, no-plugin, bad-plugin, abi-mismatch, "
		"probe-failed, refused)");
	const char *text = options->selection ? options->selection : variable;
	loading->source = options->selection ? "backend" : "TENON_BACKEND";
	if (options->paths_only)
		text = simulate = NULL;
	tn_status status = tn_selection_parse(text, loading->source, &loading->selection, error);
	if (!status)
		status = tn_simulation_parse(simulate, &loading->simulation, error);
	if (status)
		return status;
	if (options->required && loading->selection.n_named)
		loading->selection.required = 1;
	loading->report = tn_report_create(text && *text ? text : "auto");
	return loading->report ? TN_OK : TN_OUT_OF_MEMORY;
}

/* A row for each candidate. */
static tn_status add_candidates(struct tn_loading *loading)
{
	tn_status status = tn_search(loading->options, &loading->candidates);
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

static tn_status load_candidates(struct tn_loading *loading, struct tn_registry *registry)
{
	size_t n = loading->candidates.n;
	registry->backends = tn_mem_zeroed(n + 1, sizeof(*registry->backends));
	if (!registry->backends)
		return TN_OUT_OF_MEMORY;
	for (size_t i = 0; i < n; i++) {
		struct tn_backend *backend;
		tn_status status = tn_plugin_load(loading, i, &backend);
		if (status)
			return status;
		if (backend)
			registry->backends[registry->n_backends++] = backend;
	}
	return TN_OK;
}

/* Each file's row, made by a process of its own. */
static tn_status probe_candidates(struct tn_loading *loading, struct tn_error_info *error)
{
	const struct tn_registry_options *options = loading->options;
	for (size_t i = 0; i < loading->candidates.n; i++) {
		const struct tn_candidate *candidate = &loading->candidates.list[i];
		tn_load_report *probed = NULL;
		if (!candidate->path)
			continue;
		tn_status status = tn_probe_file(options->parameters, candidate->path,
						 options->probe_ms, &probed, error);
		if (status)
			return status;
		if (probed->n_rows)
			tn_report_move(candidate->row, probed->rows[0]);
		tn_load_report_destroy(probed);
	}
	return TN_OK;
}

/* Writes the reason into a row without a file.  `known`: the backend's data file, or NULL; `like`:
 * a name that may have been meant, or NULL. */
static tn_status explain_absent(struct tn_loading *loading, struct tn_load_row *row,
				const struct tn_known *known, const char *like)
{
	tn_status fault = tn_simulation_of(&loading->simulation, row->name);
	struct tn_text text;
	tn_text_init(&text);
	row->status = fault ? fault : TN_NO_PLUGIN;
	if (fault)
		tn_text_add(&text, "pretended by TENON_SIMULATE");
	else if (tn_selection_excludes(&loading->selection, row->name))
		row->status = TN_EXCLUDED;
	else
		tn_text_format(&text, "no file backend_%s.so was found", row->name);
	if (known && row->status == TN_NO_PLUGIN) {
		if (known->source[0])
			tn_text_format(&text, "; it is built from %s", known->source);
		if (known->packages[0])
			tn_text_format(&text, known->source[0] ? ", and needs %s" : "; install %s",
				       known->packages);
	}
	if (like)
		tn_text_format(&text, "; did you mean '%s'?", like);
	/* For an unknown name: the available backends, "cpu, reference". */
	int unknown =
		tn_selection_names(&loading->selection, row->name) && !like && !fault && !known;
	const char *separator = "; available: ";
	for (size_t i = 0; unknown && i < loading->report->n_rows; i++) {
		if (loading->report->rows[i]->status != TN_OK)
			continue;
		tn_text_format(&text, "%s%s", separator, loading->report->rows[i]->name);
		separator = ", ";
	}
	int done = !text.failed && tn_report_set(&row->text, text.data);
	tn_text_release(&text);
	return done ? TN_OK : TN_OUT_OF_MEMORY;
}

/* Copies the texts of data files to the rows of their names, and adds missing rows. */
static tn_status add_known(struct tn_loading *loading, const struct tn_known_list *known)
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

/* Adds a row for a name that only the user's selection contains.  `guess`: suggest the name most
 * like it of all that have a row. */
static tn_status add_asked(struct tn_loading *loading, const char *name, int guess)
{
	const struct tn_load_report *report = loading->report;
	if (tn_load_report_find(report, name))
		return TN_OK;
	const char **names = guess ? tn_mem_zeroed(report->n_rows + 1, sizeof(*names)) : NULL;
	for (size_t i = 0; names && i < report->n_rows; i++)
		names[i] = report->rows[i]->name;
	const char *like = names ? tn_name_nearest(name, names, report->n_rows) : NULL;
	tn_mem_free(names);
	struct tn_load_row *row = tn_report_add(loading->report, name);
	return row ? explain_absent(loading, row, NULL, like) : TN_OUT_OF_MEMORY;
}

static tn_status read_known(const struct tn_registry_options *options, struct tn_known_list *known)
{
	const char *variable = tn_parameter_read(
		options->parameters, "TENON_DATA_DIR",
		"Tenon's data files, instead of the installed ones (its own folders below)");
	struct tn_text folder;
	tn_text_init(&folder);
	tn_text_format(&folder, "%s/backends.d", variable ? variable : TN_DATA_DIR);
	tn_status status = folder.failed ? TN_OUT_OF_MEMORY
					 : tn_known_read(folder.data, "", options->logger, known);
	tn_text_release(&folder);
	return status;
}

/* A privileged process ignores its environment and logs a warning about it. */
static void log_ignored(const struct tn_registry_options *options)
{
	struct tn_text text;
	tn_text_init(&text);
	for (size_t i = 0; i < options->parameters->n; i++) {
		if (options->parameters->list[i].ignored)
			tn_text_format(&text, " %s", options->parameters->list[i].name);
	}
	if (text.length && !text.failed)
		tn_log_format(options->logger, TN_LOG_WARNING, "loader",
			      "ignored in a privileged process:%s", text.data);
	tn_text_release(&text);
}

static tn_status open_registry(struct tn_loading *loading, struct tn_registry *registry,
			       struct tn_error_info *error)
{
	struct tn_known_list known = {0};
	tn_status status = read_selection(loading, error);
	if (!status)
		status = add_candidates(loading);
	if (!status && loading->options->probe_ms)
		status = probe_candidates(loading, error);
	else if (!status)
		status = load_candidates(loading, registry);
	if (!status && !loading->options->paths_only)
		status = read_known(loading->options, &known);
	if (!status)
		status = add_known(loading, &known);
	for (size_t i = 0; !status && i < loading->simulation.n; i++)
		status = add_asked(loading, loading->simulation.faults[i].name, 0);
	for (size_t i = 0; !status && i < loading->selection.n_named; i++)
		status = add_asked(loading, loading->selection.named[i].name, 1);
	if (!status)
		log_ignored(loading->options);
	if (!status && !loading->options->probe_ms)
		status = tn_choose_backend(loading, &known, registry, error);
	tn_known_release(&known);
	return status;
}

tn_status tn_registry_open(const struct tn_registry_options *options, struct tn_registry **registry,
			   tn_load_report **report, struct tn_error_info *error)
{
	tn_error_reset(error);
	struct tn_registry *made = tn_mem_zeroed(1, sizeof(*made));
	struct tn_loading *loading = tn_mem_zeroed(1, sizeof(*loading));
	tn_status status = TN_OUT_OF_MEMORY;
	if (made && loading) {
		made->fork_generation = tn_fork_generation();
		loading->options = options;
		loading->host = options->host;
		if (!loading->host.major && !loading->host.minor)
			loading->host = (struct tn_abi_version){TN_ABI_MAJOR, TN_ABI_MINOR,
								TN_ABI_OLDEST_PLUGIN};
		status = open_registry(loading, made, error);
		tn_candidates_release(&loading->candidates);
	}
	if (status == TN_OUT_OF_MEMORY)
		tn_fail(error, status, "load backends", "no memory for the registry");
	if (report && loading && loading->report)
		*report = loading->report;
	else if (loading)
		tn_load_report_destroy(loading->report);
	tn_mem_free(loading);
	if (status)
		tn_registry_close(made);
	else
		*registry = made;
	return status;
}

void tn_registry_close(struct tn_registry *registry)
{
	if (!registry)
		return;
	int ours = registry->fork_generation == tn_fork_generation();
	for (size_t i = registry->n_backends; i-- > 0;)
		tn_backend_destroy(registry->backends[i], ours);
	tn_mem_free(registry->backends);
	tn_mem_free(registry->choices);
	tn_mem_free(registry);
}

const struct tn_backend *tn_registry_find(const struct tn_registry *registry, const char *name)
{
	for (size_t i = 0; i < registry->n_backends; i++) {
		if (!strcmp(registry->backends[i]->name, name))
			return registry->backends[i];
	}
	return NULL;
}
