/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Uniform integers below a bound.
 */
#ifndef TN_RANDOM_INTEGERS_H
#define TN_RANDOM_INTEGERS_H

#include <tenon/random.h>

#include "array/array.h"

/* Numbers low, low + 1, ... low + n - 1, of a dtype that holds them; n = 0 means 2^64.  Errors are
 * kept. */
tn_array *tn_draw_integers(tn_generator *generator, const char *operation, tn_dtype dtype, int rank,
			   const int64_t *shape, uint64_t low, uint64_t n);

#endif
