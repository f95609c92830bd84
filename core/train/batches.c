/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Takes batches from a loader, and makes arrays of their fields or copies them into existing ones.
 */
#include "train/batches.h"

#include <string.h>

#include "array/array.h"
#include "base/dtype.h"
#include "base/error.h"
#include "data/data_loader.h"

tn_status tn_batches_of(struct tn_batches *batches, tn_context *context, tn_data_loader *loader)
{
	const struct tn_loader_facts facts = tn_data_loader_facts(loader);
	struct tn_field field;
	*batches = (struct tn_batches){.context = context,
				       .runtime = tn_runtime_of(context),
				       .loader = loader,
				       .batch = {.struct_size = sizeof(batches->batch)},
				       .batch_size = facts.batch_size,
				       .limit = facts.limit,
				       .n_full = facts.limit / facts.batch_size};
	while (!tn_data_loader_field_at(loader, batches->n_fields, &field))
		batches->n_fields++;
	return tn_runtime_ready(batches->runtime);
}

tn_status tn_batches_load(struct tn_batches *batches)
{
	struct tn_error_info error;
	if (tn_data_loader_next(batches->loader, &batches->batch, &error))
		return tn_runtime_keep(batches->runtime, &error);
	return TN_OK;
}

/* The shape of n samples of a field. */
static int shape_of(const struct tn_field *field, uint32_t n, int64_t *shape)
{
	shape[0] = n;
	memcpy(shape + 1, field->shape, (size_t)field->rank * sizeof(*shape));
	return field->rank + 1;
}

tn_status tn_batches_upload(struct tn_batches *batches, tn_array **fields)
{
	const struct tn_batch *batch = &batches->batch;
	int64_t shape[TN_MAX_RANK];
	for (uint32_t i = 0; i < batches->n_fields; i++) {
		int rank = shape_of(&batch->fields[i], batch->n, shape);
		fields[i] = tn_from_host(batches->context, batch->fields[i].dtype, rank, shape,
					 batch->data[i]);
	}
	return batches->runtime->error.status;
}

tn_status tn_batches_make(struct tn_batches *batches, tn_array **fields)
{
	int64_t shape[TN_MAX_RANK];
	for (uint32_t i = 0; i < batches->n_fields; i++) {
		const struct tn_field *field = &batches->batch.fields[i];
		int rank = shape_of(field, batches->batch_size, shape);
		tn_array *array = tn_zeros(batches->context, field->dtype, rank, shape);
		if (!array)
			return batches->runtime->error.status;
		fields[i] = tn_array_hold(array);
	}
	return TN_OK;
}

tn_status tn_batches_assign(const struct tn_batches *batches, tn_array *const *fields)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < batches->n_fields && !status; i++)
		status = tn_assign_host(fields[i], batches->batch.data[i],
					(size_t)fields[i]->size * tn_dtype_size(fields[i]->dtype));
	return status;
}
