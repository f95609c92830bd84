/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Structs of options: copying one from a caller compiled against another version of it (a later
 * version appends members and puts none into former padding), and checking its members by a table:
 *
 *	static const struct tn_option members[] = {
 *		{TN_MEMBER(struct tn_lion_options, lr), TN_LEAST, .most = INFINITY},
 *		{TN_MEMBER(struct tn_lion_options, beta1), TN_MOST, .most = 1},
 *		{TN_MEMBER(struct tn_lion_options, weight_decay), .most = INFINITY},
 *		{0},
 *	};
 */
#ifndef TN_BASE_OPTIONS_H
#define TN_BASE_OPTIONS_H

#include <math.h>
#include <stddef.h>

#include "base/error.h"

/* A row of a table, which ends with one of zeros: a member of type double, or of type uint32_t if
 * it `is_choice`, from `least` to `most`.  INFINITY and -INFINITY are no bounds; if they are
 * excluded, the number must be finite. */
struct tn_option {
	const char *name;
	size_t offset;
	uint32_t excluded; /* TN_LEAST, TN_MOST */
	double least;
	double most;
	int is_choice;
};
enum { TN_LEAST = 1, TN_MOST = 2 };

/* The beginning of a row. */
#define TN_MEMBER(type, member) #member, offsetof(type, member)

/* Checks the members in the order of the table.  TN_INVALID_ARGUMENT names the first that is
 * wrong. */
tn_status tn_options_check(const void *options, const struct tn_option *members,
			   const char *operation, struct tn_error_info *error);

/* The same of a number that is not a member; the row has no offset. */
tn_status tn_option_check(const struct tn_option *member, double value, const char *operation,
			  struct tn_error_info *error);

/* Copies `given`, a `type` ("struct tn_sgd_options"), to `own`, which holds the defaults: members
 * beyond the end of `given` keep them, all members when it is NULL.  Both begin with a uint32_t
 * struct_size; own's becomes own_size.  On failure `own` is unchanged.
 * TN_INVALID_ARGUMENT: struct_size is not set: it is smaller than its own size.
 * TN_UNSUPPORTED: `given` is longer, and a byte beyond this version's members is not 0. */
tn_status tn_options_take(void *own, size_t own_size, const void *given, const char *type,
			  const char *operation, struct tn_error_info *error);

#endif
