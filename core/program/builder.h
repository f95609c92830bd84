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

#include "program/value_table.h"

/* `operation` is named by errors and outlives the builder.  TN_OUT_OF_MEMORY. */
tn_status tn_builder_init(struct tn_builder *builder, const char *operation,
			  struct tn_error_info *error);
void tn_builder_release(struct tn_builder *builder);

/* Operands that the op does not have are 0. */
tn_value tn_build_op(struct tn_builder *builder, uint16_t op, tn_dtype dtype, tn_value a,
		     tn_value b, tn_value c);
tn_value tn_build_cast(struct tn_builder *builder, tn_dtype dtype, tn_value a);

/* The values that the outputs need, in canonical order, as a program (tn_program_destroy).
 * TN_LIMIT: too many instructions or constants remain.  TN_OUT_OF_MEMORY. */
tn_status tn_builder_finish(struct tn_builder *builder, uint32_t n_inputs, uint32_t n_scalars,
			    uint32_t n_outputs, const tn_value *outputs,
			    struct tn_program **program, struct tn_error_info *error);

#endif
