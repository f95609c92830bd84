/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs of a context live as long as it does, so their address is their identity; a small hash
 * table by address and wanted inputs is enough.
 */
#include "autograd/derivatives.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "dispatch/formulas.h"

#define BUCKETS 256
/* The names of a program's inputs and dz, in one string. */
enum { LONGEST_NAMES = 512 };

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

static void forget(void *attachment, const struct tn_program *program)
{
	struct table *table = attachment;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct derivative **link = &table->buckets[i];
		while (*link) {
			struct derivative *derivative = *link;
			if (derivative->program != program) {
				link = &derivative->next;
				continue;
			}
			*link = derivative->next;
			/* Gradients have gradients, which may be anywhere in the list. */
			forget(table, derivative->gradient);
			link = &table->buckets[i];
			tn_program_destroy(derivative->gradient);
			tn_mem_free(derivative);
		}
	}
}

static struct table *table_of(struct tn_runtime *rt)
{
	if (rt->attachment)
		return rt->attachment;
	rt->attachment = tn_mem_zeroed(1, sizeof(struct table));
	if (rt->attachment) {
		rt->release_attachment = release_table;
		rt->forget = forget;
	}
	return rt->attachment;
}

static struct derivative **bucket_of(struct table *table, const struct tn_program *program,
				     uint32_t wanted)
{
	uintptr_t address = (uintptr_t)program;
	return &table->buckets[((address >> 4) ^ (address >> 12) ^ wanted) % BUCKETS];
}

static const struct derivative *find(struct table *table, const struct tn_program *program,
				     uint32_t wanted)
{
	const struct derivative *d = *bucket_of(table, program, wanted);
	while (d && (d->program != program || d->wanted != wanted))
		d = d->next;
	return d;
}

/* Takes the gradient program; NULL: it is destroyed, and `error` is filled. */
static const struct derivative *add(struct table *table, const struct tn_program *program,
				    uint32_t wanted, struct tn_program *gradient,
				    struct tn_error_info *error)
{
	struct derivative **bucket = bucket_of(table, program, wanted);
	struct derivative *derivative = tn_mem_zeroed(1, sizeof(*derivative));
	if (!derivative) {
		tn_program_destroy(gradient);
		tn_no_memory(error, "differentiate", NULL, "a program");
		return NULL;
	}
	*derivative = (struct derivative){*bucket, program, wanted, gradient, 0};
	for (uint32_t i = 0; i < gradient->n_instructions; i++) {
		if (gradient->instructions[i].op == TN_OP_INPUT)
			derivative->reads |= 1u << gradient->instructions[i].a;
	}
	return *bucket = derivative;
}

/* NULL: `error` is filled. */
static const struct derivative *find_or_differentiate(struct table *table,
						      const struct tn_program *program,
						      uint32_t wanted, struct tn_error_info *error)
{
	const struct derivative *known = find(table, program, wanted);
	uint32_t inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_program_wants wants = {.struct_size = sizeof(wants), .inputs = inputs};
	struct tn_program *gradient;
	if (known)
		return known;
	for (uint32_t i = 0; i < TN_PROGRAM_MAX_INPUTS; i++) {
		if (wanted & 1u << i)
			inputs[wants.n_inputs++] = i;
	}
	if (tn_program_differentiate(program, &wants, &gradient, error))
		return NULL;
	return add(table, program, wanted, gradient, error);
}

tn_status tn_derivative_state(struct tn_runtime *rt, const struct tn_program *program, uint32_t i,
			      const char *text, const char *inputs, const char *scalars,
			      struct tn_error_info *error)
{
	struct table *table = table_of(rt);
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS], scalar_dtypes[TN_PROGRAM_MAX_SCALARS];
	char with_dz[LONGEST_NAMES];
	struct tn_formula formula = {.text = text, .inputs = with_dz, .scalars = scalars};
	struct tn_program *gradient;
	tn_status status;
	if (!table)
		return tn_no_memory(error, "differentiate", NULL, "the derivatives");
	if (find(table, program, 1u << i))
		return TN_OK;
	snprintf(with_dz, sizeof(with_dz), "%s dz", inputs);
	for (uint32_t k = 0; k < program->n_inputs; k++)
		dtypes[k] = tn_program_input_dtype(program, k);
	dtypes[program->n_inputs] = tn_program_output_dtype(program, 0);
	for (uint32_t k = 0; k < program->n_scalars; k++)
		scalar_dtypes[k] = tn_program_scalar_dtype(program, k);
	status = tn_formula_parse(&formula, dtypes, scalar_dtypes, &gradient, error);
	if (!status && !add(table, program, 1u << i, gradient, error))
		status = error->status;
	return status;
}

const struct tn_program *tn_derivative_of(struct tn_runtime *rt, const char *operation,
					  const struct tn_program *program, uint32_t wanted)
{
	struct tn_error_info error;
	struct table *table = table_of(rt);
	if (!table) {
		tn_runtime_no_memory(rt, operation, "the derivatives");
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
