/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon: the command.  See tenon(1).
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "print_error.h"
#include "standard_files.h"
#include "tool.h"

static const struct command commands[] = {
	{"info", "[--why NAME] [--config] [options]", "show backends and devices", command_info},
	{"doctor", "[--device NAME] [--json] [options]", "check devices", command_doctor},
	{"train", "MODEL --data NAME|DIR [options]", "train a network", command_train},
	{"eval", "FILE [--data NAME|DIR] [options]", "evaluate a saved network", command_eval},
	{"predict", "FILE [--data NAME|DIR] [IMAGE...]", "classify pictures", command_predict},
	{"trace", "FILE|MODEL [options]", "show every layer's tensors", command_trace},
	{"models", "[MODEL[:FORM]] [options]", "list networks, show layers", command_models},
	{"data", "[NAME|DIR] [options]", "list and check data sets", command_data},
	{"convert", "IN OUT [options]", "between safetensors and NPZ", command_convert},
	{"launch", "-n N COMMAND [ARGUMENT...]", "start ranks on this machine", command_launch},
	{"plugin", "new NAME [--directory DIR]", "create a backend project", command_plugin},
	{"bench", "dispatch|ops|train [options]", "measure", command_bench},
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_usage(FILE *out)
{
	fprintf(out, "usage: tenon COMMAND [options]\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  tenon %-8s %-34s %s\n", commands[i].name, commands[i].arguments,
			commands[i].text);
	fprintf(out, "\n  tenon COMMAND --help   its options\n"
		     "  tenon help FUNCTION    a function of the library, by name or by a word\n"
		     "  tenon --version\n\n"
		     "TENON_BACKEND chooses a backend: auto, cpu, gpu, cuda:1, ^cuda, cuda!\n"
		     "(see tenon(7)).\n");
}

/* A failed write to standard output is a failure of the command. */
static int flushed(int code)
{
	if (fflush(stdout) || ferror(stdout)) {
		perror("tenon: standard output");
		return code == EXIT_DONE ? EXIT_FAILED : code;
	}
	return code;
}

static int unknown(const char *name)
{
	const char *names[N_COMMANDS];
	char hint[80];
	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	print_error("tenon: there is no command '%s'%s", name,
		    did_you_mean(name, names, N_COMMANDS, hint, sizeof(hint)));
	print_error("Try: tenon --help");
	return EXIT_USAGE;
}

static int is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

static int is_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return 1;
	}
	return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
	/* A file that has grown too large is an error like a full disk.  What `launch` starts
	 * decides for itself. */
	if (command->run != command_launch)
		signal(SIGXFSZ, SIG_IGN);
	return flushed(command->run(argc, argv));
}

/* Converts "tenon help bench ops" into "tenon bench ops --help". */
static void put_help_last(int argc, char **argv)
{
	static char help[] = "--help";
	memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
	argv[argc - 1] = help;
}

int main(int argc, char **argv)
{
	take_standard_files();
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (argc > 2 && !strcmp(argv[1], "help")) {
		if (argv[2][0] != '-' && !is_command(argv[2]))
			return flushed(command_help(argc - 1, argv + 1));
		put_help_last(argc, argv);
	}
	if (is_one_of(argv[1], "--help", "-h", "help")) {
		print_usage(stdout);
		return flushed(EXIT_DONE);
	}
	if (is_one_of(argv[1], "--version", "-V", "version")) {
		printf("tenon %s\n", tn_version());
		return flushed(EXIT_DONE);
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	}
	return unknown(argv[1]);
}
