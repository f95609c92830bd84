/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A number of any dtype as text.
 */
#ifndef TN_IO_TABLE_NUMBER_H
#define TN_IO_TABLE_NUMBER_H

#include <locale.h>
#include <tenon/types.h>

/* Writes the number that is the whole of `text` to *value, an element of `dtype`.  `c_locale` is
 * the C locale.  The text may be changed on the way, and is as before on return.  Returns NULL, or
 * what was expected instead of the text. */
const char *tn_table_number(char *text, tn_dtype dtype, locale_t c_locale, void *value);

/* *value := a number, converted to `dtype` by the rules of the cast. */
void tn_table_fill(double number, tn_dtype dtype, void *value);

#endif
