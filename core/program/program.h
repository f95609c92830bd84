/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packs the parts of a program into the single block of the interface.
 */
#ifndef TN_PROGRAM_PROGRAM_H
#define TN_PROGRAM_PROGRAM_H

#include <tenon/backend.h>
#include <tenon/program.h>

struct tn_program_parts {
	uint32_t n_inputs;
	uint32_t n_scalars;
	uint32_t n_outputs;
	uint32_t n_constants;
	uint32_t n_instructions;
	uint16_t outputs[TN_PROGRAM_MAX_OUTPUTS];
	uint64_t constants[TN_PROGRAM_MAX_CONSTANTS];
	struct tn_instruction instructions[TN_PROGRAM_MAX_INSTRUCTIONS];
};

/* Makes a program from parts that are within the limits.  Unused fields of instructions must be 0:
 * they are part of the canonical bytes.  TN_OUT_OF_MEMORY, naming the operation. */
tn_status tn_program_create(const struct tn_program_parts *parts, const char *operation,
			    struct tn_program **program, struct tn_error_info *error);

/* TN_UNSUPPORTED: a count is beyond the limits of <tenon/backend.h>; the text has all counts. */
tn_status tn_program_check_limits(const struct tn_program *program, const char *operation,
				  struct tn_error_info *error);

/* Implements tn_host's program_check.  The parser and the differentiator always make valid
 * programs. */
tn_status tn_program_check(const struct tn_program *program, uint32_t n_operations, uint64_t dtypes,
			   const char *operation, struct tn_error_info *error);
#define TN_ALL_DTYPES UINT64_MAX

#endif
