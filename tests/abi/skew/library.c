/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The library as a host of a claimed version: loads a plugin of another version with the real
 * loader, and calls its slots.
 *
 *	library MAJOR MINOR OLDEST_PLUGIN|default FILE.so       a backend or a communicator
 *
 * Exit status: 0: as expected, 1: not, 3: refused.
 */
#include "communicator_calls.h"
#include "loader/backend.h"
#include "loader/communicators.h"
#include "loader/load.h"
#include "loader/registry.h"

static int check(const struct tn_backend *backend)
{
	struct peer peer = {
		.level = backend->plugin.version[0] - '0',
		.abi_minor = backend->plugin.abi_minor,
		.instance = backend->plugin.instance,
		.device = backend->device,
		.compute = backend->compute,
		.copy = backend->copy,
		.memory = backend->memory,
	};
	check_peer(&peer);
	return failures != 0;
}

static int report_row(const struct tn_load_report *report, const struct tn_error_info *error)
{
	const struct tn_load_row *row = tn_load_report_find(report, "skew");
	if (row && row->status == TN_ABI_MISMATCH) {
		printf("refused: %s\n", row->text);
		return 3;
	}
	if (row && row->status == TN_OK)
		return 0;
	printf("not loaded: %s\n", row ? row->text : error->text);
	return 1;
}

static int run_backend(const struct tn_registry_options *options)
{
	struct tn_registry *registry = NULL;
	tn_load_report *report = NULL;
	struct tn_error_info error;
	(void)tn_registry_open(options, &registry, &report, &error);
	int result = report_row(report, &error);
	if (!result)
		result = check(tn_registry_find(registry, "skew"));
	tn_registry_close(registry);
	tn_load_report_destroy(report);
	return result;
}

static int run_communicator(const struct tn_registry_options *options)
{
	const struct tn_communicator_choice choice = {.name = "skew", .was_asked = 1};
	struct tn_communicator_plugin *plugin = NULL;
	tn_load_report *report = NULL;
	struct tn_error_info error;
	(void)tn_communicator_load(options, &choice, &report, &plugin, &error);
	int result = report_row(report, &error);
	if (!result) {
		const struct communicator_peer peer = {.level = plugin->plugin.version[0] - '0',
						       .instance = plugin->plugin.instance,
						       .table = plugin->table};
		check_communicator(&peer);
		result = failures != 0;
		tn_plugin_destroy(&plugin->plugin, 1);
	}
	tn_load_report_destroy(report);
	return result;
}

int main(int argc, char **argv)
{
	struct tn_parameters parameters;
	if (argc != 5)
		return 2;
	const char *path = argv[4];
	tn_parameters_init(&parameters);
	const struct tn_registry_options options = {
		.parameters = &parameters,
		.paths = &path,
		.n_paths = 1,
		.paths_only = 1,
		.host = {.major = (uint32_t)strtoul(argv[1], NULL, 10),
			 .minor = (uint32_t)strtoul(argv[2], NULL, 10),
			 .oldest_peer = strcmp(argv[3], "default")
						? (uint32_t)strtoul(argv[3], NULL, 10)
						: TN_ABI_OLDEST_PLUGIN},
	};
	int result =
		strstr(path, "/communicator_") ? run_communicator(&options) : run_backend(&options);
	tn_parameters_release(&parameters);
	return result;
}
