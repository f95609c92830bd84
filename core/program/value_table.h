/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The values of a program that is being built.  They are hash-consed: equal values have one number.
 */
#ifndef TN_PROGRAM_VALUE_TABLE_H
#define TN_PROGRAM_VALUE_TABLE_H

#include <tenon/backend.h>

/* The limit on values before dead ones are removed. */
#define TN_BUILDER_MAX_VALUES 4096
#define TN_BUILDER_SLOTS (2 * TN_BUILDER_MAX_VALUES)

struct tn_builder {
	struct tn_instruction *values; /* constants have their bits in `bits` */
	uint64_t *bits;
	uint16_t *slots; /* hash table of values + 1 */
	uint32_t n_values;
	tn_status status;
	const char *operation; /* named by its errors */
	void *memory;
};

typedef uint16_t tn_value;

/* The number of the value with these fields, made if it is new; bits are a constant's. */
tn_value tn_value_intern(struct tn_builder *builder, struct tn_instruction value, uint64_t bits);

/* op: TN_OP_INPUT, TN_OP_SCALAR, TN_OP_INDEX (number: the axis) or TN_OP_ELEMENT. */
tn_value tn_build_source(struct tn_builder *builder, uint16_t op, tn_dtype dtype, uint32_t number);
tn_value tn_build_constant(struct tn_builder *builder, tn_dtype dtype, uint64_t bits);
/* A constant of any compute dtype from a double, converted by the rules of the cast. */
tn_value tn_build_number(struct tn_builder *builder, tn_dtype dtype, double number);

static inline tn_dtype tn_build_dtype(const struct tn_builder *builder, tn_value value)
{
	return (tn_dtype)builder->values[value].dtype;
}

/* Is the value a constant?  Its bits then go to *bits, unless that is NULL. */
int tn_build_is_constant(const struct tn_builder *builder, tn_value value, uint64_t *bits);

#endif
