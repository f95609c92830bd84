/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * usage: tenon-conform BACKEND|FILE.so [DEVICE]
 *
 * Runs the conformance kit on a device of a backend, found by name as every program finds it, or in a
 * plugin file (an argument with a '/').  Exit status: 0 when all cases passed and some were executed, 1
 * when one failed or none was, 77 when the backend or the device is not there, 2 for wrong usage.
 */
#include <stdio.h>

#include "conform.h"
#include "loader/tables.h"
#include "reference/reference.h"

enum { FAILED = 1, WRONG_USAGE = 2, ABSENT = 77 };

static const struct check *const levels[] = {
	level0_checks, level1_checks, level2_checks, level3_checks, level4_checks, level5_checks,
};

/* Prints the tally; the exit status. */
static int report(const struct kit *kit)
{
	unsigned done = 0, failed = 0, native = 0;
	printf("%-24s %-8s %8s %12s %8s\n", "slot", "", "done", "unsupported", "failed");
	for (int slot = 0; slot < TN_SLOT_COUNT; slot++) {
		const struct tally *tally = &kit->tallies[slot];
		int is_native = tn_backend_has(kit->backend, (enum tn_slot)slot);
		printf("%-24s %-8s %8u %12u %8u\n", tn_slot_name((enum tn_slot)slot),
		       is_native ? "native" : "absent", tally->done + tally->refused,
		       tally->unsupported, tally->failed);
		done += tally->done + tally->refused;
		failed += tally->failed;
		native += is_native != 0;
	}
	printf("%s: %u of %d slots native, %u cases done, %u failed\n", kit->backend->name, native,
	       TN_SLOT_COUNT, done, failed);
	return failed || !done ? FAILED : 0;
}

static int check(const struct tn_backend *backend, uint32_t index)
{
	static struct kit kit;
	int status;
	tn_status opened = kit_open(&kit, backend, index);
	if (opened != TN_OK) {
		fprintf(stderr, "%s: device %u: %s: %s\n", backend->name, index,
			tn_status_name(opened), kit.error.text);
		return opened == TN_NO_DEVICE || opened == TN_INVALID_ARGUMENT ? ABSENT : FAILED;
	}
	kit.which = backend->path ? backend->path : backend->name;
	printf("%s, device %u: %s\n", backend->name, index, kit.description.name);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		for (kit.check = levels[i]; kit.check->id; kit.check++)
			kit.check->run(&kit);
	status = report(&kit);
	kit_close(&kit);
	return status;
}

/* The backend of that name, or the one in that file; NULL after saying why there is none. */
static const struct tn_backend *find(const char *which, struct tn_registry_options *options,
				     struct tn_registry **registry)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	int is_file = strchr(which, '/') != NULL;
	options->selection = is_file ? "auto" : which;
	options->paths = is_file ? &which : NULL;
	options->n_paths = (size_t)is_file;
	options->paths_only = is_file;
	if (tn_registry_open(options, registry, NULL, &error) != TN_OK) {
		fprintf(stderr, "%s: %s\n", which, error.text);
		return NULL;
	}
	if (!is_file && tn_registry_find(*registry, which))
		return tn_registry_find(*registry, which);
	for (size_t i = 0; is_file && i < (*registry)->n_backends; i++)
		if ((*registry)->backends[i]->path)
			return (*registry)->backends[i];
	fprintf(stderr, "%s: is not here\n", which);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct tn_backend_descriptor *built_in[] = {&tn_reference_backend};
	struct tn_registry_options options = {.built_in = built_in, .n_built_in = 1};
	struct tn_registry *registry = NULL;
	const struct tn_backend *backend;
	struct tn_parameters parameters;
	int status;
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s BACKEND|FILE.so [DEVICE]\n", argv[0]);
		return WRONG_USAGE;
	}
	tn_parameters_init(&parameters);
	options.parameters = &parameters;
	options.threads = tn_threads_create(0);
	backend = find(argv[1], &options, &registry);
	status = backend ? check(backend, argc > 2 ? (uint32_t)atoi(argv[2]) : 0) : ABSENT;
	tn_registry_close(registry);
	tn_threads_destroy(options.threads);
	tn_parameters_release(&parameters);
	return status;
}
