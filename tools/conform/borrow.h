/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A deep copy of a call, which can be changed and taken away without affecting the caller's.
 */
#ifndef TN_TOOLS_CONFORM_BORROW_H
#define TN_TOOLS_CONFORM_BORROW_H

#include "loader/slots.h"
#include "samples.h"

struct borrowed {
	struct tn_call *args; /* owned: the beginning of the pages */
	size_t size;          /* of the pages, with all that the arguments point to */
};

/* 0: no memory. */
int borrow(struct borrowed *borrowed, int slot, const void *args);
void borrow_end(struct borrowed *borrowed);

/* Sets every handle to 0, as in the dry run of a host without buffers. */
void borrow_clear_handles(struct borrowed *borrowed, int slot);

/* Makes everything lent to the entry inaccessible, including the bytes of the programs; borrow_end
 * has nothing to do then. */
void borrow_spoil(struct borrowed *borrowed);

#endif
