/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every opcode in every dtype on edge cases, and every conversion.  The oracle is tn_op_evaluate,
 * which defines the opcodes.
 */
#include <float.h>

#include "edges.h"
#include "program/cast.h"
#include "program/evaluate.h"
#include "program/opcode.h"
#include "programs.h"
#include "slots.h"

static const double reals[] = {
	0.0,
	-0.0,
	1.0,
	-1.0,
	0.5,
	-0.5,
	1.5,
	2.5,
	-2.5,
	3.0,
	-7.0,
	10.0,
	0.1,
	-0.3,
	1e-3,
	-1e-5,
	1e-20,
	20.25,
	-20.25,
	88.0,
	-87.0,
	100.7,
	-103.5,
	1e5,
	-123456.7,
	1e10,
	-3e9,
	3e9,
	1.0e30,
	3.14159265,
	FLT_MAX,
	-FLT_MAX,
	FLT_MIN,
	1e-40,
	-1.5e-45,
	0.9999,
	1.0001,
	2.0,
	16777217,
	0.7071,
	INFINITY,
	-INFINITY,
	NAN,
	/* Half-way between two numbers of f16 and of bf16, of which the upper or the lower one is
	 * even; a hair above, which f32 does not see; below and at the end of f16's range. */
	0x1.002p0,
	0x1.006p0,
	0x1.01p0,
	0x1.03p0,
	0x1.0020000001p0,
	65519.0,
	65520.0,
	0x1p-25,
	0x1.8p-24,
};
static const int64_t integers[] = {
	0,
	1,
	-1,
	2,
	-2,
	3,
	-7,
	31,
	32,
	33,
	63,
	64,
	255,
	-128,
	32768,
	12345,
	INT32_MAX,
	INT32_MIN,
	INT32_MIN + 1,
	UINT32_MAX,
	INT64_MAX,
	INT64_MIN,
	INT64_MIN + 1,
	4294967296,
	/* Between two numbers of f32; rounded to f64 first, it would become a tie. */
	9007199791611905,
};
/* f16 and bf16: zeros, subnormals, ones, the largest, infinities, NaNs. */
static const uint16_t halves[] = {0,      0x8000, 1,      0x83ff, 0x3c00, 0xbc01,
				  0x7bff, 0x7c00, 0xfc00, 0x7e01, 0x7c01};
static const uint16_t brains[] = {0,      0x8000, 1,      0x807f, 0x3f80, 0xbf81,
				  0x7f7f, 0x7f80, 0xff80, 0x7fc1, 0x7f81};

static const tn_dtype compute_dtypes[] = {TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32, TN_F64};
enum { N_COMPUTE = 6 };

/* The listed values, a NaN with a payload in its lowest bit only, random ones (any bits, and of
 * floating dtypes as many numbers in [-20, 20]), and those near edges (edges.c). */
enum { N_RANDOM = 4096, N_EDGES = 8192 };

static size_t n_listed(tn_dtype dtype)
{
	if (dtype == TN_BOOL)
		return 2;
	if (dtype == TN_F16 || dtype == TN_BF16)
		return sizeof(halves) / sizeof(halves[0]);
	return tn_is_floating(dtype) ? sizeof(reals) / sizeof(reals[0]) + 1
				     : sizeof(integers) / sizeof(integers[0]);
}

/* The bits of listed value number i. */
static uint64_t listed_bits(tn_dtype dtype, size_t i)
{
	if (dtype == TN_BOOL)
		return i;
	if (dtype == TN_F16)
		return halves[i];
	if (dtype == TN_BF16)
		return brains[i];
	if (!tn_is_floating(dtype))
		return tn_cast_bits(TN_I64, dtype, (uint64_t)integers[i]);
	if (i == sizeof(reals) / sizeof(reals[0]))
		return dtype == TN_F32 ? 0x7f800001 : UINT64_C(0x7ff0000000000001);
	return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(reals[i]));
}

/* Where conversions saturate and wrap: 2^n and -2^n for n of 0 to 64, each with the value before
 * and the value after it. */
enum { MOST_POWER = 64, N_LIMITS = (MOST_POWER + 1) * 2 * 3 };

/* The bits of limit number i; the dtype is not bool. */
static uint64_t limit_bits(tn_dtype dtype, size_t i)
{
	const int power = (int)(i / 6), is_negative = i / 3 % 2 != 0;
	const uint64_t neighbour = (uint64_t)(i % 3) - 1;
	uint64_t whole = power < MOST_POWER ? UINT64_C(1) << power : 0;
	if (!tn_is_floating(dtype))
		return tn_cast_bits(TN_I64, dtype, (is_negative ? 0 - whole : whole) + neighbour);
	double number = ldexp(is_negative ? -1 : 1, power);
	return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number)) + neighbour;
}

static uint64_t random_bits(struct kit *kit, tn_dtype dtype)
{
	uint64_t bits = kit_random(kit);
	if (dtype == TN_BOOL)
		return bits & 1;
	if (tn_is_floating(dtype) && bits >> 63)
		return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(kit_uniform(kit, -20, 20)));
	return tn_cast_bits(TN_U64,
			    dtype == TN_F16 || dtype == TN_BF16 ? TN_U16
			    : dtype == TN_F32                   ? TN_U32
								: TN_U64,
			    bits ^ bits >> 17);
}

/* The error allowed for a result, in units in the last place: tenon-program(7), ACCURACY. */
static double allowed_ulps(const struct kit *kit, uint16_t op)
{
	uint32_t stated = kit->description.function_ulps;
	if (!(tn_op_information(op)->flags & TN_IS_INEXACT))
		return 0;
	/* check_describe reports a device that states more than the most. */
	return stated == 0                      ? TN_FUNCTION_ULPS
	       : stated > TN_MOST_FUNCTION_ULPS ? TN_MOST_FUNCTION_ULPS
						: stated;
}

/* Are the values equal?  All NaNs are equal, and with a tolerance zeros of both signs. */
static int is_close(const struct kit *kit, uint16_t op, tn_dtype dtype, uint64_t expected,
		    uint64_t found)
{
	double e = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, expected));
	double f = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, found));
	if (kit_is_value(kit, dtype, expected, found))
		return 1;
	if (dtype != TN_F32 && dtype != TN_F64)
		return tn_is_floating(dtype) && isnan(e) && isnan(f);
	if (isnan(e) || isnan(f))
		return isnan(e) && isnan(f);
	if (e == 0 && f == 0)
		return allowed_ulps(kit, op) > 0;
	const tn_dtype compute = dtype == TN_F32 ? kit_compute_dtype(kit, TN_FAMILY_MAP) : dtype;
	return isfinite(e) && fabs(e - f) <= allowed_ulps(kit, op) * kit_unit(compute, e);
}

static double as_number(tn_dtype dtype, uint64_t bits)
{
	return tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits));
}

/* Zero of the same sign for a subnormal number of a dtype whose subnormals the device does not
 * keep; the bits as they are for everything else. */
static uint64_t flushed(const struct kit *kit, tn_dtype dtype, uint64_t bits)
{
	const uint32_t kept = kit->description.numerics;
	if (dtype == TN_F16)
		return kept & TN_NUMERICS_F16_SUBNORMALS || bits & 0x7c00 ? bits : bits & 0x8000;
	if (dtype == TN_F32 && kit_compute_dtype(kit, TN_FAMILY_MAP) == TN_F16 &&
	    !(kept & TN_NUMERICS_F16_SUBNORMALS) && fabs(as_number(dtype, bits)) < 0x1p-14)
		return bits & 0x80000000;
	if (kept & TN_NUMERICS_F32_SUBNORMALS)
		return bits;
	if (dtype == TN_BF16)
		return bits & 0x7f80 ? bits : bits & 0x8000;
	return dtype != TN_F32 || bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* Is it the expected result, or zero in place of a subnormal one? */
static int is_expected(const struct kit *kit, uint16_t op, tn_dtype dtype, uint64_t expected,
		       uint64_t found)
{
	return is_close(kit, op, dtype, expected, found) ||
	       is_close(kit, op, dtype, flushed(kit, dtype, expected), found);
}

int opcode_is_right(const struct kit *kit, uint16_t op, tn_dtype result, tn_dtype operand,
		    const uint64_t *v, uint64_t found)
{
	uint64_t expected = tn_op_evaluate(op, result, operand, v[0], v[1], v[2]);
	if (is_expected(kit, op, result, expected, found))
		return 1;
	expected = tn_op_evaluate(op, result, operand, flushed(kit, operand, v[0]),
				  flushed(kit, operand, v[1]), flushed(kit, operand, v[2]));
	return is_expected(kit, op, result, expected, found);
}

/* The nearest operand that a program keeps as it is. */
static uint64_t representable(const struct kit *kit, tn_dtype dtype, uint64_t bits)
{
	const double number = as_number(dtype, bits);
	if (dtype != TN_F32 || kit_compute_dtype(kit, TN_FAMILY_MAP) == TN_F32)
		return bits;
	if (isnan(number))
		return (bits & 0x80000000) | 0x7fc00000;
	return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(kit_representable(kit, number)));
}

/* Signalling NaNs become quiet ones: pow(NaN, 0) is 1, but not always for a signalling one. */
static uint64_t quiet(tn_dtype dtype, uint64_t bits)
{
	if (!tn_is_floating(dtype) || !isnan(as_number(dtype, bits)))
		return bits;
	return bits | (dtype == TN_F32 ? UINT64_C(1) << 22 : UINT64_C(1) << 51);
}

/* Operands of one opcode: every combination of listed values, then random ones, then edges. */
static void make_operands(struct kit *kit, struct array *in, uint16_t op, int arity, tn_dtype dtype)
{
	int64_t combinations = 1;
	for (int i = 0; i < arity; i++)
		combinations *= (int64_t)n_listed(op == TN_OP_SELECT && i == 0 ? TN_BOOL : dtype);
	const int64_t n_edges = kit_share(kit, N_EDGES);
	const int64_t count = combinations + kit_share(kit, N_RANDOM) + n_edges;
	for (int64_t i = 0, below = 1; i < arity; i++) {
		tn_dtype own = op == TN_OP_SELECT && i == 0 ? TN_BOOL : dtype;
		int64_t listed = (int64_t)n_listed(own);
		array_make(kit, &in[i], INPUT, own, 1, &count, COMPACT);
		for (int64_t e = 0; e < count - n_edges; e++) {
			uint64_t bits = e < combinations
						? listed_bits(own, (size_t)(e / below % listed))
						: random_bits(kit, own);
			array_set_bits(&in[i], (uint64_t)e,
				       quiet(own, representable(kit, own, bits)));
		}
		below *= listed;
	}
	for (int64_t e = count - n_edges; e < count; e++) {
		uint64_t v[3];
		edge_operands(kit, op, dtype, v);
		for (int i = 0; i < arity; i++)
			array_set_bits(&in[i], (uint64_t)e,
				       quiet(in[i].operand.dtype,
					     representable(kit, in[i].operand.dtype, v[i])));
	}
}

static void runs_opcode(struct kit *kit, uint16_t op, tn_dtype dtype)
{
	const struct tn_op_info *info = tn_op_information(op);
	tn_dtype result = info->flags & TN_GIVES_BOOL ? TN_BOOL : dtype;
	struct tn_program *program = operation_program(op, info->arity, dtype, result);
	struct array in[3], out, *all[4] = {&in[0], &in[1], &in[2], &in[2]};
	struct tn_operand inputs[3];
	kit_case(kit, TN_SLOT_MAP, "map: %s of %s", info->name, tn_dtype_name(dtype));
	make_operands(kit, in, op, info->arity, dtype);
	for (int i = 0; i < info->arity; i++)
		inputs[i] = in[i].operand;
	array_make(kit, &out, OUTPUT, result, 1, inputs[0].shape, COMPACT);
	all[info->arity] = &out;
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = inputs,
				   .outputs = &out.operand};
	if (kit_run_ok(kit, &args, all, info->arity + 1u)) {
		for (uint64_t e = 0; e < out.count; e++) {
			uint64_t v[3] = {0, 0, 0}, expected;
			for (int i = 0; i < info->arity; i++)
				v[i] = array_bits(&in[i], e);
			expected = tn_op_evaluate(op, result, dtype, v[0], v[1], v[2]);
			if (!opcode_is_right(kit, op, result, dtype, v, array_bits(&out, e)))
				kit_fail(kit,
					 "of %.9g (%llx), %.9g, %.9g: expected %.9g, found %.9g",
					 as_number(in[0].operand.dtype, v[0]),
					 (unsigned long long)v[0], as_number(dtype, v[1]),
					 as_number(dtype, v[2]), as_number(result, expected),
					 as_number(result, array_bits(&out, e)));
		}
	}
	for (int i = 0; i < info->arity; i++)
		array_free(&in[i]);
	array_free(&out);
	tn_program_destroy(program);
}

static int takes(const struct tn_op_info *info, tn_dtype dtype)
{
	if (dtype == TN_BOOL)
		return (info->flags & TN_TAKES_BOOL) != 0;
	return (info->flags & (tn_is_integer(dtype) ? TN_TAKES_INTEGERS : TN_TAKES_FLOATS)) != 0;
}

/* p = mul_rounded(x, x), z = p + c; with x = 1 + u and c = -(1 + 2 u), where u^2 is half a unit of
 * the product, z is 0; it is u^2 if the two operations became one. */
static void keeps_a_product_apart(struct kit *kit, tn_dtype dtype)
{
	static const int64_t length[] = {1000};
	const double u = dtype == TN_F32 ? 0x1p-12 : 0x1p-27;
	struct array x, c, z, *all[3] = {&x, &c, &z};
	struct tn_builder b;
	kit_case(kit, TN_SLOT_MAP, "map: mul_rounded of %s, and a sum", tn_dtype_name(dtype));
	begin_program(&b);
	tn_value factor = tn_build_source(&b, TN_OP_INPUT, dtype, 0);
	tn_value addend = tn_build_source(&b, TN_OP_INPUT, dtype, 1);
	tn_value product = tn_build_op(&b, TN_OP_MUL_ROUNDED, dtype, factor, factor, 0);
	tn_value sum = tn_build_op(&b, TN_OP_ADD, dtype, product, addend, 0);
	struct tn_program *program = finish_program(&b, 2, 0, 1, &sum);
	array_make(kit, &x, INPUT, dtype, 1, length, COMPACT);
	array_make(kit, &c, INPUT, dtype, 1, length, COMPACT);
	array_make(kit, &z, OUTPUT, dtype, 1, length, COMPACT);
	for (uint64_t i = 0; i < x.count; i++) {
		array_set_number(&x, i, 1 + u);
		array_set_number(&c, i, -1 - 2 * u);
	}
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = (struct tn_operand[]){x.operand, c.operand},
				   .outputs = &z.operand};
	if (kit_run_ok(kit, &args, all, 3))
		for (uint64_t i = 0; i < z.count; i++)
			if (array_number(&z, i) != 0)
				kit_fail(kit, "element %llu is %g: the product was not rounded",
					 (unsigned long long)i, array_number(&z, i));
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
	tn_program_destroy(program);
}

void check_map_opcodes(struct kit *kit)
{
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	for (unsigned n = 0; n < TN_OP_COUNT; n++) {
		const uint16_t op = (uint16_t)n;
		const struct tn_op_info *info = tn_op_information(op);
		if (!info->name || tn_op_is_source(op) || op == TN_OP_CAST || op == TN_OP_BITCAST ||
		    (info->flags & TN_HAS_ONE_TYPE))
			continue;
		for (int d = 0; d < N_COMPUTE; d++)
			if (takes(info, compute_dtypes[d]) &&
			    kit_claims_program(kit, compute_dtypes[d]))
				runs_opcode(kit, op, compute_dtypes[d]);
	}
	for (int d = 0; d < N_COMPUTE; d++) {
		const tn_dtype dtype = compute_dtypes[d];
		if (!tn_is_floating(dtype) || !kit_claims_program(kit, dtype))
			continue;
		if (dtype == TN_F32 && kit_compute_dtype(kit, TN_FAMILY_MAP) != TN_F32)
			kit_remark(kit, "products of mul_rounded and sums are not tested in f32, "
					"which it does not compute in");
		else
			keeps_a_product_apart(kit, dtype);
	}
}

/* A value through the conversions of `converts`. */
static uint64_t converted(uint16_t op, tn_dtype from, tn_dtype read, tn_dtype written, tn_dtype to,
			  uint64_t bits)
{
	bits = tn_cast_bits(from, read, bits);
	if (op)
		bits = tn_op_evaluate(op, written, read, bits, 0, 0);
	return tn_cast_bits(written, to, bits);
}

/* out := in, stored as `from` and `to`, by a program that applies `op` (CAST, BITCAST; 0: none)
 * from `read` to `written`. */
static void converts(struct kit *kit, uint16_t op, tn_dtype from, tn_dtype read, tn_dtype written,
		     tn_dtype to)
{
	int64_t listed = (int64_t)n_listed(from), limits = from == TN_BOOL ? 0 : N_LIMITS;
	int64_t count = listed + limits + N_RANDOM + N_EDGES / 2;
	struct array in, out, *all[2] = {&in, &out};
	struct tn_program *program =
		op ? operation_program(op, 1, read, written) : identity_program(read, 1);
	kit_case(kit, TN_SLOT_MAP, "map: %s stored, read as %s, %s to %s, stored as %s",
		 tn_dtype_name(from), tn_dtype_name(read), op == TN_OP_BITCAST ? "bitcast" : "cast",
		 tn_dtype_name(written), tn_dtype_name(to));
	array_make(kit, &in, INPUT, from, 1, &count, COMPACT);
	array_make(kit, &out, OUTPUT, to, 1, &count, COMPACT);
	for (int64_t i = 0; i < count; i++) {
		uint64_t bits = i < listed            ? listed_bits(from, (size_t)i)
				: i < listed + limits ? limit_bits(from, (size_t)(i - listed))
				: i % 2               ? random_bits(kit, from)
						      : edge_bits(kit, from);
		array_set_bits(&in, (uint64_t)i, representable(kit, from, bits));
	}
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = &in.operand,
				   .outputs = &out.operand};
	if (kit_run_ok(kit, &args, all, 2)) {
		for (uint64_t i = 0; i < in.count; i++) {
			uint64_t v = array_bits(&in, i), found = array_bits(&out, i);
			uint64_t bits = converted(op, from, read, written, to, v);
			if (!is_expected(kit, op, to, bits, found) &&
			    !is_expected(
				    kit, op, to,
				    converted(op, from, read, written, to, flushed(kit, from, v)),
				    found))
				kit_fail(kit, "bits %llx gave %llx, expected %llx",
					 (unsigned long long)v, (unsigned long long)found,
					 (unsigned long long)bits);
		}
	}
	array_free(&in);
	array_free(&out);
	tn_program_destroy(program);
}

/* Loads and stores: every storage dtype, to and from every dtype of programs. */
void check_map_dtypes(struct kit *kit)
{
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	for (int c = 0; c < N_COMPUTE; c++) {
		tn_dtype compute = compute_dtypes[c];
		if (!kit_claims_program(kit, compute))
			continue;
		for (tn_dtype storage = 1; storage < TN_DTYPES; storage++) {
			if (!tn_compute_dtype(storage) || !kit_claims_storage(kit, storage))
				continue;
			converts(kit, 0, storage, compute, compute, compute);
			converts(kit, 0, compute, compute, compute, storage);
		}
	}
}

/* The instructions CAST and BITCAST. */
void check_map_casts(struct kit *kit)
{
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	for (int f = 0; f < N_COMPUTE; f++) {
		for (int t = 0; t < N_COMPUTE; t++) {
			tn_dtype from = compute_dtypes[f], to = compute_dtypes[t];
			if (!kit_claims_program(kit, from) || !kit_claims_program(kit, to) ||
			    !kit_claims_storage(kit, from) || !kit_claims_storage(kit, to))
				continue;
			converts(kit, TN_OP_CAST, from, from, to, to);
			if (tn_dtype_size(from) == 4 && tn_dtype_size(to) == 4)
				converts(kit, TN_OP_BITCAST, from, from, to, to);
		}
	}
}
