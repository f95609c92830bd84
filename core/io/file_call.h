/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How a function of <tenon/files.h> begins.
 */
#ifndef TN_IO_FILE_CALL_H
#define TN_IO_FILE_CALL_H

#include "array/runtime.h"

/* TN_PENDING_ERROR; TN_INVALID_ARGUMENT, which is kept: the path is NULL; or the context is. */
tn_status tn_file_call_check(struct tn_runtime *runtime, const char *operation, const char *path);

#endif
