/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The order in which the operands of einsum are multiplied in pairs.
 */
#ifndef TN_LINALG_EINSUM_PATH_H
#define TN_LINALG_EINSUM_PATH_H

#include "linalg/subscripts.h"

/* Step i multiplies two of the operands and results of earlier steps; its result has the number n
 * operands + i. */
struct tn_einsum_step {
	int a;
	int b;
};

/* sets[i]: the labels of operand i, those aside that broadcast from length 1.  0: every path needs
 * an array of more axes than there can be. */
int tn_einsum_find_path(const struct tn_subscripts *subscripts, const uint64_t *sets,
			struct tn_einsum_step *steps);

#endif
