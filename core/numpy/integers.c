/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Divisors, multiples and bits of integers.
 */
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/result_type.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/text.h"
#include "dispatch/ledger.h"
#include "ops/formula.h"
#include "ops/layout.h"
#include "ops/map.h"

/* Two divisions each; 24 end Euclid's algorithm for 32 bits, 47 for 64 bits, and a program has room
 * for 24.  Those of u64 are long programs: after two of them what is left fits an i64. */
enum { PAIRS = 24, U64_PAIRS = 2, PAIRS_AFTER_U64 = 8 };

static tn_dtype begin(const char *operation, const tn_array *a, const tn_array *b)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime)
		return 0;
	tn_dtype loop = tn_loop_type(TN_LOOP_INTEGER, 1u << a->dtype | 1u << b->dtype);
	if (!loop)
		tn_runtime_fail(runtime, TN_DTYPE, operation, "not defined for %s and %s",
				tn_dtype_name(a->dtype), tn_dtype_name(b->dtype));
	return loop;
}

/* p and q without the multiples of each other.  A quotient by 0 is 0, so that the divisor stays
 * beside a 0 until the end. */
static void add_pairs(struct tn_text *text, int n)
{
	for (int i = 0; i < n; i++)
		tn_text_add(text, "p = p - q * (p / q); q = q - p * (q / p)\n");
}

/* The last pass has the one output of the function; those before it have both numbers. */
static void add_pass(struct tn_text *text, int pass, tn_dtype loop, int is_last)
{
	int is_u64 = loop == TN_U64 && pass == 0;
	tn_text_add(text, is_u64 ? "p = u64(x); q = u64(y)\n" : "p = x; q = y\n");
	add_pairs(text, is_u64 ? U64_PAIRS : PAIRS);
	if (is_u64) {
		tn_text_add(text, "p = i64(p); q = i64(q)\n");
		add_pairs(text, PAIRS_AFTER_U64);
	}
	if (!is_last)
		tn_text_add(text, "p_left = p; q_left = q");
	else
		tn_text_add(text, tn_is_unsigned(loop) ? "z = p + q" : "z = abs(p + q)");
}

/* numbers[0..2) := what a pass leaves of them, in new arrays of the open scope. */
static tn_status reduce(struct tn_runtime *runtime, const char *operation, const char *text,
			const tn_array *numbers[2])
{
	const struct tn_formula formula = {
		.text = text, .inputs = "x y", .outputs = "p_left q_left"};
	tn_array *left[2];
	for (int i = 0; i < 2; i++) {
		left[i] = tn_array_make_broadcast(runtime, operation, TN_I64, 2, numbers);
		if (!left[i])
			return runtime->report.status;
	}
	tn_status status = tn_formula_map(runtime, tn_operation_named(runtime, operation), &formula,
					  numbers, left, NULL);
	numbers[0] = left[0];
	numbers[1] = left[1];
	return status;
}

/* The greatest common divisor; in an open scope. */
static tn_array *divisor(const char *operation, const tn_array *a, const tn_array *b, tn_dtype loop)
{
	const int n_passes = loop == TN_U64 ? 3 : loop == TN_I64 ? 2 : 1;
	const tn_array *numbers[] = {a, b};
	struct tn_runtime *runtime = a->runtime;
	tn_array *result = NULL;
	tn_status status = TN_OK;
	for (int pass = 0; pass < n_passes && !status; pass++) {
		struct tn_text text;
		tn_text_init(&text);
		add_pass(&text, pass, loop, pass == n_passes - 1);
		if (text.failed) {
			status = tn_runtime_no_memory(runtime, operation, "a program");
		} else if (pass < n_passes - 1) {
			status = reduce(runtime, operation, text.data, numbers);
			if (status)
				tn_end_into(runtime, status);
		} else {
			const struct tn_formula formula = {.text = text.data, .inputs = "x y"};
			result = tn_formula_operation(operation, &formula, loop, numbers, NULL);
		}
		tn_text_release(&text);
	}
	return result;
}

tn_array *tn_gcd(const tn_array *a, const tn_array *b)
{
	tn_dtype loop = begin("gcd", a, b);
	if (!loop || tn_scope_begin(tn_array_context(a)))
		return NULL;
	return tn_scope_end(tn_array_context(a), divisor("gcd", a, b, loop));
}

tn_array *tn_lcm(const tn_array *a, const tn_array *b)
{
	tn_dtype loop = begin("lcm", a, b);
	if (!loop || tn_scope_begin(tn_array_context(a)))
		return NULL;
	/* The size of an i32 may only fit the i64 that it has in common with a u32. */
	const char *text = tn_is_unsigned(loop) ? "z = x / gcd * y"
			   : loop == TN_I64     ? "z = abs(i64(x)) / gcd * abs(i64(y))"
						: "z = abs(x) / gcd * abs(y)";
	const struct tn_formula formula = {.text = text, .inputs = "x y gcd"};
	const tn_array *inputs[] = {a, b, divisor("lcm", a, b, loop)};
	tn_array *multiple =
		inputs[2] ? tn_formula_operation("lcm", &formula, loop, inputs, NULL) : NULL;
	return tn_scope_end(tn_array_context(a), multiple);
}

/* Sums of bits in fields of 2, 4 and 8 bits, and of the fields. */
static const char count_of[] =
	"bits = bits - (bits >> 1 & 0x5555555555555555)\n"
	"bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333)\n"
	"bits = bits + (bits >> 4) & 0x0f0f0f0f0f0f0f0f\n"
	"z = bits * 0x0101010101010101 >> 56 & 0xff";

tn_array *tn_bitwise_count(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "bitwise_count");
	struct tn_text text;
	if (!runtime)
		return NULL;
	if (a->dtype != TN_BOOL && !tn_is_integer(a->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "bitwise_count", "not defined for %s",
				tn_dtype_name(a->dtype));
		return NULL;
	}
	tn_text_init(&text);
	tn_text_add(&text, tn_is_unsigned(a->dtype) ? "bits = i64(x)\n" : "bits = abs(i64(x))\n");
	tn_text_add(&text, count_of);
	if (text.failed)
		tn_runtime_no_memory(runtime, "bitwise_count", "a program");
	const struct tn_formula formula = {.text = text.data, .inputs = "x"};
	tn_array *count =
		text.failed ? NULL
			    : tn_formula_operation("bitwise_count", &formula, TN_U8, &a, NULL);
	tn_text_release(&text);
	return count;
}
