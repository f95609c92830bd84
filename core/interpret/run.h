/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs the steps of a code, tile by tile: one machine per thread.
 */
#ifndef TN_INTERPRET_RUN_H
#define TN_INTERPRET_RUN_H

#include "interpret/code.h"
/* The most elements of a tile. */
#define TN_MAX_BLOCK 1024
/* The bytes of a thread's registers: within the first cache, whatever the program. */
#define TN_ARENA_BYTES 24576
/* The arena's contents in the worst case: 257 registers of 16 elements of 8 bytes, padding, and the
 * accumulators. */
#define TN_ARENA_LIMIT 65536

/* One thread's state for one code. */
struct tn_machine {
	const struct tn_code *code;
	void *place[TN_PLACES];
};

/* Bytes between registers for blocks of n elements. */
size_t tn_machine_slot(const struct tn_code *code, size_t n);
/* Lays registers out from `arena` on and returns where they end; fills the uniform ones for n
 * elements. */
unsigned char *tn_machine_init(struct tn_machine *machine, const struct tn_code *code,
			       unsigned char *arena, size_t n);
/* The addresses of views; plain numbers until a step uses them. */
static inline uint64_t *tn_machine_address(struct tn_machine *machine)
{
	return (uint64_t *)&machine->place[TN_VIEW_PLACE];
}
/* Runs the steps that are the same for all tiles; views are at the first tile. */
void tn_machine_prepare(struct tn_machine *machine, size_t nx, size_t ny);
void tn_machine_run(struct tn_machine *machine, size_t nx, size_t ny);

#endif
