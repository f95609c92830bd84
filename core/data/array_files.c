/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays called x and y, x_train and y_train, x_val and y_val, x_test and y_test: NPY files of a
 * folder, or members of an NPZ file.  Guarantees: the arrays of all parts agree in dtype and shape,
 * x and y of a part in number; labels number the classes.
 */
#include "data/array_files.h"

#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/bytes.h"
#include "io/file.h"

#define OPERATION "dataset"
#define MAX_CLASSES 65536

static const struct {
	const char *suffix;
	int part;
} parts[] = {
	{"", TN_PART_TRAIN},          {"_train", TN_PART_TRAIN},
	{"_val", TN_PART_VALIDATION}, {"_valid", TN_PART_VALIDATION},
	{"_test", TN_PART_TEST},
};
enum { N_SUFFIXES = sizeof(parts) / sizeof(parts[0]) };

/* The arrays of a folder or file; data NULL: it is not there. */
struct arrays {
	const char *path;
	const tn_npz *npz; /* NULL: a folder */
	struct tn_host_array x[N_SUFFIXES];
	struct tn_host_array y[N_SUFFIXES];
	uint64_t n;
	int has_y;
	int has_parts; /* others than the training part */
};

/* ---- Reading ---------------------------------------------------------------------------------*/

/* FOLDER/NAME.npy; NULL in *path: there is none. */
static tn_status find_file(const char *folder, const char *name, char **path,
			   struct tn_error_info *error)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s/%s.npy", folder, name);
	*path = tn_text_take(&text);
	if (!*path)
		return tn_no_memory(error, OPERATION, tn_file_label(folder), "its arrays");
	if (access(*path, F_OK) != 0) {
		tn_mem_free(*path);
		*path = NULL;
	}
	return TN_OK;
}

/* Reads an array if it is there. */
static tn_status read_array(const struct arrays *arrays, const char *letter, const char *suffix,
			    struct tn_host_array *out, struct tn_error_info *error)
{
	char name[16];
	char *path = NULL;
	memcpy(name, letter, 2);
	strcpy(name + 1, suffix);
	for (size_t i = 0; arrays->npz && i < tn_npz_count(arrays->npz); i++) {
		if (!strcmp(tn_npz_name(arrays->npz, i), name))
			return tn_npz_read(arrays->npz, name, out, error);
	}
	if (arrays->npz)
		return TN_OK;
	tn_status status = find_file(arrays->path, name, &path, error);
	if (!status && path)
		status = tn_npy_read(path, out, error);
	tn_mem_free(path);
	return status;
}

/* Checks one array of part i against the first of its letter. */
static tn_status check_array(const struct arrays *arrays, const struct tn_host_array *array,
			     const struct tn_host_array *first, char letter, int i,
			     struct tn_error_info *error)
{
	char shape[160], other[160];
	tn_shape_text(array->shape, array->rank, shape, sizeof(shape));
	if (array->rank == 0 || array->size_bytes == 0)
		return tn_fail(error, TN_SHAPE, OPERATION,
			       "%s: %c%s: expected samples along the first axis, found shape %s",
			       tn_file_label(arrays->path), letter, parts[i].suffix, shape);
	if (array->rank == first->rank && array->dtype == first->dtype &&
	    !memcmp(array->shape + 1, first->shape + 1, (array->rank - 1) * sizeof(int64_t)))
		return TN_OK;
	tn_shape_text(first->shape, first->rank, other, sizeof(other));
	return tn_fail(error, TN_SHAPE, OPERATION,
		       "%s: %c%s: expected samples like the first part's, of %s in %s, found %s in "
		       "%s",
		       tn_file_label(arrays->path), letter, parts[i].suffix,
		       tn_dtype_name(first->dtype), other, tn_dtype_name(array->dtype), shape);
}

static tn_status check_part(struct arrays *arrays, int first, int i, struct tn_error_info *error)
{
	const struct tn_host_array *x = &arrays->x[i], *y = &arrays->y[i];
	const char *path = tn_file_label(arrays->path), *suffix = parts[i].suffix;
	if (!x->data && !y->data)
		return TN_OK;
	if (!x->data || (y->data != NULL) != arrays->has_y)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected x%s and y%s, or no y of any part, found %c%s alone",
			       path, suffix, suffix, x->data ? 'x' : 'y', suffix);
	tn_status status = check_array(arrays, x, &arrays->x[first], 'x', i, error);
	if (!status && y->data)
		status = check_array(arrays, y, &arrays->y[first], 'y', i, error);
	if (!status && y->data && x->shape[0] != y->shape[0])
		status = tn_fail(error, TN_SHAPE, OPERATION,
				 "%s: expected as many in x%s as in y%s, found %lld and %lld", path,
				 suffix, suffix, (long long)x->shape[0], (long long)y->shape[0]);
	arrays->n += (uint64_t)x->shape[0];
	arrays->has_parts |= parts[i].part != TN_PART_TRAIN;
	return status;
}

static tn_status read_arrays(struct arrays *arrays, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	int first = -1;
	for (int i = 0; i < N_SUFFIXES && !status; i++) {
		status = read_array(arrays, "x", parts[i].suffix, &arrays->x[i], error);
		if (!status)
			status = read_array(arrays, "y", parts[i].suffix, &arrays->y[i], error);
		if (first < 0 && arrays->x[i].data)
			first = i;
		arrays->has_y |= arrays->y[i].data != NULL;
	}
	if (!status && (first < 0 || parts[first].part != TN_PART_TRAIN))
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected an array x or x_train, found none",
			       tn_file_label(arrays->path));
	for (int i = 1; i < N_SUFFIXES && !status; i++) {
		if (parts[i].part == parts[i - 1].part && arrays->x[i].data &&
		    arrays->x[i - 1].data)
			status = tn_fail(error, TN_FORMAT, OPERATION,
					 "%s: expected x%s or x%s, which are the same part, found "
					 "both",
					 tn_file_label(arrays->path), parts[i - 1].suffix,
					 parts[i].suffix);
	}
	for (int i = 0; i < N_SUFFIXES && !status; i++)
		status = check_part(arrays, first, i, error);
	return status;
}

/* ---- Conversion ------------------------------------------------------------------------------*/

/* Are they labels: integers, one for each sample? */
static int are_labels(const struct tn_host_array *y)
{
	return tn_is_integer(y->dtype) && (y->rank == 1 || (y->rank == 2 && y->shape[1] == 1));
}

static int64_t integer_at(const struct tn_host_array *array, uint64_t i)
{
	const void *data = array->data;
	switch (array->dtype) {
	case TN_I8:
		return ((const int8_t *)data)[i];
	case TN_U8:
		return ((const uint8_t *)data)[i];
	case TN_I16:
		return ((const int16_t *)data)[i];
	case TN_U16:
		return ((const uint16_t *)data)[i];
	case TN_I32:
		return ((const int32_t *)data)[i];
	case TN_U32:
		return ((const uint32_t *)data)[i];
	case TN_U64:
		return ((const uint64_t *)data)[i] < INT64_MAX ? ((const int64_t *)data)[i]
							       : INT64_MAX;
	default:
		return ((const int64_t *)data)[i];
	}
}

static tn_status bad_label(const struct arrays *arrays, int suffix, uint64_t k, int64_t label,
			   uint32_t most, const char *reason, struct tn_error_info *error)
{
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: y%s, number %llu: expected a label from 0 to %u%s, found %lld%s",
		       tn_file_label(arrays->path), parts[suffix].suffix, (unsigned long long)k,
		       most, reason, (long long)label, label == INT64_MAX ? " or more" : "");
}

/* Labels as i32; *next is the number of those before, on return with them. */
static tn_status join_part(const struct arrays *arrays, int suffix, uint64_t *next,
			   struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	const struct tn_host_array *y = &arrays->y[suffix];
	for (uint64_t k = 0; y->data && k < (uint64_t)y->shape[0]; k++) {
		const int64_t label = integer_at(y, k);
		if (label < 0 || label >= MAX_CLASSES)
			return bad_label(arrays, suffix, k, label, MAX_CLASSES - 1,
					 " (other targets are floating)", error);
		raw->labels[(*next)++] = (int32_t)label;
		if (raw->n_classes > (uint32_t)label)
			continue;
		if (parts[suffix].part != TN_PART_TRAIN)
			return bad_label(arrays, suffix, k, label, raw->n_classes - 1,
					 ", as in the training part", error);
		raw->n_classes = (uint32_t)label + 1;
	}
	return TN_OK;
}

/* The first n labels, of the training part, are all of the classes. */
static tn_status check_gaps(const struct arrays *arrays, const struct tn_dataset_raw *raw,
			    uint64_t n, struct tn_error_info *error)
{
	uint32_t missing = 0;
	uint8_t *occurs = tn_mem_zeroed(MAX_CLASSES, 1);
	if (!occurs)
		return tn_no_memory(error, OPERATION, tn_file_label(arrays->path), "its arrays");
	for (uint64_t i = 0; i < n; i++)
		occurs[raw->labels[i]] = 1;
	while (missing < raw->n_classes && occurs[missing])
		missing++;
	tn_mem_free(occurs);
	if (missing == raw->n_classes)
		return TN_OK;
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: y of the training part: expected labels that number classes without a "
		       "gap from 0 (n_classes may add classes without samples), found %u but no "
		       "%u",
		       tn_file_label(arrays->path), raw->n_classes - 1, missing);
}

/* All labels as i32; the classes are 0 to the largest of the training part, which comes first. */
static tn_status join_labels(const struct arrays *arrays, int may_have_gaps,
			     struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	uint64_t next = 0;
	tn_status status = TN_OK;
	raw->labels = tn_mem_zeroed((size_t)arrays->n, sizeof(*raw->labels));
	if (!raw->labels)
		return tn_no_memory(error, OPERATION, tn_file_label(arrays->path), "its arrays");
	for (int i = 0; i < N_SUFFIXES && !status; i++) {
		status = join_part(arrays, i, &next, raw, error);
		if (!status && parts[i].part == TN_PART_TRAIN && arrays->y[i].data &&
		    !may_have_gaps)
			status = check_gaps(arrays, raw, next, error);
	}
	return status;
}

/* The arrays of a letter one after the other. */
static void *join(const struct tn_host_array *arrays)
{
	uint64_t size = 0;
	for (int i = 0; i < N_SUFFIXES; i++)
		size += arrays[i].data ? arrays[i].size_bytes : 0;
	unsigned char *data = tn_mem_alloc((size_t)size), *to = data;
	for (int i = 0; data && i < N_SUFFIXES; i++) {
		if (!arrays[i].data)
			continue;
		memcpy(to, arrays[i].data, (size_t)arrays[i].size_bytes);
		to += arrays[i].size_bytes;
	}
	return data;
}

static const struct tn_host_array *first_of(const struct tn_host_array *arrays)
{
	int i = 0;
	while (!arrays[i].data)
		i++;
	return &arrays[i];
}

/* Are they pictures: bytes of (n, height, width), (n, channels, height, width) or (n, height,
 * width, channels)?  Then sizes[] := channels, height, width, and *is_last := channels are the
 * last axis. */
static int are_pictures(const struct tn_host_array *x, uint32_t sizes[3], int *is_last)
{
	const int64_t *shape = x->shape;
	*is_last = x->rank == 4 && shape[1] > TN_MAX_CHANNELS;
	if (x->dtype != TN_U8 || x->rank < 3 || x->rank > 4)
		return 0;
	int64_t channels = x->rank == 3 ? 1 : shape[*is_last ? 3 : 1];
	int64_t height = shape[x->rank == 3 || *is_last ? 1 : 2];
	int64_t width = shape[x->rank == 3 || *is_last ? 2 : 3];
	sizes[0] = (uint32_t)channels;
	sizes[1] = (uint32_t)height;
	sizes[2] = (uint32_t)width;
	return channels <= TN_MAX_CHANNELS && height <= TN_IMAGE_MAX_SIDE &&
	       width <= TN_IMAGE_MAX_SIDE;
}

/* Interleaved channels become planes. */
static tn_status separate(uint8_t *images, uint64_t n, const uint32_t sizes[3], const char *path,
			  struct tn_error_info *error)
{
	size_t channels = sizes[0], plane = (size_t)sizes[1] * sizes[2], size = channels * plane;
	uint8_t *copy = tn_mem_alloc(size);
	if (!copy)
		return tn_no_memory(error, OPERATION, tn_file_label(path), "its arrays");
	for (uint64_t k = 0; k < n; k++, images += size) {
		memcpy(copy, images, size);
		for (size_t i = 0; i < plane; i++) {
			for (size_t c = 0; c < channels; c++)
				images[c * plane + i] = copy[i * channels + c];
		}
	}
	tn_mem_free(copy);
	return TN_OK;
}

static tn_status take_pictures(const struct arrays *arrays, const uint32_t sizes[3], int is_last,
			       struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	raw->format = (struct tn_input_format){
		.channels = sizes[0],
		.height = sizes[1],
		.width = sizes[2],
		.source_height = sizes[1],
		.source_width = sizes[2],
		.zoom = 1,
		.scale = 255,
		.n_classes = raw->n_classes,
	};
	raw->n = arrays->n;
	raw->images = join(arrays->x);
	if (!raw->images)
		return tn_no_memory(error, OPERATION, tn_file_label(arrays->path), "its arrays");
	return is_last ? separate(raw->images, raw->n, sizes, arrays->path, error) : TN_OK;
}

/* One sample of an array. */
static void describe(const struct tn_host_array *array, struct tn_field *field)
{
	*field = (struct tn_field){.dtype = array->dtype, .rank = (int32_t)array->rank - 1};
	memcpy(field->shape, array->shape + 1, (array->rank - 1) * sizeof(int64_t));
}

/* Samples of other tensors. */
static tn_status take_tensors(const struct arrays *arrays, struct tn_dataset_raw *raw,
			      struct tn_error_info *error)
{
	struct tn_field fields[2] = {{0}, {.dtype = TN_I32}};
	describe(first_of(arrays->x), &fields[0]);
	if (arrays->has_y && !raw->labels)
		describe(first_of(arrays->y), &fields[1]);
	tn_status status =
		tn_samples_create(arrays->n, arrays->has_y ? 2 : 1, fields, &raw->samples, error);
	if (status)
		return status;
	raw->samples->data[0] = join(arrays->x);
	if (arrays->has_y)
		raw->samples->data[1] = raw->labels ? (void *)raw->labels : join(arrays->y);
	raw->stratify = raw->labels ? 2 : 0;
	raw->labels = NULL;
	return raw->samples->data[0] && (!arrays->has_y || raw->samples->data[1])
		       ? TN_OK
		       : tn_no_memory(error, OPERATION, tn_file_label(arrays->path), "its arrays");
}

static tn_status take_parts(const struct arrays *arrays, struct tn_dataset_raw *raw,
			    struct tn_error_info *error)
{
	uint64_t next = 0;
	if (!arrays->has_parts)
		return TN_OK;
	raw->parts = tn_mem_alloc((size_t)arrays->n);
	if (!raw->parts)
		return tn_no_memory(error, OPERATION, tn_file_label(arrays->path), "its arrays");
	for (int i = 0; i < N_SUFFIXES; i++) {
		size_t n = arrays->x[i].data ? (size_t)arrays->x[i].shape[0] : 0;
		memset(raw->parts + next, parts[i].part, n);
		next += n;
	}
	return TN_OK;
}

static tn_status convert(const struct arrays *arrays, int may_have_gaps, struct tn_dataset_raw *raw,
			 struct tn_error_info *error)
{
	uint32_t sizes[3];
	int is_last;
	tn_status status = TN_OK;
	if (arrays->has_y && are_labels(first_of(arrays->y)))
		status = join_labels(arrays, may_have_gaps, raw, error);
	if (!status && raw->labels && are_pictures(first_of(arrays->x), sizes, &is_last))
		status = take_pictures(arrays, sizes, is_last, raw, error);
	else if (!status)
		status = take_tensors(arrays, raw, error);
	return status ? status : take_parts(arrays, raw, error);
}

tn_status tn_array_files_look(const char *folder, int *is_there, struct tn_error_info *error)
{
	char *path = NULL;
	tn_status status = find_file(folder, "x", &path, error);
	if (!status && !path)
		status = find_file(folder, "x_train", &path, error);
	*is_there = path != NULL;
	tn_mem_free(path);
	return status;
}

tn_status tn_array_files_read(const char *path, int is_npz, int may_have_gaps,
			      struct tn_dataset_raw *out, struct tn_error_info *error)
{
	struct arrays arrays = {.path = path};
	struct tn_dataset_raw raw = {0};
	tn_npz *npz = NULL;
	tn_status status = is_npz ? tn_npz_open(path, &npz, error) : TN_OK;
	arrays.npz = npz;
	if (!status)
		status = read_arrays(&arrays, error);
	if (!status)
		status = convert(&arrays, may_have_gaps, &raw, error);
	for (int i = 0; i < N_SUFFIXES; i++) {
		tn_host_array_release(&arrays.x[i]);
		tn_host_array_release(&arrays.y[i]);
	}
	tn_npz_close(npz);
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
