/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Decimal numbers as text, the same in every locale and floating-point mode.
 */
#ifndef TN_BASE_DECIMAL_H
#define TN_BASE_DECIMAL_H

/* Is it digits with at most one point, then perhaps an exponent, and nothing else? */
int tn_is_decimal(const char *text);

/* Writes the number that is the whole of `text`, such a one after perhaps a sign, rounded to
 * nearest.  0: it is none, or it is beyond f64. */
int tn_decimal_read(const char *text, double *value);

#endif
