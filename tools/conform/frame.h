/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame around the checks: the parent process, which never loads a plugin.
 *
 *	options.c       the command line
 *	exclude.c       checks left out, with reasons
 *	plan.c          which checks run, in which order
 *	rules.c         which rules cite a check
 *	supervise.c     runs children and records how they end
 *	child.c         the child process
 *	record.c        records from a child to its parent
 *	target.c        loads the backend under test
 *	result.c        results of checks and levels
 *	verdict.c       checks that the parent decides
 *	output.c        the output of a child
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

enum { MOST_BACKEND_OPTIONS = 32 };
struct options {
	enum mode mode;
	const char *which; /* a name, or a file (has a '/') */
	int require;       /* a level, or NO_LEVEL */
	int first_level, last_level;
	struct tn_pair given[MOST_BACKEND_OPTIONS]; /* --backend-option */
	char keys[MOST_BACKEND_OPTIONS][128];       /* "cuda.cudnn" */
	size_t n_given;
	const char *table;  /* a vendor's own, which process.tables checks too; NULL: none */
	const char *filter; /* a pattern for ids; NULL: all */
	uint64_t seed;
	uint32_t device;
	unsigned timeout_s; /* of a check */
	double patience_s;  /* of a sweep */
	unsigned effort;    /* in percent */
	int json;
	int strict; /* fails if cases were not tried */
	struct exclusion *exclusions;
	size_t n_exclusions;
};

/* Fills `options` from the command line.  -1: continue; otherwise the exit status, after --help,
 * --version, or a message on stderr. */
int options_read(struct options *options, int argc, char **argv);
void options_release(struct options *options);

/* Reads a file of `ID YYYY-MM-DD REASON` lines ('#' begins a comment).  0 after naming the invalid
 * line on stderr. */
int exclusions_read(struct options *options, const char *path);

/* ---- Which checks run (plan.c, rules.c) ------------------------------------------------------*/

/* How a check runs. */
enum place {
	WITH_DEVICE, /* in a shared process, with the device open */
	ALONE,       /* in a process of its own, nothing loaded */
	BY_PARENT,   /* decided by the parent from all other checks */
};

/* Check number n of all, by ascending level; NULL past the end. */
const struct check *check_at(size_t n, enum place *place);
const struct check *check_find(const char *id);
/* Does it run only in --mode=large? */
int check_is_large(const struct check *check);

/* The numbers of the rules of tenon-backend(7) that cite a check: "R3 R17", or "". */
void rules_of(const char *id, char *text, size_t size);

/* ---- What came of them (result.c) ------------------------------------------------------------*/

enum state { NOT_RUN, PASSED, FAILED, SKIPPED, EMPTY, EXCLUDED };
extern const char *const state_names[];

enum { MOST_FAILURES = 20 }; /* kept per check */

struct failure {
	char *where; /* the case */
	char *why;
	const struct check *during; /* the check whose calls showed it */
};

struct result {
	const struct check *check;
	enum place place;
	enum state state;
	int unwanted; /* not requested: reported only on failure (BY_PARENT) */
	int ended;    /* it ran to its end */
	const struct exclusion *exclusion;
	char *reason; /* why it was skipped or not run */
	struct tally tallies[KIT_TALLIES];
	struct coverage coverage[KIT_OPERATIONS]; /* in addition to the tallies */
	size_t n_coverage;
	struct failure failures[MOST_FAILURES];
	size_t n_failures; /* kept */
	char **remarks;
	size_t n_remarks;
	unsigned not_tried; /* cases, as remarks say */
	char *printed;      /* the line of its output to quote */
	double seconds;
};

/* The whole run. */
struct run {
	const struct options *options;
	pid_t parent;
	struct kit *kit; /* shared with the children: the state of a dead one */
	struct result *results;
	size_t n_results;
	char backend[32], version[64], device_name[128]; /* "": never opened */
	double seconds;
	tn_status absent; /* why there is no device; TN_OK: it opened, or was not needed */
	char *absent_text;
	/* Observed by the parent; NULL: no failure. */
	char *loading_failure, *closing_failure, *races, *printed_loading;
	char loading_stage[160], closing_stage[160], races_where[64];
	unsigned closed; /* children that closed the device and ended normally */
};

struct level_summary {
	enum state state; /* PASSED, FAILED, EMPTY, or NOT_RUN */
	unsigned checks, failed, skipped, excluded, not_run;
	unsigned cases, failures, not_tried;
	unsigned by[ROUTES];
	unsigned own; /* runs on the device itself that count for the level */
	double seconds;
};

int run_init(struct run *run, const struct options *options); /* 0: out of memory */
/* The same for one check outside the tables. */
int run_init_one(struct run *run, const struct options *options, const struct check *check);
void run_release(struct run *run);

/* `during`: the check whose calls showed it, which is to be run again. */
void result_fail(struct result *result, const struct check *during, const char *where,
		 const char *why);
int result_is_due(const struct result *result); /* to be run by a child, not yet run */
void result_remark(struct result *result, const char *text);
/* Adds up the cases and sets the state of the check. */
void result_settle(struct result *result);
unsigned result_cases(const struct result *result);
unsigned result_failures(const struct result *result);
unsigned result_unsupported(const struct result *result);
/* Operation by operation, tallies included; at most `most` rows; returns their number. */
size_t result_coverage(const struct result *result, struct coverage *rows, size_t n, size_t most);

void level_summarise(const struct run *run, int level, struct level_summary *summary);
/* The highest level up to which all levels passed; NO_LEVEL if level 0 failed or levels were left
 * out. */
int level_reached(const struct run *run);
unsigned run_executed(const struct run *run);
unsigned run_failures(const struct run *run); /* checks that failed */
unsigned run_not_tried(const struct run *run);
int run_exit_status(const struct run *run);

/* A copy with unprintable characters replaced by '?'; ends the program if memory runs out. */
char *text_copy(const char *text);

/* ---- Children (supervise.c, child.c, record.c, output.c) -------------------------------------*/

/* Runs all checks of the run; each result is reported as soon as it is known. */
void supervise(struct run *run);

/* Decides the BY_PARENT checks, after all others. */
void verdicts(struct run *run);

/* Runs results [first, last) in a child process; never returns. */
void child_main(struct run *run, size_t first, size_t last, int records, int output)
	__attribute__((noreturn));

/* Sends one record of the child: a line of tab-separated words, written whole. */
void record_send(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Splits a record into words in place; returns their number. */
size_t record_split(char *line, char **words, size_t most);

/* The line to quote of [from, to) of a child's output, allocated; NULL: it is empty.  A sanitizer's
 * summary is preferred to the first line, and sets *sanitizer; warnings of refused allocations,
 * which are test cases, are skipped. */
char *output_quote(int output, uint64_t from, uint64_t to, int *sanitizer);

/* Memory that a forked child inherited is not a leak of the child (sanitizer.c). */
void sanitizer_forked(void);
/* Does AddressSanitizer keep freed memory for a while in this program? */
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

/* Finds the file of a backend by its name without loading it.  0: there is none. */
int target_find(const char *name, char *path, size_t size);
int target_is_built_in(const char *which);

/* Loads what kit->which names (a file, or the built-in backend), as a host of that version (NULL:
 * this one); the kit's case names the current stage. */
void target_load(struct target *target, struct kit *kit, const struct tn_abi_version *host);
/* The same with an option of the program; NULL: with none. */
void target_load_with(struct target *target, struct kit *kit, const struct tn_pair *option);
/* With a pool of one thread: every other thread is the plugin's, or that of a library it uses. */
void target_load_serial(struct target *target, struct kit *kit);
void target_unload(struct target *target);

/* ---- Reports ---------------------------------------------------------------------------------*/

void report_text_begin(const struct run *run);
void report_text_result(const struct run *run, const struct result *result);
/* Prints its last failure, after its line. */
void report_text_late(const struct run *run, const struct result *result);
void report_text_end(const struct run *run);
int report_json(const struct run *run); /* 0: failure */
void report_list(void);

#endif
