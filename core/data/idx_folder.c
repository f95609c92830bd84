/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A folder with the four IDX files of the MNIST family.  Guarantees: the numbers of images and
 * labels are equal, and the sizes of train and test images; every class has a training image,
 * except class 0 of labels that count from 1; the training images are not copied.
 */
#include "data/idx_folder.h"

#include <string.h>
#include <tenon/status.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/dataset.h"
#include "io/file.h"

#define OPERATION "dataset"

/* The path of the first spelling that exists; NULL in *path: none.  The spellings, in this order:
 * -idx3-ubyte, the same with .gz, and both with a dot before "idx". */
static tn_status locate(const char *folder, const char *part, const char *what, int rank,
			char **path, struct tn_error_info *error)
{
	*path = NULL;
	for (int i = 0; i < 4; i++) {
		struct tn_text text;
		tn_text_init(&text);
		tn_text_format(&text, "%s/%s-%s%cidx%d-ubyte%s", folder, part, what,
			       i < 2 ? '-' : '.', rank, i % 2 ? ".gz" : "");
		char *candidate = tn_text_take(&text);
		if (!candidate)
			return tn_no_memory(error, OPERATION, tn_file_label(folder), NULL);
		if (access(candidate, F_OK) == 0) {
			*path = candidate;
			return TN_OK;
		}
		tn_mem_free(candidate);
	}
	return TN_OK;
}

/* One of the four files. */
struct idx_file {
	char *path;
	struct tn_host_array array;
};

static void release_file(struct idx_file *file)
{
	tn_mem_free(file->path);
	tn_host_array_release(&file->array);
}

/* Reads train or t10k, images (rank 3) or labels (rank 1), u8.  On failure release_file() frees
 * what was allocated. */
static tn_status read_part(const char *folder, const char *part, const char *what, uint32_t rank,
			   struct idx_file *file, struct tn_error_info *error)
{
	struct tn_host_array *array = &file->array;
	tn_status status = locate(folder, part, what, (int)rank, &file->path, error);
	if (status)
		return status;
	if (!file->path)
		return tn_fail(error, TN_NOT_FOUND, OPERATION,
			       "%s: expected a file %s-%s-idx%u-ubyte or "
			       "%s-%s-idx%u-ubyte.gz, found none",
			       tn_file_label(folder), part, what, rank, part, what, rank);
	status = tn_idx_read(file->path, array, error);
	if (!status && (array->dtype != TN_U8 || array->rank != rank))
		status = tn_fail(
			error, TN_SHAPE, OPERATION, "%s: expected %u axes of u8, found %u of %s",
			tn_file_label(file->path), rank, array->rank, tn_dtype_name(array->dtype));
	return status;
}

/* Images and labels of train, then of t10k. */
struct four {
	struct idx_file images[2];
	struct idx_file labels[2];
};

static tn_status read_four(const char *folder, struct four *four, struct tn_error_info *error)
{
	static const char *const parts[] = {"train", "t10k"};
	for (int i = 0; i < 2; i++) {
		tn_status status =
			read_part(folder, parts[i], "labels", 1, &four->labels[i], error);
		if (!status)
			status = read_part(folder, parts[i], "images", 3, &four->images[i], error);
		if (status)
			return status;
		const struct tn_host_array *images = &four->images[i].array;
		int64_t n_labels = four->labels[i].array.shape[0];
		if (images->shape[0] != n_labels)
			return tn_fail(error, TN_SHAPE, OPERATION,
				       "%s: %s: expected as many labels as images, found %lld "
				       "labels and %lld images",
				       tn_file_label(folder), parts[i], (long long)n_labels,
				       (long long)images->shape[0]);
		if (images->size_bytes == 0)
			return tn_fail(error, TN_SHAPE, OPERATION,
				       "%s: %s: expected images, found %lld of %lld x %lld",
				       tn_file_label(folder), parts[i], (long long)images->shape[0],
				       (long long)images->shape[1], (long long)images->shape[2]);
	}
	const int64_t *a = four->images[0].array.shape, *b = four->images[1].array.shape;
	if (a[1] != b[1] || a[2] != b[2])
		return tn_fail(error, TN_SHAPE, OPERATION,
			       "%s: expected t10k images of %lld x %lld, as train, found %lld x "
			       "%lld",
			       tn_file_label(folder), (long long)a[1], (long long)a[2],
			       (long long)b[1], (long long)b[2]);
	if (a[1] > TN_IMAGE_MAX_SIDE || a[2] > TN_IMAGE_MAX_SIDE)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected sides of at most %u, found %lld x %lld",
			       tn_file_label(folder), TN_IMAGE_MAX_SIDE, (long long)a[1],
			       (long long)a[2]);
	return TN_OK;
}

/* The first label from `n_classes` on, or the first that the training part lacks, is an error. */
static tn_status check_labels(const struct idx_file *labels, int n_classes, const uint8_t *occurs,
			      struct tn_error_info *error)
{
	const uint8_t *label = labels->array.data;
	for (int64_t i = 0; i < labels->array.shape[0]; i++) {
		if (label[i] >= n_classes || !occurs[label[i]])
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: label %lld: expected a class from %d to %d, as the "
				       "training labels number them without a gap, found %u",
				       tn_file_label(labels->path), (long long)i, !occurs[0],
				       n_classes - 1, label[i]);
	}
	return TN_OK;
}

/* Labels as i32, those of the test after those of the training.  The classes are 0 up to the first
 * number without a training label; 0 may have no images, where labels count from 1 as in EMNIST
 * Letters.  A label beyond means a damaged file. */
static tn_status join_labels(const struct four *four, struct tn_dataset_raw *raw,
			     struct tn_error_info *error)
{
	uint8_t occurs[257] = {0};
	const struct tn_host_array *train = &four->labels[0].array;
	for (int64_t i = 0; i < train->shape[0]; i++)
		occurs[((const uint8_t *)train->data)[i]] = 1;
	if (!occurs[0] && !occurs[1])
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected labels that count from 0 or 1, found neither",
			       tn_file_label(four->labels[0].path));
	int n_classes = 1;
	while (occurs[n_classes])
		n_classes++;
	raw->format.n_classes = (uint32_t)n_classes;
	tn_status status = check_labels(&four->labels[0], n_classes, occurs, error);
	if (!status)
		status = check_labels(&four->labels[1], n_classes, occurs, error);
	if (status)
		return status;
	raw->labels = tn_mem_zeroed((size_t)raw->n, sizeof(*raw->labels));
	if (!raw->labels)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for %llu labels",
			       (unsigned long long)raw->n);
	uint64_t next = 0;
	for (int i = 0; i < 2; i++) {
		const uint8_t *labels = four->labels[i].array.data;
		for (int64_t j = 0; j < four->labels[i].array.shape[0]; j++)
			raw->labels[next++] = labels[j];
	}
	return TN_OK;
}

/* Appends the test images to the training images and takes over their memory. */
static tn_status join_images(struct four *four, struct tn_dataset_raw *raw,
			     struct tn_error_info *error)
{
	size_t train = (size_t)four->images[0].array.size_bytes;
	size_t test = (size_t)four->images[1].array.size_bytes;
	uint8_t *images = tn_mem_realloc(four->images[0].array.data, train + test, 1);
	if (!images)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for %zu bytes",
			       train + test);
	four->images[0].array.data = NULL;
	memcpy(images + train, four->images[1].array.data, test);
	raw->images = images;
	return TN_OK;
}

tn_status tn_idx_folder_read(const char *folder, struct tn_dataset_raw *out,
			     struct tn_error_info *error)
{
	struct four four;
	struct tn_dataset_raw raw = {0};
	memset(&four, 0, sizeof(four));
	tn_status status = read_four(folder, &four, error);
	if (!status) {
		const int64_t *train = four.images[0].array.shape;
		uint32_t height = (uint32_t)train[1], width = (uint32_t)train[2];
		raw.format = (struct tn_input_format){
			.channels = 1,
			.height = height,
			.width = width,
			.source_height = height,
			.source_width = width,
			.zoom = 1,
			.scale = 255,
		};
		raw.n_test = (uint64_t)four.images[1].array.shape[0];
		raw.n = (uint64_t)train[0] + raw.n_test;
		status = join_labels(&four, &raw, error);
	}
	if (!status)
		status = join_images(&four, &raw, error);
	for (int i = 0; i < 2; i++) {
		release_file(&four.images[i]);
		release_file(&four.labels[i]);
	}
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}

tn_status tn_idx_folder_look(const char *folder, int *is_there, struct tn_error_info *error)
{
	char *path = NULL;
	tn_status status = locate(folder, "train", "images", 3, &path, error);
	if (!status && !path)
		status = locate(folder, "train", "labels", 1, &path, error);
	*is_there = path != NULL;
	tn_mem_free(path);
	return status;
}
