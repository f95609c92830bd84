/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The distinct strings of a column, as classes with numbers.
 */
#ifndef TN_IO_CSV_CLASSES_H
#define TN_IO_CSV_CLASSES_H

#include <stddef.h>
#include <stdint.h>

struct tn_csv_class {
	char *name;
	int32_t number;
};

/* Zeroed: empty. */
struct tn_csv_classes {
	struct tn_csv_class *sorted; /* by the bytes of the names */
	size_t n;
	size_t capacity;
};

/* The number of the class, or -1.  *place: where it is, or would be inserted. */
int32_t tn_csv_classes_find(const struct tn_csv_classes *classes, const char *name, size_t *place);

/* Inserts a class at the place that tn_csv_classes_find returned; its number is the former n.
 * 0: no memory. */
int tn_csv_classes_insert(struct tn_csv_classes *classes, const char *name, size_t place);

void tn_csv_classes_release(struct tn_csv_classes *classes);

#endif
