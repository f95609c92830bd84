/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The results of checks and levels.
 *
 * A level is PASSED if none of its checks failed and some of its cases ran on the device itself, by
 * its own slots or composed of them; EMPTY if all were refused, or ran elsewhere.  In levels 2 to
 * 4, which are about computing, operations that only move data do not count.
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frame.h"
#include "loader/slots.h"

const char *const state_names[] = {"not run", "passed", "FAILED", "skipped", "empty", "excluded"};

static void *checked(void *memory)
{
	if (memory)
		return memory;
	fputs("tenon-conform: out of memory\n", stderr);
	_exit(EXIT_FAILED);
}

char *text_copy(const char *text)
{
	char *copy = checked(strdup(text));
	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	}
	return copy;
}

/* ---- One check -------------------------------------------------------------------------------*/

void result_fail(struct result *result, const struct check *during, const char *where,
		 const char *why)
{
	if (result->state == EXCLUDED)
		return;
	result->state = FAILED;
	if (result->n_failures == MOST_FAILURES)
		return;
	result->failures[result->n_failures++] = (struct failure){
		.where = text_copy(where), .why = text_copy(why), .during = during};
}

void result_remark(struct result *result, const char *text)
{
	size_t size = (result->n_remarks + 1) * sizeof(*result->remarks);
	result->remarks = checked(realloc(result->remarks, size));
	result->remarks[result->n_remarks++] = text_copy(text);
}

int result_is_due(const struct result *result)
{
	return result->place != BY_PARENT && !result->ended && result->state != EXCLUDED;
}

static unsigned done(const struct result *result)
{
	unsigned n = 0;
	for (int slot = 0; slot < KIT_TALLIES; slot++)
		n += result->tallies[slot].done + result->tallies[slot].refused;
	return n;
}

unsigned result_failures(const struct result *result)
{
	unsigned n = 0;
	for (int slot = 0; slot < KIT_TALLIES; slot++)
		n += result->tallies[slot].failed;
	return n > result->n_failures ? n : (unsigned)result->n_failures;
}

unsigned result_unsupported(const struct result *result)
{
	unsigned n = 0;
	for (int slot = 0; slot < KIT_TALLIES; slot++)
		n += result->tallies[slot].unsupported;
	return n;
}

unsigned result_cases(const struct result *result)
{
	unsigned n = done(result);
	return n > result_failures(result) ? n : result_failures(result);
}

void result_settle(struct result *result)
{
	if (result_failures(result))
		result->state = FAILED;
	else if (done(result))
		result->state = PASSED;
	else if (result->state == NOT_RUN)
		result->state = result->reason ? SKIPPED : EMPTY;
}

static struct coverage *row_of(struct coverage *rows, size_t *n, size_t most, const char *operation)
{
	for (size_t i = 0; i < *n; i++) {
		if (!strcmp(rows[i].operation, operation))
			return &rows[i];
	}
	if (*n == most)
		return NULL;
	memset(&rows[*n], 0, sizeof(*rows));
	snprintf(rows[*n].operation, sizeof(rows->operation), "%s", operation);
	return &rows[(*n)++];
}

static const char *tally_name(int slot)
{
	return slot == KIT_FILE ? "file" : slot == KIT_PROCESS ? "process" : tn_slots[slot].name;
}

size_t result_coverage(const struct result *result, struct coverage *rows, size_t n, size_t most)
{
	struct coverage *row;
	for (int slot = 0; slot < KIT_CONTEXT; slot++) {
		if (result->tallies[slot].done &&
		    (row = row_of(rows, &n, most, tally_name(slot))) != NULL)
			row->by[NATIVE] += result->tallies[slot].done;
	}
	for (size_t i = 0; i < result->n_coverage; i++) {
		row = row_of(rows, &n, most, result->coverage[i].operation);
		for (int route = 0; row && route < ROUTES; route++)
			row->by[route] += result->coverage[i].by[route];
	}
	return n;
}

/* ---- The whole run ---------------------------------------------------------------------------*/

static const struct exclusion *exclusion_of(const struct options *options, const char *id)
{
	for (size_t i = 0; i < options->n_exclusions; i++) {
		if (!strcmp(options->exclusions[i].id, id))
			return &options->exclusions[i];
	}
	return NULL;
}

static int is_wanted(const struct options *options, const struct check *check)
{
	return check_is_large(check) == (options->mode == MODE_LARGE) &&
	       (int)check->level >= options->first_level &&
	       (int)check->level <= options->last_level &&
	       (!options->filter || !fnmatch(options->filter, check->id, 0));
}

static struct result *add_result(struct run *run, const struct check *check, enum place place)
{
	struct result *result;
	run->results = checked(realloc(run->results, (run->n_results + 1) * sizeof(*result)));
	result = &run->results[run->n_results++];
	memset(result, 0, sizeof(*result));
	result->check = check;
	result->place = place;
	return result;
}

static void plan(struct run *run)
{
	const struct check *check;
	enum place place;
	for (size_t n = 0; (check = check_at(n, &place)); n++) {
		int wanted = is_wanted(run->options, check);
		if (!wanted && place != BY_PARENT)
			continue;
		struct result *result = add_result(run, check, place);
		result->unwanted = !wanted;
		result->exclusion = exclusion_of(run->options, check->id);
		if (result->exclusion)
			result->state = EXCLUDED;
	}
}

static int share_kit(struct run *run, const struct options *options)
{
	memset(run, 0, sizeof(*run));
	run->options = options;
	run->parent = getpid();
	run->kit = mmap(NULL, sizeof(*run->kit), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (run->kit == MAP_FAILED)
		return 0;
	run->kit->which = options->which;
	run->kit->index = options->device;
	run->kit->table = options->table;
	run->kit->given = options->given;
	run->kit->n_given = options->n_given;
	run->kit->seed = options->seed;
	run->kit->patience_s = options->patience_s;
	run->kit->effort = options->effort / 100.0;
	return 1;
}

int run_init(struct run *run, const struct options *options)
{
	if (!share_kit(run, options))
		return 0;
	plan(run);
	return 1;
}

int run_init_one(struct run *run, const struct options *options, const struct check *check)
{
	if (!share_kit(run, options))
		return 0;
	add_result(run, check, WITH_DEVICE);
	return 1;
}

static void result_release(struct result *result)
{
	for (size_t i = 0; i < result->n_failures; i++) {
		free(result->failures[i].where);
		free(result->failures[i].why);
	}
	for (size_t i = 0; i < result->n_remarks; i++)
		free(result->remarks[i]);
	free(result->remarks);
	free(result->reason);
	free(result->printed);
}

void run_release(struct run *run)
{
	for (size_t i = 0; i < run->n_results; i++)
		result_release(&run->results[i]);
	free(run->results);
	free(run->absent_text);
	free(run->races);
	free(run->loading_failure);
	free(run->closing_failure);
	free(run->printed_loading);
	munmap(run->kit, sizeof(*run->kit));
}

/* ---- Levels ----------------------------------------------------------------------------------*/

/* Slots, and their names in the ledger. */
static int only_moves(const char *operation)
{
	static const char *const names[] = {"fill", "copy", "gather", "take", "alloc", "upload"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(operation, names[i]))
			return 1;
	}
	return 0;
}

static void add(struct level_summary *summary, const struct result *result)
{
	int computes = result->check->level >= 2 && result->check->level <= 4;
	struct coverage rows[KIT_TALLIES + KIT_OPERATIONS];
	size_t n = result_coverage(result, rows, 0, sizeof(rows) / sizeof(rows[0]));
	summary->checks++;
	summary->failed += result->state == FAILED;
	summary->skipped += result->state == SKIPPED;
	summary->excluded += result->state == EXCLUDED;
	summary->not_run += result->state == NOT_RUN;
	summary->cases += result_cases(result);
	summary->failures += result_failures(result);
	summary->not_tried += result->not_tried;
	summary->seconds += result->seconds;
	for (size_t i = 0; i < n; i++) {
		for (int route = 0; route < ROUTES; route++)
			summary->by[route] += rows[i].by[route];
		if (!computes || !only_moves(rows[i].operation))
			summary->own += rows[i].by[NATIVE] + rows[i].by[COMPOSED];
	}
}

void level_summarise(const struct run *run, int level, struct level_summary *summary)
{
	memset(summary, 0, sizeof(*summary));
	for (size_t i = 0; i < run->n_results; i++) {
		if ((int)run->results[i].check->level == level)
			add(summary, &run->results[i]);
	}
	if (summary->failed)
		summary->state = FAILED;
	else if (!summary->checks || summary->not_run)
		summary->state = NOT_RUN;
	else
		summary->state = summary->own ? PASSED : EMPTY;
}

int level_reached(const struct run *run)
{
	int level = 0;
	struct level_summary summary;
	if (run->options->filter || run->options->first_level)
		return NO_LEVEL;
	for (; level <= run->options->last_level; level++) {
		level_summarise(run, level, &summary);
		if (summary.state != PASSED)
			break;
	}
	return level - 1;
}

unsigned run_executed(const struct run *run)
{
	unsigned n = 0;
	for (size_t i = 0; i < run->n_results; i++)
		n += result_cases(&run->results[i]);
	return n;
}

unsigned run_failures(const struct run *run)
{
	unsigned n = 0;
	for (size_t i = 0; i < run->n_results; i++)
		n += run->results[i].state == FAILED;
	return n;
}

unsigned run_not_tried(const struct run *run)
{
	unsigned n = 0;
	for (size_t i = 0; i < run->n_results; i++)
		n += run->results[i].not_tried;
	return n;
}

int run_exit_status(const struct run *run)
{
	/* A plugin that cannot be loaded fails, even if file.loads is excluded. */
	if (run_failures(run) || run->loading_failure)
		return EXIT_FAILED;
	if (run->absent)
		return EXIT_ABSENT;
	if (!run_executed(run) || (run->options->strict && run_not_tried(run)))
		return EXIT_FAILED;
	return run->options->require > level_reached(run) ? EXIT_FAILED : EXIT_PASSED;
}
