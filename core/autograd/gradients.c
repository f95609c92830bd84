/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The recorder: turns a record of the array layer into a node, with the arrays that its backward reads.
 */
#include "autograd/gradients.h"

#include <string.h>

#include "array/array.h"

/* What each kind saves. */
enum { SAVE_INPUTS = 1, SAVE_OUTPUT = 2, SAVE_SECOND = 4 };

static const struct {
	tn_status (*backward)(struct tn_node *node, tn_array *dy);
	int saves;
} kinds[] = {
	[TN_RECORD_MAP] = {tn_map_backward, SAVE_INPUTS},
	[TN_RECORD_SUM] = {tn_sum_backward, 0},
	[TN_RECORD_EXTREMUM] = {tn_extremum_backward, SAVE_INPUTS | SAVE_OUTPUT},
	[TN_RECORD_PRODUCT] = {tn_product_backward, SAVE_INPUTS | SAVE_OUTPUT},
	[TN_RECORD_LOGSUMEXP] = {tn_logsumexp_backward, SAVE_INPUTS | SAVE_OUTPUT},
	[TN_RECORD_MATMUL] = {tn_matmul_backward, SAVE_INPUTS},
	[TN_RECORD_RESHAPE] = {tn_reshape_backward, 0},
	[TN_RECORD_TRANSPOSE] = {tn_transpose_backward, 0},
	[TN_RECORD_SLICE] = {tn_slice_backward, 0},
	[TN_RECORD_BROADCAST] = {tn_broadcast_backward, 0},
	[TN_RECORD_WINDOW] = {tn_window_backward, 0},
	[TN_RECORD_COPY] = {tn_copy_backward, 0},
	[TN_RECORD_TAKE] = {tn_take_backward, SAVE_SECOND},
	[TN_RECORD_CONCATENATE] = {tn_concatenate_backward, SAVE_INPUTS},
};

/* Do the gradients of this program read its inputs?  Those of a sum do not. */
static int reads_inputs(const struct tn_recorded *recorded)
{
	const struct tn_program *program = recorded->record.program;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		uint16_t op = program->instructions[i].op;
		if (op != TN_OP_INPUT && op != TN_OP_SCALAR && op != TN_OP_CONSTANT &&
		    op != TN_OP_ADD && op != TN_OP_SUB && op != TN_OP_NEG)
			return 1;
	}
	return 0;
}

static void fill(struct tn_recorded *recorded, const struct tn_record *record)
{
	const tn_array *x = record->inputs[0];
	memset(recorded, 0, sizeof(*recorded));
	recorded->record = *record;
	if (record->kind == TN_RECORD_MAP && record->program->n_scalars)
		memcpy(recorded->scalars, record->scalars,
		       record->program->n_scalars * sizeof(struct tn_scalar));
	recorded->rank = x->rank;
	memcpy(recorded->shape, x->shape, (size_t)x->rank * sizeof(int64_t));
	recorded->dtype = x->dtype;
	recorded->device = x->storage->device;
}

static void choose_saved(struct tn_node_request *request, const struct tn_recorded *recorded)
{
	const struct tn_record *record = &recorded->record;
	int saves = kinds[record->kind].saves;
	/* Shapes are read from saved inputs, so a map saves them even when their elements are not read;
	 * then a later change in place does no harm (saved_for_shape). */
	if (saves & SAVE_INPUTS) {
		for (uint32_t i = 0; i < record->n_inputs; i++)
			request->saved[request->n_saved++] = record->inputs[i];
	}
	if (saves & SAVE_SECOND)
		request->saved[request->n_saved++] = record->inputs[1];
	if (saves & SAVE_OUTPUT)
		request->saved[request->n_saved++] = record->output;
}

tn_status tn_tape_record(void *tape, const struct tn_record *record, struct tn_error_info *error)
{
	struct tn_recorded recorded;
	fill(&recorded, record);
	struct tn_node_request request = {
		.operation = record->operation,
		.backward = kinds[record->kind].backward,
		.n_inputs = record->n_inputs,
		.state = &recorded,
		.state_size = sizeof(recorded),
	};
	if (record->n_inputs > TN_NODE_MAX_INPUTS)
		return tn_fail(
			error, TN_LIMIT, record->operation,
			"%u arrays are more than the %d that a tape records for one operation",
			record->n_inputs, TN_NODE_MAX_INPUTS);
	for (uint32_t i = 0; i < record->n_inputs; i++)
		request.inputs[i] = record->inputs[i];
	choose_saved(&request, &recorded);
	request.saved_for_shape = record->kind == TN_RECORD_CONCATENATE ||
				  (record->kind == TN_RECORD_MAP && !reads_inputs(&recorded));
	return tn_tape_add(tape, record->output, &request, error);
}
