/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compares the results of large calls.
 */
#include "sweep.h"

void sweep_compare_bits(const struct array *array, const void *expected)
{
	const size_t size = tn_dtype_size(array->operand.dtype);
	const unsigned char *right = expected;
	unsigned char *found = sweep_elements(array);
	uint64_t i = 0;
	if (memcmp(found, right, array->count * size) != 0) {
		uint64_t bits[2] = {0, 0};
		while (!memcmp(found + i * size, right + i * size, size))
			i++;
		memcpy(&bits[0], right + i * size, size < 8 ? size : 8);
		memcpy(&bits[1], found + i * size, size < 8 ? size : 8);
		kit_fail(array->kit, "element %llu of %llu: expected bits %llx, found %llx",
			 (unsigned long long)i, (unsigned long long)array->count,
			 (unsigned long long)bits[0], (unsigned long long)bits[1]);
	}
	free(found);
}

/* Copies the images of all outputs one after another to `to`, or from there. */
static void copy_images(struct array *const *arrays, size_t n_arrays, unsigned char *to, int back)
{
	for (size_t i = 0; i < n_arrays; i++) {
		if (arrays[i]->role != OUTPUT)
			continue;
		memcpy(back ? arrays[i]->image : to, back ? to : arrays[i]->image, arrays[i]->size);
		to += arrays[i]->size;
	}
}

void sweep_repeat(struct kit *kit, int determinism, void *args, struct array *const *arrays,
		  size_t n_arrays)
{
	struct tn_call *call = args;
	unsigned char *before, *results[2];
	size_t size = 0;
	if (determinism != TN_DETERMINISM_ALWAYS && determinism != TN_DETERMINISM_ON_REQUEST)
		return;
	for (size_t i = 0; i < n_arrays; i++)
		size += arrays[i]->role == OUTPUT ? arrays[i]->size : 0;
	before = malloc(3 * size);
	if (!before)
		kit_give_up(kit, "the kit is out of memory");
	copy_images(arrays, n_arrays, before, 0);
	call->flags |= determinism == TN_DETERMINISM_ON_REQUEST ? TN_DETERMINISTIC : 0;
	for (size_t run = 0; run < 2; run++) {
		results[run] = before + (run + 1) * size;
		if (run)
			copy_images(arrays, n_arrays, before, 1);
		if (kit_run(kit, args, arrays, n_arrays))
			break;
		copy_images(arrays, n_arrays, results[run], 0);
		if (run && memcmp(results[0], results[1], size) != 0)
			kit_fail_as(kit, "call.deterministic", "the same call gave different bits");
	}
	call->flags &= ~(uint32_t)TN_DETERMINISTIC;
	free(before);
}

static int ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

size_t sweep_sample(struct kit *kit, uint64_t count, uint64_t places[SWEEP_SAMPLES])
{
	size_t n = 0, distinct = 0;
	places[n++] = 0;
	places[n++] = count - 1;
	for (int k = 0; k < 63; k++)
		for (uint64_t i = 0; i < 3; i++)
			if ((UINT64_C(1) << k) + i - 1 < count)
				places[n++] = (UINT64_C(1) << k) + i - 1;
	for (int i = 0; i < 64; i++)
		places[n++] = kit_random(kit) % count;
	qsort(places, n, sizeof(*places), ascending);
	for (size_t i = 0; i < n; i++)
		if (!i || places[i] != places[distinct - 1])
			places[distinct++] = places[i];
	return distinct;
}
