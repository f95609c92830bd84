/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rows of a report: of files, of data files, and of names that were asked for.
 */
#ifndef TN_LOADER_REPORT_ROWS_H
#define TN_LOADER_REPORT_ROWS_H

#include "loader/known_plugins.h"
#include "loader/load.h"

/* Reads TENON_SIMULATE.  TN_FORMAT. */
tn_status tn_report_rows_read_simulation(struct tn_loading *loading, struct tn_error_info *error);

/* Searches, and adds a row for each candidate.  TN_OUT_OF_MEMORY, here and below. */
tn_status tn_report_rows_add_candidates(struct tn_loading *loading);

/* *has: is there a file of that name among the data files of `kind`? */
tn_status tn_report_rows_has_data_file(const struct tn_loading *loading,
				       const struct tn_plugin_kind *kind, const char *name,
				       int *has);
/* Reads the data files of the kind. */
tn_status tn_report_rows_read_known(const struct tn_loading *loading, struct tn_known_list *known);
/* Copies the texts of data files to the rows of their names, and adds missing rows. */
tn_status tn_report_rows_add_known(struct tn_loading *loading, const struct tn_known_list *known);
/* Logs which exclusions of the selection are no backend's name, with the name most like it. */
tn_status tn_report_rows_check_exclusions(const struct tn_loading *loading,
					  const struct tn_known_list *known);
/* Logs which options of the program no loaded plugin has got.  That is no error: a program is the
 * same on all machines. */
void tn_report_rows_log_unused(const struct tn_loading *loading);
/* Adds a row for a name that only the user's selection contains.  `guess`: suggest the name most
 * like it of all that have a row. */
tn_status tn_report_rows_add_asked(struct tn_loading *loading, const char *name, int guess);

#endif
