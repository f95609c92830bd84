/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Measures how much two names differ, and suggests the one that was probably meant.
 */
#include "base/name.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau's distance with restricted swaps ("optimal string alignment"), by rows: row i holds the
 * distances from a[0..i) to every b[0..j). */
size_t tn_name_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	if (n > 63 || m > 63)
		return SIZE_MAX;
	size_t rows[3][64];
	for (size_t i = 0; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_up = rows[(i + 1) % 3];
		for (size_t j = 0; j <= m; j++) {
			if (i == 0 || j == 0) {
				row[j] = i + j;
				continue;
			}
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);
			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]))
				row[j] = least(row[j], two_up[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

/* Is `word` an abbreviation of `name`: the same first letter, all letters in order, and few more in
 * `name`?  "adm", "adamw" */
static int is_short_for(const char *word, const char *name)
{
	size_t n = strlen(word), found = 0;
	if (n < 2 || strlen(name) > 2 * n || *word != *name)
		return 0;
	for (; *name && found < n; name++)
		found += *name == word[found];
	return found == n;
}

static const char *name_at(const void *first, size_t index, size_t size)
{
	const char *name;
	memcpy(&name, (const char *)first + index * size, sizeof(name));
	return name;
}

const char *tn_name_nearest_member(const char *name, const void *first, size_t n, size_t size)
{
	/* One edit in names of up to four letters, two in up to seven, and so on. */
	size_t best_distance = strlen(name) < 5 ? 1 : (strlen(name) + 1) / 3;
	const char *best = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *known = name_at(first, i, size);
		size_t distance = tn_name_distance(name, known);
		if (distance < best_distance + (best == NULL)) {
			best_distance = distance;
			best = known;
		}
	}
	for (size_t i = 0; !best && i < n; i++) {
		const char *known = name_at(first, i, size);
		best = is_short_for(name, known) ? known : NULL;
	}
	return best;
}

const char *tn_name_nearest(const char *name, const char *const *names, size_t n)
{
	return tn_name_nearest_member(name, names, n, sizeof(*names));
}
