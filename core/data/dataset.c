/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data sets.  Guarantees: a built data set is immutable; every sample belongs to exactly one part;
 * every label in memory is below n_classes.
 */
#include "data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/quarantine.h"
#include "data/format.h"
#include "data/fractions.h"
#include "data/split.h"

#define OPERATION "dataset"

void tn_dataset_raw_release(struct tn_dataset_raw *raw)
{
	tn_mem_free(raw->images);
	tn_mem_free(raw->labels);
	tn_mem_free(raw->parts);
	tn_samples_release(raw->samples);
	tn_listing_release(&raw->class_list);
	tn_mem_free(raw->class_memory);
	memset(raw, 0, sizeof(*raw));
}

tn_status tn_dataset_copy_parts(struct tn_dataset_raw *raw, const uint8_t *parts, uint64_t n,
				struct tn_error_info *error)
{
	for (uint64_t i = 0; i < n; i++) {
		if (parts[i] >= TN_N_PARTS)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "sample %llu: expected a part from 0 to %d, found %u",
				       (unsigned long long)i, TN_N_PARTS - 1, parts[i]);
	}
	raw->parts = tn_mem_alloc((size_t)n);
	if (!raw->parts)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for %llu parts",
			       (unsigned long long)n);
	memcpy(raw->parts, parts, (size_t)n);
	return TN_OK;
}

static tn_status check_normalise_as(const struct tn_dataset_raw *raw, const char *name,
				    struct tn_error_info *error)
{
	const struct tn_input_format *as = raw->normalise_as;
	if (as->channels != raw->format.channels)
		return tn_fail(
			error, TN_SHAPE, OPERATION,
			"%s: expected pictures of %u channels, as normalise_as has, found %u", name,
			as->channels, raw->format.channels);
	for (uint32_t c = 0; c < as->channels; c++) {
		double mean = as->mean[c], deviation = as->deviation[c];
		if (!isfinite(mean) || !isfinite(deviation) || deviation <= 0)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: normalise_as, channel %u: expected a finite mean and a "
				       "positive deviation, found %g and %g",
				       name, c, mean, deviation);
	}
	return TN_OK;
}

/* Labels in memory number the classes. */
static tn_status check_labels(const struct tn_samples *samples, uint32_t n_classes,
			      const char *name, struct tn_error_info *error)
{
	if (n_classes == 0 || samples->n_fields < 2 || samples->fields[1].dtype != TN_I32 ||
	    samples->fields[1].rank != 0 || !samples->data[1])
		return TN_OK;
	const int32_t *labels = samples->data[1];
	for (uint64_t i = 0; i < samples->n; i++) {
		if (labels[i] < 0 || (uint32_t)labels[i] >= n_classes)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: sample %llu: expected a label from 0 to %u, found %d",
				       name, (unsigned long long)i, n_classes - 1, labels[i]);
	}
	return TN_OK;
}

static tn_status check_wanted(const struct tn_dataset_raw *raw, const char *name,
			      struct tn_error_info *error)
{
	if (!raw->n_classes_wanted || (raw->n_classes && raw->n_classes <= raw->n_classes_wanted))
		return TN_OK;
	if (!raw->n_classes)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: n_classes: expected a data set of classes, found other samples",
			       name);
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
		       "%s: n_classes: expected at least the %u classes of the data set, found %u",
		       name, raw->n_classes, raw->n_classes_wanted);
}

/* The samples of labelled images in memory. */
static tn_status take_images(struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	const struct tn_input_format *format = &raw->format;
	const struct tn_field fields[] = {
		{.dtype = TN_U8,
		 .rank = 3,
		 .shape = {format->channels, format->height, format->width}},
		{.dtype = TN_I32},
	};
	tn_status status = tn_samples_create(raw->n, 2, fields, &raw->samples, error);
	if (status)
		return status;
	raw->samples->data[0] = raw->images;
	raw->samples->data[1] = raw->labels;
	raw->images = NULL;
	raw->labels = NULL;
	return TN_OK;
}

/* Makes the names "0", "1", ...  0: out of memory. */
static int name_by_number(tn_dataset *dataset)
{
	uint32_t n = dataset->n_classes;
	dataset->number_names = tn_mem_zeroed(n, sizeof(*dataset->number_names));
	for (uint32_t i = 0; i < n && dataset->number_names; i++)
		snprintf(dataset->number_names[i], sizeof(dataset->number_names[i]), "%u", i);
	return dataset->number_names != NULL;
}

/* Classes without samples have numbers for names. */
static char *copy_class_name(const struct tn_dataset_raw *raw, uint32_t i)
{
	char number[12];
	if (i < raw->n_classes)
		return tn_mem_copy_string(raw->class_names[i] ? raw->class_names[i] : "");
	snprintf(number, sizeof(number), "%u", i);
	return tn_mem_copy_string(number);
}

/* Copies the caller's names.  0: out of memory. */
static int copy_class_names(tn_dataset *dataset, const struct tn_dataset_raw *raw)
{
	uint32_t n = dataset->n_classes;
	dataset->own_class_names = tn_mem_zeroed(n, sizeof(*dataset->own_class_names));
	if (!dataset->own_class_names)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		dataset->own_class_names[i] = copy_class_name(raw, i);
		if (!dataset->own_class_names[i])
			return 0;
	}
	dataset->class_names = (const char *const *)dataset->own_class_names;
	return 1;
}

static int name_classes(tn_dataset *dataset, const struct tn_dataset_raw *raw)
{
	if (!raw->class_names)
		return name_by_number(dataset);
	if (raw->own_class_names || raw->n_classes < dataset->n_classes)
		return copy_class_names(dataset, raw);
	dataset->class_names = raw->class_names;
	return 1;
}

/* Sets what batches have: images as f32. */
static void set_fields(tn_dataset *dataset)
{
	memcpy(dataset->fields, dataset->samples->fields, sizeof(dataset->fields));
	if (dataset->is_of_images)
		dataset->fields[0].dtype = TN_F32;
}

tn_status tn_dataset_build(struct tn_dataset_raw *raw, const char *name, const char *path,
			   tn_dataset **out, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	if (raw->normalise_as && raw->format.channels)
		status = check_normalise_as(raw, name, error);
	if (!status && !raw->samples)
		status = take_images(raw, error);
	if (!status && raw->format.channels)
		raw->n_classes = raw->format.n_classes;
	if (!status)
		status = check_labels(raw->samples, raw->n_classes, name, error);
	if (!status)
		status = check_wanted(raw, name, error);
	if (!status && raw->normalise_as && !raw->format.channels)
		status = tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				 "%s: normalise_as: expected a data set of images, found other "
				 "samples",
				 name);
	if (status)
		return status;
	tn_dataset *dataset = tn_mem_zeroed(1, sizeof(*dataset));
	if (!dataset)
		return tn_no_memory(error, OPERATION, name, NULL);
	dataset->name = tn_mem_copy_string(name);
	dataset->path = tn_mem_copy_string(path);
	dataset->origin = raw->origin ? raw->origin : "";
	dataset->n_classes = raw->n_classes_wanted ? raw->n_classes_wanted : raw->n_classes;
	dataset->is_of_images = raw->format.channels != 0;
	dataset->is_normalised_as = raw->normalise_as != NULL;
	dataset->format = raw->format;
	dataset->format.struct_size = sizeof(dataset->format);
	if (dataset->is_of_images)
		dataset->format.n_classes = dataset->n_classes;
	dataset->samples = tn_samples_hold(raw->samples);
	set_fields(dataset);
	if (!dataset->name || !dataset->path || !name_classes(dataset, raw))
		status = tn_no_memory(error, OPERATION, name, NULL);
	if (!status)
		status = tn_dataset_split(dataset, raw, error);
	if (!status && dataset->is_of_images)
		status = tn_dataset_normalise(dataset, raw->normalise_as, error);
	if (!status)
		*out = dataset;
	else
		tn_dataset_destroy(dataset);
	return status;
}

void tn_dataset_destroy(tn_dataset *dataset)
{
	if (!dataset || tn_quarantine_check(dataset, "dataset_destroy", NULL))
		return;
	for (uint32_t i = 0; dataset->own_class_names && i < dataset->n_classes; i++)
		tn_mem_free(dataset->own_class_names[i]);
	tn_mem_free(dataset->own_class_names);
	tn_mem_free(dataset->number_names);
	for (int part = 0; part < TN_N_PARTS; part++)
		tn_mem_free(dataset->index[part]);
	tn_samples_release(dataset->samples);
	tn_mem_free(dataset->name);
	tn_mem_free(dataset->path);
	tn_quarantine_end(dataset, "the data set has been destroyed");
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
	if (!(source->scale > 0) || !isfinite(source->scale))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "scale: expected a finite number above 0, found %g",
			       (double)source->scale);
	if (image_size > UINT32_MAX / TN_MAX_CHANNELS ||
	    source->n_images > TN_HOST_ARRAY_MAX_BYTES / (image_size * source->channels))
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "expected at most %llu bytes, found %llu images of %u x %u x %u",
			       (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
			       (unsigned long long)source->n_images, source->channels,
			       source->height, source->width);
	image_size *= source->channels;
	raw->n = source->n_images;
	raw->format = (struct tn_input_format){
		.channels = source->channels,
		.height = source->height,
		.width = source->width,
		.source_height = source->height,
		.source_width = source->width,
		.zoom = 1,
		.scale = source->scale,
		.n_classes = source->n_classes,
	};
	raw->images = tn_mem_alloc((size_t)(raw->n * image_size));
	raw->labels = tn_mem_alloc((size_t)raw->n * sizeof(*raw->labels));
	if (!raw->images || !raw->labels)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for %llu images",
			       (unsigned long long)raw->n);
	memcpy(raw->images, source->images, (size_t)(raw->n * image_size));
	memcpy(raw->labels, source->labels, (size_t)raw->n * sizeof(*raw->labels));
	return source->parts ? tn_dataset_copy_parts(raw, source->parts, raw->n, error) : TN_OK;
}

tn_status tn_dataset_create(const struct tn_dataset_source *given, tn_dataset **out,
			    struct tn_error_info *error)
{
	struct tn_dataset_source source = tn_dataset_source_defaults();
	struct tn_input_format as = {0};
	struct tn_dataset_raw raw = {0};
	tn_status status = tn_options_take(&source, sizeof(source), given,
					   "struct tn_dataset_source", OPERATION, error);
	const char *name = source.name ? source.name : "";
	if (!status && source.normalise_as)
		status = tn_input_format_take(&as, source.normalise_as, error);
	if (!status)
		status = copy_source(&source, &raw, error);
	if (!status)
		status = tn_dataset_take_fractions(
			&raw,
			&(struct tn_fractions){source.test_fraction, source.validation_fraction, 0},
			name, error);
	raw.class_names = source.class_names;
	raw.own_class_names = 1;
	raw.normalise_as = source.normalise_as ? &as : NULL;
	if (!status)
		status = tn_dataset_build(&raw, name, "", out, error);
	tn_dataset_raw_release(&raw);
	return status;
}

static int is_usable(const tn_dataset *dataset, const char *operation)
{
	return dataset && !tn_quarantine_check(dataset, operation, NULL);
}

const char *tn_dataset_name(const tn_dataset *dataset)
{
	return is_usable(dataset, "dataset_name") ? dataset->name : NULL;
}

const char *tn_dataset_path(const tn_dataset *dataset)
{
	return is_usable(dataset, "dataset_path") ? dataset->path : NULL;
}

const char *tn_dataset_origin(const tn_dataset *dataset)
{
	return is_usable(dataset, "dataset_origin") ? dataset->origin : NULL;
}

uint32_t tn_dataset_field_count(const tn_dataset *dataset)
{
	return is_usable(dataset, "dataset_fields") ? dataset->samples->n_fields : 0;
}

tn_status tn_dataset_field_at(const tn_dataset *dataset, uint32_t index, struct tn_field *field)
{
	if (index >= tn_dataset_field_count(dataset))
		return TN_INVALID_ARGUMENT;
	*field = dataset->fields[index];
	return TN_OK;
}

const struct tn_input_format *tn_dataset_format(const tn_dataset *dataset)
{
	return is_usable(dataset, "dataset_format") && dataset->is_of_images ? &dataset->format
									     : NULL;
}

uint32_t tn_dataset_class_count(const tn_dataset *dataset)
{
	return is_usable(dataset, "dataset_classes") ? dataset->n_classes : 0;
}

const char *tn_dataset_class_name(const tn_dataset *dataset, int32_t label)
{
	if (label < 0 || (uint32_t)label >= tn_dataset_class_count(dataset))
		return NULL;
	return dataset->class_names ? dataset->class_names[label] : dataset->number_names[label];
}

uint64_t tn_dataset_count(const tn_dataset *dataset, int part)
{
	if (!is_usable(dataset, "dataset_count") || part < 0 || part >= TN_N_PARTS)
		return 0;
	return dataset->count[part];
}

const uint8_t *tn_dataset_image(const tn_dataset *dataset, int part, uint64_t index, int32_t *label)
{
	if (!tn_dataset_format(dataset) || index >= tn_dataset_count(dataset, part))
		return NULL;
	const struct tn_samples *samples = dataset->samples;
	if (!samples->data[0])
		return NULL;
	uint32_t number = dataset->index[part][index];
	if (label)
		*label = ((const int32_t *)samples->data[1])[number];
	return (const uint8_t *)samples->data[0] + number * samples->size[0];
}

tn_status tn_dataset_picture(const tn_dataset *dataset, int part, uint64_t index,
			     struct tn_image *out, struct tn_error_info *error)
{
	if (!dataset)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "dataset is NULL");
	if (tn_quarantine_check(dataset, "dataset_picture", error))
		return TN_STATE;
	const struct tn_input_format *format = &dataset->format;
	if (!dataset->is_of_images || index >= tn_dataset_count(dataset, part))
		return tn_fail(
			error, TN_INVALID_ARGUMENT, OPERATION,
			"%s: expected an image below %llu of part %d, found %llu", dataset->name,
			(unsigned long long)(dataset->is_of_images ? tn_dataset_count(dataset, part)
								   : 0),
			part, (unsigned long long)index);
	size_t size = dataset->samples->size[0], plane = (size_t)format->height * format->width;
	uint8_t *from = tn_mem_alloc(size), *data = tn_mem_alloc(size);
	void *const fields[TN_MAX_FIELDS] = {from};
	tn_status status = TN_OK;
	if (!from || !data)
		status = tn_no_memory(error, OPERATION, dataset->name, "a picture");
	if (!status)
		status = tn_samples_read(dataset->samples, dataset->index[part][index], fields,
					 error);
	for (size_t c = 0; !status && c < format->channels; c++) {
		for (size_t i = 0; i < plane; i++) {
			float value = (float)from[c * plane + i] * 255.0f / format->scale + 0.5f;
			data[i * format->channels + c] = value >= 255 ? 255 : (uint8_t)value;
		}
	}
	tn_mem_free(from);
	if (status) {
		tn_mem_free(data);
		return status;
	}
	*out = (struct tn_image){.width = format->width,
				 .height = format->height,
				 .channels = format->channels,
				 .data = data};
	return TN_OK;
}
