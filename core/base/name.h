/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Suggestions for a misspelt name.
 */
#ifndef TN_BASE_NAME_H
#define TN_BASE_NAME_H

#include <stddef.h>

/* The number of letters to insert, remove, replace or swap with a neighbour to turn a into b,
 * ignoring case.  The distance of a name longer than 63 letters is the maximum. */
size_t tn_name_distance(const char *a, const char *b);
/* The nearest of n names within the distance of a misspelling, else one that `name` abbreviates, or
 * NULL. */
const char *tn_name_nearest(const char *name, const char *const *names, size_t n);
/* The same of names that are members of n structs of `size` bytes; `first` is the first's. */
const char *tn_name_nearest_member(const char *name, const void *first, size_t n, size_t size);

#endif
