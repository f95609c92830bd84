/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_mock.so: a device for tests.  Its memory is separate from the host's, its work is
 * deferred, its results are correct, and TENON_MOCK sets its faults.
 */
#include <stdio.h>
#include <string.h>

#include "mock.h"
#include "vendor.h"

tn_status mock_begin(struct mock_device *device, void *own, size_t own_size, const void *theirs,
		     uint32_t flags, const char *operation)
{
	tn_status status = tn_plugin_take(own, own_size, theirs, flags, operation);
	const struct tn_call *call = own;
	if (status)
		return status;
	if (device && device->loss.status)
		return tn_plugin_fail(call->error, TN_DEVICE_LOST, operation, "%s",
				      device->loss.text);
	if (device && !mock_stream_find(device, call->stream))
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "the stream does not belong to this device");
	return TN_OK;
}

uint64_t mock_count(uint64_t *counter)
{
	return __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

void *mock_host_alloc(const struct mock_device *device, size_t size)
{
	const struct tn_host *host = device->instance->host;
	return host->alloc(host->context, size, 0);
}

void mock_host_free(const struct mock_device *device, void *memory)
{
	const struct tn_host *host = device->instance->host;
	if (memory)
		host->free(host->context, memory);
}

/* Failures that are detected before there is an instance, with the texts of a real backend. */
static tn_status check_presence(const struct mock_faults *faults, struct tn_error_info *error)
{
	switch (faults->absence) {
	case TN_NO_DRIVER:
		return tn_plugin_fail(error, TN_NO_DRIVER, "create",
				      "the driver is not loaded (TENON_MOCK=no-driver)");
	case TN_DRIVER_TOO_OLD:
		return tn_plugin_fail(error, TN_DRIVER_TOO_OLD, "create",
				      "the driver is version 1.0, expected 2.0 "
				      "(TENON_MOCK=driver-too-old)");
	case TN_MISSING_LIBRARY:
		return tn_plugin_fail(error, TN_MISSING_LIBRARY, "create",
				      "libmock.so.1: cannot open shared object file "
				      "(TENON_MOCK=missing-library)");
	case TN_ABI_MISMATCH:
		return tn_plugin_fail(error, TN_ABI_MISMATCH, "create",
				      "made for an older interface than %u.%u (TENON_MOCK=old-abi)",
				      TN_ABI_MAJOR, TN_ABI_MINOR);
	default: /* no device: device_count reports it */
		return TN_OK;
	}
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct mock_faults faults;
	const char *text = tn_plugin_option(host, "faults");
	/* A plugin around this one has options of its own, or none. */
	if (!text)
		text = host->parameter(host->context, "TENON_MOCK", "faults of the mock backend");
	tn_status status = mock_faults_parse(text, &faults, error);
	if (!status)
		status = check_presence(&faults, error);
	if (status)
		return status;
	struct mock_instance *own = host->alloc(host->context, sizeof(*own), 0);
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	memset(own, 0, sizeof(*own));
	own->host = host;
	own->faults = faults;
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct mock_instance *own = instance;
	own->host->free(own->host->context, own);
}

static const void *query(void *instance, const char *table)
{
	static const struct {
		const char *name;
		const void *table;
	} tables[] = {
		{TN_TABLE_DEVICE, &mock_device_table},   {TN_TABLE_COMPUTE, &mock_compute_table},
		{TN_TABLE_COPY, &mock_copy_table},       {TN_TABLE_MEMORY, &mock_memory_table},
		{TN_TABLE_REPORT, &mock_report_table},   {TN_TABLE_STREAM, &mock_stream_table},
		{TN_TABLE_CAPTURE, &mock_capture_table}, {TN_TABLE_PEER, &mock_peer_table},
		{TN_TABLE_IMPORT, &mock_import_table},   {TN_TABLE_NATIVE, &mock_native_table},
		{MOCK_VENDOR_TABLE, &mock_vendor_table}, {TN_TABLE_FAULTS, &mock_faults_table},
	};
	(void)instance;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (!strcmp(table, tables[i].name))
			return tables[i].table;
	}
	return NULL;
}

static const struct tn_option_row options[] = {
	{
		.name = "faults",
		.variable = "TENON_MOCK",
		.type = TN_OPTION_TEXT,
		.help = "faults on request, with commas between: no-driver, no-device, "
			"driver-too-old, missing-library, old-abi, oom:N, oom-after:BYTES, lost:N, "
			"async-error:N, slow, slow:MS, devices:N, no-peers, identity:HEX, slice:N, "
			"pci:ADDRESS",
	},
};

#define MOCK_UUID                                                                                  \
	0xd3, 0x41, 0x5f, 0x0a, 0x97, 0x2c, 0x4e, 0x6b, 0x8b, 0x1d, 0x62, 0xe0, 0x35, 0xc8, 0xa9,  \
		0x74
TN_BACKEND_PLUGIN_OPTIONS(MOCK_UUID, "mock", "0.1.0", "Apache-2.0", create, destroy, query,
			  options);
