/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dtype of a network.
 */
#include "nn/module_dtype.h"

#include "base/dtype.h"
#include "nn/tree.h"

tn_status tn_module_set_dtype(tn_module *module, tn_dtype dtype)
{
	static const char operation[] = "module_set_dtype";
	if (!module)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (module->sealed || module->parent)
		return tn_runtime_fail(rt, TN_STATE, operation,
				       module->sealed ? "the module has already been built"
						      : "the module is a member of another module: "
							"the outermost one has the dtype");
	if (!tn_is_floating(dtype))
		return tn_runtime_fail(rt, TN_DTYPE, operation,
				       "expected f16, bf16, f32 or f64, found %s",
				       tn_dtype_name(dtype));
	module->dtype = dtype;
	return TN_OK;
}

tn_dtype tn_module_dtype(const tn_module *module)
{
	tn_dtype dtype = module ? tn_module_root(module)->dtype : 0;
	return dtype ? dtype : TN_F32;
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
