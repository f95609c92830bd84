/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether a CSV file begins with the names of its columns.
 */
#ifndef TN_DATA_TABLE_NAMES_H
#define TN_DATA_TABLE_NAMES_H

#include <tenon/io.h>

/* After tn_csv_read has accepted the options.  TN_FORMAT: the first row, but for the label, has
 * numbers where the second has numbers, and does not count the columns: it is a sample.  Other
 * faults of the file are left to tn_csv_read. */
tn_status tn_table_names_check(const char *path, const struct tn_csv_options *reading,
			       struct tn_error_info *error);

#endif
