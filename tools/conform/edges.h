/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands of opcodes near the points where errors grow and where a case distinction is wrong by
 * one: zeros, ones, powers of two, limits, multiples of pi / 2, where exponentials over- and
 * underflow; and pairs of operands that belong together.
 */
#ifndef TN_TOOLS_CONFORM_EDGES_H
#define TN_TOOLS_CONFORM_EDGES_H

#include "conform.h"

/* The bits of a value of that dtype, which is bool, an integer or a floating one. */
uint64_t edge_bits(struct kit *kit, tn_dtype dtype);

/* The bits of the operands of an opcode in a dtype of programs. */
void edge_operands(struct kit *kit, uint16_t op, tn_dtype dtype, uint64_t v[3]);

#endif
