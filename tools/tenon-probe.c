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

int main(int argc, char **argv)
{
	const struct rlimit no_core = {0, 0};
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_registry *registry = NULL;
	tn_load_report *report = NULL;
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
	/* The report says that no backend can be selected. */
	(void)tn_registry_open(&options, &registry, &report, NULL);
	tn_registry_close(registry);
	const char *json = tn_load_report_json(report);
	if (json) {
		say("report\n", 7);
		say(json, strlen(json));
	}
	tn_load_report_destroy(report);
	tn_parameters_release(&parameters);
	return json ? 0 : 1;
}
