/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A checkpoint is read in four stages, so that a bad file changes nothing:
 *
 *	match   each tensor that is expected with the file's, and the texts
 *	read    all of them into host memory
 *	check   options, ranges and what must be finite
 *	apply   to the objects
 */
#include "train/checkpoint_load.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/bits.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/data_loader.h"
#include "io/file.h"
#include "io/safetensors_checksum.h"
#include "optim/optimizer.h"
#include "train/checkpoint_facts.h"

static const char operation[] = "checkpoint_load";

/* Where an item's values are. */
struct source {
	int is_found;
	size_t tensor; /* in the file */
	size_t offset; /* in the block of host memory */
};

struct loading {
	const char *path;
	struct tn_checkpoint_items items;
	tn_safetensors *file;
	struct source *sources; /* one for each item */
	char *is_used;          /* one for each tensor of the file */
	char *values;
	/* The first of the problems that come first in the order of kinds. */
	struct tn_error_info problem;
	enum tn_item_kind problem_kind;
	size_t n_problems;
};

static __attribute__((format(printf, 4, 5))) void add_problem(struct loading *loading,
							      enum tn_item_kind kind,
							      tn_status status, const char *format,
							      ...)
{
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!loading->n_problems || kind < loading->problem_kind) {
		tn_fail(&loading->problem, status, operation, "%s: %s",
			tn_file_label(loading->path), text);
		loading->problem_kind = kind;
	}
	loading->n_problems++;
}

static tn_status problems(const struct loading *loading, struct tn_error_info *error)
{
	if (!loading->n_problems)
		return TN_OK;
	*error = loading->problem;
	if (loading->n_problems > 1) {
		size_t at = strlen(error->text);
		snprintf(error->text + at, sizeof(error->text) - at, " (and %zu more)",
			 loading->n_problems - 1);
	}
	return error->status;
}

/* ---- Match -----------------------------------------------------------------------------------*/

static void match_text(struct loading *loading, const struct tn_checkpoint_text *text)
{
	const char *found = tn_safetensors_metadata(loading->file, text->key);
	if (!found)
		add_problem(loading, TN_ITEM_OPTION, TN_NOT_FOUND, "it was saved without %s %s",
			    strchr("aeiou", text->part[0]) ? "an" : "a", text->part);
	else if (strcmp(found, text->value) != 0)
		add_problem(loading, TN_ITEM_OPTION, TN_INVALID_ARGUMENT,
			    "%s: expected '%.100s', found '%.100s'", text->part, text->value,
			    found);
}

static tn_status match_item(struct loading *loading, size_t i)
{
	const struct tn_checkpoint_item *item = &loading->items.items[i];
	struct source *source = &loading->sources[i];
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	struct tn_error_info missing;
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (tn_safetensors_find(loading->file, item->name, &source->tensor, &missing)) {
		add_problem(loading, item->kind, TN_NOT_FOUND,
			    "tensor '%.150s': the file has no such tensor", item->name);
		return TN_OK;
	}
	loading->is_used[source->tensor] = 1;
	tn_status status = tn_safetensors_at(loading->file, source->tensor, &info);
	if (status)
		return status;
	if (info.dtype != item->dtype)
		add_problem(loading, item->kind, TN_DTYPE, "tensor '%.150s': expected %s, found %s",
			    item->name, tn_dtype_name(item->dtype), info.type);
	else if (info.rank != (uint32_t)item->rank ||
		 memcmp(info.shape, item->shape, (size_t)item->rank * sizeof(int64_t)) != 0)
		add_problem(loading, item->kind, TN_SHAPE,
			    "tensor '%.150s': expected shape %.80s, found %.80s", item->name,
			    tn_shape_print(item->rank, item->shape, expected),
			    tn_shape_print((int)info.rank, info.shape, found));
	else
		source->is_found = 1;
	return TN_OK;
}

/* A tensor of the file that no item has: of the network, or of a part that is loaded. */
static tn_status match_rest(struct loading *loading, const struct tn_checkpoint_own *own,
			    size_t tensor)
{
	const struct tn_checkpoint_items *items = &loading->items;
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	tn_status status = tn_safetensors_at(loading->file, tensor, &info);
	if (status)
		return status;
	if (info.name[0] != '.')
		add_problem(loading, TN_ITEM_NETWORK, TN_FORMAT,
			    "tensor '%.150s': the network has no such tensor", info.name);
	if (own->part && !strncmp(info.name, own->prefix, strlen(own->prefix)))
		add_problem(loading, TN_ITEM_OWN, TN_FORMAT,
			    "tensor '%.150s': the %s has nothing of that name", info.name,
			    own->part);
	for (size_t i = 0; i < items->n_texts; i++) {
		const struct tn_checkpoint_text *text = &items->texts[i];
		if (!strncmp(info.name, text->prefix, strlen(text->prefix)))
			add_problem(loading, TN_ITEM_STATE, TN_FORMAT,
				    "tensor '%.150s': the %s has nothing of that name", info.name,
				    text->part);
	}
	return TN_OK;
}

static tn_status match(struct loading *loading, const struct tn_checkpoint_own *own,
		       struct tn_error_info *error)
{
	const struct tn_checkpoint_items *items = &loading->items;
	size_t n_tensors = tn_safetensors_count(loading->file);
	tn_status status = TN_OK;
	loading->sources = tn_mem_zeroed(items->n, sizeof(*loading->sources));
	loading->is_used = tn_mem_zeroed(n_tensors, sizeof(*loading->is_used));
	if (!loading->sources || !loading->is_used)
		return tn_fail(error, TN_OUT_OF_MEMORY, operation,
			       "%s: no memory for a list of %zu tensors",
			       tn_file_label(loading->path), n_tensors);
	for (size_t i = 0; i < items->n_texts; i++)
		match_text(loading, &items->texts[i]);
	for (size_t i = 0; i < items->n && !status; i++)
		status = match_item(loading, i);
	for (size_t i = 0; i < n_tensors && !status; i++) {
		if (!loading->is_used[i])
			status = match_rest(loading, own, i);
	}
	return status;
}

/* ---- Read ------------------------------------------------------------------------------------*/

/* Whatever was found, also with other problems: they may explain themselves by the options. */
static tn_status read_values(struct loading *loading, struct tn_error_info *error)
{
	const struct tn_checkpoint_items *items = &loading->items;
	size_t size = 0;
	tn_status status = TN_OK;
	for (size_t i = 0; i < items->n; i++) {
		loading->sources[i].offset = size;
		size += (items->items[i].size_bytes + 7) / 8 * 8;
	}
	loading->values = tn_mem_alloc(size);
	if (!loading->values)
		return tn_fail(error, TN_OUT_OF_MEMORY, operation,
			       "%s: no memory for %zu bytes of tensors",
			       tn_file_label(loading->path), size);
	for (size_t i = 0; i < items->n && !status; i++) {
		const struct source *source = &loading->sources[i];
		if (source->is_found)
			status = tn_safetensors_read(loading->file, source->tensor,
						     loading->values + source->offset,
						     items->items[i].size_bytes, error);
	}
	return status;
}

/* ---- Check -----------------------------------------------------------------------------------*/

/* Numbers that different versions of a C library compute from equal options may differ a little. */
static int are_close(double a, double b)
{
	double largest = fmax(fabs(a), fabs(b));
	return a == b || (isnan(a) && isnan(b)) ||
	       (isfinite(largest) && fabs(a - b) <= 1e-9 * largest);
}

static void check_option(struct loading *loading, struct tn_checkpoint_item *item,
			 const char *values)
{
	const char *own = tn_checkpoint_item_host(item);
	for (size_t at = 0; at < item->size_bytes; at += 8) {
		uint64_t expected = bits_load(own + at, 8), found = bits_load(values + at, 8);
		double a = tn_f64_of_bits(expected), b = tn_f64_of_bits(found);
		const char *parameter =
			item->is_by_parameter ? loading->items.parameters[at / 8].name : NULL;
		if (item->dtype == TN_F64 && !are_close(a, b))
			add_problem(loading, TN_ITEM_OPTION, TN_INVALID_ARGUMENT,
				    "%s%s%.150s: expected %g, found %g", item->name + 1,
				    parameter ? " of " : "", parameter ? parameter : "", a, b);
		else if (item->is_hash && expected != found)
			add_problem(loading, TN_ITEM_OPTION, TN_INVALID_ARGUMENT,
				    "%s: expected that of this loader, found another",
				    item->name + 1);
		else if (item->dtype == TN_U64 && expected != found)
			add_problem(loading, TN_ITEM_OPTION, TN_INVALID_ARGUMENT,
				    "%s%s%.150s: expected %" PRIu64 ", found %" PRIu64,
				    item->name + 1, parameter ? " of " : "",
				    parameter ? parameter : "", expected, found);
		else
			continue;
		return;
	}
}

static void check_number(struct loading *loading, const struct tn_checkpoint_item *item,
			 const char *values)
{
	for (size_t at = 0; at < item->size_bytes; at += 8) {
		uint64_t bits = bits_load(values + at, 8);
		double value = tn_f64_of_bits(bits);
		const char *expected = NULL;
		if (item->range == TN_RANGE_NUMBER && isnan(value))
			expected = "a number";
		else if (item->range == TN_RANGE_RATE && !(value >= 0.0 && isfinite(value)))
			expected = "a finite number of 0 or more";
		else if (item->range == TN_RANGE_SCALE &&
			 !(value >= (double)FLT_MIN && value <= (double)FLT_MAX))
			expected = "an f32 above 0";
		if (expected)
			add_problem(loading, TN_ITEM_NUMBER, TN_LIMIT, "%s: expected %s, found %g",
				    item->name + 1, expected, value);
		else if (item->range == TN_RANGE_COUNT && bits >> 62)
			add_problem(loading, TN_ITEM_NUMBER, TN_LIMIT,
				    "%s: expected a number below 2^62, found %" PRIu64,
				    item->name + 1, bits);
		else
			continue;
		return;
	}
}

static void check_values(struct loading *loading)
{
	struct tn_checkpoint_items *items = &loading->items;
	for (size_t i = 0; i < items->n; i++) {
		struct tn_checkpoint_item *item = &items->items[i];
		const char *values = loading->values + loading->sources[i].offset;
		if (!loading->sources[i].is_found)
			continue;
		if (item->kind == TN_ITEM_OPTION)
			check_option(loading, item, values);
		else if (item->kind == TN_ITEM_NUMBER)
			check_number(loading, item, values);
		if (item->must_be_finite &&
		    !tn_checkpoint_is_finite(item->dtype, values, item->size_bytes))
			add_problem(loading, item->kind, TN_NOT_FINITE,
				    "tensor '%.150s': expected finite numbers, found an infinite "
				    "one or a NaN",
				    item->name);
	}
}

/* Copies the values of a kind to where they belong in host memory. */
static void take_host(const struct loading *loading, enum tn_item_kind kind)
{
	const struct tn_checkpoint_items *items = &loading->items;
	for (size_t i = 0; i < items->n; i++) {
		const struct tn_checkpoint_item *item = &items->items[i];
		if (item->kind == kind)
			memcpy(item->host, loading->values + loading->sources[i].offset,
			       item->size_bytes);
	}
}

/* A loader can be saved, and continues, at any index that tn_data_loader_seek takes. */
static void check_position(struct loading *loading)
{
	const tn_data_loader *loader = loading->items.all.loader;
	if (!loader)
		return;
	const struct tn_loader_facts facts = tn_data_loader_facts(loader);
	uint64_t index = loading->items.numbers.position.index;
	if (index > facts.count)
		add_problem(loading, TN_ITEM_NUMBER, TN_LIMIT,
			    "loader.index: expected at most %" PRIu64 ", found %" PRIu64,
			    facts.count, index);
}

/* ---- Apply -----------------------------------------------------------------------------------*/

static tn_status apply_arrays(const struct loading *loading)
{
	const struct tn_checkpoint_items *items = &loading->items;
	tn_status status = TN_OK;
	for (size_t i = 0; i < items->n && !status; i++) {
		const struct tn_checkpoint_item *item = &items->items[i];
		if (item->array)
			status = tn_assign_host(item->array,
						loading->values + loading->sources[i].offset,
						item->size_bytes);
	}
	return status;
}

/* The schedule sets the optimizer's rate, which the caller may have changed again. */
static tn_status apply_numbers(const struct tn_checkpoint_items *items, struct tn_error_info *error)
{
	const struct tn_checkpoint *all = &items->all;
	const struct tn_checkpoint_numbers *numbers = &items->numbers;
	tn_status status = TN_OK;
	for (size_t i = 0; i < items->n_parameters && !status; i++)
		status = tn_optimizer_set_steps(all->optimizer, items->parameters[i].index,
						numbers->steps[i]);
	if (!status && all->optimizer && all->optimizer->lookahead.slow)
		status = tn_lookahead_set_steps(all->optimizer, numbers->lookahead_steps);
	if (!status && all->schedule)
		status = tn_schedule_set_state(all->schedule, &numbers->schedule);
	if (!status && all->optimizer)
		tn_optimizer_set_lr(all->optimizer, numbers->lr);
	if (!status && all->average)
		status = tn_weight_average_set_updates(all->average, numbers->updates);
	if (!status && all->scaler)
		status = tn_grad_scaler_set_state(all->scaler, &numbers->scaler);
	if (status) {
		*error = items->runtime->error;
		return status;
	}
	tn_random_set_state(items->runtime->context, numbers->random);
	return all->loader ? tn_data_loader_seek(all->loader, numbers->position, error) : TN_OK;
}

/* ---- All -------------------------------------------------------------------------------------*/

tn_status tn_checkpoint_open(const char *path, tn_safetensors **out, int *is_damaged,
			     struct tn_error_info *error)
{
	tn_safetensors *file = NULL;
	*is_damaged = 0;
	tn_status status = tn_safetensors_open(path, &file, error);
	if (status) {
		*is_damaged = status != TN_OUT_OF_MEMORY;
		return status;
	}
	const char *version = tn_safetensors_metadata(file, TN_CHECKPOINT_KEY);
	char *end = NULL;
	unsigned long number = version ? strtoul(version, &end, 10) : 0;
	if (!version || *end || !number) {
		status = tn_fail(error, TN_FORMAT, operation,
				 "%s: expected the metadata '%s', found %s: not a checkpoint",
				 tn_file_label(path), TN_CHECKPOINT_KEY,
				 version ? "no version in it" : "none");
		*is_damaged = 1;
	} else if (number > TN_CHECKPOINT_VERSION) {
		const char *by = tn_safetensors_metadata(file, "tenon.version");
		status = tn_fail(error, TN_UNSUPPORTED, operation,
				 "%s: expected version %d of the format or an older one, found %lu "
				 "(saved by Tenon %.40s)",
				 tn_file_label(path), TN_CHECKPOINT_VERSION, number, by ? by : "?");
	}
	if (status)
		tn_safetensors_close(file);
	else
		*out = file;
	return status;
}

static tn_status load(struct loading *loading, const struct tn_checkpoint_own *own, int *is_damaged,
		      struct tn_error_info *error)
{
	struct tn_checkpoint_facts facts;
	const struct tn_checkpoint_items *items = &loading->items;
	tn_status status = match(loading, own, error);
	if (!status) {
		status = read_values(loading, error);
		*is_damaged = status == TN_FORMAT || status == TN_IO;
	}
	if (status)
		return status;
	check_values(loading);
	status = problems(loading, error);
	if (status)
		return status;
	take_host(loading, TN_ITEM_NUMBER);
	check_position(loading);
	status = problems(loading, error);
	if (status)
		return status;
	take_host(loading, TN_ITEM_OWN);
	status = own->take ? own->take(own->user) : TN_OK;
	if (!status)
		take_host(loading, TN_ITEM_EXTRA);
	if (!status)
		status = apply_arrays(loading);
	if (status) {
		*error = items->runtime->error;
		return status;
	}
	status = apply_numbers(items, error);
	if (status)
		return status;
	tn_checkpoint_facts_get(items->runtime,
				items->items[0].array ? tn_array_home(items->items[0].array)
						      : items->runtime->device,
				&facts);
	tn_checkpoint_facts_compare(&facts, loading->file, loading->path, items->runtime->logger);
	return TN_OK;
}

tn_status tn_checkpoint_read(const char *path, const struct tn_checkpoint *checkpoint,
			     const struct tn_checkpoint_own *own, int *is_damaged,
			     struct tn_error_info *error)
{
	struct loading loading = {.path = path};
	struct tn_checkpoint_own all = {.n_arrays = 0};
	struct tn_checkpoint given = tn_checkpoint_defaults();
	*is_damaged = 0;
	if (own)
		all = *own;
	tn_status status = tn_options_take(&given, sizeof(given), checkpoint,
					   "struct tn_checkpoint", operation, error);
	if (!status)
		status = tn_checkpoint_open(path, &loading.file, is_damaged, error);
	if (!status) {
		status = tn_safetensors_check(loading.file, error);
		*is_damaged = status == TN_FORMAT || status == TN_IO;
	}
	if (!status && all.prepare) {
		const char *text = tn_safetensors_metadata(loading.file, TN_CHECKPOINT_TEXT);
		status = all.prepare(all.user, text, loading.file->file.size, &all);
		if (status)
			*error = given.module->runtime->error;
	}
	if (!status)
		status = tn_checkpoint_items_make(&loading.items, &given, &all, operation, error);
	if (!status)
		status = load(&loading, &all, is_damaged, error);
	tn_safetensors_close(loading.file);
	tn_mem_free(loading.sources);
	tn_mem_free(loading.is_used);
	tn_mem_free(loading.values);
	tn_checkpoint_items_release(&loading.items);
	return status;
}

tn_status tn_checkpoint_load(const char *path, const struct tn_checkpoint *checkpoint)
{
	struct tn_error_info error;
	int is_damaged;
	if (!path || !checkpoint)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_checkpoint_read(path, checkpoint, NULL, &is_damaged, &error);
	return tn_checkpoint_keep(checkpoint, status, &error);
}
