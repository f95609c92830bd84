/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backends that are linked into the program, in the order in which it registered them.
 */
#ifndef TN_LOADER_REGISTERED_H
#define TN_LOADER_REGISTERED_H

#include <stddef.h>

#include <tenon/backend.h>

/* NULL: no more.  It is never removed.  From any thread. */
const struct tn_backend_descriptor *tn_registered_at(size_t index);

#endif
