/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A deep copy of a call, which can be changed and overwritten without affecting the caller's.
 */
#ifndef TN_TOOLS_CONFORM_BORROW_H
#define TN_TOOLS_CONFORM_BORROW_H

#include "loader/slots.h"
#include "samples.h"

struct borrowed_program {
	struct tn_program program;
	unsigned char *bytes; /* owned */
};

struct borrowed {
	struct tn_call *args; /* owned */
	size_t size;          /* of the arguments and the arrays that they point to */
	struct borrowed_program program[2];
};

/* 0: no memory. */
int borrow(struct borrowed *borrowed, int slot, const void *args);
void borrow_end(struct borrowed *borrowed);

/* Sets every handle to 0, as in the dry run of a host without buffers. */
void borrow_clear_handles(struct borrowed *borrowed, int slot);

/* Overwrites everything lent to the entry, including the bytes of the programs. */
void borrow_spoil(struct borrowed *borrowed);

#endif
