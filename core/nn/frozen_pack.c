/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packed weights are for one shape of x, as is the replay that keeps them.  They outlive the
 * forward, so they are not in the replay's memory, which its calls overwrite.
 */
#include "nn/frozen_pack.h"

#include "array/array.h"
#include "nn/tree.h"

/* The observer does not see this work, which a replay does not repeat. */
static tn_array *find_or_pack(tn_module *outermost,
			      tn_status (*pack)(const void *weights, tn_array **packed),
			      const void *weights)
{
	const struct tn_frozen_functions *frozen = outermost->when_frozen;
	tn_array *packed = frozen->find(outermost);
	if (packed || outermost->runtime->error.status)
		return packed;
	if (pack(weights, &packed) || !packed)
		return packed;
	return frozen->share(outermost, packed);
}

tn_array *tn_frozen_pack(tn_module *module,
			 tn_status (*pack)(const void *weights, tn_array **packed),
			 const void *weights)
{
	struct tn_runtime *rt = module->runtime;
	const struct tn_observer *observer = rt->observer;
	tn_module *outermost = (tn_module *)(uintptr_t)tn_module_root(module);
	if (!rt->writing || !outermost->when_frozen ||
	    !outermost->when_frozen->is_recording(outermost))
		return NULL;
	rt->observer = NULL;
	tn_array *packed = find_or_pack(outermost, pack, weights);
	rt->observer = observer;
	if (!packed || outermost->when_frozen->keep(outermost, packed))
		return packed;
	tn_array_destroy(packed);
	return NULL;
}
