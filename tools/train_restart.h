/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A training whose device was lost: how it continues, or by which command.
 *
 * A driver may keep a lost device lost for the rest of the process, so that it continues in a new
 * one: the same process becomes it, or its launcher starts it.
 */
#ifndef TENON_TRAIN_RESTART_H
#define TENON_TRAIN_RESTART_H

#include <tenon/checkpoint.h>

#include "train_ranks.h"

struct train_restart {
	/* Options. */
	uint64_t most;  /* --restart; 0: never */
	int has_resume; /* on the command line */
	int has_folder; /* --checkpoint */
	/* The rest is set by the functions below. */
	char **command;  /* the words of the command line; NULL ends them */
	int is_counted;  /* this one may start anew, or has */
	uint64_t n_anew; /* how often it has */
	char lost[64];   /* the device; "": none was */
	char next[64];   /* what this process would take then */
	char how[64];    /* that continues: "continues from step 40" */
	int is_told;     /* nothing more is to be said of it */
};

/* Keeps the words of the command line, whose order getopt_long changes, and reads how often the
 * training was started anew.  0: no memory, which is said. */
int train_restart_begin(struct train_restart *restart, int argc, char **argv);
void train_restart_end(struct train_restart *restart);

/* A process that a launcher has started cannot become a new one: says so and returns EXIT_USAGE,
 * else EXIT_DONE. */
int train_restart_check(const struct train_restart *restart, const struct train_ranks *ranks);

/* After an error, which the context need not keep any more: if the device of this rank was lost,
 * notes what is left.  One of several ranks tells a launcher that starts them anew, or prints the
 * command that continues: it may be ended from then on.  The folder may be NULL. */
void train_restart_note(struct train_restart *restart, tn_context *context,
			const struct train_ranks *ranks, const struct tn_error_info *error,
			const tn_checkpoint_folder *folder);
/* Last of all: becomes the process that continues, after a pause, if --restart and signals allow
 * it; else prints the command. */
void train_restart_run(const struct train_restart *restart);

#endif
