/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * All checks in the order in which they run: the file, the levels, the process.
 */
#include "frame.h"

static const struct {
	const struct check *checks;
	enum place place;
	int is_large; /* of --mode=large */
} tables[] = {
	{level0_checks, ALONE, 0},       {level1_checks, WITH_DEVICE, 0},
	{level2_checks, WITH_DEVICE, 0}, {level3_checks, WITH_DEVICE, 0},
	{level4_checks, WITH_DEVICE, 0}, {level5_checks, WITH_DEVICE, 0},
	{process_checks, ALONE, 0},      {large_checks, WITH_DEVICE, 1},
	{bits_checks, WITH_DEVICE, 1},   {dtype_pair_checks, WITH_DEVICE, 1},
};

const struct check *check_at(size_t n, enum place *place)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct check *check = tables[t].checks; check->id; check++) {
			if (n-- > 0)
				continue;
			*place = check->run ? tables[t].place : BY_PARENT;
			return check;
		}
	}
	return NULL;
}

const struct check *check_find(const char *id)
{
	enum place place;
	const struct check *check;
	for (size_t n = 0; (check = check_at(n, &place)); n++) {
		if (!strcmp(check->id, id))
			return check;
	}
	return NULL;
}

int check_is_large(const struct check *check)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct check *other = tables[t].checks; other->id; other++) {
			if (other == check)
				return tables[t].is_large;
		}
	}
	return 0;
}
