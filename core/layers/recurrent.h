/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the recurrent layers.  Their sequences are (L, N, width), one step after the other in
 * memory, so that the operands of a step lie apart from those of the others.
 */
#ifndef TN_LAYERS_RECURRENT_H
#define TN_LAYERS_RECURRENT_H

#include "autograd/node.h"

/* The call of a recurrent layer, which has `gates` gates. */
struct tn_recurrent_call {
	const char *operation;
	int64_t gates;
	const tn_array *x;    /* (N, L, I) */
	const tn_array *w_ih; /* (gates H, I) */
	const tn_array *w_hh; /* (gates H, H) */
	const tn_array *b_ih; /* (gates H); both or none */
	const tn_array *b_hh;
	struct tn_recurrent_options options;
};
/* Checks shapes, and takes the options.  The error is kept. */
tn_status tn_recurrent_check(struct tn_recurrent_call *call,
			     const struct tn_recurrent_options *options);
/* x w_ih^T + bias, of all steps: (L, N, gates H). */
tn_array *tn_recurrent_gates(const struct tn_recurrent_call *call, const tn_array *bias);
/* (N, H): the given one, a new reference, or zeros. */
tn_array *tn_recurrent_state(const struct tn_recurrent_call *call, const tn_array *given);
/* From the states (L, N, n H), of which h is the first, to the layer's output (N, L, H); *last,
 * unless NULL: h after the last step, (N, H). */
tn_array *tn_recurrent_result(const tn_array *out, int64_t hidden, int reverse, tn_array **last);
/* State number `which` after the last step, (N, H). */
tn_array *tn_recurrent_last(const tn_array *out, int64_t hidden, int64_t which, int reverse);

/* Columns part * width and on of step t: a view (N, width).  NULL: the report is filled. */
tn_array *tn_recurrent_part(const tn_array *sequence, int64_t t, int64_t part, int64_t width);
/* Gives the gradient of w_hh: the sum over steps of d^T h before the step, with d (L, N, gates H)
 * and h after the steps the first columns of `out`. */
tn_status tn_recurrent_give_weights(struct tn_node *node, uint32_t input, const tn_array *d,
				    const tn_array *out, const tn_array *h0, int reverse);

#endif
