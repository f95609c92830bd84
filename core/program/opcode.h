/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The name, operands and properties of every opcode, in one table.
 */
#ifndef TN_PROGRAM_OPCODE_H
#define TN_PROGRAM_OPCODE_H

#include <tenon/backend.h>

enum {
	TN_TAKES_BOOL = 1u << 0,
	TN_TAKES_INTEGERS = 1u << 1, /* i32, u32, i64 */
	TN_TAKES_FLOATS = 1u << 2,   /* f32, f64 */
	TN_TAKES_ANY = TN_TAKES_BOOL | TN_TAKES_INTEGERS | TN_TAKES_FLOATS,
	TN_COMMUTES = 1u << 3,     /* op(a, b) = op(b, a), bit for bit but for a NaN's payload */
	TN_GIVES_BOOL = 1u << 4,   /* a comparison: TN_BOOL for any operands */
	TN_IS_SOURCE = 1u << 5,    /* `a` is a number, not a value */
	TN_IS_INEXACT = 1u << 6,   /* not rounded just once: kernels may be 4 ulp off */
	TN_HAS_ONE_TYPE = 1u << 7, /* the opcode determines the dtypes of operands and result */
};

struct tn_op_info {
	const char *name; /* NULL: no such opcode */
	uint8_t arity;    /* operands that are values; 0 for sources */
	uint8_t flags;
	uint8_t cost; /* estimate in additions, for comparing work */
};

/* Never NULL; an unknown number has a NULL name, arity 0 and no flags. */
const struct tn_op_info *tn_op_information(uint16_t op);

/* Is it INPUT, SCALAR, CONSTANT, INDEX or ELEMENT? */
int tn_op_is_source(uint16_t op);

/* The operand (0, 1 or 2) whose dtype selects the kernel: that of `a`, and of `b` for SELECT. */
static inline int tn_op_typed_operand(uint16_t op)
{
	return op == TN_OP_SELECT;
}

#endif
