/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Conversion between elements of a line and items with keys.
 */
#ifndef CPU_SORT_KEYS_H
#define CPU_SORT_KEYS_H

#include "radix.h"

/* Can the dtype be sorted? */
int cpu_sort_has_keys(tn_dtype dtype);

/* Items [begin, end) of a line that begins at `line`, with keys in the order of the elements or,
 * descending, in the reverse order. */
void cpu_sort_load(const struct cpu_radix *radix, tn_dtype dtype, int is_descending,
		   const char *line, int64_t step, uint64_t begin, uint64_t end);

/* to[j] := the element of `line` that belongs to item j, for j from begin to end. */
void cpu_sort_values(const struct cpu_radix *radix, size_t size, const char *line, int64_t step,
		     char *to, int64_t to_step, uint64_t begin, uint64_t end);
/* to[j] := its position. */
void cpu_sort_indices(const struct cpu_radix *radix, char *to, int64_t to_step, uint64_t begin,
		      uint64_t end);

#endif
