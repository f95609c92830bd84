/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs as source for C-like compilers.  A printed program is a list of declarations
 *
 *     const tn_f32 v2 = tn_mul_f32(v0, v1);
 *
 * over the types and functions of the prelude, which handle all edge cases, and computes what
 * evaluate.h computes: bit for bit, except for the functions of the mathematics library (exp to
 * sigmoid, pow, rsqrt), which have the compiler's accuracy.
 *
 * The user of the text declares, with the prefix, what a program reads, in the dtype of
 * tn_program_input_dtype (tn_bool, tn_i32, tn_u32, tn_i64, tn_f32, tn_f64):
 *     in0, in1, ...   s0, s1, ...   i0, i1, ... (tn_i64)   element (tn_i64)
 * and finds the results in out0, out1, ...; intermediate values are named v0, v1, ...
 *
 * Defining TN_NO_NORMAL before the prelude omits tn_normal and its table, which every kernel would
 * otherwise contain.
 *
 * The dialect, which the plugin supplies, maps all this to a compiler's language.  It must also
 * prevent the contraction of sums and products, or random numbers would differ.
 */
#ifndef TN_PROGRAM_PRINTER_H
#define TN_PROGRAM_PRINTER_H

#include <tenon/backend.h>

struct tn_sink;

/* Implements tn_host's print_program: the statements of a program. */
tn_status tn_print_program(const struct tn_program *program, const struct tn_print_args *args);

/* Sets up a sink that writes to args->write; 0: the arguments lack a dialect, its words, or
 * `write`. */
int tn_print_begin(const struct tn_print_args *args, struct tn_sink *sink);

#endif
