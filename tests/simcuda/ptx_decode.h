/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The decoder: one instruction becomes a few steps.  A type narrower than its register, .sat, .ftz,
 * f16 by way of f32, are separate steps between scratch places.
 */
#ifndef SIMCUDA_PTX_DECODE_H
#define SIMCUDA_PTX_DECODE_H

#include "ptx_reader.h"

struct ptx_opcode {
	const char *stem;
	int (*decode)(struct ptx_reader *reader);
};

struct ptx_opcode_table {
	const struct ptx_opcode *opcodes;
	size_t count;
};

extern const struct ptx_opcode_table ptx_integer_opcodes, ptx_float_opcodes, ptx_move_opcodes,
	ptx_memory_opcodes, ptx_control_opcodes, ptx_warp_opcodes, ptx_matrix_opcodes;

/* Is there an opcode with that prefix? */
int ptx_knows(const char *stem);
const struct ptx_type *ptx_find_type(const char *name, size_t length);
/* Converts a float as written to the bits of a type. */
uint64_t ptx_float_bits(uint64_t bits, int single, const struct ptx_type *type);
int ptx_function_address(struct ptx_reader *reader, const char *name, size_t length,
			 uint64_t *value);

/* All parts after the stem: types go to now.types, others must be in `allowed`,
 * words between spaces. */
int ptx_modifiers(struct ptx_reader *reader, const char *allowed);
int ptx_has(const struct ptx_reader *reader, const char *modifier);
enum ptx_direction ptx_direction_of(const struct ptx_reader *reader);
const struct ptx_type *ptx_type_at(const struct ptx_reader *reader, size_t index);

/* Checks the number of operands. */
int ptx_wants(struct ptx_reader *reader, unsigned least, unsigned most);
struct ptx_operand *ptx_top(struct ptx_reader *reader, unsigned index);

/* A place that holds `size` bytes a lane for this instruction. */
int32_t ptx_scratch(struct ptx_reader *reader);
int32_t ptx_constant(struct ptx_reader *reader, uint64_t value, size_t size);
/* The operand's value as `size` bytes a lane; `type` says how to read a number, or NULL. */
int32_t ptx_fetch(struct ptx_reader *reader, unsigned index, size_t size,
		  const struct ptx_type *type);
int32_t ptx_fetch_operand(struct ptx_reader *reader, struct ptx_operand *operand, size_t size,
			  const struct ptx_type *type);
/* The place of a result of `size` bytes; a wider register is extended afterwards. */
int32_t ptx_target(struct ptx_reader *reader, unsigned index, size_t size, int sign);
int32_t ptx_target_operand(struct ptx_reader *reader, struct ptx_operand *operand, size_t size,
			   int sign);
/* A predicate as written, with its `!`. */
int32_t ptx_predicate(struct ptx_reader *reader, const struct ptx_operand *operand);

struct ptx_step *ptx_step(struct ptx_reader *reader);
int ptx_lane_step(struct ptx_reader *reader, const char *name, size_t size, int32_t d, int32_t a,
		  int32_t b, int32_t c);
/* With a direction of rounding. */
int ptx_round_step(struct ptx_reader *reader, const char *name, enum ptx_direction direction,
		   size_t size, int32_t d, int32_t a, int32_t b, int32_t c);
struct ptx_step *ptx_action_step(struct ptx_reader *reader, ptx_action action, const void *extra);
/* Between 1, 2, 4 and 8 bytes. */
int ptx_resize_step(struct ptx_reader *reader, int32_t to, size_t to_size, int32_t from,
		    size_t from_size, int sign);

/* f16 and bf16 of a place to f32 in a scratch place, and back. */
int32_t ptx_widen(struct ptx_reader *reader, char kind, int32_t place);
int ptx_narrow(struct ptx_reader *reader, char kind, enum ptx_direction direction, int32_t d,
	       int32_t place);

#endif
