/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.compute/1.  map and reduce run the host's interpreter on the hidden memory when the
 * work runs; the arguments are checked at the call, by a dry run of it without buffers.
 */
#include <string.h>

#include "mock.h"

enum { FLAGS = TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC };

/* A program that the interpreter refuses may have any counts; its lists are then not read. */
static int has_limits(const struct tn_program *program)
{
	return program && program->n_inputs <= TN_PROGRAM_MAX_INPUTS &&
	       program->n_outputs <= TN_PROGRAM_MAX_OUTPUTS &&
	       program->n_scalars <= TN_PROGRAM_MAX_SCALARS &&
	       program->n_constants <= TN_PROGRAM_MAX_CONSTANTS &&
	       program->n_instructions <= TN_PROGRAM_MAX_INSTRUCTIONS;
}

/* Operands and scalars without their buffers, whose handles are not addresses.  Elements keep their
 * alignment. */
static const struct tn_operand *blank_operands(struct tn_operand *to, const struct tn_operand *from,
					       uint32_t n)
{
	for (uint32_t i = 0; from && i < n; i++) {
		to[i] = from[i];
		to[i].buffer = 0;
	}
	return from ? to : NULL;
}

static const struct tn_scalar *blank_scalars(struct tn_scalar *to, const struct tn_scalar *from,
					     uint32_t n)
{
	for (uint32_t i = 0; from && i < n; i++) {
		to[i] = from[i];
		to[i].buffer = 0;
	}
	return from ? to : NULL;
}

/* ---- map -------------------------------------------------------------------------------------*/

static tn_status check_map(const struct mock_device *device, const struct tn_map_args *own)
{
	const struct tn_host *host = device->instance->host;
	const struct tn_program *program = own->program;
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS], outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	struct tn_map_args blank = *own;
	blank.call.flags |= TN_DRY_RUN;
	blank.call.stream = NULL;
	if (has_limits(program)) {
		blank.inputs = blank_operands(inputs, own->inputs, program->n_inputs);
		blank.outputs = blank_operands(outputs, own->outputs, program->n_outputs);
		blank.scalars = blank_scalars(scalars, own->scalars, program->n_scalars);
	}
	return host->interpret_map(host->context, &blank, NULL);
}

static tn_status run_map(struct mock_device *device, struct mock_work *work,
			 struct tn_error_info *error)
{
	const struct tn_host *host = device->instance->host;
	struct tn_map_args args = *(const struct tn_map_args *)work->args;
	args.call.error = error;
	return host->interpret_map(host->context, &args, NULL);
}

static tn_status pack_map(struct mock_packing *packing, const struct tn_map_args *own)
{
	const struct tn_program *program = own->program;
	struct tn_map_args args = *own;
	args.call.stream = NULL;
	args.call.workspace = NULL;
	args.program = mock_pack_program(packing, program);
	tn_status status =
		mock_pack_operands(packing, own->inputs, program->n_inputs, "input", &args.inputs);
	if (!status)
		status = mock_pack_operands(packing, own->outputs, program->n_outputs, "output",
					    &args.outputs);
	if (!status)
		status =
			mock_pack_scalars(packing, own->scalars, program->n_scalars, &args.scalars);
	packing->work->args = mock_pack_bytes(packing, &args, sizeof(args));
	return status;
}

static size_t operands_room(uint32_t n)
{
	return mock_room(n * sizeof(struct tn_operand));
}

static size_t scalars_room(uint32_t n)
{
	return mock_room(n * sizeof(struct tn_scalar));
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct mock_device *mock = device;
	struct tn_map_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, FLAGS, "map");
	if (!status)
		status = check_map(mock, &own);
	if (status || own.call.flags & TN_DRY_RUN)
		return status;
	const struct tn_program *p = own.program;
	struct mock_packing packing = {.device = mock, .error = own.call.error, .operation = "map"};
	status = mock_pack_begin(&packing, p->n_inputs + p->n_outputs + p->n_scalars,
				 mock_program_room(p) + operands_room(p->n_inputs) +
					 operands_room(p->n_outputs) + scalars_room(p->n_scalars) +
					 mock_room(sizeof(own)));
	if (status)
		return status;
	status = pack_map(&packing, &own);
	if (!status)
		return mock_pack_end(&packing, own.call.stream, run_map);
	mock_work_free(mock, packing.work);
	return status;
}

/* ---- reduce ----------------------------------------------------------------------------------*/

/* The number of operands and scalars of a reduction. */
struct counts {
	uint32_t inputs, epilogue_inputs, outputs, scalars, epilogue_scalars;
};

/* 0: they exceed the limits. */
static int count_reduce(const struct tn_reduce_args *args, struct counts *n)
{
	const struct tn_program *prologue = args->prologue, *epilogue = args->epilogue;
	memset(n, 0, sizeof(*n));
	if (!has_limits(prologue) || (epilogue && !has_limits(epilogue)) || args->n_values > 4 ||
	    (epilogue && epilogue->n_inputs < args->n_values))
		return 0;
	n->inputs = prologue->n_inputs;
	n->scalars = prologue->n_scalars;
	n->outputs = args->n_values;
	if (epilogue) {
		n->epilogue_inputs = epilogue->n_inputs - args->n_values;
		n->epilogue_scalars = epilogue->n_scalars;
		n->outputs = epilogue->n_outputs;
	}
	return 1;
}

static tn_status check_reduce(const struct mock_device *device, const struct tn_reduce_args *own)
{
	const struct tn_host *host = device->instance->host;
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS], more[TN_PROGRAM_MAX_INPUTS],
		outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS], others[TN_PROGRAM_MAX_SCALARS];
	struct tn_reduce_args blank = *own;
	struct counts n;
	blank.call.flags |= TN_DRY_RUN;
	blank.call.stream = NULL;
	if (count_reduce(own, &n)) {
		blank.inputs = blank_operands(inputs, own->inputs, n.inputs);
		blank.epilogue_inputs =
			blank_operands(more, own->epilogue_inputs, n.epilogue_inputs);
		blank.outputs = blank_operands(outputs, own->outputs, n.outputs);
		blank.scalars = blank_scalars(scalars, own->scalars, n.scalars);
		blank.epilogue_scalars =
			blank_scalars(others, own->epilogue_scalars, n.epilogue_scalars);
	}
	return host->interpret_reduce(host->context, &blank, NULL);
}

static tn_status run_reduce(struct mock_device *device, struct mock_work *work,
			    struct tn_error_info *error)
{
	const struct tn_host *host = device->instance->host;
	struct tn_reduce_args args = *(const struct tn_reduce_args *)work->args;
	args.call.error = error;
	return host->interpret_reduce(host->context, &args, NULL);
}

static tn_status pack_reduce(struct mock_packing *packing, const struct tn_reduce_args *own,
			     const struct counts *n)
{
	struct tn_reduce_args args = *own;
	args.call.stream = NULL;
	args.call.workspace = NULL;
	args.prologue = mock_pack_program(packing, own->prologue);
	if (own->epilogue)
		args.epilogue = mock_pack_program(packing, own->epilogue);
	tn_status status =
		mock_pack_operands(packing, own->inputs, n->inputs, "input", &args.inputs);
	if (!status)
		status = mock_pack_operands(packing, own->epilogue_inputs, n->epilogue_inputs,
					    "epilogue input", &args.epilogue_inputs);
	if (!status)
		status = mock_pack_operands(packing, own->outputs, n->outputs, "output",
					    &args.outputs);
	if (!status)
		status = mock_pack_scalars(packing, own->scalars, n->scalars, &args.scalars);
	if (!status)
		status = mock_pack_scalars(packing, own->epilogue_scalars, n->epilogue_scalars,
					   &args.epilogue_scalars);
	packing->work->args = mock_pack_bytes(packing, &args, sizeof(args));
	return status;
}

static size_t reduce_room(const struct tn_reduce_args *own, const struct counts *n)
{
	return mock_program_room(own->prologue) +
	       (own->epilogue ? mock_program_room(own->epilogue) : 0) + operands_room(n->inputs) +
	       operands_room(n->epilogue_inputs) + operands_room(n->outputs) +
	       scalars_room(n->scalars) + scalars_room(n->epilogue_scalars) +
	       mock_room(sizeof(*own));
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	struct mock_device *mock = device;
	struct tn_reduce_args own;
	struct counts n;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, FLAGS, "reduce");
	if (!status)
		status = check_reduce(mock, &own);
	if (status || own.call.flags & TN_DRY_RUN)
		return status;
	struct mock_packing packing = {
		.device = mock, .error = own.call.error, .operation = "reduce"};
	if (!count_reduce(&own, &n))
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "reduce",
				      "programs outside the limits");
	status = mock_pack_begin(
		&packing, n.inputs + n.epilogue_inputs + n.outputs + n.scalars + n.epilogue_scalars,
		reduce_room(&own, &n));
	if (status)
		return status;
	status = pack_reduce(&packing, &own, &n);
	if (!status)
		return mock_pack_end(&packing, own.call.stream, run_reduce);
	mock_work_free(mock, packing.work);
	return status;
}

const struct tn_compute_table mock_compute_table = {
	.struct_size = sizeof(mock_compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = mock_matmul,
};
