/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A backend that compiles whole steps: while its stream is captured it keeps the element programs
 * that it is given, and capture_end joins each with the one before it where their operands allow
 * that.  A replay then makes one pass over the elements for many calls.  Its report says how many.
 * Programs run in the host's interpreter; nothing else can be captured.
 */
#include <tenon/backend.h>

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out);
#define MINIMAL_DESCRIBE describe
#include "minimal.h"

/* A program with its operands, of a captured call or of several that were joined. */
struct step {
	struct step *next;
	uint32_t n_inputs, n_outputs, n_scalars, n_constants, n_instructions;
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_operand outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	uint64_t constants[TN_PROGRAM_MAX_CONSTANTS];
	uint16_t values[TN_PROGRAM_MAX_OUTPUTS]; /* the outputs' */
	struct tn_instruction instructions[TN_PROGRAM_MAX_INSTRUCTIONS];
};

struct graph {
	struct step *first, *last;
};

/* Begins like struct minimal: its entries take it as their own. */
struct fuses {
	const struct tn_host *host;
	struct graph *captured; /* NULL: nothing is */
	int is_spoiled;         /* something could not be captured */
	unsigned n_calls, n_passes;
};

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description device = {.struct_size = sizeof(device)};
	tn_status status = minimal_describe(instance, index, &device);
	if (status)
		return status;
	snprintf(device.name, sizeof(device.name), "steps as one pass");
	device.program_dtypes = 1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 | 1u << TN_I64 |
				1u << TN_F32 | 1u << TN_F64;
	device.matmul_dtypes = 0;
	tn_struct_answer(out, &device, sizeof(device));
	return TN_OK;
}

static tn_status fail(const struct tn_call *call, tn_status status, const char *operation,
		      const char *text)
{
	struct tn_error_info own = {.struct_size = sizeof(own), .status = status};
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	snprintf(own.text, sizeof(own.text), "%s", text);
	if (call->error)
		tn_struct_answer(call->error, &own, sizeof(own));
	return status;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct fuses *fuses = host->alloc(host->context, sizeof(*fuses), 0);
	(void)error;
	if (!fuses)
		return TN_OUT_OF_MEMORY;
	memset(fuses, 0, sizeof(*fuses));
	fuses->host = host;
	*instance = fuses;
	return TN_OK;
}

/* ---- Steps -----------------------------------------------------------------------------------*/

static void keep(struct step *step, const struct tn_map_args *args)
{
	const struct tn_program *program = args->program;
	step->next = NULL;
	step->n_inputs = program->n_inputs;
	step->n_outputs = program->n_outputs;
	step->n_scalars = program->n_scalars;
	step->n_constants = program->n_constants;
	step->n_instructions = program->n_instructions;
	memcpy(step->inputs, args->inputs, step->n_inputs * sizeof(*step->inputs));
	memcpy(step->outputs, args->outputs, step->n_outputs * sizeof(*step->outputs));
	if (step->n_scalars)
		memcpy(step->scalars, args->scalars, step->n_scalars * sizeof(*step->scalars));
	if (step->n_constants)
		memcpy(step->constants, program->constants,
		       step->n_constants * sizeof(*step->constants));
	memcpy(step->values, program->outputs, step->n_outputs * sizeof(*step->values));
	memcpy(step->instructions, program->instructions,
	       step->n_instructions * sizeof(*step->instructions));
}

static tn_status run(const struct fuses *fuses, const struct step *step, const struct tn_call *call)
{
	const struct tn_program program = {.struct_size = sizeof(program),
					   .n_inputs = step->n_inputs,
					   .n_outputs = step->n_outputs,
					   .n_scalars = step->n_scalars,
					   .n_constants = step->n_constants,
					   .n_instructions = step->n_instructions,
					   .instructions = step->instructions,
					   .constants = step->constants,
					   .outputs = step->values,
					   .bytes = step->instructions,
					   .n_bytes = sizeof(step->instructions)};
	const struct tn_map_args args = {
		.call = {.struct_size = sizeof(args), .error = call->error},
		.program = &program,
		.inputs = step->inputs,
		.outputs = step->outputs,
		.scalars = step->scalars};
	return fuses->host->interpret_map(fuses->host->context, &args, NULL);
}

/* ---- Joining ---------------------------------------------------------------------------------*/

static int is_same_shape(const struct tn_operand *a, const struct tn_operand *b)
{
	return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)) == 0;
}

static int is_same(const struct tn_operand *a, const struct tn_operand *b)
{
	return a->buffer == b->buffer && a->offset == b->offset && a->dtype == b->dtype &&
	       is_same_shape(a, b) &&
	       memcmp(a->strides, b->strides, a->rank * sizeof(*a->strides)) == 0;
}

/* The bytes from the first to the last that the view addresses. */
static void range(const struct tn_operand *x, uint64_t *begin, uint64_t *end)
{
	const int64_t size = (int64_t)tn_dtype_size(x->dtype);
	*begin = *end = x->buffer + x->offset;
	for (uint32_t axis = 0; axis < x->rank; axis++) {
		int64_t bytes = (x->shape[axis] - 1) * x->strides[axis] * size;
		if (bytes < 0)
			*begin += (uint64_t)bytes;
		else
			*end += (uint64_t)bytes;
	}
	*end += (uint64_t)size;
}

/* Do they share bytes in another way than as the same view? */
static int clashes(const struct tn_operand *a, const struct tn_operand *b)
{
	uint64_t a_begin, a_end, b_begin, b_end;
	range(a, &a_begin, &a_end);
	range(b, &b_begin, &b_end);
	return a_begin < b_end && b_begin < a_end && !is_same(a, b);
}

static int any_clashes(const struct tn_operand *a, uint32_t n_a, const struct tn_operand *b,
		       uint32_t n_b)
{
	for (uint32_t i = 0; i < n_a; i++)
		for (uint32_t j = 0; j < n_b; j++)
			if (clashes(&a[i], &b[j]))
				return 1;
	return 0;
}

/* The number of the same view among these; -1: there is none. */
static int find(const struct tn_operand *x, const struct tn_operand *among, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_same(x, &among[i]))
			return (int)i;
	return -1;
}

static int has_device_scalar(const struct step *step)
{
	for (uint32_t i = 0; i < step->n_scalars; i++)
		if (step->scalars[i].on_device)
			return 1;
	return 0;
}

/* Is what `first` writes there, and `second` reads, neither rounded nor cast on the way? */
static int passes_on(const struct step *first, const struct step *second)
{
	for (uint32_t i = 0; i < second->n_instructions; i++) {
		const struct tn_instruction *load = &second->instructions[i];
		if (load->op != TN_OP_INPUT)
			continue;
		int output = find(&second->inputs[load->a], first->outputs, first->n_outputs);
		if (output < 0)
			continue;
		const struct tn_instruction *value = &first->instructions[first->values[output]];
		if (value->dtype != (uint16_t)first->outputs[output].dtype ||
		    load->dtype != value->dtype)
			return 0;
	}
	return 1;
}

static int can_join(const struct step *a, const struct step *b)
{
	return is_same_shape(&a->outputs[0], &b->outputs[0]) && !has_device_scalar(a) &&
	       !has_device_scalar(b) && passes_on(a, b) &&
	       !any_clashes(a->outputs, a->n_outputs, b->inputs, b->n_inputs) &&
	       !any_clashes(a->outputs, a->n_outputs, b->outputs, b->n_outputs) &&
	       !any_clashes(a->inputs, a->n_inputs, b->outputs, b->n_outputs) &&
	       a->n_inputs + b->n_inputs <= TN_PROGRAM_MAX_INPUTS &&
	       a->n_outputs + b->n_outputs <= TN_PROGRAM_MAX_OUTPUTS &&
	       a->n_scalars + b->n_scalars <= TN_PROGRAM_MAX_SCALARS &&
	       a->n_constants + b->n_constants <= TN_PROGRAM_MAX_CONSTANTS &&
	       a->n_instructions + b->n_instructions <= TN_PROGRAM_MAX_INSTRUCTIONS;
}

/* Appends an instruction of b; `value` has the new numbers of those before it. */
static uint16_t append(struct step *a, const struct step *b, struct tn_instruction instruction,
		       const uint16_t *value, uint32_t n_scalars, uint32_t n_constants)
{
	int output;
	switch (instruction.op) {
	case TN_OP_INPUT:
		output = find(&b->inputs[instruction.a], a->outputs, a->n_outputs);
		if (output >= 0)
			return a->values[output];
		a->inputs[a->n_inputs] = b->inputs[instruction.a];
		instruction.a = (uint16_t)a->n_inputs++;
		break;
	case TN_OP_SCALAR:
		instruction.a = (uint16_t)(instruction.a + n_scalars);
		break;
	case TN_OP_CONSTANT:
		instruction.a = (uint16_t)(instruction.a + n_constants);
		break;
	case TN_OP_INDEX:
	case TN_OP_ELEMENT:
		break;
	default:
		/* Those that the operation does not have may have any number. */
		instruction.a = value[instruction.a % TN_PROGRAM_MAX_INSTRUCTIONS];
		instruction.b = value[instruction.b % TN_PROGRAM_MAX_INSTRUCTIONS];
		instruction.c = value[instruction.c % TN_PROGRAM_MAX_INSTRUCTIONS];
	}
	a->instructions[a->n_instructions] = instruction;
	return (uint16_t)a->n_instructions++;
}

/* a := a, then b */
static void join(struct step *a, const struct step *b)
{
	uint16_t value[TN_PROGRAM_MAX_INSTRUCTIONS] = {0};
	const uint32_t n_scalars = a->n_scalars, n_constants = a->n_constants;
	memcpy(a->scalars + n_scalars, b->scalars, b->n_scalars * sizeof(*a->scalars));
	memcpy(a->constants + n_constants, b->constants, b->n_constants * sizeof(*a->constants));
	a->n_scalars += b->n_scalars;
	a->n_constants += b->n_constants;
	for (uint32_t i = 0; i < b->n_instructions; i++)
		value[i] = append(a, b, b->instructions[i], value, n_scalars, n_constants);
	for (uint32_t i = 0; i < b->n_outputs; i++) {
		/* What b writes over is not written before. */
		int output = find(&b->outputs[i], a->outputs, a->n_outputs);
		uint32_t at = output >= 0 ? (uint32_t)output : a->n_outputs++;
		a->outputs[at] = b->outputs[i];
		a->values[at] = value[b->values[i]];
	}
}

static void compile(struct fuses *fuses, struct graph *graph)
{
	const struct tn_host *host = fuses->host;
	fuses->n_calls = fuses->n_passes = 0;
	for (struct step *step = graph->first; step; step = step->next) {
		fuses->n_passes++;
		fuses->n_calls++;
		while (step->next && can_join(step, step->next)) {
			struct step *joined = step->next;
			join(step, joined);
			step->next = joined->next;
			host->free(host->context, joined);
			fuses->n_calls++;
		}
		graph->last = step;
	}
}

/* ---- Entries that compute --------------------------------------------------------------------*/

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct fuses *fuses = device;
	const struct tn_host *host = fuses->host;
	struct tn_map_args dry = *args;
	if (!fuses->captured || args->call.flags & TN_DRY_RUN)
		return host->interpret_map(host->context, args, NULL);
	/* What the interpreter does not do is not captured either. */
	dry.call.struct_size = sizeof(dry);
	dry.call.flags |= TN_DRY_RUN;
	tn_status status = host->interpret_map(host->context, &dry, NULL);
	if (status)
		return status;
	struct step *step = host->alloc(host->context, sizeof(*step), 0);
	if (!step)
		return fail(&args->call, TN_OUT_OF_MEMORY, "map", "no memory for a step");
	keep(step, args);
	if (fuses->captured->last)
		fuses->captured->last->next = step;
	else
		fuses->captured->first = step;
	fuses->captured->last = step;
	return TN_OK;
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	struct fuses *fuses = device;
	if (fuses->captured && !(args->call.flags & TN_DRY_RUN)) {
		fuses->is_spoiled = 1;
		return fail(&args->call, TN_NOT_CAPTURABLE, "reduce", "programs alone");
	}
	return fuses->host->interpret_reduce(fuses->host->context, args, NULL);
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "matmul", "programs alone");
}

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table), .map = map, .reduce = reduce, .matmul = matmul};

/* ---- Entries that wait -----------------------------------------------------------------------*/

static tn_status refuse(const struct fuses *fuses, const struct tn_call *call,
			const char *operation)
{
	return fuses->captured
		       ? fail(call, TN_NOT_CAPTURABLE, operation, "the stream is being captured")
		       : TN_OK;
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	tn_status status = refuse(device, &args->call, "upload");
	return status ? status : minimal_upload(device, args);
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	tn_status status = refuse(device, &args->call, "download");
	return status ? status : minimal_download(device, args);
}

static tn_status sync(void *device, const struct tn_sync_args *args)
{
	tn_status status = refuse(device, &args->call, "sync");
	return status ? status : minimal_sync(device, args);
}

static const struct tn_device_table device_table = {
	.struct_size = sizeof(device_table),
	.device_count = minimal_device_count,
	.describe = describe,
	.open = minimal_open,
	.close = minimal_close,
	.alloc = minimal_alloc,
	.free = minimal_free,
	.upload = upload,
	.download = download,
	.sync = sync,
};

/* ---- Capture ---------------------------------------------------------------------------------*/

static void destroy_graph(const struct tn_host *host, struct graph *graph)
{
	while (graph->first) {
		struct step *step = graph->first;
		graph->first = step->next;
		host->free(host->context, step);
	}
	host->free(host->context, graph);
}

static tn_status capture_begin(void *device, const struct tn_graph_args *args)
{
	struct fuses *fuses = device;
	if (fuses->captured)
		return fail(&args->call, TN_STATE, "capture_begin", "it is being captured already");
	struct graph *graph = fuses->host->alloc(fuses->host->context, sizeof(*graph), 0);
	if (!graph)
		return fail(&args->call, TN_OUT_OF_MEMORY, "capture_begin", "no memory");
	memset(graph, 0, sizeof(*graph));
	fuses->captured = graph;
	fuses->is_spoiled = 0;
	return TN_OK;
}

static tn_status capture_end(void *device, const struct tn_graph_args *args, void **graph)
{
	struct fuses *fuses = device;
	struct graph *captured = fuses->captured;
	if (!captured)
		return fail(&args->call, TN_STATE, "capture_end", "nothing is captured");
	fuses->captured = NULL;
	if (fuses->is_spoiled) {
		destroy_graph(fuses->host, captured);
		return fail(&args->call, TN_NOT_CAPTURABLE, "capture_end", "programs alone");
	}
	compile(fuses, captured);
	*graph = captured;
	return TN_OK;
}

static tn_status graph_launch(void *device, const struct tn_graph_args *args)
{
	const struct fuses *fuses = device;
	const struct graph *graph = args->graph;
	tn_status status = refuse(fuses, &args->call, "graph_launch");
	for (const struct step *step = graph->first; step && !status; step = step->next)
		status = run(fuses, step, &args->call);
	return status;
}

static tn_status graph_release(void *device, const struct tn_graph_args *args)
{
	const struct fuses *fuses = device;
	destroy_graph(fuses->host, args->graph);
	return TN_OK;
}

static const struct tn_capture_table capture_table = {.struct_size = sizeof(capture_table),
						      .capture_begin = capture_begin,
						      .capture_end = capture_end,
						      .graph_launch = graph_launch,
						      .graph_release = graph_release};

/* ---- The report ------------------------------------------------------------------------------*/

static tn_status line(void *device, uint32_t index, struct tn_report_line *out)
{
	const struct fuses *fuses = device;
	struct tn_report_line own = {.struct_size = sizeof(own)};
	if (index)
		return TN_NOT_FOUND;
	snprintf(own.key, sizeof(own.key), "graph");
	snprintf(own.text, sizeof(own.text), "%u calls, passes: %u", fuses->n_calls,
		 fuses->n_passes);
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static const struct tn_report_table report_table = {.struct_size = sizeof(report_table),
						    .line = line};

static const void *query(void *instance, const char *table)
{
	(void)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &device_table;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &compute_table;
	if (!strcmp(table, TN_TABLE_CAPTURE))
		return &capture_table;
	return strcmp(table, TN_TABLE_REPORT) ? NULL : &report_table;
}

#define UUID                                                                                       \
	0x1d, 0x5c, 0x92, 0x7e, 0x40, 0x3b, 0x4a, 0x11, 0x9f, 0x28, 0xc3, 0x66, 0x0d, 0xe4, 0x7b,  \
		0x35
TN_BACKEND_PLUGIN(UUID, "fuses", "1.0", "Apache-2.0", create, minimal_destroy, query);
