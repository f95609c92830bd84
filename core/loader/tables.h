/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The host's copy of a plugin's tables.
 */
#ifndef TN_LOADER_TABLES_H
#define TN_LOADER_TABLES_H

#include "loader/backend.h"

/* Asks the backend's instance for its tables and copies them: min(theirs, own) bytes, empty optional
 * slots filled with stubs, `native` set.  TN_BAD_PLUGIN: a mandatory table or slot is missing; the
 * text names both. */
tn_status tn_tables_take(struct tn_backend *backend, struct tn_error_info *error);

/* The name of a slot: "matmul". */
const char *tn_slot_name(enum tn_slot slot);

#endif
