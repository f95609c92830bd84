/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The devices of a context.
 */
#ifndef TN_CONTEXT_DEVICES_H
#define TN_CONTEXT_DEVICES_H

#include "context/settings.h"

/* Makes the devices of the registry's choices, opens the first that can be opened, and sets the
 * reference and the lenders. */
tn_status tn_context_open_devices(tn_context *context, const struct tn_context_options *options,
				  const struct tn_settings *settings, struct tn_error_info *error);
/* Adds the devices of backends that have waited, because the selection prefers others
 * (tn_registry_waits), before something asks for all.  Without memory for them they are missing. */
void tn_context_count_devices(const tn_context *context);
/* Marks them as those of a closed context. */
void tn_context_end_devices(tn_context *context);
void tn_context_close_devices(tn_context *context);

#endif
