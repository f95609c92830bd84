/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checks decided by the parent, which observes how children start, what they print, and how
 * they end.
 */
#include "frame.h"

static void judge_loading(const struct run *run, struct result *result)
{
	if (run->loading_failure)
		result_fail(result, NULL, run->loading_stage, run->loading_failure);
	else if (run->absent)
		result->reason = text_copy(run->absent_text);
	else if (run->backend[0])
		result->tallies[KIT_FILE].done++;
	else
		result->reason = text_copy("no check needed the device");
}

static void judge_silence(const struct run *run, struct result *result)
{
	char why[256];
	for (size_t i = 0; i < run->n_results; i++) {
		const struct result *other = &run->results[i];
		if (other->place == BY_PARENT || !other->ended)
			continue;
		if (!other->printed) {
			result->tallies[KIT_PROCESS].done++;
			continue;
		}
		snprintf(why, sizeof(why), "it printed \"%s\"", other->printed);
		result->tallies[KIT_PROCESS].failed++;
		result_fail(result, other->check, other->check->id, why);
	}
	if (run->printed_loading) {
		snprintf(why, sizeof(why), "it printed \"%s\"", run->printed_loading);
		result->tallies[KIT_PROCESS].failed++;
		result_fail(result, NULL, "loading and closing", why);
	}
}

static void judge_closing(const struct run *run, struct result *result)
{
	if (run->closing_failure)
		result_fail(result, NULL, run->closing_stage, run->closing_failure);
	else if (run->closed)
		result->tallies[KIT_PROCESS].done += run->closed;
	else
		result->reason = text_copy("no child reached the end");
}

/* Would a sanitizer report it? */
#if defined(__SANITIZE_THREAD__)
#define SEES_RACES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEES_RACES 1
#endif
#endif
#ifndef SEES_RACES
#define SEES_RACES 0
#endif

static void judge_races(const struct run *run, struct result *result)
{
	if (run->races)
		result_fail(result, check_find(run->races_where), run->races_where, run->races);
	else if (SEES_RACES && run->backend[0])
		result->tallies[KIT_PROCESS].done++;
	else
		result->reason = text_copy("the kit is built without ThreadSanitizer");
}

/* An unrequested check is reported only if it failed. */
static void drop_unwanted(struct run *run)
{
	size_t kept = 0;
	for (size_t i = 0; i < run->n_results; i++) {
		if (run->results[i].unwanted && run->results[i].state != FAILED)
			free(run->results[i].reason);
		else
			run->results[kept++] = run->results[i];
	}
	run->n_results = kept;
}

void verdicts(struct run *run)
{
	static const struct {
		const char *id;
		void (*judge)(const struct run *run, struct result *result);
	} judges[] = {
		{"file.loads", judge_loading},
		{"process.silence", judge_silence},
		{"process.close", judge_closing},
		{"threads.races", judge_races},
	};
	for (size_t i = 0; i < run->n_results; i++) {
		struct result *result = &run->results[i];
		if (result->place != BY_PARENT || result->state == EXCLUDED)
			continue;
		for (size_t j = 0; j < sizeof(judges) / sizeof(judges[0]); j++) {
			if (!strcmp(judges[j].id, result->check->id))
				judges[j].judge(run, result);
		}
		result_settle(result);
	}
	drop_unwanted(run);
}
