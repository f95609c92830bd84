/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A number as text.
 */
#ifndef TN_IO_CSV_NUMBER_H
#define TN_IO_CSV_NUMBER_H

#include <locale.h>
#include <tenon/types.h>

/* Writes the number that is the whole of `text` to *value, a `dtype` (TN_F64, TN_F32 or TN_I64),
 * rounded to nearest.  `c_locale` is the C locale.  Returns NULL, or what was expected instead of
 * `text`. */
const char *tn_csv_number(const char *text, tn_dtype dtype, locale_t c_locale, void *value);

#endif
