/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Hashes the version, form, settings and values of a network, and names the ranks that differ.
 */
#include "distributed/compare.h"

#include <string.h>

#include "array/array.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/text.h"
#include "distributed/agree.h"
#include "program/hash.h"

static const char operation[] = "data_parallel";

/* ---- Hashes ----------------------------------------------------------------------------------*/

void tn_hash_more(uint64_t *hash, const void *data, size_t size)
{
	uint64_t both[3] = {*hash};
	tn_hash_bytes(data, size, both + 1);
	tn_hash_bytes(both, sizeof(both), both + 1);
	*hash = both[1];
}

static void add_text(uint64_t *hash, const char *text)
{
	tn_hash_more(hash, text, strlen(text));
}

static uint64_t hash_versions(const tn_module *module)
{
	const struct tn_device *device = tn_array_home(module->arena.values);
	uint64_t hash = 0;
	add_text(&hash, tn_version());
	add_text(&hash, device->backend->plugin.name);
	add_text(&hash, device->backend->plugin.version);
	return hash;
}

static void add_form(uint64_t *hash, const char *name, const tn_array *array)
{
	const int64_t dtype = array->dtype;
	add_text(hash, name);
	tn_hash_more(hash, &dtype, sizeof(dtype));
	tn_hash_more(hash, array->shape, (size_t)array->rank * sizeof(*array->shape));
}

static uint64_t hash_forms(const tn_module *module)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < module->n_listing; i++)
		add_form(&hash, module->listing[i].name, module->listing[i].weight->value);
	for (size_t i = 0; i < module->n_buffer_listing; i++)
		add_form(&hash, module->buffer_listing[i].name,
			 module->buffer_listing[i].buffer->value);
	return hash;
}

static uint64_t hash_trained(const tn_module *module)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < module->n_listing; i++) {
		const unsigned char trained = module->listing[i].weight->trainable != 0;
		tn_hash_more(&hash, &trained, 1);
	}
	return hash;
}

tn_status tn_hash_elements(uint64_t *hash, const tn_array *array)
{
	const size_t size = array ? (size_t)array->size * tn_dtype_size(array->dtype) : 0;
	if (!size)
		return TN_OK;
	void *bytes = tn_mem_alloc(size);
	if (!bytes)
		return tn_runtime_fail(array->runtime, TN_OUT_OF_MEMORY, operation,
				       "no host memory for %zu bytes of values", size);
	tn_status status = tn_to_host(array, bytes, size);
	if (!status)
		tn_hash_more(hash, bytes, size);
	tn_mem_free(bytes);
	return status;
}

static tn_status hash_values(const tn_module *module, uint64_t *hash)
{
	tn_status status = tn_hash_elements(hash, module->arena.values);
	for (size_t i = 0; i < module->n_buffer_listing && !status; i++)
		status = tn_hash_elements(hash, module->buffer_listing[i].buffer->value);
	return status;
}

static uint64_t hash_options(const struct tn_data_parallel *parallel)
{
	const uint64_t options[] = {
		parallel->options.sync_batch_norm, parallel->options.bucket_bytes,
		(uint64_t)parallel->options.wire_dtype, parallel->options.sharded};
	uint64_t hash = 0;
	tn_hash_more(&hash, options, sizeof(options));
	return hash;
}

/* ---- Comparing -------------------------------------------------------------------------------*/

/* "rank 1 in A and B, rank 3 in B" */
static void describe(struct tn_text *text, uint32_t size, size_t n, const char *const *names,
		     const uint64_t *all)
{
	const char *between = "";
	for (uint32_t rank = 1; rank < size; rank++) {
		const char *joint = NULL;
		for (size_t i = 0; i < n; i++) {
			if (all[rank * n + i] == all[i])
				continue;
			if (joint)
				tn_text_format(text, "%s%s", joint, names[i]);
			else
				tn_text_format(text, "%srank %u in %s", between, rank, names[i]);
			joint = " and ";
			between = ", ";
		}
	}
}

tn_status tn_ranks_compare(tn_communicator *communicator, struct tn_runtime *rt, size_t n,
			   const char *const *names, const uint64_t *hashes, const char *label)
{
	const uint32_t size = tn_communicator_size(communicator);
	uint64_t *all = tn_mem_zeroed((size_t)size * n, sizeof(*all));
	struct tn_text text;
	if (!all)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, operation,
				       "no host memory to compare %u ranks", size);
	tn_text_init(&text);
	tn_text_add(&text, "");
	tn_status status = tn_agree_gather(communicator, n, hashes, all, label);
	if (!status)
		describe(&text, size, n, names, all);
	char *found = tn_text_take(&text);
	if (!status && !found)
		status = tn_runtime_no_memory(rt, operation, NULL);
	if (!status && *found)
		status = tn_runtime_fail(rt, TN_NOT_EQUAL, operation,
					 "expected the same on all ranks, found differences from "
					 "rank 0: %s",
					 found);
	tn_mem_free(found);
	tn_mem_free(all);
	return status;
}

tn_status tn_ranks_compare_networks(const struct tn_data_parallel *parallel)
{
	static const char *const names[] = {
		"the version of the library or the backend",
		"the names, shapes or dtypes of the network", "which parameters are trained",
		"the values of parameters and buffers", "the options of data parallel training"};
	const tn_module *module = parallel->module;
	uint64_t hashes[] = {hash_versions(module), hash_forms(module), hash_trained(module), 0,
			     hash_options(parallel)};
	tn_status status = hash_values(module, &hashes[3]);
	return status ? status
		      : tn_ranks_compare(parallel->communicator, module->runtime,
					 sizeof(hashes) / sizeof(hashes[0]), names, hashes,
					 "the comparison of networks");
}
