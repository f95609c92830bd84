/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parts and statistics.  Guarantees: both depend only on the samples and use exact integers up to
 * the last rounding, so they are equal on every machine and in every run.
 */
#include "data/split.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "data/groups.h"

#define OPERATION "dataset"

/* Fractions are counted in billionths: integers, so that 1/10 of 5 is a half on every machine. */
#define ONE 1000000000u

/* The number taken from the first k when the fraction p = billionths / ONE is spread evenly:
 * floor(k p + 1/2).  It cannot overflow: k < 2^32. */
static uint64_t n_taken(uint64_t k, uint64_t billionths)
{
	return (k * billionths + ONE / 2) / ONE;
}

/* Moves a fraction of each group's training samples, evenly spread, to `part`: writes `part` to
 * belongs[]. */
static void take_evenly(uint64_t n, const uint32_t *groups, uint32_t n_groups, double fraction,
			uint8_t part, uint64_t *seen, uint8_t *belongs)
{
	uint64_t billionths = (uint64_t)llround(fraction * ONE);
	memset(seen, 0, n_groups * sizeof(*seen));
	for (uint64_t i = 0; i < n; i++) {
		if (belongs[i] != TN_PART_TRAIN)
			continue;
		uint64_t k = seen[groups[i]]++;
		if (n_taken(k + 1, billionths) > n_taken(k, billionths))
			belongs[i] = part;
	}
}

/* Lists each part's samples in the order of the data. */
static int list_parts(tn_dataset *dataset, const uint8_t *belongs)
{
	for (uint64_t i = 0; i < dataset->samples->n; i++)
		dataset->count[belongs[i]]++;
	for (int part = 0; part < TN_N_PARTS; part++) {
		uint64_t next = 0;
		dataset->index[part] =
			tn_mem_zeroed((size_t)dataset->count[part], sizeof(uint32_t));
		if (!dataset->index[part])
			return 0;
		for (uint64_t i = 0; i < dataset->samples->n; i++) {
			if (belongs[i] == part)
				dataset->index[part][next++] = (uint32_t)i;
		}
	}
	return 1;
}

/* Splits both fractions off the training samples. */
static tn_status split_evenly(const tn_dataset *dataset, const struct tn_dataset_raw *raw,
			      uint8_t *belongs, struct tn_error_info *error)
{
	uint64_t n = dataset->samples->n;
	uint32_t n_groups = dataset->is_of_images ? dataset->n_classes : 1;
	uint32_t *groups = tn_mem_zeroed((size_t)n, sizeof(*groups));
	tn_status status =
		groups ? TN_OK : tn_no_memory(error, OPERATION, dataset->name, "its parts");
	if (!status && dataset->is_of_images)
		memcpy(groups, dataset->samples->data[1], (size_t)n * sizeof(*groups));
	else if (!status && raw->stratify)
		status = tn_group_samples(dataset->samples, raw->stratify - 1, groups, &n_groups,
					  error);
	uint64_t *seen = !status ? tn_mem_zeroed(n_groups, sizeof(*seen)) : NULL;
	if (!status && !seen)
		status = tn_no_memory(error, OPERATION, dataset->name, "its parts");
	if (!status) {
		take_evenly(n, groups, n_groups, raw->test_fraction, TN_PART_TEST, seen, belongs);
		take_evenly(n, groups, n_groups, raw->validation_fraction, TN_PART_VALIDATION, seen,
			    belongs);
	}
	tn_mem_free(groups);
	tn_mem_free(seen);
	return status;
}

tn_status tn_dataset_split(tn_dataset *dataset, struct tn_dataset_raw *raw,
			   struct tn_error_info *error)
{
	uint64_t n = dataset->samples->n;
	tn_status status = TN_OK;
	if (!raw->parts) {
		raw->parts = tn_mem_zeroed((size_t)n, 1);
		if (!raw->parts)
			return tn_no_memory(error, OPERATION, dataset->name, "its parts");
		memset(raw->parts + n - raw->n_test, TN_PART_TEST, (size_t)raw->n_test);
	}
	if (raw->test_fraction > 0 || raw->validation_fraction > 0)
		status = split_evenly(dataset, raw, raw->parts, error);
	if (!status && !list_parts(dataset, raw->parts))
		status = tn_no_memory(error, OPERATION, dataset->name, "its parts");
	return status;
}

/* ---- Statistics ------------------------------------------------------------------------------*/

/* Images of the training part whose pixels are counted when they are not in memory. */
#define MAX_DECODED 512

/* Counts the values of each channel's pixels in the training part; of images that are not in memory
 * in at most MAX_DECODED of them, evenly spread. */
static tn_status count_values(const tn_dataset *dataset, uint64_t (*histogram)[256],
			      struct tn_error_info *error)
{
	const struct tn_samples *samples = dataset->samples;
	const struct tn_input_format *format = &dataset->format;
	const uint32_t *index = dataset->index[TN_PART_TRAIN];
	uint64_t n = dataset->count[TN_PART_TRAIN];
	uint64_t n_read = samples->data[0] || n < MAX_DECODED ? n : MAX_DECODED;
	size_t plane = (size_t)format->height * format->width;
	uint8_t *buffer = samples->data[0] ? NULL : tn_mem_alloc(samples->size[0]);
	void *const to[TN_MAX_FIELDS] = {buffer};
	tn_status status = samples->data[0] || buffer
				   ? TN_OK
				   : tn_no_memory(error, OPERATION, dataset->name, "its parts");
	for (uint64_t i = 0; i < n_read && !status; i++) {
		uint32_t number = index[i * n / n_read];
		const uint8_t *pixels = buffer;
		if (buffer)
			status = tn_samples_read(samples, number, to, error);
		else
			pixels = (const uint8_t *)samples->data[0] + number * samples->size[0];
		for (uint32_t c = 0; !status && c < format->channels; c++) {
			for (size_t p = 0; p < plane; p++)
				histogram[c][pixels[c * plane + p]]++;
		}
	}
	tn_mem_free(buffer);
	return status;
}

/* mean = S1 / n,  deviation^2 = (n S2 - S1^2) / n^2,  with S1, S2 the sums of v and v^2 over
 * channel c of the training part, in units of `scale`.  The numerators are exact: n < 2^36,
 * S2 < 2^52. */
static void set_statistics(struct tn_input_format *format, uint32_t c,
			   const uint64_t histogram[256])
{
	uint64_t n = 0, s1 = 0, s2 = 0;
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

tn_status tn_dataset_normalise(tn_dataset *dataset, const struct tn_input_format *as,
			       struct tn_error_info *error)
{
	uint64_t histogram[TN_MAX_CHANNELS][256] = {0};
	struct tn_input_format *format = &dataset->format;
	if (as) {
		memcpy(format->mean, as->mean, sizeof(as->mean));
		memcpy(format->deviation, as->deviation, sizeof(as->deviation));
		return TN_OK;
	}
	tn_status status = count_values(dataset, histogram, error);
	for (uint32_t c = 0; !status && c < format->channels; c++)
		set_statistics(format, c, histogram[c]);
	return status;
}
