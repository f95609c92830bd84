/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fills a caller's struct of an older or newer size.
 */
#include "base/answer.h"

#include <string.h>

tn_status tn_answer_check(const void *out, size_t own_size, const char *type, const char *operation,
			  struct tn_error_info *error)
{
	uint32_t size = 0;
	if (!out)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "%s: is NULL", type);
	memcpy(&size, out, sizeof(size));
	if (size < sizeof(size))
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "%s: expected struct_size %zu, as sizeof sets it, found %u", type,
			       own_size, size);
	return TN_OK;
}

tn_status tn_answer(void *out, const void *own, size_t own_size, const char *type,
		    const char *operation, struct tn_error_info *error)
{
	tn_status status = tn_answer_check(out, own_size, type, operation, error);
	if (!status)
		tn_struct_answer(out, own, own_size);
	return status;
}
