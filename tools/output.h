/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Files that a command writes.
 */
#ifndef TENON_TOOLS_OUTPUT_H
#define TENON_TOOLS_OUTPUT_H

#include <stdio.h>
#include <tenon/train.h>

/* How a file is written: beside and then renamed (it is a regular file, or not there yet),
 * or in place. */
enum { OUTPUT_WHOLE, OUTPUT_IN_PLACE };

/* Before work begins: could the file be written at its end?  Changes nothing.  Otherwise says why
 * not, as `tenon COMMAND: OPTION PATH: ...`, and returns 0. */
int output_possible(const char *command, const char *option, const char *path, int how);

/* Do both paths name one file?  Files that are not there yet are told apart by their paths
 * alone. */
int output_same(const char *a, const char *b);

/* The metrics of a training: one JSON object a line, each written at once,
 * so that the run can be followed. */
struct metrics {
	const char *path;
	FILE *file;    /* NULL: none */
	int is_begun;  /* what was there before is gone */
	int failed_as; /* the errno of the first failure, or 0 */
};
/* Opens, and keeps what is there.  A file that another run is writing is refused.  Says why not and
 * returns 0. */
int metrics_open(struct metrics *metrics, const char *path);
/* The training has begun: the lines of an earlier one go. */
void metrics_begin(struct metrics *metrics);
void metrics_epoch(struct metrics *metrics, const struct tn_epoch_metrics *epoch);
void metrics_test(struct metrics *metrics, const struct tn_evaluation *test);
/* Says what could not be written, and returns 0 then.  Takes a zeroed struct. */
int metrics_close(struct metrics *metrics);

#endif
