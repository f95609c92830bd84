/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers samples by the value of a field: sorts the values by their bytes and counts the distinct
 * ones.
 */
#include "data/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define OPERATION "dataset"

/* The value of one sample. */
struct value {
	const unsigned char *bytes;
	size_t size;
	uint32_t sample;
};

static int compare(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	return memcmp(x->bytes, y->bytes, x->size);
}

/* Reads the field of every sample to `bytes`. */
static tn_status read_all(const struct tn_samples *samples, uint32_t field, unsigned char *bytes,
			  struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (uint64_t i = 0; i < samples->n && !status; i++) {
		void *to[TN_MAX_FIELDS] = {0};
		to[field] = bytes + i * samples->size[field];
		status = tn_samples_read(samples, i, to, error);
	}
	return status;
}

tn_status tn_group_samples(const struct tn_samples *samples, uint32_t field, uint32_t *groups,
			   uint32_t *n, struct tn_error_info *error)
{
	size_t size = samples->size[field];
	unsigned char *bytes = samples->data[field];
	unsigned char *own = bytes ? NULL : tn_mem_zeroed((size_t)samples->n, size);
	struct value *values = tn_mem_zeroed((size_t)samples->n, sizeof(*values));
	tn_status status = TN_OK;
	if (!values || (!bytes && !own))
		status = tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
				 "no host memory for the values of field %u", field);
	if (!status && own)
		status = read_all(samples, field, own, error);
	if (!status) {
		bytes = own ? own : bytes;
		for (uint64_t i = 0; i < samples->n; i++)
			values[i] = (struct value){bytes + i * size, size, (uint32_t)i};
		qsort(values, (size_t)samples->n, sizeof(*values), compare);
		*n = 0;
		for (uint64_t i = 0; i < samples->n; i++) {
			if (i == 0 || compare(&values[i - 1], &values[i]))
				++*n;
			groups[values[i].sample] = *n - 1;
		}
	}
	tn_mem_free(values);
	tn_mem_free(own);
	return status;
}
