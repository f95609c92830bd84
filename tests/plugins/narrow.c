/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A device that computes in one type of 16 bits alone: backend_narrow.so in bf16, backend_half.so
 * in f16.  It takes programs and products of f32 as every device does, and says by its accuracy
 * what becomes of them: every value of a program is rounded to that type, and so are the operands
 * of products; sums are accumulated in f32.
 *
 * A program whose numbers leave the range of f16 for certain is refused there: the host runs it.
 *
 * The host's interpreter runs a program one instruction at a time; each value of f32 is stored in
 * 16 bits.
 */
#include <stdlib.h>
#include <tenon/plugin.h>

#define MINIMAL_DESCRIBE describe
static inline tn_status describe(void *instance, uint32_t index, struct tn_device_description *out);
#include "minimal.h"

/* The type, and the name of the plugin; a variant with a fault (tests/faults) also names a function
 * that spoils the values of an instruction. */
#ifndef NARROW_DTYPE
#define NARROW_DTYPE TN_BF16
#endif
#ifndef NARROW_NAME
#define NARROW_NAME "narrow"
#endif
#ifndef NARROW_SPOIL
#define NARROW_SPOIL keep
static void keep(uint16_t op, uint16_t *bits, uint64_t n)
{
	(void)op, (void)bits, (void)n;
}
#endif

enum { is_half = NARROW_DTYPE == TN_F16 };

static uint16_t narrowed(float value)
{
	return is_half ? tn_plugin_f16_of_f32(value) : tn_plugin_bf16_of_f32(value);
}

static float widened(uint16_t bits)
{
	return is_half ? tn_plugin_f32_of_f16(bits) : tn_plugin_f32_of_bf16(bits);
}

/* Value 0, and the operands of an instruction. */
enum { MOST_INPUTS = 4 };

static inline tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description own = {.struct_size = sizeof(own)};
	tn_status status = minimal_describe(instance, index, &own);
	if (status)
		return status;
	own.kind = TN_DEVICE_ACCELERATOR;
	snprintf(own.name, sizeof(own.name), "%s alone", is_half ? "f16" : "bf16");
	own.program_dtypes =
		1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 | 1u << TN_I64 | 1u << TN_F32;
	own.matmul_dtypes = 1u << NARROW_DTYPE | 1u << TN_F32;
	own.accuracy[TN_FAMILY_MAP] = own.accuracy[TN_FAMILY_REDUCE] =
		own.accuracy[TN_FAMILY_MATMUL] = is_half ? TN_ACCURACY_F16 : TN_ACCURACY_BF16;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

/* ---- Values of programs ----------------------------------------------------------------------*/

/* The values of one program over one shape, each in an array of its own. */
struct values {
	const struct tn_host *host;
	struct tn_call call; /* of the host's interpreter: only an error */
	struct tn_operand *list;
	uint32_t n;
};

static tn_status out_of_memory(const struct tn_call *call)
{
	return tn_plugin_fail(call->error, TN_OUT_OF_MEMORY, "narrow", "values of a program");
}

/* A compact array like `like`; an empty buffer: out of memory. */
static struct tn_operand make_array(const struct tn_host *host, const struct tn_operand *like,
				    uint32_t rank, tn_dtype dtype)
{
	struct tn_operand made = {.dtype = dtype, .rank = rank};
	int64_t count = 1;
	for (uint32_t axis = rank; axis-- > 0;) {
		made.shape[axis] = like->shape[axis];
		made.strides[axis] = count;
		count *= like->shape[axis];
	}
	made.buffer = (uint64_t)(uintptr_t)host->alloc(host->context,
						       (size_t)count * tn_dtype_size(dtype), 64);
	return made;
}

static void free_values(struct values *values)
{
	for (uint32_t i = 0; i < values->n; i++)
		values->host->free(values->host->context,
				   (void *)(uintptr_t)values->list[i].buffer);
	free(values->list);
}

static tn_dtype stored(tn_dtype dtype)
{
	return dtype == TN_F32 ? NARROW_DTYPE : dtype;
}

/* Runs one instruction, whose operands are `inputs`. */
static tn_status run_one(const struct values *values, const struct tn_instruction *instruction,
			 const tn_dtype *dtypes, const struct tn_operand *inputs, uint32_t n_inputs,
			 const uint64_t *constant, const struct tn_scalar *scalar,
			 const struct tn_operand *output)
{
	struct tn_instruction list[MOST_INPUTS + 1];
	const uint16_t last = (uint16_t)n_inputs;
	const struct tn_program program = {
		.struct_size = sizeof(program),
		.n_inputs = n_inputs,
		.n_outputs = 1,
		.n_scalars = scalar != NULL,
		.n_constants = constant != NULL,
		.n_instructions = n_inputs + (instruction != NULL),
		.instructions = list,
		.constants = constant,
		.outputs = instruction ? &last : (const uint16_t[]){0},
	};
	for (uint16_t i = 0; i < n_inputs; i++)
		list[i] = (struct tn_instruction){
			.op = TN_OP_INPUT, .dtype = (uint16_t)dtypes[i], .a = i};
	if (instruction)
		list[last] = *instruction;
	const struct tn_map_args args = {
		.call = values->call,
		.program = &program,
		.inputs = inputs,
		.outputs = output,
		.scalars = scalar,
	};
	return values->host->interpret_map(values->host->context, &args, NULL);
}

/* Converts an array. */
static tn_status convert(const struct values *values, const struct tn_operand *from, tn_dtype dtype,
			 const struct tn_operand *to)
{
	return run_one(values, NULL, &dtype, from, 1, NULL, NULL, to);
}

/* Runs instruction i of the program on the values before it. */
static tn_status run_step(struct values *values, const struct tn_program *program, uint32_t i,
			  const struct tn_operand *inputs, const struct tn_scalar *scalars)
{
	struct tn_instruction own = program->instructions[i];
	const uint16_t operands[MOST_INPUTS] = {0, own.a, own.b, own.c};
	struct tn_operand taken[MOST_INPUTS];
	tn_dtype dtypes[MOST_INPUTS];
	const struct tn_operand *to = &values->list[i];
	const uint16_t number = own.a;
	own.a = 0;
	switch (own.op) {
	case TN_OP_INPUT:
		return convert(values, &inputs[number], own.dtype, to);
	case TN_OP_SCALAR:
		return run_one(values, &own, NULL, NULL, 0, NULL, &scalars[number], to);
	case TN_OP_CONSTANT:
		return run_one(values, &own, NULL, NULL, 0, &program->constants[number], NULL, to);
	case TN_OP_INDEX:
		own.a = number;
		return run_one(values, &own, NULL, NULL, 0, NULL, NULL, to);
	case TN_OP_ELEMENT:
		return run_one(values, &own, NULL, NULL, 0, NULL, NULL, to);
	default:
		break;
	}
	/* An operand that the instruction does not have stays 0. */
	for (uint16_t k = 0; k < MOST_INPUTS; k++) {
		taken[k] = values->list[operands[k]];
		dtypes[k] = program->instructions[operands[k]].dtype;
	}
	own.a = operands[1] ? 1 : 0;
	own.b = operands[2] ? 2 : 0;
	own.c = operands[3] ? 3 : 0;
	return run_one(values, &own, dtypes, taken, MOST_INPUTS, NULL, NULL, to);
}

static void spoil(const struct tn_operand *value, uint16_t op)
{
	if (value->dtype == NARROW_DTYPE)
		NARROW_SPOIL(op, (uint16_t *)(uintptr_t)value->buffer,
			     tn_plugin_count(value->rank, value->shape));
}

/* Runs a program over the shape of `like`, without its last axes.  free_values, on failure too. */
static tn_status run_program(struct values *values, const struct tn_program *program,
			     const struct tn_operand *inputs, const struct tn_scalar *scalars,
			     const struct tn_operand *like, uint32_t rank)
{
	tn_status status = TN_OK;
	values->list = calloc(program->n_instructions, sizeof(*values->list));
	if (!values->list)
		return out_of_memory(&values->call);
	for (uint32_t i = 0; i < program->n_instructions && !status; i++) {
		values->list[i] = make_array(values->host, like, rank,
					     stored(program->instructions[i].dtype));
		values->n++;
		status = values->list[i].buffer ? run_step(values, program, i, inputs, scalars)
						: out_of_memory(&values->call);
		if (!status)
			spoil(&values->list[i], program->instructions[i].op);
	}
	return status;
}

static int is_out_of_range(uint64_t bits)
{
	const uint32_t own = (uint32_t)bits;
	float number, rounded;
	memcpy(&number, &own, sizeof(number));
	rounded = widened(narrowed(number));
	return number != 0 && (rounded == 0 || rounded - rounded != 0) && number - number == 0;
}

/* Has the program a number that f16 takes for 0 or infinity, or makes one of random bits? */
static int leaves_range(const struct tn_program *program, const struct tn_scalar *scalars)
{
	int leaves = 0;
	for (uint32_t i = 0; i < program->n_instructions && is_half; i++) {
		const struct tn_instruction *at = &program->instructions[i];
		if (at->dtype != TN_F32)
			continue;
		if (at->op == TN_OP_CONSTANT)
			leaves |= is_out_of_range(program->constants[at->a]);
		else if (at->op == TN_OP_SCALAR)
			leaves |= !scalars[at->a].on_device && is_out_of_range(scalars[at->a].bits);
		else if (at->op == TN_OP_CAST)
			leaves |= program->instructions[at->a].dtype == TN_U32;
	}
	return leaves;
}

static struct values begin(void *device, const struct tn_call *call)
{
	return (struct values){
		.host = ((struct minimal *)device)->host,
		.call = {.struct_size = sizeof(struct tn_map_args), .error = call->error}};
}

/* The outputs of a program that has run. */
static tn_status store(const struct values *values, const struct tn_program *program,
		       const struct tn_operand *outputs)
{
	tn_status status = TN_OK;
	for (uint32_t j = 0; j < program->n_outputs && !status; j++) {
		const uint16_t value = program->outputs[j];
		status = convert(values, &values->list[value], program->instructions[value].dtype,
				 &outputs[j]);
	}
	return status;
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	const struct tn_host *host = ((struct minimal *)device)->host;
	struct tn_map_args own;
	if (tn_plugin_take(&own, sizeof(own), args, TN_PLUGIN_COMPUTE_FLAGS, "map"))
		return TN_UNSUPPORTED;
	tn_status status = tn_plugin_check_map(host, &own, TN_PLUGIN_REAL_DTYPES,
					       1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 |
						       1u << TN_I64 | 1u << TN_F32);
	if (!status && leaves_range(own.program, own.scalars))
		return TN_UNSUPPORTED;
	if (status || own.call.flags & TN_DRY_RUN)
		return status;
	struct values values = begin(device, &own.call);
	status = run_program(&values, own.program, own.inputs, own.scalars, own.outputs,
			     own.outputs[0].rank);
	if (!status)
		status = store(&values, own.program, own.outputs);
	free_values(&values);
	return status;
}

/* ---- Reductions ------------------------------------------------------------------------------*/

static tn_dtype accumulator(uint32_t combiner, tn_dtype dtype)
{
	int is_index = combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
	return dtype == TN_F32 && !is_index ? TN_F32 : TN_I64;
}

/* total := combiner over the last axes of a value. */
static tn_status fold(const struct values *values, const struct tn_reduce_args *own,
		      uint32_t combiner, const struct tn_operand *value, tn_dtype dtype,
		      const struct tn_operand *total)
{
	const struct tn_instruction load = {.op = TN_OP_INPUT, .dtype = (uint16_t)dtype};
	const uint16_t first = 0;
	const struct tn_program program = {
		.struct_size = sizeof(program),
		.n_inputs = 1,
		.n_outputs = 1,
		.n_instructions = 1,
		.instructions = &load,
		.outputs = &first,
	};
	struct tn_reduce_args args = {
		.call = values->call,
		.prologue = &program,
		.inputs = value,
		.outputs = total,
		.n_reduced = own->n_reduced,
		.n_values = 1,
		.combiners = {combiner},
	};
	args.call.struct_size = sizeof(args);
	return values->host->interpret_reduce(values->host->context, &args, NULL);
}

/* From the totals to the outputs. */
static tn_status finish(void *device, const struct tn_reduce_args *own,
			const struct tn_operand *totals, const tn_dtype *dtypes)
{
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS + 4];
	struct values values = begin(device, &own->call);
	tn_status status = TN_OK;
	for (uint32_t v = 0; v < own->n_values; v++) {
		inputs[v] = totals[v];
		if (!own->epilogue && !status)
			status = convert(&values, &totals[v], dtypes[v], &own->outputs[v]);
	}
	if (!own->epilogue)
		return status;
	for (uint32_t i = 0; i < tn_plugin_reduce_epilogue_inputs(own); i++)
		inputs[own->n_values + i] = own->epilogue_inputs[i];
	status = run_program(&values, own->epilogue, inputs, own->epilogue_scalars,
			     &own->outputs[0], own->outputs[0].rank);
	if (!status)
		status = store(&values, own->epilogue, own->outputs);
	free_values(&values);
	return status;
}

static tn_status reduce_values(void *device, const struct tn_reduce_args *own,
			       const struct values *values)
{
	struct tn_operand totals[4] = {{0}};
	tn_dtype dtypes[4];
	tn_status status = TN_OK;
	for (uint32_t v = 0; v < own->n_values && !status; v++) {
		const uint16_t value = own->prologue->outputs[v];
		const tn_dtype dtype = own->prologue->instructions[value].dtype;
		dtypes[v] = accumulator(own->combiners[v], dtype);
		totals[v] = make_array(values->host, &own->inputs[0],
				       own->inputs[0].rank - own->n_reduced, stored(dtypes[v]));
		status = totals[v].buffer ? fold(values, own, own->combiners[v],
						 &values->list[value], dtype, &totals[v])
					  : out_of_memory(&values->call);
	}
	if (!status)
		status = finish(device, own, totals, dtypes);
	for (uint32_t v = 0; v < own->n_values; v++)
		values->host->free(values->host->context, (void *)(uintptr_t)totals[v].buffer);
	return status;
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	const struct tn_host *host = ((struct minimal *)device)->host;
	struct tn_reduce_args own;
	if (tn_plugin_take(&own, sizeof(own), args, TN_PLUGIN_COMPUTE_FLAGS, "reduce"))
		return TN_UNSUPPORTED;
	tn_status status = tn_plugin_check_reduce(host, &own, TN_PLUGIN_REAL_DTYPES,
						  1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 |
							  1u << TN_I64 | 1u << TN_F32);
	if (!status && (leaves_range(own.prologue, own.scalars) ||
			(own.epilogue && leaves_range(own.epilogue, own.epilogue_scalars))))
		return TN_UNSUPPORTED;
	if (status || own.call.flags & TN_DRY_RUN)
		return status;
	struct values values = begin(device, &own.call);
	status = run_program(&values, own.prologue, own.inputs, own.scalars, &own.inputs[0],
			     own.inputs[0].rank);
	if (!status)
		status = reduce_values(device, &own, &values);
	free_values(&values);
	return status;
}

/* ---- Products --------------------------------------------------------------------------------*/

static char *element(const struct tn_operand *x, uint64_t batch, int64_t i, int64_t j)
{
	int64_t at = i * x->strides[x->rank - 2] + j * x->strides[x->rank - 1];
	for (uint32_t axis = x->rank - 2; axis-- > 0;) {
		at += (int64_t)(batch % (uint64_t)x->shape[axis]) * x->strides[axis];
		batch /= (uint64_t)x->shape[axis];
	}
	return (char *)(uintptr_t)(x->buffer + x->offset) + at * (int64_t)tn_dtype_size(x->dtype);
}

static float load(const struct tn_operand *x, uint64_t batch, int64_t i, int64_t j)
{
	const char *at = element(x, batch, i, j);
	float value;
	uint16_t bits;
	if (x->dtype == TN_F32)
		memcpy(&value, at, sizeof(value));
	else
		memcpy(&bits, at, sizeof(bits));
	if (x->dtype == TN_F32)
		bits = narrowed(value);
	return widened(bits);
}

/* A matrix as numbers, row by row; the caller frees. */
static float *load_matrix(const struct tn_operand *x, uint64_t batch)
{
	const int64_t rows = x->shape[x->rank - 2], columns = x->shape[x->rank - 1];
	float *all = malloc((size_t)(rows * columns + 1) * sizeof(*all));
	for (int64_t i = 0; all && i < rows * columns; i++)
		all[i] = load(x, batch, i / columns, i % columns);
	return all;
}

static void store_element(const struct tn_operand *x, uint64_t batch, int64_t i, int64_t j,
			  float value)
{
	const uint16_t bits = narrowed(value);
	value = widened(bits);
	if (x->dtype == TN_F32)
		memcpy(element(x, batch, i, j), &value, sizeof(value));
	else
		memcpy(element(x, batch, i, j), &bits, sizeof(bits));
}

/* (m, k) (k, n) = (m, n), each as often as the batch axes say. */
static int shapes_match(const struct tn_matmul_args *own)
{
	const uint32_t rank = own->c.rank;
	if (rank < 2 || own->a.rank != rank || own->b.rank != rank)
		return 0;
	for (uint32_t axis = 0; axis < rank - 2; axis++) {
		if (own->a.shape[axis] != own->c.shape[axis] ||
		    own->b.shape[axis] != own->c.shape[axis])
			return 0;
	}
	return own->a.shape[rank - 2] == own->c.shape[rank - 2] &&
	       own->b.shape[rank - 1] == own->c.shape[rank - 1] &&
	       own->a.shape[rank - 1] == own->b.shape[rank - 2];
}

static tn_status multiply(const struct tn_matmul_args *own, uint64_t batch)
{
	const int64_t m = own->c.shape[own->c.rank - 2], n = own->c.shape[own->c.rank - 1];
	const int64_t k = own->a.shape[own->a.rank - 1];
	float *a = load_matrix(&own->a, batch), *b = load_matrix(&own->b, batch);
	for (int64_t e = 0; a && b && e < m * n; e++) {
		const int64_t i = e / n, j = e % n;
		float sum = 0;
		for (int64_t l = 0; l < k; l++)
			sum += a[i * k + l] * b[l * n + j];
		sum *= (float)own->alpha;
		if (own->beta != 0)
			sum += (float)own->beta * load(&own->c, batch, i, j);
		store_element(&own->c, batch, i, j, sum);
	}
	const int is_done = a && b;
	free(a);
	free(b);
	return is_done ? TN_OK
		       : tn_plugin_fail(own->call.error, TN_OUT_OF_MEMORY, "narrow", "a product");
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = TN_OK;
	struct tn_matmul_args own;
	(void)device;
	if (tn_plugin_take(&own, sizeof(own), args, TN_PLUGIN_COMPUTE_FLAGS, "matmul") ||
	    own.has_bias || own.a_scale || own.b_scale || own.activation ||
	    own.a.dtype != own.c.dtype || own.b.dtype != own.c.dtype ||
	    (own.c.dtype != TN_F32 && own.c.dtype != NARROW_DTYPE))
		return TN_UNSUPPORTED;
	if (!shapes_match(&own))
		return tn_plugin_fail(own.call.error, TN_SHAPE, "matmul", "(m, k) (k, n) = (m, n)");
	if (own.call.flags & TN_DRY_RUN)
		return TN_OK;
	const uint64_t n = tn_plugin_count(own.c.rank - 2, own.c.shape);
	for (uint64_t batch = 0; batch < n && !status; batch++)
		status = multiply(&own, batch);
	return status;
}

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = matmul,
};

static const void *query(void *instance, const char *table)
{
	return strcmp(table, TN_TABLE_COMPUTE) ? minimal_query(instance, table) : &compute_table;
}

#define UUID                                                                                       \
	0x8e, 0x27, 0xb1, 0x5c, 0x40, 0xd3, 0x4f, 0x96, 0xa2, 0x0d, 0x6b, 0x79, 0xe1, 0x34, 0xc8,  \
		0x5f
TN_BACKEND_PLUGIN(UUID, NARROW_NAME, "0.1.0", "Apache-2.0", minimal_create, minimal_destroy, query);
