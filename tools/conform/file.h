/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checks of a plugin's file: file.c reads it, file_open.c opens it,
 * file_options.c gives values to its options.
 */
#ifndef TN_TOOLS_CONFORM_FILE_H
#define TN_TOOLS_CONFORM_FILE_H

#include "conform.h"

/* 0 if the backend has a file; otherwise 1, and the check is skipped. */
int file_is_built_in(struct kit *kit);

/* Reads the note; 0 if there is none (the case has failed). */
int file_note(struct kit *kit, struct tn_backend_note *note);

void check_file_note(struct kit *kit);
void check_file_exports(struct kit *kit);
void check_file_libraries(struct kit *kit);
void check_file_segments(struct kit *kit);
void check_file_tls(struct kit *kit);

void check_file_descriptor(struct kit *kit);
void check_file_symbols(struct kit *kit);
void check_file_quiet(struct kit *kit);
void check_file_resident(struct kit *kit);
void check_file_hosts(struct kit *kit);

void check_file_options(struct kit *kit);

#endif
