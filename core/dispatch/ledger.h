/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts per operation and route.  Rows are found by number: those of enum tn_operation always
 * exist, others are added by name.
 */
#ifndef TN_DISPATCH_LEDGER_H
#define TN_DISPATCH_LEDGER_H

#include <tenon/context.h>

#include "dispatch/operations.h"

struct tn_runtime;

struct tn_ledger_entry {
	struct tn_ledger_row row;
	int warned; /* TN_FALLBACK_WARN has warned */
};

struct tn_ledger {
	uint32_t n;
	uint32_t capacity;
	struct tn_ledger_entry *entries;
};

struct tn_ledger *tn_ledger_create(void); /* NULL: out of memory */
void tn_ledger_destroy(struct tn_ledger *ledger);

static inline struct tn_ledger_row *tn_ledger_row_of(struct tn_ledger *ledger, uint32_t operation)
{
	return &ledger->entries[operation].row;
}

/* The number of the operation of that name, which is added if it is new; `name` must never be
 * freed.  When memory runs out the operation is counted as "map". */
uint32_t tn_operation_named(struct tn_runtime *runtime, const char *name);

#endif
