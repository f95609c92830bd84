/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The quarantine of handles that have ended, where TENON_CHECK_HANDLES asks for their check.  The
 * memory of a handle stays until many others have ended: no later handle has its address before,
 * so that a call which gets it can tell that it has ended.
 */
#ifndef TN_BASE_QUARANTINE_H
#define TN_BASE_QUARANTINE_H

#include "base/error.h"

/* Has a context been opened whose handles are checked?  Without one nothing is kept. */
extern _Atomic int tn_quarantine_is_open;

void tn_quarantine_open(void);

struct tn_quarantined {
	void *handle;
	void *companion;  /* to which the handle refers; freed with it */
	const char *text; /* what has ended, and how */
};

/* Takes the entry, which begins a block of memory of its own, and the memory of its handle. */
void tn_quarantine_add(struct tn_quarantined *entry);

/* The end of a handle: frees its memory, or keeps it in the quarantine.  The text is static: "the
 * data set has been destroyed". */
void tn_quarantine_end(void *handle, const char *text);

/* Makes the error of a call that got a handle which has ended, and logs it, too.  TN_STATE. */
tn_status tn_quarantine_report(const char *operation, const char *text,
			       struct tn_error_info *error);
/* TN_OK: the quarantine does not have the handle.  Else the same. */
tn_status tn_quarantine_find(const void *handle, const char *operation,
			     struct tn_error_info *error);

/* The same, first in every call that gets a handle which refers to no context.  `error` may be
 * NULL. */
static inline tn_status tn_quarantine_check(const void *handle, const char *operation,
					    struct tn_error_info *error)
{
	return tn_quarantine_is_open ? tn_quarantine_find(handle, operation, error) : TN_OK;
}

/* Its lock, for other lists of what may have ended; held during a fork. */
void tn_quarantine_lock(void);
void tn_quarantine_unlock(void);

#endif
