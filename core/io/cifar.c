/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * CIFAR-10 and CIFAR-100, the binary version (A. Krizhevsky, "Learning Multiple Layers of Features
 * from Tiny Images"): records of one label (CIFAR-10) or a coarse and a fine one (CIFAR-100), each
 * a byte, and 3072 bytes, the red, green and blue plane of 32 x 32 pixels.  There is no header.
 * Guarantees: the file consists of whole records, and every label is in range.
 */
#include <string.h>
#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

#define PIXELS 3072
#define MAX_LABELS 2
#define RECORDS 64 /* that are read at once */

/* The two kinds of file. */
struct kind {
	const char *operation;
	const char *other; /* the other kind, whose records have `other_labels` */
	int other_labels;
	int n_labels;
	const char *names[MAX_LABELS];
	int n_classes[MAX_LABELS];
};

static const struct kind cifar10 = {"CIFAR-10", "CIFAR-100", 2, 1, {"label"}, {10}};
static const struct kind cifar100 = {"CIFAR-100", "CIFAR-10", 1, 2, {"coarse label", "fine label"},
				     {20, 100}};

static tn_status count_records(const struct tn_file *file, const struct kind *kind, uint64_t *n,
			       struct tn_error_info *error)
{
	const char *path = tn_file_label(file->path);
	uint64_t record = PIXELS + (uint64_t)kind->n_labels;
	int other = file->size && file->size % (PIXELS + (uint64_t)kind->other_labels) == 0;
	*n = file->size / record;
	if (!file->size || file->size % record)
		return tn_fail(error, TN_FORMAT, kind->operation,
			       "%s: expected records of %llu bytes, found %llu bytes, %llu more "
			       "than %llu records%s%s%s",
			       path, (unsigned long long)record, (unsigned long long)file->size,
			       (unsigned long long)(file->size % record), (unsigned long long)*n,
			       other ? " (a file of " : "", other ? kind->other : "",
			       other ? "?)" : "");
	if (*n > TN_HOST_ARRAY_MAX_BYTES / PIXELS)
		return tn_fail(error, TN_LIMIT, kind->operation,
			       "%s: expected at most %llu bytes of images, found %llu records",
			       path, (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
			       (unsigned long long)*n);
	return TN_OK;
}

/* Copies `n` records to images[first...] and labels[k][first...]. */
static tn_status take_records(const struct tn_file *file, const struct kind *kind,
			      const unsigned char *records, uint64_t first, size_t n,
			      unsigned char *images, int32_t *const *labels,
			      struct tn_error_info *error)
{
	size_t n_labels = (size_t)kind->n_labels, record = PIXELS + n_labels;
	for (size_t i = 0; i < n; i++) {
		const unsigned char *from = records + i * record;
		for (size_t k = 0; k < n_labels; k++) {
			if (from[k] >= kind->n_classes[k])
				return tn_fail(error, TN_FORMAT, kind->operation,
					       "%s: offset %llu: record %llu: expected a %s from 0 "
					       "to %d, found %d",
					       tn_file_label(file->path),
					       (unsigned long long)((first + i) * record + k),
					       (unsigned long long)(first + i), kind->names[k],
					       kind->n_classes[k] - 1, from[k]);
			labels[k][first + i] = from[k];
		}
		memcpy(images + (first + i) * PIXELS, from + n_labels, PIXELS);
	}
	return TN_OK;
}

static tn_status read_records(const struct tn_file *file, const struct kind *kind, uint64_t n,
			      unsigned char *images, int32_t *const *labels,
			      struct tn_error_info *error)
{
	size_t record = PIXELS + (size_t)kind->n_labels;
	unsigned char *buffer = tn_mem_alloc(RECORDS * record);
	if (!buffer)
		return tn_no_memory(error, kind->operation, tn_file_label(file->path), NULL);
	tn_status status = TN_OK;
	for (uint64_t first = 0; !status && first < n; first += RECORDS) {
		size_t count = n - first < RECORDS ? (size_t)(n - first) : RECORDS;
		status = tn_file_read(file, first * record, buffer, count * record, error);
		if (!status)
			status = take_records(file, kind, buffer, first, count, images, labels,
					      error);
	}
	tn_mem_free(buffer);
	return status;
}

/* labels[k]: an array for each label of a record. */
static tn_status read_file(const struct tn_file *file, const struct kind *kind,
			   struct tn_host_array *images, struct tn_host_array *labels,
			   struct tn_error_info *error)
{
	uint64_t n;
	int32_t *values[MAX_LABELS] = {NULL};
	tn_status status = count_records(file, kind, &n, error);
	if (status)
		return status;
	*images = (struct tn_host_array){.dtype = TN_U8,
					 .rank = 4,
					 .shape = {(int64_t)n, 3, 32, 32},
					 .size_bytes = n * PIXELS,
					 .data = tn_mem_alloc((size_t)n * PIXELS)};
	int complete = images->data != NULL;
	for (int k = 0; k < kind->n_labels; k++) {
		values[k] = tn_mem_zeroed((size_t)n, sizeof(int32_t));
		complete &= values[k] != NULL;
		labels[k] = (struct tn_host_array){.dtype = TN_I32,
						   .rank = 1,
						   .shape = {(int64_t)n},
						   .size_bytes = n * sizeof(int32_t),
						   .data = values[k]};
	}
	if (!complete)
		return tn_fail(error, TN_OUT_OF_MEMORY, kind->operation,
			       "%s: no memory for %llu records", tn_file_label(file->path),
			       (unsigned long long)n);
	return read_records(file, kind, n, images->data, values, error);
}

/* Leaves all arrays empty on failure. */
static tn_status read_path(const char *path, const struct kind *kind, struct tn_host_array *images,
			   struct tn_host_array *labels, struct tn_error_info *error)
{
	struct tn_file file;
	tn_status status = tn_file_open(&file, path, kind->operation, error);
	if (status)
		return status;
	status = read_file(&file, kind, images, labels, error);
	tn_file_close(&file);
	if (status) {
		tn_host_array_release(images);
		for (int k = 0; k < kind->n_labels; k++)
			tn_host_array_release(&labels[k]);
	}
	return status;
}

tn_status tn_cifar10_read(const char *path, struct tn_host_array *images,
			  struct tn_host_array *labels, struct tn_error_info *error)
{
	struct tn_host_array pixels = {0}, own[MAX_LABELS] = {{0}};
	tn_status status = read_path(path, &cifar10, &pixels, own, error);
	if (!status) {
		*images = pixels;
		*labels = own[0];
	}
	return status;
}

tn_status tn_cifar100_read(const char *path, struct tn_host_array *images,
			   struct tn_host_array *coarse, struct tn_host_array *fine,
			   struct tn_error_info *error)
{
	struct tn_host_array pixels = {0}, own[MAX_LABELS] = {{0}};
	tn_status status = read_path(path, &cifar100, &pixels, own, error);
	if (status)
		return status;
	*images = pixels;
	*fine = own[1];
	if (coarse)
		*coarse = own[0];
	else
		tn_host_array_release(&own[0]);
	return TN_OK;
}
