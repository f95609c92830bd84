/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws operands near edges.  Distances from a point are counted in units of the last place, and
 * are as often of one bit as of any other number of bits.
 */
#include "edges.h"

#include "program/cast.h"
#include "program/opcode.h"

/* Below 2^bits; each number of bits is as likely as any other. */
static uint64_t distance(struct kit *kit, unsigned bits)
{
	uint64_t draw = kit_random(kit) >> (64 - bits);
	unsigned kept = (unsigned)(kit_random(kit) % (bits + 1));
	return kept ? draw >> (bits - kept) : 0;
}

static uint64_t bits_of(tn_dtype dtype, double number)
{
	return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number));
}

static double number_of(tn_dtype dtype, uint64_t bits)
{
	return tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits));
}

/* The bits of a significand that are stored. */
static unsigned stored_bits(tn_dtype dtype)
{
	return tn_dtype_information(dtype)->digits - 1u;
}

/* A number within 2^bits units of the last place of another one. */
static uint64_t near(struct kit *kit, tn_dtype dtype, double number, unsigned bits)
{
	uint64_t away = distance(kit, bits);
	uint64_t at = bits_of(dtype, number);
	return kit_random(kit) % 2 ? at + away : at - away;
}

static int sign(struct kit *kit)
{
	return kit_random(kit) % 2 ? 1 : -1;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static uint64_t integer_bits(struct kit *kit, tn_dtype dtype)
{
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	uint64_t power = UINT64_C(1) << kit_random(kit) % width;
	uint64_t number = (kit_random(kit) % 3 ? power : 0) + kit_random(kit) % 5 - 2;
	if (kit_random(kit) % 4 == 0)
		number = width - 3 + kit_random(kit) % 6; /* counts of shifts */
	number = kit_random(kit) % 2 ? number : 0 - number;
	return tn_cast_bits(TN_I64, dtype, number);
}

/* Where exp, exp2, expm1, sinh, sigmoid, tanh and erf end: overflow, underflow, 1 - tiny. */
static double end_of_functions(struct kit *kit, tn_dtype dtype)
{
	static const double wide[] = {709.78, 745.13, 708.4, 710.47, 1024,
				      1074,   1022,   36.74, 18.7,   5.92},
			    single[] = {88.723, 103.97, 87.34, 89.416, 128,
					149,    126,    17.33, 9.01,   3.92};
	const double *ends = dtype == TN_F64 ? wide : single;
	return sign(kit) * ends[kit_random(kit) % 10];
}

static double multiple_of_quarter_turn(struct kit *kit)
{
	return sign(kit) * (double)distance(kit, 24) * 1.57079632679489661923;
}

uint64_t edge_bits(struct kit *kit, tn_dtype dtype)
{
	const unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	const uint64_t sign_bit = (kit_random(kit) % 2) << (width - 1);
	unsigned digits;
	if (dtype == TN_BOOL)
		return kit_random(kit) % 2;
	if (!tn_is_floating(dtype))
		return integer_bits(kit, dtype);
	digits = stored_bits(dtype);
	switch (kit_random(kit) % 8) {
	case 0: /* zeros, subnormal and tiny numbers */
		return distance(kit, digits + 2) | sign_bit;
	case 1: /* ones */
		return near(kit, dtype, 1, digits) | sign_bit;
	case 2: /* powers of two, as far as f32's go */
		return near(kit, dtype, ldexp(1, (int)(kit_random(kit) % 250) - 125), digits - 1) |
		       sign_bit;
	case 3:
		return near(kit, dtype, multiple_of_quarter_turn(kit), 3);
	case 4: /* the largest number, and infinity */
		return (bits_of(dtype, INFINITY) - distance(kit, digits)) | sign_bit;
	case 5:
		return near(kit, dtype, end_of_functions(kit, dtype), digits - 4);
	case 6: /* whole numbers and halves */
		return near(kit, dtype, sign(kit) * (double)distance(kit, digits + 3) / 2, 2);
	default:
		return distance(kit, width);
	}
}

/* ---- Operands that belong together -----------------------------------------------------------*/

/* x ** y that neither over- nor underflows by much, for x near 1 and for any other. */
static void power_operands(struct kit *kit, tn_dtype dtype, uint64_t v[3])
{
	const double most = dtype == TN_F64 ? 720 : 92;
	double base;
	if (kit_random(kit) % 2)
		v[0] = near(kit, dtype, 1, stored_bits(dtype));
	base = number_of(dtype, v[0]);
	if (base > 0 && base != 1)
		v[1] = bits_of(dtype, kit_uniform(kit, -most, most) / log(base));
	else if (base < 0)
		v[1] = bits_of(dtype, floor(kit_uniform(kit, -most, most) / log(-base)));
}

/* b that is a multiple of a or nearly so, and far smaller; b that is nearly -a, a or 2 a. */
static void related_operands(struct kit *kit, tn_dtype dtype, uint64_t v[3])
{
	double a = number_of(dtype, v[0]);
	switch (kit_random(kit) % 4) {
	case 0:
		v[1] = near(kit, dtype, a / (1 + (double)distance(kit, 20)), 3);
		break;
	case 1:
		v[1] = near(kit, dtype, -a, stored_bits(dtype) - 1);
		break;
	case 2:
		v[1] = near(kit, dtype, a, stored_bits(dtype) - 1);
		break;
	default:
		v[1] = bits_of(dtype, ldexp(a, (int)(kit_random(kit) % 80) - 40));
	}
}

void edge_operands(struct kit *kit, uint16_t op, tn_dtype dtype, uint64_t v[3])
{
	for (int i = 0; i < 3; i++)
		v[i] = edge_bits(kit, op == TN_OP_SELECT && i == 0 ? TN_BOOL : dtype);
	if (!tn_is_floating(dtype) || op == TN_OP_SELECT) {
		if (kit_random(kit) % 4 == 0)
			v[1] = op == TN_OP_SELECT ? v[1] : v[0];
		return;
	}
	if (kit_random(kit) % 4 == 0)
		return;
	if (op == TN_OP_POW)
		power_operands(kit, dtype, v);
	else
		related_operands(kit, dtype, v);
	if (op == TN_OP_FMA) /* a sum that cancels */
		v[2] = near(kit, dtype, -number_of(dtype, v[0]) * number_of(dtype, v[1]), 4);
}
