/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A loaded backend: an instance with its tables.  Mandatory slots are never NULL; an optional one
 * is NULL where tn_backend_has returns 0.
 */
#ifndef TN_LOADER_BACKEND_H
#define TN_LOADER_BACKEND_H

#include <tenon/backend.h>
#include <tenon/report.h>

#include "base/log.h"
#include "base/parameter.h"
#include "base/threads.h"
#include "loader/plugin.h"

/* The entries of all tables, in the order in which these came. */
enum tn_slot {
	TN_SLOT_DEVICE_COUNT = 0,
	TN_SLOT_DESCRIBE,
	TN_SLOT_OPEN,
	TN_SLOT_CLOSE,
	TN_SLOT_ALLOC,
	TN_SLOT_FREE,
	TN_SLOT_UPLOAD,
	TN_SLOT_DOWNLOAD,
	TN_SLOT_SYNC,
	TN_SLOT_ASYNC_ERROR,
	TN_SLOT_MAP,
	TN_SLOT_REDUCE,
	TN_SLOT_MATMUL,
	TN_SLOT_FILL,
	TN_SLOT_COPY,
	TN_SLOT_GATHER,
	TN_SLOT_SCATTER_ADD,
	TN_SLOT_MEMORY_INFORMATION,
	TN_SLOT_CONV2D_FORWARD,
	TN_SLOT_CONV2D_INPUT_GRADIENT,
	TN_SLOT_CONV2D_WEIGHT_GRADIENT,
	TN_SLOT_POOL2D_FORWARD,
	TN_SLOT_POOL2D_BACKWARD,
	TN_SLOT_BATCH_NORM_FORWARD,
	TN_SLOT_BATCH_NORM_BACKWARD,
	TN_SLOT_LAYER_NORM_FORWARD,
	TN_SLOT_LAYER_NORM_BACKWARD,
	TN_SLOT_SOFTMAX_FORWARD,
	TN_SLOT_SOFTMAX_BACKWARD,
	TN_SLOT_CROSS_ENTROPY_FORWARD,
	TN_SLOT_CROSS_ENTROPY_BACKWARD,
	TN_SLOT_GROUP_NORM_FORWARD,
	TN_SLOT_GROUP_NORM_BACKWARD,
	TN_SLOT_CONV2D_PREPACK,
	TN_SLOT_REPORT_LINE,
	TN_SLOT_STREAM_CREATE,
	TN_SLOT_STREAM_DESTROY,
	TN_SLOT_EVENT_CREATE,
	TN_SLOT_EVENT_DESTROY,
	TN_SLOT_EVENT_RECORD,
	TN_SLOT_EVENT_WAIT,
	TN_SLOT_EVENT_SYNC,
	TN_SLOT_EVENT_QUERY,
	TN_SLOT_EVENT_ELAPSED,
	TN_SLOT_COMPILE,
	TN_SLOT_LAUNCH,
	TN_SLOT_KERNEL_RELEASE,
	TN_SLOT_CAPTURE_BEGIN,
	TN_SLOT_CAPTURE_END,
	TN_SLOT_GRAPH_LAUNCH,
	TN_SLOT_GRAPH_RELEASE,
	TN_SLOT_PEER_COPY,
	TN_SLOT_SORT,
	TN_SLOT_SCAN,
	TN_SLOT_IMPORT_MEMORY,
	TN_SLOT_IMPORT_RELEASE,
	TN_SLOT_EXPORT_MEMORY,
	TN_SLOT_MATMUL_PREPACK,
	TN_SLOT_SCATTER,
	TN_SLOT_ATTENTION_FORWARD,
	TN_SLOT_ATTENTION_BACKWARD,
	TN_SLOT_DEVICE_EXPORT,
	TN_SLOT_STREAM_IMPORT,
	TN_SLOT_STREAM_RELEASE,
	TN_SLOT_STREAM_EXPORT,
	TN_SLOT_CHOLESKY,
	TN_SLOT_LU,
	TN_SLOT_SOLVE,
	TN_SLOT_SOLVE_TRIANGULAR,
	TN_SLOT_QR,
	TN_SLOT_EIGH,
	TN_SLOT_SVD,
	TN_SLOT_EIG,
	TN_SLOT_COUNT,
};

/* A loaded backend.  Read only, owned by its registry. */
struct tn_backend {
	struct tn_plugin
		plugin; /* its instance is the first argument of device_count, describe, open */
	uint32_t n_devices;
	struct tn_device_description *devices; /* n_devices */
	struct tn_load_row *row;               /* in the report of its context, or NULL */
	struct tn_load_row *waiting; /* its row, while its devices have not been counted; or NULL */
	int is_unlikely;             /* to have any: counting takes long, and no sign was seen */
	unsigned char native[TN_SLOT_COUNT]; /* 1: the plugin filled that slot */

	struct tn_device_table device;
	struct tn_compute_table compute;
	struct tn_copy_table copy;
	struct tn_memory_table memory;
	struct tn_nn_table nn;
	struct tn_report_table report;
	struct tn_stream_table stream;
	struct tn_compile_table compile;
	struct tn_capture_table capture;
	struct tn_peer_table peer;
	struct tn_sort_table sort;
	struct tn_scan_table scan;
	struct tn_import_table import;
	struct tn_native_table vendor;
	struct tn_linalg_table linalg;
};

/* Counts and describes the devices of a backend that waits for it.  A failure is in its row, which
 * is then not TN_OK.  TN_OUT_OF_MEMORY. */
tn_status tn_backend_count(struct tn_backend *backend);

/* Describes a device once more, after it was opened: now all is known.  TN_NO_DEVICE: it is another
 * one than that described before.  TN_BAD_PLUGIN: it can do less.  Within the instance's lock, as
 * the next. */
tn_status tn_backend_describe_opened(const struct tn_backend *backend, uint32_t index,
				     struct tn_device_description *description,
				     struct tn_error_info *error);
/* Sets it for the backend, its instance and the report. */
void tn_backend_set_description(const struct tn_backend *backend, uint32_t index,
				const struct tn_device_description *description);

static inline int tn_backend_has(const struct tn_backend *backend, enum tn_slot slot)
{
	return backend->native[slot];
}

/* Are all slots from `first` to `last` filled? */
static inline int tn_backend_has_all(const struct tn_backend *backend, enum tn_slot first,
				     enum tn_slot last)
{
	int all = 1;
	for (int slot = (int)first; slot <= (int)last; slot++)
		all &= backend->native[slot];
	return all;
}

#endif
