/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The subscripts of einsum, read beside the shapes of its operands.
 */
#ifndef TN_LINALG_SUBSCRIPTS_H
#define TN_LINALG_SUBSCRIPTS_H

#include "linalg/contract.h"

/* As many operands as NumPy takes. */
enum { TN_MOST_OPERANDS = 64 };

/* The labels of one operand's axes; one may be there twice. */
struct tn_term {
	int n;
	int labels[TN_MAX_RANK];
};

struct tn_subscripts {
	int n_operands;
	struct tn_term operands[TN_MOST_OPERANDS];
	struct tn_term result;
	int n_labels;
	int64_t lengths[TN_MOST_LABELS]; /* after broadcasting */
};

uint64_t tn_term_set(const struct tn_term *term);

/* `operation` is the name in errors, which are kept. */
tn_status tn_subscripts_read(const char *operation, const char *text, int n,
			     const tn_array *const *operands, struct tn_subscripts *subscripts);

#endif
