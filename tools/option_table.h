/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The options of a command as a table: parsing, --help and the errors about unexpected values use
 * the same rows.
 */
#ifndef TENON_TOOLS_OPTION_TABLE_H
#define TENON_TOOLS_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* One long option.  Exactly one pointer is set; it determines the kind of value. */
struct option_row {
	const char *name;     /* without the dashes */
	const char *argument; /* "N"; "[=time]", with brackets: optional; NULL: takes none */
	const char *help;     /* lines */

	int *flag;         /* := 1 */
	const char **text; /* := the argument, NULL if it is left out */
	uint64_t *count;   /* lowest to highest */
	double *real;      /* lowest to highest; highest 0: to below 1e30 */
	uint32_t *choice;  /* := the index of the argument in `choices`, which NULL ends */

	double lowest, highest;
	int above_lowest;  /* of a real: the lowest itself is excluded */
	int below_highest; /* and the highest */
	const char *const *choices;

	/* For any other form: stores the argument, NULL if it is left out, and returns whether it
	 * is what `expected` describes. */
	int (*take)(void *values, const char *argument);
	void *values;
	const char *expected;

	char letter; /* its short name too; 0: none */
};

/* Another name of an option, for which no row is in --help.  At most one of value, prefix and words
 * is set; without any, the alias takes what the option takes. */
struct option_alias {
	const char *name;
	const char *option;       /* a row's name */
	const char *value;        /* the alias takes no argument, the option gets this one */
	const char *prefix;       /* goes before the argument; of a row with `take` */
	const char *expected;     /* with a prefix: what the argument is */
	const char *const *words; /* an argument, what it becomes, and so on, then NULL */
};

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

struct option_table {
	const char *command;  /* its name: "tenon bench ops" */
	const char *operands; /* "[NAME ...]"; "" */
	const char *about;    /* lines of --help above the options; NULL */
	const struct option_row *rows;
	size_t n_rows;
	const struct option_alias *aliases;
	size_t n_aliases;
};

enum { OPTIONS_READ = -1, OPTIONS_HELPED = 0, OPTIONS_WRONG = 2 };

/* Reads the options by getopt_long, including --help and -h; argv[optind] is the first operand.
 * OPTIONS_READ: go on; otherwise the exit status, after --help or a message on stderr. */
int option_table_read(const struct option_table *table, int argc, char **argv);
/* The same up to the first operand: it and what follows are a command with options of its own. */
int option_table_read_before(const struct option_table *table, int argc, char **argv);

/* "; did you mean 'NAME'?" into `buffer`, or "" if no name is similar to that word. */
const char *did_you_mean(const char *word, const char *const *names, size_t n, char *buffer,
			 size_t size);

/* Read decimal numbers; 0 if the text is not one or is out of range, which is from 0 to below 1e30
 * for a real. */
int parse_count(const char *text, uint64_t lowest, uint64_t highest, uint64_t *value);
int parse_real(const char *text, double *value);

#endif
