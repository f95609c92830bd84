/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sums of the rows of each weight, for all weights at once: two numbers a row.  Rows are added in
 * groups of 256, the sums of groups in groups again, until each weight has one: two operations, a
 * gather and a reduction, for each level, of which a weight of 4 million elements needs two and one
 * of a thousand millions three.  The partition depends on the shapes alone.
 */
#ifndef TN_OPTIM_ROW_SUMS_H
#define TN_OPTIM_ROW_SUMS_H

#include "array/array.h"

enum { TN_ROW_SUMS_LEVELS = 4 };

struct tn_row_sums {
	int n_levels;
	int64_t counts[TN_ROW_SUMS_LEVELS + 1]; /* of rows, of groups, of groups of those ... */
	/* (2, count + 1), kept: the last column is 0. */
	tn_array *sums[TN_ROW_SUMS_LEVELS + 1];
	/* Of each group of a level, its members in the one before; that column where it has fewer
	 * of them; kept. */
	tn_array *members[TN_ROW_SUMS_LEVELS];
};

/* Of n weights, whose rows follow each other; makes arrays of that type on the current device.  The
 * counts of rows are overwritten.  On failure tn_row_sums_close must be called too; the error is
 * kept. */
tn_status tn_row_sums_open(struct tn_row_sums *sums, tn_context *context, tn_dtype dtype, size_t n,
			   int64_t *n_rows);
void tn_row_sums_close(struct tn_row_sums *sums);

/* What is to be summed, (2, rows), and the sums, (2, n); in the innermost scope. */
tn_array *tn_row_sums_input(const struct tn_row_sums *sums);
tn_array *tn_row_sums_result(const struct tn_row_sums *sums);
/* Makes the sums.  `operation` is the ledger's; errors are kept. */
tn_status tn_row_sums_run(const struct tn_row_sums *sums, uint32_t operation);

#endif
