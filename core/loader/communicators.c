/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses the communicator of this process by argument, variable or launcher, and loads it.
 */
#include "loader/communicators.h"

#include <stdio.h>
#include <string.h>

#include <tenon/status.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "loader/load.h"
#include "loader/names.h"
#include "loader/report.h"
#include "loader/report_rows.h"

/* ---- The choice ------------------------------------------------------------------------------*/

/* The launcher of a data file that has started this process: of several, the first.  Below mpirun
 * there are variables of a manager that has started something else. */
static const struct tn_launch *launch_of(const struct tn_known *entry)
{
	for (int i = 0; i < entry->n_launches; i++) {
		if (entry->launches[i].size)
			return &entry->launches[i];
	}
	return NULL;
}

/* Has a launcher that connects its processes started this one? */
static int is_connected(const struct tn_communicator_choice *choice)
{
	for (size_t i = 0; i < choice->known.n; i++) {
		const struct tn_launch *launch = launch_of(&choice->known.list[i]);
		if (launch && !launch->is_fallback)
			return 1;
	}
	return 0;
}

const struct tn_launch *tn_communicator_launch(const struct tn_communicator_choice *choice,
					       const char *name)
{
	const int ignores_fallback = is_connected(choice);
	for (size_t i = 0; i < choice->known.n; i++) {
		const struct tn_known *entry = &choice->known.list[i];
		const struct tn_launch *launch = launch_of(entry);
		if (launch && launch->size > 1 && (!name || !strcmp(entry->name, name)) &&
		    !(launch->is_fallback && ignores_fallback))
			return launch;
	}
	return NULL;
}

static tn_status refuse_two(const struct tn_known *first, const struct tn_known *second,
			    struct tn_error_info *error)
{
	return tn_fail(
		error, TN_REFUSED, "communicator_open",
		"the variables of two launchers are set, %s and %s: TENON_COMMUNICATOR=%s or "
		"%s says which one counts",
		first->hardware, second->hardware, first->name, second->name);
}

/* The communicator whose launcher has started this process. */
static tn_status choose_launched(struct tn_communicator_choice *choice, struct tn_error_info *error)
{
	const struct tn_known *launched = NULL;
	for (size_t i = 0; i < choice->known.n; i++) {
		const struct tn_known *entry = &choice->known.list[i];
		if (!tn_communicator_launch(choice, entry->name))
			continue;
		if (launched)
			return refuse_two(launched, entry, error);
		launched = entry;
	}
	snprintf(choice->name, sizeof(choice->name), "%s", launched ? launched->name : "none");
	return TN_OK;
}

tn_status tn_communicator_choose(const struct tn_registry_options *options, const char *name,
				 struct tn_communicator_choice *choice, struct tn_error_info *error)
{
	const struct tn_loading loading = {.kind = &tn_communicator_kind, .options = options};
	const char *variable = tn_parameter_read(options->parameters, "TENON_COMMUNICATOR",
						 "which communicator connects the ranks of a "
						 "program: a name, or none; not set: that "
						 "of the launcher which has started the program");
	const char *source = name ? "communicator" : "TENON_COMMUNICATOR";
	const char *asked = name ? name : variable;
	*choice = (struct tn_communicator_choice){.was_asked = asked && *asked};
	tn_status status = tn_report_rows_read_known(&loading, &choice->known);
	if (status)
		return tn_no_memory(error, "communicator_open", NULL, "the data files");
	if (!choice->was_asked)
		return choose_launched(choice, error);
	if (!tn_search_is_name(asked, strlen(asked)))
		return tn_fail(error, TN_FORMAT, source,
			       "expected a communicator's name, of a-z, 0-9 and '_', found '%s'",
			       asked);
	snprintf(choice->name, sizeof(choice->name), "%s", asked);
	return TN_OK;
}

void tn_communicator_choice_release(struct tn_communicator_choice *choice)
{
	tn_known_release(&choice->known);
}

/* ---- Loading ---------------------------------------------------------------------------------*/

static tn_status list_all(struct tn_loading *loading)
{
	tn_status status = TN_OK;
	for (size_t i = 0; !status && i < loading->candidates.n; i++)
		status = tn_plugin_list(loading, i);
	return status;
}

static tn_status load_chosen(struct tn_loading *loading, const char *name,
			     struct tn_communicator_plugin **plugin, struct tn_error_info *error)
{
	for (size_t i = 0; i < loading->candidates.n; i++) {
		struct tn_plugin *loaded = NULL;
		int is_chosen = !strcmp(loading->candidates.list[i].name, name);
		tn_status status = is_chosen ? tn_plugin_load(loading, i, &loaded)
					     : tn_plugin_inspect(loading, i);
		if (status)
			return status;
		/* A second one of that name is a duplicate. */
		if (loaded)
			*plugin = (struct tn_communicator_plugin *)loaded;
	}
	tn_report_rows_log_unused(loading);
	if (loading->refusal.status)
		*error = loading->refusal;
	return loading->refusal.status;
}

/* Why the chosen one is absent, with what its data file says. */
static tn_status refuse_absent(const struct tn_communicator_choice *choice,
			       const struct tn_load_report *report, struct tn_error_info *error)
{
	const struct tn_load_row *row = tn_load_report_find(report, choice->name);
	const struct tn_launch *launch = tn_communicator_launch(choice, choice->name);
	struct tn_text text;
	tn_text_init(&text);
	if (launch)
		tn_text_format(&text, "%s has started %u ranks, and communicator %s is absent: ",
			       launch->launcher, launch->size, row->name);
	else
		tn_text_format(&text, "communicator %s is absent: ", row->name);
	tn_text_format(&text, "%s: %s", tn_status_name(row->status), row->text);
	if (row->status != TN_NO_PLUGIN && row->packages[0])
		tn_text_format(&text, "; its packages are %s", row->packages);
	tn_status status = text.failed ? TN_OUT_OF_MEMORY : row->status;
	tn_fail(error, status, "communicator_open", "%s",
		text.failed ? "no host memory" : text.data);
	error->native_code = row->native_code;
	tn_text_release(&text);
	return status;
}

static tn_status load_all(struct tn_loading *loading, const struct tn_communicator_choice *choice,
			  struct tn_communicator_plugin **plugin, struct tn_error_info *error)
{
	int is_none = !strcmp(choice->name, "none");
	tn_status status = tn_report_rows_read_simulation(loading, error);
	if (status)
		return status;
	snprintf(loading->selection.named[0].name, sizeof(loading->selection.named[0].name), "%s",
		 choice->name);
	loading->selection.n_named = !is_none;
	loading->report = tn_report_create(&tn_communicator_kind, choice->name);
	if (!loading->report)
		return TN_OUT_OF_MEMORY;
	status = tn_report_rows_add_candidates(loading);
	if (!status)
		status = plugin ? load_chosen(loading, choice->name, plugin, error)
				: list_all(loading);
	if (!status)
		status = tn_report_rows_add_known(loading, &choice->known);
	if (!status && !is_none)
		status = tn_report_rows_add_asked(loading, choice->name, 1);
	if (status || !plugin || is_none)
		return status;
	return *plugin ? TN_OK : refuse_absent(choice, loading->report, error);
}

tn_status tn_communicator_load(const struct tn_registry_options *options,
			       const struct tn_communicator_choice *choice, tn_load_report **report,
			       struct tn_communicator_plugin **plugin, struct tn_error_info *error)
{
	struct tn_loading *loading = tn_mem_zeroed(1, sizeof(*loading));
	struct tn_communicator_plugin *loaded = NULL;
	tn_status status = TN_OUT_OF_MEMORY;
	tn_error_reset(error);
	if (loading) {
		loading->kind = &tn_communicator_kind;
		loading->options = options;
		loading->host = options->host;
		if (!loading->host.major && !loading->host.minor)
			loading->host = tn_communicator_kind.host;
		status = load_all(loading, choice, plugin ? &loaded : NULL, error);
		tn_candidates_release(&loading->candidates);
		*report = loading->report;
	}
	tn_mem_free(loading);
	if (status == TN_OUT_OF_MEMORY)
		tn_no_memory(error, "communicator_open", NULL, "the communicators");
	if (status && loaded)
		tn_plugin_destroy(&loaded->plugin, 1);
	else if (plugin)
		*plugin = loaded;
	return status;
}
