/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operands and scalars of a call, found through its slot's row.
 */
#ifndef TN_LOADER_SLOT_CONTENTS_H
#define TN_LOADER_SLOT_CONTENTS_H

#include "loader/slots.h"

enum {
	TN_SLOT_MOST_OPERANDS = 2 * TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS,
	TN_SLOT_MOST_SCALARS = 2 * TN_PROGRAM_MAX_SCALARS,
};

/* The operands and scalars of a call. */
struct tn_slot_contents {
	uint32_t n_operands;
	uint32_t n_scalars;
	struct {
		struct tn_operand *operand;
		uint32_t access; /* TN_READS and TN_WRITES alone */
		uint32_t number; /* for TN_HINT_... */
	} operands[TN_SLOT_MOST_OPERANDS];
	struct tn_scalar *scalars[TN_SLOT_MOST_SCALARS];
};

/* Lists the scalars of a call and the operands it uses (dtype not 0). */
void tn_slot_list(enum tn_slot slot, struct tn_call *args, struct tn_slot_contents *contents);

/* The arguments and the arrays of operands and scalars that they point to, in one allocation of
 * *size bytes (size may be NULL); programs and workspace are shared.  NULL: out of memory. */
struct tn_call *tn_slot_copy(enum tn_slot slot, const struct tn_call *args, size_t *size);

#endif
