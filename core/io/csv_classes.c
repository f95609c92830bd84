/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds and inserts the classes of a column in a sorted array: labels are looked up far more often
 * than classes are inserted.
 */
#include "io/csv_classes.h"

#include <string.h>

#include "base/memory.h"

int32_t tn_csv_classes_find(const struct tn_csv_classes *classes, const char *name, size_t *place)
{
	size_t low = 0, high = classes->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(classes->sorted[middle].name, name);
		if (order == 0) {
			*place = middle;
			return classes->sorted[middle].number;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*place = low;
	return -1;
}

int tn_csv_classes_insert(struct tn_csv_classes *classes, const char *name, size_t place)
{
	if (classes->n == classes->capacity) {
		size_t capacity = classes->capacity ? 2 * classes->capacity : 16;
		struct tn_csv_class *sorted =
			tn_mem_realloc(classes->sorted, capacity, sizeof(*sorted));
		if (!sorted)
			return 0;
		classes->sorted = sorted;
		classes->capacity = capacity;
	}
	char *copy = tn_mem_copy_string(name);
	if (!copy)
		return 0;
	memmove(classes->sorted + place + 1, classes->sorted + place,
		(classes->n - place) * sizeof(*classes->sorted));
	classes->sorted[place] = (struct tn_csv_class){copy, (int32_t)classes->n++};
	return 1;
}

void tn_csv_classes_release(struct tn_csv_classes *classes)
{
	for (size_t i = 0; i < classes->n; i++)
		tn_mem_free(classes->sorted[i].name);
	tn_mem_free(classes->sorted);
	memset(classes, 0, sizeof(*classes));
}
