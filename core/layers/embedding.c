/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rows of a table, chosen by indices.  Backward adds the rows of dy to those of the table's
 * gradient, but for the row that stands for padding.
 */
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "ops/formula.h"
#include "ops/index_check.h"
#include "ops/take.h"

struct embedding_state {
	int64_t padding_row; /* negative: none */
	int64_t shape[2];
	tn_dtype dtype;
};

/* dy with zeros where an index chooses the padding row. */
static tn_array *without_padding(const tn_array *indices, tn_array *dy,
				 const struct embedding_state *state)
{
	static const struct tn_formula masks = {
		.text = "kept = row == padding || row == padding_from_end ? 0 : dy",
		.inputs = "row dy",
		.scalars = "padding padding_from_end"};
	const tn_number rows[] = {
		tn_number_i64(state->padding_row),
		tn_number_i64(state->padding_row - state->shape[0]),
	};
	const tn_array *inputs[] = {tn_expand_dims(indices, -1), tn_real(dy)};
	tn_array *masked = tn_formula_map_number(&masks, inputs, rows);
	if (tn_is_complex(dy->dtype)) {
		inputs[1] = tn_imag(dy);
		return tn_complex(masked, tn_formula_map_number(&masks, inputs, rows));
	}
	return masked && masked->dtype != dy->dtype ? tn_astype(masked, dy->dtype) : masked;
}

static tn_status choose_again(struct tn_node *node, tn_array *ddw)
{
	return tn_node_give(node, 0, tn_take(ddw, node->saved[0].array, 0, TN_RAISE));
}

/* create_graph: rows added to zeros, whose gradient chooses them again. */
static tn_status backward_again(struct tn_node *node, tn_array *dy)
{
	const struct embedding_state *state = node->state;
	const tn_array *indices = node->saved[0].array;
	if (state->padding_row >= 0)
		dy = without_padding(indices, dy, state);
	struct tn_suspension suspension = tn_tape_suspend(dy);
	if (!suspension.runtime)
		return tn_runtime_status(tn_node_runtime(node));
	tn_array *dw = tn_scattered(tn_scatter_add, 2, state->shape, indices, 0, dy);
	dw = tn_tape_resume(suspension, dw,
			    &(struct tn_node_request){.operation = "embedding",
						      .backward = choose_again,
						      .is_twice = 1,
						      .n_inputs = 1,
						      .inputs = {dy},
						      .n_saved = 1,
						      .saved = {indices}});
	return tn_node_give(node, 0, dw);
}

/* Adds to the gradient that is there, or writes it.  No target is of f16 or bf16: those of networks
 * are f32 then. */
static tn_status add_to(tn_array *target, int accumulate, const tn_array *indices,
			const tn_array *dy)
{
	tn_status status = accumulate ? TN_OK : tn_fill(target, 0);
	return status ? status : tn_scatter_parts(tn_scatter_add, target, indices, 0, dy);
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	if (tn_node_records(node))
		return backward_again(node, dy);
	const struct embedding_state *state = node->state;
	const tn_array *indices = node->saved[0].array;
	int accumulate = 0;
	tn_array *target = tn_node_target(node, 0, &accumulate);
	if (state->padding_row >= 0)
		dy = without_padding(indices, dy, state);
	if (!dy)
		return tn_runtime_status(tn_node_runtime(node));
	if (target)
		return tn_node_wrote(node, 0, add_to(target, accumulate, indices, dy));
	return tn_node_give(node, 0, tn_scattered(tn_scatter_add, 2, state->shape, indices, 0, dy));
}

/* indices of i32 or i64 */
static tn_array *embed(const tn_array *indices, const tn_array *w, int64_t padding_index)
{
	struct tn_runtime *rt = w->runtime;
	if (w->rank != 2) {
		tn_runtime_fail(rt, TN_SHAPE, "embedding",
				"w: expected (rows, width), found rank %d", w->rank);
		return NULL;
	}
	int64_t n = w->shape[0];
	int has_padding = padding_index != TN_NO_PADDING_INDEX;
	if (has_padding && (padding_index < -n || padding_index >= n)) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "embedding",
				"padding_index: expected %lld to %lld, found %lld", (long long)-n,
				(long long)n - 1, (long long)padding_index);
		return NULL;
	}
	static const struct tn_check check = {"embedding", "index", "the table has length"};
	struct embedding_state state = {.padding_row = -1, .dtype = w->dtype};
	if (has_padding)
		state.padding_row = padding_index < 0 ? padding_index + n : padding_index;
	memcpy(state.shape, w->shape, sizeof(state.shape));
	struct tn_suspension suspension = tn_tape_suspend(w);
	tn_array *y = tn_take_checked(w, indices, 0, "embedding", &check);
	return tn_tape_resume(suspension, y,
			      &(struct tn_node_request){.operation = "embedding",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {w},
							.n_saved = 1,
							.saved = {indices},
							.state = &state,
							.state_size = sizeof(state)});
}

tn_array *tn_embedding(const tn_array *indices, const tn_array *w, int64_t padding_index)
{
	if (tn_arrays_given(2, (const tn_array *[]){indices, w}, "embedding") ||
	    tn_scope_begin(w->runtime->context))
		return NULL;
	const tn_array *numbers = tn_indices_signed("embedding", "indices", indices);
	return tn_scope_end(w->runtime->context, numbers ? embed(numbers, w, padding_index) : NULL);
}
