/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

static const char help[] =
	"usage: tenon info [options]\n"
	"\n"
	"  --why NAME       what became of one backend\n"
	"  --env            the variables that are read, their values and where they are from\n"
	"  --json           the load report as JSON\n"
	"  --probe FILE     load a plugin file in a process of its own, and report\n"
	"  --timeout MS     how long a probe may take (10000)\n"
	"  --backend NAME   as TENON_BACKEND\n";

struct info_command {
	struct common_options common;
	const char *why;
	const char *probe;
	uint64_t timeout;
	int env;
	int json;
};

static const struct option options[] = {
	{"why", required_argument, NULL, 'w'},     {"env", no_argument, NULL, 'e'},
	{"json", no_argument, NULL, 'j'},          {"probe", required_argument, NULL, 'p'},
	{"timeout", required_argument, NULL, 't'}, {"backend", required_argument, NULL, 'b'},
	{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

static int parse_arguments(struct info_command *c, int argc, char **argv)
{
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'w':
			c->why = optarg;
			break;
		case 'e':
			c->env = 1;
			break;
		case 'j':
			c->json = 1;
			break;
		case 'p':
			c->probe = optarg;
			break;
		case 't':
			if (!parse_count(optarg, 1, 600000, &c->timeout))
				return usage_error("info", "--timeout: '%s' is not 1 to 600000",
						   optarg);
			break;
		case 'b':
			c->common.backend = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return usage_error("info", "see above");
		}
	}
	if (optind < argc)
		return usage_error("info", "unexpected '%s'", argv[optind]);
	return -1;
}

static int print_report(tn_load_report *report, int json)
{
	const char *text = json ? tn_load_report_json(report) : tn_load_report_text(report);
	if (!text) {
		fprintf(stderr, "tenon info: out of memory\n");
		return EXIT_FAILED;
	}
	fputs(text, stdout);
	if (json)
		fputc('\n', stdout);
	return EXIT_DONE;
}

static void print_device(const struct tn_device_description *d, uint32_t index)
{
	printf("  device %u: %s", index, d->name);
	if (d->memory_bytes)
		printf(", %.1f GiB", (double)d->memory_bytes / 1073741824.0);
	printf("\n");
	if (d->note[0])
		printf("    %s\n", d->note);
}

/* Everything that the report knows of one backend. */
static int print_why(const tn_load_report *report, const char *name)
{
	const struct tn_load_row *row = tn_load_report_find(report, name);
	if (!row) {
		fprintf(stderr, "tenon info: nothing is known of a backend '%s'\n", name);
		return EXIT_FAILED;
	}
	printf("%s: %s\n", row->name, row->status ? tn_status_name(row->status) : "usable");
	if (row->status)
		printf("  %s\n  meaning: %s\n", row->text, tn_status_text(row->status));
	printf("  found: %s\n", tn_found_name(row->found));
	if (row->path)
		printf("  file: %s\n", row->path);
	printf("  stage reached: %s, in %.1f ms\n", tn_stage_name(row->stage),
	       (double)row->microseconds / 1000.0);
	if (row->version[0])
		printf("  version: %s, interface %u.%u\n", row->version, row->abi_major,
		       row->abi_minor);
	if (row->native_code)
		printf("  native code: %lld\n", (long long)row->native_code);
	if (row->hardware[0])
		printf("  hardware: %s, %s\n", row->hardware,
		       row->hardware_seen ? "present" : "not seen");
	if (row->packages[0])
		printf("  packages that bring it: %s\n", row->packages);
	for (uint32_t i = 0; i < row->n_devices; i++)
		print_device(&row->devices[i], i);
	return EXIT_DONE;
}

static int probe(const struct info_command *c)
{
	struct tn_error_info error;
	tn_load_report *report = NULL;
	if (tn_probe(c->probe, (uint32_t)c->timeout, &report, &error))
		return report_error(&error);
	const struct tn_load_row *row = tn_load_report_row(report, 0);
	int code = print_report(report, c->json);
	if (code == EXIT_DONE && row && row->status)
		code = EXIT_NO_BACKEND;
	tn_load_report_destroy(report);
	return code;
}

static void print_variables(const tn_context *context)
{
	struct tn_variable variable = {.struct_size = sizeof(variable)};
	for (size_t i = 0; !tn_variable_at(context, i, &variable); i++) {
		printf("%-24s %s\n", variable.name, variable.value ? variable.value : "(not set)");
		printf("  from %s; %s\n", variable.origin, variable.help);
	}
}

int command_info(int argc, char **argv)
{
	struct info_command c = {.why = NULL};
	int code = parse_arguments(&c, argc, argv);
	if (code >= 0)
		return code;
	if (c.probe)
		return probe(&c);
	tn_load_report *failed = NULL;
	c.common.report_on_failure = &failed;
	tn_context *context = open_context(&c.common, 0, &code);
	if (!context) {
		/* The report says more than the error: it is what was asked for. */
		if (failed && c.why)
			print_why(failed, c.why);
		else if (failed)
			print_report(failed, c.json);
		tn_load_report_destroy(failed);
		return code;
	}
	tn_load_report *report = tn_context_report(context);
	if (c.env)
		print_variables(context);
	else if (c.why)
		code = print_why(report, c.why);
	else
		code = print_report(report, c.json);
	tn_context_close(context);
	return code;
}
