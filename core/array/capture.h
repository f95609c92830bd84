/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * For those whose work may not be captured, or only with care.
 */
#ifndef TN_ARRAY_CAPTURE_H
#define TN_ARRAY_CAPTURE_H

#include "array/runtime.h"

struct tn_kernel;
struct tn_stepped;

/* TN_NOT_CAPTURABLE while work is captured (kept), else TN_OK: for what the host does itself, and would do
 * anew in each step.  `what` says what it is. */
tn_status tn_capture_refuse(struct tn_runtime *runtime, const char *operation, const char *what);

/* The stepped scalars (array/stepped.h) of the graph that is being captured; NULL: none is. */
struct tn_stepped *tn_capture_stepped(struct tn_runtime *runtime);

/* Ends a capture that nobody will end. */
void tn_capture_abandon(struct tn_runtime *runtime);

/* Captured work starts the kernel, which then lives as long as the work. */
tn_status tn_capture_kernel(struct tn_runtime *runtime, struct tn_kernel *kernel);
struct tn_kernel *tn_kernel_hold(struct tn_kernel *kernel);

#endif
