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
#include "print_error.h"
#include "terminal.h"
#include "train_devices.h"

/* Before the next start, in seconds. */
#define PAUSE 1

static const char count[] = "TENON_RESTART_COUNT";

int train_restart_begin(struct train_restart *restart, int argc, char **argv)
{
	const char *text = tool_environment(count);
	restart->is_counted = text && parse_count(text, 0, UINT32_MAX, &restart->n_anew);
	restart->command = calloc((size_t)argc + 2, sizeof(*restart->command));
	if (!restart->command) {
		no_memory("the command line");
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
	size_t i = tn_checkpoint_folder_count(folder);
	int is_found = 0;
	while (!is_found && i-- > 0)
		is_found = !tn_checkpoint_folder_at(folder, i, &view) && !view.is_damaged;
	if (is_found)
		snprintf(restart->how, sizeof(restart->how), "continues from step %" PRIu64,
			 view.step);
	else
		snprintf(restart->how, sizeof(restart->how), "%s",
			 folder                       ? "begins again, without a checkpoint,"
			 : train_devices_have_begun() ? "continues from the newest checkpoint"
						      : "begins again");
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

/* ---- The command that continues --------------------------------------------------------------*/

static int has_control(const char *word)
{
	while (*word && (unsigned char)*word >= ' ' && *word != 0x7f)
		word++;
	return *word != '\0';
}

static void write_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=:,./@%";
	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	/* What a terminal would obey is written in octal digits. */
	if (has_control(word)) {
		fputs("$'", out);
		for (; *word; word++)
			fprintf(out,
				has_control((const char[]){*word, '\0'}) || *word == '\'' ||
						*word == '\\'
					? "\\%03o"
					: "%c",
				(unsigned char)*word);
		fputc('\'', out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
	fputc('\'', out);
}

/* --resume goes first, where it is no argument of another option. */
static void write_command(FILE *out, const struct train_restart *restart)
{
	for (char **word = restart->command; *word; word++) {
		write_word(out, *word);
		if (word == restart->command + 1 && !restart->has_resume &&
		    train_devices_have_begun())
			fputs(" --resume", out);
		fputc(word[1] ? ' ' : '\n', out);
	}
}

static void write_devices(FILE *out)
{
	fputs("TENON_TRAIN_DEVICES=", out);
	write_word(out, train_devices());
	fputc(' ', out);
}

static void write_one(FILE *out, const struct train_restart *restart)
{
	fprintf(out, "tenon train: %s was lost: this %s on %s:\n  ", restart->lost, restart->how,
		restart->next);
	if (strcmp(restart->lost, restart->next) != 0)
		write_devices(out);
	write_command(out, restart);
}

static void write_rank(FILE *out, const struct train_restart *restart,
		       const struct train_ranks *ranks)
{
	char machine[256] = "";
	gethostname(machine, sizeof(machine) - 1);
	fprintf(out, "tenon train: rank %u has lost %s", ranks->rank, restart->lost);
	if (is_of_tenon_launch(ranks)) {
		fprintf(out, ": this %s:\n  ",
			train_devices_have_begun() ? "continues from the newest checkpoint"
						   : "begins again");
		write_devices(out);
		write_word(out, restart->command[0]);
		fprintf(out, " launch -n %u ", ranks->size);
	} else {
		fprintf(out,
			" of machine %s: only the launcher of the ranks (communicator %s) can "
			"start them anew; with this as its command they continue from the newest "
			"checkpoint:\n  env ",
			machine, tn_communicator_name(ranks->communicator));
		write_devices(out);
	}
	write_command(out, restart);
}

/* Prints it at once, as others may print, too; ranks NULL: of one process. */
static void print_command(const struct train_restart *restart, const struct train_ranks *ranks)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	if (ranks)
		write_rank(out, restart, ranks);
	else
		write_one(out, restart);
	if (!fclose(out))
		fputs(text, stderr);
	free(text);
}

/* What only a launcher can start. */
static void tell(struct train_restart *restart, const struct train_ranks *ranks, const char *all)
{
	restart->is_told = 1;
	if (train_devices_are_awaited())
		train_devices_tell(restart->lost, all);
	else if (is_launched(ranks) && restart->has_folder)
		print_command(restart, ranks);
	else
		restart->is_told = 0;
}

/* ---- What follows ----------------------------------------------------------------------------*/

/* The devices of the backend of a device: "cuda:0,cuda:1".  NULL: no memory. */
static char *list_devices(tn_context *context, const char *name)
{
	const size_t length = strcspn(name, ":") + 1;
	char *text = NULL;
	size_t size, n = tn_context_device_count(context);
	FILE *out = open_memstream(&text, &size);
	for (size_t i = 0; i < n && out; i++) {
		const char *other = tn_device_name(tn_context_device(context, i));
		if (!strncmp(other, name, length))
			fprintf(out, "%s%s", ftell(out) ? "," : "", other);
	}
	if (out && !fclose(out))
		return text;
	free(text);
	return NULL;
}

void train_restart_note(struct train_restart *restart, tn_context *context,
			const struct train_ranks *ranks, const struct tn_error_info *error,
			const tn_checkpoint_folder *folder)
{
	if (!error || error->status != TN_DEVICE_LOST || restart->lost[0] ||
	    !is_own(context, ranks))
		return;
	const char *name = tn_device_name(tn_device_current(context));
	char *all = list_devices(context, name);
	snprintf(restart->lost, sizeof(restart->lost), "%s", name);
	train_devices_lose(name, all ? all : name);
	train_devices_first(restart->next, sizeof(restart->next));
	find_newest(restart, folder);
	tell(restart, ranks, all ? all : name);
	free(all);
}

/* A signal ends the process here and, until it trains, there. */
static void start_anew(const struct train_restart *restart)
{
	char number[24];
	say("tenon train: %s was lost: %s on %s (restart %" PRIu64 " of %" PRIu64 ")\n",
	    restart->lost, restart->how, restart->next, restart->n_anew + 1, restart->most);
	fflush(NULL);
	snprintf(number, sizeof(number), "%" PRIu64, restart->n_anew + 1);
	setenv(count, number, 1);
	sleep(PAUSE);
	execv("/proc/self/exe", restart->command);
	print_error("tenon train: /proc/self/exe: %s", strerror(errno));
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
	print_command(restart, NULL);
}
