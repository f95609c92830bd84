/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * From what was loaded and what was selected to what is used, and what is said about it.
 */
#ifndef TN_LOADER_CHOOSE_H
#define TN_LOADER_CHOOSE_H

#include "loader/known.h"
#include "loader/load.h"
#include "loader/registry.h"

/* Fills the registry's choices and fell_back, marks the chosen row, writes and logs the notices.
 * Errors as tn_registry_open; a row of the report is there for every name of the selection. */
tn_status tn_choose(struct tn_loading *loading, const struct tn_known_list *known,
		    struct tn_registry *registry, struct tn_error_info *error);

/* A position for a kind of device: lower is preferred. */
int tn_kind_rank(uint32_t kind);

#endif
