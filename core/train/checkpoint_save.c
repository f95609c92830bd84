/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tensors are downloaded one at a time, while the file is written.
 */
#include "train/checkpoint_save.h"

#include <stdio.h>
#include <string.h>

#include <tenon/io.h>

#include "array/array.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/safetensors_checksum.h"
#include "train/checkpoint_facts.h"

static const char operation[] = "checkpoint_save";

struct saving {
	const char *path;
	struct tn_checkpoint_items items;
	struct tn_checkpoint_facts facts;
	struct fetching *fetching;        /* one for each item */
	struct tn_tensor_source *sources; /* likewise */
	struct tn_metadata_entry *metadata;
	size_t n_metadata;
	char *buffer; /* one tensor */
};

struct fetching {
	struct saving *saving;
	const struct tn_checkpoint_item *item;
};

/* A piece of a tensor, which is downloaded before the first. */
static tn_status fetch(void *user, uint64_t offset, void *destination, size_t size,
		       struct tn_error_info *error)
{
	const struct fetching *fetching = user;
	const struct tn_checkpoint_item *item = fetching->item;
	struct saving *saving = fetching->saving;
	if (!offset) {
		tn_status status = tn_to_host(item->array, saving->buffer, item->size_bytes);
		if (status) {
			*error = saving->items.runtime->error;
			return status;
		}
		if (item->must_be_finite &&
		    !tn_checkpoint_is_finite(item->dtype, saving->buffer, item->size_bytes))
			return tn_fail(error, TN_NOT_FINITE, operation,
				       "%s: tensor '%s': expected finite numbers, found an "
				       "infinite one or a NaN: nothing is saved",
				       tn_file_label(saving->path), item->name);
	}
	memcpy(destination, saving->buffer + offset, size);
	return TN_OK;
}

static void add_metadata(struct saving *saving, const char *key, const char *value)
{
	saving->metadata[saving->n_metadata++] = (struct tn_metadata_entry){key, value};
}

static tn_status write_file(struct saving *saving, const char *text, struct tn_error_info *error)
{
	struct tn_checkpoint_items *items = &saving->items;
	const struct tn_checkpoint *all = &items->all;
	char version[16];
	size_t largest = 0;
	for (size_t i = 0; i < items->n; i++) {
		const struct tn_checkpoint_item *item = &items->items[i];
		largest = item->array && item->size_bytes > largest ? item->size_bytes : largest;
	}
	size_t n_metadata = all->n_pairs + 3 + TN_N_FACTS + TN_CHECKPOINT_MAX_TEXTS;
	saving->buffer = tn_mem_alloc(largest);
	saving->fetching = tn_mem_zeroed(items->n, sizeof(*saving->fetching));
	saving->sources = tn_mem_zeroed(items->n, sizeof(*saving->sources));
	saving->metadata = tn_mem_zeroed(n_metadata, sizeof(*saving->metadata));
	if (!saving->buffer || !saving->fetching || !saving->sources || !saving->metadata)
		return tn_fail(error, TN_OUT_OF_MEMORY, operation,
			       "%s: no memory for a tensor of %zu bytes and a list of %zu",
			       tn_file_label(saving->path), largest, items->n);
	for (size_t i = 0; i < items->n; i++) {
		struct tn_checkpoint_item *item = &items->items[i];
		saving->fetching[i] = (struct fetching){saving, item};
		saving->sources[i] = (struct tn_tensor_source){
			.name = item->name,
			.dtype = item->dtype,
			.rank = (uint32_t)item->rank,
			.shape = item->shape,
			.data = item->array ? NULL : tn_checkpoint_item_host(item),
			.fetch = fetch,
			.user = &saving->fetching[i]};
	}
	snprintf(version, sizeof(version), "%d", TN_CHECKPOINT_VERSION);
	add_metadata(saving, TN_CHECKPOINT_KEY, version);
	add_metadata(saving, TN_SAFETENSORS_CHECKSUM, TN_CHECKSUM_NONE);
	for (size_t i = 0; i < TN_N_FACTS; i++)
		add_metadata(saving, saving->facts.facts[i].key, saving->facts.facts[i].value);
	for (size_t i = 0; i < items->n_texts; i++)
		add_metadata(saving, items->texts[i].key, items->texts[i].value);
	if (text)
		add_metadata(saving, TN_CHECKPOINT_TEXT, text);
	for (size_t i = 0; i < all->n_pairs; i++)
		add_metadata(saving, all->pairs[i].key, all->pairs[i].value);
	return tn_safetensors_write(saving->path, saving->sources, items->n, saving->metadata,
				    saving->n_metadata, error);
}

tn_status tn_checkpoint_write(const char *path, const struct tn_checkpoint *checkpoint,
			      const struct tn_checkpoint_own *own, struct tn_error_info *error)
{
	struct saving saving = {.path = path};
	tn_status status =
		tn_checkpoint_items_make(&saving.items, checkpoint, own, operation, error);
	if (!status) {
		const struct tn_checkpoint_item *first = &saving.items.items[0];
		tn_checkpoint_facts_get(saving.items.runtime,
					first->array ? tn_array_home(first->array)
						     : saving.items.runtime->device,
					&saving.facts);
		status = write_file(&saving, own ? own->text : NULL, error);
	}
	tn_mem_free(saving.buffer);
	tn_mem_free(saving.fetching);
	tn_mem_free(saving.sources);
	tn_mem_free(saving.metadata);
	tn_checkpoint_items_release(&saving.items);
	return status;
}

tn_status tn_checkpoint_save(const char *path, const struct tn_checkpoint *checkpoint)
{
	struct tn_error_info error;
	if (!path || !checkpoint)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_checkpoint_write(path, checkpoint, NULL, &error);
	return tn_checkpoint_keep(checkpoint, status, &error);
}
