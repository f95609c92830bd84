/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Attention and its gradients in one call each, on backends that have the slots.  Nothing is
 * recorded, and nothing is composed.  Formulas and shapes are those of struct tn_attention_args.
 */
#ifndef TN_LAYERS_ATTENTION_SLOT_H
#define TN_LAYERS_ATTENTION_SLOT_H

#include "array/array.h"

struct tn_attention {
	const tn_array *q, *k, *v;
	const tn_array *mask; /* broadcast to the scores; NULL: none */
	double scale;
	int causal;
	/* The forward makes these, and the backward reads them. */
	tn_array *y, *maximum, *log_sum;
};

/* Could a slot compute it: one dtype, equal batch axes, a mask that does not widen the scores, and
 * elements in all of them? */
int tn_attention_fits(const struct tn_attention *attention);

/* TN_UNSUPPORTED: the device's backend does not compute it; nothing is made, and no error is kept.
 * Other errors are kept. */
tn_status tn_attention_forward(struct tn_attention *attention);

/* gradients: those of q, k and v, of which it makes the ones that `wants` has (bits 0 to 2); the
 * others are NULL.  Errors as above. */
tn_status tn_attention_backward(const struct tn_attention *attention, const tn_array *dy,
				uint32_t wants, tn_array *gradients[3]);

#endif
