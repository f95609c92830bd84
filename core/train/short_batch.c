/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a layer needs is a fact of its class (least_elements); how many elements a sample gives it
 * is what a summary of the network says.
 */
#include "train/short_batch.h"

#include <stdio.h>

#include "array/array.h"
#include "base/answer.h"
#include "base/dtype.h"
#include "data/data_loader.h"
#include "nn/tree.h"

static uint32_t most_needed(const tn_module *module)
{
	uint32_t most = 0;
	for (size_t i = 0; i < module->n_module_listing; i++) {
		const uint32_t least = module->module_listing[i].module->least_elements;
		most = least > most ? least : most;
	}
	return most;
}

/* Of each channel of its input, which has the shape of its result. */
static int64_t elements_per_sample(const struct tn_summary_row *row)
{
	int64_t n = 1;
	for (int axis = 2; axis < row->rank; axis++)
		n *= row->shape[axis];
	return n;
}

/* The layer that needs the most samples. */
static void find_layer(const tn_module *module, const tn_summary *summary,
		       struct tn_short_batch *found)
{
	for (size_t i = 0; i < module->n_module_listing; i++) {
		struct tn_summary_row row = {.struct_size = sizeof(row)};
		const tn_module *layer = module->module_listing[i].module;
		if (!layer->least_elements || tn_summary_at(summary, i, &row) || row.rank < 2)
			continue;
		const int64_t n = elements_per_sample(&row);
		const uint32_t least = n ? (uint32_t)((layer->least_elements + n - 1) / n) : 0;
		if (least <= found->least)
			continue;
		found->least = least;
		found->class_name = layer->class_name;
		found->path = module->module_listing[i].path;
	}
}

/* Leaves found->least at 0 where the network does not take one sample. */
static void find_least(tn_module *module, const struct tn_field *field,
		       struct tn_short_batch *found)
{
	int64_t shape[TN_MAX_RANK] = {1};
	struct tn_summary_options o = tn_summary_defaults();
	for (int axis = 0; axis < field->rank; axis++)
		shape[axis + 1] = field->shape[axis];
	o.rank = field->rank + 1;
	o.shape = shape;
	o.dtype = tn_is_floating(field->dtype) ? 0 : field->dtype;
	tn_summary *summary = tn_summary_create(module, &o);
	if (summary)
		find_layer(module, summary, found);
	else
		tn_error_clear(module->context);
	tn_summary_destroy(summary);
}

/* Synchronised batch norms are over the samples of all ranks. */
static uint32_t ranks_apart(const tn_module *module, uint32_t n_ranks)
{
	return tn_module_root(module)->norm_ranks ? 1 : n_ranks;
}

void tn_short_batch_look(tn_module *module, const tn_data_loader *loader,
			 struct tn_short_batch *found)
{
	const struct tn_loader_facts facts = tn_data_loader_facts(loader);
	const uint32_t rest = (uint32_t)(facts.limit % facts.batch_size);
	const uint32_t batches[] = {facts.limit < facts.batch_size ? 0 : facts.batch_size, rest};
	const uint32_t n = ranks_apart(module, facts.n_ranks);
	struct tn_field field;
	*found = (struct tn_short_batch){.struct_size = sizeof(*found)};
	if (tn_module_list(module) || tn_data_loader_field_at(loader, 0, &field) ||
	    field.rank >= TN_MAX_RANK)
		return;
	const uint32_t most = most_needed(module);
	for (int i = 0; i < 2 && !found->samples; i++) {
		const uint32_t share = batches[i] / n;
		if (!batches[i] || share >= most)
			continue;
		if (!found->least)
			find_least(module, &field, found);
		if (share >= found->least)
			continue;
		found->samples = batches[i];
		found->share = share;
		found->is_last = i == 1;
	}
}

tn_status tn_short_batch_find(tn_module *module, const tn_data_loader *loader,
			      struct tn_short_batch *found)
{
	static const char operation[] = "short_batch_find", type[] = "struct tn_short_batch";
	struct tn_short_batch own;
	if (!module || !loader)
		return tn_runtime_null(module ? module->runtime : NULL, operation,
				       module ? "loader" : "module");
	struct tn_runtime *rt = module->runtime;
	if (tn_answer_check(found, sizeof(own), type, operation, &rt->report))
		return tn_runtime_keep(rt, &rt->report);
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = tn_module_check_network(module, operation);
	if (status)
		return status;
	tn_short_batch_look(module, loader, &own);
	return tn_runtime_answer(rt, found, &own, sizeof(own), type, operation);
}

tn_status tn_short_batch_refuse(struct tn_runtime *rt, const tn_data_loader *loader,
				const struct tn_short_batch *found, const char *operation)
{
	const struct tn_loader_facts facts = tn_data_loader_facts(loader);
	const int is_apart = facts.n_ranks > 1 && found->share < found->samples;
	const int is_spare = found->is_last && facts.limit > facts.batch_size;
	char ranks[80] = "";
	if (is_apart)
		snprintf(ranks, sizeof(ranks), " (of %u on %u ranks)", found->samples,
			 facts.n_ranks);
	return tn_runtime_fail(rt, TN_SHAPE, operation,
			       "train: expected at least %u samples%s in %s for layer %s (%s), "
			       "found %u%s%s",
			       found->least, is_apart ? " on each rank" : "",
			       found->is_last ? "the last batch of an epoch" : "each batch",
			       found->path, found->class_name, found->share, ranks,
			       is_spare ? ": drop_last leaves it out" : "");
}

tn_status tn_batches_check(struct tn_runtime *rt, const tn_data_loader *loader,
			   const char *operation)
{
	const struct tn_loader_facts facts = tn_data_loader_facts(loader);
	if (facts.limit)
		return TN_OK;
	if (!facts.count)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "train: expected a part with samples, found none");
	if (facts.whole)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "train: expected at least one sample for each of %u ranks, "
				       "found %llu in all",
				       facts.n_ranks, (unsigned long long)facts.count);
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			       "train: expected at least a batch of %u samples with drop_last, "
			       "found %llu in all",
			       facts.batch_size, (unsigned long long)facts.count);
}
