/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The library as a host of a claimed version: loads a plugin of another version with the real
 * loader, and calls its slots.
 *
 *	library MAJOR MINOR OLDEST_PLUGIN|default FILE.so
 *
 * Exit status: 0: as expected, 1: not, 3: refused.
 */
#include "calls.h"
#include "loader/backend.h"
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

int main(int argc, char **argv)
{
	struct tn_parameters parameters;
	struct tn_registry *registry = NULL;
	tn_load_report *report = NULL;
	struct tn_error_info error;
	if (argc != 5)
		return 2;
	const char *path = argv[4];
	tn_parameters_init(&parameters);
	struct tn_registry_options options = {
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
	(void)tn_registry_open(&options, &registry, &report, &error);
	const struct tn_load_row *row = tn_load_report_find(report, "skew");
	int result = 1;
	if (row && row->status == TN_ABI_MISMATCH) {
		printf("refused: %s\n", row->text);
		result = 3;
	} else if (row && row->status == TN_OK)
		result = check(tn_registry_find(registry, "skew"));
	else
		printf("not loaded: %s\n", row ? row->text : error.text);
	tn_registry_close(registry);
	tn_load_report_destroy(report);
	tn_parameters_release(&parameters);
	return result;
}
