/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the files of this plugin: its instance and device, and how entries take arguments and
 * report failures.
 */
#ifndef ONEDNN_PLUGIN_H
#define ONEDNN_PLUGIN_H

#include <tenon/plugin.h>

#include "cache.h"
#include "library.h"

struct onednn_instance {
	const struct tn_host *host;
	struct onednn_library library;
};

struct onednn_device {
	struct onednn_instance *instance;
	const struct onednn_library *library;
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_attr_t attributes; /* of every primitive except accumulating reorders */
	dnnl_primitive_attr_t adding;     /* of accumulating reorders */
	struct onednn_cache cache;
};

extern const struct tn_device_table onednn_device_table;
extern const struct tn_compute_table onednn_compute_table;
extern const struct tn_nn_table onednn_nn_table;

/* tn_plugin_fail for a status of oneDNN: TN_OUT_OF_MEMORY, else `otherwise`. */
tn_status onednn_answer(struct tn_error_info *error, dnnl_status_t answer, tn_status otherwise,
			const char *operation, const char *step);

#endif
