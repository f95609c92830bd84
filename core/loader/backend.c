/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What loading a backend has beyond that of any plugin: its tables and its devices.
 */
#include "loader/backend.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "loader/instance.h"
#include "loader/kind.h"
#include "loader/report.h"
#include "loader/slots.h"
#include "loader/stage.h"

#define MAX_DEVICES 1024u

static tn_status count_devices(const struct tn_backend *backend, uint32_t *n,
			       struct tn_error_info *error)
{
	struct tn_device_count count = {.struct_size = sizeof(count)};
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
	*n = count.count;
	return TN_OK;
}

static tn_status describe_device(const struct tn_backend *backend, uint32_t index,
				 struct tn_device_description *device, struct tn_error_info *error)
{
	device->struct_size = sizeof(*device);
	tn_status status = backend->device.describe(backend->plugin.instance, index, device);
	device->name[sizeof(device->name) - 1] = '\0';
	device->note[sizeof(device->note) - 1] = '\0';
	if (status)
		return tn_fail(error, TN_PROBE_FAILED, "describe",
			       "describe of device %u returned %s%s%s", index,
			       tn_status_name(status), device->note[0] ? ": " : "", device->note);
	if (!(device->flags & TN_DEVICE_SYNCHRONOUS) &&
	    !tn_backend_has(backend, TN_SLOT_ASYNC_ERROR))
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "device %u works asynchronously, and table %s has no async_error",
			       index, TN_TABLE_DEVICE);
	return TN_OK;
}

static tn_status describe_devices(const struct tn_backend *backend,
				  struct tn_device_description *devices, uint32_t n,
				  struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < n && !status; i++)
		status = describe_device(backend, i, &devices[i], error);
	return status;
}

/* What was relied on before the device was open must still hold. */
static tn_status check_opened(uint32_t index, const struct tn_device_description *before,
			      const struct tn_device_description *after,
			      struct tn_error_info *error)
{
	const int has_identity = before->identity_type != TN_IDENTITY_NONE ||
				 before->identity2_type != TN_IDENTITY_NONE;
	if (has_identity && !tn_device_same(before, after))
		return tn_fail(error, TN_NO_DEVICE, "open",
			       "device %u was %s, and what was opened is another one, %s", index,
			       before->name, after->name);
	if (before->flags != after->flags || before->alignment != after->alignment ||
	    before->dlpack_type != after->dlpack_type ||
	    before->memory_kinds & ~after->memory_kinds ||
	    before->storage_dtypes & ~after->storage_dtypes ||
	    before->program_dtypes & ~after->program_dtypes ||
	    before->matmul_dtypes & ~after->matmul_dtypes)
		return tn_fail(error, TN_BAD_PLUGIN, "open",
			       "the open device %u has other flags, alignment or DLPack type than "
			       "before, or fewer dtypes or kinds of memory",
			       index);
	return TN_OK;
}

tn_status tn_backend_describe_opened(const struct tn_backend *backend, uint32_t index,
				     struct tn_device_description *description,
				     struct tn_error_info *error)
{
	tn_status status = describe_device(backend, index, description, error);
	return status ? status : check_opened(index, &backend->devices[index], description, error);
}

void tn_backend_set_description(const struct tn_backend *backend, uint32_t index,
				const struct tn_device_description *description)
{
	struct tn_instance *instance = backend->plugin.shared;
	backend->devices[index] = *description;
	if (instance && instance->devices)
		instance->devices[index] = *description;
	if (backend->row)
		tn_report_set_device(backend->row, index, description);
}

/* Asks the plugin, which may have to load libraries of the vendor for an answer. */
static tn_status ask_for_devices(struct tn_instance *instance, const struct tn_backend *backend,
				 struct tn_error_info *error)
{
	uint32_t n;
	tn_status status = count_devices(backend, &n, error);
	if (status)
		return status;
	struct tn_device_description *devices = tn_mem_zeroed(n, sizeof(*devices));
	if (!devices)
		return TN_OUT_OF_MEMORY;
	status = describe_devices(backend, devices, n, error);
	if (status) {
		tn_mem_free(devices);
		return status;
	}
	instance->devices = devices;
	instance->n_devices = n;
	return TN_OK;
}

/* An instance is asked once, however many contexts share it. */
static tn_status find_devices(struct tn_backend *backend, struct tn_load_row *row,
			      struct tn_error_info *error)
{
	struct tn_instance *instance = backend->plugin.shared;
	tn_status status = instance->devices ? TN_OK : ask_for_devices(instance, backend, error);
	if (status)
		return status;
	backend->devices = tn_mem_zeroed(instance->n_devices, sizeof(*backend->devices));
	if (!backend->devices)
		return TN_OUT_OF_MEMORY;
	backend->n_devices = instance->n_devices;
	memcpy(backend->devices, instance->devices,
	       instance->n_devices * sizeof(*backend->devices));
	return tn_report_set_devices(row, backend->devices, backend->n_devices) ? TN_OK
										: TN_OUT_OF_MEMORY;
}

/* Does the selection prefer named backends to this one, whose data file says that it drives GPUs or
 * starts slowly; or is there no sign of hardware for one that starts slowly, which is not named?
 * Its devices are counted only if something asks for them: that may start a driver.  Such a device
 * lends to nobody, so that the route never does. */
static int may_wait(const struct tn_loading *loading, const char *name, int *is_unlikely)
{
	const struct tn_selection *selection = &loading->selection;
	const struct tn_known *known = loading->known ? tn_known_find(loading->known, name) : NULL;
	if (!known)
		return 0;
	*is_unlikely = known->is_slow && !known->seen;
	if (*is_unlikely && !selection->n_named)
		return 1;
	return (known->is_slow || known->kind == TN_DEVICE_DISCRETE_GPU ||
		known->kind == TN_DEVICE_INTEGRATED_GPU) &&
	       tn_selection_prefers_others(selection, name);
}

tn_status tn_backend_count(struct tn_backend *backend)
{
	struct tn_error_info error;
	struct tn_load_row *row = backend->waiting;
	backend->waiting = NULL;
	tn_error_reset(&error);
	row->stage = TN_STAGE_DEVICES;
	tn_instance_lock(backend->plugin.shared);
	row->status = find_devices(backend, row, &error);
	tn_instance_unlock(backend->plugin.shared);
	if (!row->status)
		row->stage = TN_STAGE_READY;
	row->native_code = error.native_code;
	return row->status == TN_OUT_OF_MEMORY ||
			       (row->status && !tn_report_set(&row->text, error.text))
		       ? TN_OUT_OF_MEMORY
		       : TN_OK;
}

static tn_status take_backend(struct tn_loading *loading, struct tn_candidate *candidate,
			      struct tn_plugin *plugin, struct tn_error_info *error)
{
	struct tn_backend *backend = (struct tn_backend *)plugin;
	backend->row = candidate->row;
	tn_plugin_enter(loading, candidate, TN_STAGE_QUERY);
	tn_status status = tn_slots_take(backend, error);
	if (status)
		return status;
	if (may_wait(loading, candidate->name, &backend->is_unlikely)) {
		backend->waiting = candidate->row;
		return TN_OK;
	}
	tn_plugin_enter(loading, candidate, TN_STAGE_DEVICES);
	return find_devices(backend, candidate->row, error);
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
