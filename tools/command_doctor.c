/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon doctor: runs the checks on every device of the selection, and answers with the worst
 * result.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "info.h"

static const char about[] =
	"  Checks every device: its description, every family of operations against\n"
	"  the built-in backend, copies, memory, training, and products under load,\n"
	"  each verified.\n";

static int read_options(struct doctor_options *o, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"device", "NAME", "only that backend, or with :INDEX that device",
		 .text = &o->device},
		{"backend", "NAME", "as TENON_BACKEND, but the backend must be available",
		 .text = &o->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &o->common, .expected = backend_option_form},
		{"only", "PATTERN", "only checks whose names match, such as products.*",
		 .text = &o->only},
		{"stress-seconds", "N", "how long to repeat products (1; 0: skip them)",
		 .real = &o->stress_seconds, .highest = 1e6},
		{"stress-size", "N", "size of their matrices (takes 20 ms, at most 4096)",
		 .count = &o->stress_size, .lowest = 1, .highest = 65536},
		{"memory", "PERCENT", "share of free memory to fill (10, at most 256 MiB)",
		 .count = &o->memory_percent, .lowest = 1, .highest = 95},
		{"list", NULL, "list the checks", .flag = &o->list},
		{"json", NULL, "print everything as JSON", .flag = &o->json},
	};
	const struct option_table table = {"tenon doctor", "", about, rows, N_ROWS(rows), NULL, 0};
	return option_table_read(&table, argc, argv);
}

static int list(void)
{
	const struct doctor_check *check;
	for (size_t i = 0; (check = doctor_check_at(i)); i++)
		printf("%-20s %s\n", check->name, check->text);
	return EXIT_DONE;
}

/* Does the selection name a backend, rather than only exclude some? */
static int names_something(const char *selection)
{
	while (*selection) {
		size_t length = strcspn(selection, ",");
		int is_auto = length == 4 && memcmp(selection, "auto", 4) == 0;
		if (length && *selection != '^' && !is_auto)
			return 1;
		selection += length + (selection[length] == ',');
	}
	return 0;
}

/* The selection with every named backend required: the health of another device is no
 * substitute. */
static char *selection_of(const struct doctor_options *o, int *is_named)
{
	const char *given = o->device ? o->device : o->common.backend;
	if (!given)
		given = tool_environment("TENON_BACKEND");
	if (!given)
		given = "auto";
	size_t length = strlen(given);
	char *selection = malloc(length + 2);
	*is_named = names_something(given);
	if (!selection)
		return NULL;
	memcpy(selection, given, length + 1);
	if (*is_named && given[length - 1] != '!')
		memcpy(selection + length, "!", 2);
	return selection;
}

/* The names of the devices to check.  The built-in backend, which the others are compared with, is
 * left out if there is another and it was not named. */
static char (*names_of(tn_context *context, int is_named, size_t *n))[48]
{
	size_t count = tn_context_device_count(context);
	char(*names)[48] = calloc(count ? count : 1, sizeof(*names));
	*n = 0;
	for (size_t i = 0; names && i < count; i++) {
		const tn_device *device = tn_context_device(context, i);
		if (!is_named && count > 1 &&
		    tn_device_describe(device)->kind == TN_DEVICE_REFERENCE)
			continue;
		snprintf(names[(*n)++], sizeof(*names), "%s", tn_device_name(device));
	}
	return names;
}

/* What the selection keeps out is not checked, and that is said. */
static void print_excluded(const tn_load_report *report)
{
	const struct tn_load_row *row;
	for (size_t i = 0; (row = tn_load_report_at(report, i)); i++) {
		if (row->status == TN_EXCLUDED && row->path)
			printf("%s is not checked: EXCLUDED: %s\n", row->name, row->text);
	}
}

/* The worse of two exit codes: failed, then absent, then done. */
static int worse(int a, int b)
{
	if (a == EXIT_FAILED || b == EXIT_FAILED)
		return EXIT_FAILED;
	return a > b ? a : b;
}

static int all(const struct doctor_options *o, size_t n, char (*names)[48])
{
	json_t *devices = o->json ? json_array() : NULL;
	int code = EXIT_DONE;
	for (size_t i = 0; i < n; i++) {
		if (i && !o->json)
			putchar('\n');
		code = worse(code, doctor_device(names[i], o, devices));
	}
	if (!o->json)
		return code;
	int written = print_json(
		json_pack("{s:b, s:o}", "passed", code == EXIT_DONE, "devices", devices));
	return written ? written : code;
}

static int look(struct doctor_options *o)
{
	int code, is_named;
	size_t n;
	char *selection = selection_of(o, &is_named);
	o->common.backend = selection;
	tn_context *context =
		selection ? open_context(&o->common, TN_SEED_FROM_ENVIRONMENT, &code) : NULL;
	if (!context) {
		free(selection);
		return selection ? code : EXIT_FAILED;
	}
	if (!o->device && !o->json)
		print_excluded(tn_context_report(context));
	char(*names)[48] = names_of(context, is_named, &n);
	tn_context_close(context);
	code = names ? all(o, n, names) : EXIT_FAILED;
	free(names);
	free(selection);
	return code;
}

/* Does any check match?  A run without checks must not report success. */
static int wants_any(const struct doctor_options *o)
{
	const struct doctor_check *check;
	for (size_t i = 0; (check = doctor_check_at(i)); i++) {
		if (doctor_wants(o, check))
			return 1;
	}
	return 0;
}

int command_doctor(int argc, char **argv)
{
	struct doctor_options o = {.stress_seconds = 1};
	int code = read_options(&o, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (optind < argc)
		return usage_error("doctor", "unexpected '%s'", argv[optind]);
	if (o.device && o.common.backend)
		return usage_error("doctor", "--device and --backend: expected one of them");
	if (!wants_any(&o))
		return usage_error("doctor", "--only: no check matches '%s'; --list lists them",
				   o.only);
	return o.list ? list() : look(&o);
}
