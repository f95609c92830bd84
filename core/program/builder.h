/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes programs, value by value.  Every value is simplified when it is requested: constants are
 * folded, identities that are exact in IEEE arithmetic applied, and an existing equal value is
 * returned (value numbering).  Values that no output needs are removed at the end.
 *
 *     init -> input, scalar, constant, op, cast ... -> finish -> release
 *
 * A builder that has run out of room or memory keeps that error, returns value 0 from then on, and
 * reports the error in finish (or by `status`).  The caller has checked types: each op gets
 * operands of the dtypes that tn_op_information allows.
 */
#ifndef TN_PROGRAM_BUILDER_H
#define TN_PROGRAM_BUILDER_H

#include <tenon/backend.h>

/* The limit on values before dead ones are removed. */
#define TN_BUILDER_MAX_VALUES 4096

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

/* `operation` is named by errors and outlives the builder.  TN_OUT_OF_MEMORY. */
tn_status tn_builder_init(struct tn_builder *builder, const char *operation,
			  struct tn_error_info *error);
void tn_builder_release(struct tn_builder *builder);

/* op: TN_OP_INPUT, TN_OP_SCALAR, TN_OP_INDEX (number: the axis) or TN_OP_ELEMENT. */
tn_value tn_build_source(struct tn_builder *builder, uint16_t op, tn_dtype dtype, uint32_t number);
tn_value tn_build_constant(struct tn_builder *builder, tn_dtype dtype, uint64_t bits);
/* A constant of any compute dtype from a double, converted by the rules of the cast. */
tn_value tn_build_number(struct tn_builder *builder, tn_dtype dtype, double number);
/* Operands that the op does not have are 0. */
tn_value tn_build_op(struct tn_builder *builder, uint16_t op, tn_dtype dtype, tn_value a,
		     tn_value b, tn_value c);
tn_value tn_build_cast(struct tn_builder *builder, tn_dtype dtype, tn_value a);

static inline tn_dtype tn_build_dtype(const struct tn_builder *builder, tn_value value)
{
	return (tn_dtype)builder->values[value].dtype;
}

/* Is the value a constant?  Its bits then go to *bits, unless that is NULL. */
int tn_build_is_constant(const struct tn_builder *builder, tn_value value, uint64_t *bits);

/* The values that the outputs need, in canonical order, as a program (tn_program_destroy).
 * TN_LIMIT: too many instructions or constants remain.  TN_OUT_OF_MEMORY. */
tn_status tn_builder_finish(struct tn_builder *builder, uint32_t n_inputs, uint32_t n_scalars,
			    uint32_t n_outputs, const tn_value *outputs,
			    struct tn_program **program, struct tn_error_info *error);

#endif
