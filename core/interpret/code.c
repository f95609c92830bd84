/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compiles a program to steps over registers.
 *
 * Uniform values (constants, scalars, inputs of stride 0, and values computed from them) are
 * evaluated once for the call, by the same kernels, and become blocks only where a varying value
 * needs them.  The other values get registers by liveness: a register is free after the last use of
 * its value, and the instruction of that last use may overwrite it.  Inputs with the memory layout
 * of a block are used in place, and outputs are written in place likewise.
 */
#include "interpret/code.h"

#include <string.h>

#include "base/error.h"
#include "interpret/nest.h"
#include "program/opcode.h"

tn_block_fn tn_code_operation(const struct tn_block_kernels *kernels, uint32_t op, int column)
{
	if (kernels && kernels->operations && op < kernels->n_operations && op < TN_OP_COUNT &&
	    (uint32_t)column < kernels->n_columns) {
		tn_block_fn fn = kernels->operations[op * kernels->n_columns + (uint32_t)column];
		if (fn)
			return fn;
	}
	return tn_block_operation(op, column);
}

tn_block_fn tn_code_cast(const struct tn_block_kernels *kernels, uint32_t from, uint32_t to)
{
	if (from == to)
		return NULL;
	if (kernels && kernels->casts && from < kernels->n_dtypes && to < kernels->n_dtypes) {
		tn_block_fn fn = kernels->casts[from * kernels->n_dtypes + to];
		if (fn)
			return fn;
	}
	return tn_block_cast(from, to);
}

tn_fold_fn tn_code_fold(const struct tn_block_kernels *kernels, uint32_t combiner, int column)
{
	if (kernels && kernels->folds && combiner < kernels->n_combiners &&
	    (uint32_t)column < kernels->n_columns) {
		tn_fold_fn fn = kernels->folds[combiner * kernels->n_columns + (uint32_t)column];
		if (fn)
			return fn;
	}
	return tn_block_fold(combiner, column);
}

tn_block_fn tn_code_contraction(const struct tn_block_kernels *kernels, int column)
{
	if (column != TN_COLUMN_F32 && column != TN_COLUMN_F64)
		return NULL;
	tn_block_fn fn = tn_code_operation(kernels, TN_OP_FMA, column);
	if (fn == tn_block_operation(TN_OP_FMA, column) && !tn_block_fma_is_fast())
		return NULL;
	return fn;
}

/* ---- Scan ------------------------------------------------------------------------------------*/

static tn_status refuse(const struct tn_code *code, const struct tn_call *call, tn_status status,
			unsigned i, const char *reason)
{
	const struct tn_instruction *in = &code->program->instructions[i];
	return tn_fail(call->error, status, code->operation,
		       "instruction %u (opcode %u, dtype %u): %s", i, in->op, in->dtype, reason);
}

static tn_status scan_source(struct tn_code *code, const struct tn_call *call, unsigned i,
			     unsigned rank)
{
	const struct tn_program *program = code->program;
	struct tn_value *value = &code->value[i];
	uint32_t limit = 0;
	switch (value->op) {
	case TN_OP_INPUT:
		limit = program->n_inputs;
		break;
	case TN_OP_SCALAR:
		limit = program->n_scalars;
		break;
	case TN_OP_CONSTANT:
		limit = program->n_constants;
		break;
	default:
		if (value->dtype != TN_I64)
			return refuse(code, call, TN_INVALID_ARGUMENT, i, "an index is i64");
		if (value->op == TN_OP_ELEMENT)
			value->a = TN_MAX_RANK;
		limit = value->op == TN_OP_ELEMENT ? TN_MAX_RANK + 1 : rank;
		if (value->a < limit)
			code->axes |= 1u << value->a;
	}
	if (value->a >= limit)
		return refuse(code, call, TN_INVALID_ARGUMENT, i, "no source has that number");
	return TN_OK;
}

/* Do the operands have the dtypes that the opcode requires?  *typed is the dtype that selects the
 * kernel. */
static int types_fit(const struct tn_code *code, const struct tn_value *value, uint32_t *typed)
{
	uint32_t a = code->value[value->a].dtype;
	uint32_t b = value->arity > 1 ? code->value[value->b].dtype : a;
	uint32_t c = value->arity > 2 ? code->value[value->c].dtype : a;
	*typed = a;
	switch (value->op) {
	case TN_OP_CAST:
		return 1;
	case TN_OP_BITCAST:
		return tn_dtype_size((tn_dtype)a) == 4 && value->size == 4;
	case TN_OP_SELECT:
		*typed = b;
		return a == TN_BOOL && b == c && b == value->dtype;
	case TN_OP_RANDOM:
		return value->dtype == TN_U32 && a == TN_I64 && b == TN_I64 && c == TN_I64;
	case TN_OP_NORMAL:
		return value->dtype == TN_F32 && a == TN_U32;
	default:
		if (tn_op_information(value->op)->flags & TN_GIVES_BOOL)
			return value->dtype == TN_BOOL && a == b;
		return a == b && a == c && a == value->dtype;
	}
}

static tn_status scan_operation(struct tn_code *code, const struct tn_call *call, unsigned i)
{
	struct tn_value *value = &code->value[i];
	uint32_t typed;
	if (value->a >= i || (value->arity > 1 && value->b >= i) ||
	    (value->arity > 2 && value->c >= i))
		return refuse(code, call, TN_INVALID_ARGUMENT, i,
			      "an operand is not an earlier value");
	if (!types_fit(code, value, &typed))
		return refuse(code, call, TN_INVALID_ARGUMENT, i,
			      "the dtypes of its operands are invalid");
	if (value->op != TN_OP_CAST)
		value->fn = tn_code_operation(code->kernels, value->op, tn_block_column(typed));
	else if (typed != value->dtype)
		value->fn = tn_code_cast(code->kernels, typed, value->dtype);
	else
		value->fn = tn_block_copy(value->size);
	if (!value->fn)
		return refuse(code, call, TN_UNSUPPORTED, i, "no such operation for that dtype");
	code->draws |= value->op == TN_OP_RANDOM || value->op == TN_OP_NORMAL;
	code->cost += tn_op_information(value->op)->cost;
	return TN_OK;
}

static tn_status scan_instruction(struct tn_code *code, const struct tn_call *call, unsigned i,
				  unsigned rank)
{
	const struct tn_instruction *in = &code->program->instructions[i];
	const struct tn_op_info *info = tn_op_information(in->op);
	struct tn_value *value = &code->value[i];
	if (!info->name)
		return refuse(code, call, TN_UNSUPPORTED, i, "unknown opcode");
	if (tn_block_column(in->dtype) < 0)
		return refuse(code, call, TN_UNSUPPORTED, i,
			      "programs cannot compute in that dtype");
	value->fn = NULL;
	value->op = in->op;
	value->dtype = in->dtype;
	value->a = in->a;
	value->b = in->b;
	value->c = in->c;
	value->n_uses = value->last = 0;
	value->place = TN_NO_PLACE;
	value->arity = info->arity;
	value->size = (uint8_t)tn_dtype_size(in->dtype);
	value->flags = 0;
	return tn_op_is_source(in->op) ? scan_source(code, call, i, rank)
				       : scan_operation(code, call, i);
}

tn_status tn_code_scan(struct tn_code *code, const struct tn_program *program,
		       const struct tn_scalar *scalars, const struct tn_block_kernels *kernels,
		       unsigned rank, const struct tn_call *call, const char *operation)
{
	code->program = program;
	code->scalars = scalars;
	code->kernels = kernels;
	code->operation = operation;
	code->n_values = program->n_instructions;
	code->axes = code->draws = 0;
	code->cost = program->n_inputs + program->n_outputs;
	code->keeps_outputs = 0;
	code->summed = code->contracted = 0;
	for (unsigned i = 0; i < code->n_values; i++) {
		tn_status status = scan_instruction(code, call, i, rank);
		if (status)
			return status;
	}
	for (unsigned j = 0; j < program->n_outputs; j++) {
		if (program->outputs[j] >= code->n_values)
			return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
				       "output %u is value %u, but there are only %u", j,
				       program->outputs[j], code->n_values);
	}
	return TN_OK;
}

void tn_code_add_indices(struct tn_code *code, struct tn_nest *nest, unsigned rank)
{
	for (unsigned axis = 0; code->axes >> axis; axis++) {
		if (code->axes >> axis & 1)
			code->index_view[axis] = (uint8_t)tn_nest_add_index(nest, axis, rank);
	}
}

/* ---- Analysis --------------------------------------------------------------------------------*/

/* The view that a source reads. */
static unsigned view_of(const struct tn_code *code, const struct tn_value *value)
{
	return value->op == TN_OP_INPUT ? code->input_view[value->a] : code->index_view[value->a];
}

static int view_is_uniform(const struct tn_nest *nest, unsigned view)
{
	if (nest->view[view].varies)
		return 0;
	for (unsigned d = 0; d < nest->rank; d++) {
		if (nest->view[view].stride[d])
			return 0;
	}
	return 1;
}

static int is_uniform(const struct tn_code *code, const struct tn_nest *nest,
		      const struct tn_value *value)
{
	if (value->op == TN_OP_SCALAR || value->op == TN_OP_CONSTANT)
		return 1;
	if (value->arity == 0)
		return nest && view_is_uniform(nest, view_of(code, value));
	return (code->value[value->a].flags & TN_VALUE_UNIFORM) &&
	       (value->arity < 2 || code->value[value->b].flags & TN_VALUE_UNIFORM) &&
	       (value->arity < 3 || code->value[value->c].flags & TN_VALUE_UNIFORM);
}

static void count_uses(struct tn_code *code, const struct tn_nest *nest)
{
	const struct tn_program *program = code->program;
	for (unsigned i = 0; i < code->n_values; i++) {
		struct tn_value *value = &code->value[i];
		if (is_uniform(code, nest, value))
			value->flags |= TN_VALUE_UNIFORM;
		if (value->arity > 0)
			code->value[value->a].n_uses++;
		if (value->arity > 1)
			code->value[value->b].n_uses++;
		if (value->arity > 2)
			code->value[value->c].n_uses++;
	}
	for (unsigned j = 0; j < program->n_outputs; j++)
		code->value[program->outputs[j]].n_uses++;
	/* Removes unused values, last first, since they may be the only use of others. */
	for (unsigned i = code->n_values; i-- > 0;) {
		struct tn_value *value = &code->value[i];
		if (value->n_uses)
			continue;
		if (value->arity > 0)
			code->value[value->a].n_uses--;
		if (value->arity > 1)
			code->value[value->b].n_uses--;
		if (value->arity > 2)
			code->value[value->c].n_uses--;
	}
}

static int may_contract(const struct tn_code *code, unsigned i)
{
	const struct tn_value *value = &code->value[i];
	return value->op == TN_OP_MUL && value->n_uses == 1 && !(value->flags & TN_VALUE_UNIFORM);
}

/* sum := factors + addend, rounded once. */
static void fuse(struct tn_value *sum, tn_block_fn fn, uint16_t a, uint16_t b, uint16_t addend)
{
	sum->fn = fn;
	sum->op = TN_OP_FMA;
	sum->arity = 3;
	sum->a = a;
	sum->b = b;
	sum->c = addend;
}

static void contract_add(struct tn_code *code, struct tn_value *sum, tn_block_fn fn)
{
	int second = !may_contract(code, sum->a);
	if (second && !may_contract(code, sum->b))
		return;
	struct tn_value *product = &code->value[second ? sum->b : sum->a];
	fuse(sum, fn, product->a, product->b, second ? sum->a : sum->b);
	product->n_uses = 0;
}

/* c - u * x with a uniform u is -u * x + c; -u takes the product's position in the program. */
static void contract_sub(struct tn_code *code, struct tn_value *difference, tn_block_fn fn)
{
	struct tn_value *product = &code->value[difference->b];
	uint16_t factor = difference->b;
	if (!may_contract(code, difference->b))
		return;
	int second = !(code->value[product->a].flags & TN_VALUE_UNIFORM);
	if (second && !(code->value[product->b].flags & TN_VALUE_UNIFORM))
		return;
	fuse(difference, fn, factor, second ? product->a : product->b, difference->a);
	if (second)
		product->a = product->b;
	product->op = TN_OP_NEG;
	product->arity = 1;
	product->fn = tn_code_operation(code->kernels, TN_OP_NEG, tn_block_column(product->dtype));
	product->flags |= TN_VALUE_UNIFORM;
}

/* a * b + c, where nothing else uses the product, becomes one instruction.  A uniform sum has no
 * varying product, so it is never contracted. */
static void contract(struct tn_code *code)
{
	for (unsigned i = 0; i < code->n_values; i++) {
		struct tn_value *value = &code->value[i];
		if (!value->n_uses || (value->op != TN_OP_ADD && value->op != TN_OP_SUB))
			continue;
		tn_block_fn fn = tn_code_contraction(code->kernels, tn_block_column(value->dtype));
		if (fn && value->op == TN_OP_ADD)
			contract_add(code, value, fn);
		else if (fn)
			contract_sub(code, value, fn);
	}
}

/* Contracts products that are outputs to be summed and have no other use. */
static void contract_summed(struct tn_code *code)
{
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		unsigned i = code->program->outputs[j];
		struct tn_value *product = &code->value[i];
		if (!(code->summed >> j & 1) || !may_contract(code, i) ||
		    !tn_code_contraction(code->kernels, tn_block_column(product->dtype)))
			continue;
		code->contracted |= 1u << j;
		code->factor_a[j] = product->a;
		code->factor_b[j] = product->b;
		product->n_uses = 0;
	}
}

static void note_use(struct tn_code *code, unsigned operand, unsigned i)
{
	struct tn_value *value = &code->value[operand];
	value->last = value->last > i ? value->last : (uint16_t)i;
	if (value->flags & TN_VALUE_UNIFORM)
		value->flags |= TN_VALUE_FILLED;
}

/* Finds last uses as operands, and which uniform values are needed as blocks. */
static void find_last_uses(struct tn_code *code)
{
	const struct tn_program *program = code->program;
	for (unsigned i = 0; i < code->n_values; i++) {
		const struct tn_value *value = &code->value[i];
		if (!value->n_uses || value->flags & TN_VALUE_UNIFORM)
			continue;
		if (value->arity > 0)
			note_use(code, value->a, i);
		if (value->arity > 1)
			note_use(code, value->b, i);
		if (value->arity > 2)
			note_use(code, value->c, i);
	}
	for (unsigned j = 0; j < program->n_outputs; j++) {
		if (!(code->contracted >> j & 1)) {
			note_use(code, program->outputs[j], 0);
			continue;
		}
		note_use(code, code->factor_a[j], code->n_values);
		note_use(code, code->factor_b[j], code->n_values);
	}
}

/* Can the view have one tile at several positions? */
static int repeats(const struct tn_nest *nest, unsigned v)
{
	for (unsigned d = 0; d < nest->rank; d++) {
		if (!nest->view[v].stride[d])
			return 1;
	}
	return 0;
}

static void widen(struct tn_code *code, uint32_t size)
{
	code->width = code->width > size ? code->width : size;
}

/* Finds the widest element of a register or a conversion. */
static void find_width(struct tn_code *code, const struct tn_nest *nest)
{
	code->width = 1;
	for (unsigned i = 0; i < code->n_values; i++) {
		const struct tn_value *value = &code->value[i];
		if (!value->n_uses)
			continue;
		widen(code, value->size);
		if (value->op == TN_OP_INPUT)
			widen(code, nest->view[view_of(code, value)].size);
	}
	for (unsigned j = 0; j < code->program->n_outputs && !code->keeps_outputs; j++)
		widen(code, nest->view[code->output_view[j]].size);
}

/* A sufficient number of registers even when no value is used in place: those kept for the whole
 * call, and the most values live at once, outputs to the end. */
static void bound_registers(struct tn_code *code, const struct tn_nest *nest)
{
	uint8_t ends[TN_PROGRAM_MAX_INSTRUCTIONS + 1];
	uint32_t live = 0, most = 0, stay = 1; /* one for conversions of strided operands */
	memset(ends, 0, code->n_values + 1);
	for (unsigned i = 0; i < code->n_values; i++) {
		const struct tn_value *value = &code->value[i];
		if (!(value->flags & TN_VALUE_UNIFORM) && value->n_uses)
			ends[value->last] += value->last > i;
	}
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		const struct tn_value *value = &code->value[code->program->outputs[j]];
		ends[value->last] = 0; /* for simplicity, other values that end here live on too */
	}
	for (unsigned i = 0; i < code->n_values; i++) {
		const struct tn_value *value = &code->value[i];
		if (value->flags & TN_VALUE_UNIFORM || !value->n_uses) {
			stay += (value->flags & TN_VALUE_FILLED) != 0;
			continue;
		}
		if (value->arity == 0 && repeats(nest, view_of(code, value)))
			stay++;
		live++;
		most = live > most ? live : most;
		live -= ends[i] < live ? ends[i] : live;
	}
	code->n_live = most + stay;
}

void tn_code_analyse(struct tn_code *code, const struct tn_nest *nest)
{
	count_uses(code, nest);
	if (!code->draws) {
		contract(code);
		contract_summed(code);
	}
	find_last_uses(code);
	if (!nest)
		return;
	find_width(code, nest);
	bound_registers(code, nest);
}

/* ---- Uniform values --------------------------------------------------------------------------*/

static void convert(const struct tn_code *code, uint32_t from, uint32_t to, const void *source,
		    uint64_t *bits)
{
	tn_block_fn fn = tn_code_cast(code->kernels, from, to);
	*bits = 0;
	if (fn)
		fn(bits, source, NULL, NULL, 1);
	else
		memcpy(bits, source, tn_dtype_size((tn_dtype)from));
}

static void evaluate_source(struct tn_code *code, const struct tn_nest *nest,
			    const struct tn_value *value, uint64_t *bits)
{
	const struct tn_scalar *scalar;
	const struct tn_view *view;
	switch (value->op) {
	case TN_OP_CONSTANT:
		*bits = code->program->constants[value->a];
		return;
	case TN_OP_SCALAR:
		scalar = &code->scalars[value->a];
		convert(code, (uint32_t)scalar->dtype, value->dtype,
			scalar->on_device ? (const void *)(scalar->buffer + scalar->offset)
					  : (const void *)&scalar->bits,
			bits);
		return;
	case TN_OP_INPUT:
		view = &nest->view[view_of(code, value)];
		convert(code, view->dtype, value->dtype, (const void *)view->start, bits);
		return;
	default:
		*bits = 0; /* the index along axes of length 1 */
	}
}

void tn_code_evaluate(struct tn_code *code, const struct tn_nest *nest)
{
	for (unsigned i = 0; i < code->n_values; i++) {
		const struct tn_value *value = &code->value[i];
		uint64_t *bits = &code->uniform[i];
		if (!value->n_uses || !(value->flags & TN_VALUE_UNIFORM))
			continue;
		*bits = 0;
		if (value->arity == 0)
			evaluate_source(code, nest, value, bits);
		else
			value->fn(bits, &code->uniform[value->a],
				  value->arity > 1 ? &code->uniform[value->b] : NULL,
				  value->arity > 2 ? &code->uniform[value->c] : NULL, 1);
	}
}

/* ---- Emission --------------------------------------------------------------------------------*/

struct emitter {
	struct tn_code *code;
	const struct tn_emit *emit;
	uint8_t leave[TN_PROGRAM_MAX_OUTPUTS];
	uint16_t n_free;
	uint16_t free[TN_PLACES];
};

/* Does a tile of the view have the memory layout of a block of `dtype`? */
static int is_block(const struct tn_code *code, const struct tn_emit *emit, unsigned v,
		    uint32_t dtype)
{
	const struct tn_view *view = &emit->nest->view[v];
	const struct tn_tile *tile = emit->tile;
	if (view->dtype != dtype)
		return 0;
	if (tile->tx > 1 && code->stride_x[v] != (int64_t)view->size)
		return 0;
	return tile->ty == 1 ||
	       (tile->tx == tile->length_x && code->stride_y[v] == tile->tx * (int64_t)view->size);
}

/* Are its tiles all the same, with rows of equal length, and may there be more than one? */
static int is_still(const struct tn_emit *emit, unsigned v)
{
	const struct tn_tile *tile = emit->tile;
	int same_rows = tile->ty == 1 || tile->length_x % tile->tx == 0;
	return same_rows && !emit->nest->view[v].varies && repeats(emit->nest, v) &&
	       tn_walk_is_still(emit->walk, v);
}

static int shares_an_output(const struct tn_code *code, const struct tn_nest *nest, unsigned v)
{
	for (unsigned j = 0; j < code->program->n_outputs && !code->keeps_outputs; j++) {
		if (nest->view[code->output_view[j]].start == nest->view[v].start)
			return 1;
	}
	return 0;
}

static int is_stored(const struct tn_code *code, unsigned i)
{
	for (unsigned j = 0; j < code->program->n_outputs && !code->keeps_outputs; j++) {
		if (code->program->outputs[j] == i)
			return 1;
	}
	return 0;
}

/* Is the input used in place?  Not when a program also writes to it as an output: swapping two
 * arrays must not read one after the other was stored. */
static int is_used_in_place(const struct tn_code *code, const struct tn_emit *emit, unsigned i)
{
	const struct tn_value *value = &code->value[i];
	unsigned v = view_of(code, value);
	return value->op == TN_OP_INPUT && is_block(code, emit, v, value->dtype) &&
	       !(is_stored(code, i) && shares_an_output(code, emit->nest, v));
}

/* Frees the operand's register if instruction i is its last use. */
static void release_register(struct emitter *e, unsigned operand, unsigned i)
{
	struct tn_value *value = &e->code->value[operand];
	if (value->last != i || !(value->flags & TN_VALUE_OWNS))
		return;
	value->flags &= (uint8_t)~TN_VALUE_OWNS;
	e->free[e->n_free++] = value->place;
}

/* The destination of value i: an output that takes it in place, or a register. */
static uint16_t destination(struct emitter *e, unsigned i)
{
	struct tn_code *code = e->code;
	struct tn_value *value = &code->value[i];
	for (unsigned j = 0; j < code->program->n_outputs && !code->keeps_outputs; j++) {
		if (code->program->outputs[j] == i && e->leave[j] == TN_LEAVE_IN_PLACE)
			return value->place = (uint16_t)(TN_VIEW_PLACE + code->output_view[j]);
	}
	value->flags |= TN_VALUE_OWNS;
	return value->place = e->n_free ? e->free[--e->n_free] : (uint16_t)e->code->n_registers++;
}

static struct tn_step *add_step(struct tn_step *steps, uint32_t *n, enum tn_step_kind kind)
{
	struct tn_step *step = &steps[(*n)++];
	step->fn = NULL;
	step->kind = (uint8_t)kind;
	step->view = 0;
	step->from_size = step->to_size = 0;
	step->dst = step->a = step->b = step->c = TN_NO_PLACE;
	return step;
}

/* A conversion of a strided tile uses a register of its own. */
static void need_scratch(struct tn_code *code, unsigned v, const struct tn_step *step)
{
	int64_t size = step->kind == TN_STEP_LOAD ? step->from_size : step->to_size;
	if (step->fn && code->stride_x[v] != size && code->scratch == TN_NO_PLACE)
		code->scratch = (uint16_t)code->n_registers++;
}

static void emit_source(struct emitter *e, unsigned i)
{
	struct tn_code *code = e->code;
	struct tn_value *value = &code->value[i];
	unsigned v = view_of(code, value);
	const struct tn_view *view = &e->emit->nest->view[v];
	struct tn_step *step;
	if (is_used_in_place(code, e->emit, i)) {
		value->place = (uint16_t)(TN_VIEW_PLACE + v);
		return;
	}
	enum tn_step_kind kind = value->op == TN_OP_INPUT ? TN_STEP_LOAD : TN_STEP_INDEX;
	if (is_still(e->emit, v)) {
		step = add_step(code->prelude, &code->n_prelude, kind);
		step->dst = value->place = (uint16_t)code->n_registers++;
	} else {
		step = add_step(code->step, &code->n_steps, kind);
		step->dst = destination(e, i);
	}
	step->view = (uint8_t)v;
	step->from_size = (uint8_t)view->size;
	step->to_size = value->size;
	if (kind == TN_STEP_LOAD) {
		step->fn = tn_code_cast(code->kernels, view->dtype, value->dtype);
		need_scratch(code, v, step);
	}
}

static void emit_operation(struct emitter *e, unsigned i)
{
	struct tn_code *code = e->code;
	struct tn_value *value = &code->value[i];
	struct tn_step *step = add_step(code->step, &code->n_steps, TN_STEP_CALL);
	step->fn = value->fn;
	step->a = code->value[value->a].place;
	if (value->arity > 1)
		step->b = code->value[value->b].place;
	if (value->arity > 2)
		step->c = code->value[value->c].place;
	step->to_size = value->size;
	/* Frees the operands that the result may overwrite. */
	if (value->arity > 0 && code->value[value->a].size == value->size)
		release_register(e, value->a, i);
	if (value->arity > 1 && code->value[value->b].size == value->size)
		release_register(e, value->b, i);
	if (value->arity > 2 && code->value[value->c].size == value->size)
		release_register(e, value->c, i);
	step->dst = destination(e, i);
	if (value->arity > 0)
		release_register(e, value->a, i);
	if (value->arity > 1)
		release_register(e, value->b, i);
	if (value->arity > 2)
		release_register(e, value->c, i);
}

static int shares_an_input(const struct tn_code *code, const struct tn_nest *nest, unsigned v)
{
	for (unsigned k = 0; k < code->program->n_inputs; k++) {
		if (nest->view[code->input_view[k]].start == nest->view[v].start)
			return 1;
	}
	return 0;
}

static int output_streams(const struct tn_code *code, const struct tn_emit *emit, unsigned v)
{
	return emit->stream && code->kernels && code->kernels->stream_copy && emit->tile->ty == 1 &&
	       code->stride_x[v] == (int64_t)emit->nest->view[v].size &&
	       !shares_an_input(code, emit->nest, v);
}

static void emit_store(struct emitter *e, unsigned j)
{
	struct tn_code *code = e->code;
	unsigned v = code->output_view[j];
	const struct tn_value *value = &code->value[code->program->outputs[j]];
	const struct tn_view *view = &e->emit->nest->view[v];
	struct tn_step *step = add_step(code->step, &code->n_steps, TN_STEP_STORE);
	step->fn = tn_code_cast(code->kernels, value->dtype, view->dtype);
	step->view = (uint8_t)v;
	step->a = value->place;
	step->from_size = value->size;
	step->to_size = (uint8_t)view->size;
	need_scratch(code, v, step);
	if (!step->fn && output_streams(code, e->emit, v))
		step->kind = TN_STEP_STREAM;
}

/* The output's memory is also an input's, which is read again after instruction i. */
static int is_read_later(const struct tn_code *code, const struct tn_emit *emit, unsigned v,
			 unsigned i)
{
	for (unsigned k = 0; k < code->n_values; k++) {
		const struct tn_value *value = &code->value[k];
		if (value->op != TN_OP_INPUT || !value->n_uses)
			continue;
		unsigned source = view_of(code, value);
		if (emit->nest->view[source].start != emit->nest->view[v].start)
			continue;
		unsigned read = is_used_in_place(code, emit, k) ? value->last : k;
		if (read > i)
			return 1;
	}
	return 0;
}

static enum tn_leave leave_of(const struct tn_code *code, const struct tn_emit *emit, unsigned j)
{
	unsigned v = code->output_view[j], i = code->program->outputs[j];
	const struct tn_value *value = &code->value[i];
	if (value->flags & TN_VALUE_UNIFORM || is_read_later(code, emit, v, i))
		return TN_LEAVE_AT_END;
	if (value->arity == 0 &&
	    (is_used_in_place(code, emit, i) || is_still(emit, view_of(code, value))))
		return TN_LEAVE_AT_END;
	if (output_streams(code, emit, v) || !is_block(code, emit, v, value->dtype))
		return TN_LEAVE_AT_ONCE;
	for (unsigned k = 0; k < j; k++) {
		if (code->program->outputs[k] == i)
			return TN_LEAVE_AT_END;
	}
	return TN_LEAVE_IN_PLACE;
}

/* Decides how each output is stored; a value stored at the end lives until then. */
static void plan_outputs(struct emitter *e)
{
	struct tn_code *code = e->code;
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		e->leave[j] = code->keeps_outputs ? TN_LEAVE_KEPT : leave_of(code, e->emit, j);
	}
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		if (e->leave[j] == TN_LEAVE_KEPT || e->leave[j] == TN_LEAVE_AT_END)
			code->value[code->program->outputs[j]].last = (uint16_t)code->n_values;
	}
}

/* Stores the outputs that are stored at once, and frees a value without further use. */
static void emit_stores_of(struct emitter *e, unsigned i)
{
	struct tn_code *code = e->code;
	int stored = 0;
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		if (code->program->outputs[j] != i || e->leave[j] != TN_LEAVE_AT_ONCE)
			continue;
		emit_store(e, j);
		stored = 1;
	}
	if (stored && code->value[i].last <= i) {
		code->value[i].last = (uint16_t)i;
		release_register(e, i, i);
	}
}

tn_status tn_code_emit(struct tn_code *code, const struct tn_emit *emit,
		       struct tn_error_info *error, const char *operation)
{
	struct emitter e;
	e.code = code;
	e.emit = emit;
	e.n_free = 0;
	code->n_registers = code->n_fills = code->n_prelude = code->n_steps = 0;
	code->scratch = TN_NO_PLACE;
	const struct tn_tile *tile = emit->tile;
	for (unsigned v = 0; v < emit->nest->n_views; v++) {
		const struct tn_view *view = &emit->nest->view[v];
		code->stride_x[v] = tile->x < 0 ? 0 : view->stride[tile->x];
		code->stride_y[v] = tile->y < 0 ? 0 : view->stride[tile->y];
		if (view->varies) { /* the runner's own block */
			code->stride_x[v] = view->size;
			code->stride_y[v] = tile->tx * (int64_t)view->size;
		}
	}
	plan_outputs(&e);
	for (unsigned i = 0; i < code->n_values; i++) {
		struct tn_value *value = &code->value[i];
		if (!value->n_uses)
			continue;
		if (value->flags & TN_VALUE_UNIFORM) {
			if (!(value->flags & TN_VALUE_FILLED))
				continue;
			value->place = (uint16_t)code->n_registers++;
			code->fill[code->n_fills++] = (struct tn_fill){value->place, (uint16_t)i};
			continue;
		}
		if (value->arity == 0)
			emit_source(&e, i);
		else
			emit_operation(&e, i);
		emit_stores_of(&e, i);
	}
	for (unsigned j = 0; j < code->program->n_outputs; j++) {
		code->out_place[j] = code->value[code->program->outputs[j]].place;
		if (e.leave[j] == TN_LEAVE_AT_END)
			emit_store(&e, j);
	}
	if (code->n_registers <= code->n_live)
		return TN_OK;
	return tn_fail(error, TN_INTERNAL, operation, "%u registers, of which %u were counted",
		       code->n_registers, code->n_live);
}
