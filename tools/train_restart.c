/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Starts the program of this process anew with the same command line, and prints command lines that
 * a shell reads.
 */
#include "train_restart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "lost_devices.h"
#include "terminal.h"

/* Before the next start, in seconds. */
#define PAUSE 1

static const char count[] = "TENON_RESTART_COUNT";

int train_restart_begin(struct train_restart *restart, int argc, char **argv)
{
	const char *text = tool_environment(count);
	restart->is_counted = text && parse_count(text, 0, UINT32_MAX, &restart->n_anew);
	restart->command = calloc((size_t)argc + 2, sizeof(*restart->command));
	if (!restart->command) {
		fprintf(stderr, "tenon train: no memory for the command line\n");
		return 0;
	}
	restart->command[0] = program_invocation_name;
	memcpy(restart->command + 1, argv, (size_t)argc * sizeof(*argv));
	return 1;
}

void train_restart_end(struct train_restart *restart)
{
	free(restart->command);
}

/* "none": no launcher. */
static int is_launched(const struct train_ranks *ranks)
{
	return ranks->communicator && strcmp(tn_communicator_name(ranks->communicator), "none");
}

static int is_of_tenon_launch(const struct train_ranks *ranks)
{
	return !strcmp(tn_communicator_name(ranks->communicator), "local") &&
	       tool_environment("TENON_LOCAL_SIZE");
}

int train_restart_check(const struct train_restart *restart, const struct train_ranks *ranks)
{
	if (!restart->most || !is_launched(ranks))
		return EXIT_DONE;
	if (is_of_tenon_launch(ranks))
		return usage_error("train", "--restart: expected no launcher, found tenon launch: "
					    "its own --restart starts all ranks anew");
	return usage_error("train",
			   "--restart: expected no launcher, found that of communicator %s: only "
			   "it can start its processes anew",
			   tn_communicator_name(ranks->communicator));
}

/* ---- The loss --------------------------------------------------------------------------------*/

static void find_newest(struct train_restart *restart, const tn_checkpoint_folder *folder)
{
	struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
	for (size_t i = tn_checkpoint_folder_count(folder); i-- > 0 && !restart->is_continued;) {
		restart->is_continued =
			!tn_checkpoint_folder_at(folder, i, &view) && !view.is_damaged;
		restart->step = view.step;
	}
}

/* Of several ranks each may have been told of the loss of another. */
static int is_own(tn_context *context, const struct train_ranks *ranks)
{
	tn_device *device = tn_device_current(context);
	if (ranks->size == 1)
		return 1;
	tn_error_clear(context);
	const int is_lost = tn_device_set_current(context, device) == TN_DEVICE_LOST;
	tn_error_clear(context);
	return is_lost;
}

void train_restart_note(struct train_restart *restart, tn_context *context,
			const struct train_ranks *ranks, const struct tn_error_info *error,
			const tn_checkpoint_folder *folder)
{
	if (!error || error->status != TN_DEVICE_LOST || restart->lost[0] ||
	    !is_own(context, ranks))
		return;
	snprintf(restart->lost, sizeof(restart->lost), "%s",
		 tn_device_name(tn_device_current(context)));
	lost_devices_add(restart->lost);
	snprintf(restart->next, sizeof(restart->next), "%s",
		 tn_device_name(train_ranks_device(context, 0)));
	find_newest(restart, folder);
}

/* ---- The command that continues --------------------------------------------------------------*/

static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=:,./@%";
	if (*word && !word[strspn(word, plain)]) {
		fputs(word, stderr);
		return;
	}
	fputc('\'', stderr);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, stderr);
	fputc('\'', stderr);
}

/* --resume goes first, where it is no argument of another option. */
static void print_command(const struct train_restart *restart)
{
	for (char **word = restart->command; *word; word++) {
		print_word(*word);
		if (word == restart->command + 1 && !restart->has_resume)
			fputs(" --resume", stderr);
		fputc(word[1] ? ' ' : '\n', stderr);
	}
}

static void print_one(const struct train_restart *restart)
{
	if (restart->is_continued)
		say("tenon train: %s was lost: this continues from step %" PRIu64 " on %s:\n",
		    restart->lost, restart->step, restart->next);
	else
		say("tenon train: %s was lost before the first checkpoint: this begins again on "
		    "%s:\n",
		    restart->lost, restart->next);
	fputs("  ", stderr);
	if (strcmp(restart->lost, restart->next) != 0)
		fprintf(stderr, "TENON_LOST_DEVICES=%s ", lost_devices());
	print_command(restart);
}

static void print_rank(const struct train_restart *restart, const struct train_ranks *ranks)
{
	const int is_ours = is_of_tenon_launch(ranks);
	char machine[256] = "";
	gethostname(machine, sizeof(machine) - 1);
	if (is_ours)
		say("tenon train: rank %u has lost %s: this continues from the newest "
		    "checkpoint:\n",
		    ranks->rank, restart->lost);
	else
		say("tenon train: rank %u has lost %s of machine %s: only the launcher of the "
		    "ranks (communicator %s) can start them anew; with this as its command "
		    "they continue from the newest checkpoint:\n",
		    ranks->rank, restart->lost, machine, tn_communicator_name(ranks->communicator));
	fprintf(stderr, "  %sTENON_LOST_DEVICES=%s ", is_ours ? "" : "env ", lost_devices());
	if (is_ours) {
		print_word(restart->command[0]);
		fprintf(stderr, " launch -n %u ", ranks->size);
	}
	print_command(restart);
}

void train_restart_tell(struct train_restart *restart, const struct train_ranks *ranks)
{
	if (!restart->lost[0])
		return;
	restart->is_told = 1;
	if (lost_devices_are_awaited())
		lost_devices_tell(restart->lost);
	else if (is_launched(ranks) && restart->has_folder)
		print_rank(restart, ranks);
	else
		restart->is_told = 0;
}

/* A signal ends the process here and, until it trains, there. */
static void start_anew(const struct train_restart *restart)
{
	char number[24], from[64] = "begins again";
	if (restart->is_continued)
		snprintf(from, sizeof(from), "continues from step %" PRIu64, restart->step);
	say("tenon train: %s was lost: %s on %s (restart %" PRIu64 " of %" PRIu64 ")\n",
	    restart->lost, from, restart->next, restart->n_anew + 1, restart->most);
	fflush(NULL);
	snprintf(number, sizeof(number), "%" PRIu64, restart->n_anew + 1);
	setenv(count, number, 1);
	sleep(PAUSE);
	execv("/proc/self/exe", restart->command);
	fprintf(stderr, "tenon train: /proc/self/exe: %s\n", strerror(errno));
}

void train_restart_run(const struct train_restart *restart)
{
	if (!restart->lost[0] || restart->is_told)
		return;
	if (!restart->has_folder) {
		say("tenon train: %s was lost: only a training with --checkpoint can continue\n",
		    restart->lost);
		return;
	}
	if (restart->n_anew < restart->most && !interrupt_seen())
		start_anew(restart);
	print_one(restart);
}
