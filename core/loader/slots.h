/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every slot of the backend interface, one row each: where its entry stands and, for an operation
 * on arrays, what its arguments hold.  Whoever treats all slots alike reads these rows: the loader,
 * the route of a call, replay, the conformance kit and the tests.
 */
#ifndef TN_LOADER_SLOTS_H
#define TN_LOADER_SLOTS_H

#include "loader/backend.h"

/* How a call uses an operand. */
enum {
	TN_READS = 1,
	TN_WRITES = 2,
	/* In rows alone: what the arguments decide. */
	TN_ACCUMULATES = 4, /* written; with TN_ACCUMULATE read too */
	TN_PRODUCT = 8,     /* matmul's C: written; with beta other than 0 read too */
	TN_STATISTICS = 16, /* of a norm: written; with use_statistics read */
};

struct tn_slot_operand {
	uint32_t offset; /* in the arguments */
	uint32_t role;   /* 0 ends a list */
};

struct tn_slot_facts {
	const char *name;
	size_t entry; /* the offset of the function's pointer in struct tn_backend */

	/* Operations on arrays, which are called as entry(device, arguments);
	 * 0 and NULL for others. */
	tn_status (*call)(const void *entry, void *device, const struct tn_call *args);
	size_t args_size;
	const struct tn_slot_operand *operands; /* those of map and reduce stand in arrays */
	/* The backend is asked before each call, and given the workspace that it prefers.  Else it
	 * is called first, and given its minimum when it has refused. */
	int asks;
};

extern const struct tn_slot_facts tn_slots[TN_SLOT_COUNT];

/* Asks the backend's instance for its tables and copies them: min(theirs, own) bytes; `native` gets
 * the bits of the slots that are filled, the others stay NULL.  TN_BAD_PLUGIN: a mandatory table or
 * slot is missing; the text names both. */
tn_status tn_slots_take(struct tn_backend *backend, struct tn_error_info *error);

/* ---- Operations on arrays --------------------------------------------------------------------*/

/* Calls the entry; TN_UNSUPPORTED when there is none. */
static inline tn_status tn_slot_call(const struct tn_backend *backend, enum tn_slot slot,
				     void *device, const struct tn_call *args)
{
	const struct tn_slot_facts *facts = &tn_slots[slot];
	return tn_backend_has(backend, slot)
		       ? facts->call((const char *)backend + facts->entry, device, args)
		       : TN_UNSUPPORTED;
}

enum {
	TN_SLOT_MOST_OPERANDS = 2 * TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS,
	TN_SLOT_MOST_SCALARS = 2 * TN_PROGRAM_MAX_SCALARS,
};

/* What a call refers to. */
struct tn_slot_contents {
	uint32_t n_operands;
	uint32_t n_scalars;
	struct {
		struct tn_operand *operand;
		uint32_t access; /* TN_READS and TN_WRITES alone */
	} operands[TN_SLOT_MOST_OPERANDS];
	struct tn_scalar *scalars[TN_SLOT_MOST_SCALARS];
};

/* Lists the operands and scalars of a call, without the operands that it does not use (dtype 0). */
void tn_slot_list(enum tn_slot slot, struct tn_call *args, struct tn_slot_contents *contents);

/* The arguments and the arrays of operands and scalars that they point to, in one allocation of
 * *size bytes (size may be NULL); programs and workspace are shared.  NULL: out of memory. */
struct tn_call *tn_slot_copy(enum tn_slot slot, const struct tn_call *args, size_t *size);

#endif
