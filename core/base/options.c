/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies a caller's struct of options of an older or newer size, and refuses members that this
 * version does not know.  Ranges are compared so that a NaN is outside all of them.
 */
#include "base/options.h"

#include <math.h>
#include <stdio.h>
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
			       "%s: expected struct_size %u, as its defaults have it, "
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

static int is_within(const struct tn_option *member, double value)
{
	int above = member->excluded & TN_LEAST ? value > member->least : value >= member->least;
	int below = member->excluded & TN_MOST ? value < member->most : value <= member->most;
	return above && below;
}

/* What was expected. */
static void describe(const struct tn_option *member, char *text, size_t size)
{
	const char *above = member->excluded & TN_LEAST ? "above" : "of at least";
	const char *below = member->excluded & TN_MOST ? "below" : "at most";
	if (isinf(member->least))
		snprintf(text, size, "a %snumber", member->excluded ? "finite " : "");
	else if (isinf(member->most))
		snprintf(text, size, "a %snumber %s %g",
			 member->excluded & TN_MOST ? "finite " : "", above, member->least);
	else if (member->excluded)
		snprintf(text, size, "a number %s %g and %s %g", above, member->least, below,
			 member->most);
	else
		snprintf(text, size, "%s%g to %g", member->is_choice ? "" : "a number from ",
			 member->least, member->most);
}

tn_status tn_option_check(const struct tn_option *member, double value, const char *operation,
			  struct tn_error_info *error)
{
	char expected[96];
	if (is_within(member, value))
		return TN_OK;
	describe(member, expected, sizeof(expected));
	return tn_fail(error, TN_INVALID_ARGUMENT, operation, "%s: expected %s, found %.*g",
		       member->name, expected, member->is_choice ? 10 : 6, value);
}

tn_status tn_options_check(const void *options, const struct tn_option *members,
			   const char *operation, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (const struct tn_option *member = members; member->name && !status; member++) {
		const void *at = (const char *)options + member->offset;
		double value = member->is_choice ? *(const uint32_t *)at : *(const double *)at;
		status = tn_option_check(member, value, operation, error);
	}
	return status;
}
