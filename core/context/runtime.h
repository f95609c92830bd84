/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creating and destroying a context's runtime.
 */
#ifndef TN_CONTEXT_RUNTIME_H
#define TN_CONTEXT_RUNTIME_H

#include "array/runtime.h"

/* Makes the root scope, the ledger and the program cache of a zeroed context; the caller fills the
 * other fields of its runtime.  TN_OUT_OF_MEMORY: nothing is left allocated. */
tn_status tn_runtime_init(tn_context *context);

/* Ends a capture in progress, calls release_attachment, and frees all arrays and what init made. */
void tn_runtime_release(tn_context *context);

#endif
