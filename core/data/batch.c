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
#include "base/options.h"
#include "data/shuffle.h"
#include "program/random.h"

#define OPERATION "data loader"

static int moves(const struct tn_batch_plan *plan)
{
	return plan->augmentation.max_shift || plan->augmentation.hflip_prob > 0;
}

static tn_status take_augmentation(struct tn_batch_plan *plan, const struct tn_augmentation *given,
				   struct tn_error_info *error)
{
	struct tn_augmentation *own = &plan->augmentation;
	const struct tn_input_format *format = tn_dataset_format(plan->dataset);
	tn_status status = tn_options_take(own, sizeof(*own), given, "struct tn_augmentation",
					   OPERATION, error);
	if (status != TN_OK || !moves(plan))
		return status;
	if (!format)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "augmentation: expected a data set of images, found '%s' of others",
			       tn_dataset_name(plan->dataset));
	if (own->max_shift && (own->max_shift >= format->height || own->max_shift >= format->width))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a max_shift below %u x %u, found %u", format->height,
			       format->width, own->max_shift);
	if (!(own->hflip_prob >= 0 && own->hflip_prob <= 1))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected an hflip_prob from 0 to 1, found %g", own->hflip_prob);
	return TN_OK;
}

tn_status tn_batch_plan_take(struct tn_batch_plan *plan, const tn_dataset *dataset, int part,
			     const struct tn_data_loader_options *options,
			     struct tn_error_info *error)
{
	const struct tn_samples *samples = dataset->samples;
	const struct tn_input_format *format = &dataset->format;
	plan->dataset = dataset;
	plan->part = part;
	plan->seed = options->seed;
	plan->transform = options->transform;
	plan->user = options->user;
	tn_status status = take_augmentation(plan, options->augmentation, error);
	if (status != TN_OK)
		return status;
	plan->n_fields = samples->n_fields;
	memcpy(plan->fields, dataset->fields, sizeof(plan->fields));
	memcpy(plan->size, samples->size, sizeof(plan->size));
	if (!dataset->is_of_images)
		return TN_OK;
	plan->size[0] = samples->size[0] * sizeof(float);
	plan->scratch_size = samples->size[0];
	for (uint32_t c = 0; c < format->channels; c++) {
		for (int v = 0; v < 256; v++)
			plan->table[c][v] =
				((float)v / format->scale - format->mean[c]) / format->deviation[c];
	}
	return TN_OK;
}

/* ---- Images ----------------------------------------------------------------------------------*/

/* The shift and mirroring of one image. */
struct motion {
	int32_t down;
	int32_t right;
	int mirrored;
};

/* Image k uses words 4 k, 4 k + 1 and 4 k + 2 of the epoch's stream. */
static struct motion draw_motion(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t image)
{
	uint64_t seed = plan->seed, stream = TN_STREAM_AUGMENT + epoch;
	int32_t most = (int32_t)plan->augmentation.max_shift;
	double flip = plan->augmentation.hflip_prob;
	struct motion motion = {0};
	if (most) {
		uint32_t bound = 2 * (uint32_t)most + 1;
		motion.down = (int32_t)tn_lot(tn_random(seed, stream, 4 * image), bound) - most;
		motion.right =
			(int32_t)tn_lot(tn_random(seed, stream, 4 * image + 1), bound) - most;
	}
	if (flip > 0)
		motion.mirrored =
			tn_random(seed, stream, 4 * image + 2) >= (1 - flip) * 4294967296.0;
	return motion;
}

/* out[x] := value of in[x - right], mirrored before the shift; pixels from outside are 0. */
static void move_row(const uint8_t *in, uint32_t width, struct motion motion, const float *table,
		     float *out)
{
	for (int64_t x = 0; x < width; x++) {
		int64_t from = x - motion.right;
		if (from < 0 || from >= width)
			out[x] = table[0];
		else
			out[x] = table[in[motion.mirrored ? width - 1 - from : from]];
	}
}

static void move_plane(const struct tn_input_format *format, const uint8_t *in,
		       struct motion motion, const float *table, float *out)
{
	for (int64_t y = 0; y < format->height; y++, out += format->width) {
		int64_t from = y - motion.down;
		if (from >= 0 && from < format->height) {
			move_row(in + (size_t)from * format->width, format->width, motion, table,
				 out);
			continue;
		}
		for (uint32_t x = 0; x < format->width; x++)
			out[x] = table[0];
	}
}

/* Writes the values of an image, shifted and mirrored if requested. */
static void write_image(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t number,
			const uint8_t *in, float *out)
{
	const struct tn_input_format *format = &plan->dataset->format;
	size_t plane = (size_t)format->height * format->width;
	struct motion motion = draw_motion(plan, epoch, number);
	for (uint32_t c = 0; c < format->channels; c++, in += plane, out += plane) {
		const float *table = plan->table[c];
		if (moves(plan)) {
			move_plane(format, in, motion, table, out);
			continue;
		}
		for (size_t i = 0; i < plane; i++)
			out[i] = table[in[i]];
	}
}

/* ---- Samples ---------------------------------------------------------------------------------*/

tn_status tn_batch_load(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t number,
			uint64_t at, void *const *data, void *scratch, struct tn_error_info *error)
{
	const tn_dataset *dataset = plan->dataset;
	const struct tn_samples *samples = dataset->samples;
	uint64_t stored = dataset->index[plan->part][number];
	void *to[TN_MAX_FIELDS] = {0}, *from[TN_MAX_FIELDS];
	for (uint32_t i = 0; i < plan->n_fields; i++)
		to[i] = (char *)data[i] + at * plan->size[i];
	memcpy(from, to, sizeof(from));
	const uint8_t *image = NULL;
	if (dataset->is_of_images) {
		image = samples->data[0] ? (uint8_t *)samples->data[0] + stored * samples->size[0]
					 : scratch;
		from[0] = samples->data[0] ? NULL : scratch;
	}
	tn_status status = tn_samples_read(samples, stored, from, error);
	if (status == TN_OK && image)
		write_image(plan, epoch, number, image, to[0]);
	if (status != TN_OK || !plan->transform)
		return status;
	struct tn_sample sample = {.struct_size = sizeof(sample),
				   .n_fields = plan->n_fields,
				   .fields = plan->fields,
				   .data = to,
				   .seed = plan->seed,
				   .epoch = epoch,
				   .number = number};
	return plan->transform(plan->user, &sample, error);
}

uint32_t tn_sample_random(const struct tn_sample *sample, uint32_t i)
{
	return tn_random(sample->seed, TN_STREAM_TRANSFORM + sample->epoch,
			 sample->number << 32 | i);
}
