/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The devices of a context.  The first choice that opens is the current one; a choice that does not
 * open is passed over with a notice, unless the selection forbids to fall back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "context/context.h"

static int is_reference(const struct tn_device *device)
{
	return device->description.kind == TN_DEVICE_REFERENCE;
}

static tn_status make_devices(tn_context *context, const struct tn_settings *settings,
			      struct tn_error_info *error)
{
	const struct tn_registry *registry = context->registry;
	context->devices = tn_mem_zeroed(registry->n_choices, sizeof(*context->devices));
	if (!context->devices)
		return tn_fail(error, TN_OUT_OF_MEMORY, "context_open", "no memory for %zu devices",
			       registry->n_choices);
	for (size_t i = 0; i < registry->n_choices; i++) {
		const struct tn_choice *choice = &registry->choices[i];
		tn_status status = tn_device_create(context, choice->backend, choice->index,
						    settings->memory_limit, &context->logger,
						    &context->devices[i], error);
		if (status)
			return status;
		context->n_devices++;
	}
	return TN_OK;
}

/* Opens the choices in order until one does. */
static tn_status open_first(tn_context *context, struct tn_error_info *error)
{
	tn_status status = TN_NO_DEVICE;
	for (size_t i = 0; i < context->n_devices; i++) {
		struct tn_device *device = context->devices[i];
		status = tn_device_open(device, error);
		if (!status) {
			context->runtime.device = device;
			return TN_OK;
		}
		context->fell_back = 1;
		if (i + 1 < context->n_devices)
			tn_log_format(&context->logger, TN_LOG_NOTICE, "context",
				      "%s cannot be opened: %s; trying %s", device->name,
				      error->text, context->devices[i + 1]->name);
	}
	return status;
}

/* The built-in backend's device: one of the choices, or one of its own. */
static tn_status find_reference(tn_context *context, const struct tn_settings *settings,
				struct tn_error_info *error)
{
	for (size_t i = 0; i < context->n_devices && !context->runtime.reference; i++) {
		if (is_reference(context->devices[i]))
			context->runtime.reference = context->devices[i];
	}
	if (!context->runtime.reference) {
		const struct tn_backend *backend = tn_registry_find(context->registry, "reference");
		if (!backend)
			return tn_fail(error, TN_INTERNAL, "context_open",
				       "there is no reference backend");
		tn_status status = tn_device_create(context, backend, 0, settings->memory_limit,
						    &context->logger, &context->reference, error);
		if (status)
			return status;
		context->runtime.reference = context->reference;
	}
	return tn_device_open(context->runtime.reference, error);
}

/* The route lends operations to other backends whose memory is the host's, in the order of choice. */
static tn_status find_lenders(tn_context *context, struct tn_error_info *error)
{
	struct tn_runtime *rt = &context->runtime;
	rt->lenders = tn_mem_zeroed(context->n_devices, sizeof(struct tn_device *));
	if (!rt->lenders)
		return tn_fail(error, TN_OUT_OF_MEMORY, "context_open", "no memory for lenders");
	for (size_t i = 0; i < context->n_devices; i++) {
		struct tn_device *device = context->devices[i];
		if (device == rt->device || !device->host_memory || is_reference(device))
			continue;
		struct tn_error_info ignored;
		if (tn_device_open(device, &ignored))
			tn_log_format(&context->logger, TN_LOG_INFO, "context",
				      "%s cannot lend: %s", device->name, ignored.text);
		else
			rt->lenders[rt->n_lenders++] = device;
	}
	return TN_OK;
}

tn_status tn_context_open_devices(tn_context *context, const struct tn_settings *settings,
				  struct tn_error_info *error)
{
	tn_status status = make_devices(context, settings, error);
	if (!status)
		status = open_first(context, error);
	if (!status)
		status = find_reference(context, settings, error);
	if (!status)
		status = find_lenders(context, error);
	return status;
}

void tn_context_close_devices(tn_context *context)
{
	for (size_t i = 0; i < context->n_devices; i++)
		tn_device_destroy(context->devices[i]);
	tn_device_destroy(context->reference);
	tn_mem_free(context->devices);
	tn_mem_free(context->runtime.lenders);
}

/* ---- Public ----------------------------------------------------------------------------------*/

size_t tn_context_device_count(const tn_context *context)
{
	return context ? context->n_devices : 0;
}

tn_device *tn_context_device(tn_context *context, size_t index)
{
	return context && index < context->n_devices ? context->devices[index] : NULL;
}

tn_device *tn_device_current(const tn_context *context)
{
	return context ? context->runtime.device : NULL;
}

tn_status tn_device_set_current(tn_context *context, tn_device *device)
{
	struct tn_error_info error;
	if (!context || !device)
		return TN_INVALID_ARGUMENT;
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

tn_status tn_sync(tn_context *context)
{
	struct tn_error_info error;
	if (!context)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(&context->runtime);
	if (status)
		return status;
	status = tn_device_sync(context->runtime.device, &error);
	return status ? tn_runtime_keep(&context->runtime, &error) : TN_OK;
}
