/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The status of one backend or communicator, and what to do about it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "print_error.h"
#include "terminal.h"

/* What to do for each absence status; tenon-troubleshooting(7) has an example of each. */
static const struct {
	tn_status status;
	const char *text;
} remedies[] = {
	{TN_NO_PLUGIN, "install or build it as described above, or add the folder of its file to "
		       "TENON_PLUGIN_PATH"},
	{TN_BAD_PLUGIN, "replace the file; tenon-conform shows its author what is wrong"},
	{TN_ABI_MISMATCH, "install the build of the plugin for this version of Tenon"},
	{TN_MISSING_LIBRARY, "install the library named above"},
	{TN_NO_DRIVER, "install the device's driver; a container needs access to the device"},
	{TN_DRIVER_TOO_OLD, "update the device's driver, or use an older build of the plugin"},
	{TN_NO_DEVICE, "nothing, if there is no such device; otherwise check whether this user may "
		       "use it, and whether a variable hides it"},
	{TN_PROBE_FAILED, "load it in a separate process: tenon info --probe FILE"},
	{TN_REFUSED, "let only root own and write the file and its folders, or run "
		     "without privileges and name the folder in TENON_PLUGIN_PATH; if permission "
		     "is denied, let this user read it"},
	{TN_EXCLUDED, "name it in the selection, or remove its ^NAME or the final '!'"},
	{TN_DUPLICATE, "nothing, if it is another copy of that backend; a different plugin "
		       "needs its own UUID (uuidgen)"},
	{TN_DEVICE_LOST, "look for the reason in the system log, and start the "
			 "program again; if that does not help, reset the device or restart"},
};

static const char *remedy(tn_status status)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
		if (remedies[i].status == status)
			return remedies[i].text;
	}
	return "see the reason above; tenon doctor tests the device";
}

/* Lists other devices of the report that are the same hardware. */
static void print_pairs(const tn_load_report *report, const struct tn_device_description *d)
{
	const struct tn_load_row *row;
	for (size_t i = 0; (row = tn_load_report_at(report, i)); i++) {
		for (uint32_t j = 0; j < row->n_devices; j++) {
			if (row->devices[j] != d && tn_device_same(row->devices[j], d))
				printf("    the same device as %s:%" PRIu32 "\n", row->name, j);
		}
	}
}

static void print_device(const tn_load_report *report, const struct tn_load_row *row,
			 uint32_t index)
{
	const struct tn_device_description *d = row->devices[index];
	printf("  device %" PRIu32 ": %s", index, d->name);
	if (d->memory_bytes)
		printf(", %.1f GiB", (double)d->memory_bytes / 1073741824.0);
	if (row->selected && row->selected_device == index)
		printf(" (selected)");
	printf("\n");
	if (d->note[0])
		printf("    %s\n", d->note);
	print_pairs(report, d);
}

/* Prints one line, broken for a narrower terminal. */
static void print_line(const char *label, const char *text)
{
	char *line;
	if (asprintf(&line, "  %s%s\n", label, text) < 0)
		return;
	write_wrapped(stdout, line, terminal_columns(STDOUT_FILENO));
	free(line);
}

static void print_absence(const struct tn_load_row *row)
{
	if (!row->status)
		return;
	if (row->text[0])
		print_line("", row->text);
	print_line("meaning: ", tn_status_text(row->status));
	print_line("what to do: ", remedy(row->status));
}

static void print_hardware(const struct tn_load_row *row, int is_communicator)
{
	if (is_communicator)
		printf("  launcher: %s%s\n", row->hardware,
		       row->hardware_seen ? ", which has started this process" : "");
	else
		printf("  hardware: %s, %s\n", row->hardware,
		       row->hardware_seen ? "present" : "not seen");
}

/* What an option takes: "choice of auto, off"; its bounds where it has any. */
static void write_type(FILE *out, const struct tn_load_option *option)
{
	fprintf(out, "%s", tn_option_type_name(option->type));
	if (option->choices[0])
		fprintf(out, " of %s", option->choices);
	if (isfinite(option->least))
		fprintf(out, " from %g", option->least);
	if (isfinite(option->most))
		fprintf(out, " to %g", option->most);
}

static void print_option(const struct tn_load_row *row, const struct tn_load_option *option)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	fprintf(out, "%s.%s=%s (%s): %s; ", row->name, option->name, option->value, option->origin,
		option->help);
	write_type(out, option);
	fprintf(out, ", default %s", option->standard[0] ? option->standard : "none");
	if (option->variable[0])
		fprintf(out, ", variable %s", option->variable);
	if (!fclose(out))
		print_line("option ", text);
	free(text);
}

static void print_row(const tn_load_report *report, const struct tn_load_row *row,
		      int is_communicator)
{
	printf("%s: %s\n", row->name, row->status ? tn_status_name(row->status) : "usable");
	print_absence(row);
	printf("  found: %s\n", tn_found_name(row->found));
	if (row->path)
		printf("  file: %s\n", row->path);
	printf("  stage reached: %s, in %.1f ms\n", tn_stage_name(row->stage),
	       (double)row->microseconds / 1000.0);
	if (row->version[0])
		printf("  version: %s\n", row->version);
	if (row->abi_major || row->abi_minor)
		printf("  interface: %" PRIu32 ".%" PRIu32 "\n", row->abi_major, row->abi_minor);
	if (row->native_code)
		printf("  native code: %" PRId64 "\n", row->native_code);
	if (row->hardware[0])
		print_hardware(row, is_communicator);
	if (row->packages[0])
		printf("  packages: %s\n", row->packages);
	for (uint32_t i = 0; i < row->n_devices; i++)
		print_device(report, row, i);
	for (uint32_t i = 0; i < row->n_options; i++)
		print_option(row, row->options[i]);
}

/* Lists other files of the same name than the one in the row. */
static void print_others(const tn_load_report *report, const struct tn_load_row *shown)
{
	const struct tn_load_row *row;
	for (size_t i = 0; (row = tn_load_report_at(report, i)); i++) {
		if (row != shown && row->path && !strcmp(row->name, shown->name))
			printf("  also found: %s: %s%s%s\n", row->path,
			       row->status ? tn_status_name(row->status) : "usable",
			       row->text[0] ? ": " : "", row->text);
	}
}

/* Prints the object in the report, with its remedy. */
static int print_row_json(const tn_load_report *report, const struct tn_load_row *wanted)
{
	const char *text = tn_load_report_json(report);
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *rows = json_object_get(root, "backends");
	json_t *found = NULL;
	rows = rows ? rows : json_object_get(root, "communicators");
	for (size_t i = 0; root && i < tn_load_report_count(report); i++) {
		if (tn_load_report_at(report, i) == wanted)
			found = json_incref(json_array_get(rows, i));
	}
	if (found && wanted->status)
		json_object_set_new(found, "what_to_do", json_string(remedy(wanted->status)));
	json_decref(root);
	return print_json(found);
}

static int unknown(const tn_load_report *const reports[2], const char *name)
{
	const struct tn_load_row *row;
	const char *names[64];
	char hint[80];
	size_t n = 0;
	for (int r = 0; r < 2; r++) {
		for (size_t i = 0; n < 64 && (row = tn_load_report_at(reports[r], i)); i++)
			names[n++] = row->name;
	}
	print_error("tenon info: unknown backend or communicator '%s'%s", name,
		    did_you_mean(name, names, n, hint, sizeof(hint)));
	return EXIT_FAILED;
}

/* Prints the row of that name in one of the reports; the exit code. */
static int print_named(const tn_load_report *const reports[2], int is_communicator,
		       const char *name, int json)
{
	const tn_load_report *report = reports[is_communicator];
	const struct tn_load_row *row = tn_load_report_find(report, name);
	if (json && print_row_json(report, row))
		return EXIT_FAILED;
	if (!json) {
		print_row(report, row, is_communicator);
		print_others(report, row);
	}
	return row->status ? EXIT_NO_BACKEND : EXIT_DONE;
}

int info_why(const tn_load_report *backends, const tn_load_report *communicators, const char *name,
	     int json)
{
	const tn_load_report *const reports[2] = {backends, communicators};
	int is_backend = tn_load_report_find(backends, name) != NULL;
	int is_communicator = tn_load_report_find(communicators, name) != NULL;
	if (!is_backend && !is_communicator)
		return unknown(reports, name);
	int code = print_named(reports, !is_backend, name, json);
	/* A communicator may have a backend's name. */
	if (is_backend && is_communicator && !json)
		print_named(reports, 1, name, 0);
	return code;
}
