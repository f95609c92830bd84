/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Where this library lies, so that what is installed with it is found after both were moved.  A
 * privileged process uses the folders of the build alone: other users may have made a copy.  What
 * a stranger could have put there is left alone (trust.h): the folder above may be one that all
 * users can write, as /tmp.
 */
#ifndef TN_BASE_PLACE_H
#define TN_BASE_PLACE_H

#include <sys/stat.h>

#include "base/parameter.h"
#include "base/text.h"

/* The folder of the file that contains this code, without links: of libtenon, or of the program or
 * library that it was linked into.  "": unknown, or the process is privileged. */
const char *tn_place_folder(const struct tn_parameters *parameters);
/* Appends `below` in the folder `n_up` levels above that one, which is not "". */
void tn_place_add(struct tn_text *text, int n_up, const char *below);

/* Appends the folder of Tenon's data files: TENON_DATA_DIR, else the one beside, else that of the
 * build. */
void tn_place_add_data(struct tn_text *text, struct tn_parameters *parameters);
/* Appends the path of the helper program of the probe, likewise. */
void tn_place_add_helper(struct tn_text *text, struct tn_parameters *parameters);

/* Is this a fully static program?  It has no dynamic loader: dlopen would crash. */
int tn_place_is_static(void);

#endif
