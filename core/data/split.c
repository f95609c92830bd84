/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parts and statistics.  Guarantees: both depend only on the images and labels and use exact
 * integers up to the last rounding, so they are equal on every machine and in every run.
 */
#include "data/split.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"

#define OPERATION "dataset"

/* Fractions are counted in billionths: integers, so that 1/10 of 5 is a half on every machine. */
#define ONE 1000000000u

/* The number taken from the first k when the fraction p = billionths / ONE is spread evenly:
 * floor(k p + 1/2).  It cannot overflow: k < 2^32. */
static uint64_t n_taken(uint64_t k, uint64_t billionths)
{
	return (k * billionths + ONE / 2) / ONE;
}

/* Moves a fraction of each class's training images, evenly spread, to `part`: writes `part` to
 * belongs[]. */
static void take_evenly(const tn_dataset *dataset, uint64_t n, double fraction, uint8_t part,
			uint64_t *seen, uint8_t *belongs)
{
	uint64_t billionths = (uint64_t)llround(fraction * ONE);
	memset(seen, 0, dataset->format.n_classes * sizeof(*seen));
	for (uint64_t i = 0; i < n; i++) {
		if (belongs[i] != TN_PART_TRAIN)
			continue;
		uint64_t k = seen[dataset->labels[i]]++;
		if (n_taken(k + 1, billionths) > n_taken(k, billionths))
			belongs[i] = part;
	}
}

/* Lists each part's images in the order of the files. */
static int list_parts(tn_dataset *dataset, const uint8_t *belongs)
{
	for (uint64_t i = 0; i < dataset->n; i++)
		dataset->count[belongs[i]]++;
	for (int part = 0; part < TN_N_PARTS; part++) {
		uint64_t next = 0;
		dataset->index[part] =
			tn_mem_zeroed((size_t)dataset->count[part], sizeof(uint32_t));
		if (!dataset->index[part])
			return 0;
		for (uint64_t i = 0; i < dataset->n; i++) {
			if (belongs[i] == part)
				dataset->index[part][next++] = (uint32_t)i;
		}
	}
	return 1;
}

tn_status tn_dataset_split(tn_dataset *dataset, const struct tn_dataset_raw *raw,
			   struct tn_error_info *error)
{
	uint8_t *belongs = tn_mem_zeroed((size_t)raw->n, 1);
	uint64_t *seen = tn_mem_zeroed(raw->format.n_classes, sizeof(*seen));
	int listed = 0;
	if (belongs && seen) {
		uint64_t n_rest = raw->n - raw->n_test;
		memset(belongs + n_rest, TN_PART_TEST, (size_t)raw->n_test);
		if (raw->n_test == 0)
			take_evenly(dataset, raw->n, raw->test_fraction, TN_PART_TEST, seen,
				    belongs);
		take_evenly(dataset, n_rest, raw->validation_fraction, TN_PART_VALIDATION, seen,
			    belongs);
		listed = list_parts(dataset, belongs);
	}
	tn_mem_free(belongs);
	tn_mem_free(seen);
	if (!listed)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for its parts",
			       dataset->name);
	return TN_OK;
}

/* mean = S1 / n,  deviation^2 = (n S2 - S1^2) / n^2,  with S1, S2 the sums of v and v^2 over
 * channel c of the training part, in units of `scale`.  The numerators are exact: n < 2^36,
 * S2 < 2^52. */
static void set_statistics(tn_dataset *dataset, uint32_t c)
{
	struct tn_input_format *format = &dataset->format;
	size_t plane = (size_t)format->height * format->width;
	uint64_t histogram[256] = {0}, n = 0, s1 = 0, s2 = 0;
	for (uint64_t i = 0; i < dataset->count[TN_PART_TRAIN]; i++) {
		const uint8_t *pixels = dataset->images +
					dataset->index[TN_PART_TRAIN][i] * dataset->image_size +
					c * plane;
		for (size_t p = 0; p < plane; p++)
			histogram[pixels[p]]++;
	}
	for (uint64_t v = 0; v < 256; v++) {
		n += histogram[v];
		s1 += histogram[v] * v;
		s2 += histogram[v] * v * v;
	}
	format->mean[c] = 0;
	format->deviation[c] = 1;
	if (n == 0)
		return;
	unsigned __int128 numerator = (unsigned __int128)n * s2 - (unsigned __int128)s1 * s1;
	format->mean[c] = (float)((double)s1 / (double)n / format->scale);
	if (numerator)
		format->deviation[c] = (float)(sqrt((double)numerator) / (double)n / format->scale);
}

void tn_dataset_normalise(tn_dataset *dataset, const struct tn_input_format *as)
{
	if (as) {
		memcpy(dataset->format.mean, as->mean, sizeof(as->mean));
		memcpy(dataset->format.deviation, as->deviation, sizeof(as->deviation));
		return;
	}
	for (uint32_t c = 0; c < dataset->format.channels; c++)
		set_statistics(dataset, c);
}
