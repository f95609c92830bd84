/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ranking the loaded devices by the selection, and the notices about the result.
 */
#ifndef TN_LOADER_RANK_DEVICES_H
#define TN_LOADER_RANK_DEVICES_H

#include "loader/known_plugins.h"
#include "loader/load.h"
#include "loader/registry.h"

/* Fills the registry's choices and fell_back, marks the chosen row, writes and logs the notices.
 * Errors as tn_registry_open.  The report must have a row for every name of the selection. */
tn_status tn_choose_backend(struct tn_loading *loading, const struct tn_known_list *known,
			    struct tn_registry *registry, struct tn_error_info *error);

/* Counts the devices of the backends that wait, and makes the choices anew: those that the
 * selection names remain the first, in their order.  TN_OUT_OF_MEMORY: the choices are the same. */
tn_status tn_choose_again(struct tn_registry *registry);

/* The rank of a kind of device: lower is preferred. */
int tn_kind_rank(uint32_t kind);

#endif
