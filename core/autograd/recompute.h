/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tn_recompute for callers inside the library.
 */
#ifndef TN_AUTOGRAD_RECOMPUTE_H
#define TN_AUTOGRAD_RECOMPUTE_H

#include <tenon/autograd.h>

enum { TN_RECOMPUTE_COPY = 64 };

/* The same with a copy of `state`, at most TN_RECOMPUTE_COPY bytes, as the function's user. */
tn_array *tn_recompute_copied(tn_recompute_function f, const void *state, size_t size,
			      size_t n_inputs, tn_array *const *inputs);

#endif
