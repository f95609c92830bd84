/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the cases that the scripts beside this file have recorded (their format: record_layers.py).
 */
#ifndef TN_TESTS_PARITY_RECORD_H
#define TN_TESTS_PARITY_RECORD_H

#include <stdint.h>
#include <stdio.h>
#include <tenon/types.h>

enum { RECORD_NAME = 48, RECORD_INTS = 16, RECORD_ITEMS = 96 };

struct record_int {
	char name[RECORD_NAME];
	int n;
	int64_t values[RECORD_INTS];
};

struct record_array {
	char name[RECORD_NAME];
	uint32_t rank;
	int64_t shape[TN_MAX_RANK];
	size_t count;
	double *values;
};

struct record {
	char layer[RECORD_NAME];
	int n_ints;
	int n_arrays;
	struct record_int ints[RECORD_ITEMS];
	struct record_array arrays[RECORD_ITEMS];
};

/* Opens $PARITY_RECORDS/NAME where that is (draw_records.py), else $TENON_SOURCE/tests/parity/NAME,
 * or NAME in this folder; ends the program without it. */
FILE *record_open(const char *name);
/* Has a file as many cases as this folder's?  Those of $PARITY_RECORDS have any number. */
int record_is_complete(int n_cases, int expected);

/* The next case: 1, or 0 at the end.  Ends the program when the file is malformed. */
int record_read(FILE *file, struct record *record);
void record_free(struct record *record);

/* The case's array of that name; NULL if there is none. */
const int64_t *record_ints(const struct record *record, const char *name);
const struct record_array *record_array(const struct record *record, const char *name);

#endif
