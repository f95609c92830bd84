/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A file whose lock says that something belongs to one process, and whose text says to which.
 */
#ifndef TN_IO_LOCK_FILE_H
#define TN_IO_LOCK_FILE_H

#include <tenon/backend.h>

/* Opens or makes the file and locks it until *fd is closed, at the latest by the end of the
 * process.  *is_locked: 0 on a file system without locks.  TN_STATE: another process, or another
 * *fd, has it; the text names it and `what`.  TN_IO. */
tn_status tn_lock_file_take(const char *path, const char *operation, const char *what, int *fd,
			    int *is_locked, struct tn_error_info *error);

#endif
