/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the files of this plugin share: its instance and device, and how entries take arguments and
 * report failures.
 */
#ifndef ONEDNN_PLUGIN_H
#define ONEDNN_PLUGIN_H

#include <tenon/backend.h>

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
	dnnl_primitive_attr_t attributes; /* of every primitive but reorders that add */
	dnnl_primitive_attr_t adding;     /* of those */
	struct onednn_cache cache;
};

extern const struct tn_device_table onednn_device_table;
extern const struct tn_compute_table onednn_compute_table;
extern const struct tn_nn_table onednn_nn_table;

/* Fills `error` (when given) and returns `status`. */
tn_status onednn_fail(struct tn_error_info *error, tn_status status, const char *operation,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for what oneDNN answered: TN_OUT_OF_MEMORY, else `otherwise`. */
tn_status onednn_answer(struct tn_error_info *error, dnnl_status_t answer, tn_status otherwise,
			const char *operation, const char *step);

/* Copies a call's arguments into `own`, zero for what the caller did not know.  TN_UNSUPPORTED: they
 * carry something that this plugin does not know, a flag outside `flags` included. */
tn_status onednn_take(void *own, size_t own_size, const void *theirs, uint32_t flags,
		      const char *operation);

/* One line to the host's log. */
void onednn_log(const struct tn_host *host, int32_t level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Memory of the host, zeroed; NULL when there is none. */
void *onednn_zeroed(const struct onednn_instance *instance, size_t size);
void onednn_free(const struct onednn_instance *instance, void *memory);

#endif
