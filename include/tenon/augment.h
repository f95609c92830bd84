/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Augmentation: random variations of training pictures, in a data loader (<tenon/data.h>) or by a
 * call.
 *
 *     tn_dataset *dataset;
 *     tn_data_loader *loader;
 *     struct tn_data_loader_options options = tn_data_loader_defaults();
 *     options.batch_size = 128;
 *     options.shuffle = 1;
 *     if (tn_dataset_open("digits", NULL, &dataset, &error))
 *             return error.status;
 *     options.augmentation = tn_dataset_augmentation(dataset);
 *     if (tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error))
 *             return error.status;
 *
 * What happens to a picture is determined by options, seed, epoch and the picture's number: it is
 * the same on every machine, with any number of threads and in any order.  Each option draws from
 * random numbers of its own, so that switching one on does not change what the others draw.
 */
#ifndef TENON_AUGMENT_H
#define TENON_AUGMENT_H

#include <math.h>
#include <string.h>

#include <tenon/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What lies beyond the border of a picture. */
enum {
	TN_PADDING_CONSTANT = 0,  /* black: the stored value 0 */
	TN_PADDING_EDGE = 1,      /* the nearest pixel */
	TN_PADDING_REFLECT = 2,   /* mirrored, without the edge: d c b | a b c d | c b a */
	TN_PADDING_SYMMETRIC = 3, /* mirrored, with the edge:    c b a | a b c d | d c b */
};

/* The defaults change nothing.  The options are applied in this order:
 *   resized_crop
 *   hflip_prob, vflip_prob, crop_padding, max_shift, roll
 *   rotate_deg
 *   brightness, contrast, saturation, hue, in a random order
 *   noise_std
 *   cutout_prob
 *   randaugment_layers
 *   cutmix_prob, mixup_prob, between the pictures of a batch */
struct tn_augmentation {
	uint32_t struct_size;

	/* Moves by whole pixels. */
	uint32_t max_shift;    /* shift by up to this many pixels; from outside comes black */
	uint32_t roll;         /* shift by up to this many pixels; what leaves comes in opposite */
	uint32_t crop_padding; /* pad every side by this many pixels, crop to the former size */
	uint32_t crop_mode;    /* TN_PADDING_...: what crop_padding pads with */

	/* Crop an area of random size, shape and place, and resize it to the whole picture,
	 * bilinearly. */
	int resized_crop;     /* 1: do so */
	int rotate_bilinear;  /* 1: interpolate; 0: nearest pixel */
	uint32_t rotate_mode; /* TN_PADDING_...: what comes in from outside */
	uint32_t cutout_size; /* side of the square; default 4 */

	/* RandAugment: as many operations in turn, of rotate, shift_x, shift_y, flip_lr, flip_ud,
	 * noise and cutout, of a magnitude from 0 (none) to 1. */
	uint32_t randaugment_layers;
	double randaugment_magnitude;

	double resized_crop_scale[2]; /* the range of the area, of the whole; default 0.08 to 1 */
	double resized_crop_ratio[2]; /* the range of width / height; default 3/4 to 4/3 */
	double hflip_prob;            /* mirror left to right */
	double vflip_prob;            /* mirror top to bottom */
	double rotate_deg;  /* rotate by up to this angle, at most 180, about the centre */
	double rotate_prob; /* default 0.5 */

	/* Colour, of values from 0 to 1: factors are drawn from max(0, 1 - v) to 1 + v. */
	double brightness;
	double contrast;
	double saturation;
	double hue; /* shift from -hue to hue, at most 0.5, of a whole turn */

	/* In the normalised values, whose mean over the data set is 0. */
	double noise_std;  /* add normal noise of this standard deviation to each value */
	double noise_prob; /* default 0.3 */
	/* Clip the values after noise to -noise_clip .. noise_clip; default INFINITY: do not. */
	double noise_clip;
	double cutout_prob; /* set a square at a random place to 0 */

	/* Between pictures, with soft targets. */
	double cutmix_prob;  /* replace a rectangle by that of another picture of the batch */
	double cutmix_alpha; /* the kept part is drawn from Beta(alpha, alpha); default 1 */
	double mixup_prob;   /* of pictures without CutMix: average with another one of the batch */
	double mixup_alpha;  /* default 1 */
};
static inline struct tn_augmentation tn_augmentation_defaults(void)
{
	struct tn_augmentation augmentation;
	memset(&augmentation, 0, sizeof(augmentation));
	augmentation.struct_size = sizeof(augmentation);
	augmentation.cutout_size = 4;
	augmentation.resized_crop_scale[0] = 0.08;
	augmentation.resized_crop_scale[1] = 1;
	augmentation.resized_crop_ratio[0] = 3.0 / 4.0;
	augmentation.resized_crop_ratio[1] = 4.0 / 3.0;
	augmentation.rotate_prob = 0.5;
	augmentation.noise_prob = 0.3;
	augmentation.noise_clip = INFINITY;
	augmentation.cutmix_alpha = 1;
	augmentation.mixup_alpha = 1;
	return augmentation;
}

/* A batch for tn_augment. */
struct tn_augment_batch {
	uint32_t struct_size;
	uint32_t n; /* pictures */
	uint32_t channels;
	uint32_t height;
	uint32_t width;
	uint32_t n_classes; /* of targets */
	/* Per channel: a value v of 0 to 1 is stored as (v - mean) / deviation.  Borrowed; NULL: 0
	 * and 1, the values are not normalised. */
	const float *mean;
	const float *deviation;
	uint64_t seed;
	uint64_t epoch;
	uint64_t index;          /* the position of the batch's first picture in the epoch */
	const uint64_t *numbers; /* each picture's, below 2^32; NULL: index, index + 1, ... */
	float *images;           /* (n, channels, height, width) */
	float *targets;          /* (n, n_classes), for example one-hot; NULL: none */
};
static inline struct tn_augment_batch tn_augment_batch_defaults(void)
{
	struct tn_augment_batch batch;
	memset(&batch, 0, sizeof(batch));
	batch.struct_size = sizeof(batch);
	return batch;
}

/* Augments a batch in place, as a data loader does.  Without cutmix_prob and mixup_prob, a picture
 * depends on seed, epoch and its number alone, and targets stay as they are.  With them, its
 * partner, its part of the picture and of the target depend on seed, epoch and position; the others
 * of the batch matter.  NULL options do nothing.
 * TN_INVALID_ARGUMENT: an option out of range, no images, a channel count outside 1 to
 * TN_MAX_CHANNELS, contrast, saturation or hue with channels other than 1 and 3, a mean not finite
 * or a deviation not positive, a number of 2^32 or more, CutMix or mixup without targets.
 * TN_LIMIT: a picture of 2^31 values or more.  TN_OUT_OF_MEMORY.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_augment(const struct tn_augmentation *options,
				       const struct tn_augment_batch *batch,
				       struct tn_error_info *error);

/* A sensible augmentation for a data set, from its name and format: characters are shifted, not
 * mirrored; clothes and small colour pictures are padded, cropped and mirrored; large colour
 * pictures are cropped, resized and mirrored.  NULL: it is not of pictures.  Static.
 * [thread: any | since 0.1] */
TN_API const struct tn_augmentation *tn_dataset_augmentation(const tn_dataset *dataset);

#ifdef __cplusplus
}
#endif
#endif
