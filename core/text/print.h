/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parts of the texts of <tenon/text.h>.
 */
#ifndef TN_TEXT_PRINT_H
#define TN_TEXT_PRINT_H

#include "array/array.h"
#include "base/text.h"

/* NumPy's name of a dtype; of bf16 "bfloat16". */
const char *tn_printed_dtype(tn_dtype dtype);

/* "(3,)" */
void tn_put_shape(struct tn_text *text, const tn_array *a);

#endif
