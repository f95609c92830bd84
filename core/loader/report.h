/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writing the load report.
 */
#ifndef TN_LOADER_REPORT_H
#define TN_LOADER_REPORT_H

#include <tenon/report.h>

#include "loader/plugin.h"

struct tn_plugin_kind;

struct tn_load_report {
	const struct tn_plugin_kind *kind; /* of all rows */
	struct tn_load_row **rows;         /* one allocation each: a row never moves */
	size_t n_rows;
	char **notices;
	size_t n_notices;
	char *selection;
	int fell_back;
	/* Made on the first request. */
	char *text;
	char *json;
};

/* NULL: out of memory, here and below. */
struct tn_load_report *tn_report_create(const struct tn_plugin_kind *kind, const char *selection);
/* 0: NULL, or a report that has ended, which is logged. */
int tn_report_is_usable(const struct tn_load_report *report, const char *operation);
/* Appends a row: TN_NO_PLUGIN, found nowhere, stage search. */
struct tn_load_row *tn_report_add(struct tn_load_report *report, const char *name);
/* Replaces a string of a row by a copy of `text` (NULL: "") with '?' for bytes that are not
 * printable UTF-8.  0: out of memory, the string is unchanged. */
int tn_report_set(const char **field, const char *text);
/* Gives the row a copy of n descriptions. */
int tn_report_set_devices(struct tn_load_row *row, const struct tn_device_description *devices,
			  uint32_t n);
/* Replaces the description of one of them, where it is. */
void tn_report_set_device(struct tn_load_row *row, uint32_t index,
			  const struct tn_device_description *device);
/* Gives the row a copy of n options. */
int tn_report_set_options(struct tn_load_row *row, const struct tn_option_value *values, size_t n);
/* Appends an option without a name. */
struct tn_load_option *tn_report_add_option(struct tn_load_row *row);
/* Moves the content of `from`, except how it was found, into `row`, and leaves `from` empty. */
void tn_report_move(struct tn_load_row *row, struct tn_load_row *from);
int tn_report_add_notice(struct tn_load_report *report, const char *text);

#endif
