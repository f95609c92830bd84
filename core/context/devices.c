/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The devices of a context.  The first choice that opens becomes the current device.  A choice that
 * does not open is skipped: its row of the load report and one notice give the reason.  Opening
 * fails only when no choice opens (a selection may forbid fall-back), with the first choice's
 * reason.
 */
#include "context/devices.h"

#include <inttypes.h>
#include <string.h>

#include <tenon/device.h>

#include "array/handle.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "context/context.h"
#include "context/settings.h"
#include "device/limit.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/returned.h"
#include "device/transfer.h"
#include "loader/rank_devices.h"
#include "loader/registry.h"
#include "loader/report.h"
#include "reference/backend.h"

static int is_built_in(const struct tn_backend *backend)
{
	return !backend->plugin.path;
}

/* A device without its handle. */
static tn_status make_device(tn_context *context, const struct tn_backend *backend, uint32_t index,
			     struct tn_device **device, struct tn_error_info *error)
{
	const struct tn_assembly *assembly = context->assembly;
	const struct tn_logger *logger = &assembly->logger;
	tn_status status = tn_device_create(context, backend, index, assembly->memory_limit, logger,
					    device, error);
	if (!status && assembly->memory_percent)
		(void)tn_device_limit_by_percent(*device, (double)assembly->memory_percent);
	return status;
}

/* Gives the devices the handles on which their backends open them. */
static tn_status set_natives(tn_context *context, const struct tn_context_options *options,
			     struct tn_error_info *error)
{
	const struct tn_assembly *assembly = context->assembly;
	for (size_t i = 0; i < options->n_native_devices; i++) {
		const struct tn_native_device *given = &options->native_devices[i];
		size_t at = 0;
		while (at < assembly->n_devices &&
		       strcmp(assembly->devices[at]->name, given->device))
			at++;
		if (at == assembly->n_devices)
			return tn_fail(error, TN_NOT_FOUND, "context_open",
				       "native_devices[%zu]: this context has no device %s", i,
				       given->device);
		assembly->devices[at]->native = given->native;
	}
	return TN_OK;
}

/* ---- Skipping choices ------------------------------------------------------------------------*/

static struct tn_load_row *row_of(tn_context *context, const struct tn_device *device)
{
	const struct tn_load_row *found =
		tn_load_report_find(context->assembly->report, device->backend->plugin.name);
	for (size_t i = 0; i < context->assembly->report->n_rows; i++) {
		if (context->assembly->report->rows[i] == found)
			return context->assembly->report->rows[i];
	}
	return NULL;
}

/* The row of a backend whose later device opens after an earlier one failed is corrected. */
static tn_status report_fall_back(tn_context *context, const struct tn_device *device,
				  struct tn_text *notice)
{
	struct tn_load_row *row = row_of(context, device);
	context->assembly->report->fell_back = 1;
	tn_text_format(notice, "using %s%s", device->name,
		       is_built_in(device->backend) ? ", which is built in and slow" : "");
	if (notice->failed || !tn_report_add_notice(context->assembly->report, notice->data))
		return TN_OUT_OF_MEMORY;
	tn_log_format(&context->assembly->logger, TN_LOG_NOTICE, "context", "%s", notice->data);
	if (!row)
		return TN_OK;
	row->status = TN_OK;
	row->stage = TN_STAGE_READY;
	row->native_code = 0;
	row->selected = 1;
	row->selected_device = device->index;
	return tn_report_set(&row->text, "") ? TN_OK : TN_OUT_OF_MEMORY;
}

/* Opens the choices in order until one succeeds.  The reasons of the skipped ones are added to
 * `notice` and set in the rows of their backends. */
static tn_status open_in_order(tn_context *context, struct tn_text *notice,
			       struct tn_error_info *error)
{
	struct tn_error_info reason;
	for (size_t i = 0; i < context->assembly->n_devices; i++) {
		struct tn_device *device = context->assembly->devices[i];
		size_t prefix = strlen(device->name) + 2; /* a reason begins with "cuda:0: " */
		if (!tn_device_open(device, &reason)) {
			context->runtime.device = device;
			return TN_OK;
		}
		if (i == 0)
			*error = reason;
		tn_context_count_devices(context);
		tn_text_format(notice, "%s not used: %s: %s; ", device->name,
			       tn_status_name(reason.status),
			       strlen(reason.text) > prefix ? reason.text + prefix : reason.text);
		struct tn_load_row *row = row_of(context, device);
		if (!row)
			continue;
		row->status = reason.status;
		row->stage = TN_STAGE_DEVICES;
		row->native_code = reason.native_code;
		row->selected = 0;
		if (!tn_report_set(&row->text, reason.text))
			return tn_no_memory(error, "context_open", NULL, "the load report");
	}
	return error->status;
}

static tn_status open_first(tn_context *context, struct tn_error_info *error)
{
	struct tn_text notice;
	tn_text_init(&notice);
	tn_status status = open_in_order(context, &notice, error);
	if (!status && notice.length)
		status = report_fall_back(context, context->runtime.device, &notice);
	if (!status && notice.failed)
		status = TN_OUT_OF_MEMORY;
	if (status == TN_OUT_OF_MEMORY && error->status != status)
		tn_no_memory(error, "context_open", NULL, "the load report");
	tn_text_release(&notice);
	return status;
}

/* ---- The reference and the lenders -----------------------------------------------------------*/

/* Loads the built-in backend when the selection excludes it: not a choice then, but still the last
 * resort of the route. */
static tn_status open_last_resort(tn_context *context, struct tn_error_info *error)
{
	static const struct tn_backend_descriptor *const built_in[] = {&tn_reference_backend};
	const struct tn_registry_options options = {
		.parameters = &context->assembly->parameters,
		.threads = context->assembly->threads,
		.paths_only = 1,
		.built_in = built_in,
		.n_built_in = 1,
		.shares = 1,
	};
	tn_load_report *report = NULL;
	tn_status status =
		tn_registry_open(&options, &context->assembly->last_resort, &report, error);
	const struct tn_load_row *row = tn_load_report_at(report, 0);
	if (status == TN_NO_DEVICE && row && row->status)
		status = tn_fail(error, row->status, "context_open", "the built-in backend: %s",
				 row->text);
	tn_registry_forget_report(context->assembly->last_resort);
	tn_load_report_destroy(report);
	return status;
}

static const struct tn_backend *built_in_of(const struct tn_registry *registry)
{
	for (size_t i = 0; registry && i < registry->n_backends; i++) {
		if (is_built_in(registry->backends[i]))
			return registry->backends[i];
	}
	return NULL;
}

/* The built-in backend's device: one of the choices, or an additional one. */
static tn_status find_reference(tn_context *context, struct tn_error_info *error)
{
	for (size_t i = 0; i < context->assembly->n_devices && !context->runtime.reference; i++) {
		if (is_built_in(context->assembly->devices[i]->backend))
			context->runtime.reference = context->assembly->devices[i];
	}
	if (!context->runtime.reference) {
		const struct tn_backend *backend = built_in_of(context->assembly->registry);
		tn_status status = TN_OK;
		if (!backend) {
			status = open_last_resort(context, error);
			backend = built_in_of(context->assembly->last_resort);
		}
		if (!status)
			status = make_device(context, backend, 0, &context->assembly->reference,
					     error);
		if (status)
			return status;
		context->runtime.reference = context->assembly->reference;
	}
	return tn_device_open(context->runtime.reference, error);
}

/* The route may run operations on the choices that take any address of host memory, in their order.
 * The current device is among them, because another may become current later. */
static tn_status find_lenders(tn_context *context, struct tn_error_info *error)
{
	struct tn_runtime *rt = &context->runtime;
	rt->lenders = tn_mem_zeroed(context->assembly->n_devices, sizeof(struct tn_device *));
	if (!rt->lenders)
		return tn_no_memory(error, "context_open", NULL, "the lenders");
	for (size_t i = 0; i < context->assembly->n_devices; i++) {
		struct tn_device *device = context->assembly->devices[i];
		struct tn_error_info reason;
		if (!device->host_memory || is_built_in(device->backend))
			continue;
		if (!(device->description.flags & TN_DEVICE_TAKES_ANY_ADDRESS))
			tn_log_format(&context->assembly->logger, TN_LOG_INFO, "context",
				      "%s cannot lend: it does not take any address", device->name);
		else if (tn_device_open(device, &reason))
			tn_log_format(&context->assembly->logger, TN_LOG_INFO, "context",
				      "%s cannot lend: %s", device->name, reason.text);
		else
			rt->lenders[rt->n_lenders++] = device;
	}
	return TN_OK;
}

/* ---- The list --------------------------------------------------------------------------------*/

/* The device of that choice among those that there are, or a new one. */
static tn_status device_of(tn_context *context, const struct tn_choice *choice,
			   struct tn_device **device, struct tn_error_info *error)
{
	const struct tn_assembly *assembly = context->assembly;
	for (size_t i = 0; i < assembly->n_devices; i++) {
		if (assembly->devices[i]->backend == choice->backend &&
		    assembly->devices[i]->index == choice->index) {
			*device = assembly->devices[i];
			return TN_OK;
		}
	}
	return make_device(context, choice->backend, choice->index, device, error);
}

static int has_device(const struct tn_assembly *assembly, const struct tn_device *device)
{
	for (size_t i = 0; i < assembly->n_devices; i++) {
		if (assembly->devices[i] == device)
			return 1;
	}
	return 0;
}

/* One device for each choice of the registry; those that there are remain. */
static tn_status list_devices(tn_context *context, struct tn_error_info *error)
{
	struct tn_assembly *assembly = context->assembly;
	const size_t n = assembly->registry->n_choices;
	struct tn_device **list = tn_mem_zeroed(n, sizeof(struct tn_device *));
	tn_status status = TN_OK;
	if (!list)
		return tn_fail(error, TN_OUT_OF_MEMORY, "context_open",
			       "no host memory for %zu devices", n);
	for (size_t i = 0; !status && i < n; i++)
		status = device_of(context, &assembly->registry->choices[i], &list[i], error);
	for (size_t i = 0; status && i < n; i++) {
		if (!has_device(assembly, list[i]))
			tn_device_destroy(list[i]);
	}
	tn_mem_free(status ? list : assembly->devices);
	if (status)
		return status;
	assembly->devices = list;
	assembly->n_devices = n;
	return TN_OK;
}

void tn_context_count_devices(const tn_context *constant)
{
	/* The context was made by this library, on the heap: only the reader sees it constant. */
	tn_context *context = (tn_context *)constant;
	struct tn_assembly *assembly = context->assembly;
	if (!tn_registry_waits(assembly->registry))
		return;
	if (!tn_choose_again(assembly->registry))
		(void)list_devices(context, NULL);
	tn_memory_set_hook(context, assembly->watchers.hook, assembly->watchers.user);
}

tn_status tn_context_open_devices(tn_context *context, const struct tn_context_options *options,
				  const struct tn_settings *settings, struct tn_error_info *error)
{
	context->assembly->memory_limit = settings->memory_limit;
	context->assembly->memory_percent = settings->memory_percent;
	tn_status status = list_devices(context, error);
	if (!status && options->n_native_devices)
		tn_context_count_devices(context);
	if (!status)
		status = set_natives(context, options, error);
	if (!status)
		status = open_first(context, error);
	if (!status)
		status = find_reference(context, error);
	if (!status)
		status = find_lenders(context, error);
	return status;
}

void tn_context_end_devices(tn_context *context)
{
	for (size_t i = 0; i < context->assembly->n_devices; i++)
		context->assembly->devices[i]->has_ended = 1;
	if (context->runtime.reference)
		context->runtime.reference->has_ended = 1;
}

void tn_context_close_devices(tn_context *context)
{
	for (size_t i = 0; i < context->assembly->n_devices; i++)
		tn_device_destroy(context->assembly->devices[i]);
	tn_device_destroy(context->assembly->reference);
	tn_mem_free(context->assembly->devices);
	tn_mem_free(context->runtime.lenders);
}

/* ---- Public ----------------------------------------------------------------------------------*/

size_t tn_context_device_count(const tn_context *context)
{
	if (!context || tn_handle_check(&context->runtime, "context_device_count"))
		return 0;
	tn_context_count_devices(context);
	return context->assembly->n_devices;
}

tn_device *tn_context_device(tn_context *context, size_t index)
{
	if (!context || tn_handle_check(&context->runtime, "context_device"))
		return NULL;
	if (index)
		tn_context_count_devices(context);
	return index < context->assembly->n_devices ? context->assembly->devices[index] : NULL;
}

tn_device *tn_device_current(const tn_context *context)
{
	if (!context || tn_handle_check(&context->runtime, "device_current"))
		return NULL;
	return context->runtime.device;
}

tn_status tn_device_set_current(tn_context *context, tn_device *device)
{
	struct tn_error_info error;
	if (!context || !device)
		return tn_runtime_null(tn_runtime_of(device ? device->context : context),
				       "device_set_current", device ? "context" : "device");
	tn_status status = tn_runtime_ready(&context->runtime);
	if (status)
		return status;
	if (device->context != context)
		return tn_runtime_fail(&context->runtime, TN_DEVICE, "device_set_current",
				       "%s is a device of another context", device->name);
	status = tn_device_open(device, &error);
	if (status)
		return tn_runtime_keep(&context->runtime, &error);
	context->runtime.device = device;
	return TN_OK;
}

/* Waits for every open device, even after an error of another; a second error is left for the next
 * call.  A device whose loss was reported is not waited for again: the context continues without
 * it. */
tn_status tn_synchronize(tn_context *context)
{
	struct tn_error_info error, first = {.status = TN_OK};
	if (!context)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(&context->runtime);
	if (status)
		return status;
	for (size_t i = 0; i < context->assembly->n_devices; i++) {
		struct tn_device *device = context->assembly->devices[i];
		if (device->handle && (!device->lost || device->deferred.status)) {
			if (first.status)
				tn_device_settle(device);
			else if (tn_device_sync_all(device, &error))
				first = error;
		}
		tn_returned_collect(device);
	}
	return first.status ? tn_runtime_keep(&context->runtime, &first) : TN_OK;
}
