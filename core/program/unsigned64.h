/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * u64 in programs.  Backends compute in i64; the language's u64 has the same bits, and what differs
 * between the two (order, division, shifts to the right, floating values) is built here from
 * operations on i64.
 */
#ifndef TN_PROGRAM_UNSIGNED64_H
#define TN_PROGRAM_UNSIGNED64_H

#include "program/builder.h"

/* op over values of i64 that hold the bits of u64; a comparison gives bool.  Operands that the op
 * does not have are 0. */
tn_value tn_u64_op(struct tn_builder *builder, uint16_t op, tn_value x, tn_value y, tn_value z);

/* The bits of u64(a), for `a` of any compute dtype: integers modulo 2^64; floating values toward
 * zero, saturated, NaN as 0. */
tn_value tn_u64_from(struct tn_builder *builder, tn_value a);

/* The u64 with the bits of `a` as a value of `dtype`: floating to nearest, integers modulo 2^width,
 * bool by a != 0. */
tn_value tn_u64_to(struct tn_builder *builder, tn_dtype dtype, tn_value a);

#endif
