/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Prints a confusion matrix with a row for each class.
 */
#include "confusion.h"

#include <inttypes.h>
#include <stdio.h>

#include "tool.h"

/* The column width: the digits of the largest number. */
void print_confusion(const uint64_t *confusion, uint32_t n, const char *classes)
{
	char name[32];
	uint64_t largest = n - 1;
	for (size_t i = 0; i < (size_t)n * n; i++)
		largest = confusion[i] > largest ? confusion[i] : largest;
	int width = 1 + snprintf(NULL, 0, "%" PRIu64, largest);
	printf("\nlabel \\ answer");
	for (uint32_t i = 0; i < n; i++)
		printf(" %*u", width, i);
	for (uint32_t row = 0; row < n; row++) {
		printf("\n%-14.14s", class_name(classes, row, name, sizeof(name)));
		for (uint32_t column = 0; column < n; column++)
			printf(" %*" PRIu64, width, confusion[row * n + column]);
	}
	printf("\n");
}
