/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A picture of samples of a data set, a row for each class.
 */
#ifndef TENON_TOOLS_CONTACT_SHEET_H
#define TENON_TOOLS_CONTACT_SHEET_H

#include <tenon/tenon.h>

struct contact_sheet {
	const char *path; /* NULL: none is asked for */
	uint64_t columns; /* samples of each class */
	uint32_t n_classes;
	uint64_t *n;             /* found so far, by class */
	struct sample_place *at; /* where, n_classes x columns */
};

/* Room for the places; 0: no memory. */
int contact_sheet_begin(struct contact_sheet *sheet, uint32_t n_classes);
/* Takes a sample, unless its class has enough. */
void contact_sheet_add(struct contact_sheet *sheet, int32_t label, int part, uint64_t index);
/* The classes that have a row: as many of the first ones as a picture has room for. */
uint32_t contact_sheet_rows(const struct contact_sheet *sheet, const tn_dataset *dataset);
/* Writes the file. */
tn_status contact_sheet_write(const struct contact_sheet *sheet, const tn_dataset *dataset,
			      struct tn_error_info *error);
void contact_sheet_end(struct contact_sheet *sheet);

#endif
