/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every reader, writer and constructor of io and data with each of its allocations failing in turn,
 * alone and with all later ones: the call returns TN_OUT_OF_MEMORY with its name, the output is
 * unchanged, a file to be written keeps its old content, and (under a sanitizer) nothing leaks.  On
 * success the written file reads back.
 */
#include "config.h"

#include <tenon/augment.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/open.h"
#include "data/search.h"
#include "failing_memory.h"
#include "io_files.h"

#ifdef HAVE_LIBJPEG
#include "jpeg_make.h"
#endif

static const char *folder;
static tn_context *context; /* of one thread */

static const float numbers[4] = {1, 2, 3, 4};
static const int64_t shape[2] = {2, 2};

/* Longer than any writer's initial buffer, so that the buffer grows while writing. */
static const char remark[] = "a remark \"of some length\", as long as a path of a data set: "
			     "/srv/data/handwritten/digits/of/the/last/century";

static tn_status write_safetensors(struct tn_error_info *error)
{
	struct tn_tensor_source tensors[] = {
		{.name = "layer1.0.conv1.weight",
		 .dtype = TN_F32,
		 .rank = 2,
		 .shape = shape,
		 .data = numbers},
		{.name = "a", .dtype = TN_U8, .rank = 1, .shape = shape, .data = numbers}};
	struct tn_metadata_entry metadata[] = {{"k", remark}, {"l", ""}};
	return tn_safetensors_write(files_path(folder, "written"), tensors, 2, metadata, 2, error);
}

static tn_status open_tensors(const char *name, struct tn_error_info *error)
{
	tn_safetensors *file = NULL;
	float back[4] = {0};
	tn_status status = tn_safetensors_open(files_path(folder, name), &file, error);
	assert_true((status == TN_OK) == (file != NULL));
	if (status == TN_OK) {
		assert_string_equal(tn_safetensors_metadata(file, "k"), remark);
		assert_int_equal(tn_safetensors_count(file), 2);
		assert_ok(tn_safetensors_read(file, 0, back, sizeof(back), error));
		assert_memory_equal(back, numbers, sizeof(back));
	}
	tn_safetensors_close(file);
	return status;
}

static tn_status open_safetensors(struct tn_error_info *error)
{
	return open_tensors("x.safetensors", error);
}

static void check_safetensors(void)
{
	assert_ok(open_tensors("written", NULL));
}

static tn_status write_npy(struct tn_error_info *error)
{
	return tn_npy_write(files_path(folder, "written"), TN_F32, 2, shape, numbers, error);
}

static void check_npy(void)
{
	struct tn_host_array array = {0};
	assert_ok(tn_npy_read(files_path(folder, "written"), &array, NULL));
	assert_int_equal(array.size_bytes, sizeof(numbers));
	assert_memory_equal(array.data, numbers, sizeof(numbers));
	tn_host_array_release(&array);
}

static const struct tn_npz_array named[2] = {{"a long name, to grow", TN_F32, 2, shape, numbers},
					     {"b", TN_U8, 0, NULL, numbers}};

static tn_status write_npz(struct tn_error_info *error)
{
	return tn_npz_write(files_path(folder, "written"), named, 2, error);
}

static tn_status read_npz_named(const char *name, struct tn_error_info *error)
{
	tn_npz *file = NULL;
	struct tn_host_array array = {0};
	tn_status status = tn_npz_open(files_path(folder, name), &file, error);
	assert_true((status == TN_OK) == (file != NULL));
	if (status == TN_OK)
		status = tn_npz_read(file, named[0].name, &array, error);
	assert_true((status == TN_OK) == (array.data != NULL));
	if (status == TN_OK)
		assert_memory_equal(array.data, numbers, sizeof(numbers));
	tn_host_array_release(&array);
	tn_npz_close(file);
	return status;
}

static void check_npz(void)
{
	assert_ok(read_npz_named("written", NULL));
}

static tn_status read_npz(struct tn_error_info *error)
{
	return read_npz_named("x.npz", error);
}

static tn_status read_npy(struct tn_error_info *error)
{
	struct tn_host_array array = {0};
	tn_status status = tn_npy_read(files_path(folder, "columns.npy"), &array, error);
	assert_true((status == TN_OK) == (array.data != NULL));
	tn_host_array_release(&array);
	return status;
}

static tn_status read_idx_named(const char *name, struct tn_error_info *error)
{
	struct tn_host_array array = {0};
	tn_status status = tn_idx_read(files_path(folder, name), &array, error);
	assert_true((status == TN_OK) == (array.data != NULL));
	tn_host_array_release(&array);
	return status;
}

static tn_status read_idx(struct tn_error_info *error)
{
	return read_idx_named("t10k-images-idx3-ubyte", error);
}

static tn_status read_csv(struct tn_error_info *error)
{
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	struct tn_csv_options options = tn_csv_defaults();
	options.header = 1;
	options.label_name = "class";
	tn_status status = tn_csv_read(files_path(folder, "x.csv"), &options, &csv, error);
	assert_true((status == TN_OK) == (csv.values.data != NULL));
	assert_true((status == TN_OK) == (csv.labels.data != NULL));
	assert_true((status == TN_OK) == (csv.column_names && csv.class_names));
	tn_csv_release(&csv);
	return status;
}

static tn_status read_cifar(struct tn_error_info *error)
{
	struct tn_host_array images = {0}, coarse = {0}, fine = {0};
	tn_status status =
		tn_cifar100_read(files_path(folder, "cifar.bin"), &images, &coarse, &fine, error);
	assert_true((status == TN_OK) == (images.data && coarse.data && fine.data));
	tn_host_array_release(&images);
	tn_host_array_release(&coarse);
	tn_host_array_release(&fine);
	return status;
}

static tn_status read_picture(const char *name, struct tn_error_info *error)
{
	struct tn_image image = {0};
	tn_status status = tn_image_read(files_path(folder, name), &image, error);
	assert_true((status == TN_OK) == (image.data != NULL));
	tn_image_release(&image);
	return status;
}

static tn_status read_image(struct tn_error_info *error)
{
	return read_picture("x.ppm", error);
}

static tn_status change_image(struct tn_error_info *error)
{
	uint8_t pixels[4] = {1, 2, 3, 4};
	struct tn_image grey = {.width = 2, .height = 2, .channels = 1, .data = pixels};
	struct tn_image colour = {0}, small = {0};
	tn_status status = tn_image_convert(&grey, 3, 0, &colour, error);
	if (status == TN_OK)
		status = tn_image_resize(&colour, 1, 1, &small, error);
	assert_true((status == TN_OK) == (small.data != NULL));
	tn_image_release(&colour);
	tn_image_release(&small);
	return status;
}

#ifdef HAVE_ZLIB
static tn_status read_gzipped_idx(struct tn_error_info *error)
{
	return read_idx_named("images.gz", error);
}
#endif

#ifdef HAVE_LIBPNG
static tn_status write_png(struct tn_error_info *error)
{
	uint8_t pixels[4] = {1, 2, 3, 4};
	struct tn_image image = {.width = 2, .height = 2, .channels = 1, .data = pixels};
	return tn_image_write(files_path(folder, "written"), &image, error);
}

static void check_png(void)
{
	assert_ok(read_picture("written", NULL));
}

static tn_status read_png(struct tn_error_info *error)
{
	return read_picture("x.png", error);
}

static void texts_in_a_png_take_no_memory(void **state)
{
	(void)state;
	static const unsigned char text[] = "\0\0\0\x0dzTXtComment\0\0junk\1\2\3\4";
	unsigned char longer[4096];
	size_t size, to = 33, each = sizeof(text) - 1;
	unsigned char *bytes = files_read(files_path(folder, "x.png"), &size);
	memcpy(longer, bytes, 33); /* signature and header */
	for (int i = 0; i < 100; i++, to += each)
		memcpy(longer + to, text, each);
	memcpy(longer + to, bytes + 33, size - 33);
	free(bytes);
	files_write(files_path(folder, "texts.png"), longer, to + size - 33);
	memory_fails_at(1000000, 0);
	assert_ok(read_picture("x.png", NULL));
	memory_works();
	long plain = failing_memory.counted;
	memory_fails_at(1000000, 0);
	assert_ok(read_picture("texts.png", NULL));
	memory_works();
	assert_int_equal(failing_memory.counted, plain);
}
#endif

static const struct tn_input_format format = {.struct_size = sizeof(format),
					      .channels = 1,
					      .height = 5,
					      .width = 5,
					      .source_height = 5,
					      .source_width = 5,
					      .zoom = 1,
					      .scale = 255,
					      .deviation = {1},
					      .n_classes = 2};

#ifdef HAVE_LIBJPEG
static tn_status read_jpeg(struct tn_error_info *error)
{
	return read_picture("x.jpg", error);
}
#endif

static tn_status feed_image(struct tn_error_info *error)
{
	uint8_t pixels[4] = {1, 2, 3, 4};
	float out[25];
	struct tn_image image = {.width = 2, .height = 2, .channels = 1, .data = pixels};
	return tn_input_format_apply(&format, &image, 1, out, error);
}

static tn_status print_format(struct tn_error_info *error)
{
	char *text = tn_input_format_text(&format);
	if (!text)
		return tn_fail(error, TN_OUT_OF_MEMORY, "text", "no memory");
	tn_string_free(text);
	return TN_OK;
}

static tn_status parse_format(struct tn_error_info *error)
{
	struct tn_input_format back = tn_input_format_defaults();
	char *text = tn_input_format_text(&format);
	if (!text)
		return tn_fail(error, TN_OUT_OF_MEMORY, "text", "no memory");
	tn_status status = tn_input_format_parse(text, &back, error);
	if (status == TN_OK)
		assert_memory_equal(&format, &back, sizeof(back));
	tn_string_free(text);
	return status;
}

static tn_status open_folder(struct tn_error_info *error)
{
	tn_dataset *dataset = NULL;
	tn_status status = tn_dataset_load(folder, NULL, NULL, &dataset, error);
	assert_true((status == TN_OK) == (dataset != NULL));
	tn_dataset_destroy(dataset);
	return status;
}

/* A data set of FOLDER/name, and its first sample. */
static tn_status open_named(const char *name, const struct tn_dataset_options *options,
			    struct tn_error_info *error)
{
	tn_dataset *dataset = NULL;
	struct tn_image picture = {0};
	tn_status status =
		tn_dataset_load(files_path(folder, name), options, NULL, &dataset, error);
	assert_true((status == TN_OK) == (dataset != NULL));
	if (status == TN_OK && tn_dataset_format(dataset))
		status = tn_dataset_picture(dataset, TN_PART_TRAIN, 0, &picture, error);
	tn_image_release(&picture);
	tn_dataset_destroy(dataset);
	return status;
}

static tn_status open_npz(struct tn_error_info *error)
{
	return open_named("set.npz", NULL, error);
}

static tn_status open_tensors_npz(struct tn_error_info *error)
{
	return open_named("tensors.npz", NULL, error);
}

static tn_status open_csv(struct tn_error_info *error)
{
	return open_named("x.csv", NULL, error);
}

static tn_status open_regression(struct tn_error_info *error)
{
	struct tn_dataset_options options = tn_dataset_defaults();
	options.regression = 1;
	return open_named("y.csv", &options, error);
}

static tn_status open_classes(struct tn_error_info *error)
{
	return open_named("by-class", NULL, error);
}

static tn_status open_cifar(struct tn_error_info *error)
{
	return open_named("cifar-100", NULL, error);
}

#ifdef HAVE_ZLIB
static tn_status open_digits(struct tn_error_info *error)
{
	const char *source = getenv("TENON_SOURCE");
	tn_dataset *dataset = NULL;
	tn_status status = tn_dataset_load("digits", NULL, source ? source : ".", &dataset, error);
	assert_true((status == TN_OK) == (dataset != NULL));
	tn_dataset_destroy(dataset);
	return status;
}
#endif

static tn_status make_loader(struct tn_error_info *error)
{
	static const uint8_t images[2] = {1, 2};
	static const int32_t labels[2] = {0, 1};
	static const char *const names[2] = {"one", "two"};
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = 1;
	source.width = 1;
	source.images = images;
	source.labels = labels;
	source.n_images = 2;
	source.n_classes = 2;
	source.class_names = names;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	tn_dataset *dataset = NULL;
	tn_data_loader *loader = NULL;
	tn_status status = tn_dataset_create(&source, &dataset, error);
	if (status == TN_OK)
		status = tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, error);
	assert_true((status == TN_OK) == (loader != NULL));
	struct tn_image picture = {0};
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	if (status == TN_OK)
		status = tn_data_loader_next(loader, &batch, error);
	if (status == TN_OK)
		status = tn_dataset_picture(dataset, TN_PART_TRAIN, 0, &picture, error);
	tn_image_release(&picture);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	return status;
}

static tn_status augment(struct tn_error_info *error)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.max_shift = 1;
	options.mixup_prob = 1;
	float images[2 * 4] = {0}, targets[2 * 3] = {1, 0, 0, 0, 0, 1};
	struct tn_augment_batch batch = {.struct_size = sizeof(batch),
					 .n = 2,
					 .channels = 1,
					 .height = 2,
					 .width = 2,
					 .n_classes = 3,
					 .images = images,
					 .targets = targets};
	return tn_augment(&options, &batch, error);
}

static tn_status load_fields(struct tn_error_info *error)
{
	static const float x[3] = {1, 2, 3};
	static const int64_t y[3] = {2, 1, 2};
	static const struct tn_field fields[2] = {{.dtype = TN_F32, .rank = 1, .shape = {1}},
						  {.name = "target", .dtype = TN_I64}};
	static const char *const names[3] = {"zero", "one", "two"};
	static const uint8_t parts[3] = {TN_PART_TRAIN, TN_PART_TRAIN, TN_PART_TEST};
	const void *const data[2] = {x, y};
	struct tn_dataset_fields source = {.struct_size = sizeof(source),
					   .n_fields = 2,
					   .fields = fields,
					   .n = 3,
					   .data = data,
					   .stratify = 2,
					   .validation_fraction = 0.5,
					   .n_classes = 3,
					   .class_names = names};
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 2;
	options.weights = (const double[]){1, 2};
	options.context = context;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_dataset *evenly = NULL, *dataset = NULL, *fold = NULL;
	tn_data_loader *loader = NULL;
	tn_status status = tn_dataset_from_fields(&source, &evenly, error);
	assert_true((status == TN_OK) == (evenly != NULL));
	source.parts = parts;
	source.validation_fraction = 0;
	if (status == TN_OK)
		status = tn_dataset_from_fields(&source, &dataset, error);
	if (status == TN_OK)
		status = tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, error);
	if (status == TN_OK)
		status = tn_data_loader_next(loader, &batch, error);
	assert_true((status == TN_OK) == (batch.n == 2));
	if (status == TN_OK) {
		struct tn_fold_options fold_options = tn_fold_defaults();
		fold_options.n_folds = 2;
		fold_options.stratify = 2;
		status = tn_dataset_fold(evenly, &fold_options, &fold, error);
	}
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(fold);
	tn_dataset_destroy(dataset);
	tn_dataset_destroy(evenly);
	return status;
}

/* `check` reads back what a writer wrote to FOLDER/written. */
static const struct {
	const char *name;
	tn_status (*run)(struct tn_error_info *error);
	void (*check)(void);
} subjects[] = {
	{"write safetensors", write_safetensors, check_safetensors},
	{"open safetensors", open_safetensors, NULL},
	{"write NPY", write_npy, check_npy},
	{"read NPY", read_npy, NULL},
	{"read IDX", read_idx, NULL},
	{"write NPZ", write_npz, check_npz},
	{"read NPZ", read_npz, NULL},
	{"read CSV", read_csv, NULL},
	{"read CIFAR", read_cifar, NULL},
	{"read an image", read_image, NULL},
	{"change an image", change_image, NULL},
	{"feed an image", feed_image, NULL},
	{"print a format", print_format, NULL},
	{"parse a format", parse_format, NULL},
	{"open a folder", open_folder, NULL},
	{"open pictures of an NPZ file", open_npz, NULL},
	{"open tensors of an NPZ file", open_tensors_npz, NULL},
	{"open a CSV file", open_csv, NULL},
	{"open a CSV file for regression", open_regression, NULL},
	{"open pictures by class", open_classes, NULL},
	{"open CIFAR-100", open_cifar, NULL},
#ifdef HAVE_ZLIB
	{"read gzipped IDX", read_gzipped_idx, NULL},
	{"open the digits", open_digits, NULL},
#endif
#ifdef HAVE_LIBPNG
	{"write PNG", write_png, check_png},
	{"read PNG", read_png, NULL},
#endif
#ifdef HAVE_LIBJPEG
	{"read JPEG", read_jpeg, NULL},
#endif
	{"make a loader", make_loader, NULL},
	{"load fields", load_fields, NULL},
	{"augment", augment, NULL},
};

#ifdef HAVE_LIBJPEG
static void make_jpeg(void)
{
	static const unsigned char grey[64] = {1, 2, 3};
	const struct jpeg_kind kind = {.width = 8, .height = 8, .given = JCS_GRAYSCALE};
	size_t size;
	unsigned char *bytes = jpeg_make(&kind, grey, &size);
	files_write(files_path(folder, "x.jpg"), bytes, size);
	free(bytes);
}
#endif

/* What remove_sets removes. */
static const char *const sets[] = {"by-class/a/1.ppm",   "cifar-100/train.bin",
				   "cifar-100/test.bin", "by-class/a",
				   "by-class",           "cifar-100"};
enum { N_SETS = sizeof(sets) / sizeof(sets[0]) };

static void make_sets(const unsigned char *record)
{
	static const int64_t of_pixels[] = {2, 1, 2, 2}, two[] = {2};
	static const uint8_t classes[] = {0, 1};
	const struct tn_npz_array pictures[] = {
		{"x_train", TN_U8, 4, of_pixels, numbers},
		{"y_train", TN_U8, 1, two, classes},
		{"x_test", TN_U8, 4, of_pixels, numbers},
		{"y_test", TN_U8, 1, two, classes},
	};
	const struct tn_npz_array tensors[] = {
		{"x", TN_F32, 2, shape, numbers},
		{"y", TN_F32, 1, two, numbers},
	};
	assert_ok(tn_npz_write(files_path(folder, "set.npz"), pictures, 4, NULL));
	assert_ok(tn_npz_write(files_path(folder, "tensors.npz"), tensors, 2, NULL));
	for (int i = N_SETS - 1; i >= 3; i--)
		assert_int_equal(mkdir(files_path(folder, sets[i]), 0700), 0);
	files_write(files_path(folder, sets[0]), "P6 1 1 255\nabc", 14);
	files_write(files_path(folder, sets[1]), record, 3074);
	files_write(files_path(folder, sets[2]), record, 3074);
}

static void remove_sets(void)
{
	for (int i = 0; i < N_SETS; i++)
		assert_int_equal(remove(files_path(folder, sets[i])), 0);
}

static void make_files(void)
{
	static const char header[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n";
	static const struct {
		const char *name;
		const char *bytes;
		size_t size;
	} idx[4] = {
		{"train-images-idx3-ubyte", "\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\1ab", 18},
		{"train-labels.idx1-ubyte", "\0\0\x08\1\0\0\0\2\0\1", 10},
		{"t10k-images-idx3-ubyte", "\0\0\x08\3\0\0\0\1\0\0\0\1\0\0\0\1c", 17},
		{"t10k-labels-idx1-ubyte", "\0\0\x08\1\0\0\0\1\1", 9},
	};
	char npy[128] = "\x93NUMPY\1";
	npy[8] = sizeof(header) - 1;
	memcpy(npy + 10, header, sizeof(header));
	files_write(files_path(folder, "columns.npy"), npy, 10 + sizeof(header) - 1 + 8);
	files_write(files_path(folder, "x.ppm"), "P6 1 1 255\nabc", 14);
	for (int i = 0; i < 4; i++)
		files_write(files_path(folder, idx[i].name), idx[i].bytes, idx[i].size);
	files_write_gzipped(files_path(folder, "images.gz"), idx[0].bytes, idx[0].size);
	assert_ok(tn_npz_write(files_path(folder, "x.npz"), named, 2, NULL));
	static const unsigned char record[3074];
	files_write(files_path(folder, "cifar.bin"), record, sizeof(record));
	files_write(files_path(folder, "x.csv"), "a,class\n3,x\n-4,y\n", 17);
	files_write(files_path(folder, "y.csv"), "a,b\n3,1\n-4,2\n", 13);
	make_sets(record);
	assert_ok(write_safetensors(NULL));
	assert_int_equal(rename(files_path(folder, "written"), files_path(folder, "x.safetensors")),
			 0);
#ifdef HAVE_LIBJPEG
	make_jpeg();
#endif
#ifdef HAVE_LIBPNG
	assert_ok(write_png(NULL));
	assert_int_equal(rename(files_path(folder, "written"), files_path(folder, "x.png")), 0);
#endif
}

/* The file of a writer is unchanged. */
static void check_old(void)
{
	size_t size;
	unsigned char *bytes = files_read(files_path(folder, "written"), &size);
	assert_int_equal(size, 3);
	assert_memory_equal(bytes, "old", 3);
	free(bytes);
}

/* Makes allocation n fail.  0 if there are fewer. */
static int run_with_failure(size_t subject, long n, int forever)
{
	struct tn_error_info error;
	tn_error_reset(&error);
	files_write(files_path(folder, "written"), "old", 3);
	int files = files_count(folder);
	memory_fails_at(n, forever);
	tn_status status = subjects[subject].run(&error);
	long failed = memory_works();
	assert_int_equal(files_count(folder), files);
	if (status != (failed ? TN_OUT_OF_MEMORY : TN_OK) ||
	    (failed && (!error.operation[0] || !error.text[0])))
		fail_msg("%s, allocation %ld: %s: \"%s\"", subjects[subject].name, n,
			 tn_status_name(status), error.text);
	if (failed)
		check_old();
	else if (subjects[subject].check)
		subjects[subject].check();
	return failed != 0;
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		for (int forever = 0; forever < 2; forever++) {
			long n = 0;
			while (run_with_failure(i, n, forever))
				n++;
			assert_true(n > 0);
		}
	}
}

static int make_folder(void **state)
{
	(void)state;
	folder = files_folder();
	make_files();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	options.n_threads = 1;
	assert_ok(tn_context_open(&options, &context, NULL));
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	tn_context_close(context);
	remove_sets();
	files_remove(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_may_fail),
#ifdef HAVE_LIBPNG
		cmocka_unit_test(texts_in_a_png_take_no_memory),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
