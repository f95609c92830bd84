/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What loading a backend has beyond that of any plugin: its tables and its devices.
 */
#include "loader/backend.h"

#include "base/error.h"
#include "base/memory.h"
#include "loader/kind.h"
#include "loader/report.h"
#include "loader/slots.h"
#include "loader/stage.h"

#define MAX_DEVICES 1024u

static tn_status find_devices(const struct tn_loading *loading,
			      const struct tn_candidate *candidate, struct tn_backend *backend,
			      struct tn_error_info *error)
{
	struct tn_device_count count = {.struct_size = sizeof(count)};
	tn_plugin_enter(loading, candidate, TN_STAGE_DEVICES);
	tn_status status = backend->device.device_count(backend->plugin.instance, &count);
	count.text[sizeof(count.text) - 1] = '\0';
	if (status) {
		tn_fail(error, status, "device_count", "%s", count.text);
		return tn_plugin_absence(status, "device_count", error);
	}
	if (count.count > MAX_DEVICES)
		return tn_fail(error, TN_BAD_PLUGIN, "device_count",
			       "found %u devices, expected at most %u", count.count, MAX_DEVICES);
	if (!count.count)
		return tn_fail(
			error, tn_plugin_is_absence(count.status) ? count.status : TN_NO_DEVICE,
			"device_count", "%s", count.text[0] ? count.text : "it found no device");
	backend->n_devices = count.count;
	backend->devices = tn_mem_zeroed(backend->n_devices, sizeof(*backend->devices));
	if (!backend->devices)
		return TN_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < backend->n_devices; i++) {
		struct tn_device_description *device = &backend->devices[i];
		device->struct_size = sizeof(*device);
		status = backend->device.describe(backend->plugin.instance, i, device);
		device->name[sizeof(device->name) - 1] = '\0';
		device->note[sizeof(device->note) - 1] = '\0';
		if (status)
			return tn_fail(error, TN_PROBE_FAILED, "describe",
				       "describe of device %u returned %s%s%s", i,
				       tn_status_name(status), device->note[0] ? ": " : "",
				       device->note);
		if (!(device->flags & TN_DEVICE_SYNCHRONOUS) &&
		    !tn_backend_has(backend, TN_SLOT_ASYNC_ERROR))
			return tn_fail(error, TN_BAD_PLUGIN, "describe",
				       "device %u works asynchronously, and table %s has no "
				       "async_error",
				       i, TN_TABLE_DEVICE);
	}
	return tn_report_set_devices(candidate->row, backend->devices, backend->n_devices)
		       ? TN_OK
		       : TN_OUT_OF_MEMORY;
}

static tn_status take_backend(struct tn_loading *loading, struct tn_candidate *candidate,
			      struct tn_plugin *plugin, struct tn_error_info *error)
{
	struct tn_backend *backend = (struct tn_backend *)plugin;
	tn_plugin_enter(loading, candidate, TN_STAGE_QUERY);
	tn_status status = tn_slots_take(backend, error);
	return status ? status : find_devices(loading, candidate, backend, error);
}

static void release_backend(struct tn_plugin *plugin)
{
	tn_mem_free(((struct tn_backend *)plugin)->devices);
}

static const tn_status no_refusals[] = {TN_OK};

const struct tn_plugin_kind tn_backend_kind = {
	.name = "backend",
	.article = "a backend",
	.options = "backend_options",
	.symbol = TN_BACKEND_SYMBOL,
	.macro = "TN_BACKEND_PLUGIN",
	.note_type = TN_BACKEND_NOTE_TYPE,
	.flags = 0,
	.host = {TN_ABI_MAJOR, TN_ABI_MINOR, TN_ABI_OLDEST_PLUGIN},
	.refusals = no_refusals,
	.size = sizeof(struct tn_backend),
	.take = take_backend,
	.release = release_backend,
};
