/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Holds the samples of a data set, in memory or read on demand, and counts those who share them.
 */
#include "data/samples.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory.h"

#define OPERATION "dataset"

/* *size := the bytes of one sample of a field. */
static tn_status measure(const struct tn_field *field, uint32_t index, size_t *size,
			 struct tn_error_info *error)
{
	if (!tn_dtype_information(field->dtype)->kind)
		return tn_fail(error, TN_DTYPE, OPERATION,
			       "field %u: expected an element type, found %d", index, field->dtype);
	if (field->rank < 0 || field->rank > TN_MAX_RANK - 1)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "field %u: expected a rank from 0 to %d, found %d", index,
			       TN_MAX_RANK - 1, field->rank);
	uint64_t bytes = tn_dtype_size(field->dtype);
	for (int32_t i = 0; i < field->rank; i++) {
		if (field->shape[i] < 1)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "field %u, axis %d: expected a length of at least 1, found "
				       "%lld",
				       index, i, (long long)field->shape[i]);
		if ((uint64_t)field->shape[i] > TN_HOST_ARRAY_MAX_BYTES / bytes)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "field %u: expected a sample of at most %llu bytes, found "
				       "more",
				       index, (unsigned long long)TN_HOST_ARRAY_MAX_BYTES);
		bytes *= (uint64_t)field->shape[i];
	}
	*size = (size_t)bytes;
	return TN_OK;
}

/* Copies a field with its name; *copy is zeroed before. */
static tn_status copy_field(const struct tn_field *field, uint32_t index, struct tn_field *copy,
			    struct tn_error_info *error)
{
	static const char *const names[] = {"x", "y"};
	char numbered[16];
	snprintf(numbered, sizeof(numbered), "z%u", index);
	const char *name = field->name ? field->name : index < 2 ? names[index] : numbered;
	*copy = *field;
	copy->name = tn_mem_copy_string(name);
	if (!copy->name)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for field %u",
			       index);
	return TN_OK;
}

tn_status tn_samples_create(uint64_t n, uint32_t n_fields, const struct tn_field *fields,
			    struct tn_samples **out, struct tn_error_info *error)
{
	if (n == 0 || n > UINT32_MAX)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected 1 to %u samples, found %llu", UINT32_MAX,
			       (unsigned long long)n);
	if (n_fields < 1 || n_fields > TN_MAX_FIELDS || !fields)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected 1 to %d fields, found %u", TN_MAX_FIELDS,
			       fields ? n_fields : 0);
	struct tn_samples *samples = tn_mem_zeroed(1, sizeof(*samples));
	if (!samples)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for %u fields",
			       n_fields);
	atomic_init(&samples->references, 1);
	samples->n = n;
	samples->n_fields = n_fields;
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < n_fields && !status; i++) {
		status = measure(&fields[i], i, &samples->size[i], error);
		if (!status)
			status = copy_field(&fields[i], i, &samples->fields[i], error);
	}
	if (!status)
		*out = samples;
	else
		tn_samples_release(samples);
	return status;
}

struct tn_samples *tn_samples_hold(struct tn_samples *samples)
{
	atomic_fetch_add(&samples->references, 1);
	return samples;
}

void tn_samples_release(struct tn_samples *samples)
{
	if (!samples || atomic_fetch_sub(&samples->references, 1) != 1)
		return;
	if (samples->release)
		samples->release(samples->user);
	for (uint32_t i = 0; i < samples->n_fields; i++) {
		tn_mem_free((void *)samples->fields[i].name);
		tn_mem_free(samples->data[i]);
	}
	tn_mem_free(samples);
}

tn_status tn_samples_read(const struct tn_samples *samples, uint64_t sample, void *const *to,
			  struct tn_error_info *error)
{
	void *missing[TN_MAX_FIELDS] = {0};
	int is_missing = 0;
	for (uint32_t i = 0; i < samples->n_fields; i++) {
		if (!to[i])
			continue;
		if (samples->data[i]) {
			memcpy(to[i],
			       (const char *)samples->data[i] + (size_t)sample * samples->size[i],
			       samples->size[i]);
		} else {
			missing[i] = to[i];
			is_missing = 1;
		}
	}
	return is_missing ? samples->read(samples->user, sample, missing, error) : TN_OK;
}
