/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening files from untrusted places.
 */
#ifndef TN_BASE_REGULAR_H
#define TN_BASE_REGULAR_H

#include <sys/stat.h>

#define TN_NOT_REGULAR (-2)

/* Opens a regular file for reading without ever blocking.  Returns the descriptor, closed on exec;
 * -1: see errno; TN_NOT_REGULAR: a pipe (which would block an ordinary open), a device or a folder.
 * *information describes the file and is zero where fstat failed. */
int tn_regular_open(const char *path, struct stat *information);

#endif
