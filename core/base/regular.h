/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening files that others may have put there.
 */
#ifndef TN_BASE_REGULAR_H
#define TN_BASE_REGULAR_H

#include <sys/stat.h>

#define TN_NOT_REGULAR (-2)

/* Opens a regular file for reading and never waits: a pipe, which an ordinary open would wait at, a
 * device or a folder is TN_NOT_REGULAR.  -1: errno says why.  Else the descriptor, closed on exec.
 * *information is of the file, or zero where that could not be asked. */
int tn_regular_open(const char *path, struct stat *information);

#endif
