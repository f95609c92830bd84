/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random programs on random shapes and strides, compared exactly with the built-in reference
 * backend.  Exact comparison is possible because integers wrap, and because only floating
 * operations with a single rounding are drawn, or with none for a device that computes f32 in a
 * narrower type: factors are powers of two, so that contracting a
 * product with a sum does not change the result.
 */
#include "loader/host.h"
#include "program/cast.h"
#include "program/opcode.h"
#include "programs.h"
#include "reference/backend.h"
#include "slots.h"

enum { N_INPUTS = 3, N_OUTPUTS = 2, MOST_VALUES = 48 };

static const uint16_t whole_ops[] = {
	TN_OP_ADD, TN_OP_SUB, TN_OP_MUL, TN_OP_DIV, TN_OP_REM, TN_OP_MIN, TN_OP_MAX,
	TN_OP_AND, TN_OP_OR,  TN_OP_XOR, TN_OP_SHL, TN_OP_SHR, TN_OP_NEG, TN_OP_ABS,
};
static const uint16_t real_ops[] = {
	TN_OP_ADD, TN_OP_SUB,  TN_OP_MIN,   TN_OP_MAX,   TN_OP_SUB,   TN_OP_ADD,  TN_OP_NEG,
	TN_OP_ABS, TN_OP_CEIL, TN_OP_FLOOR, TN_OP_TRUNC, TN_OP_ROUND, TN_OP_SIGN, TN_OP_MUL,
};
enum { N_OPS = 14 };
/* Those that never round. */
static const uint16_t exact_ops[] = {
	TN_OP_MIN, TN_OP_MAX, TN_OP_NEG, TN_OP_ABS, TN_OP_CEIL, TN_OP_FLOOR, TN_OP_TRUNC,
	TN_OP_MAX, TN_OP_MIN, TN_OP_NEG, TN_OP_MIN, TN_OP_MAX,  TN_OP_ROUND, TN_OP_SIGN,
};

/* Adds a value computed from existing ones. */
static tn_value draw(struct kit *kit, struct tn_builder *b, tn_dtype dtype, const tn_value *values,
		     unsigned n)
{
	tn_value x = values[kit_random(kit) % n], y = values[kit_random(kit) % n];
	uint16_t op;
	if (kit_random(kit) % 5 == 0)
		return tn_build_op(b, TN_OP_SELECT, dtype,
				   tn_build_op(b, TN_OP_LT, TN_BOOL, x, y, 0),
				   values[kit_random(kit) % n], y);
	if (!tn_is_floating(dtype)) {
		op = whole_ops[kit_random(kit) % N_OPS];
		return tn_build_op(b, op, dtype, x, tn_op_information(op)->arity > 1 ? y : 0, 0);
	}
	op = (kit_compute_dtype(kit, TN_FAMILY_MAP) == TN_F32 ? real_ops
							      : exact_ops)[kit_random(kit) % N_OPS];
	if (op == TN_OP_MUL)
		return tn_build_op(b, op, dtype, x, tn_build_number(b, dtype, 0.5), 0);
	return tn_build_op(b, op, dtype, x, tn_op_information(op)->arity > 1 ? y : 0, 0);
}

static struct tn_program *random_program(struct kit *kit, tn_dtype dtype)
{
	tn_value values[MOST_VALUES], out[N_OUTPUTS];
	unsigned n = 0, length = 8 + (unsigned)(kit_random(kit) % 30);
	struct tn_builder b;
	begin_program(&b);
	while (n < N_INPUTS) {
		values[n] = tn_build_source(&b, TN_OP_INPUT, dtype, n);
		n++;
	}
	values[n++] = tn_build_number(&b, dtype, (double)(kit_random(kit) % 9));
	while (n < length)
		values[n] = draw(kit, &b, dtype, values, n), n++;
	for (unsigned j = 0; j < N_OUTPUTS; j++)
		out[j] = values[n - 1 - j];
	return finish_program(&b, N_INPUTS, 0, N_OUTPUTS, out);
}

/* ---- The reference ---------------------------------------------------------------------------*/

struct reference {
	void *instance, *device;
	const struct tn_device_table *devices;
	const struct tn_compute_table *compute;
};

static void reference_begin(struct kit *kit, struct reference *r)
{
	const struct tn_host *host = &kit->backend->plugin.services->host;
	struct tn_open_args args = {.call = CALL(struct tn_open_args)};
	kit_case(kit, TN_SLOT_MAP, "the reference backend");
	if (tn_reference_backend.create(host, &kit->error, &r->instance))
		kit_give_up(kit, "create: %s", kit->error.text);
	r->devices = tn_reference_backend.query(r->instance, TN_TABLE_DEVICE);
	r->compute = tn_reference_backend.query(r->instance, TN_TABLE_COMPUTE);
	if (r->devices->open(r->instance, &args, &r->device))
		kit_give_up(kit, "it does not open");
}

static void reference_end(struct reference *r)
{
	r->devices->close(r->device);
	tn_reference_backend.destroy(r->instance);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

struct trial {
	struct array in[N_INPUTS], out[N_OUTPUTS], expected[N_OUTPUTS];
	struct array *all[N_INPUTS + N_OUTPUTS];
	struct tn_operand inputs[N_INPUTS], outputs[N_OUTPUTS];
	/* The same for the reference, on the host images. */
	struct tn_operand host_inputs[N_INPUTS], host_outputs[N_OUTPUTS];
};

static struct tn_operand on_host(const struct array *array)
{
	struct tn_operand operand = array->operand;
	operand.buffer = (uint64_t)(uintptr_t)array->image;
	return operand;
}

static void make_trial(struct kit *kit, struct trial *t, tn_dtype in, tn_dtype out,
		       const struct shape *shape, uint32_t kept)
{
	for (int i = 0; i < N_INPUTS; i++) {
		array_make(kit, &t->in[i], INPUT, in, shape->rank, shape->lengths, RANDOM);
		array_randomise(&t->in[i], -4, 4);
		t->inputs[i] = t->in[i].operand;
		t->host_inputs[i] = on_host(&t->in[i]);
		t->all[i] = &t->in[i];
	}
	for (int j = 0; j < N_OUTPUTS; j++) {
		array_make(kit, &t->out[j], OUTPUT, out, kept, shape->lengths, RANDOM);
		array_make(kit, &t->expected[j], OUTPUT, out, kept, shape->lengths, COMPACT);
		t->outputs[j] = t->out[j].operand;
		t->host_outputs[j] = on_host(&t->expected[j]);
		t->all[N_INPUTS + j] = &t->out[j];
	}
}

static void free_trial(struct trial *t)
{
	for (int i = 0; i < N_INPUTS; i++)
		array_free(&t->in[i]);
	for (int j = 0; j < N_OUTPUTS; j++) {
		array_free(&t->out[j]);
		array_free(&t->expected[j]);
	}
}

/* Equal numbers: zeros of both signs are equal, and all NaNs. */
static int is_same(tn_dtype dtype, uint64_t a, uint64_t b)
{
	double x = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, a));
	double y = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, b));
	return a == b || (tn_is_floating(dtype) && (x == y || (isnan(x) && isnan(y))));
}

static void compare(struct kit *kit, const struct trial *t)
{
	for (int j = 0; j < N_OUTPUTS; j++) {
		for (uint64_t i = 0; i < t->out[j].count; i++) {
			uint64_t found = array_bits(&t->out[j], i);
			uint64_t expected = array_bits(&t->expected[j], i);
			if (!is_same(t->out[j].operand.dtype, found, expected))
				kit_fail(kit,
					 "output %d, element %llu: bits %llx, expected "
					 "%llx",
					 j, (unsigned long long)i, (unsigned long long)found,
					 (unsigned long long)expected);
		}
	}
}

static const tn_dtype drawn_dtypes[] = {TN_F32, TN_I32, TN_I64, TN_U32};

static void maps(struct kit *kit, const struct reference *reference, tn_dtype dtype, uint64_t n)
{
	struct trial t;
	struct shape shape;
	struct tn_program *program;
	kit_case(kit, TN_SLOT_MAP, "map: random program %llu of %s, seed %llu",
		 (unsigned long long)n, tn_dtype_name(dtype), (unsigned long long)kit->seed);
	kit_vary(kit, n);
	program = random_program(kit, dtype);
	shape_random(kit, &shape, 6, 3000);
	make_trial(kit, &t, dtype, dtype, &shape, shape.rank);
	struct tn_map_args own = {.call = CALL(struct tn_map_args),
				  .program = program,
				  .inputs = t.host_inputs,
				  .outputs = t.host_outputs};
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = t.inputs,
				   .outputs = t.outputs};
	if (reference->compute->map(reference->device, &own))
		kit_give_up(kit, "the reference refuses it");
	if (kit_run_ok(kit, &args, t.all, N_INPUTS + N_OUTPUTS))
		compare(kit, &t);
	free_trial(&t);
	tn_program_destroy(program);
}

void check_map_programs(struct kit *kit)
{
	enum { PROGRAMS = 16 };
	struct reference reference;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	reference_begin(kit, &reference);
	for (uint64_t n = 1; n <= PROGRAMS; n++)
		if (kit_claims_storage(kit, drawn_dtypes[n % 4]))
			maps(kit, &reference, drawn_dtypes[n % 4], n);
	reference_end(&reference);
}

/* Integers, whose sums and products do not depend on the order. */
static void reduces(struct kit *kit, const struct reference *reference, uint64_t n)
{
	struct trial t;
	struct shape shape;
	struct tn_program *program;
	uint32_t n_reduced;
	kit_case(kit, TN_SLOT_REDUCE, "reduce: random program %llu, seed %llu",
		 (unsigned long long)n, (unsigned long long)kit->seed);
	kit_vary(kit, n);
	program = random_program(kit, n % 2 ? TN_I32 : TN_I64);
	shape_random(kit, &shape, 6, 3000);
	n_reduced = (uint32_t)(kit_random(kit) % (shape.rank + 1));
	make_trial(kit, &t, n % 2 ? TN_I32 : TN_I64, TN_I64, &shape, shape.rank - n_reduced);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = program,
				      .inputs = t.host_inputs,
				      .outputs = t.host_outputs,
				      .n_reduced = n_reduced,
				      .n_values = N_OUTPUTS,
				      .combiners = {1 + (uint32_t)(kit_random(kit) % 6),
						    1 + (uint32_t)(kit_random(kit) % 6)}};
	if (reference->compute->reduce(reference->device, &args))
		kit_give_up(kit, "the reference refuses it");
	args.inputs = t.inputs;
	args.outputs = t.outputs;
	if (kit_run_ok(kit, &args, t.all, N_INPUTS + N_OUTPUTS))
		compare(kit, &t);
	free_trial(&t);
	tn_program_destroy(program);
}

void check_reduce_programs(struct kit *kit)
{
	enum { PROGRAMS = 10 };
	struct reference reference;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	reference_begin(kit, &reference);
	for (uint64_t n = 1; n <= PROGRAMS; n++)
		reduces(kit, &reference, n);
	reference_end(&reference);
}
