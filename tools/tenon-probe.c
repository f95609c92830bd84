/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon-probe FILE: loads one plugin and reports on descriptor 3; tn_probe starts it, so that a
 * crash or hang of the plugin stays in this process.  core/loader/probe.h has the protocol.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/backend.h"
#include "loader/communicators.h"
#include "loader/load.h"
#include "loader/probe.h"
#include "loader/registry.h"

/* The longest run; the caller's own limit is usually shorter. */
#define LAST_RESORT_SECONDS 3600

static void say(const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(TN_PROBE_FD, text, length);
		if (n <= 0)
			return;
		text += n;
		length -= (size_t)n;
	}
}

static void say_stage(void *user, const char *path, uint32_t stage)
{
	char line[32];
	(void)user;
	(void)path;
	say(line, (size_t)snprintf(line, sizeof(line), "stage %u\n", stage));
}

/* The report says that no backend can be selected. */
static tn_load_report *load_backend(const struct tn_registry_options *options)
{
	struct tn_registry *registry = NULL;
	tn_load_report *report = NULL;
	(void)tn_registry_open(options, &registry, &report, NULL);
	tn_registry_close(registry);
	return report;
}

/* Up to its table: it joins no other rank. */
static tn_load_report *load_communicator(const struct tn_registry_options *options)
{
	struct tn_communicator_choice choice = {.was_asked = 1};
	struct tn_communicator_plugin *plugin = NULL;
	tn_load_report *report = NULL;
	struct tn_error_info error; /* the row says the same */
	const char *name;
	size_t length = tn_plugin_name_in(&tn_communicator_kind, options->paths[0], &name);
	snprintf(choice.name, sizeof(choice.name), "%.*s", (int)length, name);
	(void)tn_communicator_load(options, &choice, &report, &plugin, &error);
	if (plugin)
		tn_plugin_destroy(&plugin->plugin, 1);
	return report;
}

int main(int argc, char **argv)
{
	const struct rlimit no_core = {0, 0};
	struct tn_logger logger;
	struct tn_parameters parameters;
	if (argc != 2) {
		fprintf(stderr, "usage: tenon-probe FILE (started by tn_probe)\n");
		return 2;
	}
	setrlimit(RLIMIT_CORE, &no_core);
	alarm(LAST_RESORT_SECONDS);
	tn_logger_init(&logger);
	tn_parameters_init(&parameters);
	const char *path = argv[1];
	struct tn_registry_options options = {
		.logger = &logger,
		.parameters = &parameters,
		.paths = &path,
		.n_paths = 1,
		.paths_only = 1,
		.progress = say_stage,
	};
	tn_load_report *report = tn_plugin_kind_of(path) == &tn_communicator_kind
					 ? load_communicator(&options)
					 : load_backend(&options);
	const char *json = tn_load_report_json(report);
	if (json) {
		say("report\n", 7);
		say(json, strlen(json));
	}
	tn_load_report_destroy(report);
	tn_parameters_release(&parameters);
	return json ? 0 : 1;
}
