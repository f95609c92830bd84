/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening a registry: the order of the steps and the ownership of their results.  The selection is
 * read first: a plugin that it excludes is not even opened.  Every candidate has its row before the
 * first one is loaded, so that no failure can leave a plugin out of the report.
 */
#include "loader/registry.h"

#include <stdio.h>
#include <string.h>

#include <tenon/status.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/text.h"
#include "loader/instance.h"
#include "loader/known_plugins.h"
#include "loader/load.h"
#include "loader/probe.h"
#include "loader/rank_devices.h"
#include "loader/report.h"
#include "loader/report_rows.h"
#include "loader/version.h"

static tn_status read_selection(struct tn_loading *loading, struct tn_error_info *error)
{
	const struct tn_registry_options *options = loading->options;
	const char *variable = tn_parameter_read(
		options->parameters, "TENON_BACKEND",
		"which backend to use: auto, or NAME[:INDEX], gpu, accelerator, pci:ADDRESS or "
		"uuid:UUID in order of preference with commas between; ^NAME excludes, a trailing "
		"'!' forbids all others");
	const char *text = options->selection ? options->selection : variable;
	loading->source = options->selection ? "backend" : "TENON_BACKEND";
	if (options->paths_only)
		text = NULL;
	tn_status status = tn_selection_parse(text, loading->source, &loading->selection, error);
	if (!status)
		status = tn_report_rows_read_simulation(loading, error);
	if (status)
		return status;
	if (options->required && loading->selection.n_named)
		loading->selection.required = 1;
	loading->report = tn_report_create(loading->kind, text && *text ? text : "auto");
	return loading->report ? TN_OK : TN_OUT_OF_MEMORY;
}

static tn_status load_each(struct tn_loading *loading, struct tn_registry *registry)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < loading->candidates.n && !status; i++) {
		struct tn_plugin *plugin;
		status = tn_plugin_load(loading, i, &plugin);
		if (plugin)
			registry->backends[registry->n_backends++] = (struct tn_backend *)plugin;
	}
	return status;
}

static tn_status load_candidates(struct tn_loading *loading, struct tn_registry *registry,
				 struct tn_error_info *error)
{
	struct tn_patience patience;
	registry->backends = tn_mem_zeroed(loading->candidates.n + 1, sizeof(*registry->backends));
	if (!registry->backends)
		return TN_OUT_OF_MEMORY;
	tn_patience_begin(&patience, loading->options->logger, loading->options->patience_ms);
	loading->patience = &patience;
	tn_status status = load_each(loading, registry);
	loading->patience = NULL;
	tn_patience_end(&patience);
	if (status)
		return status;
	tn_report_rows_log_unused(loading);
	if (loading->refusal.status)
		*error = loading->refusal;
	return loading->refusal.status;
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

/* A name in TENON_SIMULATE that is not a communicator's. */
static tn_status add_simulated(struct tn_loading *loading, const char *name)
{
	int is_communicator;
	tn_status status = tn_report_rows_has_data_file(loading, &tn_communicator_kind, name,
							&is_communicator);
	return status || is_communicator ? status : tn_report_rows_add_asked(loading, name, 0);
}

static tn_status open_registry(struct tn_loading *loading, struct tn_registry *registry,
			       struct tn_error_info *error)
{
	struct tn_known_list known = {0};
	tn_status status = read_selection(loading, error);
	if (!status)
		status = tn_report_rows_add_candidates(loading);
	if (!status && !loading->options->paths_only)
		status = tn_report_rows_read_known(loading, &known);
	loading->known = &known;
	registry->selection = loading->selection;
	if (!status)
		status = tn_report_rows_check_exclusions(loading, &known);
	if (!status && loading->options->probe_ms)
		status = probe_candidates(loading, error);
	else if (!status)
		status = load_candidates(loading, registry, error);
	if (!status)
		status = tn_report_rows_add_known(loading, &known);
	for (size_t i = 0; !status && i < loading->simulation.n; i++)
		status = add_simulated(loading, loading->simulation.faults[i].name);
	for (size_t i = 0; !status && i < loading->selection.n_named; i++) {
		const struct tn_selection_item *item = &loading->selection.named[i];
		if (item->what == TN_SELECTS_BACKEND)
			status = tn_report_rows_add_asked(loading, item->name, 1);
	}
	if (!status)
		log_ignored(loading->options);
	if (!status && !loading->options->probe_ms)
		status = tn_choose_backend(loading, &known, registry, error);
	loading->known = NULL;
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
		loading->kind = &tn_backend_kind;
		loading->options = options;
		loading->host = options->host;
		if (!loading->host.major && !loading->host.minor)
			loading->host = loading->kind->host;
		status = open_registry(loading, made, error);
		tn_candidates_release(&loading->candidates);
	}
	if (status == TN_OUT_OF_MEMORY)
		tn_no_memory(error, "load backends", NULL, "the registry");
	if (report && loading && loading->report) {
		*report = loading->report;
	} else if (loading) {
		tn_registry_forget_report(made);
		tn_load_report_destroy(loading->report);
	}
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
		tn_plugin_destroy(&registry->backends[i]->plugin, ours);
	tn_mem_free(registry->backends);
	tn_mem_free(registry->choices);
	tn_mem_free(registry);
}

void tn_registry_forget_report(struct tn_registry *registry)
{
	for (size_t i = 0; registry && i < registry->n_backends; i++)
		registry->backends[i]->row = NULL;
}

int tn_registry_waits(const struct tn_registry *registry)
{
	int waits = 0;
	for (size_t i = 0; registry && i < registry->n_backends; i++)
		waits |= registry->backends[i]->waiting != NULL;
	return waits && registry->fork_generation == tn_fork_generation();
}

void tn_registry_silence(struct tn_registry *registry)
{
	for (size_t i = 0; registry && i < registry->n_backends; i++)
		tn_instance_silence(&registry->backends[i]->plugin);
}

void tn_registry_list_variables(const struct tn_registry *registry,
				struct tn_parameters *parameters)
{
	for (size_t i = 0; registry && i < registry->n_backends; i++)
		tn_instance_list_variables(registry->backends[i]->plugin.shared, parameters);
}

const struct tn_backend *tn_registry_find(const struct tn_registry *registry, const char *name)
{
	for (size_t i = 0; i < registry->n_backends; i++) {
		if (!strcmp(registry->backends[i]->plugin.name, name))
			return registry->backends[i];
	}
	return NULL;
}
