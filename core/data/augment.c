/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws the parameters of each augmentation and applies them in order.
 */
#include "data/augment.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/augment_colour.h"
#include "data/augment_draw.h"
#include "data/augment_geometry.h"
#include "data/augment_mix.h"
#include "data/augment_pixels.h"
#include "data/augment_random.h"
#include "data/shuffle.h"
#include "program/exact.h"
#include "program/random.h"

#define OPERATION "augmentation"

/* Which picture is augmented. */
struct subject {
	uint64_t seed;
	uint64_t epoch;
	uint64_t number;
};

static struct tn_draws draws_of(const struct subject *of, enum tn_draw_kind kind)
{
	return tn_draws_of(kind, of->seed, of->epoch, of->number);
}

/* A number from -most to most. */
static int32_t distance(uint32_t word, uint32_t most)
{
	return (int32_t)tn_lot(word, 2 * most + 1) - (int32_t)most;
}

/* An area of random size and shape, or, if ten do not fit, the largest in the middle that comes
 * near the shapes; as torchvision.transforms.RandomResizedCrop. */
static void crop_and_enlarge(struct tn_canvas *canvas, const struct subject *of)
{
	const struct tn_augment_plan *plan = canvas->plan;
	const double *scale = plan->options.resized_crop_scale;
	const double *ratio = plan->options.resized_crop_ratio;
	double height = plan->height, width = plan->width;
	double low = tn_exact_log(ratio[0]), high = tn_exact_log(ratio[1]);
	struct tn_draws draws = draws_of(of, TN_DRAW_RESIZED_CROP);
	for (int attempt = 0; attempt < 10; attempt++) {
		double area = height * width * tn_draw_between(&draws, scale[0], scale[1]);
		double shape = tn_exact_exp(tn_draw_between(&draws, low, high));
		double w = rint(sqrt(area * shape)), h = rint(sqrt(area / shape));
		if (w < 1 || w > width || h < 1 || h > height)
			continue;
		uint32_t top = tn_draw_below(&draws, (uint32_t)(height - h) + 1);
		uint32_t left = tn_draw_below(&draws, (uint32_t)(width - w) + 1);
		tn_canvas_enlarge(canvas, top, left, (uint32_t)h, (uint32_t)w);
		return;
	}
	double w = width, h = height;
	if (width / height < ratio[0])
		h = fmax(1, rint(width / ratio[0]));
	else if (width / height > ratio[1])
		w = fmax(1, rint(height * ratio[1]));
	tn_canvas_enlarge(canvas, (uint32_t)(height - h) / 2, (uint32_t)(width - w) / 2,
			  (uint32_t)h, (uint32_t)w);
}

/* Shift and mirroring use words 4 k to 4 k + 3 of the epoch's stream for picture k. */
static void move(struct tn_canvas *canvas, const struct subject *of)
{
	const struct tn_augmentation *options = &canvas->plan->options;
	uint64_t stream = TN_STREAM_AUGMENT + of->epoch;
	uint32_t words[4];
	struct tn_draws crop = draws_of(of, TN_DRAW_CROP), roll = draws_of(of, TN_DRAW_ROLL);
	tn_random_block(of->seed, stream, 4 * of->number, words, 4);
	struct tn_line_move down = {.shift = distance(words[0], options->max_shift),
				    .mirrored = tn_chance(words[3], options->vflip_prob)};
	struct tn_line_move right = {.shift = distance(words[1], options->max_shift),
				     .mirrored = tn_chance(words[2], options->hflip_prob)};
	down.crop_mode = right.crop_mode = options->crop_mode;
	if (options->crop_padding) {
		down.crop = distance(tn_draw_word(&crop), options->crop_padding);
		right.crop = distance(tn_draw_word(&crop), options->crop_padding);
	}
	if (options->roll) {
		down.roll = distance(tn_draw_word(&roll), options->roll);
		right.roll = distance(tn_draw_word(&roll), options->roll);
	}
	tn_canvas_move(canvas, &down, &right);
}

void tn_augment_image(const struct tn_augment_plan *plan, uint64_t seed, uint64_t epoch,
		      uint64_t number, float *image, float *scratch)
{
	const struct tn_augmentation *options = &plan->options;
	const struct subject of = {seed, epoch, number};
	struct tn_canvas canvas = tn_canvas_of(plan, image, scratch);
	if (options->resized_crop)
		crop_and_enlarge(&canvas, &of);
	if (plan->moves)
		move(&canvas, &of);
	struct tn_draws draws = draws_of(&of, TN_DRAW_ROTATE);
	if (options->rotate_deg > 0 && tn_draw_chance(&draws, options->rotate_prob))
		tn_canvas_rotate(&canvas,
				 tn_draw_between(&draws, -options->rotate_deg, options->rotate_deg),
				 options->rotate_bilinear != 0, options->rotate_mode);
	draws = draws_of(&of, TN_DRAW_COLOUR);
	if (plan->colours)
		tn_jitter_colours(plan, &draws, canvas.picture);
	draws = draws_of(&of, TN_DRAW_NOISE);
	if (options->noise_std > 0 && tn_draw_chance(&draws, options->noise_prob))
		tn_add_noise(plan, &draws, options->noise_std, options->noise_clip, canvas.picture);
	draws = draws_of(&of, TN_DRAW_CUTOUT);
	if (options->cutout_prob > 0 && tn_draw_chance(&draws, options->cutout_prob))
		tn_cut_out(plan, &draws, options->cutout_size, canvas.picture);
	draws = draws_of(&of, TN_DRAW_RANDAUGMENT);
	if (options->randaugment_magnitude > 0)
		tn_random_augment(&canvas, &draws);
	if (canvas.picture != image)
		memcpy(image, canvas.picture, tn_augment_image_size(plan) * sizeof(*image));
}

tn_status tn_augment(const struct tn_augmentation *options, const struct tn_augment_batch *given,
		     struct tn_error_info *error)
{
	struct tn_augment_batch batch = tn_augment_batch_defaults();
	struct tn_augment_plan plan;
	tn_status status = tn_options_take(&batch, sizeof(batch), given, "struct tn_augment_batch",
					   OPERATION, error);
	if (status)
		return status;
	const struct tn_augment_images images = {.channels = batch.channels,
						 .height = batch.height,
						 .width = batch.width,
						 .n_classes = batch.targets ? batch.n_classes : 0,
						 .mean = batch.mean,
						 .deviation = batch.deviation};
	status = tn_augment_plan_take(&plan, options, &images, error);
	if (!status && batch.n && !batch.images)
		status = tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				 "images: expected %u pictures, found NULL", batch.n);
	for (uint32_t i = 0; i < batch.n && !status; i++) {
		uint64_t number = batch.numbers ? batch.numbers[i] : batch.index + i;
		if (number > UINT32_MAX)
			status = tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
					 "picture %u: expected a number below 2^32, found %llu", i,
					 (unsigned long long)number);
	}
	if (status)
		return status;
	float *scratch = tn_mem_zeroed(tn_augment_scratch(&plan), sizeof(*scratch));
	if (!scratch)
		return tn_no_memory(error, OPERATION, NULL, "a picture");
	size_t size = tn_augment_image_size(&plan);
	for (uint32_t i = 0; i < batch.n && plan.per_image; i++)
		tn_augment_image(&plan, batch.seed, batch.epoch,
				 batch.numbers ? batch.numbers[i] : batch.index + i,
				 batch.images + i * size, scratch);
	tn_augment_mix(&plan, batch.seed, batch.epoch, batch.index, batch.n, batch.images,
		       batch.targets, scratch);
	tn_mem_free(scratch);
	return TN_OK;
}
