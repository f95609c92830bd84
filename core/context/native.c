/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a program gets of a device beyond the library's interface: the vendor's handle, and tables
 * of the vendor's own.
 */
#include <string.h>

#include <tenon/device.h>

#include "array/handle.h"
#include "device/native.h"
#include "device/open.h"
#include "loader/instance.h"
#include "loader/table_name.h"

tn_status tn_device_native(tn_device *device, uint64_t *native)
{
	uint64_t found = 0;
	if (!device || !native)
		return tn_runtime_null(device ? tn_runtime_of(device->context) : NULL,
				       "device_native", "native");
	tn_status status = tn_handle_check(tn_runtime_of(device->context), "device_native");
	if (!status)
		status = tn_device_export(device, &found, NULL);
	if (!status)
		*native = found;
	return status;
}

tn_status tn_device_vendor_table(tn_device *device, const char *name, const void **table,
				 void **handle)
{
	if (!device || !name || !table || !handle)
		return tn_runtime_null(device ? tn_runtime_of(device->context) : NULL,
				       "device_vendor_table",
				       !name    ? "name"
				       : !table ? "table"
						: "handle");
	if (!tn_is_vendor_table(name))
		return tn_runtime_fail(tn_runtime_of(device->context), TN_INVALID_ARGUMENT,
				       "device_vendor_table",
				       "name: expected a form as com.example.table/1, not of "
				       "tenon's own, found '%.100s'",
				       name);
	tn_status status = tn_device_open(device, NULL);
	if (status)
		return status;
	const struct tn_plugin *plugin = &device->backend->plugin;
	tn_instance_lock(plugin->shared);
	const void *found = plugin->descriptor.query(plugin->instance, name);
	tn_instance_unlock(plugin->shared);
	if (!found)
		return TN_NOT_FOUND;
	*table = found;
	*handle = device->handle;
	return TN_OK;
}
