/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A call in f32 in place of one with f16 or bf16 operands.  The narrow operands are converted to
 * arrays on the same device, and those that the call writes are converted back.  Maps and reduces
 * are not widened: they convert as they load and store.
 */
#ifndef TN_DISPATCH_WIDEN_H
#define TN_DISPATCH_WIDEN_H

#include "array/array.h"
#include "dispatch/route.h"
#include "loader/slot_contents.h"

/* A narrow operand and its f32 copy. */
struct tn_wide_operand {
	struct tn_operand narrow;
	struct tn_operand wide;
	uint32_t access; /* TN_READS, TN_WRITES */
	tn_array *block; /* the copy's memory */
};

struct tn_widened {
	struct tn_route route; /* that of the call in f32 */
	tn_status (*run)(struct tn_route *route);
	uint32_t n_operands;
	struct tn_wide_operand operands[TN_SLOT_MOST_OPERANDS];
	/* The composition's arrays that are replaced, and where they belong. */
	uint32_t n_arrays;
	tn_array **places[TN_SLOT_MOST_OPERANDS];
	tn_array *replaced[TN_SLOT_MOST_OPERANDS];
};

/* Is the slot one that is widened, and one of the call's operands f16 or bf16? */
int tn_can_widen(enum tn_slot slot, const struct tn_call *call);

/* All fill runtime->report on failure.  The copies belong to the innermost scope.  Call
 * tn_widened_end after tn_widened_make in any case, before the scope ends. */

/* Makes the call in f32; the copies have no values yet.  `run` will run the conversions. */
tn_status tn_widened_make(struct tn_widened *widened, const struct tn_route *route,
			  tn_status (*run)(struct tn_route *route));
/* Fills the copies that the call reads. */
tn_status tn_widened_read(struct tn_widened *widened);
/* Converts what the call has written back. */
tn_status tn_widened_write(struct tn_widened *widened);
void tn_widened_end(struct tn_widened *widened);

#endif
