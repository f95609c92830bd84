/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations shared by the subcommands of `tenon`.  Results go to stdout, progress and errors to
 * stderr.
 */
#ifndef TENON_TOOLS_TOOL_H
#define TENON_TOOLS_TOOL_H

#include "option_table.h"

#include <tenon/tenon.h>

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO_BACKEND = 3 };

/* Options of every command with a context. */
enum { MOST_PLUGIN_OPTIONS = 32 };
struct plugin_options {
	const char *list[MOST_PLUGIN_OPTIONS]; /* "cuda.cudnn=on" */
	size_t n;
};
struct common_options {
	const char *backend;                   /* --backend */
	struct plugin_options backend_options; /* --backend-option */
	int ledger;                            /* --ledger: 1, --ledger=time: 2 */
	tn_load_report **report_on_failure;    /* as in struct tn_context_options */
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
int command_trace(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_models(int argc, char **argv);
int command_plugin(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_data(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_launch(int argc, char **argv);
int command_help(int argc, char **argv);

/* Prints what is wrong with the command line, and how to get help; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints "tenon: no memory for WHAT"; returns EXIT_FAILED. */
int no_memory(const char *what);
/* Prints a failure; returns its exit code. */
int report_error(const struct tn_error_info *error);
/* From now on failures name this rank, one of several. */
void report_rank(uint32_t rank);
/* Opens a context; on failure prints why and writes the exit code. */
tn_context *open_context(const struct common_options *options, uint64_t seed, int *exit_code);
/* The same for other options than these, but those of backends.  Nothing is printed. */
tn_status open_context_with(const struct tn_context_options *given,
			    const struct common_options *common, tn_context **context,
			    struct tn_error_info *error);
/* The pairs of options of plugins.  They point to the texts and to `keys`. */
void split_plugin_options(const struct plugin_options *options,
			  struct tn_pair pairs[MOST_PLUGIN_OPTIONS],
			  char keys[MOST_PLUGIN_OPTIONS][128]);
/* Prints the context's error and returns its exit code; EXIT_DONE if there is none. */
int finish(tn_context *context);
void print_ledger(const tn_context *context);

/* An environment variable, read as by the library: NULL in a privileged process. */
const char *tool_environment(const char *name);

/* Rows of option_table.h: what --capture takes, by TN_CAPTURE_..., and --ledger[=time] and
 * --backend-option, whose values are struct common_options; what takes options of plugins, whose
 * values are struct plugin_options. */
extern const char *const capture_words[];
int take_ledger(void *values, const char *argument);
extern const char backend_option_help[], backend_option_form[];
int take_backend_option(void *values, const char *argument);
int take_plugin_option(void *values, const char *argument);

/* A network read from a file. */
struct saved_network {
	tn_module *module;
	struct tn_input_format format;
	char *data;    /* the data set that it was trained on; NULL: unknown */
	char *classes; /* names, one per line */
	int has_spare; /* the data set lacks its last classes, which are only numbers */
};
/* Print the failure and return its exit code; EXIT_DONE: filled, owned (saved_network_release).
 * The first reads a file that `tenon train --save` wrote, whose metadata describe the network; the
 * second any safetensors file, as a network of that name for inputs of that format, with as many
 * classes as its last tensor has. `classes` may be NULL. */
int saved_network_open(tn_context *context, const char *path, struct saved_network *network);
int weights_open(tn_context *context, const char *path, const char *model,
		 const struct tn_input_format *format, const char *classes,
		 struct saved_network *network);
void saved_network_release(struct saved_network *network);
/* Prints that a data set is not of labelled pictures, and what it has; returns EXIT_FAILED. */
int not_pictures(const char *command, const tn_dataset *dataset);
/* Says on stderr which class the test part lacks, by the counts of labels (rows) and answers of an
 * evaluation on it.  has_spare: classes at the end that are only numbers may be without pictures,
 * as train --classes adds them. */
void say_untested(const char *command, const tn_dataset *dataset, int has_spare,
		  const uint64_t *confusion);
/* The names of the classes of a data set, one per line, owned; NULL: out of memory. */
char *class_lines(const tn_dataset *dataset);
/* Writes the name of a class into `buffer`, or its number if it has none. */
const char *class_name(const char *classes, int64_t label, char *buffer, size_t size);

#endif
