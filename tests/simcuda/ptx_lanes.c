/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of all lane functions, for the level of this processor.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_levels.h"

#define CAPACITY 512

static struct ptx_lane_entry table[CAPACITY];
static size_t count;

static int by_name(const void *a, const void *b)
{
	const struct ptx_lane_entry *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int has_v3(void)
{
#if PTX_X86_LEVELS
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi2");
#else
	return 0;
#endif
}

static void fill(void)
{
	const struct ptx_lane_family *plain[] = {
		&ptx_integer_v2,     &ptx_bits_v2, &ptx_compare_v2, &ptx_float_v2,
		&ptx_approximate_v2, &ptx_half_v2, &ptx_convert_v2};
#if PTX_X86_LEVELS
	const struct ptx_lane_family *fast[] = {
		&ptx_integer_v3,     &ptx_bits_v3, &ptx_compare_v3, &ptx_float_v3,
		&ptx_approximate_v3, &ptx_half_v3, &ptx_convert_v3};
#else
	const struct ptx_lane_family **fast = plain;
#endif
	const struct ptx_lane_family **families = has_v3() ? fast : plain;
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		for (size_t j = 0; j < families[i]->count && count < CAPACITY; j++)
			table[count++] = families[i]->entries[j];
	qsort(table, count, sizeof *table, by_name);
}

ptx_lanes ptx_find_lanes(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill);
	struct ptx_lane_entry key = {name, NULL};
	const struct ptx_lane_entry *found = bsearch(&key, table, count, sizeof *table, by_name);
	return found ? found->run : NULL;
}
