/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs over one fixed set of names: a text is parsed, checked and run for one element.
 *     x, y f32   d f64   i, j i32   u u32   l i64   b bool        scalars a f32, s i64
 */
#ifndef TN_TESTS_PROGRAM_FIXTURE_H
#define TN_TESTS_PROGRAM_FIXTURE_H

#include <tenon/program.h>

#include "check.h"
#include "program/cast.h"
#include "program/evaluate.h"
#include "program/program.h"

static const char *const fixture_inputs[] = {"x", "y", "d", "i", "j", "u", "l", "b"};
static const tn_dtype fixture_dtypes[] = {TN_F32, TN_F32, TN_F64, TN_I32,
					  TN_I32, TN_U32, TN_I64, TN_BOOL};
static const char *const fixture_scalars[] = {"a", "s"};
static const tn_dtype fixture_scalar_dtypes[] = {TN_F32, TN_I64};

static inline struct tn_program_names fixture_names(void)
{
	return (struct tn_program_names){.struct_size = sizeof(struct tn_program_names),
					 .n_inputs = 8,
					 .inputs = fixture_inputs,
					 .input_dtypes = fixture_dtypes,
					 .n_scalars = 2,
					 .scalars = fixture_scalars,
					 .scalar_dtypes = fixture_scalar_dtypes};
}

/* The values of inputs and scalars; converted to their dtypes. */
struct fixture_values {
	double x, y, d, i, j, u, l, b, a, s;
};

static inline uint64_t bits_of_number(tn_dtype dtype, double number)
{
	return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number));
}

static inline double number_of_bits(tn_dtype dtype, uint64_t bits)
{
	return tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits));
}

/* The program of a text; fails the test if it is invalid. */
static inline tn_program *parse_or_fail(const char *text, const struct tn_program_names *names)
{
	tn_program *program = NULL;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	if (tn_program_parse(text, names, &program, &error)) {
		print_error("%s\n  %s\n", text, error.text);
		fail();
	}
	if (tn_program_check(program, TN_OP_COUNT, TN_ALL_DTYPES, "test", &error)) {
		print_error("%s\n  %s\n", text, error.text);
		fail();
	}
	return program;
}

static inline tn_program *fixture_program(const char *text)
{
	struct tn_program_names names = fixture_names();
	return parse_or_fail(text, &names);
}

/* The text's one output for these values, as bits; its dtype goes to *dtype. */
static inline uint64_t run_text(const char *text, struct fixture_values v, tn_dtype *dtype)
{
	const double numbers[] = {v.x, v.y, v.d, v.i, v.j, v.u, v.l, v.b};
	const uint64_t scalars[] = {bits_of_number(TN_F32, v.a), bits_of_number(TN_I64, v.s)};
	const int64_t index[TN_MAX_RANK] = {3, 5, 7};
	uint64_t inputs[8], output;
	tn_program *program = fixture_program(text);
	for (int k = 0; k < 8; k++)
		inputs[k] = bits_of_number(fixture_dtypes[k], numbers[k]);
	tn_evaluate_program(program, inputs, scalars, index, 42, &output);
	*dtype = tn_program_output_dtype(program, 0);
	tn_program_destroy(program);
	return output;
}

#endif
