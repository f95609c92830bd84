/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs as source for C-like compilers.  A printed program is a list of declarations
 *
 *     const tn_f32 v2 = tn_mul_f32(v0, v1);
 *
 * over the types and functions of the prelude, which hold all the edge cases, and gives what
 * evaluate.h gives: bit for bit, but for the functions of the mathematics library (exp to sigmoid, pow,
 * rsqrt), which have the compiler's accuracy.
 *
 * The reader of the text declares, with the prefix, what a program reads, in the dtype that
 * tn_program_input_dtype names (tn_bool, tn_i32, tn_u32, tn_i64, tn_f32, tn_f64):
 *     in0, in1, ...   s0, s1, ...   i0, i1, ... (tn_i64)   element (tn_i64)
 * and finds the results in out0, out1, ...; values in between are called v0, v1, ...
 *
 * Who defines TN_NO_NORMAL before the prelude gets no tn_normal, nor its table, which every kernel would
 * carry along.
 *
 * Sums and products must not be contracted, or random numbers would differ: the prelude says so in
 * each dialect (C: pragmas of gcc and clang, give -ffp-contract=off to others; CUDA: intrinsics that
 * round each operation; OpenCL: its pragma).  No fast-math option may be given; OpenCL needs
 * -cl-fp32-correctly-rounded-divide-sqrt for exact division.
 */
#ifndef TN_PROGRAM_PRINTER_H
#define TN_PROGRAM_PRINTER_H

#include <tenon/backend.h>

/* Both write at most `size` bytes with the NUL and return the length of the whole text; buffer may be
 * NULL when size is 0.  An unknown dialect gives length 0 and an empty text.  args->prefix may be
 * NULL; the prelude does not use it. */
size_t tn_print_prelude(const struct tn_print_args *args, char *buffer, size_t size);
size_t tn_print_program(const struct tn_program *program, const struct tn_print_args *args,
			char *buffer, size_t size);

#endif
