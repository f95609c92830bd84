/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Prints the ledger as a table, each column as wide as its longest entry.
 */
#include <stdio.h>
#include <string.h>

#include "tool.h"

enum { N_COLUMNS = 8, CELL = 64 };

typedef char ledger_line[N_COLUMNS][CELL];

static const char *const titles[N_COLUMNS] = {"operation", "native", "lent",  "widened",
					      "composed",  "host",   "bytes", "seconds"};

static void write_cells(const struct tn_ledger_row *row, ledger_line line)
{
	const uint64_t counts[] = {row->native,   row->lent, row->widened,
				   row->composed, row->host, row->bytes_moved};
	snprintf(line[0], CELL, "%s", row->operation);
	for (int i = 0; i < 6; i++)
		snprintf(line[1 + i], CELL, "%llu", (unsigned long long)counts[i]);
	snprintf(line[7], CELL, "%.3f", row->seconds);
}

static void print_line(const char *const cells[N_COLUMNS], const int widths[N_COLUMNS])
{
	printf("%-*s", widths[0], cells[0]);
	for (int i = 1; i < N_COLUMNS; i++)
		printf("  %*s", widths[i], cells[i]);
	printf("\n");
}

void print_ledger(const tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	ledger_line line;
	int widths[N_COLUMNS];
	for (int i = 0; i < N_COLUMNS; i++)
		widths[i] = (int)strlen(titles[i]);
	for (size_t k = 0; !tn_ledger_at(context, k, &row); k++) {
		write_cells(&row, line);
		for (int i = 0; i < N_COLUMNS; i++) {
			int n = (int)strlen(line[i]);
			widths[i] = n > widths[i] ? n : widths[i];
		}
	}
	printf("\n");
	print_line(titles, widths);
	for (size_t k = 0; !tn_ledger_at(context, k, &row); k++) {
		const char *cells[N_COLUMNS];
		write_cells(&row, line);
		for (int i = 0; i < N_COLUMNS; i++)
			cells[i] = line[i];
		print_line(cells, widths);
	}
}
