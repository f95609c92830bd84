/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The ledger.  It shows only the rows of operations that ran.
 */
#include "dispatch/ledger.h"

#include <string.h>

#include "array/handle.h"
#include "array/runtime.h"
#include "base/memory.h"

enum { MORE_ROWS = 32 };

struct tn_ledger *tn_ledger_create(void)
{
	struct tn_ledger *ledger = tn_mem_zeroed(1, sizeof(*ledger));
	if (!ledger)
		return NULL;
	ledger->n = TN_OPERATIONS;
	ledger->capacity = TN_OPERATIONS + MORE_ROWS;
	ledger->entries = tn_mem_zeroed(ledger->capacity, sizeof(*ledger->entries));
	if (!ledger->entries) {
		tn_mem_free(ledger);
		return NULL;
	}
	for (uint32_t i = 0; i < ledger->n; i++)
		ledger->entries[i].row.operation = tn_operations[i].name;
	return ledger;
}

void tn_ledger_destroy(struct tn_ledger *ledger)
{
	if (!ledger)
		return;
	tn_mem_free(ledger->entries);
	tn_mem_free(ledger);
}

/* Most names are the same pointer every time: compare pointers before text. */
uint32_t tn_operation_named(struct tn_runtime *runtime, const char *name)
{
	struct tn_ledger *ledger = runtime->ledger;
	for (uint32_t i = TN_OPERATIONS; i < ledger->n; i++) {
		if (ledger->entries[i].row.operation == name)
			return i;
	}
	for (uint32_t i = 0; i < ledger->n; i++) {
		if (strcmp(ledger->entries[i].row.operation, name) == 0)
			return i;
	}
	if (ledger->n == ledger->capacity) {
		uint32_t capacity = ledger->capacity + MORE_ROWS;
		void *more = tn_mem_realloc(ledger->entries, capacity, sizeof(*ledger->entries));
		if (!more)
			return TN_DO_MAP;
		ledger->entries = more;
		ledger->capacity = capacity;
	}
	memset(&ledger->entries[ledger->n], 0, sizeof(*ledger->entries));
	ledger->entries[ledger->n].row.operation = name;
	return ledger->n++;
}

static int has_run(const struct tn_ledger_row *row)
{
	return (row->native | row->lent | row->widened | row->composed | row->host) != 0;
}

static struct tn_ledger *ledger_of(const tn_context *context, const char *operation)
{
	if (!context || tn_handle_check(&context->runtime, operation))
		return NULL;
	return context->runtime.ledger;
}

size_t tn_ledger_count(const tn_context *context)
{
	const struct tn_ledger *ledger = ledger_of(context, "ledger_count");
	size_t n = 0;
	for (uint32_t i = 0; ledger && i < ledger->n; i++)
		n += (size_t)has_run(&ledger->entries[i].row);
	return n;
}

tn_status tn_ledger_at(const tn_context *context, size_t index, struct tn_ledger_row *row)
{
	const struct tn_ledger *ledger = ledger_of(context, "ledger_at");
	for (uint32_t i = 0; ledger && i < ledger->n; i++) {
		if (has_run(&ledger->entries[i].row) && index-- == 0) {
			return tn_runtime_answer(tn_runtime_of(context->runtime.context), row,
						 &ledger->entries[i].row, sizeof(*row),
						 "struct tn_ledger_row", "ledger_at");
		}
	}
	return TN_INVALID_ARGUMENT;
}

void tn_ledger_reset(tn_context *context)
{
	struct tn_ledger *ledger = ledger_of(context, "ledger_reset");
	for (uint32_t i = 0; ledger && i < ledger->n; i++) {
		const char *name = ledger->entries[i].row.operation;
		memset(&ledger->entries[i], 0, sizeof(ledger->entries[i]));
		ledger->entries[i].row.operation = name;
	}
}
