/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dtype of a network.
 */
#include "nn/module_dtype.h"

#include "array/array.h"
#include "base/dtype.h"
#include "capture/capture.h"
#include "nn/arena.h"
#include "nn/buffers.h"
#include "nn/tree.h"

static const char operation[] = "module_set_dtype";

/* ---- Converting a built network --------------------------------------------------------------*/

static tn_status check_unused(const tn_module *module)
{
	struct tn_runtime *rt = module->runtime;
	const char *user = module->frozen ? "the network is frozen"
			   : module->n_users
				   ? "an optimizer, average or scaler of the network exists"
			   : rt->tape ? "a tape is open"
				      : NULL;
	if (user)
		return tn_runtime_fail(rt, TN_STATE, operation, "%s", user);
	return tn_capture_refuse(rt, operation, "the arrays of a network");
}

/* In a scope of the caller. */
static tn_status convert(tn_module *module, tn_dtype dtype)
{
	struct tn_network_arena arena;
	tn_status status = tn_network_arena_make(module, dtype, &arena);
	for (size_t i = 0; i < module->n_listing && !status; i++)
		status = tn_assign(arena.values[i], module->listing[i].weight->value);
	if (!status)
		status = tn_buffers_convert(module, dtype);
	if (status)
		tn_network_arena_free(&arena);
	else
		tn_network_arena_install(module, &arena);
	return status;
}

/* On the module's device, regardless of the current one. */
static tn_status convert_built(tn_module *module, tn_dtype dtype)
{
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	tn_status status = check_unused(module);
	if (!status)
		status = tn_module_list(module);
	if (!status)
		status = tn_scope_begin(module->context);
	if (status)
		return status;
	rt->device = tn_array_home(module->arena.values);
	status = convert(module, dtype);
	rt->device = current;
	tn_scope_end(module->context, NULL);
	return status;
}

/* ---- The dtype -------------------------------------------------------------------------------*/

tn_status tn_module_set_dtype(tn_module *module, tn_dtype dtype)
{
	if (!module)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (module->parent)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "the module is a member of another module: the outermost "
				       "one has the dtype");
	if (!tn_is_floating(dtype))
		return tn_runtime_fail(rt, TN_DTYPE, operation,
				       "expected f16, bf16, f32 or f64, found %s",
				       tn_dtype_name(dtype));
	if (module->sealed && dtype != tn_module_dtype(module))
		status = convert_built(module, dtype);
	if (!status)
		module->dtype = dtype;
	return status;
}

tn_status tn_module_check_dtypes(const tn_module *module)
{
	const tn_dtype dtype = tn_module_dtype(module);
	for (size_t i = 0; i < module->n_module_listing; i++) {
		const struct tn_named_module *named = &module->module_listing[i];
		if (named->module->dtype && named->module->dtype != dtype)
			return tn_runtime_fail(module->runtime, TN_DTYPE, "module_build",
					       "'%s' was given %s, the network is of %s: "
					       "a network has one dtype",
					       named->path, tn_dtype_name(named->module->dtype),
					       tn_dtype_name(dtype));
	}
	return TN_OK;
}
