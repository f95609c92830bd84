/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backward of recurrent layers for create_graph.
 */
#ifndef TN_LAYERS_RECURRENT_DOUBLE_BACKWARD_H
#define TN_LAYERS_RECURRENT_DOUBLE_BACKWARD_H

#include "layers/recurrent.h"

enum { TN_RECURRENT_STATES = 2 };

/* A layer whose steps are to be computed again, by recorded operations. */
struct tn_recurrent_unrolled {
	struct tn_recurrent_call call;
	const tn_array *bias; /* of the gates' parts from x; NULL: none */
	const tn_array *h0;   /* the states before the first step */
	const tn_array *c0;   /* NULL: h is the only state */
	/* The states after a step from those before it, h first; `gates` are the gates' parts from
	 * x, and `of_h` the product of h and w_hh.  0: an error is kept. */
	int (*advance)(const struct tn_recurrent_call *call, const tn_array *gates,
		       const tn_array *of_h, tn_array *states[TN_RECURRENT_STATES]);
};

/* Runs the steps again on the tape, and walks back over them.  Their nodes stay: the gradients
 * depend on them. */
tn_status tn_recurrent_double_backward(struct tn_node *node, const tn_array *dy,
				       const struct tn_recurrent_unrolled *unrolled);

#endif
