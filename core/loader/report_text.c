/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The load report as plain text: a line per backend, with its devices or its reason below, and the
 * notices at the end.
 */
#include <inttypes.h>
#include <string.h>

#include <tenon/status.h>

#include "base/memory.h"
#include "base/text.h"
#include "loader/identity.h"
#include "loader/kind.h"
#include "loader/report.h"
#include "loader/report_pairs.h"

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[TN_DEVICE_DISCRETE_GPU] = "GPU",
		[TN_DEVICE_INTEGRATED_GPU] = "integrated GPU",
		[TN_DEVICE_ACCELERATOR] = "accelerator",
		[TN_DEVICE_CPU] = "CPU",
		[TN_DEVICE_REFERENCE] = "reference",
	};
	if (kind < TN_DEVICE_DISCRETE_GPU || kind > TN_DEVICE_REFERENCE)
		return "device";
	return names[kind];
}

/* "cuda.cudnn=auto (choice, environment; default off)". */
static void add_option(struct tn_text *text, const struct tn_load_row *row,
		       const struct tn_load_option *option)
{
	tn_text_format(text, "%s.%s=%s (%s, %s", row->name, option->name, option->value,
		       tn_option_type_name(option->type), option->origin);
	if (strcmp(option->origin, "default") != 0)
		tn_text_format(text, "; default %s",
			       option->standard[0] ? option->standard : "none");
	tn_text_add(text, ")\n");
}

/* As a selection takes them. */
static void add_identities(struct tn_text *text, const struct tn_device_description *device)
{
	char identity[TN_IDENTITY_TEXT];
	for (int which = 0; which < 2; which++) {
		if (tn_identity_write(device, which, identity))
			tn_text_format(text, ", %s", identity);
	}
}

static void add_row(struct tn_text *text, const tn_load_report *report,
		    const struct tn_load_row *row, int width)
{
	int indent = width + 4;
	tn_text_format(text, "%c %-*s  %-15s", row->selected ? '*' : ' ', width, row->name,
		       row->status                    ? tn_status_name(row->status)
		       : row->stage == TN_STAGE_READY ? "ready"
						      : "found");
	if (row->version[0])
		tn_text_format(text, " %s", row->version);
	if (row->found)
		tn_text_format(text, " %s", row->path ? row->path : tn_found_name(row->found));
	if (row->found > TN_FOUND_BUILT_IN && row->path)
		tn_text_format(text, " (%s)", tn_found_name(row->found));
	if (row->microseconds)
		tn_text_format(text, " %.1f ms", (double)row->microseconds / 1000.0);
	tn_text_add(text, "\n");
	for (uint32_t i = 0; i < row->n_devices; i++) {
		const struct tn_device_description *device = row->devices[i];
		tn_text_format(text, "%*s%s:%" PRIu32 "  %s, %s", indent, "", row->name, i,
			       device->name, kind_name(device->kind));
		if (device->memory_bytes)
			tn_text_format(text, ", %.1f GiB",
				       (double)device->memory_bytes / (1024.0 * 1024.0 * 1024.0));
		add_identities(text, device);
		struct tn_report_pair pairs[TN_MOST_PAIRS];
		size_t n = tn_report_pairs(report, row, i, pairs, TN_MOST_PAIRS);
		for (size_t j = 0; j < n; j++)
			tn_text_format(text, "%s%s:%" PRIu32, j ? ", " : ", the same device as ",
				       pairs[j].row->name, pairs[j].device);
		if (device->note[0])
			tn_text_format(text, " (%s)", device->note);
		tn_text_add(text, "\n");
	}
	for (uint32_t i = 0; i < row->n_options; i++) {
		tn_text_format(text, "%*s", indent, "");
		add_option(text, row, row->options[i]);
	}
	if (row->text[0])
		tn_text_format(text, "%*s%s\n", indent, "", row->text);
}

const char *tn_load_report_text(const tn_load_report *constant)
{
	/* The object was made by this library, on the heap: only the reader sees it constant. */
	tn_load_report *report = (tn_load_report *)constant;
	if (!tn_report_is_usable(report, "load_report_text"))
		return NULL;
	if (report->text)
		return report->text;
	int width = 7;
	for (size_t i = 0; i < report->n_rows; i++) {
		int length = (int)strlen(report->rows[i]->name);
		width = length > width ? length : width;
	}
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s: %s%s\n",
		       report->kind == &tn_backend_kind ? "selection" : report->kind->name,
		       report->selection, report->fell_back ? " (fell back)" : "");
	for (size_t i = 0; i < report->n_rows; i++)
		add_row(&text, report, report->rows[i], width);
	for (size_t i = 0; i < report->n_notices; i++)
		tn_text_format(&text, "notice: %s\n", report->notices[i]);
	report->text = tn_text_take(&text);
	return report->text;
}
