/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic of floats.  f16 and bf16 are widened, computed in f32 and rounded once: f32 has more
 * than twice their bits, so sums, products, quotients and roots are correctly rounded.  fma uses
 * f64 and rounding to odd for the same reason.
 */
#include "ptx_decode_float.h"

#include <stdio.h>
#include <string.h>

/* One operation on elements of one type. */
struct operation {
	const char *name;
	const struct ptx_type *type;
	unsigned count;
	enum ptx_direction direction;
	int flush, unit, relu;
};

int32_t ptx_flushed(struct ptx_reader *reader, int flush, int32_t place)
{
	if (!flush)
		return place;
	int32_t out = ptx_scratch(reader);
	ptx_lane_step(reader, "flush_f32", 4, out, place, 0, 0);
	return out;
}

static int full_width(struct ptx_reader *reader, const struct operation *op, int32_t d,
		      const int32_t s[3])
{
	char name[40];
	size_t size = op->type->size;
	int flush = op->flush && size == 4;
	int32_t in[3] = {s[0], s[1], s[2]};
	for (unsigned i = 0; i < op->count; i++)
		in[i] = ptx_flushed(reader, flush, s[i]);
	snprintf(name, sizeof name, "%s_f%zu", op->name, size * 8);
	if (!ptx_round_step(reader, name, op->direction, size, d, in[0], in[1], in[2]))
		return 0;
	if (flush && !ptx_lane_step(reader, "flush_f32", 4, d, d, 0, 0))
		return 0;
	return !op->unit ||
	       ptx_lane_step(reader, size == 4 ? "unit_f32" : "unit_f64", size, d, d, 0, 0);
}

static int half_width(struct ptx_reader *reader, const struct operation *op, int32_t d,
		      const int32_t s[3])
{
	char name[40];
	char kind = op->type->kind;
	int32_t in[3] = {0}, out = ptx_scratch(reader);
	for (unsigned i = 0; i < op->count; i++)
		in[i] = ptx_widen(reader, kind, s[i]);
	snprintf(name, sizeof name, "%s_f32", strcmp(op->name, "fma") == 0 ? "fmaodd" : op->name);
	if (!ptx_lane_step(reader, name, 4, out, in[0], in[1], in[2]))
		return 0;
	if (op->unit && !ptx_lane_step(reader, "unit_f32", 4, out, out, 0, 0))
		return 0;
	if (op->relu && !ptx_lane_step(reader, "relu_f32", 4, out, out, 0, 0))
		return 0;
	return ptx_narrow(reader, kind, op->direction, d, out);
}

/* Splits f16x2 into its two elements, and joins them again. */
static int paired(struct ptx_reader *reader, const struct operation *op, int32_t d,
		  const int32_t s[3])
{
	int32_t part[2];
	unsigned used = reader->scratch_used;
	part[0] = ptx_scratch(reader);
	part[1] = ptx_scratch(reader);
	for (int high = 0; high < 2; high++) {
		int32_t in[3] = {0};
		reader->scratch_used = used + 2;
		for (unsigned i = 0; i < op->count; i++) {
			in[i] = ptx_scratch(reader);
			ptx_lane_step(reader, high ? "high_16_32" : "cut_16_32", 2, in[i], s[i], 0,
				      0);
		}
		if (!half_width(reader, op, part[high], in))
			return 0;
	}
	return ptx_lane_step(reader, "pack_32_16", 4, d, part[0], part[1], 0);
}

static int element(struct ptx_reader *reader, const struct operation *op, int32_t d,
		   const int32_t s[3])
{
	if (op->type->pair)
		return paired(reader, op, d, s);
	return op->type->size == 2 ? half_width(reader, op, d, s) : full_width(reader, op, d, s);
}

static struct operation operation_of(struct ptx_reader *reader, const char *name, unsigned count)
{
	struct operation op = {.name = name,
			       .type = ptx_type_at(reader, 0),
			       .count = count,
			       .direction = ptx_direction_of(reader),
			       .flush = ptx_has(reader, "ftz"),
			       .unit = ptx_has(reader, "sat"),
			       .relu = ptx_has(reader, "relu")};
	return op;
}

static int run(struct ptx_reader *reader, const struct operation *op)
{
	int32_t s[3] = {0};
	for (unsigned i = 0; i < op->count; i++)
		s[i] = ptx_fetch(reader, i + 1, op->type->size, op->type);
	return element(reader, op, ptx_target(reader, 0, op->type->size, 0), s);
}

int ptx_float_arithmetic(struct ptx_reader *reader, const char *name, unsigned count)
{
	struct operation op = operation_of(reader, name, count);
	return run(reader, &op);
}

/* abs and neg change only the sign, also of a NaN. */
int ptx_float_sign(struct ptx_reader *reader, const char *name)
{
	const struct ptx_type *type = ptx_type_at(reader, 0);
	int is_abs = strcmp(name, "abs") == 0;
	if (type->size == 8 || type->kind == 'f')
		return ptx_float_arithmetic(reader, name, 1);
	int32_t a = ptx_fetch(reader, 1, type->size, type);
	int32_t d = ptx_target(reader, 0, type->size, 0);
	if (!type->pair)
		return ptx_lane_step(reader, is_abs ? "abs_f16" : "neg_f16", 2, d, a, 0, 0);
	uint32_t mask = is_abs ? 0x7fff7fff : 0x80008000;
	return ptx_lane_step(reader, is_abs ? "and_b32" : "xor_b32", 4, d, a,
			     ptx_constant(reader, mask, 4), 0);
}

/* min.xorsign.abs: the smaller magnitude, with the product of the signs. */
static int signed_extreme(struct ptx_reader *reader, struct operation *op)
{
	int32_t a = ptx_fetch(reader, 1, 4, op->type), b = ptx_fetch(reader, 2, 4, op->type);
	int32_t sign = ptx_scratch(reader), sizes[3] = {ptx_scratch(reader), ptx_scratch(reader)};
	int32_t d = ptx_target(reader, 0, 4, 0);
	if (op->type->size != 4 || op->type->pair)
		return ptx_refuse(reader, "%s: unknown type", reader->now.text);
	return ptx_lane_step(reader, "xor_b32", 4, sign, a, b, 0) &&
	       ptx_lane_step(reader, "abs_f32", 4, sizes[0], a, 0, 0) &&
	       ptx_lane_step(reader, "abs_f32", 4, sizes[1], b, 0, 0) &&
	       element(reader, op, sizes[0], sizes) &&
	       ptx_lane_step(reader, "copysign_f32", 4, d, sign, sizes[0], 0);
}

int ptx_float_extreme(struct ptx_reader *reader, const char *name)
{
	char with_nan[8];
	int nan = ptx_has(reader, "NaN");
	snprintf(with_nan, sizeof with_nan, "%snan", name);
	struct operation op = operation_of(reader, nan ? with_nan : name, 2);
	if (ptx_has(reader, "xorsign"))
		return signed_extreme(reader, &op);
	if (reader->now.operands == 3)
		return run(reader, &op);
	/* Three numbers: the minimum of the first two, then with the third. */
	int32_t s[3] = {ptx_fetch(reader, 1, op.type->size, op.type),
			ptx_fetch(reader, 2, op.type->size, op.type), 0};
	int32_t t[3] = {ptx_scratch(reader), ptx_fetch(reader, 3, op.type->size, op.type), 0};
	return element(reader, &op, t[0], s) &&
	       element(reader, &op, ptx_target(reader, 0, op.type->size, 0), t);
}

static int fused(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "rn rz rm rp ftz sat relu oob") && ptx_wants(reader, 4, 4) &&
	       ptx_float_arithmetic(reader, "fma", 3);
}

static int unary(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "rn rz rm rp ftz approx") && ptx_wants(reader, 2, 2) &&
	       ptx_float_arithmetic(reader, reader->now.part[0], 1);
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the high half of a double. */
static int reciprocal(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "rn rz rm rp ftz approx") || !ptx_wants(reader, 2, 2))
		return 0;
	int root = strcmp(reader->now.part[0], "rsqrt") == 0;
	int high = ptx_type_at(reader, 0)->size == 8 && ptx_has(reader, "ftz");
	if (high)
		return ptx_float_arithmetic(reader, root ? "rsqrthigh" : "rcphigh", 1);
	return ptx_float_arithmetic(reader, reader->now.part[0], 1);
}

static int copysign_(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "") && ptx_wants(reader, 3, 3) &&
	       ptx_float_arithmetic(reader, "copysign", 2);
}

static int testp(struct ptx_reader *reader)
{
	static const char *const tests[] = {"finite",     "infinite", "number",
					    "notanumber", "normal",   "subnormal"};
	char name[40] = "testp";
	if (!ptx_modifiers(reader, "finite infinite number notanumber normal subnormal") ||
	    !ptx_wants(reader, 2, 2))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (ptx_has(reader, tests[i]))
			snprintf(name, sizeof name, "testp_%s_%s", tests[i], type->name);
	return ptx_lane_step(reader, name, 4, ptx_target(reader, 0, 4, 0),
			     ptx_fetch(reader, 1, type->size, type), 0, 0);
}

static const struct ptx_opcode opcodes[] = {
	{"copysign", copysign_}, {"cos", unary},      {"ex2", unary},        {"fma", fused},
	{"lg2", unary},          {"rcp", reciprocal}, {"rsqrt", reciprocal}, {"sin", unary},
	{"sqrt", unary},         {"tanh", unary},     {"testp", testp},
};

const struct ptx_opcode_table ptx_float_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
