/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loading one candidate.
 */
#ifndef TN_LOADER_LOAD_H
#define TN_LOADER_LOAD_H

#include "loader/plugin.h"
#include "loader/stage.h"

/* Takes candidate i through the stages until one fails and fills its row, which must exist.
 * *plugin: the loaded plugin, the kind's struct, owned (tn_plugin_destroy), or NULL: the row has
 * the reason.  TN_OUT_OF_MEMORY: the host ran out of memory. */
tn_status tn_plugin_load(struct tn_loading *loading, size_t i, struct tn_plugin **plugin);
/* The same up to the stage `negotiate`: no code of the file runs. */
tn_status tn_plugin_inspect(struct tn_loading *loading, size_t i);
/* The same up to the stage `describe`, with the options in the row, unless the kind has it that the
 * file is opened only to be used. */
tn_status tn_plugin_list(struct tn_loading *loading, size_t i);

/* destroy_instance 0: does not destroy the plugin's instance (in a forked child).  Takes NULL. */
void tn_plugin_destroy(struct tn_plugin *plugin, int destroy_instance);

#endif
