/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Folders of pictures by class as data sets.  The pictures are PGM and PPM, which need no library;
 * io_image.c and io_jpeg.c read the others. */
#include "config.h"

#include <ftw.h>
#include <tenon/context.h>
#include <tenon/data.h>

#include "base/error.h"
#include "io_files.h"

static const char *folder;

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type;
	return place->level == 0 ? 0 : remove(path);
}

static void clear(void)
{
	assert_int_equal(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void make(const char *name)
{
	assert_int_equal(mkdir(files_path(folder, name), 0700), 0);
}

/* A picture whose pixels are all `value`: grey, or of RGB. */
static void write_picture(const char *name, int width, int height, int channels, int value)
{
	char bytes[4096];
	int n = snprintf(bytes, sizeof(bytes), "P%d %d %d 255\n", channels == 1 ? 5 : 6, width,
			 height);
	memset(bytes + n, value, (size_t)(width * height * channels));
	files_write(files_path(folder, name), bytes, (size_t)(n + width * height * channels));
}

static void refused(const struct tn_dataset_options *options, tn_status expected, const char *part)
{
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	tn_error_reset(&error);
	assert_status(tn_dataset_open(folder, options, &dataset, &error), expected);
	assert_contains(error.text, part);
	assert_null(dataset);
}

static tn_dataset *open_set(const struct tn_dataset_options *options)
{
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	if (tn_dataset_open(folder, options, &dataset, &error))
		fail_msg("%s", error.text);
	return dataset;
}

static void write_pets(void)
{
	clear();
	make("dog");
	make("cat");
	make(".git");
	write_picture("dog/2.ppm", 4, 2, 3, 20);
	write_picture("dog/10.PPM", 4, 2, 3, 10);
	write_picture("dog/.hidden.ppm", 4, 2, 3, 99);
	write_picture("cat/a.pgm", 4, 2, 1, 30);
	files_write(files_path(folder, "cat/readme.txt"), "no picture", 10);
	files_write(files_path(folder, "list.txt"), "no folder", 9);
}

static void classes_and_pictures_are_in_the_order_of_their_names(void **state)
{
	(void)state;
	static const int expected[] = {30, 10, 20}, labels[] = {0, 1, 1};
	write_pets();
	tn_dataset *dataset = open_set(NULL);
	const struct tn_input_format *format = tn_dataset_format(dataset);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 3);
	assert_int_equal(format->n_classes, 2);
	assert_string_equal(tn_dataset_class_name(dataset, 0), "cat");
	assert_string_equal(tn_dataset_class_name(dataset, 1), "dog");
	/* RGB, of which the first picture, cat/a.pgm, is not; of its size. */
	assert_int_equal(format->channels, 3);
	assert_int_equal(format->height, 2);
	assert_int_equal(format->width, 4);
	assert_close(format->mean[0], 20.0 / 255, 1e-7);
	assert_close(format->deviation[0], sqrt(200.0 / 3) / 255, 1e-7);
	assert_null(tn_dataset_image(dataset, TN_PART_TRAIN, 0, NULL));
	for (uint64_t i = 0; i < 3; i++) {
		struct tn_image picture;
		assert_ok(tn_dataset_picture(dataset, TN_PART_TRAIN, i, &picture, NULL));
		for (int p = 0; p < 24; p++)
			assert_int_equal(picture.data[p], expected[i]);
		tn_image_release(&picture);
	}
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_data_loader *loader;
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = 8;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &loading, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, 3);
	assert_int_equal(batch.fields[0].dtype, TN_F32);
	assert_int_equal(batch.fields[0].rank, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(((const int32_t *)batch.data[1])[i], labels[i]);
		assert_close(((const float *)batch.data[0])[24 * i + 7],
			     ((double)expected[i] / 255 - (double)format->mean[0]) /
				     (double)format->deviation[0],
			     1e-6);
	}
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

/* Of many pictures 512 are decoded, evenly spread. */
static void statistics_are_those_of_the_whole_part(void **state)
{
	enum { N = 640, DARK = 520 };
	(void)state;
	clear();
	make("cat");
	make("dog");
	write_picture("dog/0.pgm", 1, 1, 1, 0);
	for (int i = 0; i < N - 1; i++) {
		char name[32];
		snprintf(name, sizeof(name), "cat/%03d.pgm", i);
		write_picture(name, 1, 1, 1, i < DARK ? 0 : 255);
	}
	tn_dataset *dataset = open_set(NULL);
	/* As evenly as 512 of 640 can be. */
	assert_close(tn_dataset_format(dataset)->mean[0], (double)(N - 1 - DARK) / N, 2.0 / 512);
	tn_dataset_destroy(dataset);
	clear();
	make("cat");
	make("dog");
	write_picture("cat/a.pgm", 1, 1, 1, 7);
	write_picture("dog/a.pgm", 1, 1, 1, 7);
	dataset = open_set(NULL);
	assert_close(tn_dataset_format(dataset)->mean[0], 7.0 / 255, 1e-7);
	assert_close(tn_dataset_format(dataset)->deviation[0], 1, 0);
	tn_dataset_destroy(dataset);
}

static void pictures_are_grey_if_all_are(void **state)
{
	(void)state;
	static const struct {
		int channels[3];
		uint32_t expected;
	} rows[] = {{{1, 1, 1}, 1}, {{1, 1, 3}, 3}, {{3, 1, 1}, 3}, {{3, 3, 3}, 3}};
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		clear();
		make("a");
		make("b");
		write_picture("a/1.ppm", 2, 2, rows[k].channels[0], 1);
		write_picture("a/2.ppm", 2, 2, rows[k].channels[1], 2);
		write_picture("b/3.ppm", 2, 2, rows[k].channels[2], 3);
		tn_dataset *dataset = open_set(NULL);
		assert_int_equal(tn_dataset_format(dataset)->channels, rows[k].expected);
		tn_dataset_destroy(dataset);
	}
}

static void folders_inside_a_class_are_walked_and_other_files_counted(void **state)
{
	(void)state;
	static const int expected[] = {30, 40, 50, 10, 20};
	write_pets();
	make("cat/deep");
	make("cat/deep/deeper");
	make("cat/.trash");
	make("dog/empty");
	write_picture("cat/deep/b.pgm", 4, 2, 1, 40);
	write_picture("cat/deep/deeper/a.pgm", 4, 2, 1, 50);
	write_picture("cat/.trash/a.pgm", 4, 2, 1, 60);
	assert_int_equal(symlink("../..", files_path(folder, "cat/deep/up")), 0);
	files_write(files_path(folder, "cat/deep/c.WEBP"), "", 0);
	files_write(files_path(folder, "dog/d.webp"), "", 0);
	files_write(files_path(folder, "dog/none"), "", 0);
	files_write(files_path(folder, "stray.png"), "", 0);
	int kept = files_listen(folder);
	tn_dataset *dataset = NULL;
	tn_status status = tn_dataset_open(folder, NULL, &dataset, NULL);
	char *told = files_told(folder, kept);
	assert_ok(status);
	assert_contains(told, "tenon: dataset: ");
	assert_contains(told,
			": 5 files are left out (of no class 1, .txt 1, .webp 2, no ending 1)\n");
	free(told);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 5);
	for (uint64_t i = 0; i < 5; i++) {
		struct tn_image picture;
		assert_ok(tn_dataset_picture(dataset, TN_PART_TRAIN, i, &picture, NULL));
		assert_int_equal(picture.data[0], expected[i]);
		tn_image_release(&picture);
	}
	tn_dataset_destroy(dataset);
}

/* They have some million paths. */
static void folders_of_links_to_one_another_are_read_once(void **state)
{
	enum { FOLDERS = 10 };
	char name[64], target[32];
	(void)state;
	write_pets();
	for (int i = 0; i < FOLDERS; i++) {
		snprintf(name, sizeof(name), "cat/%d", i);
		make(name);
		snprintf(name, sizeof(name), "cat/%d/a.pgm", i);
		write_picture(name, 4, 2, 1, 40);
		for (int j = 0; j < FOLDERS; j++) {
			snprintf(name, sizeof(name), "cat/%d/to-%d", i, j);
			snprintf(target, sizeof(target), "../%d", j);
			assert_int_equal(symlink(target, files_path(folder, name)), 0);
		}
	}
	tn_dataset *dataset = NULL;
	assert_ok(tn_dataset_open(folder, NULL, &dataset, NULL));
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 3 + 2 * FOLDERS);
	tn_dataset_destroy(dataset);
}

static void a_folder_that_is_nearly_a_data_set_is_told_so(void **state)
{
	(void)state;
	clear();
	make("Train");
	make("Train/cat");
	make("Test");
	make("Test/cat");
	write_picture("Train/cat/a.pgm", 2, 2, 1, 1);
	write_picture("Test/cat/a.pgm", 2, 2, 1, 1);
	refused(NULL, TN_FORMAT, "found 'Test': rename it to 'test'");
	clear();
	make("test");
	make("test/cat");
	write_picture("test/cat/a.pgm", 2, 2, 1, 1);
	refused(NULL, TN_FORMAT, "found 'test' without 'train'");
	clear();
	make("photos");
	make("photos/cat");
	write_picture("photos/cat/a.pgm", 2, 2, 1, 1);
	refused(NULL, TN_FORMAT, "found only 'photos', a folder of folders: is that the data set?");
	clear();
	make("cifar-10-batches-bin");
	files_write(files_path(folder, "cifar-10-batches-bin/data_batch_1.bin"), "", 0);
	refused(NULL, TN_FORMAT, "found one below: /tmp/");
	refused(NULL, TN_FORMAT, "/cifar-10-batches-bin");
	clear();
	make("MNIST");
	make("MNIST/raw");
	files_write(files_path(folder, "MNIST/raw/train-images-idx3-ubyte"), "", 0);
	refused(NULL, TN_FORMAT, "found one below: /tmp/");
	refused(NULL, TN_FORMAT, "/MNIST/raw");
	clear();
	make("cat");
	files_write(files_path(folder, "cat/a.webp"), "", 0);
	refused(NULL, TN_FORMAT, "found none, but .webp 1");
}

static void pictures_are_resized_and_coloured_as_asked(void **state)
{
	(void)state;
	static const char stripes[] = "P5 4 4 255\n\x00\x64\x00\x64\x64\x00\x64\x00"
				      "\x00\x64\x00\x64\x64\x00\x64\x00";
	write_pets();
	files_write(files_path(folder, "dog/2.ppm"), stripes, sizeof(stripes) - 1);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.image_height = 2;
	options.image_width = 2;
	options.image_channels = 3;
	tn_dataset *dataset = open_set(&options);
	assert_int_equal(tn_dataset_format(dataset)->channels, 3);
	struct tn_image picture;
	assert_ok(tn_dataset_picture(dataset, TN_PART_TRAIN, 2, &picture, NULL));
	assert_int_equal(picture.width, 2);
	assert_int_equal(picture.channels, 3);
	/* Each new pixel is the mean of the four that it covers. */
	for (int i = 0; i < 12; i++)
		assert_int_equal(picture.data[i], 50);
	tn_image_release(&picture);
	tn_dataset_destroy(dataset);
	options = tn_dataset_defaults();
	options.image_height = 2;
	refused(&options, TN_INVALID_ARGUMENT, "expected image_height and image_width or neither");
	options = tn_dataset_defaults();
	options.image_channels = 2;
	refused(&options, TN_INVALID_ARGUMENT, "image_channels of 0, 1 or 3");
	options = tn_dataset_defaults();
	options.image_height = 40000;
	options.image_width = 1;
	refused(&options, TN_LIMIT, "found 1 x 40000");
}

static void folders_of_parts_are_the_parts(void **state)
{
	(void)state;
	clear();
	static const char *const parts[] = {"train", "valid", "test"};
	for (int i = 0; i < 3; i++) {
		char name[64];
		make(parts[i]);
		for (int k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "%s/%c", parts[i], 'a' + k);
			make(name);
			for (int n = 0; n <= 2 - i; n++) {
				snprintf(name, sizeof(name), "%s/%c/%d.pgm", parts[i], 'a' + k, n);
				write_picture(name, 3, 3, 1, 100 * i + 10 * k + n);
			}
		}
	}
	tn_dataset *dataset = open_set(NULL);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 6);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 4);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 2);
	struct tn_image picture;
	assert_ok(tn_dataset_picture(dataset, TN_PART_TEST, 1, &picture, NULL));
	assert_int_equal(picture.data[0], 210);
	tn_image_release(&picture);
	tn_dataset_destroy(dataset);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.test_fraction = 0.1;
	refused(&options, TN_INVALID_ARGUMENT, "expected no test_fraction");
	/* Without the folder of a part, the part can be split off. */
	assert_int_equal(rename(files_path(folder, "valid"), files_path(folder, ".valid")), 0);
	options = tn_dataset_defaults();
	options.validation_fraction = 1 / 3.0;
	dataset = open_set(&options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 4);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_VALIDATION), 2);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 2);
	tn_dataset_destroy(dataset);
	make("test/c");
	write_picture("test/c/1.pgm", 3, 3, 1, 0);
	refused(NULL, TN_FORMAT, "test: expected the classes of train, found a folder 'c'");
}

static void pictures_become_as_those_of_a_given_format(void **state)
{
	(void)state;
	struct tn_input_format as = tn_input_format_defaults();
	as.channels = 3;
	as.height = 6;
	as.width = 5;
	as.mean[0] = as.mean[1] = as.mean[2] = 0.5f;
	as.deviation[0] = as.deviation[1] = as.deviation[2] = 1;
	write_pets();
	struct tn_dataset_options options = tn_dataset_defaults();
	options.normalise_as = &as;
	tn_dataset *dataset = open_set(&options);
	assert_int_equal(tn_dataset_format(dataset)->channels, 3);
	assert_int_equal(tn_dataset_format(dataset)->height, 6);
	assert_int_equal(tn_dataset_format(dataset)->width, 5);
	tn_dataset_destroy(dataset);
	options.image_height = 7;
	options.image_width = 8;
	dataset = open_set(&options);
	assert_int_equal(tn_dataset_format(dataset)->height, 7);
	assert_int_equal(tn_dataset_format(dataset)->channels, 3);
	tn_dataset_destroy(dataset);
}

/* The first batch of the training part, as numbers, is what tn_input_format_apply makes of the
 * pictures. */
static void assert_prepared_as(const struct tn_dataset_options *options, const char *const *names,
			       uint32_t n)
{
	tn_dataset *dataset = open_set(options);
	const struct tn_input_format *format = tn_dataset_format(dataset);
	uint32_t size = format->channels * format->height * format->width;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_data_loader *loader;
	float expected[4096];
	assert_true(size <= 4096);
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = 8;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &loading, &loader, NULL));
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	assert_int_equal(batch.n, n);
	for (uint32_t i = 0; i < n; i++) {
		struct tn_image image;
		assert_ok(tn_image_read(files_path(folder, names[i]), &image, NULL));
		assert_ok(tn_input_format_apply(format, &image, 0, expected, NULL));
		for (uint32_t k = 0; k < size; k++)
			assert_close(((const float *)batch.data[0])[i * size + k], expected[k],
				     1e-6);
		tn_image_release(&image);
	}
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
}

static void pictures_are_prepared_as_for_prediction(void **state)
{
	(void)state;
	static const char *const names[] = {"cat/a.pgm", "dog/10.PPM", "dog/2.ppm"};
	struct tn_input_format zoomed = tn_input_format_defaults();
	zoomed.channels = 1;
	zoomed.height = 10;
	zoomed.width = 16;
	zoomed.source_height = 2;
	zoomed.source_width = 4;
	zoomed.zoom = 3;
	zoomed.border = 2;
	zoomed.scale = 255;
	zoomed.mean[0] = 0.25f;
	zoomed.deviation[0] = 0.5f;
	struct tn_input_format imagenet = tn_input_format_defaults();
	assert_ok(tn_input_format_imagenet(&imagenet, NULL));
	imagenet.resize = 5;
	imagenet.height = imagenet.source_height = 4;
	imagenet.width = imagenet.source_width = 5;
	write_pets();
	write_picture("dog/2.ppm", 9, 13, 3, 77);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.normalise_as = &zoomed;
	assert_prepared_as(&options, names, 3);
	options.normalise_as = &imagenet;
	assert_prepared_as(&options, names, 3);
	imagenet.interpolation = TN_RESIZE_BICUBIC;
	assert_prepared_as(&options, names, 3);
	tn_dataset *dataset = open_set(&options);
	const struct tn_input_format *format = tn_dataset_format(dataset);
	assert_int_equal(format->resize, 5);
	assert_int_equal(format->interpolation, TN_RESIZE_BICUBIC);
	assert_int_equal(format->height, 4);
	assert_int_equal(format->n_classes, 2);
	assert_memory_equal(format->mean, imagenet.mean, sizeof(format->mean));
	tn_dataset_destroy(dataset);
	imagenet.resize = 3;
	refused(&options, TN_INVALID_ARGUMENT,
		"normalise_as: expected a resize of at least height x width");
}

static void the_middle_is_kept_as_asked(void **state)
{
	(void)state;
	write_pets();
	struct tn_dataset_options options = tn_dataset_defaults();
	options.image_resize = 6;
	tn_dataset *dataset = open_set(&options);
	assert_int_equal(tn_dataset_format(dataset)->resize, 6);
	assert_int_equal(tn_dataset_format(dataset)->height, 6);
	assert_int_equal(tn_dataset_format(dataset)->width, 6);
	assert_int_equal(tn_dataset_format(dataset)->channels, 3);
	/* Its own mean, of pictures of one value each. */
	assert_close(tn_dataset_format(dataset)->mean[0], 20.0 / 255, 1e-7);
	tn_dataset_destroy(dataset);
	options.image_interpolation = TN_RESIZE_BICUBIC;
	dataset = open_set(&options);
	assert_int_equal(tn_dataset_format(dataset)->interpolation, TN_RESIZE_BICUBIC);
	tn_dataset_destroy(dataset);
	options.image_interpolation = 2;
	refused(&options, TN_INVALID_ARGUMENT, "interpolation: expected TN_RESIZE_BILINEAR or");
	options = tn_dataset_defaults();
	options.image_interpolation = 1;
	refused(&options, TN_INVALID_ARGUMENT,
		"image_interpolation: expected image_resize too, found 0");
	options = tn_dataset_defaults();
	options.image_resize = 6;
	options.image_height = 7;
	options.image_width = 6;
	refused(&options, TN_INVALID_ARGUMENT,
		"expected image_height and image_width of at most image_resize, 6, found 7 x 6");
}

static void classes_without_samples_have_numbers_for_names(void **state)
{
	(void)state;
	write_pets();
	struct tn_dataset_options options = tn_dataset_defaults();
	options.n_classes = 4;
	tn_dataset *dataset = open_set(&options);
	assert_int_equal(tn_dataset_class_count(dataset), 4);
	assert_int_equal(tn_dataset_format(dataset)->n_classes, 4);
	assert_string_equal(tn_dataset_class_name(dataset, 1), "dog");
	assert_string_equal(tn_dataset_class_name(dataset, 2), "2");
	assert_string_equal(tn_dataset_class_name(dataset, 3), "3");
	assert_null(tn_dataset_class_name(dataset, 4));
	tn_dataset_destroy(dataset);
	options.n_classes = 1;
	refused(&options, TN_INVALID_ARGUMENT,
		"n_classes: expected at least the 2 classes of the data set, found 1");
}

static void a_fraction_is_taken_evenly_from_each_class(void **state)
{
	(void)state;
	write_pets();
	write_picture("cat/b.pgm", 4, 2, 1, 30);
	struct tn_dataset_options options = tn_dataset_defaults();
	options.test_fraction = 0.5;
	tn_dataset *dataset = open_set(&options);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TEST), 2);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 2);
	tn_dataset_destroy(dataset);
}

static void a_damaged_picture_is_an_error_of_its_batch_that_names_it(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_error_info error;
	tn_context *context = NULL;
	struct tn_input_format trained = tn_input_format_defaults();
	trained.channels = 1;
	trained.deviation[0] = 1;
	write_pets();
	files_write(files_path(folder, "dog/10.PPM"), "P6 4 2 255\nabc", 14);
	/* To know the mean, all are read. */
	refused(NULL, TN_FORMAT, "dog/10.PPM");
	struct tn_dataset_options options = tn_dataset_defaults();
	options.normalise_as = &trained;
	tn_dataset *dataset = open_set(&options);
	struct tn_context_options context_options = tn_context_defaults();
	context_options.backend = "reference";
	context_options.n_threads = 3;
	assert_ok(tn_context_open(&context_options, &context, NULL));
	for (int ahead = 0; ahead < 2; ahead++) {
		tn_data_loader *loader;
		struct tn_data_loader_options loading = tn_data_loader_defaults();
		loading.batch_size = 1;
		loading.context = ahead ? context : NULL;
		assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &loading, &loader, NULL));
		assert_ok(tn_data_loader_next(loader, &batch, &error));
		assert_status(tn_data_loader_next(loader, &batch, &error), TN_FORMAT);
		assert_contains(error.text, "dog/10.PPM");
		assert_ok(tn_data_loader_seek(loader, (struct tn_data_position){0, 2}, NULL));
		assert_ok(tn_data_loader_next(loader, &batch, &error));
		assert_close(((const float *)batch.data[0])[0], 20.0 / 255, 1e-7);
		tn_data_loader_destroy(loader);
	}
	tn_context_close(context);
	/* And one that is gone. */
	unlink(files_path(folder, "dog/2.ppm"));
	struct tn_image picture;
	assert_status(tn_dataset_picture(dataset, TN_PART_TRAIN, 2, &picture, &error),
		      TN_NOT_FOUND);
	assert_contains(error.text, "dog/2.ppm");
	tn_dataset_destroy(dataset);
}

static void odd_entries_are_refused_or_made_harmless(void **state)
{
	(void)state;
	write_pets();
	assert_int_equal(mkfifo(files_path(folder, "dog/3.png"), 0600), 0);
	refused(NULL, TN_IO, "dog/3.png: expected a regular file, found a pipe");
	unlink(files_path(folder, "dog/3.png"));
	assert_int_equal(symlink("nowhere", files_path(folder, "dog/3.png")), 0);
	refused(NULL, TN_IO, "dog/3.png: No such file");
	unlink(files_path(folder, "dog/3.png"));
	/* Links to files and folders are followed. */
	assert_int_equal(symlink("2.ppm", files_path(folder, "dog/3.ppm")), 0);
	assert_int_equal(symlink("dog", files_path(folder, "wolf")), 0);
	make("line\nfeed");
	write_picture("line\nfeed/1.pgm", 4, 2, 1, 1);
	tn_dataset *dataset = open_set(NULL);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 8);
	assert_string_equal(tn_dataset_class_name(dataset, 2), "line feed");
	tn_dataset_destroy(dataset);
	clear();
	make("empty");
	refused(NULL, TN_FORMAT, "empty: expected pictures (.png, .jpg, .jpeg, .pbm, .pgm, .ppm)");
	clear();
	make("train");
	refused(NULL, TN_FORMAT, "train: expected folders of pictures by class, found none");
}

#ifdef HAVE_LIBPNG
static void png_pictures_are_read_too(void **state)
{
	(void)state;
	uint8_t pixels[4 * 4] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 9, 9, 9, 0};
	const struct tn_image image = {.width = 2, .height = 2, .channels = 4, .data = pixels};
	struct tn_image picture;
	clear();
	make("a");
	assert_ok(tn_image_write(files_path(folder, "a/x.png"), &image, NULL));
	tn_dataset *dataset = open_set(NULL);
	assert_int_equal(tn_dataset_format(dataset)->channels, 3);
	assert_ok(tn_dataset_picture(dataset, TN_PART_TRAIN, 0, &picture, NULL));
	/* Alpha is composed over black. */
	assert_memory_equal(picture.data, "\xff\0\0\0\xff\0\0\0\xff\0\0\0", 12);
	tn_image_release(&picture);
	tn_dataset_destroy(dataset);
}
#endif

static int make_folder(void **state)
{
	(void)state;
	folder = files_folder();
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	clear();
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_and_pictures_are_in_the_order_of_their_names),
		cmocka_unit_test(statistics_are_those_of_the_whole_part),
		cmocka_unit_test(pictures_are_grey_if_all_are),
		cmocka_unit_test(folders_inside_a_class_are_walked_and_other_files_counted),
		cmocka_unit_test(folders_of_links_to_one_another_are_read_once),
		cmocka_unit_test(a_folder_that_is_nearly_a_data_set_is_told_so),
		cmocka_unit_test(pictures_are_resized_and_coloured_as_asked),
		cmocka_unit_test(folders_of_parts_are_the_parts),
		cmocka_unit_test(pictures_become_as_those_of_a_given_format),
		cmocka_unit_test(pictures_are_prepared_as_for_prediction),
		cmocka_unit_test(the_middle_is_kept_as_asked),
		cmocka_unit_test(classes_without_samples_have_numbers_for_names),
		cmocka_unit_test(a_fraction_is_taken_evenly_from_each_class),
		cmocka_unit_test(a_damaged_picture_is_an_error_of_its_batch_that_names_it),
		cmocka_unit_test(odd_entries_are_refused_or_made_harmless),
#ifdef HAVE_LIBPNG
		cmocka_unit_test(png_pictures_are_read_too),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
