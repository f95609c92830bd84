/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The recorder: turns a record of the array layer into a node,
 * with the arrays that its backward reads.
 */
#include "autograd/gradients.h"

#include <stddef.h>
#include <string.h>

#include "array/array.h"
#include "autograd/derivatives.h"
#include "autograd/gradient_complex.h"
#include "autograd/gradient_map.h"
#include "autograd/gradient_matmul.h"
#include "autograd/gradient_reduce.h"
#include "autograd/gradient_scan.h"
#include "autograd/gradient_view.h"
#include "autograd/node.h"

/* The arrays that each kind saves; a map saves the inputs that its derivative reads, or the output
 * where that is enough: the next layer usually keeps it too, and the input can be freed. */
enum { SAVE_INPUTS = 1, SAVE_OUTPUT = 2, SAVE_SECOND = 4, SAVE_READ = 8 };

/* The last column: the backward has a derivative itself (tn_node_request). */
static const struct {
	tn_status (*backward)(struct tn_node *node, tn_array *dy);
	int saves;
	int is_twice;
} kinds[] = {
	[TN_RECORD_MAP] = {tn_map_backward, SAVE_READ, 1},
	[TN_RECORD_COMPLEX] = {tn_complex_backward, SAVE_INPUTS, 1},
	[TN_RECORD_PART] = {tn_part_backward, 0, 1},
	[TN_RECORD_SUM] = {tn_sum_backward, 0, 1},
	[TN_RECORD_EXTREMUM] = {tn_extremum_backward, SAVE_INPUTS | SAVE_OUTPUT, 1},
	[TN_RECORD_PRODUCT] = {tn_product_backward, SAVE_INPUTS | SAVE_OUTPUT, 1},
	[TN_RECORD_LOGSUMEXP] = {tn_logsumexp_backward, SAVE_INPUTS | SAVE_OUTPUT, 1},
	[TN_RECORD_MATMUL] = {tn_matmul_backward, SAVE_INPUTS, 1},
	[TN_RECORD_RESHAPE] = {tn_reshape_backward, 0, 1},
	[TN_RECORD_TRANSPOSE] = {tn_transpose_backward, 0, 1},
	[TN_RECORD_SLICE] = {tn_slice_backward, 0, 1},
	[TN_RECORD_BROADCAST] = {tn_broadcast_backward, 0, 1},
	[TN_RECORD_WINDOW] = {tn_window_backward, 0, 1},
	[TN_RECORD_DIAGONAL] = {tn_diagonal_backward, 0, 1},
	[TN_RECORD_COPY] = {tn_copy_backward, 0, 1},
	[TN_RECORD_TAKE] = {tn_take_backward, SAVE_SECOND, 1},
	[TN_RECORD_TAKE_ALONG_AXIS] = {tn_take_along_axis_backward, SAVE_SECOND, 1},
	[TN_RECORD_CUMSUM] = {tn_cumsum_backward, 0, 1},
	[TN_RECORD_CUMPROD] = {tn_cumprod_backward, SAVE_INPUTS | SAVE_OUTPUT, 0},
	[TN_RECORD_CUMULATIVE_EXTREMUM] = {tn_cumulative_extremum_backward,
					   SAVE_INPUTS | SAVE_OUTPUT, 1},
	[TN_RECORD_CONCATENATE] = {tn_concatenate_backward, 0, 1},
};

static void fill_recorded(struct tn_recorded *recorded, const struct tn_record *record)
{
	const tn_array *x = record->inputs[0];
	memset(recorded, 0, offsetof(struct tn_recorded, inputs));
	recorded->record = *record;
	if (record->program && record->program->n_scalars)
		memcpy(recorded->scalars, record->scalars,
		       record->program->n_scalars * sizeof(struct tn_scalar));
	recorded->rank = x->rank;
	memcpy(recorded->shape, x->shape, (size_t)x->rank * sizeof(int64_t));
	recorded->dtype = x->dtype;
	recorded->device = x->storage->device;
	for (uint32_t i = 0; i < record->n_inputs; i++) {
		const tn_array *input = record->inputs[i];
		struct tn_recorded_input *own = &recorded->inputs[i];
		own->rank = input->rank;
		own->dtype = input->dtype;
		memcpy(own->shape, input->shape, (size_t)input->rank * sizeof(int64_t));
	}
}

/* The inputs whose elements the gradients of a map read: those of x * y, not those of x + y.  A
 * program without a derivative fails in backward; then all are saved. */
static uint32_t inputs_read(struct tn_runtime *rt, const struct tn_record *record)
{
	uint32_t read = 0, wanted = 0, n = 0;
	for (uint32_t i = 0; i < record->n_inputs; i++) {
		if (!record->inputs[i]->tracked)
			continue;
		wanted |= 1u << i;
		if (++n % TN_PROGRAM_MAX_OUTPUTS)
			continue;
		read |= tn_derivative_reads(rt, record->program, wanted);
		wanted = 0;
	}
	return wanted ? read | tn_derivative_reads(rt, record->program, wanted) : read;
}

tn_status tn_tape_record(void *tape, const struct tn_record *record, struct tn_error_info *error)
{
	int saves = kinds[record->kind].saves;
	uint32_t read = saves & SAVE_INPUTS ? UINT32_MAX : 0;
	struct tn_recorded recorded;
	struct tn_node_request request = {
		.operation = record->operation,
		.backward = kinds[record->kind].backward,
		.is_twice = kinds[record->kind].is_twice,
		.n_inputs = record->n_inputs,
		.state = &recorded,
		.state_size = offsetof(struct tn_recorded, inputs) +
			      record->n_inputs * sizeof(recorded.inputs[0]),
	};
	if (record->n_inputs > TN_NODE_MAX_INPUTS)
		return tn_fail(error, TN_LIMIT, record->operation,
			       "%u arrays exceed the %d that a tape records for one operation",
			       record->n_inputs, TN_NODE_MAX_INPUTS);
	for (uint32_t i = 0; i < record->n_inputs; i++)
		request.inputs[i] = record->inputs[i];
	fill_recorded(&recorded, record);
	for (uint32_t i = 0; record->derivatives && i < record->n_inputs && i < TN_DERIVATIVES;
	     i++) {
		const char *text = record->derivatives[i];
		tn_status status = TN_OK;
		if (text && record->inputs[i]->tracked)
			status = tn_derivative_state(record->output->runtime, record->program, i,
						     text, record->input_names,
						     record->scalar_names, error);
		if (status)
			return status;
	}
	if (saves & SAVE_READ)
		read = inputs_read(record->output->runtime, record);
	for (uint32_t i = 0; read && i < record->n_inputs; i++) {
		const tn_array *serves = record->output_serves ? record->output : record->inputs[i];
		request.saved[request.n_saved++] = read >> i & 1 ? serves : NULL;
	}
	if (saves & SAVE_SECOND)
		request.saved[request.n_saved++] = record->inputs[1];
	if (saves & SAVE_OUTPUT)
		request.saved[request.n_saved++] = record->output;
	return tn_tape_add(tape, record->output, &request, error);
}
