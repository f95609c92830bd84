/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every reader, writer and constructor of io and data with each of its allocations failing in turn:
 * the answer is TN_OUT_OF_MEMORY, nothing is written to the output, and (under a sanitizer) nothing
 * leaks.  The allocator's functions are wrapped by the linker. */
#include "config.h"

#include <tenon/data.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/search.h"
#include "io_files.h"

/* Allocations until one fails; 0: none fails. */
static int countdown;

static int fails(void)
{
	return countdown > 0 && --countdown == 0;
}

void *__real_tn_mem_alloc(size_t size);
void *__real_tn_mem_zeroed(size_t count, size_t size);
void *__real_tn_mem_realloc(void *memory, size_t count, size_t size);
char *__real_tn_mem_copy_string(const char *text);
void *__wrap_tn_mem_alloc(size_t size);
void *__wrap_tn_mem_zeroed(size_t count, size_t size);
void *__wrap_tn_mem_realloc(void *memory, size_t count, size_t size);
char *__wrap_tn_mem_copy_string(const char *text);

void *__wrap_tn_mem_alloc(size_t size)
{
	return fails() ? NULL : __real_tn_mem_alloc(size);
}

void *__wrap_tn_mem_zeroed(size_t count, size_t size)
{
	return fails() ? NULL : __real_tn_mem_zeroed(count, size);
}

void *__wrap_tn_mem_realloc(void *memory, size_t count, size_t size)
{
	return fails() ? NULL : __real_tn_mem_realloc(memory, count, size);
}

char *__wrap_tn_mem_copy_string(const char *text)
{
	return fails() ? NULL : __real_tn_mem_copy_string(text);
}

static const char *folder;

static const float numbers[4] = {1, 2, 3, 4};
static const int64_t shape[2] = {2, 2};

static tn_status write_safetensors(struct tn_error_info *error)
{
	struct tn_tensor_source tensors[] = {
		{.name = "b", .dtype = TN_F32, .rank = 2, .shape = shape, .data = numbers},
		{.name = "a", .dtype = TN_U8, .rank = 1, .shape = shape, .data = numbers}};
	struct tn_metadata_entry metadata[] = {{"k", "v"}};
	return tn_safetensors_write(files_path(folder, "x.safetensors"), tensors, 2, metadata, 1,
				    error);
}

static tn_status open_safetensors(struct tn_error_info *error)
{
	tn_safetensors *file = NULL;
	tn_status status = tn_safetensors_open(files_path(folder, "x.safetensors"), &file, error);
	assert_true((status == TN_OK) == (file != NULL));
	tn_safetensors_close(file);
	return status;
}

static tn_status write_npy(struct tn_error_info *error)
{
	return tn_npy_write(files_path(folder, "x.npy"), TN_F32, 2, shape, numbers, error);
}

static tn_status read_npy(struct tn_error_info *error)
{
	struct tn_host_array array = {0};
	tn_status status = tn_npy_read(files_path(folder, "columns.npy"), &array, error);
	assert_true((status == TN_OK) == (array.data != NULL));
	tn_host_array_release(&array);
	return status;
}

static tn_status read_image(struct tn_error_info *error)
{
	struct tn_image image = {0};
	tn_status status = tn_image_read(files_path(folder, "x.ppm"), &image, error);
	assert_true((status == TN_OK) == (image.data != NULL));
	tn_image_release(&image);
	return status;
}

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
	tn_data_text_free(text);
	return TN_OK;
}

static tn_status open_folder(struct tn_error_info *error)
{
	tn_dataset *dataset = NULL;
	tn_status status = tn_dataset_load(folder, NULL, NULL, &dataset, error);
	assert_true((status == TN_OK) == (dataset != NULL));
	tn_dataset_destroy(dataset);
	return status;
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
	struct tn_dataset_source source = {.struct_size = sizeof(source),
					   .channels = 1,
					   .height = 1,
					   .width = 1,
					   .images = images,
					   .labels = labels,
					   .n_images = 2,
					   .n_classes = 2,
					   .class_names = names};
	struct tn_data_loader_options options = {.struct_size = sizeof(options), .batch_size = 1};
	tn_dataset *dataset = NULL;
	tn_data_loader *loader = NULL;
	tn_status status = tn_dataset_create(&source, &dataset, error);
	if (status == TN_OK)
		status = tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, error);
	assert_true((status == TN_OK) == (loader != NULL));
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(dataset);
	return status;
}

static const struct {
	const char *name;
	tn_status (*run)(struct tn_error_info *error);
} subjects[] = {
	{"write safetensors", write_safetensors},
	{"open safetensors", open_safetensors},
	{"write NPY", write_npy},
	{"read NPY", read_npy},
	{"read an image", read_image},
	{"feed an image", feed_image},
	{"print a format", print_format},
	{"open a folder", open_folder},
#ifdef HAVE_ZLIB
	{"open the digits", open_digits},
#endif
	{"make a loader", make_loader},
};

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
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	make_files();
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		struct tn_error_info error;
		tn_status status = TN_OUT_OF_MEMORY;
		int n = 0;
		countdown = 0;
		assert_ok(subjects[i].run(&error));
		int files = files_count(folder);
		while (status == TN_OUT_OF_MEMORY) {
			tn_error_reset(&error);
			countdown = ++n;
			status = subjects[i].run(&error);
			assert_int_equal(files_count(folder), files);
		}
		countdown = 0;
		if (status != TN_OK || n < 2)
			fail_msg("%s, allocation %d: %s", subjects[i].name, n, error.text);
	}
}

static int make_folder(void **state)
{
	(void)state;
	folder = files_folder();
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	files_remove(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
