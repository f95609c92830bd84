/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Handles that have ended, where TENON_CHECK_HANDLES asks for their check.  Their memory stays
 * until many others have ended, and they refer to a runtime of their own, the tomb's, in which an
 * error is kept: a call that gets such a handle fails as it does after any error, and puts it in
 * the context that the handle belonged to.
 */
#ifndef TN_ARRAY_TOMB_H
#define TN_ARRAY_TOMB_H

#include "array/array.h"

/* Has a context been opened whose handles are checked?  Without one, a handle may end after what it
 * refers to, of which nothing is read. */
extern _Atomic int tn_tombs_are_kept;

struct tn_tomb {
	struct tn_tomb *next; /* the handle that ended after it */
	void *handle;
	void *companion;       /* to which the handle refers; freed with it */
	struct tn_runtime *of; /* what the handle referred to; it may be closed by now */
	/* What the handle refers to instead. */
	struct tn_context context;
	struct tn_scope scope;
	struct tn_device device;
	struct tn_storage storage;
};

/* The context's handles are checked from now on. */
void tn_tombs_open(struct tn_runtime *runtime);
/* The context ends, and refuses all work. */
void tn_tombs_close(struct tn_runtime *runtime);
/* Takes the memory of a context that has ended, and of what it refers to. */
void tn_tombs_take_context(tn_context *context, void *companion);

/* Takes the memory of a handle of a context whose handles are checked.  The text says what has
 * ended, and how.  NULL: no host memory; the handle has been freed. */
struct tn_tomb *tn_bury(struct tn_runtime *runtime, void *handle, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The end of a handle of that runtime, which is a member of it: frees it, or buries it.  `what` has
 * ended: "the tape". */
void tn_handle_end(struct tn_runtime **runtime, void *handle, const char *what);

/* The runtime is a tomb's: keeps its error in the context that the handle belonged to, or logs it
 * if that is closed.  TN_STATE. */
tn_status tn_tomb_report(const struct tn_runtime *runtime, const char *operation);

/* The same, or TN_OK of a runtime that is no tomb's.  Unless handles are checked it reads nothing
 * of the runtime, which a handle that only answers questions may outlive. */
static inline tn_status tn_tomb_check(const struct tn_runtime *runtime, const char *operation)
{
	return tn_tombs_are_kept && runtime->tomb ? tn_tomb_report(runtime, operation) : TN_OK;
}

/* The runtime is that of a handle which is about to be destroyed: reports that the handle, or its
 * context, has ended.  1: the handle itself. */
int tn_has_ended(const struct tn_runtime *runtime, const void *handle, const char *operation);

#endif
