/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random programs over random operands, in place or not, against the scalar semantics: however the
 * planner handles registers, uniform values and outputs, the bits must be those of one element at a
 * time.  All opcodes used are exact.
 */
#include "interpret_fixture.h"

#include <tenon/program.h>

#include "interpret/block.h"
#include "program/opcode.h"

#define PROGRAMS 4000
#define MOST_INPUTS 4
#define MOST_ELEMENTS 3000

static const tn_dtype compute[] = {TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32, TN_F64};
static const uint16_t exact[] = {
	TN_OP_ADD, TN_OP_SUB,  TN_OP_MUL,    TN_OP_DIV,  TN_OP_NEG,    TN_OP_ABS, TN_OP_MIN,
	TN_OP_MAX, TN_OP_SQRT, TN_OP_FLOOR,  TN_OP_CEIL, TN_OP_SIGN,   TN_OP_EQ,  TN_OP_LT,
	TN_OP_GE,  TN_OP_AND,  TN_OP_OR,     TN_OP_XOR,  TN_OP_NOT,    TN_OP_SHL, TN_OP_SHR,
	TN_OP_REM, TN_OP_CAST, TN_OP_SELECT, TN_OP_CAST, TN_OP_SELECT, TN_OP_ADD,
};

static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
	return tn_random(2026, 1, drawn++) % below;
}

/* One of those that programs read and write. */
static tn_dtype draw_storage(void)
{
	tn_dtype storage[TN_DTYPES];
	uint32_t n = 0;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (tn_compute_dtype(dtype))
			storage[n++] = dtype;
	}
	return storage[draw(n)];
}

static tn_dtype dtype_of(const struct text *t, unsigned value)
{
	return (tn_dtype)t->code[value].dtype;
}

/* A value of that dtype, or -1. */
static int find(const struct text *t, tn_dtype dtype)
{
	unsigned n = t->program.n_instructions, start = draw(n);
	for (unsigned k = 0; k < n; k++) {
		if (dtype_of(t, (start + k) % n) == dtype)
			return (int)((start + k) % n);
	}
	return -1;
}

static void add_operation(struct text *t)
{
	uint16_t op = exact[draw(sizeof(exact) / sizeof(*exact))];
	const struct tn_op_info *info = tn_op_information(op);
	unsigned a = draw(t->program.n_instructions);
	tn_dtype dtype = dtype_of(t, a);
	unsigned takes = dtype == TN_BOOL        ? TN_TAKES_BOOL
			 : tn_is_floating(dtype) ? TN_TAKES_FLOATS
						 : TN_TAKES_INTEGERS;
	if (op == TN_OP_MUL && tn_is_floating(dtype) && tn_block_fma_is_fast())
		return; /* it might be contracted */
	if (op == TN_OP_CAST) {
		text_op(t, op, compute[draw(6)], a, 0, 0);
	} else if (op == TN_OP_SELECT) {
		int choice = find(t, TN_BOOL);
		if (choice >= 0)
			text_op(t, op, dtype, (unsigned)choice, a, (unsigned)find(t, dtype));
	} else if (info->flags & takes) {
		unsigned b = info->arity > 1 ? (unsigned)find(t, dtype) : 0;
		text_op(t, op, info->flags & TN_GIVES_BOOL ? TN_BOOL : dtype, a, b, 0);
	}
}

static void make_program(struct text *t, const tn_dtype *storage, uint32_t n_inputs, unsigned rank)
{
	unsigned size = 3 + draw(draw(4) ? 20 : 200);
	text_init(t, n_inputs, 1);
	for (uint32_t k = 0; k < n_inputs; k++)
		text_op(t, TN_OP_INPUT, tn_compute_dtype(storage[k]), k, 0, 0);
	text_op(t, TN_OP_SCALAR, TN_F32, 0, 0, 0);
	text_constant(t, TN_I32, draw(100));
	while (t->program.n_instructions < size) {
		uint32_t kind = draw(30);
		if (kind == 0 && rank)
			text_op(t, TN_OP_INDEX, TN_I64, draw(rank), 0, 0);
		else if (kind == 1)
			text_op(t, TN_OP_ELEMENT, TN_I64, 0, 0, 0);
		else if (kind == 2 && t->program.n_constants < 60)
			text_constant(t, TN_F64, tn_bits_of_f64((double)draw(9) - 4.5));
		else
			add_operation(t);
	}
	for (uint32_t j = 1 + draw(4); j > 0; j--) {
		/* Mostly late values, or few instructions would matter. */
		unsigned n = t->program.n_instructions, late = draw(n < 5 ? n : 5);
		text_output(t, (uint16_t)(draw(5) ? n - 1 - late : draw(n)));
	}
}

struct operands {
	struct tensor inputs[MOST_INPUTS], outputs[4];
	struct tn_operand in[MOST_INPUTS], out[4];
	int shared[4]; /* the input that an output is, or -1 */
};

static int is_taken(const struct operands *o, uint32_t n, int input)
{
	for (uint32_t j = 0; j < n; j++) {
		if (o->shared[j] == input)
			return 1;
	}
	return 0;
}

static enum layout draw_layout(int writable)
{
	for (;;) {
		enum layout layout = draw(2) ? CONTIGUOUS : (enum layout)draw(LAYOUTS);
		int still = layout == BROADCAST_ROW || layout == BROADCAST_COLUMN ||
			    layout == BROADCAST_ALL;
		if (!writable || !still)
			return layout;
	}
}

static void make_operands(struct operands *o, const struct text *t, const tn_dtype *storage,
			  unsigned rank, const int64_t *shape)
{
	enum layout layouts[MOST_INPUTS];
	for (uint32_t k = 0; k < t->program.n_inputs; k++) {
		layouts[k] = draw_layout(0);
		o->inputs[k] = tensor_make(storage[k], rank, shape, layouts[k]);
		tensor_fill(&o->inputs[k], drawn + k);
		o->in[k] = o->inputs[k].operand;
	}
	for (uint32_t j = 0; j < t->program.n_outputs; j++) {
		int input = t->program.n_inputs && draw(2) ? (int)draw(t->program.n_inputs) : -1;
		o->shared[j] = -1;
		o->outputs[j].memory = NULL;
		int still = input >= 0 && layouts[input] >= BROADCAST_ROW &&
			    layouts[input] <= BROADCAST_ALL;
		if (input >= 0 && !still && !is_taken(o, j, input)) {
			o->shared[j] = input;
			o->out[j] = o->in[input];
			continue;
		}
		o->outputs[j] = tensor_make(draw_storage(), rank, shape, draw_layout(1));
		o->out[j] = o->outputs[j].operand;
	}
}

static void free_operands(struct operands *o, const struct text *t)
{
	for (uint32_t k = 0; k < t->program.n_inputs; k++)
		tensor_free(&o->inputs[k]);
	for (uint32_t j = 0; j < t->program.n_outputs; j++)
		tensor_free(&o->outputs[j]);
}

static uint64_t *expect(const struct text *t, const struct operands *o, float scalar)
{
	const struct tn_program *program = &t->program;
	size_t n = tensor_count(&o->out[0]);
	uint64_t *expected = malloc(n * program->n_outputs * sizeof(*expected));
	uint64_t s = tn_bits_of_f32(scalar), x[MOST_INPUTS], y[4];
	assert_non_null(expected);
	for (size_t e = 0; e < n; e++) {
		int64_t index[TN_MAX_RANK];
		index_of(&o->out[0], e, index);
		for (uint32_t k = 0; k < program->n_inputs; k++)
			x[k] = tn_cast_bits(o->in[k].dtype, dtype_of(t, k),
					    bits_at(&o->in[k], index));
		tn_evaluate_program(program, x, &s, index, (int64_t)e, y);
		for (uint32_t j = 0; j < program->n_outputs; j++)
			expected[j * n + e] =
				tn_cast_bits(dtype_of(t, t->outputs[j]), o->out[j].dtype, y[j]);
	}
	return expected;
}

static void check_results(const struct text *t, const struct operands *o, const uint64_t *expected,
			  int number)
{
	size_t n = tensor_count(&o->out[0]);
	char listing[16384];
	for (uint32_t j = 0; j < t->program.n_outputs; j++) {
		for (size_t e = 0; e < n; e++) {
			int64_t index[TN_MAX_RANK];
			index_of(&o->out[j], e, index);
			uint64_t found = bits_at(&o->out[j], index);
			if (values_agree(o->out[j].dtype, found, expected[j * n + e], 0, 0))
				continue;
			tn_program_text(&t->program, listing, sizeof(listing));
			fail_msg("program %d, output %u, element %zu of %zu: %#llx, not %#llx\n%s",
				 number, j, e, n, (unsigned long long)found,
				 (unsigned long long)expected[j * n + e], listing);
		}
		if (o->shared[j] < 0)
			check_sentinels(&o->outputs[j]);
	}
}

static void random_programs_give_the_evaluators_bits(void **state)
{
	struct tn_threads *threads = tn_threads_create(3);
	(void)state;
	for (int number = 0; number < PROGRAMS; number++) {
		struct text t;
		struct operands o;
		struct tn_error_info error;
		tn_dtype storage[MOST_INPUTS];
		int64_t shape[4], n = 1;
		unsigned rank = draw(5);
		uint32_t n_inputs = draw(MOST_INPUTS + 1);
		float scalar = (float)draw(100) / 8 - 4;
		for (unsigned d = 0; d < rank; d++) {
			int64_t length = 1 + (int64_t)draw(draw(3) ? 9 : 400);
			shape[d] = n * length > MOST_ELEMENTS ? 1 : length;
			n *= shape[d];
		}
		for (uint32_t k = 0; k < n_inputs; k++)
			storage[k] = draw(2) ? TN_F32 : draw_storage();
		make_program(&t, storage, n_inputs, rank);
		make_operands(&o, &t, storage, rank, shape);
		uint64_t *expected = expect(&t, &o, scalar);
		struct tn_map_args args = {
			.call = plain_call(sizeof(args), &error),
			.program = &t.program,
			.inputs = o.in,
			.outputs = o.out,
			.scalars = &(struct tn_scalar){.dtype = TN_F32,
						       .bits = tn_bits_of_f32(scalar)}};
		assert_ok(tn_interpret_map(threads, &args, NULL));
		check_results(&t, &o, expected, number);
		free(expected);
		free_operands(&o, &t);
	}
	tn_threads_destroy(threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_give_the_evaluators_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
