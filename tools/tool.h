/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the subcommands of `tenon` share.  Results go to stdout, progress and errors to stderr.
 */
#ifndef TENON_TOOLS_TOOL_H
#define TENON_TOOLS_TOOL_H

#include "option_table.h"

#include <tenon/tenon.h>

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO_BACKEND = 3 };

/* Options that every command with a context takes. */
struct common_options {
	const char *backend;                /* --backend */
	int ledger;                         /* --ledger: 1, --ledger=time: 2 */
	tn_load_report **report_on_failure; /* as in struct tn_context_options */
};

/* One subcommand: runs with its own argc and argv, argv[0] being its name; returns an exit code. */
struct command {
	const char *name;
	const char *arguments;
	const char *text;
	int (*run)(int argc, char **argv);
};

int command_doctor(int argc, char **argv);
int command_info(int argc, char **argv);
int command_train(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_models(int argc, char **argv);
int command_plugin(int argc, char **argv);
int command_bench(int argc, char **argv);

/* Says what is wrong with the command line, and where help is; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints a failure; returns the exit code that belongs to it. */
int report_error(const struct tn_error_info *error);
/* Opens a context; on failure prints why and writes the exit code. */
tn_context *open_context(const struct common_options *options, uint64_t seed, int *exit_code);
/* The exit code for what the context keeps, printed; EXIT_DONE when it keeps nothing. */
int finish(tn_context *context);
void print_ledger(const tn_context *context);

/* A variable of the environment, as the library reads them: NULL too in a privileged process. */
const char *tool_environment(const char *name);

/* Rows of option_table.h: what --capture takes, by TN_CAPTURE_..., and --ledger[=time], whose
 * values are struct common_options. */
extern const char *const capture_words[];
int take_ledger(void *values, const char *argument);

/* A network read from a file that `tenon train --save` wrote. */
struct saved_network {
	tn_module *module;
	struct tn_input_format format;
	char *data;    /* the data set it was trained on */
	char *classes; /* names, one a line */
};
/* Prints the failure and returns its exit code; EXIT_DONE: filled, owned
 * (saved_network_release). */
int saved_network_open(tn_context *context, const char *path, struct saved_network *network);
void saved_network_release(struct saved_network *network);
/* The name of a class into `buffer`: its number when it has none. */
const char *class_name(const char *classes, int64_t label, char *buffer, size_t size);

#endif
