/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keys and the cache.
 */
#include "cache.h"

#include <string.h>

#include "plan.h"
#include "view.h"

void onednn_key_begin(struct onednn_key *key, int64_t operation)
{
	key->hash = UINT64_C(0xcbf29ce484222325);
	key->n = 0;
	key->overflow = 0;
	onednn_key_add(key, &operation, 1);
}

/* FNV-1a over words, with a shift that moves high bits down. */
void onednn_key_add(struct onednn_key *key, const int64_t *words, uint32_t n)
{
	if (n > ONEDNN_KEY_WORDS - key->n) {
		key->overflow = 1;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		key->words[key->n++] = words[i];
		key->hash = (key->hash ^ (uint64_t)words[i]) * UINT64_C(0x100000001b3);
		key->hash ^= key->hash >> 29;
	}
}

void onednn_key_view(struct onednn_key *key, const struct onednn_view *view)
{
	int64_t rank = view->rank;
	onednn_key_add(key, &rank, 1);
	onednn_key_add(key, view->shape, (uint32_t)rank);
	onednn_key_add(key, view->strides, (uint32_t)rank);
}

static int is_equal(const struct onednn_key *a, const struct onednn_key *b)
{
	return a->n == b->n && !memcmp(a->words, b->words, a->n * sizeof(*a->words));
}

struct onednn_plan *onednn_cache_find(struct onednn_device *device, const struct onednn_key *key)
{
	struct onednn_cache *cache = &device->cache;
	for (int i = 0; i < ONEDNN_CACHE_PLANS; i++) {
		struct onednn_plan *plan = cache->rows[i].plan;
		if (plan && cache->rows[i].hash == key->hash && is_equal(&plan->key, key)) {
			cache->rows[i].used = ++cache->clock;
			return plan;
		}
	}
	return NULL;
}

void onednn_cache_keep(struct onednn_device *device, struct onednn_plan *plan)
{
	struct onednn_cache *cache = &device->cache;
	int oldest = 0;
	for (int i = 0; i < ONEDNN_CACHE_PLANS; i++) {
		if (cache->rows[i].used < cache->rows[oldest].used)
			oldest = i;
	}
	onednn_plan_destroy(device, cache->rows[oldest].plan);
	cache->rows[oldest].plan = plan;
	cache->rows[oldest].hash = plan->key.hash;
	cache->rows[oldest].used = ++cache->clock;
}

void onednn_cache_empty(struct onednn_device *device)
{
	for (int i = 0; i < ONEDNN_CACHE_PLANS; i++) {
		onednn_plan_destroy(device, device->cache.rows[i].plan);
		device->cache.rows[i].plan = NULL;
	}
}
