/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dtypes of results: NumPy 2's rules (NEP 50), from which tn_array(3)'s table of dtypes
 * lists every departure.
 */
#ifndef TN_ARRAY_RESULT_TYPE_H
#define TN_ARRAY_RESULT_TYPE_H

#include "base/dtype.h"

/* The common dtype of two arrays, NumPy's result_type; bf16 takes the place of f16, and the two
 * give f32.  0: one is unknown. */
tn_dtype tn_result_type(tn_dtype a, tn_dtype b);

/* The same of several in any order, as a set: bit i is set if dtype i, none of them unknown, is one
 * of them.  Of none it is bool. */
tn_dtype tn_result_type_of(uint32_t set);

/* How an operation chooses the dtype in which it computes, from the common dtype of its inputs.
 * Unless it compares, its result has that dtype too. */
enum tn_loop {
	TN_LOOP_SAME,     /* the common dtype */
	TN_LOOP_NUMBER,   /* the same; bool is an error */
	TN_LOOP_REAL,     /* the same; complex is an error */
	TN_LOOP_COUNT,    /* the same; i8 for bool */
	TN_LOOP_FLOATING, /* floating: itself; i32 and wider: f64; narrower: f32 */
	TN_LOOP_QUOTIENT, /* floating: itself; integers and bool: f64 */
	TN_LOOP_DOUBLE,   /* f64; complex is an error */
	TN_LOOP_BITS,     /* the same; all but bool and integers are errors */
	TN_LOOP_INTEGER,  /* integers: themselves; i8 for bool; others are errors */
};

/* Of inputs whose dtypes are the set (bits 1 << dtype).  0: the operation does not take them. */
tn_dtype tn_loop_type(enum tn_loop loop, uint32_t set);

/* Of sums and products along axes: i64 for bool and signed, u64 for unsigned, else itself. */
tn_dtype tn_sum_type(tn_dtype dtype);

#endif
