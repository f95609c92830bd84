/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loads only the backend under test, without side effects of other plugins.
 */
#include <limits.h>
#include <unistd.h>

#include "frame.h"
#include "loader/registry.h"
#include "loader/search.h"
#include "loader/version.h"
#include "reference/backend.h"

static const struct tn_backend_descriptor *const built_in[] = {&tn_reference_backend};

/* Finds the file of that name by the usual search, without loading any; 0 if there is none. */
int target_find(const char *name, char *path, size_t size)
{
	struct tn_parameters parameters;
	struct tn_candidates candidates = {0};
	struct tn_registry_options options = {.parameters = &parameters};
	tn_parameters_init(&parameters);
	path[0] = '\0';
	tn_search(&options, &tn_backend_kind, &candidates);
	for (size_t i = candidates.n; i-- > 0;) {
		if (candidates.list[i].path && !strcmp(candidates.list[i].name, name))
			snprintf(path, size, "%s", candidates.list[i].path);
	}
	tn_candidates_release(&candidates);
	tn_parameters_release(&parameters);
	return path[0] != '\0';
}

int target_is_built_in(const char *which)
{
	return !strcmp(which, tn_reference_backend.name);
}

static void name_stage(void *user, const char *path, uint32_t stage)
{
	if (path)
		kit_case(user, KIT_FILE, "%s", tn_stage_name(stage));
}

static int is_target(const struct tn_load_row *row, const char *which)
{
	return target_is_built_in(which) ? !strcmp(row->name, which) : row->found == TN_FOUND_API;
}

static const struct tn_backend *find(const struct tn_registry *registry, const char *which)
{
	for (size_t i = 0; i < registry->n_backends; i++) {
		const struct tn_backend *backend = registry->backends[i];
		if (target_is_built_in(which) ? !backend->plugin.path
					      : backend->plugin.path != NULL)
			return backend;
	}
	return NULL;
}

/* Races require concurrent threads, even on a machine with one processor. */
static unsigned count_threads(void)
{
	enum { LEAST_THREADS = 4 };
	return sysconf(_SC_NPROCESSORS_ONLN) < LEAST_THREADS ? LEAST_THREADS : 0;
}

static void load(struct target *target, struct kit *kit, const struct tn_abi_version *host,
		 const struct tn_pair *pair, unsigned n_threads)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_pair given[MOST_BACKEND_OPTIONS + 1];
	struct tn_registry_options options = {.built_in = built_in,
					      .n_built_in = 1,
					      .selection = "auto",
					      .paths = &kit->which,
					      .n_paths = !target_is_built_in(kit->which),
					      .paths_only = 1,
					      .progress = name_stage,
					      .user = kit};
	memset(target, 0, sizeof(*target));
	tn_parameters_init(&target->parameters);
	target->threads = tn_threads_create(n_threads);
	options.parameters = &target->parameters;
	options.threads = target->threads;
	if (host)
		options.host = *host;
	/* The last value of an option counts. */
	if (kit->n_given)
		memcpy(given, kit->given, kit->n_given * sizeof(*given));
	if (pair)
		given[kit->n_given] = *pair;
	options.given = (struct tn_given_options){given, kit->n_given + (pair != NULL)};
	tn_registry_open(&options, &target->registry, &target->report, &error);
	if (target->registry)
		target->backend = find(target->registry, kit->which);
	target->status = target->backend ? TN_OK : TN_NO_PLUGIN;
	target->text = "";
	for (size_t i = 0; i < tn_load_report_count(target->report); i++) {
		const struct tn_load_row *row = tn_load_report_at(target->report, i);
		if (target->backend || !is_target(row, kit->which))
			continue;
		target->status = row->status;
		target->text = row->text;
		target->stage = row->stage;
	}
}

void target_load(struct target *target, struct kit *kit, const struct tn_abi_version *host)
{
	load(target, kit, host, NULL, count_threads());
}

void target_load_with(struct target *target, struct kit *kit, const struct tn_pair *option)
{
	load(target, kit, NULL, option, count_threads());
}

void target_load_serial(struct target *target, struct kit *kit)
{
	load(target, kit, NULL, NULL, 1);
}

void target_unload(struct target *target)
{
	tn_registry_close(target->registry);
	tn_load_report_destroy(target->report);
	tn_threads_destroy(target->threads);
	tn_parameters_release(&target->parameters);
	memset(target, 0, sizeof(*target));
}
