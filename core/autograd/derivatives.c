/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs of a context live as long as it does, so their address is their identity; a small hash
 * table by address and wanted inputs is enough.
 */
#include "autograd/derivatives.h"

#include "base/error.h"
#include "base/memory.h"

#define BUCKETS 256

struct derivative {
	struct derivative *next;
	const struct tn_program *program;
	uint32_t wanted;
	struct tn_program *gradient;
	uint32_t reads;
};

struct table {
	struct derivative *buckets[BUCKETS];
};

static void release_table(void *attachment)
{
	struct table *table = attachment;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (table->buckets[i]) {
			struct derivative *derivative = table->buckets[i];
			table->buckets[i] = derivative->next;
			tn_program_destroy(derivative->gradient);
			tn_mem_free(derivative);
		}
	}
	tn_mem_free(table);
}

static struct table *table_of(struct tn_runtime *rt)
{
	if (!rt->attachment) {
		rt->attachment = tn_mem_zeroed(1, sizeof(struct table));
		rt->release_attachment = release_table;
	}
	return rt->attachment;
}

/* NULL: `error` is filled. */
static const struct derivative *find_or_differentiate(struct table *table,
						      const struct tn_program *program,
						      uint32_t wanted, struct tn_error_info *error)
{
	uintptr_t address = (uintptr_t)program;
	struct derivative **bucket =
		&table->buckets[((address >> 4) ^ (address >> 12) ^ wanted) % BUCKETS];
	for (struct derivative *d = *bucket; d; d = d->next) {
		if (d->program == program && d->wanted == wanted)
			return d;
	}
	uint32_t inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_program_wants wants = {.struct_size = sizeof(wants), .inputs = inputs};
	for (uint32_t i = 0; i < TN_PROGRAM_MAX_INPUTS; i++) {
		if (wanted & 1u << i)
			inputs[wants.n_inputs++] = i;
	}
	struct derivative *derivative = tn_mem_zeroed(1, sizeof(*derivative));
	if (!derivative) {
		tn_fail(error, TN_OUT_OF_MEMORY, "differentiate", "no memory for a program");
		return NULL;
	}
	derivative->program = program;
	derivative->wanted = wanted;
	if (tn_program_differentiate(program, &wants, &derivative->gradient, error)) {
		tn_mem_free(derivative);
		return NULL;
	}
	const struct tn_program *gradient = derivative->gradient;
	for (uint32_t i = 0; i < gradient->n_instructions; i++) {
		if (gradient->instructions[i].op == TN_OP_INPUT)
			derivative->reads |= 1u << gradient->instructions[i].a;
	}
	derivative->next = *bucket;
	*bucket = derivative;
	return derivative;
}

const struct tn_program *tn_derivative_of(struct tn_runtime *rt, const char *operation,
					  const struct tn_program *program, uint32_t wanted)
{
	struct tn_error_info error;
	struct table *table = table_of(rt);
	if (!table) {
		tn_runtime_fail(rt, TN_OUT_OF_MEMORY, operation, "no memory for the derivatives");
		return NULL;
	}
	const struct derivative *derivative = find_or_differentiate(table, program, wanted, &error);
	if (derivative)
		return derivative->gradient;
	tn_runtime_keep(rt, &error);
	return NULL;
}

uint32_t tn_derivative_reads(struct tn_runtime *rt, const struct tn_program *program,
			     uint32_t wanted)
{
	struct tn_error_info error;
	struct table *table = table_of(rt);
	const struct derivative *derivative =
		table ? find_or_differentiate(table, program, wanted, &error) : NULL;
	return derivative ? derivative->reads : UINT32_MAX;
}
