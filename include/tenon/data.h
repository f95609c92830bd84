/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Labelled images on the host, and batches of them.
 *
 *     tn_dataset *digits;
 *     tn_data_loader *loader;
 *     const struct tn_data_loader_options *options =
 *             TN_OPTIONS(struct tn_data_loader_options, .batch_size = 64);
 *     static float images[64 * 28 * 28];
 *     int32_t labels[64];
 *     uint32_t n;
 *     if (tn_dataset_open("digits", NULL, &digits, &error) ||
 *         tn_data_loader_create(digits, TN_PART_TRAIN, options, &loader, &error))
 *             return error.status;
 *     while (tn_data_loader_next(loader, images, labels, &n, &error) == TN_OK && n > 0)
 *             printf("%u images, the first of class %d\n", n, labels[0]);
 *
 * A data set is immutable once made and may be used from many threads; a loader is used by one
 * thread at a time.  Nothing here touches a device or a context.
 *
 * Everything is a function of the files, the options and the seed alone: parts do not depend on
 * the seed, the order of an epoch depends on (seed, epoch), an augmentation on (seed, epoch, image).
 * So a position {epoch, index} is all that a checkpoint needs to go on with the same batches.
 */
#ifndef TENON_DATA_H
#define TENON_DATA_H

#include <tenon/backend.h>
#include <tenon/export.h>
#include <tenon/io.h>
#include <tenon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a network is fed --------------------------------------------------------------------*/

#define TN_MAX_CHANNELS 4

/* How a stored picture becomes a network's input.  A value v of channel c is fed as
 *     (v / scale - mean[c]) / deviation[c]
 * A picture of source_height x source_width is first enlarged `zoom` times (each pixel repeated),
 * then given `border` pixels of 0 on every side: height = source_height * zoom + 2 * border.
 * It is saved with a network (tn_input_format_text), so that prediction prepares what training saw. */
struct tn_input_format {
	uint32_t struct_size;
	uint32_t channels; /* 1 to TN_MAX_CHANNELS */
	uint32_t height;   /* as fed */
	uint32_t width;
	uint32_t source_height; /* as stored */
	uint32_t source_width;
	uint32_t zoom; /* 1: as stored */
	uint32_t border;
	float scale; /* the value of full white: 255, 16 for the digits */
	float mean[TN_MAX_CHANNELS];
	float deviation[TN_MAX_CHANNELS];
	uint32_t n_classes;
};

/* One line of JSON that tn_input_format_parse reads back to the same struct, every bit of it.
 * Owned: free with tn_data_text_free.  NULL: out of memory.  [thread: any | since 0.1] */
TN_API char *tn_input_format_text(const struct tn_input_format *format);
TN_API void tn_data_text_free(char *text); /* takes NULL */

/* Reads such a line; *format is written only on success.  TN_FORMAT: not such a line, or one whose
 * numbers contradict each other; the text names the key.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_input_format_parse(const char *text, struct tn_input_format *format,
						  struct tn_error_info *error);

/* Turns any picture (0 to 255) into one input.  Its channels become the format's, alpha composed over
 * black; with `invert` not 0 (dark on light) over white, and every value v then becomes 255 - v.  A
 * picture of source size is zoomed and bordered as the training data was; any other is resized to
 * height x width.  Then (v / 255 - mean) / deviation.  `out` takes channels * height * width numbers,
 * (channels, height, width), written only on success.
 * TN_UNSUPPORTED: a format of other than 1 or 3 channels.  TN_OUT_OF_MEMORY.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_input_format_apply(const struct tn_input_format *format,
						  const struct tn_image *image, int invert,
						  float *out, struct tn_error_info *error);

/* ---- Data sets --------------------------------------------------------------------------------*/

/* Labelled images, and which of them belong to which part. */
typedef struct tn_dataset tn_dataset;

enum {
	TN_PART_TRAIN = 0,
	TN_PART_VALIDATION = 1,
	TN_PART_TEST = 2,
	TN_N_PARTS = 3,
};

/* NULL in place of the struct, or zeros in it but for struct_size (TN_OPTIONS), mean the defaults. */
struct tn_dataset_options {
	uint32_t struct_size;
	uint32_t digits_as_stored;  /* 1: digits as 8 x 8; default: shown as 28 x 28 */
	double validation_fraction; /* of the training part, kept for validation: 0 to 1 */
	/* Whose mean and deviation pictures are fed with: a network's, when it is tested on a data set
	 * that it was not trained on.  Borrowed for the call.  NULL: those of the training part. */
	const struct tn_input_format *normalise_as;
};

/* Loads a data set by name, or from a folder.
 *
 * A name with a '/' is a folder.  Any other is looked up as the folder data/NAME under
 * $TENON_DATA_DIR (or, where that is not set, where Tenon's data is installed), then as
 * /usr/share/datasets/NAME, then as ./NAME.  A folder holds
 *   digits.csv.gz or digits.csv   rows of 64 values from 0 to 16 and a label from 0 to 9 (the UCI
 *                        handwritten digits).  Enlarged three times to 24 x 24 and bordered with
 *                        zeros to 28 x 28, unless options say as stored.  Its test part is a fifth
 *                        of each class; or
 *   the four IDX files   train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
 *                        t10k-labels-idx1-ubyte, each plain or with .gz, with a dot or a dash
 *                        before "idx".  t10k is the test part.  The classes are those that the
 *                        training labels number without a gap from 0 or 1.
 * A part that is split off (test of the digits, validation) takes images evenly from each class in
 * file order: image k of its class, counted from 0, when floor((k + 1) p + 1/2) > floor(k p + 1/2),
 * p the fraction, to the nearest billionth (1/5 for the digits' test).  No seed is involved.
 * Mean and deviation are those of the training part, as fed, from exact integer sums, or those of
 * normalise_as.
 *
 * *out is owned (tn_dataset_destroy), written only on success.
 * TN_NOT_FOUND: the text lists where was looked, and the Debian package that has it, if any.
 * TN_INVALID_ARGUMENT: validation_fraction is not from 0 to 1, a mean of normalise_as is not finite
 * or a deviation not positive.  TN_SHAPE: images and labels differ in
 * number, train and test in size, or pictures and normalise_as in channels.  TN_FORMAT: a label
 * that is none of the training part's classes; and the errors of tn_idx_read.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_open(const char *name,
					    const struct tn_dataset_options *options,
					    tn_dataset **out, struct tn_error_info *error);

/* Images and labels from memory, for tn_dataset_create. */
struct tn_dataset_source {
	uint32_t struct_size;
	uint32_t channels;
	uint32_t height;
	uint32_t width;
	const char *name;
	const uint8_t *images; /* n_images x channels x height x width */
	const int32_t *labels; /* n_images, each from 0 to n_classes - 1 */
	uint64_t n_images;
	uint32_t n_classes;
	float scale;                    /* 0: 255 */
	double test_fraction;           /* 0 to 1; taken as tn_dataset_open takes its fifth */
	double validation_fraction;     /* 0 to 1, of what is not the test part */
	const char *const *class_names; /* n_classes, or NULL: "0", "1", ... */
};

/* Makes a data set of a copy of the caller's images.  *out is owned, written only on success.
 * TN_INVALID_ARGUMENT: no images, a label outside its range, more than TN_MAX_CHANNELS, fractions
 * outside 0 to 1.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_create(const struct tn_dataset_source *source,
					      tn_dataset **out, struct tn_error_info *error);

/* Frees a data set; loaders of it must be gone.  Takes NULL.  [thread: any | since 0.1] */
TN_API void tn_dataset_destroy(tn_dataset *dataset);

/* The name it was opened by, where its files are, and a sentence on its origin and licence ("" where
 * unknown).  Borrowed.  [thread: any | since 0.1] */
TN_API const char *tn_dataset_name(const tn_dataset *dataset);
TN_API const char *tn_dataset_path(const tn_dataset *dataset);
TN_API const char *tn_dataset_origin(const tn_dataset *dataset);

/* How its pictures are fed.  Borrowed.  [thread: any | since 0.1] */
TN_API const struct tn_input_format *tn_dataset_format(const tn_dataset *dataset);

/* The name of class `label`, NULL when there is no such class.  Borrowed. [thread: any | since 0.1] */
TN_API const char *tn_dataset_class_name(const tn_dataset *dataset, int32_t label);

/* The number of images of a part; 0 for an unknown part.  [thread: any | since 0.1] */
TN_API uint64_t tn_dataset_count(const tn_dataset *dataset, int part);

/* The bytes of image `index` of a part, (channels, height, width) as fed but not normalised, and its
 * label in *label (may be NULL).  NULL: no such image.  Borrowed.  [thread: any | since 0.1] */
TN_API const uint8_t *tn_dataset_image(const tn_dataset *dataset, int part, uint64_t index,
				       int32_t *label);

/* The same image as a picture to be looked at or saved: fed size, values brought to 0..255
 * (round(v * 255 / scale)), (height, width, channels).  *out is owned
 * (tn_image_release), written only on success.
 * TN_INVALID_ARGUMENT: no such image.  TN_OUT_OF_MEMORY.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_picture(const tn_dataset *dataset, int part, uint64_t index,
					       struct tn_image *out, struct tn_error_info *error);

/* ---- Batches ----------------------------------------------------------------------------------*/

/* Walks over one part of a data set. */
typedef struct tn_data_loader tn_data_loader;

struct tn_data_loader_options {
	uint32_t struct_size;
	uint32_t batch_size; /* at least 1 */
	uint64_t seed;
	uint32_t shuffle;   /* 1: a new order each epoch; 0: file order */
	uint32_t drop_last; /* 1: leave out a last batch that is short */
	uint32_t max_shift; /* move each image by up to this many pixels, zeros move in; 0: not */
	uint32_t flip;      /* 1: mirror each image left to right with probability 1/2 */
};

/* Where a loader stands: what tn_data_loader_next gives next. */
struct tn_data_position {
	uint64_t epoch; /* from 0 */
	uint64_t index; /* images of this epoch already given */
};

/* Makes a loader at {0, 0}.  `dataset` is borrowed until the loader is destroyed; *out is owned,
 * written only on success.
 * TN_INVALID_ARGUMENT: batch_size 0, an unknown part; max_shift not below height and width.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_data_loader_create(const tn_dataset *dataset, int part,
						  const struct tn_data_loader_options *options,
						  tn_data_loader **out,
						  struct tn_error_info *error);

/* Takes NULL.  [thread: one per loader | since 0.1] */
TN_API void tn_data_loader_destroy(tn_data_loader *loader);

/* Batches of one epoch.  [thread: one per loader | since 0.1] */
TN_API uint64_t tn_data_loader_batches(const tn_data_loader *loader);

/* Gives the next batch: *n images (at most batch_size) as (n, channels, height, width) normalised
 * numbers, and n labels.  *n = 0 marks the end of an epoch, nothing is written, and the next call
 * begins the next one.  [thread: one per loader | since 0.1] */
TN_API TN_CHECKED tn_status tn_data_loader_next(tn_data_loader *loader, float *images,
						int32_t *labels, uint32_t *n,
						struct tn_error_info *error);

/* The number within the part (as in tn_dataset_image) of image `index` of the current epoch's
 * order; UINT64_MAX when there is no such image.  [thread: one per loader | since 0.1] */
TN_API uint64_t tn_data_loader_image(tn_data_loader *loader, uint64_t index);

/* Reads and sets the position.  Seeking to index 0 of any epoch, or to a multiple of batch_size,
 * continues exactly as an uninterrupted loader would.
 * TN_INVALID_ARGUMENT: index beyond the part.  [thread: one per loader | since 0.1] */
TN_API struct tn_data_position tn_data_loader_position(const tn_data_loader *loader);
TN_API TN_CHECKED tn_status tn_data_loader_seek(tn_data_loader *loader,
						struct tn_data_position position,
						struct tn_error_info *error);

#ifdef __cplusplus
}
#endif
#endif
