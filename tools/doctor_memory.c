/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory: fills a share of the free memory block by block and reads all blocks back after the last
 * write, which detects blocks that share bytes; then frees and allocates them again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "doctor.h"

#define BLOCK ((uint64_t)16 << 20)
#define WORDS (BLOCK / sizeof(uint64_t))

struct blocks {
	tn_array **arrays;
	size_t n;
	uint64_t *words; /* one block on the host */
};

static uint64_t word_at(size_t block, size_t i)
{
	return ((uint64_t)block * WORDS + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t free_bytes(const struct doctor_device *device)
{
	struct tn_memory_information memory;
	if (!tn_device_get_memory_information(device->device, &memory))
		return memory.free_bytes;
	return device->description->memory_bytes;
}

static uint64_t budget_of(const struct doctor_device *device)
{
	uint64_t available = free_bytes(device), percent = device->options->memory_percent;
	uint64_t budget = available / 100 * (percent ? percent : 10);
	if (!available || (!percent && budget > DOCTOR_MOST_MEMORY))
		budget = DOCTOR_MOST_MEMORY;
	return budget > BLOCK ? budget : BLOCK;
}

static int take_block(struct doctor_device *device, struct doctor_result *result,
		      struct blocks *blocks, size_t n)
{
	const int64_t words = (int64_t)WORDS;
	tn_array *array = tn_empty(device->context, TN_U64, 1, &words);
	const struct tn_error_info *error = tn_error(device->context);
	if (array) {
		blocks->arrays[blocks->n++] = array;
		return 1;
	}
	if (error && error->status == TN_OUT_OF_MEMORY) {
		doctor_fail(result,
			    "block %zu of %zu, 16 MiB each, could not be allocated, although the "
			    "device "
			    "reported enough free memory: %s (OUT_OF_MEMORY)",
			    blocks->n + 1, n, error->text);
		tn_error_clear(device->context);
	}
	return 0;
}

static int write_block(struct blocks *blocks, size_t block)
{
	for (size_t i = 0; i < WORDS; i++)
		blocks->words[i] = word_at(block, i);
	return !tn_assign_host(blocks->arrays[block], blocks->words, BLOCK);
}

static int read_block(struct doctor_result *result, struct blocks *blocks, size_t block)
{
	if (tn_to_host(blocks->arrays[block], blocks->words, BLOCK))
		return 0;
	for (size_t i = 0; i < WORDS; i++) {
		if (blocks->words[i] == word_at(block, i))
			continue;
		doctor_fail(result,
			    "block %zu of %zu, byte %zu: expected 0x%016" PRIx64
			    ", found 0x%016" PRIx64,
			    block + 1, blocks->n, i * sizeof(uint64_t), word_at(block, i),
			    blocks->words[i]);
		return 0;
	}
	result->cases++;
	return 1;
}

static int write_and_read(struct doctor_result *result, struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->n; i++) {
		if (!write_block(blocks, i))
			return 0;
	}
	for (size_t i = 0; i < blocks->n; i++) {
		if (!read_block(result, blocks, i))
			return 0;
	}
	return 1;
}

static void release(struct blocks *blocks)
{
	while (blocks->n)
		tn_array_destroy(blocks->arrays[--blocks->n]);
}

/* Freed memory no longer counts as used, and can be allocated again. */
static void take_again(struct doctor_device *device, struct doctor_result *result,
		       struct blocks *blocks, size_t n, uint64_t used)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(device->device, &use);
	if (use.used > used)
		doctor_fail(result,
			    "%" PRIu64 " bytes are in use after all blocks were freed, %" PRIu64
			    " before",
			    use.used, used);
	while (blocks->n < n && take_block(device, result, blocks, n))
		;
}

static void fill(struct doctor_device *device, struct doctor_result *result, struct blocks *blocks,
		 size_t n)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(device->device, &use);
	while (blocks->n < n && take_block(device, result, blocks, n))
		;
	if (blocks->n < n || !write_and_read(result, blocks))
		return;
	release(blocks);
	take_again(device, result, blocks, n, use.used);
}

void doctor_memory_pattern(struct doctor_device *device, struct doctor_result *result)
{
	size_t n = (size_t)(budget_of(device) / BLOCK);
	struct blocks blocks = {.arrays = calloc(n, sizeof(*blocks.arrays)),
				.words = malloc(BLOCK)};
	if (blocks.arrays && blocks.words) {
		fill(device, result, &blocks, n);
		release(&blocks);
		result->rate = (double)(n * (BLOCK >> 20));
		result->unit = "MiB";
	} else {
		doctor_fail(result, "no host memory for a block");
	}
	free(blocks.arrays);
	free(blocks.words);
}

/* Computes eight products 2 x 3, which sum to 48. */
static void compute(struct doctor_device *device, struct doctor_result *result)
{
	const int64_t n = 8;
	double sum = 0;
	if (tn_scope_begin(device->context))
		return;
	tn_array *product = tn_multiply(tn_full(device->context, TN_F32, 1, &n, 2),
					tn_full(device->context, TN_F32, 1, &n, 3));
	if (!tn_item(tn_sum(product, TN_ALL_AXES, NULL, 0), &sum)) {
		if (sum != 48)
			doctor_fail(result,
				    "after running out of memory: 8 x 2 x 3: expected 48, found %g",
				    sum);
		result->cases++;
	}
	tn_scope_end(device->context, NULL);
}

/* Does the allocation succeed?  After OUT_OF_MEMORY the device must still compute; any other error
 * is left to the caller. */
static int is_given(struct doctor_device *device, struct doctor_result *result, int64_t n)
{
	tn_array *array = tn_empty(device->context, TN_F32, 1, &n);
	const struct tn_error_info *error = tn_error(device->context);
	int given = array != NULL;
	tn_array_destroy(array);
	if (given || !error || error->status != TN_OUT_OF_MEMORY)
		return given;
	tn_error_clear(device->context);
	result->cases++;
	compute(device, result);
	return 0;
}

/* The largest size up to `most` that the pool, which rounds up in steps of a sixteenth, leaves as
 * is. */
static uint64_t whole_size(uint64_t most)
{
	uint64_t step = 1;
	while (most / step >= 32)
		step *= 2;
	return most / step * step;
}

/* Requests all the memory of a device with memory of its own, part of which is in use; the host
 * itself refuses more than max_alloc_bytes. */
static void ask_for_all(struct doctor_device *device, struct doctor_result *result)
{
	const struct tn_device_description *description = device->description;
	const int64_t one = 1;
	struct tn_memory_information memory;
	uint64_t bytes = description->max_alloc_bytes;
	if (description->kind != TN_DEVICE_DISCRETE_GPU || !bytes)
		return;
	if (!tn_device_get_memory_information(device->device, &memory) &&
	    memory.total_bytes < bytes)
		bytes = memory.total_bytes;
	tn_array *held = tn_full(device->context, TN_F32, 1, &one, 1);
	if (held)
		(void)is_given(device, result, (int64_t)(whole_size(bytes) / sizeof(float)));
	tn_array_destroy(held);
}

void doctor_memory_limit(struct doctor_device *device, struct doctor_result *result)
{
	if (is_given(device, result, INT64_C(1) << 59))
		doctor_fail(result,
			    "an allocation of 2^61 bytes succeeded: expected OUT_OF_MEMORY");
	else if (result->cases)
		ask_for_all(device, result);
}
