/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether the selection has a use for a plugin, which decides before any of its code runs.
 */
#ifndef TN_LOADER_ALLOWED_H
#define TN_LOADER_ALLOWED_H

#include "loader/stage.h"

/* TN_EXCLUDED, with the reason: the selection has no use for a backend of that name. */
tn_status tn_plugin_allowed(const struct tn_loading *loading, const char *name,
			    struct tn_error_info *error);

#endif
