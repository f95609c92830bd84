/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "train/batches.h"

#include <string.h>
#include <time.h>

#include "array/array.h"
#include "base/error.h"

double tn_clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tn_status tn_batches_open(struct tn_batches *batches, tn_context *context,
			  const tn_dataset *dataset, int part,
			  const struct tn_data_loader_options *options)
{
	struct tn_error_info error;
	struct tn_data_loader_options ahead = *options;
	const struct tn_input_format *format = tn_dataset_format(dataset);
	memset(batches, 0, sizeof(*batches));
	batches->context = context;
	batches->runtime = tn_runtime_of(context);
	if (!format)
		return tn_runtime_fail(batches->runtime, TN_INVALID_ARGUMENT, "train",
				       "expected a data set of labelled images, found '%s' of "
				       "others",
				       tn_dataset_name(dataset));
	const int64_t shape[] = {options->batch_size, format->channels, format->height,
				 format->width};
	memcpy(batches->shape, shape, sizeof(shape));
	batches->n_full = tn_dataset_count(dataset, part) / options->batch_size;
	ahead.context = context;
	if (tn_data_loader_create(dataset, part, &ahead, &batches->loader, &error))
		return tn_runtime_keep(batches->runtime, &error);
	return TN_OK;
}

void tn_batches_close(struct tn_batches *batches)
{
	tn_data_loader_destroy(batches->loader);
	batches->loader = NULL;
}

tn_status tn_batches_load(struct tn_batches *batches, uint32_t *n)
{
	struct tn_error_info error;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	if (tn_data_loader_next(batches->loader, &batch, &error))
		return tn_runtime_keep(batches->runtime, &error);
	batches->images = batch.data[0];
	batches->labels = batch.data[1];
	*n = batch.n;
	return TN_OK;
}

tn_status tn_batches_upload(struct tn_batches *batches, uint32_t n, tn_array **x, tn_array **labels)
{
	int64_t shape[4] = {n, batches->shape[1], batches->shape[2], batches->shape[3]};
	*x = tn_from_host(batches->context, TN_F32, 4, shape, batches->images);
	*labels = tn_from_host(batches->context, TN_I32, 1, shape, batches->labels);
	return batches->runtime->error.status;
}

tn_status tn_batches_next(struct tn_batches *batches, tn_array **x, tn_array **labels, uint32_t *n)
{
	tn_status status = tn_batches_load(batches, n);
	return status || !*n ? status : tn_batches_upload(batches, *n, x, labels);
}

tn_status tn_batches_make(struct tn_batches *batches, tn_array **x, tn_array **labels)
{
	tn_array *images = tn_zeros(batches->context, TN_F32, 4, batches->shape);
	tn_array *numbers = tn_zeros(batches->context, TN_I32, 1, batches->shape);
	if (!images || !numbers)
		return batches->runtime->error.status;
	*x = tn_array_hold(images);
	*labels = tn_array_hold(numbers);
	return TN_OK;
}

tn_status tn_batches_assign(const struct tn_batches *batches, tn_array *x, tn_array *labels)
{
	tn_status status =
		tn_assign_host(x, batches->images, (size_t)x->size * sizeof(*batches->images));
	if (status)
		return status;
	return tn_assign_host(labels, batches->labels,
			      (size_t)labels->size * sizeof(*batches->labels));
}

tn_status tn_sums_begin(struct tn_sums *sums, tn_context *context)
{
	memset(sums, 0, sizeof(*sums));
	tn_array *loss = tn_zeros(context, TN_F32, 0, NULL),
		 *right = tn_zeros(context, TN_F32, 0, NULL);
	if (!loss || !right)
		return tn_runtime_of(context)->error.status;
	sums->loss = tn_array_hold(loss);
	sums->right = tn_array_hold(right);
	sums->started = tn_clock_seconds();
	return TN_OK;
}

void tn_sums_end(struct tn_sums *sums)
{
	tn_array_unhold(sums->loss);
	tn_array_unhold(sums->right);
	memset(sums, 0, sizeof(*sums));
}

tn_status tn_sums_add(struct tn_sums *sums, const tn_array *loss, const tn_array *logits,
		      const tn_array *labels, uint32_t n)
{
	tn_array *equal = tn_equal(tn_argmax(logits, 1), labels);
	tn_array *right = tn_sum(tn_astype(equal, TN_F32), TN_ALL_AXES, NULL, 0);
	tn_array *weighted = tn_affine(loss, n, 0.0);
	sums->images += n;
	tn_status status = right && weighted ? TN_OK : sums->loss->runtime->error.status;
	if (!status)
		status = tn_add_into(sums->right, sums->right, right);
	if (!status)
		status = tn_add_into(sums->loss, sums->loss, weighted);
	return status;
}

tn_status tn_sums_read(const struct tn_sums *sums, struct tn_evaluation *result)
{
	double loss, right, images = sums->images ? (double)sums->images : 1.0;
	tn_status status = tn_item(sums->loss, &loss);
	if (!status)
		status = tn_item(sums->right, &right);
	if (status)
		return status;
	*result = (struct tn_evaluation){.loss = loss / images,
					 .accuracy = right / images,
					 .images = sums->images,
					 .seconds = tn_clock_seconds() - sums->started};
	return TN_OK;
}
