/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The report as text: one line per check as it ends, one per failure, the command that runs a
 * failed check again, and tables at the end.  The form of failure lines, `FAILED  LEVEL CHECK:
 * CASE: WHY`, is a stable interface.
 */
#include "frame.h"

void report_text_begin(const struct run *run)
{
	printf("tenon-conform %s, device %u, seed %llu\n", run->options->which,
	       run->options->device, (unsigned long long)run->options->seed);
}

static void print_failure(const struct result *result, size_t i)
{
	printf("FAILED  L%u %s: %s: %s\n", result->check->level, result->check->id,
	       result->failures[i].where, result->failures[i].why);
}

/* What runs the check again whose calls failed, with the same cases. */
static void print_again(const struct run *run, const struct check *during)
{
	const struct options *options = run->options;
	if (!during)
		return;
	printf("again   tenon-conform --seed=%llu --filter=%s", (unsigned long long)options->seed,
	       during->id);
	if (options->mode == MODE_LARGE)
		printf(" --mode=large");
	if (options->effort != 100)
		printf(" --effort=%u", options->effort);
	if (options->device)
		printf(" --device=%u", options->device);
	for (size_t i = 0; i < options->n_given; i++)
		printf(" --backend-option=%s=%s", options->given[i].key, options->given[i].value);
	printf(" %s\n", options->which);
}

void report_text_late(const struct run *run, const struct result *result)
{
	if (!result->n_failures)
		return;
	print_failure(result, result->n_failures - 1);
	print_again(run, result->failures[result->n_failures - 1].during);
}

static void print_failures(const struct run *run, const struct result *result)
{
	unsigned more = result_failures(result) - (unsigned)result->n_failures;
	for (size_t i = 0; i < result->n_failures; i++) {
		const struct check *during = result->failures[i].during;
		print_failure(result, i);
		if (i + 1 == result->n_failures || result->failures[i + 1].during != during)
			print_again(run, during);
	}
	if (more)
		printf("        and %u more of %s\n", more, result->check->id);
}

void report_text_result(const struct run *run, const struct result *result)
{
	const struct check *check = result->check;
	printf("L%u  %-26s %-9s", check->level, check->id, state_names[result->state]);
	if (result->state == EXCLUDED)
		printf(" since %s: %s", result->exclusion->date, result->exclusion->reason);
	else if (result->reason && result->state != PASSED && result->state != FAILED)
		printf(" %s", result->reason);
	else if (result->state == EMPTY)
		printf(" nothing of it ran on the device (%u unsupported)",
		       result_unsupported(result));
	else if (result->state != NOT_RUN)
		printf(" %7u cases %8.2f s", result_cases(result), result->seconds);
	printf("\n");
	print_failures(run, result);
	for (size_t i = 0; i < result->n_remarks; i++)
		printf("remark  L%u %s: %s\n", check->level, check->id, result->remarks[i]);
	fflush(stdout);
}

static void print_levels(const struct run *run)
{
	struct level_summary s;
	printf("\n%-6s%-9s%7s%7s%8s%9s%9s%9s%9s%9s%10s\n", "level", "state", "checks", "failed",
	       "skipped", "cases", "native", "lent", "composed", "host", "seconds");
	for (int level = 0; level < LEVELS; level++) {
		level_summarise(run, level, &s);
		if (s.checks)
			printf("L%-5d%-9s%7u%7u%8u%9u%9u%9u%9u%9u%10.2f\n", level,
			       s.state == PASSED  ? "PASSED"
			       : s.state == EMPTY ? "EMPTY"
						  : state_names[s.state],
			       s.checks, s.failed, s.skipped + s.excluded, s.cases, s.by[NATIVE],
			       s.by[LENT], s.by[COMPOSED], s.by[HOST], s.seconds);
	}
}

enum { MOST_ROWS = KIT_TALLIES + KIT_OPERATIONS };

static size_t coverage_of(const struct run *run, struct coverage *rows)
{
	size_t n = 0;
	for (size_t i = 0; i < run->n_results; i++)
		n = result_coverage(&run->results[i], rows, n, MOST_ROWS);
	return n;
}

static void print_operations(const struct run *run)
{
	struct coverage rows[MOST_ROWS];
	size_t n = coverage_of(run, rows);
	printf("\n%-28s%9s%9s%9s%9s\n", "operation", "native", "lent", "composed", "host");
	for (size_t i = 0; i < n; i++)
		printf("%-28s%9u%9u%9u%9u\n", rows[i].operation, rows[i].by[NATIVE],
		       rows[i].by[LENT], rows[i].by[COMPOSED], rows[i].by[HOST]);
}

/* A level can be reached with one of the three computing slots: lists those that the device
 * lacks. */
static void print_missing(const struct run *run)
{
	static const char *const needed[] = {"map", "reduce", "matmul"};
	const char *separator = " without ";
	struct coverage rows[MOST_ROWS];
	size_t n = coverage_of(run, rows);
	for (int i = 0; i < 3; i++) {
		unsigned native = 0;
		for (size_t j = 0; j < n; j++)
			if (!strcmp(rows[j].operation, needed[i]))
				native = rows[j].by[NATIVE];
		if (!native) {
			printf("%s%s", separator, needed[i]);
			separator = " and ";
		}
	}
	if (strcmp(separator, " without ") != 0)
		printf(" of its own");
}

/* Prints the summary line. */
static void print_conclusion(const struct run *run)
{
	int reached = level_reached(run);
	unsigned excluded = 0;
	for (size_t i = 0; i < run->n_results; i++)
		excluded += run->results[i].state == EXCLUDED;
	printf("\n%s: ", run->backend[0] ? run->backend : run->options->which);
	if (run->absent && !run_failures(run))
		printf("%s: %s; ", tn_status_name(run->absent), run->absent_text);
	else if (run->loading_failure)
		printf("it does not load; ");
	if (!run_executed(run))
		printf("nothing was executed; ");
	if (run->options->filter || run->options->first_level)
		printf("not all levels were requested");
	else if (reached == NO_LEVEL)
		printf("reaches no level");
	else
		printf("reaches L%d", reached);
	if (reached >= 2 && !run->options->filter && !run->options->first_level)
		print_missing(run);
	if (run_not_tried(run))
		printf(", with %u cases not tried", run_not_tried(run));
	if (run->options->effort != 100)
		printf(", with %u %% of the effort", run->options->effort);
	if (run->options->require > reached)
		printf(", and L%d is required", run->options->require);
	printf("; %u cases, %u checks failed", run_executed(run), run_failures(run));
	if (excluded)
		printf(", %u excluded", excluded);
	printf(", %.1f s\n", run->seconds);
}

void report_text_end(const struct run *run)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct result *result = &run->results[i];
		if (result->place == BY_PARENT || result->state == NOT_RUN ||
		    result->state == EXCLUDED)
			report_text_result(run, result);
	}
	print_levels(run);
	if (run_executed(run))
		print_operations(run);
	print_conclusion(run);
}

void report_list(void)
{
	enum place place;
	const struct check *check;
	char rules[160];
	for (size_t n = 0; (check = check_at(n, &place)); n++) {
		rules_of(check->id, rules, sizeof(rules));
		printf("L%u  %-26s %s [%s]\n", check->level, check->id, check->promise, rules);
	}
}
