/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Handles of a context that have ended, where TENON_CHECK_HANDLES asks for their check.  Their
 * memory is in the quarantine (base/quarantine.h), and they refer to a runtime that only tells what
 * has ended, as a kept error: a call that gets such a handle fails as it does after any error, and
 * puts it in the context that the handle belonged to.  A handle that refers to its context in
 * another way is found in the quarantine by its address.
 */
#ifndef TN_ARRAY_HANDLE_H
#define TN_ARRAY_HANDLE_H

#include "array/array.h"
#include "base/quarantine.h"

struct tn_ended {
	struct tn_quarantined quarantined;
	struct tn_runtime *of; /* what the handle referred to; it may be closed by now */
	/* What the handle refers to instead. */
	struct tn_context context;
	struct tn_scope scope;
	struct tn_device device;
	struct tn_storage storage;
};

/* The context's handles are checked from now on. */
void tn_handles_open(struct tn_runtime *runtime);
/* The context ends, and refuses all work. */
void tn_handles_close(struct tn_runtime *runtime);
/* Takes the memory of a context that has ended, and of what it refers to. */
void tn_handle_end_context(tn_context *context, void *companion);

/* Puts a handle of a context whose handles are checked in the quarantine.  The text says what has
 * ended, and how.  NULL: no host memory; the handle has been freed. */
struct tn_ended *tn_handle_quarantine(struct tn_runtime *runtime, void *handle, const char *format,
				      ...) __attribute__((format(printf, 3, 4)));

/* The end of a handle of that runtime, which is a member of it: frees it, or puts it in the
 * quarantine.  `what` has ended: "the tape".  NULL, or what the handle refers to now. */
struct tn_ended *tn_handle_end(struct tn_runtime **runtime, void *handle, const char *what);

/* The runtime is that of a handle that has ended: keeps its error in the context that the handle
 * belonged to, or logs it if that is closed.  TN_STATE. */
tn_status tn_handle_report(const struct tn_runtime *runtime, const char *operation);

/* The same, or TN_OK of any other runtime.  Unless handles are checked it reads nothing of the
 * runtime, which a handle that only answers questions may outlive. */
static inline tn_status tn_handle_check(const struct tn_runtime *runtime, const char *operation)
{
	return tn_quarantine_is_open && runtime && runtime->ended
		       ? tn_handle_report(runtime, operation)
		       : TN_OK;
}

/* The runtime is that of a handle which is about to be destroyed: reports that the handle, or its
 * context, has ended.  1: the handle itself. */
int tn_handle_has_ended(const struct tn_runtime *runtime, const void *handle,
			const char *operation);

/* The program has destroyed a handle (`has_ended`) that work may still use: TN_STATE, kept, where
 * handles are checked. */
static inline tn_status tn_handle_refuse(struct tn_runtime *runtime, int has_ended,
					 const char *operation, const char *text)
{
	struct tn_error_info error;
	if (!tn_quarantine_is_open || !has_ended)
		return TN_OK;
	tn_quarantine_report(operation, text, &error);
	return tn_runtime_keep(runtime, &error);
}

/* tn_quarantine_check of a handle that belongs to that runtime, or is given with an object that
 * does; keeps the error. */
static inline tn_status tn_handle_find(struct tn_runtime *runtime, const void *handle,
				       const char *operation)
{
	struct tn_error_info error;
	tn_status status = tn_quarantine_check(handle, operation, &error);
	return status ? tn_runtime_keep(runtime, &error) : TN_OK;
}

#endif
