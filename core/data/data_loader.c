/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches.  Guarantees: a call's result depends only on (data set, part, options, position), so a
 * loader set to a position continues like one that reached it by reading.  Normalised values come
 * from a table of 256 for each channel: the same bits on every machine.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/data_loader.h"
#include "data/dataset.h"
#include "data/shuffle.h"
#include "program/random.h"

#define OPERATION "data loader"
#define NO_EPOCH UINT64_MAX

struct tn_data_loader {
	const tn_dataset *dataset;
	int part;
	struct tn_data_loader_options options;
	struct tn_data_position position;
	uint64_t limit;  /* images of an epoch: all, or those in full batches */
	uint32_t *order; /* the order of epoch `ordered` */
	uint64_t ordered;
	float table[TN_MAX_CHANNELS][256]; /* [c][v] = (v / scale - mean) / deviation */
};

tn_status tn_data_loader_create(const tn_dataset *dataset, int part,
				const struct tn_data_loader_options *given, tn_data_loader **out,
				struct tn_error_info *error)
{
	struct tn_data_loader_options options = {0};
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_data_loader_options", OPERATION, error);
	if (status != TN_OK)
		return status;
	const struct tn_input_format *format = &dataset->format;
	if (part < 0 || part >= TN_N_PARTS)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a part from 0 to %d, found %d", TN_N_PARTS - 1, part);
	if (options.batch_size == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a batch_size of at least 1, found 0");
	if (options.max_shift &&
	    (options.max_shift >= format->height || options.max_shift >= format->width))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a max_shift below %u x %u, found %u", format->height,
			       format->width, options.max_shift);
	uint64_t n = dataset->count[part];
	tn_data_loader *loader = tn_mem_zeroed(1, sizeof(*loader));
	uint32_t *order = tn_mem_zeroed((size_t)n, sizeof(*order));
	if (!loader || !order) {
		tn_mem_free(loader);
		tn_mem_free(order);
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no memory for %llu images",
			       (unsigned long long)n);
	}
	loader->dataset = dataset;
	loader->part = part;
	loader->options = options;
	loader->limit = options.drop_last ? n - n % options.batch_size : n;
	loader->order = order;
	loader->ordered = NO_EPOCH;
	for (uint32_t c = 0; c < format->channels; c++) {
		for (int v = 0; v < 256; v++)
			loader->table[c][v] =
				((float)v / format->scale - format->mean[c]) / format->deviation[c];
	}
	*out = loader;
	return TN_OK;
}

void tn_data_loader_destroy(tn_data_loader *loader)
{
	if (!loader)
		return;
	tn_mem_free(loader->order);
	tn_mem_free(loader);
}

uint64_t tn_data_loader_batches(const tn_data_loader *loader)
{
	return (loader->limit + loader->options.batch_size - 1) / loader->options.batch_size;
}

/* Updates `order` to the position's epoch. */
static void bring_order(tn_data_loader *loader)
{
	uint64_t n = loader->dataset->count[loader->part];
	if (loader->ordered == loader->position.epoch)
		return;
	if (loader->options.shuffle) {
		tn_shuffle(loader->options.seed, loader->position.epoch, loader->order, n);
	} else {
		for (uint64_t i = 0; i < n; i++)
			loader->order[i] = (uint32_t)i;
	}
	loader->ordered = loader->position.epoch;
}

/* The shift and mirroring of one image. */
struct motion {
	int32_t down;
	int32_t right;
	int mirrored;
};

/* Image k uses words 4 k, 4 k + 1 and 4 k + 2 of the epoch's stream. */
static struct motion draw_motion(const tn_data_loader *loader, uint64_t image)
{
	uint64_t seed = loader->options.seed;
	uint64_t stream = TN_STREAM_AUGMENT + loader->position.epoch;
	int32_t most = (int32_t)loader->options.max_shift;
	struct motion motion = {0};
	if (most) {
		uint32_t bound = 2 * (uint32_t)most + 1;
		motion.down = (int32_t)tn_lot(tn_random(seed, stream, 4 * image), bound) - most;
		motion.right =
			(int32_t)tn_lot(tn_random(seed, stream, 4 * image + 1), bound) - most;
	}
	if (loader->options.flip)
		motion.mirrored = (int)(tn_random(seed, stream, 4 * image + 2) >> 31);
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

/* Writes image `image` of the part, normalised, and shifted and mirrored if requested. */
static void write_image(const tn_data_loader *loader, uint64_t image, float *out, int32_t *label)
{
	const struct tn_input_format *format = &loader->dataset->format;
	size_t plane = (size_t)format->height * format->width;
	const uint8_t *in = tn_dataset_image(loader->dataset, loader->part, image, label);
	int moves = loader->options.max_shift || loader->options.flip;
	struct motion motion = draw_motion(loader, image);
	for (uint32_t c = 0; c < format->channels; c++, in += plane, out += plane) {
		const float *table = loader->table[c];
		if (moves) {
			move_plane(format, in, motion, table, out);
			continue;
		}
		for (size_t i = 0; i < plane; i++)
			out[i] = table[in[i]];
	}
}

tn_status tn_data_loader_next(tn_data_loader *loader, float *images, int32_t *labels, uint32_t *n,
			      struct tn_error_info *error)
{
	struct tn_data_position *position = &loader->position;
	(void)error; /* this cannot fail at present */
	if (position->index >= loader->limit) {
		position->epoch++;
		position->index = 0;
		*n = 0;
		return TN_OK;
	}
	bring_order(loader);
	uint64_t left = loader->limit - position->index;
	uint32_t count =
		left < loader->options.batch_size ? (uint32_t)left : loader->options.batch_size;
	size_t image_size = loader->dataset->image_size;
	for (uint32_t i = 0; i < count; i++)
		write_image(loader, loader->order[position->index + i], images + i * image_size,
			    &labels[i]);
	position->index += count;
	*n = count;
	return TN_OK;
}

uint64_t tn_data_loader_image(tn_data_loader *loader, uint64_t index)
{
	if (index >= loader->dataset->count[loader->part])
		return UINT64_MAX;
	bring_order(loader);
	return loader->order[index];
}

struct tn_data_position tn_data_loader_position(const tn_data_loader *loader)
{
	return loader->position;
}

tn_status tn_data_loader_seek(tn_data_loader *loader, struct tn_data_position position,
			      struct tn_error_info *error)
{
	if (position.index > loader->dataset->count[loader->part])
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected an index of at most %llu, found %llu",
			       (unsigned long long)loader->dataset->count[loader->part],
			       (unsigned long long)position.index);
	loader->position = position;
	return TN_OK;
}

struct tn_loader_facts tn_data_loader_facts(const tn_data_loader *loader)
{
	const struct tn_data_loader_options *options = &loader->options;
	return (struct tn_loader_facts){.dataset = loader->dataset->name,
					.part = loader->part,
					.count = loader->dataset->count[loader->part],
					.limit = loader->limit,
					.seed = options->seed,
					.batch_size = options->batch_size,
					.shuffle = options->shuffle != 0,
					.augmentation = 2 * (uint64_t)options->max_shift +
							(options->flip != 0)};
}
