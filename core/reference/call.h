/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The common start and the errors of the reference backend's entries.  Every entry has one form:
 *
 *	struct tn_map_args args;
 *	tn_status status = tn_reference_take(&args, sizeof(args), theirs, FLAGS, "map");
 *	if (!status)
 *		status = check(&args);
 *	if (status || tn_reference_is_dry(&args.call))
 *		return status;
 *	... the work, which can fail only for lack of memory, before it writes anything ...
 *
 * so that a dry run and the call use the same checks.
 */
#ifndef TN_REFERENCE_CALL_H
#define TN_REFERENCE_CALL_H

#include "reference/entries.h"

/* Copies the caller's arguments, of an older or newer size, to `own`.  TN_UNSUPPORTED: they use a
 * field that this version does not have, or a flag that is not in `flags` (dry run and determinism
 * are always supported).  TN_INVALID_ARGUMENT: a stream other than NULL. */
tn_status tn_reference_take(void *own, size_t own_size, const void *theirs, uint32_t flags,
			    const char *operation);

/* Is this a dry run?  If so, writes its result: no workspace is needed. */
int tn_reference_is_dry(const struct tn_call *call);

/* Fills the call's error unless it is NULL, and returns `status`. */
tn_status tn_reference_fail(const struct tn_call *call, tn_status status, const char *operation,
			    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Fills an error of an entry without a call. */
tn_status tn_reference_explain(struct tn_error_info *error, tn_status status, const char *operation,
			       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* TN_OUT_OF_MEMORY for scratch memory. */
tn_status tn_reference_no_memory(const struct tn_call *call, const char *operation);

#endif
