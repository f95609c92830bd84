/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data sets on the host, and batches of them.
 *
 *     tn_dataset *digits;
 *     tn_data_loader *loader;
 *     struct tn_batch batch = {.struct_size = sizeof(batch)};
 *     struct tn_data_loader_options options = tn_data_loader_defaults();
 *     options.batch_size = 64;
 *     if (tn_dataset_open("digits", NULL, &digits, &error) ||
 *         tn_data_loader_create(digits, TN_PART_TRAIN, &options, &loader, &error))
 *             return error.status;
 *     while (tn_data_loader_next(loader, &batch, &error) == TN_OK && batch.n > 0)
 *             printf("%u images, the first of class %d\n", batch.n,
 *                    ((const int32_t *)batch.data[1])[0]);
 *
 * A data set is immutable, and many threads may use it; one thread at a time may use a loader.
 * NULL in place of one of them gives TN_INVALID_ARGUMENT, NULL or 0.
 *
 * All results are determined by the data, the options and the seed: parts do not depend on the
 * seed, the order of an epoch depends on (seed, epoch), an augmentation on (seed, epoch, sample).
 * A checkpoint therefore needs only a position {epoch, index} to continue with the same batches.
 */
#ifndef TENON_DATA_H
#define TENON_DATA_H

#include <string.h>

#include <tenon/context.h>
#include <tenon/export.h>
#include <tenon/io.h>
#include <tenon/text.h>
#include <tenon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input format -----------------------------------------------------------------------------*/

#define TN_MAX_CHANNELS 4

/* How a stored picture becomes an input of a network.  A value v of channel c becomes
 *     (v / scale - mean[c]) / deviation[c]
 * A picture of source_height x source_width is first enlarged `zoom` times (each pixel is
 * repeated), then given a border of `border` pixels of 0: height = source_height * zoom + 2 *
 * border.  With `resize`, of at least height and width, a picture of any size is instead resized so
 * that its shorter side is `resize` (with antialiasing, the bytes of torchvision's transforms), of
 * which the middle, height x width, is kept; source_height and source_width are then height and
 * width, zoom is 1, and border 0.  The format is saved with a network
 * (tn_input_format_text), so that prediction prepares pictures as training did. */
enum {
	TN_RESIZE_BILINEAR = 0,
	TN_RESIZE_BICUBIC = 1,
};
struct tn_input_format {
	uint32_t struct_size;
	uint32_t channels; /* 1 to TN_MAX_CHANNELS */
	uint32_t height;   /* of the input */
	uint32_t width;
	uint32_t source_height; /* as stored */
	uint32_t source_width;
	uint32_t zoom; /* default 1: as stored */
	uint32_t border;
	float scale; /* the value of full white; default 255; 16 for the digits */
	float mean[TN_MAX_CHANNELS];
	float deviation[TN_MAX_CHANNELS]; /* default 1 */
	uint32_t n_classes;
	uint32_t resize;        /* the shorter side before the middle is cut out; 0: as above */
	uint32_t interpolation; /* TN_RESIZE_..., of resize */
};
static inline struct tn_input_format tn_input_format_defaults(void)
{
	struct tn_input_format format;
	memset(&format, 0, sizeof(format));
	format.struct_size = sizeof(format);
	format.zoom = 1;
	format.scale = 255;
	for (int i = 0; i < TN_MAX_CHANNELS; i++)
		format.deviation[i] = 1;
	return format;
}

/* The preprocessing of ImageNet that torchvision's networks expect: 3 channels, resize 256, of
 * which 224 x 224, mean (0.485, 0.456, 0.406), deviation (0.229, 0.224, 0.225), and 1000 classes.
 * A caller may change these, and gives the result as normalise_as of a data set.  *format (its
 * struct_size first set by the caller) is written only on success.
 * TN_INVALID_ARGUMENT: no struct_size.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_input_format_imagenet(struct tn_input_format *format,
						     struct tn_error_info *error);

/* One line of JSON from which tn_input_format_parse restores the struct without loss.
 * Owned: free with tn_string_free.  NULL: out of memory, or format->struct_size breaks the rule
 * of options (<tenon/types.h>).  [thread: any | since 0.1] */
TN_API char *tn_input_format_text(const struct tn_input_format *format);

/* Reads such a line; *format (its struct_size first set by the caller) is written only on success.
 * TN_FORMAT: the line is not valid, or its numbers are inconsistent; the text names the key.
 * TN_INVALID_ARGUMENT: no struct_size.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_input_format_parse(const char *text, struct tn_input_format *format,
						  struct tn_error_info *error);

/* Converts any picture (0 to 255) to one input.  Its channels are converted to those of the format,
 * with alpha composed over black; if `invert` is not 0 (dark on light), over white, and every value
 * v then becomes 255 - v.  With `resize` its middle is cut out; else a picture of source size is
 * zoomed and bordered like the training data, and any other is resized to height x width
 * (tn_image_resize).  Then values become (v / 255 - mean) / deviation.  `out` receives channels *
 * height * width numbers, (channels, height, width), written only on success.
 * TN_INVALID_ARGUMENT: the format has no struct_size, `resize` is less than height or width, or
 * interpolation is not one of TN_RESIZE_....
 * TN_UNSUPPORTED: it is longer than this version's and not zero there, or has other than 1 or 3
 * channels.  TN_LIMIT: the resized picture is above the limits.  TN_OUT_OF_MEMORY.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_input_format_apply(const struct tn_input_format *format,
						  const struct tn_image *image, int invert,
						  float *out, struct tn_error_info *error);

/* ---- Data sets --------------------------------------------------------------------------------*/

/* n samples, and which of them belong to which part.  A sample has one or more fields: tensors of
 * the same dtypes and shapes in every sample.  Field 0 is the input of a network, field 1 its
 * target; others are for the program's own step.  A data set of labelled images has two fields:
 *     x  f32 (channels, height, width), stored as u8, normalised by its struct tn_input_format
 *     y  i32 (), the class */
typedef struct tn_dataset tn_dataset;

enum {
	TN_PART_TRAIN = 0,
	TN_PART_VALIDATION = 1,
	TN_PART_TEST = 2,
	TN_N_PARTS = 3,
};

/* The maximum number of fields. */
#define TN_MAX_FIELDS 8

/* One field of a sample.  It is an element of arrays and never grows. */
struct tn_field {
	const char *name; /* borrowed */
	tn_dtype dtype;
	int32_t rank;                   /* 0 to TN_MAX_RANK - 1: batches have an axis more */
	int64_t shape[TN_MAX_RANK - 1]; /* of one sample; lengths of at least 1 */
};

/* How to open a data set. */
struct tn_dataset_options {
	uint32_t struct_size;
	int digits_as_stored;       /* 1: digits as 8 x 8; 0: enlarged to 28 x 28 */
	double validation_fraction; /* of the training part, kept for validation: 0 to 1 */
	/* The format whose mean and deviation normalise pictures: that of a network, when it is
	 * tested on other data than it was trained on, or that of tn_input_format_imagenet.
	 * Folders of pictures by class are also resized, cut, and zoomed as it says.  Borrowed for
	 * the call.  NULL: those of the training part. */
	const struct tn_input_format *normalise_as;
	/* Of a data set without a test part of its own, the fraction that becomes one, 0 to 1,
	 * before validation_fraction. */
	double test_fraction;
	/* Of folders of pictures by class: the size to which pictures are resized, both or none (0:
	 * that of normalise_as, or else the first picture's), and 1 for grey or 3 for RGB (0: as
	 * normalise_as, or else RGB unless all pictures are grey). */
	uint32_t image_height;
	uint32_t image_width;
	uint32_t image_channels;
	/* Of a CSV file. */
	int regression;     /* 1: the target is a number; 0: it is the text of a class */
	int no_header;      /* 1: the first row has no names of columns; 0: it has, and numbers
			     * where the next row has numbers are an error (TN_FORMAT), unless
			     * they count the columns, labels that are numbers follow a text, or
			     * one of them is `target` */
	int32_t separator;  /* default ',' */
	const char *target; /* the name of its column; NULL: the last column */
	/* 1: a fraction of a part that the data set has is passed over; 0: it is an error. */
	int keep_own_parts;
	/* Of folders of pictures by class: resize the shorter side to this, and keep the middle,
	 * image_height x image_width (0: image_resize x image_resize).  0: as normalise_as, unless
	 * there is an image_height, to which a picture is then resized as a whole. */
	uint32_t image_resize;
	/* Of data sets of classes: their number, at least as many as there are; the classes that
	 * are added have no samples, and numbers for names.  0: as many as there are. */
	uint32_t n_classes;
	uint32_t image_interpolation; /* TN_RESIZE_..., of image_resize */
};
static inline struct tn_dataset_options tn_dataset_defaults(void)
{
	struct tn_dataset_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.separator = ',';
	return options;
}

/* Loads a data set by name, or from a folder or file.
 *
 * A name with a '/' is a folder or a file.  Any other is searched for as the folder data/NAME under
 * $TENON_DATA_DIR (or, if that is not set, in the folder of installed data), then as the folder
 * /usr/share/datasets/NAME, then as ./NAME, a folder or a file.  A folder contains, looked for in
 * this order,
 *   digits.csv.gz or digits.csv   rows of 64 values from 0 to 16 and a label from 0 to 9 (the UCI
 *                        handwritten digits).  Enlarged three times to 24 x 24 and bordered with
 *                        zeros to 28 x 28, unless digits_as_stored is set.  The test part is a
 *                        fifth of each class; or
 *   the four IDX files   train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
 *                        t10k-labels-idx1-ubyte, each plain or with .gz, with a dot or a dash
 *                        before "idx".  t10k is the test part.  The training labels define the
 *                        classes and must number them without a gap from 0 or 1; or
 *   CIFAR-10 or CIFAR-100, binary version   data_batch_1.bin to data_batch_5.bin and
 *                        test_batch.bin, or train.bin and test.bin (their fine labels); or
 *   x.npy and y.npy      or with _train, _val (or _valid) and _test after x and y, the three parts
 *                        (each part once); see below; or
 *   CLASS/NAME.png       folders of pictures by class (.png, .jpg, .jpeg, .pbm, .pgm, .ppm), or
 *                        such folders in train, val (valid, validation) and test, the three parts.
 *                        Classes are numbered in the order of the bytes of their names.  Pictures
 *                        in folders inside a class are of that class.  Names that begin with a dot
 *                        are left out, and other files, of which a line of the log tells.  Pictures
 *                        are read when their batch is loaded; one that cannot be read is an error
 *                        then.  Mean and deviation are those of at most 512 of them, evenly spread.
 * A file is an NPZ file with such arrays, or else a CSV file (tn_csv_read).
 *
 * Arrays: x has samples along its first axis, and so has y, which may be missing from all parts.
 * One integer for each sample in y is a class, from 0 to 65535; those of the training part number
 * the classes without a gap, unless n_classes is given.  Any other y is kept as it is.
 * Bytes of (n, height, width), (n, channels, height, width) or (n, height, width, channels) with
 * classes are labelled images, of at most TN_MAX_CHANNELS channels; any other x is kept as it is.
 *
 * CSV: field x is f32 (columns), of all columns but the target; y is i32 (), the class, whose
 * number is its place in the order of the bytes of the texts, or, with `regression`, f32 (1).
 * Numbers must be finite.
 *
 * A part that the data set lacks can be split off.  It then takes samples evenly from each class,
 * or from all if there are none, in file order: sample k of its class, counted from 0, if floor((k
 * + 1) p + 1/2) > floor(k p + 1/2), where p is the fraction, to the nearest billionth (1/5 for the
 * test part of the digits). No seed is involved.  Mean and deviation are those of the input values
 * of the training part, from exact integer sums, or those of normalise_as.
 *
 * *out is owned (tn_dataset_destroy), written only on success.
 * TN_NOT_FOUND: the text lists the places searched, and the Debian package that contains the data
 * set, if any.  TN_INVALID_ARGUMENT: a fraction is not from 0 to 1, or of a part that the data set
 * has, without keep_own_parts; a mean of normalise_as is not finite or a deviation not positive; an
 * option of another kind of data set, one of image_height and image_width alone, or above
 * image_resize, other image_channels; more classes than n_classes; no column `target`, or two.
 * TN_SHAPE: x and y (images and labels) differ in number, parts in the dtype or shape of a sample,
 * pictures and normalise_as in channels.
 * TN_FORMAT: a label is not one of the training part's classes; a class without pictures, or not of
 * train; also the errors of tn_idx_read, tn_npy_read, tn_npz_open, tn_csv_read, tn_cifar10_read and
 * tn_image_read.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_open(const char *name,
					    const struct tn_dataset_options *options,
					    tn_dataset **out, struct tn_error_info *error);

/* A data set known by name. */
struct tn_dataset_info {
	uint32_t struct_size;
	const char *name;
	const char *package; /* the Debian package that contains it; "": none */
	const char *origin;  /* a sentence on its origin and licence */
};

/* The data sets known by name, by index; NULL past the end.  Borrowed, always valid.
 * [thread: any | since 0.1] */
TN_API const struct tn_dataset_info *tn_dataset_at(size_t index);

/* The path of the folder or file that tn_dataset_open would read; *path is owned
 * (tn_string_free), written only on success.
 * TN_NOT_FOUND: as tn_dataset_open.  TN_INVALID_ARGUMENT: an empty name.  TN_OUT_OF_MEMORY.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_locate(const char *name, char **path,
					      struct tn_error_info *error);

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
	float scale;                    /* default 255 */
	double test_fraction;           /* 0 to 1; split off as in tn_dataset_open */
	double validation_fraction;     /* 0 to 1, of the images outside the test part */
	const char *const *class_names; /* n_classes, or NULL: "0", "1", ... */
	const uint8_t *parts;           /* TN_PART_... of each image; NULL: by the fractions */
	/* The format whose mean and deviation normalise the images.  NULL: those of the training
	 * part. */
	const struct tn_input_format *normalise_as;
};
static inline struct tn_dataset_source tn_dataset_source_defaults(void)
{
	struct tn_dataset_source source;
	memset(&source, 0, sizeof(source));
	source.struct_size = sizeof(source);
	source.scale = 255;
	return source;
}

/* Makes a data set from a copy of the caller's images.  *out is owned, written only on success.
 * TN_INVALID_ARGUMENT: no images, a label or a part outside its range, more than TN_MAX_CHANNELS; a
 * fraction outside 0 to 1, or of a part that `parts` has; a mean of normalise_as is not finite or a
 * deviation not positive.  TN_SHAPE: normalise_as has other channels.  TN_LIMIT: more than
 * TN_HOST_ARRAY_MAX_BYTES of images.  TN_OUT_OF_MEMORY.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_create(const struct tn_dataset_source *source,
					      tn_dataset **out, struct tn_error_info *error);

/* Samples of any fields, for tn_dataset_from_fields. */
struct tn_dataset_fields {
	uint32_t struct_size;
	uint32_t n_fields;             /* 1 to TN_MAX_FIELDS */
	const struct tn_field *fields; /* names NULL: "x", "y", "z2", "z3", ... */
	const char *name;              /* of the data set; NULL: "" */
	uint64_t n;                    /* samples, 1 to 2^32 - 1 */
	/* For each field the n values, dense and row-major, (n, shape); copied.  NULL: `read`. */
	const void *const *data;
	/* Writes the fields of sample `sample` (0 to n - 1) to the buffers whose pointers in
	 * `fields` are not NULL, as many bytes as a field has.  It is called from any thread, from
	 * several at once, and always gives the same bytes for the same number.  It fails with a
	 * status other than TN_OK and a text in *error. */
	tn_status (*read)(void *user, uint64_t sample, void *const *fields,
			  struct tn_error_info *error);
	void *user;
	const uint8_t *parts;       /* TN_PART_... of each sample; NULL: by the fractions */
	double test_fraction;       /* 0 to 1; split off evenly as in tn_dataset_open */
	double validation_fraction; /* 0 to 1, of the samples outside the test part */
	/* 1 + the number of a field, usually 2 for the target: a part that is split off takes
	 * samples evenly from each group of equal values (bytes) of that field.  0: from all. */
	uint32_t stratify;
	uint32_t n_classes;             /* 0: not of classes */
	const char *const *class_names; /* n_classes, or NULL: "0", "1", ... */
};
static inline struct tn_dataset_fields tn_dataset_fields_defaults(void)
{
	struct tn_dataset_fields fields;
	memset(&fields, 0, sizeof(fields));
	fields.struct_size = sizeof(fields);
	return fields;
}

/* Makes a data set of any tensors: from a copy of the caller's memory, or read by a function, whose
 * `user` must be valid until the data set is destroyed.  The values reach batches as they are.  If
 * n_classes is not 0, and field 1 is i32 of rank 0 and in memory, its values must be from 0 to
 * n_classes - 1.  For regression, n_classes is 0 and field 1 is for instance f32 (1); for several
 * labels at once it is f32 (n_classes) of 0 and 1, as tn_binary_cross_entropy_with_logits takes it.
 * *out is owned, written only on success.
 * TN_INVALID_ARGUMENT: a number, length, rank, fraction, label or part is outside its range, there
 * is a fraction of a part that `parts` has, or there is neither data nor read.  TN_DTYPE: a dtype
 * is not an element type.  TN_LIMIT: a sample, or a field in memory, has more than
 * TN_HOST_ARRAY_MAX_BYTES.  TN_OUT_OF_MEMORY; also what `read` returns, if it is called to
 * stratify.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_from_fields(const struct tn_dataset_fields *source,
						   tn_dataset **out, struct tn_error_info *error);

/* Cross-validation: which samples of a data set to validate on. */
struct tn_fold_options {
	uint32_t struct_size;
	uint32_t n_folds; /* at least 2, at most the number of samples */
	uint32_t fold;    /* the validation part: 0 to n_folds - 1 */
	/* 1 + the number of a field, 2 for labels: the samples of each group of equal values of
	 * that field are spread over the folds.  0: all alike. */
	uint32_t stratify;
	uint64_t seed; /* of the random order in which samples are dealt to the folds */
};
static inline struct tn_fold_options tn_fold_defaults(void)
{
	struct tn_fold_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* Makes a data set with the same samples, which the two share in memory: its validation part is one
 * fold of the training and validation parts of `dataset`, its training part the other folds; its
 * test part is the same.  The folds of one n_folds, stratify and seed do not overlap, and have
 * equal numbers of samples to within one, of each group too.  Images are normalised anew with mean
 * and deviation of the new training part, unless they were by normalise_as.  The data sets may be
 * destroyed in any order.  *out is owned, written only on success.
 * TN_INVALID_ARGUMENT: n_folds, fold or stratify is out of range.  TN_OUT_OF_MEMORY; also what
 * reading a sample returns.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_fold(const tn_dataset *dataset,
					    const struct tn_fold_options *options, tn_dataset **out,
					    struct tn_error_info *error);

/* Frees a data set, after its loaders.  Takes NULL.  [thread: any | since 0.1] */
TN_API void tn_dataset_destroy(tn_dataset *dataset);

/* The name it was opened by, the path of its files, and a sentence on its origin and licence ("" if
 * unknown).  Borrowed.  [thread: any | since 0.1] */
TN_API const char *tn_dataset_name(const tn_dataset *dataset);
TN_API const char *tn_dataset_path(const tn_dataset *dataset);
TN_API const char *tn_dataset_origin(const tn_dataset *dataset);

/* The number of fields, and field `index` as batches have it without augmentation; its name is
 * borrowed.
 * TN_INVALID_ARGUMENT: no such field.  [thread: any | since 0.1] */
TN_API uint32_t tn_dataset_field_count(const tn_dataset *dataset);
TN_API TN_CHECKED tn_status tn_dataset_field_at(const tn_dataset *dataset, uint32_t index,
						struct tn_field *field);

/* How its pictures are fed; NULL: it is not of images.  Borrowed.  [thread: any | since 0.1] */
TN_API const struct tn_input_format *tn_dataset_format(const tn_dataset *dataset);

/* The number of classes, 0: it is not of classes; and the name of class `label`, NULL if there is
 * none.  Borrowed.  [thread: any | since 0.1] */
TN_API uint32_t tn_dataset_class_count(const tn_dataset *dataset);
TN_API const char *tn_dataset_class_name(const tn_dataset *dataset, int32_t label);

/* The number of samples of a part; 0 for an unknown part.  [thread: any | since 0.1] */
TN_API uint64_t tn_dataset_count(const tn_dataset *dataset, int part);

/* The bytes of image `index` of a part, (channels, height, width) of the input, not normalised, and
 * its label in *label (may be NULL).  NULL: no such image, or images that are not in memory.
 * Borrowed.  [thread: any | since 0.1] */
TN_API const uint8_t *tn_dataset_image(const tn_dataset *dataset, int part, uint64_t index,
				       int32_t *label);

/* An image as a picture for display or saving: input size, values scaled to 0..255
 * (round(v * 255 / scale)), (height, width, channels).  *out is owned (tn_image_release), written
 * only on success.
 * TN_INVALID_ARGUMENT: no such image, or a data set that is not of images.  TN_OUT_OF_MEMORY.
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_dataset_picture(const tn_dataset *dataset, int part, uint64_t index,
					       struct tn_image *out, struct tn_error_info *error);

/* ---- Batches ----------------------------------------------------------------------------------*/

/* Iterates over one part of a data set. */
typedef struct tn_data_loader tn_data_loader;

/* One sample of a batch, for a function of the program.  `data` has a buffer for each field, whose
 * values it may change in place. */
struct tn_sample {
	uint32_t struct_size;
	uint32_t n_fields;
	const struct tn_field *fields;
	void *const *data;
	uint64_t seed; /* the loader's */
	uint64_t epoch;
	uint64_t number; /* within the part, as in tn_dataset_image */
	uint64_t draw;   /* what its random numbers depend on: number; with weights, the position */
};

struct tn_augmentation; /* <tenon/augment.h> */

struct tn_data_loader_options {
	uint32_t struct_size;
	uint32_t batch_size; /* at least 1 */
	uint64_t seed;
	int shuffle;   /* 1: a new order each epoch; 0: the data set's order */
	int drop_last; /* 1: omit a last batch that is smaller than the others */
	/* One for each sample of the part, of at least 0; copied.  An epoch then draws as many
	 * samples as the part has, with replacement, each with a probability in proportion to its
	 * weight, whether shuffle is 1 or 0.  NULL: each sample once. */
	const double *weights;
	/* Changes images randomly, see <tenon/augment.h>; copied.  NULL: as they are. */
	const struct tn_augmentation *augmentation;
	/* Called for each sample of a batch, last, but before CutMix and mixup, which take whole
	 * batches; NULL: not called.  It is called from any thread, from several at once, for each
	 * sample with buffers of its own.  To be reproducible it depends on its argument alone:
	 * tn_sample_random gives it random numbers.
	 * It fails with a status other than TN_OK and a text in *error. */
	tn_status (*transform)(void *user, struct tn_sample *sample, struct tn_error_info *error);
	void *user;
	/* Its threads load batches ahead (those of TENON_THREADS, besides its other work; with one
	 * thread batches are loaded when asked for), into memory that is pinned if its current
	 * device has such memory.  The loader is then made, used and destroyed as an object of the
	 * context, and before it is closed.  Batches are the same with any number of threads, and
	 * without.  NULL: batches are loaded when asked for. */
	tn_context *context;
	/* Batches loaded ahead with a context, at most 1024; default 2; 0: none. */
	uint32_t prefetch;
	/* The share of one of several ranks (tenon/distributed.h).  batch_size is then that of all
	 * ranks together, at least n_ranks, the order is the same on all of them, and of a batch of
	 * b samples this rank reads [b rank / n_ranks, b (rank + 1) / n_ranks): all ranks together
	 * read what a loader without ranks reads, but for CutMix and mixup, whose partners are of
	 * the same share.  Positions count the samples of all ranks. */
	uint32_t rank;
	uint32_t n_ranks; /* default 1 */
	/* What becomes of a last batch with fewer samples than ranks.
	 * 0: it is left out, so that all ranks have the same number of batches: to train.
	 * 1: each sample is read once; ranks without one have a batch less: to evaluate. */
	int uneven;
};
static inline struct tn_data_loader_options tn_data_loader_defaults(void)
{
	struct tn_data_loader_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.prefetch = 2;
	options.n_ranks = 1;
	return options;
}

/* A batch.  Pointers are borrowed, valid until the next call on the loader but
 * tn_data_loader_position, tn_data_loader_image, tn_data_loader_field_at and
 * tn_data_loader_batches. */
struct tn_batch {
	uint32_t struct_size;
	uint32_t n; /* samples; 0: the epoch is over, and the other members are as in the epoch */
	uint32_t n_fields;
	uint32_t n_global;             /* samples that all ranks have of this batch together */
	const struct tn_field *fields; /* of one sample */
	const void *const *data;       /* (n, shape) of each field, host memory */
	const uint64_t *samples;       /* their numbers within the part */
	uint64_t epoch;                /* the position of its first sample */
	uint64_t index;
};

/* The position of a loader: the sample that tn_data_loader_next returns next. */
struct tn_data_position {
	uint64_t epoch; /* from 0 */
	uint64_t index; /* samples of this epoch already returned */
};

/* Makes a loader at {0, 0}.  `dataset` is borrowed until the loader is destroyed; *out is owned,
 * written only on success.
 * TN_INVALID_ARGUMENT: batch_size 0 or below n_ranks, an unknown part; a rank that is not below
 * n_ranks; an augmentation out of range, or of a data set that is not of images; a prefetch above
 * 1024; a weight that is not finite or negative, or all of them 0.  TN_LIMIT: a field of a batch
 * has more than TN_HOST_ARRAY_MAX_BYTES.  TN_PENDING_ERROR: the context keeps an error.
 * TN_OUT_OF_MEMORY.  [thread: any; with a context one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_data_loader_create(const tn_dataset *dataset, int part,
						  const struct tn_data_loader_options *options,
						  tn_data_loader **out,
						  struct tn_error_info *error);

/* Word `i` of the random numbers of a sample, for a transform: uniform over all u32, a function of
 * the sample's seed, epoch and draw.  [thread: any | since 0.1] */
TN_API uint32_t tn_sample_random(const struct tn_sample *sample, uint32_t i);

/* Waits for threads that load, then frees it; before its context is closed.  Takes NULL.
 * [thread: one per loader | since 0.1] */
TN_API void tn_data_loader_destroy(tn_data_loader *loader);

/* The number of batches per epoch.  [thread: one per loader | since 0.1] */
TN_API uint64_t tn_data_loader_batches(const tn_data_loader *loader);

/* Field `index` as batches have it: that of the data set, unless an augmentation makes soft targets
 * of labels (<tenon/augment.h>).  Its name is borrowed from the data set.
 * TN_INVALID_ARGUMENT: no such field.  [thread: one per loader | since 0.1] */
TN_API TN_CHECKED tn_status tn_data_loader_field_at(const tn_data_loader *loader, uint32_t index,
						    struct tn_field *field);

/* Fills *batch (its struct_size first set by the caller) with the next batch: at most batch_size
 * samples.  A batch of n = 0 marks the end of an epoch, and the next call begins the next epoch.
 * On failure *batch is unchanged, the position stays, and the next call tries again.
 * TN_INVALID_ARGUMENT: no struct_size.  TN_FORKED: the loader has a context, and this is a child of
 * the process that made it.  Else what the data set's `read` or `transform` returned, for the first
 * sample of this batch that failed.  [thread: one per loader | since 0.1] */
TN_API TN_CHECKED tn_status tn_data_loader_next(tn_data_loader *loader, struct tn_batch *batch,
						struct tn_error_info *error);

/* The number within the part (as in tn_dataset_image) of sample `index` of the current epoch's
 * order; UINT64_MAX if there is no such sample.  [thread: one per loader | since 0.1] */
TN_API uint64_t tn_data_loader_image(tn_data_loader *loader, uint64_t index);

/* Reads and sets the position.  Seeking to index 0 of any epoch, or to a multiple of batch_size,
 * continues exactly as an uninterrupted loader would.
 * TN_INVALID_ARGUMENT: index beyond the part, an epoch of 2^62 or later.
 * [thread: one per loader | since 0.1] */
TN_API struct tn_data_position tn_data_loader_position(const tn_data_loader *loader);
TN_API TN_CHECKED tn_status tn_data_loader_seek(tn_data_loader *loader,
						struct tn_data_position position,
						struct tn_error_info *error);

#ifdef __cplusplus
}
#endif
#endif
