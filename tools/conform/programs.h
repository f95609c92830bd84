/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs for the kit's cases, built as the library builds them, so that their hash and bytes are
 * valid cache keys.
 */
#ifndef TN_TESTS_CONFORMANCE_PROGRAMS_H
#define TN_TESTS_CONFORMANCE_PROGRAMS_H

#include <tenon/program.h>

#include "program/builder.h"

/* The builder's values as a program of the given inputs and scalars; ends the kit on failure. */
struct tn_program *finish_program(struct tn_builder *builder, uint32_t n_inputs, uint32_t n_scalars,
				  uint32_t n_outputs, const tn_value *outputs);
void begin_program(struct tn_builder *builder);

/* out[0] ... out[n_outputs-1] := in[0], read as `dtype` */
struct tn_program *identity_program(tn_dtype dtype, uint32_t n_outputs);

/* out[0] := op(in[0], in[1], ...), `arity` inputs of `dtype`; in[0] of SELECT is TN_BOOL */
struct tn_program *operation_program(uint16_t op, uint32_t arity, tn_dtype dtype, tn_dtype result);

#endif
