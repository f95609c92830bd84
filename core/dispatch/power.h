/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The element program of powers of integers.
 */
#ifndef TN_DISPATCH_POWER_H
#define TN_DISPATCH_POWER_H

#include <tenon/types.h>

/* The longest text, with its NUL. */
#define TN_POWER_TEXT 3072

/* The power of bases x and exponents y of an integer dtype, modulo 2^width, as text in `buffer` of
 * TN_POWER_TEXT bytes, which it returns.  Below 0, an exponent gives the quotient 1 / x**-y
 * truncated toward zero: 0 unless x is 1 or -1, and 0 for x = 0.
 * Exponents of 64 bits need two programs: the first takes the low 32 bits, the second (is_high 1)
 * multiplies its result, the input `low`, by the power for the high ones. */
const char *tn_power_text(tn_dtype dtype, int is_high, char *buffer);

#endif
