/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What all subcommands share: usage errors, errors of contexts, opening a context, the ledger.
 */
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print_error.h"
#include "terminal.h"

int usage_error(const char *command, const char *format, ...)
{
	char words[64];
	va_list arguments;
	snprintf(words, sizeof(words), "tenon %s: ", command);
	va_start(arguments, format);
	print_error_list(words, format, arguments);
	va_end(arguments);
	print_error("Try: tenon %s --help", command);
	return EXIT_USAGE;
}

int no_memory(const char *what)
{
	print_error("tenon: no memory for %s", what);
	return EXIT_FAILED;
}

/* "rank 3: " of several ranks, else "". */
static char rank_text[24];

void report_rank(uint32_t rank)
{
	snprintf(rank_text, sizeof(rank_text), "rank %u: ", rank);
}

int report_error(const struct tn_error_info *error)
{
	char line[sizeof(error->operation) + sizeof(error->text) + sizeof(rank_text) + 64];
	snprintf(line, sizeof(line), "tenon: %s%s: %s (%s)\n", rank_text,
		 error->operation[0] ? error->operation : "error",
		 error->text[0] ? error->text : tn_status_text(error->status),
		 tn_status_name(error->status));
	write_wrapped(stderr, line, terminal_columns(STDERR_FILENO));
	return error->status >= TN_NO_PLUGIN && error->status <= TN_DUPLICATE ? EXIT_NO_BACKEND
									      : EXIT_FAILED;
}

const char *tool_environment(const char *name)
{
	return secure_getenv(name);
}

const char backend_option_help[] = "as cuda.cudnn=auto; may be given again";
const char backend_option_form[] = "BACKEND.OPTION=VALUE, at most 32 times";

int take_plugin_option(void *values, const char *argument)
{
	struct plugin_options *options = values;
	if (!strchr(argument, '=') || options->n == MOST_PLUGIN_OPTIONS)
		return 0;
	options->list[options->n++] = argument;
	return 1;
}

int take_backend_option(void *values, const char *argument)
{
	struct common_options *options = values;
	return take_plugin_option(&options->backend_options, argument);
}

void split_plugin_options(const struct plugin_options *options,
			  struct tn_pair pairs[MOST_PLUGIN_OPTIONS],
			  char keys[MOST_PLUGIN_OPTIONS][128])
{
	for (size_t i = 0; i < options->n; i++) {
		const size_t length = strcspn(options->list[i], "=");
		snprintf(keys[i], sizeof(keys[i]), "%.*s", (int)length, options->list[i]);
		pairs[i] = (struct tn_pair){keys[i], options->list[i] + length + 1};
	}
}

tn_status open_context_with(const struct tn_context_options *given,
			    const struct common_options *common, tn_context **context,
			    struct tn_error_info *error)
{
	struct tn_pair pairs[MOST_PLUGIN_OPTIONS];
	char keys[MOST_PLUGIN_OPTIONS][128];
	struct tn_context_options options = *given;
	split_plugin_options(&common->backend_options, pairs, keys);
	options.n_backend_options = common->backend_options.n;
	options.backend_options = pairs;
	return tn_context_open(&options, context, error);
}

tn_context *open_context(const struct common_options *options, uint64_t seed, int *exit_code)
{
	struct tn_error_info error;
	tn_context *context = NULL;
	struct tn_context_options o = tn_context_defaults();
	o.backend = options->backend;
	o.seed = seed;
	o.ledger_time = options->ledger == 2;
	o.report_on_failure = options->report_on_failure;
	*exit_code = EXIT_DONE;
	if (!open_context_with(&o, options, &context, &error))
		return context;
	*exit_code = report_error(&error);
	return NULL;
}

int finish(tn_context *context)
{
	const struct tn_error_info *error = tn_error(context);
	return error ? report_error(error) : EXIT_DONE;
}

const char *const capture_words[] = {
	[TN_CAPTURE_AUTO] = "auto", [TN_CAPTURE_ON] = "on", [TN_CAPTURE_OFF] = "off", NULL};

int take_ledger(void *values, const char *argument)
{
	struct common_options *options = values;
	options->ledger = argument ? 2 : 1;
	return !argument || !strcmp(argument, "time");
}
