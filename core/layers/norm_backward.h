/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tape node of all norms.
 */
#ifndef TN_LAYERS_NORM_BACKWARD_H
#define TN_LAYERS_NORM_BACKWARD_H

#include "autograd/node.h"
#include "layers/norm.h"

/* The inputs of a norm that the tape tracks: the call's x, w and b may be views of them. */
struct tn_norm_inputs {
	const tn_array *x;
	const tn_array *w;
	const tn_array *b;
};

/* Adds the node of a forward that ran while recording was suspended; y has inputs->x's shape. */
tn_array *tn_norm_record(struct tn_suspension suspension, const char *operation,
			 const struct tn_norm_call *call, const struct tn_norm_inputs *inputs,
			 tn_array *y);

#endif
