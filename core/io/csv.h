/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables of integers as text: decimal numbers separated by commas, one line per row, every row of
 * the same length; no header, quotes, spaces or empty lines.  Plain or gzipped.
 */
#ifndef TN_IO_CSV_H
#define TN_IO_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/backend.h>

#define TN_CSV_MAX_VALUES ((size_t)1 << 24)

struct tn_csv {
	int32_t *values; /* n_rows x n_columns, owned: tn_csv_release */
	size_t n_rows;   /* row i is line i + 1 */
	size_t n_columns;
};

/* *out is written only on success.  TN_FORMAT names line and column. */
tn_status tn_csv_read(const char *path, struct tn_csv *out, struct tn_error_info *error);
void tn_csv_release(struct tn_csv *csv);

#endif
