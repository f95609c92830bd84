/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon plugin new: checks the name and starts a project for a backend of that name.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scaffold.h"
#include "tool.h"

#define LONGEST_NAME 31

static const char about[] =
	"  Creates the project of a new backend, backend_NAME.so: sources, Makefile and\n"
	"  README. It builds unchanged and passes level 1 of tenon-conform;\n"
	"  tenon-plugin(7) continues from there. NAME consists of a-z, 0-9 and '_', at\n"
	"  most 31 characters.\n";

/* Names with a meaning of their own in a selection, or of Tenon's own backends, whose files `make
 * install` would overwrite. */
static int is_reserved(const char *name)
{
	static const char *const names[] = {"auto",   "gpu",    "accelerator", "pci",
					    "uuid",   "cpu",    "cuda",        "mock",
					    "onednn", "opencl", "reference"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return 1;
	}
	return 0;
}

/* Returns 0, or EXIT_USAGE after printing what is wrong with the name. */
static int check_name(const char *name)
{
	size_t length = strlen(name);
	if (!length || length > LONGEST_NAME ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length)
		return usage_error("plugin",
				   "'%s': expected a name of a-z, 0-9 and '_', at most "
				   "%d characters",
				   name, LONGEST_NAME);
	if (is_reserved(name))
		return usage_error(
			"plugin", "'%s' is the name of a backend of Tenon, or a word of selections",
			name);
	return 0;
}

static int new_project(const char *name, const char *directory, int cxx)
{
	char own[64];
	if (check_name(name))
		return EXIT_USAGE;
	snprintf(own, sizeof(own), "tenon-backend-%s", name);
	if (!directory)
		directory = own;
	if (!*directory)
		return usage_error("plugin", "--directory: the name is empty");
	int code = scaffold_write(directory, name, cxx);
	if (!code)
		printf("%s: the project of backend_%s.so\n"
		       "Build and check it there with `make check`; README.md and tenon-plugin(7) "
		       "continue.\n",
		       directory, name);
	return code;
}

int command_plugin(int argc, char **argv)
{
	const char *directory = NULL;
	int cxx = 0;
	const struct option_row rows[] = {
		{"directory", "DIR", "folder to write (tenon-backend-NAME), new or empty",
		 .text = &directory},
		{"cxx", NULL, "write it in C++11 instead of C11", .flag = &cxx},
	};
	const struct option_table table = {"tenon plugin", "new NAME", about, rows,
					   N_ROWS(rows),   NULL,       0};
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 2 || strcmp(argv[optind], "new") != 0)
		return usage_error("plugin", "expected 'new NAME'");
	return new_project(argv[optind + 1], directory, cxx);
}
