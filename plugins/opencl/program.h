/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs as OpenCL C.
 */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include "operand.h"
#include "text.h"

/* Limits, opcodes, dtypes and references: what the printer is given afterwards is sound. */
tn_status opencl_check_program(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const struct tn_program *program);
tn_status opencl_check_scalars(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const struct tn_scalar *scalars, uint32_t n);

/* In which dtype the program reads source number `number` (TN_OP_INPUT, TN_OP_SCALAR); 0: it does not. */
tn_dtype opencl_source_dtype(const struct tn_program *program, uint16_t op, uint32_t number);
tn_dtype opencl_output_dtype(const struct tn_program *program, uint32_t number);
/* Does it ask for the index along an axis? */
int opencl_uses_index(const struct tn_program *program);

/* The type of an element in memory ("ushort" of f16). */
const char *opencl_type(tn_dtype dtype);
/* The functions that conversions call. */
const char *opencl_conversions(void);
/* `expression`, of dtype `from` as it is stored, converted to `to` as it is stored. */
void opencl_print_conversion(struct opencl_text *text, tn_dtype from, tn_dtype to,
			     const char *expression);
/* The host's text of the program. */
void opencl_print_program(struct opencl_text *text, const struct tn_program *program,
			  const char *prefix);
void opencl_print_prelude(struct opencl_text *text);

#endif
