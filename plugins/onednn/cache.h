/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plans of a device, by key.  Making one takes oneDNN up to some milliseconds, because it
 * generates machine code; using one takes microseconds.  A new plan evicts the least recently used
 * one.
 */
#ifndef ONEDNN_CACHE_H
#define ONEDNN_CACHE_H

#include <stdint.h>

enum { ONEDNN_KEY_WORDS = 128, ONEDNN_CACHE_PLANS = 256 };

struct onednn_device;
struct onednn_plan;
struct onednn_view;

/* The first word of a key: which primitive. */
enum {
	ONEDNN_CONV2D = 0,
	ONEDNN_POOL2D = 8,
	ONEDNN_BATCH_NORM = 16,
	ONEDNN_LAYER_NORM = 24,
	ONEDNN_SOFTMAX = 32,
};

/* Everything that a plan depends on. */
struct onednn_key {
	uint64_t hash;
	uint32_t n;
	uint32_t overflow; /* too large: not kept */
	int64_t words[ONEDNN_KEY_WORDS];
};

void onednn_key_begin(struct onednn_key *key, int64_t operation);
void onednn_key_add(struct onednn_key *key, const int64_t *words, uint32_t n);
void onednn_key_view(struct onednn_key *key, const struct onednn_view *view);

struct onednn_cache {
	uint64_t clock;
	struct {
		uint64_t hash;
		uint64_t used;
		struct onednn_plan *plan;
	} rows[ONEDNN_CACHE_PLANS];
};

/* The plan of that key, or NULL. */
struct onednn_plan *onednn_cache_find(struct onednn_device *device, const struct onednn_key *key);
/* Keeps a plan, which then belongs to the cache. */
void onednn_cache_keep(struct onednn_device *device, struct onednn_plan *plan);
void onednn_cache_empty(struct onednn_device *device);

#endif
