/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map against tn_evaluate_program, element by element.
 */
#include "interpret_fixture.h"

#include <tenon/program.h>

static struct tn_threads *one, *four;

static const struct {
	unsigned rank;
	int64_t shape[5];
} shapes[] = {
	{0, {0}},
	{1, {1}},
	{1, {2}},
	{1, {3}},
	{1, {17}},
	{1, {1000}},
	{1, {5003}},
	{2, {1, 1}},
	{2, {3, 5}},
	{2, {40, 1}},
	{2, {7, 300}},
	{2, {300, 7}},
	{2, {65, 129}},
	{3, {2, 3, 4}},
	{3, {9, 1, 31}},
	{3, {4, 33, 5}},
	{4, {3, 2, 5, 70}},
	{4, {1, 6, 1, 6}},
	{5, {2, 3, 2, 3, 2}},
	{2, {2, 2000}},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

/* The expected bits of every output, in row-major order; made before the call,
 * which may be in place. */
static uint64_t *expect(const struct tn_program *program, const struct tn_operand *inputs,
			const struct tn_operand *outputs, const struct tn_scalar *scalars)
{
	size_t n = tensor_count(&outputs[0]);
	uint64_t *expected = malloc(n * program->n_outputs * sizeof(*expected));
	uint64_t s[TN_PROGRAM_MAX_SCALARS], x[TN_PROGRAM_MAX_INPUTS], y[TN_PROGRAM_MAX_OUTPUTS];
	assert_non_null(expected);
	for (uint32_t k = 0; k < program->n_scalars; k++) {
		uint64_t bits = scalars[k].bits;
		if (scalars[k].on_device)
			memcpy(&bits, (void *)(scalars[k].buffer + scalars[k].offset),
			       tn_dtype_size(scalars[k].dtype));
		s[k] = tn_cast_bits(scalars[k].dtype, tn_program_scalar_dtype(program, k), bits);
	}
	for (size_t e = 0; e < n; e++) {
		int64_t index[TN_MAX_RANK] = {0};
		index_of(&outputs[0], e, index);
		for (uint32_t k = 0; k < program->n_inputs; k++)
			x[k] = tn_cast_bits(inputs[k].dtype, tn_program_input_dtype(program, k),
					    bits_at(&inputs[k], index));
		tn_evaluate_program(program, x, s, index, (int64_t)e, y);
		for (uint32_t j = 0; j < program->n_outputs; j++)
			expected[j * n + e] = tn_cast_bits(tn_program_output_dtype(program, j),
							   outputs[j].dtype, y[j]);
	}
	return expected;
}

/* `scale`: the least magnitude for the relative tolerance; a contracted product differs by the
 * rounding of that product. */
static void check_outputs(const struct tn_program *program, const struct tn_operand *outputs,
			  const uint64_t *expected, double ulps, double scale)
{
	size_t n = tensor_count(&outputs[0]);
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		for (size_t e = 0; e < n; e++) {
			int64_t index[TN_MAX_RANK];
			index_of(&outputs[j], e, index);
			uint64_t found = bits_at(&outputs[j], index);
			if (!values_agree(outputs[j].dtype, found, expected[j * n + e], ulps,
					  scale))
				fail_msg("output %u, element %zu of %zu: %#llx, not %#llx", j, e, n,
					 (unsigned long long)found,
					 (unsigned long long)expected[j * n + e]);
		}
	}
}

struct job {
	struct tn_threads *threads;
	const struct tn_program *program;
	const struct tn_operand *inputs, *outputs;
	const struct tn_scalar *scalars;
	const struct tn_block_kernels *kernels;
	double ulps;
};

static tn_status call(const struct job *job, uint32_t flags, struct tn_error_info *error)
{
	struct tn_map_args args = {.call = plain_call(sizeof(args), error),
				   .program = job->program,
				   .inputs = job->inputs,
				   .outputs = job->outputs,
				   .scalars = job->scalars};
	args.call.flags = flags;
	return tn_interpret_map(job->threads, &args, job->kernels);
}

static void run(const struct job *job)
{
	struct tn_error_info error;
	uint64_t *expected = expect(job->program, job->inputs, job->outputs, job->scalars);
	assert_ok(call(job, TN_DRY_RUN, &error));
	assert_ok(call(job, 0, &error));
	check_outputs(job->program, job->outputs, expected, job->ulps, job->ulps > 0 ? 32 : 0);
	free(expected);
}

/* z = a * x + y, w = x < y ? x : n, v = y - x * a: a scalar, a constant, three outputs, one of them
 * one that uses a bool, two that may be contracted. */
static void make_sample(struct text *t, tn_dtype dtype)
{
	text_init(t, 2, 1);
	uint16_t x = text_op(t, TN_OP_INPUT, dtype, 0, 0, 0);
	uint16_t a = text_op(t, TN_OP_SCALAR, dtype, 0, 0, 0);
	uint16_t y = text_op(t, TN_OP_INPUT, dtype, 1, 0, 0);
	uint16_t n = text_constant(t, dtype, tn_cast_bits(TN_I32, dtype, 3));
	uint16_t product = text_op(t, TN_OP_MUL, dtype, a, x, 0);
	uint16_t z = text_op(t, TN_OP_ADD, dtype, product, y, 0);
	uint16_t less = text_op(t, TN_OP_LT, TN_BOOL, x, y, 0);
	text_output(t, z);
	text_output(t, text_op(t, TN_OP_SELECT, dtype, less, x, n));
	product = text_op(t, TN_OP_MUL, dtype, x, a, 0);
	text_output(t, text_op(t, TN_OP_SUB, dtype, y, product, 0));
}

static void run_sample(tn_dtype storage, unsigned s, enum layout lx, enum layout ly, enum layout lz)
{
	struct text t;
	double scalar = 1.75;
	struct tensor x = tensor_make(storage, shapes[s].rank, shapes[s].shape, lx);
	struct tensor y = tensor_make(storage, shapes[s].rank, shapes[s].shape, ly);
	struct tensor z = tensor_make(storage, shapes[s].rank, shapes[s].shape, lz);
	struct tensor w = tensor_make(storage, shapes[s].rank, shapes[s].shape, CONTIGUOUS);
	struct tensor v = tensor_make(storage, shapes[s].rank, shapes[s].shape, lz);
	make_sample(&t, tn_compute_dtype(storage));
	tensor_fill(&x, 1);
	tensor_fill(&y, 2);
	run(&(struct job){.threads = s % 2 ? one : four,
			  .program = &t.program,
			  .inputs = (struct tn_operand[]){x.operand, y.operand},
			  .outputs = (struct tn_operand[]){z.operand, w.operand, v.operand},
			  .scalars = &(struct tn_scalar){.dtype = TN_F64,
							 .on_device = s % 3 == 0,
							 .bits = tn_bits_of_f64(scalar),
							 .buffer = (uint64_t)&scalar},
			  .kernels = (s + lx) % 2 ? &fused_kernels : NULL,
			  .ulps = tn_is_floating(storage) ? 1 : 0});
	check_sentinels(&x);
	check_sentinels(&z);
	check_sentinels(&w);
	check_sentinels(&v);
	tensor_free(&x);
	tensor_free(&y);
	tensor_free(&z);
	tensor_free(&w);
	tensor_free(&v);
}

/* (1 + u)^2 - (1 + 2 u) is u^2, and 0 if the product is rounded first. */
static void a_rounded_product_is_not_contracted(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct text t;
		float x = 1 + 0x1p-12f, y = -1 - 0x1p-11f, z = 7;
		struct tn_operand operands[] = {
			{.buffer = (uint64_t)(uintptr_t)&x, .dtype = TN_F32},
			{.buffer = (uint64_t)(uintptr_t)&y, .dtype = TN_F32},
			{.buffer = (uint64_t)(uintptr_t)&z, .dtype = TN_F32},
		};
		struct tn_error_info error;
		text_init(&t, 2, 0);
		uint16_t a = text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0);
		uint16_t b = text_op(&t, TN_OP_INPUT, TN_F32, 1, 0, 0);
		uint16_t product = text_op(&t, i ? TN_OP_MUL_ROUNDED : TN_OP_MUL, TN_F32, a, a, 0);
		text_output(&t, text_op(&t, TN_OP_ADD, TN_F32, product, b, 0));
		assert_ok(call(&(struct job){.threads = one,
					     .program = &t.program,
					     .inputs = operands,
					     .outputs = operands + 2,
					     .kernels = &fused_kernels},
			       0, &error));
		assert_true(z == (i ? 0 : 0x1p-24f));
	}
}

static int may_be_written(enum layout layout)
{
	return layout != BROADCAST_ROW && layout != BROADCAST_COLUMN && layout != BROADCAST_ALL;
}

static void all_layouts_meet_all_layouts(void **state)
{
	(void)state;
	for (unsigned s = 0; s < N_SHAPES; s++) {
		for (enum layout lx = 0; lx < LAYOUTS; lx++) {
			for (enum layout lz = 0; lz < LAYOUTS; lz++) {
				enum layout ly = (enum layout)((lx + lz + s) % LAYOUTS);
				if (may_be_written(lz))
					run_sample(TN_F32, s, lx, ly, lz);
			}
		}
	}
}

static void all_dtypes_are_read_and_written(void **state)
{
	(void)state;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (dtype == TN_BOOL || !tn_compute_dtype(dtype))
			continue;
		for (unsigned s = 0; s < N_SHAPES; s += 2) {
			for (enum layout l = 0; l < LAYOUTS; l++)
				run_sample(dtype, s, l, CONTIGUOUS,
					   may_be_written(l) ? l : EVERY_SECOND);
		}
	}
}

/* Every pair of storage dtypes through a program that only copies its input. */
static void inputs_and_outputs_are_cast(void **state)
{
	const int64_t shape[] = {3, 101};
	(void)state;
	for (tn_dtype from = 1; from < TN_DTYPES; from++) {
		for (tn_dtype to = 1; to < TN_DTYPES; to++) {
			if (!tn_compute_dtype(from) || !tn_compute_dtype(to))
				continue;
			for (enum layout l = 0; l < LAYOUTS; l++) {
				struct text t;
				struct tensor x = tensor_make(from, 2, shape, l);
				struct tensor y = tensor_make(to, 2, shape,
							      may_be_written(l) ? l : CONTIGUOUS);
				tensor_fill(&x, 3);
				text_init(&t, 1, 0);
				text_output(&t, text_op(&t, TN_OP_INPUT, tn_compute_dtype(from), 0,
							0, 0));
				run(&(struct job){.program = &t.program,
						  .inputs = &x.operand,
						  .outputs = &y.operand});
				check_sentinels(&y);
				tensor_free(&x);
				tensor_free(&y);
			}
		}
	}
}

/* Indices of every axis and of the element, added up with weights that keep them apart. */
static void indices_follow_the_shape(void **state)
{
	(void)state;
	for (unsigned s = 0; s < N_SHAPES; s++) {
		for (enum layout l = 0; l < LAYOUTS; l++) {
			struct text t;
			if (!may_be_written(l))
				continue;
			struct tensor y = tensor_make(TN_I64, shapes[s].rank, shapes[s].shape, l);
			text_init(&t, 0, 0);
			uint16_t sum = text_op(&t, TN_OP_ELEMENT, TN_I64, 0, 0, 0);
			for (unsigned axis = 0; axis < shapes[s].rank; axis++) {
				uint16_t weight =
					text_constant(&t, TN_I64, UINT64_C(10007) << (8 * axis));
				uint16_t index = text_op(&t, TN_OP_INDEX, TN_I64, axis, 0, 0);
				index = text_op(&t, TN_OP_MUL, TN_I64, index, weight, 0);
				sum = text_op(&t, TN_OP_ADD, TN_I64, sum, index, 0);
			}
			text_output(&t, sum);
			run(&(struct job){
				.threads = four, .program = &t.program, .outputs = &y.operand});
			check_sentinels(&y);
			tensor_free(&y);
		}
	}
}

/* normal(random(seed, stream, element)): the bits must not depend on blocks, threads or layout. */
static void random_numbers_keep_their_bits(void **state)
{
	const int64_t shape[] = {37, 411};
	struct text t;
	(void)state;
	text_init(&t, 0, 0);
	uint16_t seed = text_constant(&t, TN_I64, 42), stream = text_constant(&t, TN_I64, 7);
	uint16_t element = text_op(&t, TN_OP_ELEMENT, TN_I64, 0, 0, 0);
	uint16_t word = text_op(&t, TN_OP_RANDOM, TN_U32, seed, stream, element);
	uint16_t normal = text_op(&t, TN_OP_NORMAL, TN_F32, word, 0, 0);
	uint16_t half = text_constant(&t, TN_F32, tn_bits_of_f32(0.3f));
	/* Contraction would change the bits. */
	uint16_t product = text_op(&t, TN_OP_MUL, TN_F32, normal, half, 0);
	text_output(&t, text_op(&t, TN_OP_ADD, TN_F32, product, half, 0));
	text_output(&t, word);
	for (enum layout l = 0; l < LAYOUTS; l++) {
		if (!may_be_written(l))
			continue;
		struct tensor y = tensor_make(TN_F32, 2, shape, l);
		struct tensor w = tensor_make(TN_U32, 2, shape, CONTIGUOUS);
		run(&(struct job){.threads = four,
				  .program = &t.program,
				  .outputs = (struct tn_operand[]){y.operand, w.operand},
				  .kernels = &fused_kernels});
		tensor_free(&y);
		tensor_free(&w);
	}
}

/* x, y := y, x and similar: each output is the exact view of an input. */
static void outputs_may_be_inputs(void **state)
{
	const enum layout layouts[] = {CONTIGUOUS, EVERY_SECOND, REVERSED_AXES, NEGATIVE, PADDED};
	(void)state;
	for (unsigned s = 0; s < N_SHAPES; s++) {
		for (unsigned l = 0; l < 5; l++) {
			for (int variant = 0; variant < 4; variant++) {
				struct text t;
				struct tensor x = tensor_make(TN_F32, shapes[s].rank,
							      shapes[s].shape, layouts[l]);
				struct tensor y = tensor_make(TN_F32, shapes[s].rank,
							      shapes[s].shape, layouts[l]);
				tensor_fill(&x, 1);
				tensor_fill(&y, 2);
				text_init(&t, 2, 0);
				uint16_t a = text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0);
				uint16_t b = text_op(&t, TN_OP_INPUT, TN_F32, 1, 0, 0);
				if (variant == 0) { /* swap */
					text_output(&t, b);
					text_output(&t, a);
				} else if (variant == 1) { /* both from both */
					text_output(&t, text_op(&t, TN_OP_SUB, TN_F32, a, b, 0));
					text_output(&t, text_op(&t, TN_OP_SUB, TN_F32, b, a, 0));
				} else if (variant == 2) { /* x is read after it was made */
					uint16_t z = text_op(&t, TN_OP_SUB, TN_F32, a, b, 0);
					text_output(&t, z);
					uint16_t w = text_op(&t, TN_OP_MAX, TN_F32, z, a, 0);
					text_output(&t, text_op(&t, TN_OP_SUB, TN_F32, w, b, 0));
				} else { /* x := y, y := f(x, y) */
					uint16_t z = text_op(&t, TN_OP_SUB, TN_F32, a, b, 0);
					text_output(&t, b);
					text_output(&t, z);
				}
				run(&(struct job){
					.threads = four,
					.program = &t.program,
					.inputs = (struct tn_operand[]){x.operand, y.operand},
					.outputs = (struct tn_operand[]){x.operand, y.operand}});
				check_sentinels(&x);
				check_sentinels(&y);
				tensor_free(&x);
				tensor_free(&y);
			}
		}
	}
}

/* A program with the largest number of live values: each instruction uses the first and the
 * last. */
static void many_live_values_fit(void **state)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	const int64_t shape[] = {2, 1501};
	struct text t;
	(void)state;
	for (int layout = 0; layout < 2; layout++) {
		for (int k = 0; k < 2; k++) {
			tn_dtype dtype = dtypes[k];
			struct tensor x =
				tensor_make(dtype, 2, shape, layout ? REVERSED_AXES : CONTIGUOUS);
			struct tensor y = tensor_make(dtype, 2, shape, CONTIGUOUS);
			tensor_fill(&x, 4);
			text_init(&t, 1, 0);
			uint16_t value[128];
			value[0] = text_op(&t, TN_OP_INPUT, dtype, 0, 0, 0);
			for (int i = 1; i < 128; i++)
				value[i] = text_op(&t, TN_OP_SUB, dtype, value[i / 2], value[i - 1],
						   0);
			uint16_t sum = value[0];
			for (int i = 127; i > 0; i--)
				sum = text_op(&t, TN_OP_MAX, dtype, sum, value[i], 0);
			text_output(&t, sum);
			run(&(struct job){.program = &t.program,
					  .inputs = &x.operand,
					  .outputs = &y.operand});
			tensor_free(&x);
			tensor_free(&y);
		}
	}
}

static unsigned streamed;

static void count_stream(void *dst, const void *src, size_t n)
{
	streamed++;
	memcpy(dst, src, n);
}

static void slow_add(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	float *d = dst;
	const float *x = a, *y = b;
	(void)c;
	for (size_t i = 0; i < n; i++)
		d[i] = x[i] + y[i] + 1000;
}

static void a_plugins_kernels_are_used(void **state)
{
	const int64_t shape[] = {2100};
	tn_block_fn operations[(TN_OP_ADD + 1) * TN_COLUMNS] = {
		[TN_OP_ADD * TN_COLUMNS + TN_COLUMN_F32] = slow_add};
	struct tn_block_kernels kernels = {.struct_size = sizeof(kernels),
					   .n_operations = TN_OP_ADD + 1,
					   .n_columns = TN_COLUMNS,
					   .operations = operations};
	struct text t;
	(void)state;
	struct tensor x = tensor_make(TN_F32, 1, shape, CONTIGUOUS);
	struct tensor y = tensor_make(TN_F32, 1, shape, CONTIGUOUS);
	tensor_fill(&x, 1);
	text_init(&t, 1, 0);
	uint16_t a = text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0);
	uint16_t b = text_op(&t, TN_OP_ADD, TN_F32, a, a, 0);
	text_output(&t, text_op(&t, TN_OP_SUB, TN_F32, b, a, 0));
	struct job job = {.program = &t.program,
			  .inputs = &x.operand,
			  .outputs = &y.operand,
			  .kernels = &kernels};
	assert_ok(call(&job, 0, NULL));
	const float *u = (const float *)(x.memory + MARGIN), *v = (float *)(y.memory + MARGIN);
	for (int i = 0; i < 2100; i++)
		assert_true(v[i] == u[i] + u[i] + 1000 - u[i]);
	/* The author's version had fewer columns, so the rows are shorter and lack f64. */
	tn_block_fn narrow[(TN_OP_ADD + 1) * TN_COLUMN_F64] = {
		[TN_OP_ADD * TN_COLUMN_F64 + TN_COLUMN_F32] = slow_add};
	kernels.operations = narrow;
	kernels.n_columns = TN_COLUMN_F64;
	assert_ok(call(&job, 0, NULL));
	for (int i = 0; i < 2100; i++)
		assert_true(v[i] == u[i] + u[i] + 1000 - u[i]);
	/* A table that ends before its operations has none: nothing past its end is read. */
	kernels.struct_size = offsetof(struct tn_block_kernels, operations);
	kernels.stream_copy = (void (*)(void *, const void *, size_t))(uintptr_t)1;
	kernels.casts = (const tn_block_fn *)(uintptr_t)1;
	assert_ok(call(&job, 0, NULL));
	for (int i = 0; i < 2100; i++)
		assert_true(v[i] == u[i] + u[i] - u[i]);
	tensor_free(&x);
	tensor_free(&y);
}

/* Outputs far larger than the caches use stream_copy, and are correct. */
static void large_outputs_stream(void **state)
{
	const int64_t shape[] = {7000001};
	struct tn_block_kernels kernels = {.struct_size = sizeof(kernels),
					   .stream_copy = count_stream};
	struct text t;
	(void)state;
	struct tensor x = tensor_make(TN_F32, 1, shape, CONTIGUOUS);
	struct tensor y = tensor_make(TN_F32, 1, shape, CONTIGUOUS);
	float *u = (float *)(x.memory + MARGIN), *v = (float *)(y.memory + MARGIN);
	for (int64_t i = 0; i < shape[0]; i++)
		u[i] = (float)(i % 1000);
	text_init(&t, 1, 0);
	uint16_t a = text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0);
	text_output(&t, text_op(&t, TN_OP_ADD, TN_F32, a, a, 0));
	struct job job = {.program = &t.program,
			  .inputs = &x.operand,
			  .outputs = &y.operand,
			  .kernels = &kernels};
	streamed = 0;
	assert_ok(call(&job, 0, NULL));
	assert_true(streamed > 0);
	for (int64_t i = 0; i < shape[0]; i++)
		assert_true(v[i] == u[i] + u[i]);
	tensor_free(&x);
	tensor_free(&y);
}

/* The same bits from one thread and from four, on enough work for all. */
static void threads_do_not_change_bits(void **state)
{
	const int64_t shape[] = {300, 1111};
	struct text t;
	(void)state;
	struct tensor x = tensor_make(TN_F32, 2, shape, PADDED);
	struct tensor y = tensor_make(TN_F32, 2, shape, CONTIGUOUS);
	struct tensor z = tensor_make(TN_F32, 2, shape, CONTIGUOUS);
	tensor_fill(&x, 1);
	text_init(&t, 1, 0);
	uint16_t a = text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0);
	uint16_t b = text_op(&t, TN_OP_EXP, TN_F32, a, 0, 0);
	text_output(&t, text_op(&t, TN_OP_DIV, TN_F32, a, b, 0));
	struct job job = {
		.threads = one, .program = &t.program, .inputs = &x.operand, .outputs = &y.operand};
	assert_ok(call(&job, TN_DETERMINISTIC, NULL));
	job.threads = four;
	job.outputs = &z.operand;
	assert_ok(call(&job, 0, NULL));
	assert_memory_equal(y.memory, z.memory, y.bytes);
	tensor_free(&x);
	tensor_free(&y);
	tensor_free(&z);
}

/* ---- Refusals: each case spoils one thing in a call that works ---- */

struct spoiled {
	struct text text;
	struct tensor x, y;
	struct tn_operand inputs[2], outputs[1];
	struct tn_scalar scalar;
	struct tn_map_args args;
};

enum fault {
	NO_FAULT,
	NO_PROGRAM,
	SMALL_STRUCT,
	UNKNOWN_TAIL,
	UNKNOWN_FLAG,
	ACCUMULATES,
	MANY_INSTRUCTIONS,
	NO_OUTPUTS,
	MANY_INPUTS,
	NO_INPUT_ARRAY,
	UNKNOWN_OPCODE,
	VENDOR_OPCODE,
	UNKNOWN_DTYPE,
	NARROW_DTYPE,
	LATER_OPERAND,
	OWN_OPERAND,
	MIXED_DTYPES,
	EXP_OF_INTEGERS,
	NO_SUCH_INPUT,
	NO_SUCH_AXIS,
	OUTPUT_OF_NOTHING,
	COMPLEX_OPERAND,
	UNKNOWN_OPERAND,
	VENDOR_OPERAND,
	RANK_17,
	NULL_BUFFER,
	UNALIGNED,
	OTHER_RANK,
	OTHER_SHAPE,
	EMPTY_AXIS,
	NEGATIVE_AXIS,
	HUGE_SHAPE,
	STILL_OUTPUT,
	UNKNOWN_SCALAR,
	NULL_SCALAR,
	FAULTS,
};

static const tn_status answers[FAULTS] = {
	[NO_FAULT] = TN_OK,
	[NO_PROGRAM] = TN_INVALID_ARGUMENT,
	[SMALL_STRUCT] = TN_INVALID_ARGUMENT,
	[UNKNOWN_TAIL] = TN_UNSUPPORTED,
	[UNKNOWN_FLAG] = TN_UNSUPPORTED,
	[ACCUMULATES] = TN_UNSUPPORTED,
	[MANY_INSTRUCTIONS] = TN_UNSUPPORTED,
	[NO_OUTPUTS] = TN_INVALID_ARGUMENT,
	[MANY_INPUTS] = TN_UNSUPPORTED,
	[NO_INPUT_ARRAY] = TN_INVALID_ARGUMENT,
	[UNKNOWN_OPCODE] = TN_UNSUPPORTED,
	[VENDOR_OPCODE] = TN_UNSUPPORTED,
	[UNKNOWN_DTYPE] = TN_UNSUPPORTED,
	[NARROW_DTYPE] = TN_UNSUPPORTED,
	[LATER_OPERAND] = TN_INVALID_ARGUMENT,
	[OWN_OPERAND] = TN_INVALID_ARGUMENT,
	[MIXED_DTYPES] = TN_INVALID_ARGUMENT,
	[EXP_OF_INTEGERS] = TN_UNSUPPORTED,
	[NO_SUCH_INPUT] = TN_INVALID_ARGUMENT,
	[NO_SUCH_AXIS] = TN_INVALID_ARGUMENT,
	[OUTPUT_OF_NOTHING] = TN_INVALID_ARGUMENT,
	[COMPLEX_OPERAND] = TN_UNSUPPORTED,
	[UNKNOWN_OPERAND] = TN_UNSUPPORTED,
	[VENDOR_OPERAND] = TN_UNSUPPORTED,
	[RANK_17] = TN_UNSUPPORTED,
	[NULL_BUFFER] = TN_INVALID_ARGUMENT,
	[UNALIGNED] = TN_INVALID_ARGUMENT,
	[OTHER_RANK] = TN_SHAPE,
	[OTHER_SHAPE] = TN_SHAPE,
	[EMPTY_AXIS] = TN_INVALID_ARGUMENT,
	[NEGATIVE_AXIS] = TN_INVALID_ARGUMENT,
	[HUGE_SHAPE] = TN_INVALID_ARGUMENT,
	[STILL_OUTPUT] = TN_INVALID_ARGUMENT,
	[UNKNOWN_SCALAR] = TN_UNSUPPORTED,
	[NULL_SCALAR] = TN_INVALID_ARGUMENT,
};

/* y = (x + x2) * s */
static void make_spoiled(struct spoiled *s, struct tn_error_info *error)
{
	const int64_t shape[] = {3, 4};
	text_init(&s->text, 2, 1);
	text_op(&s->text, TN_OP_INPUT, TN_F32, 0, 0, 0);
	text_op(&s->text, TN_OP_INPUT, TN_F32, 1, 0, 0);
	text_op(&s->text, TN_OP_SCALAR, TN_F32, 0, 0, 0);
	text_op(&s->text, TN_OP_ADD, TN_F32, 0, 1, 0);
	text_op(&s->text, TN_OP_MUL, TN_F32, 3, 2, 0);
	text_output(&s->text, 4);
	s->x = tensor_make(TN_F32, 2, shape, CONTIGUOUS);
	s->y = tensor_make(TN_F32, 2, shape, CONTIGUOUS);
	tensor_fill(&s->x, 1);
	s->inputs[0] = s->inputs[1] = s->x.operand;
	s->outputs[0] = s->y.operand;
	s->scalar = (struct tn_scalar){.dtype = TN_F32, .bits = tn_bits_of_f32(2)};
	s->args = (struct tn_map_args){.call = plain_call(sizeof(s->args), error),
				       .program = &s->text.program,
				       .inputs = s->inputs,
				       .outputs = s->outputs,
				       .scalars = &s->scalar};
}

static void spoil_program(struct spoiled *s, enum fault fault)
{
	struct tn_program *program = &s->text.program;
	struct tn_instruction *code = s->text.code;
	switch (fault) {
	case MANY_INSTRUCTIONS:
		program->n_instructions = 257;
		break;
	case NO_OUTPUTS:
		program->n_outputs = 0;
		break;
	case MANY_INPUTS:
		program->n_inputs = TN_PROGRAM_MAX_INPUTS + 1;
		break;
	case UNKNOWN_OPCODE:
		code[3].op = 120;
		break;
	case VENDOR_OPCODE:
		code[3].op = TN_OP_VENDOR + 1;
		break;
	case UNKNOWN_DTYPE:
		code[3].dtype = 77;
		break;
	case NARROW_DTYPE:
		code[0].dtype = TN_F16;
		break;
	case LATER_OPERAND:
		code[3].b = 4;
		break;
	case OWN_OPERAND:
		code[3].b = 3;
		break;
	case MIXED_DTYPES:
		code[0].dtype = TN_I32;
		break;
	case EXP_OF_INTEGERS:
		code[0].dtype = code[3].dtype = TN_I32;
		code[3].op = TN_OP_EXP;
		break;
	case NO_SUCH_INPUT:
		code[1].a = 2;
		break;
	case NO_SUCH_AXIS:
		code[1] = (struct tn_instruction){.op = TN_OP_INDEX, .dtype = TN_I64, .a = 2};
		break;
	case OUTPUT_OF_NOTHING:
		s->text.outputs[0] = 5;
		break;
	default:
		break;
	}
}

static void spoil_call(struct spoiled *s, enum fault fault)
{
	switch (fault) {
	case NO_PROGRAM:
		s->args.program = NULL;
		break;
	case SMALL_STRUCT:
		s->args.call.struct_size = sizeof(s->args.call) - 8;
		break;
	case UNKNOWN_FLAG:
		s->args.call.flags = 1u << 20;
		break;
	case ACCUMULATES:
		s->args.call.flags = TN_ACCUMULATE;
		break;
	case NO_INPUT_ARRAY:
		s->args.inputs = NULL;
		break;
	case UNKNOWN_SCALAR:
		s->scalar.dtype = TN_C64;
		break;
	case NULL_SCALAR:
		s->scalar.on_device = 1;
		break;
	default:
		break;
	}
}

static void spoil_operand(struct spoiled *s, enum fault fault)
{
	switch (fault) {
	case COMPLEX_OPERAND:
		s->inputs[1].dtype = TN_C64;
		break;
	case UNKNOWN_OPERAND:
		s->outputs[0].dtype = 0;
		break;
	case VENDOR_OPERAND:
		s->outputs[0].dtype = TN_DTYPE_VENDOR + 3;
		break;
	case RANK_17:
		s->outputs[0].rank = s->inputs[0].rank = s->inputs[1].rank = 17;
		break;
	case NULL_BUFFER:
		s->inputs[0].buffer = 0;
		break;
	case UNALIGNED:
		s->inputs[0].offset += 2;
		break;
	case OTHER_RANK:
		s->inputs[1].rank = 1;
		break;
	case OTHER_SHAPE:
		s->inputs[1].shape[1] = 1;
		break;
	case EMPTY_AXIS:
		s->outputs[0].shape[0] = s->inputs[0].shape[0] = s->inputs[1].shape[0] = 0;
		break;
	case NEGATIVE_AXIS:
		s->outputs[0].shape[0] = s->inputs[0].shape[0] = s->inputs[1].shape[0] = -3;
		break;
	case HUGE_SHAPE:
		s->outputs[0].shape[0] = s->inputs[0].shape[0] = s->inputs[1].shape[0] = INT64_MAX;
		break;
	case STILL_OUTPUT:
		s->outputs[0].strides[0] = 0;
		break;
	default:
		break;
	}
}

static void bad_calls_are_refused_and_touch_nothing(void **state)
{
	(void)state;
	for (enum fault fault = 0; fault < FAULTS; fault++) {
		struct spoiled s;
		struct tn_error_info error = {0};
		struct {
			struct tn_map_args args;
			uint64_t more;
		} longer = {0};
		make_spoiled(&s, &error);
		spoil_program(&s, fault);
		spoil_call(&s, fault);
		spoil_operand(&s, fault);
		longer.args = s.args;
		if (fault == UNKNOWN_TAIL) {
			longer.args.call.struct_size = sizeof(longer);
			longer.more = 1;
		}
		tn_status status = tn_interpret_map(one, &longer.args, NULL);
		if (status != answers[fault])
			fail_msg("fault %d: %s, expected %s", (int)fault, tn_status_name(status),
				 tn_status_name(answers[fault]));
		if (status) {
			for (size_t i = 0; i < s.y.bytes; i++)
				assert_int_equal(s.y.memory[i], SENTINEL);
			if (fault != SMALL_STRUCT) {
				assert_string_equal(error.operation, "map");
				assert_int_equal(error.status, status);
				assert_true(error.text[0] != 0);
			}
		}
		tensor_free(&s.x);
		tensor_free(&s.y);
	}
}

static void a_dry_run_touches_nothing(void **state)
{
	struct spoiled s;
	(void)state;
	make_spoiled(&s, NULL);
	s.args.call.flags = TN_DRY_RUN;
	s.inputs[0].buffer = s.outputs[0].buffer = 0;
	assert_ok(tn_interpret_map(four, &s.args, NULL));
	tensor_free(&s.x);
	tensor_free(&s.y);
}

/* A caller built when the arguments ended before `scalars`. */
static void shorter_arguments_are_extended(void **state)
{
	struct spoiled s;
	(void)state;
	make_spoiled(&s, NULL);
	s.args.call.struct_size = offsetof(struct tn_map_args, scalars);
	assert_status(tn_interpret_map(one, &s.args, NULL), TN_INVALID_ARGUMENT);
	s.text.program.n_scalars = 0;
	s.text.code[2] = s.text.code[1];
	assert_ok(tn_interpret_map(one, &s.args, NULL));
	tensor_free(&s.x);
	tensor_free(&s.y);
}

static int set_up(void **state)
{
	(void)state;
	one = tn_threads_create(1);
	four = tn_threads_create(4);
	return !one || !four;
}

static int tear_down(void **state)
{
	(void)state;
	tn_threads_destroy(one);
	tn_threads_destroy(four);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_layouts_meet_all_layouts),
		cmocka_unit_test(all_dtypes_are_read_and_written),
		cmocka_unit_test(inputs_and_outputs_are_cast),
		cmocka_unit_test(indices_follow_the_shape),
		cmocka_unit_test(random_numbers_keep_their_bits),
		cmocka_unit_test(outputs_may_be_inputs),
		cmocka_unit_test(many_live_values_fit),
		cmocka_unit_test(a_rounded_product_is_not_contracted),
		cmocka_unit_test(a_plugins_kernels_are_used),
		cmocka_unit_test(large_outputs_stream),
		cmocka_unit_test(threads_do_not_change_bits),
		cmocka_unit_test(bad_calls_are_refused_and_touch_nothing),
		cmocka_unit_test(a_dry_run_touches_nothing),
		cmocka_unit_test(shorter_arguments_are_extended),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
