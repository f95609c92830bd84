/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data sets of the program's own tensors.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/dataset.h"
#include "data/fractions.h"

#define OPERATION "dataset"

static tn_status check_source(const struct tn_dataset_fields *source, struct tn_error_info *error)
{
	if (!source->data && !source->read)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected data or a read function, found neither");
	if (source->stratify > source->n_fields)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "stratify: expected 0, or 1 + a field below %u, found %u",
			       source->n_fields, source->stratify);
	if (source->class_names && source->n_classes == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected n_classes with class_names, found 0");
	return TN_OK;
}

static tn_status copy_data(const struct tn_dataset_fields *source, struct tn_samples *samples,
			   struct tn_error_info *error)
{
	for (uint32_t i = 0; i < samples->n_fields; i++) {
		size_t size = samples->size[i];
		if (!source->data[i])
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "field %u: expected data, found NULL", i);
		if (samples->n > TN_HOST_ARRAY_MAX_BYTES / size)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "field %u: expected at most %llu bytes, found %llu samples "
				       "of %zu",
				       i, (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
				       (unsigned long long)samples->n, size);
		samples->data[i] = tn_mem_alloc((size_t)samples->n * size);
		if (!samples->data[i])
			return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
				       "field %u: no memory for %llu samples of %zu bytes", i,
				       (unsigned long long)samples->n, size);
		memcpy(samples->data[i], source->data[i], (size_t)samples->n * size);
	}
	return TN_OK;
}

tn_status tn_dataset_from_fields(const struct tn_dataset_fields *given, tn_dataset **out,
				 struct tn_error_info *error)
{
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	struct tn_dataset_raw raw = {0};
	tn_status status = tn_options_take(&source, sizeof(source), given,
					   "struct tn_dataset_fields", OPERATION, error);
	if (!status)
		status = tn_samples_create(source.n, source.n_fields, source.fields, &raw.samples,
					   error);
	if (!status)
		status = check_source(&source, error);
	if (!status && source.data)
		status = copy_data(&source, raw.samples, error);
	if (!status && source.parts)
		status = tn_dataset_copy_parts(&raw, source.parts, source.n, error);
	if (!status) {
		raw.samples->read = source.read;
		raw.samples->user = source.user;
		raw.stratify = source.stratify;
		raw.n_classes = source.n_classes;
		raw.class_names = source.class_names;
		raw.own_class_names = 1;
		status = tn_dataset_take_fractions(
			&raw,
			&(struct tn_fractions){source.test_fraction, source.validation_fraction, 0},
			source.name ? source.name : "", error);
	}
	if (!status)
		status = tn_dataset_build(&raw, source.name ? source.name : "", "", out, error);
	tn_dataset_raw_release(&raw);
	return status;
}
