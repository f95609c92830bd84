/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The program's hook for all devices of a context.
 */
#include <tenon/device.h>

#include "array/handle.h"
#include "context/context.h"

static void watch(tn_context *context, struct tn_device *device)
{
	const struct tn_watchers *watchers = &context->assembly->watchers;
	if (device)
		device->watchers = watchers->hook ? watchers : NULL;
}

void tn_memory_set_hook(tn_context *context, tn_memory_hook hook, void *user)
{
	if (!context || tn_handle_check(&context->runtime, "memory_set_hook"))
		return;
	context->assembly->watchers.hook = hook;
	context->assembly->watchers.user = user;
	for (size_t i = 0; i < context->assembly->n_devices; i++)
		watch(context, context->assembly->devices[i]);
	watch(context, context->assembly->reference);
}

const char *tn_memory_set_tag(tn_context *context, const char *tag)
{
	if (!context || tn_handle_check(&context->runtime, "memory_set_tag"))
		return NULL;
	const char *before = context->assembly->watchers.tag;
	context->assembly->watchers.tag = tag;
	return before;
}
