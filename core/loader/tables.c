/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * After tn_tables_take every slot of every table holds a function.  Slots are described by data, one
 * row each; a slot counts as there when it lies whole within the plugin's struct_size and is not
 * NULL.
 */
#include "loader/tables.h"

#include <string.h>

#include "base/error.h"
#include "loader/stubs.h"

typedef void (*function)(void);

enum {
	DEVICE,
	CAPTURE,
	COMPILE,
	COMPUTE,
	COPY,
	MEMORY,
	NN,
	PEER,
	REPORT,
	SCAN,
	SORT,
	STREAM,
	TABLES
};

static const struct {
	const char *id;
	size_t size;   /* the host's own */
	size_t offset; /* in struct tn_backend */
	int mandatory;
	const void *stubs;
} tables[TABLES] = {
	[DEVICE] = {TN_TABLE_DEVICE, sizeof(struct tn_device_table),
		    offsetof(struct tn_backend, device), 1, NULL},
	[CAPTURE] = {TN_TABLE_CAPTURE, sizeof(struct tn_capture_table),
		     offsetof(struct tn_backend, capture), 0, &tn_capture_stubs},
	[COMPILE] = {TN_TABLE_COMPILE, sizeof(struct tn_compile_table),
		     offsetof(struct tn_backend, compile), 0, &tn_compile_stubs},
	[COMPUTE] = {TN_TABLE_COMPUTE, sizeof(struct tn_compute_table),
		     offsetof(struct tn_backend, compute), 1, NULL},
	[COPY] = {TN_TABLE_COPY, sizeof(struct tn_copy_table), offsetof(struct tn_backend, copy), 0,
		  &tn_copy_stubs},
	[MEMORY] = {TN_TABLE_MEMORY, sizeof(struct tn_memory_table),
		    offsetof(struct tn_backend, memory), 0, &tn_memory_stubs},
	[NN] = {TN_TABLE_NN, sizeof(struct tn_nn_table), offsetof(struct tn_backend, nn), 0,
		&tn_nn_stubs},
	[PEER] = {TN_TABLE_PEER, sizeof(struct tn_peer_table), offsetof(struct tn_backend, peer), 0,
		  &tn_peer_stubs},
	[REPORT] = {TN_TABLE_REPORT, sizeof(struct tn_report_table),
		    offsetof(struct tn_backend, report), 0, &tn_report_stubs},
	[SCAN] = {TN_TABLE_SCAN, sizeof(struct tn_scan_table), offsetof(struct tn_backend, scan), 0,
		  &tn_scan_stubs},
	[SORT] = {TN_TABLE_SORT, sizeof(struct tn_sort_table), offsetof(struct tn_backend, sort), 0,
		  &tn_sort_stubs},
	[STREAM] = {TN_TABLE_STREAM, sizeof(struct tn_stream_table),
		    offsetof(struct tn_backend, stream), 0, &tn_stream_stubs},
};

static const struct {
	const char *name;
	size_t offset; /* in its table */
	int table;
} slots[TN_SLOT_COUNT] = {
	[TN_SLOT_DEVICE_COUNT] = {"device_count", offsetof(struct tn_device_table, device_count),
				  DEVICE},
	[TN_SLOT_DESCRIBE] = {"describe", offsetof(struct tn_device_table, describe), DEVICE},
	[TN_SLOT_OPEN] = {"open", offsetof(struct tn_device_table, open), DEVICE},
	[TN_SLOT_CLOSE] = {"close", offsetof(struct tn_device_table, close), DEVICE},
	[TN_SLOT_ALLOC] = {"alloc", offsetof(struct tn_device_table, alloc), DEVICE},
	[TN_SLOT_FREE] = {"free", offsetof(struct tn_device_table, free), DEVICE},
	[TN_SLOT_UPLOAD] = {"upload", offsetof(struct tn_device_table, upload), DEVICE},
	[TN_SLOT_DOWNLOAD] = {"download", offsetof(struct tn_device_table, download), DEVICE},
	[TN_SLOT_SYNC] = {"sync", offsetof(struct tn_device_table, sync), DEVICE},
	[TN_SLOT_ASYNC_ERROR] = {"async_error", offsetof(struct tn_device_table, async_error),
				 DEVICE},
	[TN_SLOT_MAP] = {"map", offsetof(struct tn_compute_table, map), COMPUTE},
	[TN_SLOT_REDUCE] = {"reduce", offsetof(struct tn_compute_table, reduce), COMPUTE},
	[TN_SLOT_MATMUL] = {"matmul", offsetof(struct tn_compute_table, matmul), COMPUTE},
	[TN_SLOT_FILL] = {"fill", offsetof(struct tn_copy_table, fill), COPY},
	[TN_SLOT_COPY] = {"copy", offsetof(struct tn_copy_table, copy), COPY},
	[TN_SLOT_GATHER] = {"gather", offsetof(struct tn_copy_table, gather), COPY},
	[TN_SLOT_SCATTER_ADD] = {"scatter_add", offsetof(struct tn_copy_table, scatter_add), COPY},
	[TN_SLOT_MEMORY_INFORMATION] = {"information",
					offsetof(struct tn_memory_table, information), MEMORY},
	[TN_SLOT_CONV2D_FORWARD] = {"conv2d_forward", offsetof(struct tn_nn_table, conv2d_forward),
				    NN},
	[TN_SLOT_CONV2D_INPUT_GRADIENT] = {"conv2d_input_gradient",
					   offsetof(struct tn_nn_table, conv2d_input_gradient), NN},
	[TN_SLOT_CONV2D_WEIGHT_GRADIENT] = {"conv2d_weight_gradient",
					    offsetof(struct tn_nn_table, conv2d_weight_gradient),
					    NN},
	[TN_SLOT_POOL2D_FORWARD] = {"pool2d_forward", offsetof(struct tn_nn_table, pool2d_forward),
				    NN},
	[TN_SLOT_POOL2D_BACKWARD] = {"pool2d_backward",
				     offsetof(struct tn_nn_table, pool2d_backward), NN},
	[TN_SLOT_BATCH_NORM_FORWARD] = {"batch_norm_forward",
					offsetof(struct tn_nn_table, batch_norm_forward), NN},
	[TN_SLOT_BATCH_NORM_BACKWARD] = {"batch_norm_backward",
					 offsetof(struct tn_nn_table, batch_norm_backward), NN},
	[TN_SLOT_LAYER_NORM_FORWARD] = {"layer_norm_forward",
					offsetof(struct tn_nn_table, layer_norm_forward), NN},
	[TN_SLOT_LAYER_NORM_BACKWARD] = {"layer_norm_backward",
					 offsetof(struct tn_nn_table, layer_norm_backward), NN},
	[TN_SLOT_SOFTMAX_FORWARD] = {"softmax_forward",
				     offsetof(struct tn_nn_table, softmax_forward), NN},
	[TN_SLOT_SOFTMAX_BACKWARD] = {"softmax_backward",
				      offsetof(struct tn_nn_table, softmax_backward), NN},
	[TN_SLOT_CROSS_ENTROPY_FORWARD] = {"cross_entropy_forward",
					   offsetof(struct tn_nn_table, cross_entropy_forward), NN},
	[TN_SLOT_CROSS_ENTROPY_BACKWARD] = {"cross_entropy_backward",
					    offsetof(struct tn_nn_table, cross_entropy_backward),
					    NN},
	[TN_SLOT_GROUP_NORM_FORWARD] = {"group_norm_forward",
					offsetof(struct tn_nn_table, group_norm_forward), NN},
	[TN_SLOT_GROUP_NORM_BACKWARD] = {"group_norm_backward",
					 offsetof(struct tn_nn_table, group_norm_backward), NN},
	[TN_SLOT_CONV2D_PREPACK] = {"conv2d_prepack", offsetof(struct tn_nn_table, conv2d_prepack),
				    NN},
	[TN_SLOT_REPORT_LINE] = {"report_line", offsetof(struct tn_report_table, line), REPORT},
	[TN_SLOT_STREAM_CREATE] = {"stream_create", offsetof(struct tn_stream_table, stream_create),
				   STREAM},
	[TN_SLOT_STREAM_DESTROY] = {"stream_destroy",
				    offsetof(struct tn_stream_table, stream_destroy), STREAM},
	[TN_SLOT_EVENT_CREATE] = {"event_create", offsetof(struct tn_stream_table, event_create),
				  STREAM},
	[TN_SLOT_EVENT_DESTROY] = {"event_destroy", offsetof(struct tn_stream_table, event_destroy),
				   STREAM},
	[TN_SLOT_EVENT_RECORD] = {"event_record", offsetof(struct tn_stream_table, event_record),
				  STREAM},
	[TN_SLOT_EVENT_WAIT] = {"event_wait", offsetof(struct tn_stream_table, event_wait), STREAM},
	[TN_SLOT_EVENT_SYNC] = {"event_sync", offsetof(struct tn_stream_table, event_sync), STREAM},
	[TN_SLOT_EVENT_QUERY] = {"event_query", offsetof(struct tn_stream_table, event_query),
				 STREAM},
	[TN_SLOT_EVENT_ELAPSED] = {"event_elapsed", offsetof(struct tn_stream_table, event_elapsed),
				   STREAM},
	[TN_SLOT_COMPILE] = {"compile", offsetof(struct tn_compile_table, compile), COMPILE},
	[TN_SLOT_LAUNCH] = {"launch", offsetof(struct tn_compile_table, launch), COMPILE},
	[TN_SLOT_KERNEL_RELEASE] = {"kernel_release",
				    offsetof(struct tn_compile_table, kernel_release), COMPILE},
	[TN_SLOT_CAPTURE_BEGIN] = {"capture_begin",
				   offsetof(struct tn_capture_table, capture_begin), CAPTURE},
	[TN_SLOT_CAPTURE_END] = {"capture_end", offsetof(struct tn_capture_table, capture_end),
				 CAPTURE},
	[TN_SLOT_GRAPH_LAUNCH] = {"graph_launch", offsetof(struct tn_capture_table, graph_launch),
				  CAPTURE},
	[TN_SLOT_GRAPH_RELEASE] = {"graph_release",
				   offsetof(struct tn_capture_table, graph_release), CAPTURE},
	[TN_SLOT_PEER_COPY] = {"peer_copy", offsetof(struct tn_peer_table, peer_copy), PEER},
	[TN_SLOT_SORT] = {"sort", offsetof(struct tn_sort_table, sort), SORT},
	[TN_SLOT_SCAN] = {"scan", offsetof(struct tn_scan_table, scan), SCAN},
};

_Static_assert(TN_SLOT_COUNT <= 64, "`native` has a bit for each slot");

const char *tn_slot_name(enum tn_slot slot)
{
	return (unsigned)slot < TN_SLOT_COUNT ? slots[slot].name : "unknown";
}

/* Copies one slot from the plugin's table of `size` bytes; 1 when it was there. */
static int take_slot(struct tn_backend *backend, int slot, const void *theirs, size_t size)
{
	size_t offset = slots[slot].offset;
	if (offset + sizeof(function) > size)
		return 0;
	function entry;
	memcpy(&entry, (const char *)theirs + offset, sizeof(entry));
	if (!entry)
		return 0;
	memcpy((char *)backend + tables[slots[slot].table].offset + offset, &entry, sizeof(entry));
	backend->native |= UINT64_C(1) << slot;
	return 1;
}

static tn_status take_table(struct tn_backend *backend, int table, struct tn_error_info *error)
{
	char *own = (char *)backend + tables[table].offset;
	const void *theirs = backend->descriptor.query(backend->instance, tables[table].id);
	uint32_t size = 0, own_size = (uint32_t)tables[table].size;
	if (theirs)
		memcpy(&size, theirs, sizeof(size));
	else if (tables[table].mandatory)
		return tn_fail(error, TN_BAD_PLUGIN, "query", "it has no table %s",
			       tables[table].id);
	if (tables[table].stubs)
		memcpy(own, tables[table].stubs, own_size);
	memcpy(own, &own_size, sizeof(own_size));
	for (int slot = 0; slot < TN_SLOT_COUNT; slot++) {
		if (slots[slot].table != table || take_slot(backend, slot, theirs, size) ||
		    !tables[table].mandatory)
			continue;
		size_t end = slots[slot].offset + sizeof(function);
		if (end > size)
			return tn_fail(error, TN_BAD_PLUGIN, "query",
				       "table %s is short: it has %u bytes, %s is at %zu to %zu",
				       tables[table].id, size, slots[slot].name, slots[slot].offset,
				       end - 1);
		return tn_fail(error, TN_BAD_PLUGIN, "query",
			       "table %s: %s is mandatory, found NULL", tables[table].id,
			       slots[slot].name);
	}
	return TN_OK;
}

tn_status tn_tables_take(struct tn_backend *backend, struct tn_error_info *error)
{
	backend->native = 0;
	for (int table = 0; table < TABLES; table++) {
		tn_status status = take_table(backend, table, error);
		if (status)
			return status;
	}
	return TN_OK;
}
