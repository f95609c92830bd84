/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What commands say of data sets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "print_error.h"
#include "terminal.h"
#include "tool.h"

/* ", y i32 ()" */
static void add_field(const struct tn_field *field, int is_first, char *text, size_t size)
{
	size_t at = strlen(text);
	at += (size_t)snprintf(text + at, size - at, "%s%s %s (", is_first ? "" : ", ", field->name,
			       tn_dtype_name(field->dtype));
	for (int i = 0; i < field->rank && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, i ? ", %" PRId64 : "%" PRId64,
				       field->shape[i]);
	if (at < size)
		snprintf(text + at, size - at, ")");
}

int not_pictures(const char *command, const tn_dataset *dataset)
{
	char text[512] = "";
	for (uint32_t i = 0; i < tn_dataset_field_count(dataset); i++) {
		struct tn_field field;
		if (!tn_dataset_field_at(dataset, i, &field) && strlen(text) < sizeof(text) - 160)
			add_field(&field, i == 0, text, sizeof(text));
	}
	print_error("tenon %s: %s: expected labelled pictures, which are bytes with a whole number "
		    "each, found %s",
		    command, tn_dataset_name(dataset), text);
	return EXIT_FAILED;
}

static uint64_t sum(const uint64_t *counts, uint32_t n)
{
	uint64_t result = 0;
	for (uint32_t i = 0; i < n; i++)
		result += counts[i];
	return result;
}

static int is_number(const tn_dataset *dataset, uint32_t class)
{
	char number[12];
	snprintf(number, sizeof(number), "%u", class);
	return !strcmp(tn_dataset_class_name(dataset, (int32_t) class), number);
}

void say_untested(const char *command, const tn_dataset *dataset, int has_spare,
		  const uint64_t *confusion)
{
	const uint32_t n = tn_dataset_class_count(dataset);
	uint32_t end = n, first = n, n_untested = 0;
	while (has_spare && end && is_number(dataset, end - 1) &&
	       !sum(confusion + (size_t)(end - 1) * n, n))
		end--;
	for (uint32_t i = end; i-- > 0;) {
		if (sum(confusion + (size_t)i * n, n))
			continue;
		first = i;
		n_untested++;
	}
	if (n_untested)
		say("tenon %s: %s: the test part has no pictures of class %u ('%s')%s\n", command,
		    tn_dataset_name(dataset), first, tn_dataset_class_name(dataset, (int32_t)first),
		    n_untested > 1 ? ", nor of others" : "");
}
