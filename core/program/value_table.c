/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See value_table.h.  An op over equal operands is found by its five fields.
 */
#include "program/value_table.h"

#include <string.h>

#include "program/cast.h"

static uint32_t slot_of(const struct tn_instruction *value, uint64_t bits)
{
	uint64_t operands = (uint64_t)value->a << 32 | (uint64_t)value->b << 16 | value->c;
	uint64_t h = operands ^ (uint64_t)value->op << 48 ^ (uint64_t)value->dtype << 56;
	h = (h ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
	h ^= h >> 29;
	return (uint32_t)(h * UINT64_C(0xbf58476d1ce4e5b9) >> 32) % TN_BUILDER_SLOTS;
}

tn_value tn_value_intern(struct tn_builder *builder, struct tn_instruction value, uint64_t bits)
{
	if (builder->status)
		return 0;
	uint32_t slot = slot_of(&value, bits);
	for (; builder->slots[slot]; slot = (slot + 1) % TN_BUILDER_SLOTS) {
		tn_value found = builder->slots[slot] - 1;
		if (!memcmp(&builder->values[found], &value, sizeof(value)) &&
		    builder->bits[found] == bits)
			return found;
	}
	if (builder->n_values == TN_BUILDER_MAX_VALUES) {
		builder->status = TN_LIMIT;
		return 0;
	}
	tn_value number = (tn_value)builder->n_values++;
	builder->values[number] = value;
	builder->bits[number] = bits;
	builder->slots[slot] = (uint16_t)(number + 1);
	return number;
}

tn_value tn_build_source(struct tn_builder *builder, uint16_t op, tn_dtype dtype, uint32_t number)
{
	struct tn_instruction value = {.op = op, .dtype = (uint16_t)dtype, .a = (uint16_t)number};
	return tn_value_intern(builder, value, 0);
}

/* One NaN represents all: payloads are not part of a program's meaning. */
static uint64_t canonical(tn_dtype dtype, uint64_t bits)
{
	if (dtype == TN_F32 && (bits & 0x7fffffff) > 0x7f800000)
		return 0x7fc00000;
	if (dtype == TN_F64 && (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000))
		return UINT64_C(0x7ff8000000000000);
	return bits;
}

tn_value tn_build_constant(struct tn_builder *builder, tn_dtype dtype, uint64_t bits)
{
	struct tn_instruction value = {.op = TN_OP_CONSTANT, .dtype = (uint16_t)dtype};
	return tn_value_intern(builder, value, canonical(dtype, bits));
}

tn_value tn_build_number(struct tn_builder *builder, tn_dtype dtype, double number)
{
	return tn_build_constant(builder, dtype,
				 tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number)));
}

int tn_build_is_constant(const struct tn_builder *builder, tn_value value, uint64_t *bits)
{
	if (builder->values[value].op != TN_OP_CONSTANT)
		return 0;
	if (bits)
		*bits = builder->bits[value];
	return 1;
}
