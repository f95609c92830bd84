/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Recorded results of NumPy: the lines of dtype_cells.txt, whose format dtype_cells.py describes.
 */
#ifndef TN_TOOLS_CONFORM_CELLS_H
#define TN_TOOLS_CONFORM_CELLS_H

#include "conform.h"

/* Of a pool 12, and twice that from a concatenation. */
enum { CELL_ELEMENTS = 24 };

struct values {
	tn_dtype dtype;
	size_t n;
	uint64_t parts[CELL_ELEMENTS][2]; /* bits of each value; of a complex one, of both parts */
};

/* One operation on operands of certain dtypes. */
struct cell {
	char operation[24];
	char pool[8];
	tn_dtype a, b;     /* b 0: one operand */
	int is_refused;    /* the operation must fail with TN_DTYPE; the rest is empty */
	char tolerance[8]; /* as in the file */
	struct values values;
};

/* The next cell, of which *line is 0 at first; 0 past the last one.  Ends the check if a line is
 * malformed. */
int cell_next(struct kit *kit, size_t *line, struct cell *cell);

/* The named pool of that dtype. */
void cell_pool(struct kit *kit, const char *name, tn_dtype dtype, struct values *pool);

/* Bytes as they lie in memory, of n elements, and back. */
void values_to_bytes(const struct values *values, unsigned char *bytes);
void values_of_bytes(struct values *values, const unsigned char *bytes);

/* Element i as text. */
enum { VALUE_TEXT = 64 };
const char *value_text(const struct values *values, size_t i, char text[VALUE_TEXT]);

/* Is element i of `found` within the cell's tolerance of the expected one?  `operand` is the first
 * operand's element, if the elements correspond. */
int cell_is_close(const struct kit *kit, const struct cell *cell, const struct values *found,
		  const struct values *operand, size_t i);

/* Does the device keep element i as it is, where f32 is computed? */
int value_is_kept(const struct kit *kit, const struct values *values, size_t i);

#endif
