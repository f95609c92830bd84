/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies a caller's struct of options of an older or newer size, and refuses members that this
 * version does not know.
 */
#include "base/options.h"

#include <string.h>

tn_status tn_options_take(void *own, size_t own_size, const void *given, const char *type,
			  const char *operation, struct tn_error_info *error)
{
	const uint32_t known = (uint32_t)own_size;
	uint32_t size = 0;
	if (!given) {
		memcpy(own, &known, sizeof(known));
		return TN_OK;
	}
	memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "%s: expected struct_size %u, as TN_OPTIONS or sizeof sets it, "
			       "found %u",
			       type, known, size);
	for (uint32_t i = known; i < size; i++) {
		if (((const unsigned char *)given)[i])
			return tn_fail(error, TN_UNSUPPORTED, operation,
				       "%s: byte %u of %u is not 0, this version has %u bytes",
				       type, i, size, known);
	}
	memcpy(own, given, size < known ? size : known);
	memcpy(own, &known, sizeof(known));
	return TN_OK;
}
