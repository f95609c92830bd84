/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Files that a command writes.
 */
#ifndef TENON_TOOLS_OUTPUT_H
#define TENON_TOOLS_OUTPUT_H

#include <stdio.h>

#include "test_part.h"
#include "train_ranks.h"

/* How a file is written: to a temporary file that is then renamed (a regular or new file), or in
 * place. */
enum { OUTPUT_WHOLE, OUTPUT_IN_PLACE };

/* Checks before the work whether the file could be written at its end; changes nothing.  If not,
 * prints `tenon COMMAND: OPTION PATH: ...`, and returns 0. */
int output_possible(const char *command, const char *option, const char *path, int how);

/* Do both paths name one file?  Files that do not exist yet are compared by path alone. */
int output_same(const char *a, const char *b);

/* The metrics of a training: one JSON object a line, each written immediately, so that the run can
 * be followed. */
struct metrics {
	const char *path;
	int is_open;
	int fd;
	int is_begun;  /* the earlier content was truncated */
	int failed_as; /* the errno of the first failure, or 0 */
};
/* Opens the file without truncating it.  Refuses a file that another run is writing.  On failure
 * prints the reason and returns 0. */
int metrics_open(struct metrics *metrics, const char *path);
/* Truncates the file when training begins. */
void metrics_begin(struct metrics *metrics);
/* Instead, when training resumes after this many epochs: keeps their lines. */
void metrics_continue(struct metrics *metrics, uint64_t epochs);
/* `times` are those of n_ranks ranks; 0: nothing about ranks is written. */
void metrics_epoch(struct metrics *metrics, const struct tn_trainer_epoch *epoch, uint32_t n_ranks,
		   const struct rank_times *times);
void metrics_test(struct metrics *metrics, const struct test_result *test);
/* Closes the file; returns 0 if a line was not written, which has been printed.  Accepts a zeroed
 * struct. */
int metrics_close(struct metrics *metrics);

#endif
