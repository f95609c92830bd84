/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the next run of weights with equal settings, and makes views of it.
 */
#include "optim/runs.h"

#include "array/array.h"

int tn_settings_equal(const struct tn_weight_setting *a, const struct tn_weight_setting *b)
{
	return a->steps == b->steps && a->lr_factor == b->lr_factor &&
	       a->weight_decay == b->weight_decay && a->is_adapted == b->is_adapted;
}

struct tn_weight_setting *tn_setting_at(const tn_module *module, struct tn_weight_setting *settings,
					size_t place)
{
	return &settings[module->arena.order[place]];
}

const char *tn_weight_name_at(const tn_module *module, size_t place)
{
	return module->listing[module->arena.order[place]].name;
}

int tn_next_run(const tn_module *module, const struct tn_weight_setting *settings, size_t *next,
		struct tn_run *run)
{
	const size_t *order = module->arena.order;
	int found = 0;
	for (; *next < module->n_listing; ++*next) {
		const struct tn_weight *weight = module->listing[order[*next]].weight;
		int wanted = weight->trainable && weight->filled;
		if (found && wanted && settings)
			wanted = tn_settings_equal(&settings[order[run->first]],
						   &settings[order[*next]]);
		if (found && !wanted)
			break;
		if (!wanted)
			continue;
		if (!found)
			*run = (struct tn_run){.begin = weight->offset, .first = *next};
		run->end = weight->offset + weight->size;
		run->last = *next + 1;
		found = 1;
	}
	return found;
}

tn_array *tn_slice_run(const tn_array *arena, const struct tn_run *run)
{
	return tn_slice(arena, 0, run->begin, run->end, 1);
}

tn_array *tn_view_weight(const tn_module *module, const tn_array *arena,
			 const struct tn_weight *weight)
{
	if (tn_scope_begin(module->context))
		return NULL;
	tn_array *part = tn_slice(arena, 0, weight->offset, weight->offset + weight->size, 1);
	tn_array *view = tn_reshape(part, weight->rank, weight->shape);
	if (view)
		tn_array_hold(view);
	tn_scope_end(module->context, NULL);
	return view;
}
