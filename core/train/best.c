/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compares the monitored value of each epoch with the best, and keeps and restores the best
 * weights.
 */
#include "train/best.h"

#include <tenon/train.h>

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "base/dtype.h"
#include "base/memory.h"

tn_array *tn_best_array(const struct tn_best *best, size_t i, const char **name)
{
	struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	const size_t n = tn_module_parameter_count(best->module);
	if (i < n && !tn_module_parameter_at(best->module, i, &parameter)) {
		*name = parameter.name;
		return parameter.value;
	}
	if (i < n || i - n >= tn_module_buffer_count(best->module) ||
	    tn_module_buffer_at(best->module, i - n, &buffer))
		return NULL;
	*name = buffer.name;
	return buffer.value;
}

static size_t bytes_of(const tn_array *array)
{
	return (size_t)array->size * tn_dtype_size(array->dtype);
}

tn_status tn_best_make(struct tn_best *best)
{
	struct tn_runtime *rt = best->module->runtime;
	const char *name;
	if (best->n)
		return TN_OK;
	size_t n = tn_module_parameter_count(best->module) + tn_module_buffer_count(best->module);
	best->arrays = tn_mem_zeroed(n, sizeof(*best->arrays));
	best->host = tn_mem_zeroed(n, sizeof(*best->host));
	best->n = best->arrays && best->host ? n : 0;
	int is_full = best->n == 0;
	for (size_t i = 0; i < best->n && !is_full; i++) {
		const tn_array *array = tn_best_array(best, i, &name);
		if (best->kept == TN_BEST_ON_HOST) {
			best->host[i] = tn_mem_alloc(bytes_of(array));
			is_full = !best->host[i];
			continue;
		}
		tn_array *copy = tn_copy(array);
		is_full = !copy;
		if (copy)
			best->arrays[i] = tn_array_hold(copy);
	}
	if (!is_full)
		return TN_OK;
	tn_best_release(best);
	return rt->error.status ? rt->error.status
				: tn_runtime_no_memory(rt, "trainer", "the best weights");
}

tn_status tn_best_get(const struct tn_best *best, size_t i, void *data, size_t size)
{
	if (best->arrays[i])
		return tn_to_host(best->arrays[i], data, size);
	memcpy(data, best->host[i], size);
	return TN_OK;
}

tn_status tn_best_set(struct tn_best *best, size_t i, const void *data, size_t size)
{
	best->has_weights = 1;
	if (best->arrays[i])
		return tn_assign_host(best->arrays[i], data, size);
	memcpy(best->host[i], data, size);
	return TN_OK;
}

/* In a scope: the copies that tn_best_make keeps are held. */
static tn_status keep_weights(struct tn_best *best)
{
	const char *name;
	tn_status status = tn_scope_begin(best->module->context);
	if (status)
		return status;
	status = tn_best_make(best);
	for (size_t i = 0; i < best->n && !status; i++) {
		tn_array *array = tn_best_array(best, i, &name);
		status = best->arrays[i] ? tn_assign(best->arrays[i], array)
					 : tn_to_host(array, best->host[i], bytes_of(array));
	}
	best->has_weights = !status;
	tn_scope_end(best->module->context, NULL);
	return status;
}

tn_status tn_best_take(struct tn_best *best, uint64_t epoch, double value)
{
	double gain = best->is_rising ? value - best->value : best->value - value;
	best->waited++;
	if (isnan(value) || (best->is_found && !(gain > best->delta)))
		return TN_OK;
	best->is_found = 1;
	best->value = value;
	best->epoch = epoch;
	best->waited = 0;
	return best->kept == TN_BEST_NOT_KEPT ? TN_OK : keep_weights(best);
}

tn_status tn_best_restore(const struct tn_best *best)
{
	const char *name;
	tn_status status = TN_OK;
	if (!best->has_weights)
		return TN_OK;
	for (size_t i = 0; i < best->n && !status; i++) {
		tn_array *array = tn_best_array(best, i, &name);
		status = best->arrays[i] ? tn_assign(array, best->arrays[i])
					 : tn_assign_host(array, best->host[i], bytes_of(array));
	}
	return status;
}

void tn_best_release(struct tn_best *best)
{
	for (size_t i = 0; i < best->n; i++) {
		tn_array_unhold(best->arrays[i]);
		tn_mem_free(best->host[i]);
	}
	tn_mem_free(best->arrays);
	tn_mem_free(best->host);
	best->arrays = NULL;
	best->host = NULL;
	best->n = 0;
	best->has_weights = 0;
}
