/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The normative scalar semantics of element programs, as tenon-program(7) defines them.  The
 * constant folder, the reference backend and the tests all rely on it.
 */
#ifndef TN_PROGRAM_EVALUATE_H
#define TN_PROGRAM_EVALUATE_H

#include <tenon/backend.h>

/* The value of one instruction.  a, b and c are bit patterns of the operands in the low bytes
 * (upper bytes are ignored), `dtype` is the result's type and `operand_dtype` that of `a` (for
 * SELECT that of b).  The result's upper bytes are 0.  Sources (INPUT to ELEMENT), unknown opcodes
 * and types that an opcode does not take give 0.
 *
 * Functions of f32 are computed in double and rounded, so they are within 0.5001 ulp. */
uint64_t tn_op_evaluate(uint16_t op, tn_dtype dtype, tn_dtype operand_dtype, uint64_t a, uint64_t b,
			uint64_t c);

/* Runs a program for one element.  inputs[k] and scalars[k] are values in the dtype in which the
 * program reads them (tn_program_input_dtype), index[k] is the index along axis k; each may be NULL
 * when the program reads none.  Writes outputs[j], of dtype tn_program_output_dtype(program, j). */
void tn_evaluate_program(const struct tn_program *program, const uint64_t *inputs,
			 const uint64_t *scalars, const int64_t *index, int64_t element,
			 uint64_t *outputs);

#endif
