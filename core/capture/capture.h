/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * For code whose work cannot be captured, or needs care when it is.
 */
#ifndef TN_CAPTURE_CAPTURE_H
#define TN_CAPTURE_CAPTURE_H

#include "array/runtime.h"

struct tn_storage;

/* TN_NOT_CAPTURABLE while work is captured (kept), else TN_OK: for work of the host that a replay
 * would not repeat.  `what` names it. */
tn_status tn_capture_refuse(struct tn_runtime *runtime, const char *operation, const char *what);

/* Ends a capture that was left open. */
void tn_capture_abandon(struct tn_runtime *runtime);

/* Do replays of a graph write the storage? */
int tn_capture_writes(const struct tn_runtime *runtime, const struct tn_storage *storage);

/* While work is captured: the work uses `thing`; release(thing) is called once, when the graph is
 * freed.  *is_new: the graph did not have it yet.  TN_OUT_OF_MEMORY, with runtime->report
 * filled. */
tn_status tn_capture_keep(struct tn_runtime *runtime, void *thing, void (*release)(void *thing),
			  int *is_new);

/* To be called before each change of *flag.  Does nothing unless work is captured. */
void tn_capture_flag(struct tn_runtime *runtime, int *flag);
/* The flag will be freed: no graph of the context changes it from now on. */
void tn_capture_forget(struct tn_runtime *runtime, const int *flag);

#endif
