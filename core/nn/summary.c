/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Summaries: a network as a tree in text, and what each module of it does with a given input, as a
 * watch sees it (array/watch.h).
 */
#include "nn/summary.h"

#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/handle.h"
#include "base/memory.h"
#include "base/text.h"
#include "nn/tree.h"

/* ---- The tree --------------------------------------------------------------------------------*/

static void add_shape(struct tn_text *text, int rank, const int64_t *shape)
{
	for (int axis = 0; axis < rank; axis++)
		tn_text_format(text, axis ? ", %lld" : "%lld", (long long)shape[axis]);
}

static void add_module(struct tn_text *text, const tn_module *module, const char *name, int depth)
{
	tn_text_format(text, "%*s%s%s%s", 2 * depth, "", name, *name ? ": " : "",
		       module->class_name);
	for (size_t i = 0; i < module->n_slots; i++) {
		const struct tn_weight *weight = module->slots[i].weight;
		tn_text_format(text, "%s%s (", i ? ", " : "  ", module->slots[i].name);
		add_shape(text, weight->rank, weight->shape);
		tn_text_add(text, weight->trainable ? ")" : ", frozen)");
	}
	for (size_t i = 0; i < module->n_buffers; i++) {
		const struct tn_buffer *buffer = module->buffers[i];
		tn_text_format(text, "%s%s (", i || module->n_slots ? ", " : "  ", buffer->name);
		add_shape(text, buffer->rank, buffer->shape);
		tn_text_add(text, buffer->rank ? ", buffer)" : "buffer)");
	}
	tn_text_add(text, "\n");
	for (size_t i = 0; i < module->n_members; i++)
		add_module(text, module->members[i].module, module->members[i].name, depth + 1);
}

static char *tree_of(const tn_module *module)
{
	struct tn_text text;
	tn_text_init(&text);
	add_module(&text, module, "", 0);
	tn_text_format(&text, "%lld parameters", (long long)tn_module_size(module, 0));
	if (tn_module_dtype(module) != TN_F32)
		tn_text_format(&text, " of %s", tn_dtype_name(tn_module_dtype(module)));
	tn_text_add(&text, "\n");
	return tn_text_take(&text);
}

/* ---- Rows ------------------------------------------------------------------------------------*/

int tn_path_depth(const char *path)
{
	int depth = *path != '\0';
	for (; *path; path++)
		depth += *path == '.';
	return depth;
}

void tn_watch_modules(tn_module *module, struct tn_watch *watch)
{
	for (size_t i = 0; i < module->n_module_listing; i++)
		module->module_listing[i].module->watch_row = watch ? (uint32_t)i + 1 : 0;
	module->runtime->watch = watch;
}

static void count_parameters(const tn_module *module, struct tn_summary_row *row)
{
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		const tn_dtype dtype = weight->value ? weight->value->dtype : TN_F32;
		row->parameters += weight->size;
		row->trainable += weight->trainable ? weight->size : 0;
		row->parameter_bytes += (uint64_t)weight->size * tn_dtype_size(dtype);
	}
	for (size_t i = 0; i < module->n_buffer_listing; i++) {
		const struct tn_buffer *buffer = module->buffer_listing[i].buffer;
		row->buffer_bytes += (uint64_t)buffer->size * tn_dtype_size(buffer->dtype);
	}
}

/* The rows before the forward. */
static tn_status make_rows(tn_summary *summary, tn_module *module)
{
	size_t size = 0, at = 0;
	summary->n = module->n_module_listing;
	for (size_t i = 0; i < summary->n; i++) {
		const struct tn_named_module *named = &module->module_listing[i];
		size += strlen(named->path) + strlen(named->module->class_name) + 2;
		if (tn_module_list(named->module))
			return module->runtime->error.status;
	}
	summary->rows = tn_mem_zeroed(summary->n, sizeof(*summary->rows));
	summary->names = tn_mem_alloc(size);
	if (!summary->rows || !summary->names)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_summary",
				       "no host memory for %zu rows", summary->n);
	for (size_t i = 0; i < summary->n; i++) {
		const struct tn_named_module *named = &module->module_listing[i];
		struct tn_summary_row *row = &summary->rows[i];
		row->path = summary->names + at;
		at += (size_t)sprintf(summary->names + at, "%s", named->path) + 1;
		row->class_name = summary->names + at;
		at += (size_t)sprintf(summary->names + at, "%s", named->module->class_name) + 1;
		row->depth = tn_path_depth(row->path);
		row->rank = -1;
		count_parameters(named->module, row);
	}
	return TN_OK;
}

/* The device whose memory counts. */
static struct tn_device *device_of(const tn_module *module)
{
	const tn_array *values = tn_module_root(module)->arena.values;
	return values ? tn_array_home(values) : module->runtime->device;
}

/* ---- The forward -----------------------------------------------------------------------------*/

static void begun(struct tn_watch *watch, struct tn_watch_frame *frame)
{
	(void)watch;
	(void)frame;
}

static void ended(struct tn_watch *watch, const struct tn_watch_frame *frame,
		  const tn_array *result)
{
	tn_summary *summary = (tn_summary *)watch;
	if (frame->kind != TN_WATCH_FORWARD || !result)
		return;
	struct tn_summary_row *row = &summary->rows[frame->row - 1];
	row->calls++;
	row->dtype = result->dtype;
	row->rank = result->rank;
	memcpy(row->shape, result->shape, (size_t)result->rank * sizeof(*row->shape));
	uint64_t peak = frame->high - frame->base;
	row->peak_bytes = peak > row->peak_bytes ? peak : row->peak_bytes;
	/* Of a module without members; add_members passes them on. */
	row->output_bytes += (uint64_t)result->size * tn_dtype_size(result->dtype);
}

static void multiplied(struct tn_watch *watch, int64_t n)
{
	if (watch->row)
		((tn_summary *)watch)->rows[watch->row - 1].multiply_adds += n;
}

static const struct tn_watch_functions functions = {
	.begun = begun, .ended = ended, .multiplied = multiplied};

/* Adds what rows have noted of their modules alone to the rows of the modules around them. */
static void add_members(tn_summary *summary)
{
	for (size_t i = summary->n; i-- > 0;) {
		struct tn_summary_row *row = &summary->rows[i];
		const struct tn_summary_row *next = row + 1;
		const struct tn_summary_row *end = summary->rows + summary->n;
		int has_members = next < end && next->depth > row->depth;
		if (!has_members)
			row->pass_bytes = row->parameters ? 2 * row->output_bytes : 0;
		else
			row->output_bytes = 0;
		for (; next < end && next->depth > row->depth; next++) {
			if (next->depth != row->depth + 1)
				continue;
			row->multiply_adds += next->multiply_adds;
			row->output_bytes += next->output_bytes;
			row->pass_bytes += next->pass_bytes;
		}
	}
}

static tn_array *zeros(tn_module *module, const struct tn_summary_options *o)
{
	struct tn_runtime *rt = module->runtime;
	struct tn_device *current = rt->device;
	rt->device = device_of(module);
	tn_array *x = tn_zeros(module->context, o->dtype, o->rank, o->shape);
	rt->device = current;
	return x;
}

static tn_status run_forward(tn_summary *summary, tn_module *module)
{
	struct tn_runtime *rt = module->runtime;
	const struct tn_random_state random = rt->random;
	unsigned char *modes = tn_mem_alloc(summary->n);
	if (!modes)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "module_summary",
				       "no host memory for the modes of %zu modules", summary->n);
	for (size_t i = 0; i < summary->n; i++)
		modes[i] = module->module_listing[i].module->training != 0;
	tn_module_set_training(module, 0);
	tn_no_grad_begin(module->context);
	tn_status status = tn_scope_begin(module->context);
	if (!status) {
		tn_array *x = zeros(module, &summary->options);
		tn_watch_modules(module, &summary->watch);
		status = tn_module_forward(module, x) ? TN_OK : rt->error.status;
		tn_watch_modules(module, NULL);
		tn_scope_end(module->context, NULL);
	}
	tn_no_grad_end(module->context);
	for (size_t i = 0; i < summary->n; i++)
		module->module_listing[i].module->training = modes[i];
	rt->random = random;
	tn_mem_free(modes);
	if (!status && summary->watch.failed)
		status = tn_runtime_no_memory(rt, "module_summary", "the modules that run");
	add_members(summary);
	return status;
}

/* ---- The public functions --------------------------------------------------------------------*/

static tn_status check(const tn_module *module, const struct tn_summary_options *o)
{
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status || !o->rank)
		return status;
	if (!tn_module_is_built(module) || tn_module_root(module)->frozen)
		return tn_runtime_fail(rt, TN_STATE, "module_summary",
				       tn_module_is_built(module)
					       ? "the network is frozen: unfreeze it for a summary "
						 "of an input"
					       : "the module has not been built");
	if (rt->watch || rt->capture)
		return tn_runtime_fail(rt, TN_STATE, "module_summary", "a %s has begun: end it",
				       rt->capture ? "capture" : "profile");
	int is_valid = o->rank >= 0 && o->rank <= TN_MAX_RANK && o->shape;
	for (int i = 0; is_valid && i < o->rank; i++)
		is_valid = o->shape[i] >= 0;
	if (is_valid)
		return TN_OK;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "module_summary",
			       "expected a rank of 0 to %d and a shape of lengths of at least 0, "
			       "found rank %d%s",
			       TN_MAX_RANK, o->rank, o->shape ? "" : " and no shape");
}

tn_summary *tn_summary_create(tn_module *module, const struct tn_summary_options *options)
{
	struct tn_summary_options o = tn_summary_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_summary_options", "module_summary"))
		return NULL;
	struct tn_runtime *rt = module->runtime;
	const tn_array *values = tn_module_root(module)->arena.values;
	if (!o.dtype)
		o.dtype = values ? values->dtype : TN_F32;
	tn_status status = check(module, &o);
	if (!status)
		status = tn_module_list(module);
	if (status)
		return NULL;
	tn_summary *summary = tn_mem_zeroed(1, sizeof(*summary));
	if (!summary) {
		tn_runtime_no_memory(rt, "module_summary", "a summary");
		return NULL;
	}
	memcpy(summary->shape, o.shape ? o.shape : summary->shape,
	       (size_t)o.rank * sizeof(*summary->shape));
	summary->runtime = rt;
	summary->options = o;
	summary->options.shape = summary->shape;
	summary->watch = (struct tn_watch){
		.functions = &functions, .device = device_of(module), .is_separate = 1};
	status = make_rows(summary, module);
	if (!status && o.rank)
		status = run_forward(summary, module);
	tn_watch_release(&summary->watch);
	if (!status)
		return summary;
	tn_summary_destroy(summary);
	return NULL;
}

void tn_summary_destroy(tn_summary *summary)
{
	if (!summary || tn_handle_has_ended(summary->runtime, summary, "summary_destroy"))
		return;
	tn_mem_free(summary->rows);
	tn_mem_free(summary->names);
	tn_handle_end(&summary->runtime, summary, "the summary");
}

size_t tn_summary_count(const tn_summary *summary)
{
	if (!summary || tn_handle_check(summary->runtime, "summary_count"))
		return 0;
	return summary->n;
}

tn_status tn_summary_at(const tn_summary *summary, size_t index, struct tn_summary_row *row)
{
	if (index >= tn_summary_count(summary))
		return TN_INVALID_ARGUMENT;
	return tn_runtime_answer(summary->runtime, row, &summary->rows[index], sizeof(*row),
				 "struct tn_summary_row", "summary_at");
}

char *tn_module_summary(tn_module *module, const struct tn_summary_options *options)
{
	if (!module || tn_handle_check(module->runtime, "module_summary"))
		return NULL;
	if (!options)
		return tree_of(module);
	tn_summary *summary = tn_summary_create(module, options);
	char *text = !summary                ? NULL
		     : summary->options.rank ? tn_summary_text(summary)
					     : tree_of(module);
	tn_summary_destroy(summary);
	return text;
}
