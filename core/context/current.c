/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The stack of current devices, and devices and backends by their names.
 */
#include <string.h>

#include <tenon/device.h>

#include "array/handle.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "context/context.h"
#include "context/devices.h"
#include "device/open.h"
#include "device/returned.h"
#include "device/transfer.h"
#include "loader/selection.h"

/* ---- The current device ----------------------------------------------------------------------*/

static tn_status make_room(struct tn_assembly *assembly, struct tn_error_info *error)
{
	if (assembly->n_pushed < assembly->room_for_pushed)
		return TN_OK;
	size_t room = assembly->room_for_pushed ? 2 * assembly->room_for_pushed : 8;
	struct tn_device **more =
		tn_mem_realloc(assembly->pushed, room, sizeof(struct tn_device *));
	if (!more)
		return tn_no_memory(error, "device_push", NULL, "the stack of devices");
	assembly->pushed = more;
	assembly->room_for_pushed = room;
	return TN_OK;
}

tn_status tn_device_push(tn_device *device)
{
	struct tn_error_info error;
	if (!device)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	struct tn_assembly *assembly = device->context->assembly;
	tn_status status = tn_runtime_ready(runtime);
	if (status)
		return status;
	status = make_room(assembly, &error);
	if (!status)
		status = tn_device_open(device, &error);
	if (status)
		return tn_runtime_keep(runtime, &error);
	assembly->pushed[assembly->n_pushed++] = runtime->device;
	runtime->device = device;
	return TN_OK;
}

tn_status tn_device_pop(tn_context *context)
{
	if (!context)
		return TN_INVALID_ARGUMENT;
	struct tn_assembly *assembly = context->assembly;
	if (!assembly->n_pushed)
		return tn_runtime_fail(&context->runtime, TN_STATE, "device_pop",
				       "no device is pushed");
	context->runtime.device = assembly->pushed[--assembly->n_pushed];
	return TN_OK;
}

tn_status tn_device_synchronize(tn_device *device)
{
	struct tn_error_info error;
	if (!device)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	tn_status status = tn_runtime_ready(runtime);
	if (status || !device->handle)
		return status;
	status = tn_device_sync_all(device, &error);
	tn_returned_collect(device);
	return status ? tn_runtime_keep(runtime, &error) : TN_OK;
}

/* ---- By name ---------------------------------------------------------------------------------*/

static tn_status not_found(tn_context *context, const char *name)
{
	struct tn_text list;
	tn_text_init(&list);
	for (size_t i = 0; i < context->assembly->n_devices; i++)
		tn_text_format(&list, "%s%s", i ? ", " : "", context->assembly->devices[i]->name);
	tn_status status =
		tn_runtime_fail(&context->runtime, TN_NOT_FOUND, "device_find",
				"name: expected one of %s, found '%s'; TENON_BACKEND and the load "
				"report say which others there could be",
				list.failed ? "the context's devices" : list.data, name);
	tn_text_release(&list);
	return status;
}

/* One item of a selection, without its marks. */
static tn_status read_name(const char *name, struct tn_selection *selection,
			   struct tn_error_info *error)
{
	if (!name)
		return tn_fail(error, TN_INVALID_ARGUMENT, "device_find", "name is NULL");
	tn_status status = tn_selection_parse(name, "device_find", selection, error);
	if (!status && (selection->n_named != 1 || selection->n_excluded || selection->required))
		status = tn_fail(error, TN_FORMAT, "device_find",
				 "name: expected a backend's name, or NAME:INDEX, or one kind or "
				 "identity, found '%s'",
				 name);
	return status;
}

/* NULL: the context has no such device. */
static struct tn_device *find_counted(const tn_context *context,
				      const struct tn_selection_item *item)
{
	for (size_t i = 0; i < context->assembly->n_devices; i++) {
		struct tn_device *device = context->assembly->devices[i];
		if (tn_selection_item_is(item, device->backend->plugin.name, device->index,
					 &device->description))
			return device;
	}
	return NULL;
}

static struct tn_device *find(const tn_context *context, const struct tn_selection_item *item)
{
	struct tn_device *device = find_counted(context, item);
	if (device)
		return device;
	tn_context_count_devices(context);
	return find_counted(context, item);
}

tn_device *tn_device_find(tn_context *context, const char *name)
{
	struct tn_selection selection;
	struct tn_error_info error;
	if (!context || tn_runtime_ready(&context->runtime))
		return NULL;
	if (read_name(name, &selection, &error)) {
		tn_runtime_keep(&context->runtime, &error);
		return NULL;
	}
	struct tn_device *device = find(context, &selection.named[0]);
	if (!device)
		not_found(context, name);
	return device;
}

int tn_device_available(const tn_context *context, const char *name)
{
	struct tn_selection selection;
	return context && !tn_handle_check(&context->runtime, "device_available") &&
	       !read_name(name, &selection, NULL) && find(context, &selection.named[0]);
}

int tn_backend_available(const tn_context *context, const char *name, const char **reason)
{
	const char *ignored;
	if (context && tn_handle_check(&context->runtime, "backend_available"))
		context = NULL;
	if (context)
		tn_context_count_devices(context);
	const struct tn_load_row *row =
		context && name ? tn_load_report_find(context->assembly->report, name) : NULL;
	if (!reason)
		reason = &ignored;
	if (!context || !name)
		*reason = context ? "no name was given" : "there is no context";
	else if (!row)
		*reason = "no backend of that name is known here";
	else if (row->status)
		*reason = row->text[0] ? row->text : tn_status_text(row->status);
	else if (!row->n_devices)
		*reason = "it has no device";
	else
		*reason = "";
	return !**reason;
}

tn_status tn_device_attribute(tn_device *device, const char *key, struct tn_report_line *line)
{
	struct tn_report_line found;
	if (!device || !key || !line)
		return tn_runtime_null(device ? tn_runtime_of(device->context) : NULL,
				       "device_attribute", key ? "line" : "key");
	tn_status status = TN_OK;
	for (size_t i = 0; !status; i++) {
		status = tn_device_report_at(device, i, &found);
		if (!status && !strcmp(found.key, key)) {
			*line = found;
			break;
		}
	}
	return status;
}
