/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program of any version of the headers (programs.awk) with today's library: makes each call of
 * program_calls.h.
 *
 *	program FOLDER      a folder for files; 0: as expected, 1: not
 *
 * Prints what became of each call, which is the same for every version, because what an older or
 * newer program does not say has its default.  Structs end where memory ends: an access beyond
 * ends the program, after the name of the call.
 */
#include <tenon/structs.h>

#include "program_calls.h"

static const struct sized *type_of(const struct row *row)
{
	const struct sized *type = all_sized;
	while (type->name && strcmp(type->name, row->type) != 0)
		type++;
	needs(type->name != NULL, row->type);
	return type;
}

static const char *const ways[] = {[GIVEN] = "given", [FILLED] = "filled", [LENT] = "lent"};

/* What the call of a row has: its struct, or the place of a lent one's size. */
static void *given_to(const struct row *row)
{
	const struct sized *type = type_of(row);
	const uint32_t size = (uint32_t)type->size;
	if (row->way == GIVEN)
		return with_defaults(type, size);
	return memcpy(at_the_end(row->way == FILLED ? size : sizeof(size)), &size, sizeof(size));
}

int main(int argc, char **argv)
{
	int failures = 0;
	if (argc != 2)
		return 2;
	folder = argv[1];
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		printf("%s %s:", row->type, ways[row->way]);
		fflush(stdout);
		tn_status status = call(row, given_to(row));
		for (size_t i = 0; i < n_seen; i++)
			printf(" %a", seen[i]);
		printf("\n");
		if (status != row->status) {
			printf("FAILED: %s: status %d: %s: %s\n", row->type, status,
			       error.operation, error.text);
			failures++;
		}
	}
	return failures != 0;
}
