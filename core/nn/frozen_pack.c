/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packed weights are for one shape of x, as is the replay that keeps them.  They outlive the
 * forward, so they are not in the replay's memory, which its calls overwrite.
 */
#include "nn/frozen_pack.h"

#include "array/array.h"
#include "nn/tree.h"

tn_array *tn_frozen_pack(tn_module *module,
			 tn_status (*pack)(const void *weights, tn_array **packed),
			 const void *weights)
{
	struct tn_runtime *rt = module->runtime;
	const struct tn_observer *observer = rt->observer;
	tn_module *outermost = (tn_module *)(uintptr_t)tn_module_root(module);
	tn_array *packed = NULL;
	if (!rt->writing || !outermost->when_frozen)
		return NULL;
	rt->observer = NULL;
	tn_status status = pack(weights, &packed);
	rt->observer = observer;
	if (status || !packed || outermost->when_frozen->keep(outermost, packed))
		return packed;
	tn_array_destroy(packed);
	return NULL;
}
