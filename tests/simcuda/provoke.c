/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend, whose path is in PROVOKE_PLUGIN, with table org.tenon.faults/1: the simulated
 * runtime makes its calls and its work fail.
 *
 * backend_cuda.so itself has no such table: NVIDIA's runtime cannot be asked to fail, so an
 * installed file would carry what no device runs.  And a loss is the process's there, for good,
 * whereas a fault of that table ends with the open device.  All that is needed of the backend it
 * tells by tenon.native/1: which of the runtime's streams is meant.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/faults.h>
#include <tenon/plugin.h>

#include "simcuda.h"

enum { MEMORY_ALLOCATION = 2, UNKNOWN = 999 }; /* of cudaError_t */

static const struct tn_backend_descriptor *below;
static const struct tn_device_table *devices;
static const struct tn_native_table *native;
static struct tn_device_table own_devices; /* with another close */

/* ---- The table -------------------------------------------------------------------------------*/

static tn_status lose(void *device, const struct tn_fault_args *args)
{
	const struct tn_stream_args of = {.call = {.struct_size = sizeof(of),
						   .stream = args->call.stream,
						   .error = args->call.error}};
	uint64_t stream = 0;
	tn_status status = native->stream_export(device, &of, &stream);
	if (!status)
		simcudaLose((void *)(uintptr_t)stream, args->after + 1);
	return status;
}

static tn_status provoke(void *device, const struct tn_fault_args *args)
{
	struct tn_fault_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, 0, "provoke");
	const unsigned n = (unsigned)own.after + 1, times = (unsigned)own.times;
	if (status)
		return status;
	switch (own.kind) {
	case TN_FAULT_LOST:
		return lose(device, &own);
	case TN_FAULT_TRANSFER: /* of any stream */
		simcudaInjectTimes("cudaMemcpyAsync", n, times, UNKNOWN);
		return TN_OK;
	case TN_FAULT_ALLOC:
		simcudaInjectTimes("cudaMalloc*", n, times, MEMORY_ALLOCATION);
		return TN_OK;
	case TN_FAULT_LIMIT:
		simcudaRoom(0, own.bytes);
		return TN_OK;
	default:
		return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "provoke",
				      "kind of fault %u: expected 2 to 5; work that fails on a "
				      "device of CUDA loses it",
				      own.kind);
	}
}

/* The tests open the first device. */
static void end_faults(void)
{
	simcudaInject("", 0, 0, 0);
	simcudaSpare(0);
}

static tn_status reset(void *device, const struct tn_sync_args *args)
{
	struct tn_sync_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, 0, "reset");
	(void)device;
	if (!status)
		end_faults();
	return status;
}

static const struct tn_faults_table faults = {
	.struct_size = sizeof(faults),
	.provoke = provoke,
	.reset = reset,
};

static void close_device(void *device)
{
	devices->close(device);
	end_faults();
	simcudaRevive(0);
}

/* ---- The plugin ------------------------------------------------------------------------------*/

static tn_status find_plugin(struct tn_error_info *error)
{
	const char *path = getenv("PROVOKE_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	below = library ? dlsym(library, TN_BACKEND_SYMBOL) : NULL;
	return below ? TN_OK
		     : tn_plugin_fail(error, TN_REFUSED, "create", "PROVOKE_PLUGIN: %s",
				      path ? dlerror() : "not set");
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	tn_status status = below ? TN_OK : find_plugin(error);
	if (!status)
		status = below->create(host, error, instance);
	if (status || devices)
		return status;
	devices = below->query(*instance, TN_TABLE_DEVICE);
	native = below->query(*instance, TN_TABLE_NATIVE);
	own_devices = *devices;
	own_devices.close = close_device;
	return TN_OK;
}

static void destroy(void *instance)
{
	below->destroy(instance);
}

static const void *query(void *instance, const char *table)
{
	if (!strcmp(table, TN_TABLE_FAULTS))
		return &faults;
	return strcmp(table, TN_TABLE_DEVICE) ? below->query(instance, table) : &own_devices;
}

#define UUID                                                                                       \
	0xd7, 0x3b, 0x60, 0x1e, 0x92, 0xf4, 0x4a, 0x8d, 0xa5, 0xc6, 0x0b, 0x58, 0x27, 0xe9, 0x71,  \
		0x4c
TN_BACKEND_PLUGIN(UUID, "provoke", "0.1.0", "Apache-2.0", create, destroy, query);
