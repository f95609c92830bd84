/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Labelled images in memory.  Guarantees: a built data set is immutable; every image belongs to
 * exactly one part; every label is below n_classes.
 */
#include "data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/split.h"

#define OPERATION "dataset"

void tn_dataset_raw_release(struct tn_dataset_raw *raw)
{
	tn_mem_free(raw->images);
	tn_mem_free(raw->labels);
	memset(raw, 0, sizeof(*raw));
}

/* A NaN is outside, too. */
static int is_fraction(double value)
{
	return value >= 0 && value <= 1;
}

static tn_status check_raw(const struct tn_dataset_raw *raw, const char *name,
			   struct tn_error_info *error)
{
	if (raw->n == 0 || raw->n > UINT32_MAX)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected 1 to %u images, found %llu", name, UINT32_MAX,
			       (unsigned long long)raw->n);
	if (!is_fraction(raw->test_fraction) || !is_fraction(raw->validation_fraction))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected fractions from 0 to 1, found %g for test and %g for "
			       "validation",
			       name, raw->test_fraction, raw->validation_fraction);
	if (raw->normalise_as && raw->normalise_as->channels != raw->format.channels)
		return tn_fail(
			error, TN_SHAPE, OPERATION,
			"%s: expected pictures of %u channels, as normalise_as has, found %u", name,
			raw->normalise_as->channels, raw->format.channels);
	for (uint32_t c = 0; raw->normalise_as && c < raw->format.channels; c++) {
		double mean = raw->normalise_as->mean[c],
		       deviation = raw->normalise_as->deviation[c];
		if (!isfinite(mean) || !isfinite(deviation) || deviation <= 0)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: normalise_as, channel %u: expected a finite mean and a "
				       "positive deviation, found %g and %g",
				       name, c, mean, deviation);
	}
	for (uint64_t i = 0; i < raw->n; i++) {
		if (raw->labels[i] < 0 || (uint32_t)raw->labels[i] >= raw->format.n_classes)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: image %llu: expected a label from 0 to %u, found %d",
				       name, (unsigned long long)i, raw->format.n_classes - 1,
				       raw->labels[i]);
	}
	return TN_OK;
}

/* Makes the names "0", "1", ...  0: out of memory. */
static int name_by_number(tn_dataset *dataset)
{
	uint32_t n = dataset->format.n_classes;
	dataset->number_names = tn_mem_zeroed(n, sizeof(*dataset->number_names));
	for (uint32_t i = 0; i < n && dataset->number_names; i++)
		snprintf(dataset->number_names[i], sizeof(dataset->number_names[i]), "%u", i);
	return dataset->number_names != NULL;
}

tn_status tn_dataset_build(struct tn_dataset_raw *raw, const char *name, const char *path,
			   tn_dataset **out, struct tn_error_info *error)
{
	tn_status status = check_raw(raw, name, error);
	if (status != TN_OK)
		return status;
	tn_dataset *dataset = tn_mem_zeroed(1, sizeof(*dataset));
	if (!dataset)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory", name);
	const struct tn_input_format *format = &raw->format;
	dataset->name = tn_mem_copy_string(name);
	dataset->path = tn_mem_copy_string(path);
	dataset->origin = raw->origin ? raw->origin : "";
	dataset->class_names = raw->class_names;
	dataset->format = *format;
	dataset->format.struct_size = sizeof(dataset->format);
	dataset->n = raw->n;
	dataset->image_size = (size_t)format->channels * format->height * format->width;
	dataset->labels = raw->labels;
	dataset->images = raw->images;
	if (!dataset->name || !dataset->path || (!raw->class_names && !name_by_number(dataset)))
		status = tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory", name);
	if (status == TN_OK)
		status = tn_dataset_split(dataset, raw, error);
	if (status != TN_OK) {
		/* Still owned by the reader. */
		dataset->labels = NULL;
		dataset->images = NULL;
		tn_dataset_destroy(dataset);
		return status;
	}
	tn_dataset_normalise(dataset, raw->normalise_as);
	raw->labels = NULL;
	raw->images = NULL;
	*out = dataset;
	return TN_OK;
}

void tn_dataset_destroy(tn_dataset *dataset)
{
	if (!dataset)
		return;
	for (uint32_t i = 0; dataset->own_class_names && i < dataset->format.n_classes; i++)
		tn_mem_free(dataset->own_class_names[i]);
	tn_mem_free(dataset->own_class_names);
	tn_mem_free(dataset->number_names);
	for (int part = 0; part < TN_N_PARTS; part++)
		tn_mem_free(dataset->index[part]);
	tn_mem_free(dataset->images);
	tn_mem_free(dataset->labels);
	tn_mem_free(dataset->name);
	tn_mem_free(dataset->path);
	tn_mem_free(dataset);
}

/* Copies the caller's class names. */
static tn_status copy_class_names(tn_dataset *dataset, const char *const *names,
				  struct tn_error_info *error)
{
	uint32_t n = dataset->format.n_classes;
	dataset->own_class_names = tn_mem_zeroed(n, sizeof(*dataset->own_class_names));
	int failed = !dataset->own_class_names;
	for (uint32_t i = 0; i < n && !failed; i++) {
		dataset->own_class_names[i] = tn_mem_copy_string(names[i] ? names[i] : "");
		failed = !dataset->own_class_names[i];
	}
	if (failed)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory", dataset->name);
	dataset->class_names = (const char *const *)dataset->own_class_names;
	return TN_OK;
}

/* Copies the caller's images and labels. */
static tn_status copy_source(const struct tn_dataset_source *source, struct tn_dataset_raw *raw,
			     struct tn_error_info *error)
{
	uint64_t image_size = (uint64_t)source->height * source->width;
	if (source->channels < 1 || source->channels > TN_MAX_CHANNELS || image_size == 0 ||
	    source->n_images == 0 || !source->images || !source->labels || source->n_classes == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected images, labels, classes and 1 to %d channels, found %llu "
			       "images of %u x %u x %u and %u classes",
			       TN_MAX_CHANNELS, (unsigned long long)source->n_images,
			       source->channels, source->height, source->width, source->n_classes);
	if (image_size > UINT32_MAX / TN_MAX_CHANNELS ||
	    source->n_images > TN_HOST_ARRAY_MAX_BYTES / (image_size * source->channels))
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "expected at most %llu bytes, found %llu images of %u x %u x %u",
			       (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
			       (unsigned long long)source->n_images, source->channels,
			       source->height, source->width);
	image_size *= source->channels;
	raw->n = source->n_images;
	raw->test_fraction = source->test_fraction;
	raw->validation_fraction = source->validation_fraction;
	raw->format = (struct tn_input_format){
		.channels = source->channels,
		.height = source->height,
		.width = source->width,
		.source_height = source->height,
		.source_width = source->width,
		.zoom = 1,
		.scale = source->scale > 0 ? source->scale : 255,
		.n_classes = source->n_classes,
	};
	raw->images = tn_mem_alloc((size_t)(raw->n * image_size));
	raw->labels = tn_mem_alloc((size_t)raw->n * sizeof(*raw->labels));
	if (!raw->images || !raw->labels)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no memory for %llu images",
			       (unsigned long long)raw->n);
	memcpy(raw->images, source->images, (size_t)(raw->n * image_size));
	memcpy(raw->labels, source->labels, (size_t)raw->n * sizeof(*raw->labels));
	return TN_OK;
}

tn_status tn_dataset_create(const struct tn_dataset_source *given, tn_dataset **out,
			    struct tn_error_info *error)
{
	struct tn_dataset_source source = {0};
	struct tn_dataset_raw raw = {0};
	tn_dataset *dataset = NULL;
	tn_status status = tn_options_take(&source, sizeof(source), given,
					   "struct tn_dataset_source", OPERATION, error);
	if (status == TN_OK)
		status = copy_source(&source, &raw, error);
	if (status == TN_OK)
		status =
			tn_dataset_build(&raw, source.name ? source.name : "", "", &dataset, error);
	tn_dataset_raw_release(&raw);
	if (status == TN_OK && source.class_names)
		status = copy_class_names(dataset, source.class_names, error);
	if (status == TN_OK)
		*out = dataset;
	else
		tn_dataset_destroy(dataset);
	return status;
}

const char *tn_dataset_name(const tn_dataset *dataset)
{
	return dataset->name;
}

const char *tn_dataset_path(const tn_dataset *dataset)
{
	return dataset->path;
}

const char *tn_dataset_origin(const tn_dataset *dataset)
{
	return dataset->origin;
}

const struct tn_input_format *tn_dataset_format(const tn_dataset *dataset)
{
	return &dataset->format;
}

const char *tn_dataset_class_name(const tn_dataset *dataset, int32_t label)
{
	if (label < 0 || (uint32_t)label >= dataset->format.n_classes)
		return NULL;
	return dataset->class_names ? dataset->class_names[label] : dataset->number_names[label];
}

uint64_t tn_dataset_count(const tn_dataset *dataset, int part)
{
	return part >= 0 && part < TN_N_PARTS ? dataset->count[part] : 0;
}

const uint8_t *tn_dataset_image(const tn_dataset *dataset, int part, uint64_t index, int32_t *label)
{
	if (index >= tn_dataset_count(dataset, part))
		return NULL;
	uint32_t number = dataset->index[part][index];
	if (label)
		*label = dataset->labels[number];
	return dataset->images + number * dataset->image_size;
}

tn_status tn_dataset_picture(const tn_dataset *dataset, int part, uint64_t index,
			     struct tn_image *out, struct tn_error_info *error)
{
	const uint8_t *from = tn_dataset_image(dataset, part, index, NULL);
	if (!from)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected an image below %llu of part %d, found %llu",
			       dataset->name, (unsigned long long)tn_dataset_count(dataset, part),
			       part, (unsigned long long)index);
	const struct tn_input_format *format = &dataset->format;
	uint8_t *data = tn_mem_alloc(dataset->image_size);
	if (!data)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for a picture",
			       dataset->name);
	size_t plane = (size_t)format->height * format->width;
	for (size_t c = 0; c < format->channels; c++) {
		for (size_t i = 0; i < plane; i++) {
			float value = (float)from[c * plane + i] * 255.0f / format->scale + 0.5f;
			data[i * format->channels + c] = value >= 255 ? 255 : (uint8_t)value;
		}
	}
	*out = (struct tn_image){.width = format->width,
				 .height = format->height,
				 .channels = format->channels,
				 .data = data};
	return TN_OK;
}
