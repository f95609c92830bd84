/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers as values of a dtype.
 */
#ifndef TN_OPS_NUMBER_H
#define TN_OPS_NUMBER_H

#include <tenon/number.h>

#include "array/runtime.h"

/* The bit patterns of a value: of a real dtype the first alone, of a complex one those of its real
 * and imaginary part. */
struct tn_value_bits {
	uint64_t part[2];
};

/* A double as that dtype, by the rules of the cast; complex with the imaginary part 0. */
struct tn_value_bits tn_bits_of_double(tn_dtype dtype, double value);

/* Fills runtime->report and names `argument`:
 *   TN_INVALID_ARGUMENT  not a number, or an integer that the dtype does not hold
 *   TN_DTYPE             a complex number for a real dtype */
tn_status tn_number_bits(struct tn_runtime *runtime, const char *operation, const char *argument,
			 tn_number number, tn_dtype dtype, struct tn_value_bits *bits);

/* A real number as the bits of a real dtype, by the rules of the cast. */
uint64_t tn_number_cast(tn_number number, tn_dtype dtype);

/* The number that those bits of a dtype are. */
tn_number tn_number_of_bits(tn_dtype dtype, const struct tn_value_bits *bits);

#endif
