/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * floor(n w / 2^k), where w has k random bits, is uniform but for n / 2^k of the probability 1 / n:
 * S. Canon, An optimal algorithm for bounded random integers (Swift 5.7), without its early exits.
 * Without a rejection it is the same for every element, and for every device.
 *
 * Words are digits of w in base 2^32, the first one the highest.  Products of two digits with two
 * digits added fit 64 bits, which an i64 holds; a shift and a mask take the high half.
 */
#include "random/integers.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "random/device_draw.h"

#define HIGH " >> 32 & 0xffffffff"

/* n is at most 2^32. */
static const struct tn_formula of_32_bits = {.text = "z = low + (i64(" TN_WORD_0 ") * n" HIGH ")",
					     .scalars = "seed stream low n"};
static const struct tn_formula of_96_bits = {.text = "t = i64(" TN_WORD_2 ") * n" HIGH "\n"
						     "u = i64(" TN_WORD_1 ") * n + t" HIGH "\n"
						     "z = low + (i64(" TN_WORD_0 ") * n + u" HIGH
						     ")",
					     .scalars = "seed stream low n"};
/* n_low and n_high are the digits of n: a row of products with each. */
static const struct tn_formula of_128_bits = {
	.text = "w3 = i64(" TN_WORD_3 ")\n"
		"w2 = i64(" TN_WORD_2 ")\n"
		"w1 = i64(" TN_WORD_1 ")\n"
		"w0 = i64(" TN_WORD_0 ")\n"
		"t1 = w2 * n_low + (w3 * n_low" HIGH ")\n"
		"t2 = w1 * n_low + (t1" HIGH ")\n"
		"t3 = w0 * n_low + (t2" HIGH ")\n"
		"u0 = w3 * n_high + (t1 & 0xffffffff)\n"
		"u1 = w2 * n_high + (t2 & 0xffffffff) + (u0" HIGH ")\n"
		"u2 = w1 * n_high + (t3 & 0xffffffff) + (u1" HIGH ")\n"
		"z = low + w0 * n_high + (t3" HIGH ") + (u2" HIGH ")",
	.scalars = "seed stream low n_low n_high"};
static const struct tn_formula of_all = {
	.text = "z = i64(" TN_WORD_0 ") << 32 | i64(" TN_WORD_1 ")", .scalars = "seed stream"};

static struct tn_scalar i64_scalar(uint64_t bits)
{
	return (struct tn_scalar){.dtype = TN_I64, .bits = bits};
}

tn_array *tn_draw_integers(tn_generator *generator, const char *operation, tn_dtype dtype, int rank,
			   const int64_t *shape, uint64_t low, uint64_t n)
{
	struct tn_device_draw draw = {.operation =
					      tn_operation_named(generator->runtime, operation),
				      .scalars = {i64_scalar(low), i64_scalar(n)}};
	if (n == 0) {
		draw.formula = of_all;
	} else if (n <= (uint64_t)1 << 32) {
		draw.formula = (n & (n - 1)) == 0 ? of_32_bits : of_96_bits;
	} else {
		draw.formula = of_128_bits;
		draw.scalars[1] = i64_scalar(n & UINT32_MAX);
		draw.scalars[2] = i64_scalar(n >> 32);
	}
	return tn_draw_new(generator, &draw, dtype, rank, shape);
}

/* ---- Bounds ----------------------------------------------------------------------------------*/

/* Every bound, and one above or below it. */
__extension__ typedef __int128 wide_integer;

static tn_status check_bound(struct tn_runtime *runtime, const char *name, tn_number number,
			     wide_integer *value)
{
	if (number.dtype != TN_I64 && number.dtype != TN_U64)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "integers",
				       "%s: expected a number of i64 or u64, found %s", name,
				       tn_dtype_name(number.dtype));
	*value = number.dtype == TN_U64 ? (wide_integer)number.u64 : (wide_integer)number.i64;
	return TN_OK;
}

static const char *print_bound(tn_number number, char text[24])
{
	if (number.dtype == TN_U64)
		snprintf(text, 24, "%" PRIu64, number.u64);
	else
		snprintf(text, 24, "%" PRId64, number.i64);
	return text;
}

/* *first and *last: of the numbers to draw from. */
static tn_status check_range(struct tn_runtime *runtime, tn_dtype dtype, tn_number low,
			     tn_number high, int endpoint, wide_integer *first, wide_integer *last)
{
	char low_text[24], high_text[24];
	tn_status status = check_bound(runtime, "low", low, first);
	if (!status)
		status = check_bound(runtime, "high", high, last);
	if (status)
		return status;
	*last -= !endpoint;
	print_bound(low, low_text);
	print_bound(high, high_text);
	if (*first > *last)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "integers",
				       "expected a low %s high, found %s and %s",
				       endpoint ? "of at most" : "below", low_text, high_text);
	const unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	const wide_integer most = (wide_integer)1 << (width - !tn_is_unsigned(dtype));
	if (*first < (tn_is_unsigned(dtype) ? 0 : -most) || *last >= most)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "integers",
				       "%s does not hold all integers from %s to %s%s",
				       tn_dtype_name(dtype), low_text, high_text,
				       endpoint ? "" : " - 1");
	return TN_OK;
}

tn_array *tn_generator_integers_number(tn_generator *generator, tn_dtype dtype, int rank,
				       const int64_t *shape, tn_number low, tn_number high,
				       int endpoint)
{
	wide_integer first = 0, last = 0;
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	if (!tn_is_integer(dtype)) {
		tn_runtime_fail(generator->runtime, TN_DTYPE, "integers",
				"dtype: expected an integer type, found %s", tn_dtype_name(dtype));
		return NULL;
	}
	if (check_range(generator->runtime, dtype, low, high, endpoint, &first, &last))
		return NULL;
	return tn_draw_integers(generator, "integers", dtype, rank, shape, (uint64_t)first,
				(uint64_t)(last - first + 1));
}

tn_array *tn_generator_integers(tn_generator *generator, tn_dtype dtype, int rank,
				const int64_t *shape, int64_t low, int64_t high, int endpoint)
{
	return tn_generator_integers_number(generator, dtype, rank, shape, tn_number_i64(low),
					    tn_number_i64(high), endpoint);
}
