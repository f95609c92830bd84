/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon info: the backends and communicators found, variables, and the build's configuration.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "print_error.h"
#include "terminal.h"

struct info_command {
	struct common_options common;
	const char *why;
	const char *probe; /* NULL with `probes`: all files */
	uint64_t timeout;
	int probes;
	int env;
	int config;
	int json;
};

static int take_probe(void *values, const char *argument)
{
	struct info_command *c = values;
	c->probes = 1;
	c->probe = argument;
	return 1;
}

static int parse_arguments(struct info_command *c, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"why", "NAME", "show the status of one backend or communicator,\nand what to do",
		 .text = &c->why},
		{"env", NULL, "list variables, their values and origins", .flag = &c->env},
		{"config", NULL, "show how Tenon was built, and what it found", .flag = &c->config},
		{"probe", "[FILE]", "load a plugin file, or all, each in a separate process",
		 .take = take_probe, .values = c},
		{"timeout", "MS", "time limit for probing one file (10000)", .count = &c->timeout,
		 .lowest = 1, .highest = 600000},
		{"json", NULL, "print as JSON", .flag = &c->json},
		{"backend", "NAME", "as TENON_BACKEND", .text = &c->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &c->common, .expected = backend_option_form},
	};
	const struct option_table table = {"tenon info", "", NULL, rows, N_ROWS(rows), NULL, 0};
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (c->probes && !c->probe && optind < argc)
		c->probe = argv[optind++];
	if (optind < argc)
		return usage_error("info", "unexpected '%s'", argv[optind]);
	if (c->config && c->json)
		return usage_error("info", "--config has no JSON");
	return OPTIONS_READ;
}

static int out_of_memory(void)
{
	print_error("tenon info: out of memory");
	return EXIT_FAILED;
}

/* `communicators` may be NULL. */
static int print_reports(const tn_load_report *backends, const tn_load_report *communicators,
			 int json)
{
	const tn_load_report *const reports[2] = {backends, communicators};
	if (json)
		return info_json(backends, communicators);
	for (int i = 0; i < 2; i++) {
		const char *text = tn_load_report_text(reports[i]);
		if (reports[i] && !text)
			return out_of_memory();
		if (tn_load_report_count(reports[i]))
			write_wrapped(stdout, text, terminal_columns(STDOUT_FILENO));
	}
	return EXIT_DONE;
}

/* Is every file found usable?  Excluded files and duplicates are ignored. */
static int all_usable(const tn_load_report *report)
{
	const struct tn_load_row *row;
	for (size_t i = 0; (row = tn_load_report_at(report, i)); i++) {
		int harmless = row->status == TN_EXCLUDED || row->status == TN_DUPLICATE;
		if (row->status && !harmless && row->path)
			return 0;
	}
	return 1;
}

static int probe(const struct info_command *c)
{
	struct tn_error_info error;
	tn_load_report *report = NULL;
	uint32_t timeout = (uint32_t)c->timeout;
	tn_status status = c->probe ? tn_probe(c->probe, timeout, &report, &error)
				    : tn_probe_all(NULL, 0, timeout, &report, &error);
	if (status)
		return report_error(&error);
	int code = c->why ? info_why(report, NULL, c->why, c->json)
			  : print_reports(report, NULL, c->json);
	if (code == EXIT_DONE && !all_usable(report))
		code = EXIT_NO_BACKEND;
	tn_load_report_destroy(report);
	return code;
}

/* Replaces control characters by '?', including U+0080 to U+009F in UTF-8. */
static void write_value(FILE *out, const char *value)
{
	const unsigned char *c = (const unsigned char *)value;
	for (; *c; c++) {
		int control = *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
		fputc(control ? '?' : *c, out);
	}
}

static void write_variables(FILE *out, const tn_context *context)
{
	struct tn_variable variable = {.struct_size = sizeof(variable)};
	for (size_t i = 0; !tn_variable_at(context, i, &variable); i++) {
		fprintf(out, "%-24s ", variable.name);
		write_value(out, variable.value ? variable.value : "");
		fprintf(out, "%s(%s)\n", variable.value ? " " : "", variable.origin);
		fprintf(out, "  %s\n", variable.help);
	}
}

static int print_variables(const tn_context *context)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out)
		write_variables(out, context);
	if (!out || fclose(out)) {
		free(text);
		return out_of_memory();
	}
	write_wrapped(stdout, text, terminal_columns(STDOUT_FILENO));
	free(text);
	return EXIT_DONE;
}

/* An array of objects: name, value (null: not set, or ignored), origin, help. */
static int print_variables_json(const tn_context *context)
{
	struct tn_variable v = {.struct_size = sizeof(v)};
	json_t *list = json_array();
	for (size_t i = 0; !tn_variable_at(context, i, &v); i++)
		json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:s}", "name", v.name,
						      "value", printable_json(v.value), "origin",
						      v.origin, "help", v.help));
	return print_json(list);
}

static int print_config(const tn_context *context)
{
	char *text = tn_show_config(context);
	if (!text)
		return out_of_memory();
	write_wrapped(stdout, text, terminal_columns(STDOUT_FILENO));
	tn_string_free(text);
	return EXIT_DONE;
}

/* Prints what the options request of an open context.  The list of communicators has read the
 * variables of their launchers. */
static int print_context(const struct info_command *c, const tn_context *context,
			 const tn_load_report *communicators)
{
	const tn_load_report *backends = tn_context_report(context);
	if (c->config)
		return print_config(context);
	if (c->env && c->json)
		return print_variables_json(context);
	if (c->env)
		return print_variables(context);
	if (c->why)
		return info_why(backends, communicators, c->why, c->json);
	return print_reports(backends, communicators, c->json);
}

int command_info(int argc, char **argv)
{
	struct info_command c = {.timeout = TN_PROBE_TIMEOUT_MS};
	int code = parse_arguments(&c, argc, argv);
	if (code >= 0)
		return code;
	if (c.probes)
		return probe(&c);
	tn_load_report *failed = NULL;
	c.common.report_on_failure = &failed;
	tn_context *context = open_context(&c.common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!context) {
		/* The report was requested, and explains more than the error. */
		if (failed && c.why)
			info_why(failed, NULL, c.why, c.json);
		else if (failed)
			print_reports(failed, NULL, c.json);
		tn_load_report_destroy(failed);
		return code;
	}
	struct tn_error_info error;
	tn_load_report *communicators = NULL;
	code = tn_communicator_list(context, &communicators, &error)
		       ? report_error(&error)
		       : print_context(&c, context, communicators);
	tn_load_report_destroy(communicators);
	tn_context_close(context);
	return code;
}
