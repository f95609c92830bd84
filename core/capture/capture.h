/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * For those whose work may not be captured, or only with care.
 */
#ifndef TN_CAPTURE_CAPTURE_H
#define TN_CAPTURE_CAPTURE_H

#include "array/runtime.h"

/* TN_NOT_CAPTURABLE while work is captured (kept), else TN_OK: for what the host does itself, and
 * would do anew in each step.  `what` says what it is. */
tn_status tn_capture_refuse(struct tn_runtime *runtime, const char *operation, const char *what);

/* Ends a capture that nobody will end. */
void tn_capture_abandon(struct tn_runtime *runtime);

/* While work is captured: the work uses `thing`, and release(thing) is called once, when the graph
 * goes.  *is_new: the graph did not have it yet.  TN_OUT_OF_MEMORY, with runtime->report filled. */
tn_status tn_capture_keep(struct tn_runtime *runtime, void *thing, void (*release)(void *thing),
			  int *is_new);

/* To be called before each change of *flag.  Does nothing unless work is captured. */
void tn_capture_flag(struct tn_runtime *runtime, int *flag);
/* The flag goes: no graph of the context changes it from here on. */
void tn_capture_forget(struct tn_runtime *runtime, const int *flag);

#endif
