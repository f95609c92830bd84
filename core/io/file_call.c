/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks what every function of <tenon/files.h> is given: a context without a kept error, and a
 * path.
 */
#include "io/file_call.h"

tn_status tn_file_call_check(struct tn_runtime *runtime, const char *operation, const char *path)
{
	if (!runtime)
		return TN_INVALID_ARGUMENT;
	if (tn_runtime_ready(runtime))
		return TN_PENDING_ERROR;
	if (path)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation, "path is NULL");
}
