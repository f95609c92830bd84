/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The registry: finds backends, loads them, and says which device to use first.
 *
 *	tn_registry_open   search -> inspect -> negotiate -> dlopen -> create -> query -> devices,
 *	                   then rank and select
 *	tn_registry_close  destroys the instances; the files stay mapped
 *
 * What the rest of the core holds is struct tn_backend: an instance with its tables.  Mandatory
 * slots are filled; an optional one is NULL where tn_backend_has says no.  A broken plugin becomes
 * a row of the load report, never an error of tn_registry_open.
 */
#ifndef TN_LOADER_BACKEND_H
#define TN_LOADER_BACKEND_H

#include <tenon/backend.h>
#include <tenon/report.h>

#include "base/log.h"
#include "base/parameter.h"
#include "base/threads.h"

/* The bits of `native` in struct tn_backend, in the order of the tables. */
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
	TN_SLOT_COUNT,
};

struct tn_host_services;

/* A loaded backend.  Read only, owned by its registry. */
struct tn_backend {
	char name[32];
	const char *version;
	const char *path; /* NULL: built in */
	uint8_t uuid[16];
	void *instance;     /* first argument of device_count, describe and open */
	uint32_t abi_minor; /* the effective one */
	uint32_t n_devices;
	struct tn_device_description *devices; /* n_devices */
	uint64_t native;                       /* bit s: the plugin filled slot s */

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

	/* The loader's own. */
	struct tn_backend_descriptor descriptor;
	struct tn_host_services *services;
	int created; /* there is an instance to destroy */
};

static inline int tn_backend_has(const struct tn_backend *backend, enum tn_slot slot)
{
	return (int)(backend->native >> slot & 1);
}

/* Every slot from `first` to `last`? */
static inline int tn_backend_has_all(const struct tn_backend *backend, enum tn_slot first,
				     enum tn_slot last)
{
	uint64_t all = ((UINT64_C(2) << last) - 1) & ~((UINT64_C(1) << first) - 1);
	return (backend->native & all) == all;
}

/* A device to use. */
struct tn_choice {
	const struct tn_backend *backend;
	uint32_t index;
};

/* A version of the interface as one side states it. */
struct tn_abi_version {
	uint32_t major;
	uint32_t minor;
	uint32_t oldest_peer; /* the oldest minor of the other side that this one accepts */
};

/* Zero and NULL are the ordinary values; logger, parameters and threads live longer than the
 * registry.  `parameters` is needed, the other two may be NULL. */
struct tn_registry_options {
	const struct tn_logger *logger;
	struct tn_parameters *parameters;
	struct tn_threads *threads;
	/* Folders or files to look at before TENON_PLUGIN_PATH; each has a '/' in it. */
	const char *const *paths;
	size_t n_paths;
	/* What TENON_BACKEND holds otherwise; errors call it "backend". */
	const char *selection;
	/* 1: no fall-back to what the selection does not name, as with a trailing '!'. */
	int required;
	/* 1: look at `paths` alone, and at no variable or installed folder (the isolated probe). */
	int paths_only;
	/* Not 0: each file is loaded in a process of its own and given so many milliseconds; the
	 * report says what came of it, and nothing is loaded or chosen here. */
	uint32_t probe_ms;
	/* Backends without a file; they come first in the list of backends. */
	const struct tn_backend_descriptor *const *built_in;
	size_t n_built_in;
	/* What the host claims to be; major and minor 0: this build.  For tests. */
	struct tn_abi_version host;
	/* Called when a file reaches a stage (TN_STAGE_...); may be NULL. */
	void (*progress)(void *user, const char *path, uint32_t stage);
	void *user;
};

struct tn_registry {
	struct tn_backend **backends; /* that have a device: built-in ones, then in search order */
	size_t n_backends;
	/* What to use, best first.  choices[0] is what the selection gives; the named ones follow
	 * in their order and then, unless forbidden, the rest by rank. */
	struct tn_choice *choices;
	size_t n_choices;
	int fell_back; /* choices[0] is not what the selection names first */
	uint64_t fork_generation;
};

/* Loads and selects.  *report (may be NULL as an argument) is owned by the caller and filled on
 * failure too, if there was memory for it; *registry only on success.
 *   TN_FORMAT: TENON_BACKEND or TENON_SIMULATE is malformed; the text has the column.
 *   TN_NO_PLUGIN ... TN_EXCLUDED: what was required is not there, for that reason.
 *   TN_NO_DEVICE: there is no device at all.  TN_OUT_OF_MEMORY.
 * Notices and warnings have been logged, one line each. */
tn_status tn_registry_open(const struct tn_registry_options *options, struct tn_registry **registry,
			   tn_load_report **report, struct tn_error_info *error);
/* Destroys the instances (not in a forked child, where that is the parent's business).  The devices
 * have been closed.  Takes NULL. */
void tn_registry_close(struct tn_registry *registry);

/* The loaded backend of that name, or NULL. */
const struct tn_backend *tn_registry_find(const struct tn_registry *registry, const char *name);

/* Can the two work together?  On TN_OK *effective is the minor that both speak; otherwise
 * TN_ABI_MISMATCH with both versions in the text.  A pure function. */
tn_status tn_abi_negotiate(const struct tn_abi_version *host, const struct tn_abi_version *plugin,
			   uint32_t *effective, struct tn_error_info *error);

#endif
