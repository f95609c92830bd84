/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The samples of a batch.  Guarantees: a sample depends only on (data set, part, options, epoch,
 * number).  Normalised values come from a table of 256 for each channel: the same bits on every
 * machine.
 */
#include "data/batch.h"

#include <string.h>

#include "base/error.h"
#include "data/augment.h"
#include "data/augment_mix.h"
#include "data/shuffle.h"
#include "program/random.h"

#define OPERATION "data loader"

/* Options of augmentation, for a data set of images; another takes only those that change nothing.
 */
static tn_status take_augmentation(struct tn_batch_plan *plan, const struct tn_augmentation *given,
				   struct tn_error_info *error)
{
	const struct tn_dataset *dataset = plan->dataset;
	const struct tn_input_format *format = &dataset->format;
	const struct tn_augment_images images = {.channels = format->channels,
						 .height = format->height,
						 .width = format->width,
						 .n_classes = dataset->n_classes,
						 .mean = format->mean,
						 .deviation = format->deviation};
	if (dataset->is_of_images)
		return tn_augment_plan_take(&plan->augmentation, given, &images, error);
	/* Would anything be done to pictures? */
	const struct tn_augment_images any = {
		.channels = 3, .height = 1024, .width = 1024, .n_classes = 2};
	struct tn_augment_plan asked;
	tn_status status = tn_augment_plan_take(&asked, given, &any, error);
	if (!status && (asked.per_image || asked.mixes))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "augmentation: expected a data set of images, found '%s', which has "
			       "other samples",
			       tn_dataset_name(dataset));
	return status;
}

/* The fields of images, normalised, and with soft targets if they are mixed. */
static void take_images(struct tn_batch_plan *plan)
{
	const struct tn_samples *samples = plan->dataset->samples;
	const struct tn_input_format *format = &plan->dataset->format;
	const struct tn_augment_plan *augmentation = &plan->augmentation;
	struct tn_field *target = &plan->fields[1];
	plan->size[0] = samples->size[0] * sizeof(float);
	plan->scratch_size = samples->size[0];
	if (augmentation->per_image || augmentation->mixes)
		plan->scratch_size += tn_augment_scratch(augmentation) * sizeof(float);
	for (uint32_t c = 0; c < format->channels; c++) {
		for (int v = 0; v < 256; v++)
			plan->table[c][v] =
				((float)v / format->scale - format->mean[c]) / format->deviation[c];
	}
	if (augmentation->mixes) {
		target->dtype = TN_F32;
		target->rank = 1;
		target->shape[0] = augmentation->n_classes;
		plan->size[1] = augmentation->n_classes * sizeof(float);
	}
}

tn_status tn_batch_plan_take(struct tn_batch_plan *plan, const tn_dataset *dataset, int part,
			     const struct tn_data_loader_options *options,
			     struct tn_error_info *error)
{
	const struct tn_samples *samples = dataset->samples;
	plan->dataset = dataset;
	plan->part = part;
	plan->seed = options->seed;
	plan->repeats = options->weights != NULL;
	plan->transform = options->transform;
	plan->user = options->user;
	tn_status status = take_augmentation(plan, options->augmentation, error);
	if (status)
		return status;
	plan->n_fields = samples->n_fields;
	memcpy(plan->fields, dataset->fields, sizeof(plan->fields));
	memcpy(plan->size, samples->size, sizeof(plan->size));
	if (dataset->is_of_images)
		take_images(plan);
	return TN_OK;
}

/* ---- Images ----------------------------------------------------------------------------------*/

/* Writes the values of an image, augmented if requested.  `scratch`: of the augmentation. */
static void write_image(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t draw,
			const uint8_t *in, float *out, float *scratch)
{
	const struct tn_input_format *format = &plan->dataset->format;
	size_t plane = (size_t)format->height * format->width;
	for (uint32_t c = 0; c < format->channels; c++) {
		const float *table = plan->table[c];
		for (size_t i = c * plane; i < (c + 1) * plane; i++)
			out[i] = table[in[i]];
	}
	if (plan->augmentation.per_image)
		tn_augment_image(&plan->augmentation, plan->seed, epoch, draw, out, scratch);
}

/* ---- Samples ---------------------------------------------------------------------------------*/

tn_status tn_batch_load(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t number,
			uint64_t draw, uint64_t at, void *const *data, void *scratch,
			struct tn_error_info *error)
{
	const tn_dataset *dataset = plan->dataset;
	const struct tn_samples *samples = dataset->samples;
	uint64_t stored = dataset->index[plan->part][number];
	void *to[TN_MAX_FIELDS] = {0}, *from[TN_MAX_FIELDS];
	for (uint32_t i = 0; i < plan->n_fields; i++)
		to[i] = (char *)data[i] + at * plan->size[i];
	memcpy(from, to, sizeof(from));
	const uint8_t *image = NULL;
	int32_t label = 0;
	int mixes = plan->augmentation.mixes;
	if (dataset->is_of_images) {
		/* The end of the scratch; its beginning is that of the augmentation. */
		uint8_t *read = (uint8_t *)scratch + plan->scratch_size - samples->size[0];
		image = samples->data[0] ? (uint8_t *)samples->data[0] + stored * samples->size[0]
					 : read;
		from[0] = samples->data[0] ? NULL : read;
		from[1] = mixes ? &label : to[1];
	}
	tn_status status = tn_samples_read(samples, stored, from, error);
	if (!status && image)
		write_image(plan, epoch, draw, image, to[0], scratch);
	if (!status && mixes) {
		memset(to[1], 0, plan->size[1]);
		((float *)to[1])[label] = 1;
	}
	if (status || !plan->transform)
		return status;
	struct tn_sample sample = {.struct_size = sizeof(sample),
				   .n_fields = plan->n_fields,
				   .fields = plan->fields,
				   .data = to,
				   .seed = plan->seed,
				   .epoch = epoch,
				   .number = number,
				   .draw = draw};
	return plan->transform(plan->user, &sample, error);
}

void tn_batch_mix(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t index, uint32_t n,
		  void *const *data, void *scratch)
{
	if (plan->augmentation.mixes)
		tn_augment_mix(&plan->augmentation, plan->seed, epoch, index, n, data[0], data[1],
			       scratch);
}

uint32_t tn_sample_random(const struct tn_sample *sample, uint32_t i)
{
	return tn_random(sample->seed, TN_STREAM_TRANSFORM + sample->epoch, sample->draw << 32 | i);
}
