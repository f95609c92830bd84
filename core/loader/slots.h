/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every slot of the backend interface, one row each: the place of its entry and, for an operation
 * on arrays, the layout of its arguments.  Code that handles all slots uniformly reads these rows:
 * the loader, the route of a call, replay, the conformance kit and the tests.
 */
#ifndef TN_LOADER_SLOTS_H
#define TN_LOADER_SLOTS_H

#include "loader/backend.h"

/* How a call uses an operand. */
enum {
	TN_READS = 1,
	TN_WRITES = 2,
	/* In rows only: the arguments decide. */
	TN_ACCUMULATES = 4, /* written; with TN_ACCUMULATE read too */
	TN_PRODUCT = 8,     /* matmul's C: written; with beta other than 0 read too */
	TN_STATISTICS = 16, /* of a norm: written; with use_statistics read */
	/* With TN_READS: the arguments have a pointer to the operand, NULL if it is not there. */
	TN_POINTED_TO = 32,
};

struct tn_slot_operand {
	uint32_t offset; /* in the arguments */
	uint32_t role;   /* 0 ends a list */
};

struct tn_slot_facts {
	const char *name;
	size_t entry; /* the offset of the function's pointer in struct tn_backend */
	/* Of 1.0: slots that are added later are optional, whatever their table. */
	int is_mandatory;

	/* Operations on arrays, which are called as entry(device, arguments);
	 * 0 and NULL for others. */
	tn_status (*call)(const void *entry, void *device, const struct tn_call *args);
	size_t args_size;
	const struct tn_slot_operand *operands; /* those of map and reduce are in arrays */
	/* A dry run precedes each call, which gets the workspace that the backend prefers.  Else
	 * the call comes first; if the backend refuses it, it is repeated with the minimum
	 * workspace. */
	int asks;
};

extern const struct tn_slot_facts tn_slots[TN_SLOT_COUNT];

/* Queries the backend's instance for its tables and copies min(theirs, own) bytes; `native` gets
 * the bits of the filled slots, the others stay NULL.  TN_BAD_PLUGIN: a mandatory table or slot is
 * missing; the text names both. */
tn_status tn_slots_take(struct tn_backend *backend, struct tn_error_info *error);

/* ---- Operations on arrays --------------------------------------------------------------------*/

/* The operand of that row of a call; NULL: the call does not use it (its dtype is 0). */
static inline const struct tn_operand *tn_slot_operand_of(const struct tn_slot_operand *row,
							  const struct tn_call *args)
{
	const void *member = (const char *)args + row->offset;
	const struct tn_operand *operand =
		row->role & TN_POINTED_TO ? *(const struct tn_operand *const *)member : member;
	return operand && operand->dtype ? operand : NULL;
}

/* Calls the entry; TN_UNSUPPORTED when there is none. */
static inline tn_status tn_slot_call(const struct tn_backend *backend, enum tn_slot slot,
				     void *device, const struct tn_call *args)
{
	const struct tn_slot_facts *facts = &tn_slots[slot];
	return tn_backend_has(backend, slot)
		       ? facts->call((const char *)backend + facts->entry, device, args)
		       : TN_UNSUPPORTED;
}

#endif
