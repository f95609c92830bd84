/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every device of every loaded backend is ranked by kind, score (higher first), name and number;
 * the named ones then go to the front in the order in which they are named.
 *
 * Notices: one when the first choice is not the selection's first name, with the reason; else one
 * for each absent known backend whose hardware is present and would have been preferred; else one
 * when only the built-in backend is available.  Each names the device used.  Broken files get a
 * warning of one line each, unless a notice names them.
 */
#include "loader/rank_devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "loader/registry.h"
#include "loader/report.h"

int tn_kind_rank(uint32_t kind)
{
	switch (kind) {
	case TN_DEVICE_DISCRETE_GPU:
		return 1;
	case TN_DEVICE_INTEGRATED_GPU:
		return 2;
	case TN_DEVICE_ACCELERATOR:
		return 3;
	case TN_DEVICE_CPU:
		return 5;
	case TN_DEVICE_REFERENCE:
		return 6;
	default: /* a vendor's own kind counts as an accelerator */
		return 4;
	}
}

static const struct tn_device_description *device_of(const struct tn_choice *choice)
{
	return &choice->backend->devices[choice->index];
}

static int by_rank(const void *left, const void *right)
{
	const struct tn_choice *a = left, *b = right;
	int difference = tn_kind_rank(device_of(a)->kind) - tn_kind_rank(device_of(b)->kind);
	if (difference)
		return difference;
	if (device_of(a)->score != device_of(b)->score)
		return device_of(a)->score > device_of(b)->score ? -1 : 1;
	difference = strcmp(a->backend->plugin.name, b->backend->plugin.name);
	if (difference)
		return difference;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* All devices, ranked.  NULL: out of memory. */
static struct tn_choice *rank_devices(const struct tn_registry *registry, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < registry->n_backends; i++)
		*n += registry->backends[i]->n_devices;
	struct tn_choice *all = tn_mem_zeroed(*n + 1, sizeof(*all));
	if (!all)
		return NULL;
	size_t next = 0;
	for (size_t i = 0; i < registry->n_backends; i++) {
		for (uint32_t j = 0; j < registry->backends[i]->n_devices; j++)
			all[next++] = (struct tn_choice){registry->backends[i], j};
	}
	qsort(all, *n, sizeof(*all), by_rank);
	return all;
}

static void add_once(struct tn_registry *registry, const struct tn_choice *choice)
{
	for (size_t i = 0; i < registry->n_choices; i++) {
		if (registry->choices[i].backend == choice->backend &&
		    registry->choices[i].index == choice->index)
			return;
	}
	registry->choices[registry->n_choices++] = *choice;
}

/* Why a backend, or a device of it, is unavailable, as text and status. */
static tn_status add_reason(struct tn_text *text, const struct tn_load_report *report,
			    const struct tn_selection_item *item)
{
	const struct tn_load_row *row = tn_load_report_find(report, item->name);
	if (row->status && row->hardware_seen && row->hardware[0])
		tn_text_format(text, "%s present, ", row->hardware);
	tn_text_add(text, item->name);
	if (item->index != TN_ANY_INDEX)
		tn_text_format(text, ":%" PRId64, item->index);
	if (!row->status) {
		tn_text_format(text, " not used: NO_DEVICE: %s has %" PRIu32 " device%s",
			       item->name, row->n_devices, row->n_devices == 1 ? "" : "s");
		return TN_NO_DEVICE;
	}
	tn_text_format(text, " not used: %s: %s", tn_status_name(row->status), row->text);
	if (row->status == TN_MISSING_LIBRARY && row->packages[0])
		tn_text_format(text, "; install %s", row->packages);
	return row->status;
}

/* The same of an item that names no backend: what hinders the backends known for such hardware, of
 * which there is a plugin or the hardware. */
static tn_status add_reason_of_any(struct tn_text *text, const struct tn_load_report *report,
				   const struct tn_known_list *known,
				   const struct tn_selection_item *item)
{
	tn_status first = TN_OK;
	for (size_t i = 0; i < known->n; i++) {
		const struct tn_known *entry = &known->list[i];
		const struct tn_load_row *row = tn_load_report_find(report, entry->name);
		struct tn_selection_item absent = {.index = TN_ANY_INDEX};
		const int is_here = row->path || (entry->seen && entry->n_signs);
		if (!row->status || row->status == TN_EXCLUDED || !is_here ||
		    !tn_selection_item_is_kind(item, entry->kind))
			continue;
		snprintf(absent.name, sizeof(absent.name), "%s", entry->name);
		tn_text_add(text, first ? "; " : "");
		tn_status status = add_reason(text, report, &absent);
		first = first ? first : status;
	}
	if (first)
		return first;
	tn_text_format(text, "%s not used: NO_DEVICE: no backend has such a device", item->name);
	return TN_NO_DEVICE;
}

/* Writes the choices that an item names; whether there is one. */
static int add_named(struct tn_registry *registry, const struct tn_selection_item *item,
		     const struct tn_choice *all, size_t n)
{
	int matched = 0;
	for (size_t i = 0; i < n; i++) {
		if (!tn_selection_item_is(item, all[i].backend->plugin.name, all[i].index,
					  device_of(&all[i])))
			continue;
		matched = 1;
		add_once(registry, &all[i]);
	}
	return matched;
}

static void add_others(struct tn_registry *registry, const struct tn_choice *all, size_t n)
{
	if (registry->selection.required)
		return;
	for (size_t i = 0; i < n; i++)
		add_once(registry, &all[i]);
}

/* with_unlikely: those too that start slowly, and of whose hardware there is no sign. */
static tn_status count_waiting(struct tn_registry *registry, int with_unlikely)
{
	tn_status status = TN_OK;
	for (size_t i = 0; !status && i < registry->n_backends; i++) {
		struct tn_backend *backend = registry->backends[i];
		if (backend->waiting && (with_unlikely || !backend->is_unlikely))
			status = tn_backend_count(backend);
	}
	return status;
}

tn_status tn_choose_again(struct tn_registry *registry)
{
	size_t n;
	if (count_waiting(registry, 1))
		return TN_OUT_OF_MEMORY;
	struct tn_choice *all = rank_devices(registry, &n);
	struct tn_choice *choices = tn_mem_zeroed(n + 1, sizeof(*choices));
	if (!all || !choices) {
		tn_mem_free(all);
		tn_mem_free(choices);
		return TN_OUT_OF_MEMORY;
	}
	tn_mem_free(registry->choices);
	registry->choices = choices;
	registry->n_choices = 0;
	for (size_t i = 0; i < registry->selection.n_named; i++)
		add_named(registry, &registry->selection.named[i], all, n);
	add_others(registry, all, n);
	tn_mem_free(all);
	return TN_OK;
}

/* Writes the named choices, then the others.  *reasons and *missing describe the items of the
 * selection skipped before the first choice. */
static void select_choices(const struct tn_loading *loading, const struct tn_known_list *known,
			   struct tn_registry *registry, const struct tn_choice *all, size_t n,
			   struct tn_text *reasons, tn_status *missing)
{
	const struct tn_selection *selection = &loading->selection;
	for (size_t i = 0; i < selection->n_named; i++) {
		const struct tn_selection_item *item = &selection->named[i];
		const int matched = add_named(registry, item, all, n);
		if (matched || registry->n_choices)
			continue;
		if (reasons->length)
			tn_text_add(reasons, "; ");
		tn_status status =
			item->what == TN_SELECTS_BACKEND
				? add_reason(reasons, loading->report, item)
				: add_reason_of_any(reasons, loading->report, known, item);
		*missing = *missing ? *missing : status;
	}
	add_others(registry, all, n);
}

/* Where a plugin that is not there was looked for. */
static void add_folders(struct tn_text *text, const struct tn_candidates *candidates)
{
	if (!candidates->n_folders)
		return;
	tn_text_add(text, "; searched ");
	tn_search_describe(candidates, text);
}

static tn_status add_notice(const struct tn_loading *loading, const struct tn_choice *choice,
			    struct tn_text *text)
{
	int last_resort = device_of(choice)->kind == TN_DEVICE_REFERENCE;
	tn_text_format(text, "; using %s:%" PRIu32 "%s", choice->backend->plugin.name,
		       choice->index, last_resort ? ", which is built in and slow" : "");
	if (text->failed || !tn_report_add_notice(loading->report, text->data))
		return TN_OUT_OF_MEMORY;
	tn_log_format(loading->options->logger, TN_LOG_NOTICE, "loader", "%s",
		      loading->report->notices[loading->report->n_notices - 1]);
	return TN_OK;
}

/* Would the known, absent backend have been preferred to the choice? */
static int is_missed(const struct tn_load_report *report, const struct tn_known *known,
		     const struct tn_choice *choice)
{
	const struct tn_load_row *row = tn_load_report_find(report, known->name);
	int rank = tn_kind_rank(known->kind), chosen = tn_kind_rank(device_of(choice)->kind);
	return row && row->status && row->status != TN_EXCLUDED && known->seen &&
	       known->hardware[0] && (rank < chosen || (rank == chosen && known->n_signs));
}

static tn_status notify(const struct tn_loading *loading, const struct tn_known_list *known,
			struct tn_registry *registry, struct tn_text *reasons)
{
	const struct tn_choice *choice = &registry->choices[0];
	int last_resort = device_of(choice)->kind == TN_DEVICE_REFERENCE &&
			  !tn_selection_names(&loading->selection, choice->backend->plugin.name);
	registry->fell_back = reasons->length > 0 || last_resort;
	loading->report->fell_back = registry->fell_back;
	if (reasons->length)
		return add_notice(loading, choice, reasons);
	if (loading->selection.n_named)
		return TN_OK;
	tn_status status = TN_OK;
	for (size_t i = 0; !status && i < known->n; i++) {
		if (!is_missed(loading->report, &known->list[i], choice))
			continue;
		struct tn_selection_item item = {.index = TN_ANY_INDEX};
		struct tn_text text;
		snprintf(item.name, sizeof(item.name), "%s", known->list[i].name);
		tn_text_init(&text);
		if (add_reason(&text, loading->report, &item) == TN_NO_PLUGIN && last_resort)
			add_folders(&text, &loading->candidates);
		status = add_notice(loading, choice, &text);
		tn_text_release(&text);
	}
	if (status || !last_resort || loading->report->n_notices)
		return status;
	tn_text_add(reasons, "no backend plugin is usable");
	add_folders(reasons, &loading->candidates);
	return add_notice(loading, choice, reasons);
}

/* Does a notice name that backend already? */
static int is_mentioned(const struct tn_load_report *report, const char *text)
{
	for (size_t i = 0; i < report->n_notices; i++) {
		if (strstr(report->notices[i], text))
			return 1;
	}
	return 0;
}

static void warn_of_broken(const struct tn_loading *loading)
{
	for (size_t i = 0; i < loading->report->n_rows; i++) {
		const struct tn_load_row *row = loading->report->rows[i];
		int broken = row->status == TN_BAD_PLUGIN || row->status == TN_ABI_MISMATCH ||
			     row->status == TN_REFUSED || row->status == TN_PROBE_FAILED;
		if (broken && row->path && !is_mentioned(loading->report, row->text) &&
		    !tn_simulation_of(&loading->simulation, row->name))
			tn_log_format(loading->options->logger, TN_LOG_WARNING, "loader",
				      "%s: %s: %s", row->path, tn_status_name(row->status),
				      row->text);
	}
}

/* Is there a device that the selection names?  If not, any may be the next best. */
static int has_named(const struct tn_registry *registry)
{
	for (size_t i = 0; i < registry->n_backends; i++) {
		const struct tn_backend *backend = registry->backends[i];
		for (uint32_t j = 0; j < backend->n_devices; j++) {
			for (size_t k = 0; k < registry->selection.n_named; k++) {
				if (tn_selection_item_is(&registry->selection.named[k],
							 backend->plugin.name, j,
							 &backend->devices[j]))
					return 1;
			}
		}
	}
	return 0;
}

static int has_usable(const struct tn_registry *registry)
{
	for (size_t i = 0; i < registry->n_backends; i++) {
		const struct tn_backend *backend = registry->backends[i];
		for (uint32_t j = 0; j < backend->n_devices; j++) {
			if (backend->devices[j].kind != TN_DEVICE_REFERENCE)
				return 1;
		}
	}
	return 0;
}

static tn_status count_next_best(struct tn_registry *registry)
{
	tn_status status = count_waiting(registry, 0);
	return status || has_usable(registry) ? status : count_waiting(registry, 1);
}

static void mark_selected(struct tn_load_report *report, const struct tn_choice *choice)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		struct tn_load_row *row = report->rows[i];
		if (!row->status && !strcmp(row->name, choice->backend->plugin.name)) {
			row->selected = 1;
			row->selected_device = choice->index;
		}
	}
}

tn_status tn_choose_backend(struct tn_loading *loading, const struct tn_known_list *known,
			    struct tn_registry *registry, struct tn_error_info *error)
{
	size_t n;
	tn_status missing = TN_OK, status = TN_OUT_OF_MEMORY;
	struct tn_text reasons;
	tn_text_init(&reasons);
	struct tn_choice *all = NULL;
	if (!has_named(registry) && count_next_best(registry))
		goto out;
	all = rank_devices(registry, &n);
	registry->choices = all ? tn_mem_zeroed(n + 1, sizeof(*registry->choices)) : NULL;
	if (!all || !registry->choices)
		goto out;
	select_choices(loading, known, registry, all, n, &reasons, &missing);
	if (missing == TN_NO_PLUGIN)
		add_folders(&reasons, &loading->candidates);
	if (reasons.failed)
		goto out;
	if (!registry->n_choices && reasons.length) {
		status = tn_fail(error, missing, loading->source, "%s", reasons.data);
	} else if (!registry->n_choices) {
		status = tn_fail(error, TN_NO_DEVICE, loading->source,
				 "no backend has a device (selection '%s'); 'tenon info' shows why",
				 loading->report->selection);
	} else {
		mark_selected(loading->report, &registry->choices[0]);
		status = notify(loading, known, registry, &reasons);
	}
	warn_of_broken(loading);
out:
	tn_text_release(&reasons);
	tn_mem_free(all);
	return status;
}
