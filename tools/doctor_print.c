/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Prints the results as a table of at most 80 columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define WIDTH 80

const char *doctor_state_name(enum doctor_state state)
{
	static const char *const names[] = {"ok", "FAILED", "skipped"};
	return names[state];
}

/* Prints words in lines of at most WIDTH columns, indented by `indent`; the first line already has
 * `at`. */
static void print_wrapped(const char *text, int indent, int at)
{
	while (*text) {
		int word = (int)strcspn(text, " "), first = at <= indent;
		if (!first && at + 1 + word > WIDTH) {
			printf("\n%*s", indent, "");
			at = indent;
			first = 1;
		} else if (first && at < indent) {
			printf("%*s", indent - at, "");
			at = indent;
		}
		printf("%s%.*s", first ? "" : " ", word, text);
		at += word + !first;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_pair(const char *key, const char *text)
{
	printf("  %-16s", key);
	print_wrapped(text, 19, 18);
}

static void print_memory(const struct doctor_device *device)
{
	struct tn_memory_information memory;
	char text[96];
	double gib = 1073741824.0;
	if (!tn_device_get_memory_information(device->device, &memory))
		snprintf(text, sizeof(text), "%.1f GiB, %.1f GiB free",
			 (double)memory.total_bytes / gib, (double)memory.free_bytes / gib);
	else if (device->description->memory_bytes)
		snprintf(text, sizeof(text), "%.1f GiB",
			 (double)device->description->memory_bytes / gib);
	else
		return;
	print_pair("memory", text);
}

/* What a device computes f32 in, if it is another type. */
static void print_accuracy(const struct tn_device_description *d)
{
	const tn_dtype compute = doctor_compute_dtype(doctor_accuracy(d, TN_FAMILY_CONV));
	char text[80];
	if (compute == TN_F32)
		return;
	snprintf(text, sizeof(text), "f32 is computed in %s, and compared as such",
		 tn_dtype_name(compute));
	print_pair("accuracy", text);
}

void doctor_print_device(const struct doctor_device *device)
{
	static const char *const kinds[] = {"device",      "discrete GPU", "integrated GPU",
					    "accelerator", "processor",    "built in"};
	const struct tn_device_description *d = device->description;
	struct tn_report_line line;
	printf("%s: %s (%s)\n", device->name, d->name, kinds[d->kind <= 5 ? d->kind : 0]);
	print_memory(device);
	for (size_t i = 0; !tn_device_report_at(device->device, i, &line); i++)
		print_pair(line.key, line.text);
	print_accuracy(d);
	if (d->note[0])
		print_pair("note", d->note);
}

void doctor_print_head(void)
{
	printf("\n%-20s %5s  %-20s %5s %8s\n", "check", "cases", "where", "bound", "ms");
}

/* "ok", with the rate if one was measured. */
static void print_state(const struct doctor_result *result)
{
	printf(" %s", doctor_state_name(result->state));
	if (result->rate > 0 && result->state == DOCTOR_PASSED)
		printf(" %.*f %s", result->rate < 10 ? 1 : 0, result->rate, result->unit);
	putchar('\n');
}

void doctor_print_result(const struct doctor_result *result)
{
	printf("%-20s %5zu  %-20s ", result->check->name, result->cases, result->where);
	if (result->worst >= 0 && result->state != DOCTOR_SKIPPED)
		printf("%4.0f%%", 100 * result->worst);
	else
		printf("%5s", "");
	printf(" %8.*f", result->seconds < 100 ? 1 : 0, 1e3 * result->seconds);
	print_state(result);
	if (result->reason[0])
		print_wrapped(result->reason, 4, 0);
	fflush(stdout);
}

void doctor_print_sum(const struct doctor_device *device)
{
	printf("\n%s: %zu ok, %zu failed, %zu skipped, in %.1f s\n", device->name,
	       device->counts[DOCTOR_PASSED], device->counts[DOCTOR_FAILED],
	       device->counts[DOCTOR_SKIPPED], device->seconds);
}
