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

static tn_status check_choice(const struct tn_option *member, uint32_t *choice,
			      const char *operation, struct tn_error_info *error)
{
	if (!*choice)
		*choice = (uint32_t)member->standard;
	return tn_option_check(member, (double)*choice, operation, error);
}

static tn_status check_number(const struct tn_option *member, double *number, const char *operation,
			      struct tn_error_info *error)
{
	if (*number == 0.0)
		*number = member->standard;
	return tn_option_check(member, *number, operation, error);
}

tn_status tn_options_check(void *options, const struct tn_option *members, const char *operation,
			   struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (const struct tn_option *member = members; member->name && !status; member++) {
		void *at = (char *)options + member->offset;
		status = member->is_choice ? check_choice(member, at, operation, error)
					   : check_number(member, at, operation, error);
	}
	return status;
}
