/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random numbers: the same bits on every backend.
 */
#include "program/cast.h"
#include "program/random.h"
#include "programs.h"
#include "slots.h"

/* out0 = random(seed, stream, element + first), out1 = normal of it, out2 = the 24-bit uniform */
static struct tn_program *draw(uint64_t stream, uint64_t first)
{
	tn_value seed, i, word, out[3];
	struct tn_builder b;
	begin_program(&b);
	seed = tn_build_source(&b, TN_OP_SCALAR, TN_I64, 0);
	i = tn_build_source(&b, TN_OP_ELEMENT, TN_I64, 0);
	i = tn_build_op(&b, TN_OP_ADD, TN_I64, i, tn_build_constant(&b, TN_I64, first), 0);
	word = tn_build_op(&b, TN_OP_RANDOM, TN_U32, seed, tn_build_constant(&b, TN_I64, stream),
			   i);
	out[0] = word;
	out[1] = tn_build_op(&b, TN_OP_NORMAL, TN_F32, word, 0, 0);
	word = tn_build_op(&b, TN_OP_SHR, TN_U32, word, tn_build_number(&b, TN_U32, 8), 0);
	out[2] = tn_build_op(&b, TN_OP_MUL, TN_F32, tn_build_cast(&b, TN_F32, word),
			     tn_build_number(&b, TN_F32, 0x1p-24), 0);
	return finish_program(&b, 0, 1, 3, out);
}

static void compare(struct kit *kit, const struct array out[3], uint64_t seed, uint64_t stream,
		    uint64_t first)
{
	for (uint64_t i = 0; i < out[0].count; i++) {
		uint32_t word = tn_random(seed, stream, first + i);
		const uint64_t expected[3] = {word, tn_bits_of_f32(tn_normal(word)),
					      tn_bits_of_f32((float)(word >> 8) * 0x1p-24f)};
		for (int j = 0; j < 3; j++)
			if (!kit_is_value(kit, out[j].operand.dtype, expected[j],
					  array_bits(&out[j], i)))
				kit_fail(kit, "number %llu: expected bits %llx, found %llx",
					 (unsigned long long)i, (unsigned long long)expected[j],
					 (unsigned long long)array_bits(&out[j], i));
	}
}

static void draws(struct kit *kit, uint64_t seed, uint64_t stream, uint64_t first, int64_t count)
{
	static const tn_dtype dtypes[3] = {TN_U32, TN_F32, TN_F32};
	struct tn_program *program = draw(stream, first);
	struct array out[3], *all[3] = {&out[0], &out[1], &out[2]};
	struct tn_scalar scalar = {.dtype = TN_I64, .bits = seed};
	struct tn_operand outputs[3];
	kit_case(kit, TN_SLOT_MAP, "map: %lld numbers of seed %llx, stream %llx, from %llx",
		 (long long)count, (unsigned long long)seed, (unsigned long long)stream,
		 (unsigned long long)first);
	for (int j = 0; j < 3; j++) {
		array_make(kit, &out[j], OUTPUT, dtypes[j], 1, &count, j ? COMPACT : SPACED);
		outputs[j] = out[j].operand;
	}
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .outputs = outputs,
				   .scalars = &scalar};
	if (kit_run_ok(kit, &args, all, 3))
		compare(kit, out, seed, stream, first);
	for (int j = 0; j < 3; j++)
		array_free(&out[j]);
	tn_program_destroy(program);
}

/* Covers every interval of the table of the normal quantile: words near each power of two, from
 * both ends. */
static void knows_the_whole_table(struct kit *kit)
{
	enum { TAILS = 32, PER_TAIL = 64 };
	const int64_t count = 2 * TAILS * PER_TAIL;
	struct tn_program *program = operation_program(TN_OP_NORMAL, 1, TN_U32, TN_F32);
	struct array in, out, *all[2] = {&in, &out};
	kit_case(kit, TN_SLOT_MAP, "map: the normal quantile of words near every power of two");
	array_make(kit, &in, INPUT, TN_U32, 1, &count, COMPACT);
	array_make(kit, &out, OUTPUT, TN_F32, 1, &count, COMPACT);
	for (uint64_t i = 0; i < in.count; i++) {
		uint32_t power = 1u << (i / PER_TAIL % TAILS);
		uint32_t word = power + (uint32_t)((uint64_t)power * (i % PER_TAIL) / PER_TAIL);
		array_set_bits(&in, i, i < in.count / 2 ? word : ~word);
	}
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = &in.operand,
				   .outputs = &out.operand};
	if (kit_run_ok(kit, &args, all, 2))
		for (uint64_t i = 0; i < in.count; i++)
			if (!kit_is_value(kit, TN_F32,
					  tn_bits_of_f32(tn_normal((uint32_t)array_bits(&in, i))),
					  array_bits(&out, i)))
				kit_fail(kit, "word %llx gave %.9g",
					 (unsigned long long)array_bits(&in, i),
					 array_number(&out, i));
	array_free(&in);
	array_free(&out);
	tn_program_destroy(program);
}

void check_map_random(struct kit *kit)
{
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	draws(kit, 0, 0, 0, 1);
	draws(kit, 1, 0, 0, 100003);
	draws(kit, 0xfedcba9876543210, 0x123456789abcdef0, 3, 1001);
	draws(kit, UINT64_MAX, UINT64_MAX, 0x3fffffffe,
	      1001); /* counters carry into the high word */
	draws(kit, 42, 7, 0xfffffffffffffff0, 9);
	/* High words: of the seed, the stream and the counter alone, then of all three. */
	draws(kit, 0x9e3779b900000000, 0, 0, 1001);
	draws(kit, 0, 0x8000000100000000, 0, 1001);
	draws(kit, 0, 0, 0xc000000500000000, 1001);
	draws(kit, 0x85ebca6b00000001, 0xc2b2ae3500000002, 0xfffffff300000003, 1001);
	knows_the_whole_table(kit);
}
