/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * --mode=large: every opcode with one f32 operand, for all its 2^32 values.  The oracle takes most
 * of the time, and is shared by threads.
 */
#include <pthread.h>
#include <unistd.h>

#include "program/cast.h"
#include "program/evaluate.h"
#include "program/opcode.h"
#include "programs.h"
#include "slots.h"

enum { CHUNK = 1 << 24, MOST_THREADS = 64 };

/* Compares results [first, last) of a chunk with the expected ones; returns the first wrong one, or
 * `last`. */
struct part {
	pthread_t thread;
	const struct kit *kit;
	uint16_t op;
	const uint32_t *results;
	uint32_t base; /* the value at index 0 */
	size_t first, last, wrong;
};

static int is_signalling(uint32_t bits)
{
	return (bits & 0x7fffffff) > 0x7f800000 && !(bits & 0x400000);
}

static void *compare(void *argument)
{
	struct part *part = argument;
	size_t i = part->first;
	for (; i < part->last; i++) {
		const uint64_t v[3] = {part->base + (uint32_t)i};
		if (!is_signalling((uint32_t)v[0]) &&
		    !opcode_is_right(part->kit, part->op, TN_F32, TN_F32, v, part->results[i]))
			break;
	}
	part->wrong = i;
	return NULL;
}

static void compare_chunk(struct kit *kit, uint16_t op, const uint32_t *results, uint32_t base)
{
	static struct part parts[MOST_THREADS];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = processors < 1              ? 1
		   : processors > MOST_THREADS ? MOST_THREADS
					       : (size_t)processors;
	for (size_t i = 0; i < n; i++) {
		parts[i] = (struct part){.kit = kit,
					 .op = op,
					 .results = results,
					 .base = base,
					 .first = CHUNK / n * i,
					 .last = i + 1 < n ? CHUNK / n * (i + 1) : CHUNK};
		if (pthread_create(&parts[i].thread, NULL, compare, &parts[i]))
			kit_give_up(kit, "cannot create a thread");
	}
	for (size_t i = 0; i < n; i++) {
		pthread_join(parts[i].thread, NULL);
		if (parts[i].wrong == parts[i].last)
			continue;
		uint32_t bits = base + (uint32_t)parts[i].wrong;
		uint64_t expected = tn_op_evaluate(op, TN_F32, TN_F32, bits, 0, 0);
		kit_fail(kit, "of %.9g (%x): expected %.9g, found %.9g",
			 (double)tn_f32_of_bits(bits), bits, (double)tn_f32_of_bits(expected),
			 (double)tn_f32_of_bits(results[parts[i].wrong]));
	}
}

/* The check's id ends with the opcode's name. */
static uint16_t opcode_of(const struct check *check)
{
	const char *name = strchr(check->id, '.') + 1;
	for (unsigned op = 0; op < TN_OP_COUNT; op++) {
		const char *own = tn_op_information((uint16_t)op)->name;
		if (own && !strcmp(own, name))
			return (uint16_t)op;
	}
	return 0;
}

static void check_bits(struct kit *kit)
{
	static const int64_t length[] = {CHUNK};
	const uint16_t op = opcode_of(kit->check);
	struct array in, out, *all[2] = {&in, &out};
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	if (kit_compute_dtype(kit, TN_FAMILY_MAP) != TN_F32)
		return kit_skip(kit, "it does not represent all values of f32");
	kit_case(kit, TN_SLOT_MAP, "map: %s of f32", tn_op_information(op)->name);
	struct tn_program *program = operation_program(op, 1, TN_F32, TN_F32);
	array_make(kit, &in, INPUT, TN_F32, 1, length, COMPACT);
	array_make(kit, &out, OUTPUT, TN_F32, 1, length, COMPACT);
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = &in.operand,
				   .outputs = &out.operand};
	for (uint64_t base = 0; base < UINT64_C(1) << 32; base += CHUNK) {
		for (uint64_t i = 0; i < CHUNK; i++)
			array_set_bits(&in, i, base + i);
		if (!kit_run_ok(kit, &args, all, 2))
			break;
		compare_chunk(kit, op, (const uint32_t *)(const void *)array_at(&out, 0),
			      (uint32_t)base);
	}
	array_free(&in);
	array_free(&out);
	tn_program_destroy(program);
}

const struct check bits_checks[] = {
	{"bits.neg", 2, "neg is within its tolerance for all values of f32", check_bits},
	{"bits.abs", 2, "abs is within its tolerance for all values of f32", check_bits},
	{"bits.sqrt", 2, "sqrt is within its tolerance for all values of f32", check_bits},
	{"bits.rsqrt", 2, "rsqrt is within its tolerance for all values of f32", check_bits},
	{"bits.floor", 2, "floor is within its tolerance for all values of f32", check_bits},
	{"bits.ceil", 2, "ceil is within its tolerance for all values of f32", check_bits},
	{"bits.round", 2, "round is within its tolerance for all values of f32", check_bits},
	{"bits.trunc", 2, "trunc is within its tolerance for all values of f32", check_bits},
	{"bits.sign", 2, "sign is within its tolerance for all values of f32", check_bits},
	{"bits.exp", 2, "exp is within its tolerance for all values of f32", check_bits},
	{"bits.exp2", 2, "exp2 is within its tolerance for all values of f32", check_bits},
	{"bits.expm1", 2, "expm1 is within its tolerance for all values of f32", check_bits},
	{"bits.log", 2, "log is within its tolerance for all values of f32", check_bits},
	{"bits.log2", 2, "log2 is within its tolerance for all values of f32", check_bits},
	{"bits.log1p", 2, "log1p is within its tolerance for all values of f32", check_bits},
	{"bits.sin", 2, "sin is within its tolerance for all values of f32", check_bits},
	{"bits.cos", 2, "cos is within its tolerance for all values of f32", check_bits},
	{"bits.tan", 2, "tan is within its tolerance for all values of f32", check_bits},
	{"bits.asin", 2, "asin is within its tolerance for all values of f32", check_bits},
	{"bits.acos", 2, "acos is within its tolerance for all values of f32", check_bits},
	{"bits.atan", 2, "atan is within its tolerance for all values of f32", check_bits},
	{"bits.sinh", 2, "sinh is within its tolerance for all values of f32", check_bits},
	{"bits.cosh", 2, "cosh is within its tolerance for all values of f32", check_bits},
	{"bits.tanh", 2, "tanh is within its tolerance for all values of f32", check_bits},
	{"bits.erf", 2, "erf is within its tolerance for all values of f32", check_bits},
	{"bits.sigmoid", 2, "sigmoid is within its tolerance for all values of f32", check_bits},
	{NULL, 0, NULL, NULL},
};
