/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame round the checks: what the parent process does, which never loads a plugin.
 *
 *	options.c       what the command line asks for
 *	exclude.c       checks left out, with reasons
 *	plan.c          which checks run, in which order
 *	rules.c         which rules cite a check
 *	supervise.c     runs children, sees how they end
 *	child.c         what a child does
 *	record.c        what a child tells its parent
 *	target.c        loads the backend under test
 *	result.c        what came of checks and levels
 *	verdict.c       what the parent sees by itself
 *	output.c        what a child printed
 *	report_text.c, report_json.c
 */
#ifndef TN_TOOLS_FRAME_H
#define TN_TOOLS_FRAME_H

#include <stdio.h>
#include <sys/types.h>

#include "conform.h"
#include "loader/registry.h"
#include "loader/version.h"

enum { LEVELS = 6, NO_LEVEL = -1 };

/* ---- What is asked for (options.c, exclude.c) ------------------------------------------------*/

enum mode { MODE_TEST, MODE_LARGE, MODE_PERF, MODE_SUPPORT, MODE_LIST };
enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_ABSENT = 77 };

struct exclusion {
	char id[64];
	char date[11]; /* YYYY-MM-DD */
	char reason[200];
};

struct options {
	enum mode mode;
	const char *which; /* a name, or a file (has a '/') */
	int require;       /* a level, or NO_LEVEL */
	int first_level, last_level;
	const char *filter; /* a pattern for ids; NULL: all */
	uint64_t seed;
	uint32_t device;
	unsigned timeout_s; /* of a check */
	int json;
	struct exclusion *exclusions;
	size_t n_exclusions;
};

/* Fills `options` from the command line.  -1: go on; otherwise the exit status, after --help,
 * --version, or a message on stderr. */
int options_read(struct options *options, int argc, char **argv);
void options_release(struct options *options);

/* Reads a file of `ID YYYY-MM-DD REASON` lines ('#' begins a remark).  0 after saying on stderr
 * which line is wrong. */
int exclusions_read(struct options *options, const char *path);

/* ---- Which checks run (plan.c, rules.c) ------------------------------------------------------*/

/* How a check runs. */
enum place {
	WITH_DEVICE, /* in a process that it shares, the device open */
	ALONE,       /* in a process of its own, nothing loaded */
	BY_PARENT,   /* seen by the parent in how all the others went */
};

/* The n-th check of all, levels ascending; NULL past the end. */
const struct check *check_at(size_t n, enum place *place);
const struct check *check_find(const char *id);
/* Does it run in --mode=large, and in no other? */
int check_is_large(const struct check *check);

/* The numbers of the rules of tenon-backend(7) that cite a check: "R3 R17", or "". */
void rules_of(const char *id, char *text, size_t size);

/* ---- What came of them (result.c) ------------------------------------------------------------*/

enum state { NOT_RUN, PASSED, FAILED, SKIPPED, EMPTY, EXCLUDED };
extern const char *const state_names[];

enum { MOST_FAILURES = 20 }; /* that are kept of a check */

struct failure {
	char *where; /* the case */
	char *why;
};

struct result {
	const struct check *check;
	enum place place;
	enum state state;
	int unwanted; /* not asked for: told only when it fails (BY_PARENT) */
	int ended;    /* it ran to its end */
	const struct exclusion *exclusion;
	char *reason; /* why it was skipped or not run */
	struct tally tallies[KIT_TALLIES];
	struct coverage coverage[KIT_OPERATIONS]; /* beyond the tallies */
	size_t n_coverage;
	struct failure failures[MOST_FAILURES];
	size_t n_failures; /* kept */
	char **remarks;
	size_t n_remarks;
	char *printed; /* the line to quote of what it printed */
	double seconds;
};

/* The whole run. */
struct run {
	const struct options *options;
	pid_t parent;
	struct kit *kit; /* shared with the children: where a dead one was */
	struct result *results;
	size_t n_results;
	char backend[32], version[64], device_name[128]; /* "": never opened */
	double seconds;
	tn_status absent; /* why there is no device; TN_OK: there is one, or none was needed */
	char *absent_text;
	/* What the parent saw: NULL where all was well. */
	char *loading_failure, *closing_failure, *races, *printed_loading;
	char loading_stage[160], closing_stage[160], races_where[64];
	unsigned closed; /* children that came to a good end with the device */
};

struct level_summary {
	enum state state; /* PASSED, FAILED, EMPTY, or NOT_RUN */
	unsigned checks, failed, skipped, excluded, not_run;
	unsigned cases, failures;
	unsigned by[ROUTES];
	unsigned own; /* runs on the device itself that the level is about */
	double seconds;
};

int run_init(struct run *run, const struct options *options); /* 0: out of memory */
/* The same for one check that stands in no table. */
int run_init_one(struct run *run, const struct options *options, const struct check *check);
void run_release(struct run *run);

void result_fail(struct result *result, const char *where, const char *why);
int result_is_due(const struct result *result); /* by a child, and not yet run */
void result_remark(struct result *result, const char *text);
/* Adds up the cases, and gives the check its state. */
void result_settle(struct result *result);
unsigned result_cases(const struct result *result);
unsigned result_failures(const struct result *result);
unsigned result_unsupported(const struct result *result);
/* Operation by operation, tallies included; at most `most` rows, returns how many. */
size_t result_coverage(const struct result *result, struct coverage *rows, size_t n, size_t most);

void level_summarise(const struct run *run, int level, struct level_summary *summary);
/* The highest level with 0 to it all passed; NO_LEVEL when 0 is not, or levels were left out. */
int level_reached(const struct run *run);
unsigned run_executed(const struct run *run);
unsigned run_failures(const struct run *run); /* checks that failed */
int run_exit_status(const struct run *run);

/* A copy, in which what cannot be printed has become '?'; ends the program without memory. */
char *text_copy(const char *text);

/* ---- Children (supervise.c, child.c, record.c, output.c) -------------------------------------*/

/* Runs all checks of the run; each result is reported as it is settled. */
void supervise(struct run *run);

/* Sees to the checks that are BY_PARENT.  After all others. */
void verdicts(struct run *run);

/* What a child does with results [first, last), which run in one place: never returns. */
void child_main(struct run *run, size_t first, size_t last, int records, int output)
	__attribute__((noreturn));

/* One record of the child's: a line of words with tabs between, sent whole. */
void record_send(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The words of a record, in place; returns how many. */
size_t record_split(char *line, char **words, size_t most);

/* The line to quote of what stands in [from, to) of a child's output, allocated; NULL: nothing
 * does.  A sanitizer's summary goes before the first line, and *sanitizer tells it; that an
 * allocation was refused, which is a case, is no line. */
char *output_quote(int output, uint64_t from, uint64_t to, int *sanitizer);

/* A forked child leaves to its parent what it copied: no leak (sanitizer.c). */
void sanitizer_forked(void);
/* Is this a program in which AddressSanitizer keeps freed memory for a while? */
int sanitizer_keeps_memory(void);

/* ---- The backend under test (target.c) -------------------------------------------------------*/

struct target {
	struct tn_parameters parameters;
	struct tn_threads *threads;
	struct tn_registry *registry;
	struct tn_load_report *report;
	const struct tn_backend *backend; /* NULL: it could not be loaded */
	tn_status status;                 /* why not */
	const char *text;
	uint32_t stage; /* TN_STAGE_... */
};

/* Finds the file of a backend by its name, and loads nothing.  0: there is none. */
int target_find(const char *name, char *path, size_t size);
int target_is_built_in(const char *which);

/* Loads what kit->which names (a file, or the built-in backend), as a host of that version (NULL:
 * this one); the kit's case names the stage on the way. */
void target_load(struct target *target, struct kit *kit, const struct tn_abi_version *host);
void target_unload(struct target *target);

/* ---- Reports ---------------------------------------------------------------------------------*/

void report_text_begin(const struct run *run);
void report_text_result(const struct result *result);
void report_text_late(const struct result *result); /* its last failure, after its line */
void report_text_end(const struct run *run);
int report_json(const struct run *run); /* 0: it could not be made */
void report_list(void);

#endif
