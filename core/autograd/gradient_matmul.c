/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Y = A B:  dA = dY B^H,  dB = A^H dY, summed over batch axes that were broadcast.
 */
#include "autograd/gradient_matmul.h"

#include "array/array.h"
#include "autograd/gradient_reduce.h"
#include "autograd/node.h"
#include "base/dtype.h"

/* The last two axes swapped, and complex numbers conjugated. */
static tn_array *adjoint(const tn_array *a)
{
	int axes[TN_MAX_RANK];
	int rank = tn_array_rank(a);
	for (int i = 0; i < rank; i++)
		axes[i] = i;
	if (rank >= 2) {
		axes[rank - 1] = rank - 2;
		axes[rank - 2] = rank - 1;
	}
	tn_array *transposed = tn_transpose(a, axes);
	return tn_is_complex(a->dtype) ? tn_conj(transposed) : transposed;
}

tn_status tn_matmul_backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *a = node->saved[0].array, *b = node->saved[1].array;
	/* A vector is a row on the left and a column on the right. */
	const tn_array *A = a->rank == 1 ? tn_expand_dims(a, 0) : a;
	const tn_array *B = b->rank == 1 ? tn_expand_dims(b, 1) : b;
	if (b->rank == 1)
		dy = tn_expand_dims(dy, -1);
	if (a->rank == 1)
		dy = tn_expand_dims(dy, -2);
	tn_status status = TN_OK;
	if (tn_node_wants(node, 0)) {
		tn_array *g = tn_matmul(dy, adjoint(B));
		if (a->rank == 1 && g)
			g = tn_squeeze(g, -2);
		status = tn_node_give(node, 0, g ? tn_sum_to_shape(g, a->rank, a->shape) : NULL);
	}
	if (tn_node_wants(node, 1) && !status) {
		tn_array *g = tn_matmul(adjoint(A), dy);
		if (b->rank == 1 && g)
			g = tn_squeeze(g, -1);
		status = tn_node_give(node, 1, g ? tn_sum_to_shape(g, b->rank, b->shape) : NULL);
	}
	return status;
}
