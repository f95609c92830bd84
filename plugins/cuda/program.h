/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs as CUDA C.
 */
#ifndef CUDA_PROGRAM_H
#define CUDA_PROGRAM_H

#include "operand.h"
#include "text.h"

/* Limits, opcodes, dtypes and references: what the printer is given afterwards is sound. */
tn_status cuda_check_program(const struct tn_call *call, const char *operation,
			     const struct tn_program *program);
tn_status cuda_check_scalars(const struct tn_call *call, const char *operation,
			     const struct tn_scalar *scalars, uint32_t n);

/* In which dtype the program reads source number `number` (TN_OP_INPUT, TN_OP_SCALAR); 0: it does not. */
tn_dtype cuda_source_dtype(const struct tn_program *program, uint16_t op, uint32_t number);
tn_dtype cuda_output_dtype(const struct tn_program *program, uint32_t number);
/* Does it have such an instruction? */
int cuda_program_uses(const struct tn_program *program, uint16_t op);

/* The dtype as programs compute with it ("cu_f32"; "bool"), and as it is in memory ("cu_bool"). */
const char *cuda_value_type(tn_dtype dtype);
const char *cuda_memory_type(tn_dtype dtype);
/* The host's text of the program. */
void cuda_print_program(struct cuda_text *text, const struct tn_program *program,
			const char *prefix);

#endif
