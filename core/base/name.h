/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Names that are like a misspelt one.
 */
#ifndef TN_BASE_NAME_H
#define TN_BASE_NAME_H

#include <stddef.h>

/* How many letters must be inserted, removed, replaced or swapped with their neighbour to make b of
 * a, whatever their case.  Names longer than 63 are as far apart as can be. */
size_t tn_name_distance(const char *a, const char *b);
/* The nearest of n names that is near enough to be a misspelling, else one of which `name` leaves
 * letters out, or NULL. */
const char *tn_name_nearest(const char *name, const char *const *names, size_t n);

#endif
