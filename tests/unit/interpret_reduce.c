/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce against a loop over tn_op_evaluate, for every set of reduced axes.
 */
#include "interpret_fixture.h"

#include <tenon/program.h>

static struct tn_threads *one, *four;

static const struct {
	unsigned rank;
	int64_t shape[4];
} shapes[] = {
	{1, {1}},           {1, {5}},           {1, {1023}},    {2, {1, 1}},       {2, {3, 5}},
	{2, {7, 300}},      {2, {300, 7}},      {2, {129, 65}}, {3, {4, 33, 5}},   {3, {2, 1, 9}},
	{4, {3, 2, 5, 70}}, {4, {2, 3, 17, 3}}, {2, {2, 3000}}, {4, {5, 4, 3, 2}},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

/* One reduction: programs, combiners, inputs whose last n_reduced axes are reduced. */
struct job {
	struct tn_threads *threads;
	const struct tn_program *prologue, *epilogue;
	const struct tn_operand *inputs, *epilogue_inputs, *outputs;
	const struct tn_scalar *scalars;
	uint32_t n_reduced, n_values;
	uint32_t combiners[4];
	const struct tn_block_kernels *kernels;
};

static tn_status call(const struct job *job, uint32_t flags, struct tn_error_info *error)
{
	struct tn_reduce_args args = {.call = plain_call(sizeof(args), error),
				      .prologue = job->prologue,
				      .epilogue = job->epilogue,
				      .inputs = job->inputs,
				      .epilogue_inputs = job->epilogue_inputs,
				      .outputs = job->outputs,
				      .scalars = job->scalars,
				      .n_reduced = job->n_reduced,
				      .n_values = job->n_values};
	memcpy(args.combiners, job->combiners, sizeof(args.combiners));
	args.call.flags = flags;
	return tn_interpret_reduce(job->threads, &args, job->kernels);
}

static tn_dtype accumulator_of(uint32_t combiner, tn_dtype value)
{
	return tn_is_floating(value) && combiner <= TN_REDUCE_MIN ? value : TN_I64;
}

/* An accumulator of the oracle: sums and products in double, whose error is far below f32's; f64 is
 * compared with the tolerance that its own error needs. */
struct oracle {
	uint64_t acc;     /* integers, largest and smallest */
	double sum;       /* floating sums and products */
	double magnitude; /* sum of the terms' magnitudes */
	uint64_t best;
	int64_t number;
	size_t count;
};

static void join(struct oracle *o, uint32_t combiner, tn_dtype dtype, uint64_t bits, int64_t number)
{
	static const uint16_t opcode[] = {0, TN_OP_ADD, TN_OP_MUL, TN_OP_MAX, TN_OP_MIN};
	tn_dtype acc = accumulator_of(combiner, dtype);
	double x = number_of_bits(dtype, bits), best = number_of_bits(dtype, o->best);
	int first = o->count++ == 0;
	o->magnitude += fabs(x);
	if (combiner >= TN_REDUCE_ARGMAX) {
		int beats = combiner == TN_REDUCE_ARGMAX ? x > best : x < best;
		if (first || (!isnan(best) && (beats || isnan(x)))) {
			o->best = bits;
			o->number = number;
		}
		return;
	}
	if (first)
		o->sum = x;
	else
		o->sum = combiner == TN_REDUCE_SUM ? o->sum + x : o->sum * x;
	bits = tn_cast_bits(dtype, acc, bits);
	o->acc = first ? bits : tn_op_evaluate(opcode[combiner], acc, acc, o->acc, bits, 0);
}

static uint64_t result_of(const struct oracle *o, uint32_t combiner, tn_dtype dtype)
{
	if (combiner >= TN_REDUCE_ARGMAX)
		return (uint64_t)o->number;
	if (tn_is_floating(dtype) && combiner <= TN_REDUCE_PRODUCT)
		return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(o->sum));
	return o->acc;
}

/* The error of a sum of n terms is at most that many half ulps of the sum of magnitudes, whatever the
 * order (Higham, ch. 4); of a product, relative to itself.  The prologue's last rounding may be
 * contracted away: one more. */
static double ulps_of(uint32_t combiner, size_t n, tn_dtype dtype)
{
	if (!tn_is_floating(dtype) || combiner > TN_REDUCE_PRODUCT)
		return 0;
	return 2 + (double)(n < 300 ? n : 300);
}

static void check_element(const struct job *job, const int64_t *kept, size_t element)
{
	const struct tn_program *program = job->prologue;
	const struct tn_operand *in = job->inputs;
	unsigned n_kept = in->rank - job->n_reduced;
	struct tn_operand space = {.rank = job->n_reduced};
	struct oracle oracles[4] = {{0}};
	uint64_t x[TN_PROGRAM_MAX_INPUTS], s[TN_PROGRAM_MAX_SCALARS] = {0}, y[4];
	memcpy(space.shape, in->shape + n_kept, job->n_reduced * sizeof(*space.shape));
	size_t n = tensor_count(&space);
	for (uint32_t k = 0; k < program->n_scalars; k++)
		s[k] = tn_cast_bits(job->scalars[k].dtype, tn_program_scalar_dtype(program, k),
				    job->scalars[k].bits);
	for (size_t r = 0; r < n; r++) {
		int64_t index[TN_MAX_RANK];
		memcpy(index, kept, n_kept * sizeof(*kept));
		index_of(&space, r, index + n_kept);
		for (uint32_t k = 0; k < program->n_inputs; k++) {
			/* An input that is never read has no dtype. */
			tn_dtype dtype = tn_program_input_dtype(program, k);
			x[k] = dtype ? tn_cast_bits(in[k].dtype, dtype, bits_at(&in[k], index)) : 0;
		}
		tn_evaluate_program(program, x, s, index, (int64_t)(element * n + r), y);
		for (uint32_t v = 0; v < job->n_values; v++)
			join(&oracles[v], job->combiners[v], tn_program_output_dtype(program, v),
			     y[v], (int64_t)r);
	}
	for (uint32_t v = 0; v < job->n_values; v++) {
		uint32_t combiner = job->combiners[v];
		tn_dtype value = tn_program_output_dtype(program, v);
		const struct tn_operand *out = &job->outputs[v];
		uint64_t expected = tn_cast_bits(accumulator_of(combiner, value), out->dtype,
						 result_of(&oracles[v], combiner, value));
		uint64_t found = bits_at(out, kept);
		double scale = combiner == TN_REDUCE_SUM ? oracles[v].magnitude : 0;
		if (!values_agree(out->dtype, found, expected, ulps_of(combiner, n, out->dtype),
				  scale))
			fail_msg("value %u (combiner %u, dtype %d), element %zu, %zu terms: %#llx, "
				 "not %#llx",
				 v, combiner, value, element, n, (unsigned long long)found,
				 (unsigned long long)expected);
	}
}

/* Without an epilogue: all elements. */
static void check_all(const struct job *job)
{
	size_t n = tensor_count(&job->outputs[0]);
	for (size_t e = 0; e < n; e++) {
		int64_t kept[TN_MAX_RANK];
		index_of(&job->outputs[0], e, kept);
		check_element(job, kept, e);
	}
}

/* The operand with the axes of `mask` last, and the others' shape. */
static struct tn_operand reduced_last(const struct tn_operand *o, unsigned mask, int64_t *kept,
				      unsigned *n_kept)
{
	struct tn_operand view = *o;
	unsigned k = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned d = 0; d < o->rank; d++) {
			if ((mask >> d & 1) != pass)
				continue;
			view.shape[k] = o->shape[d];
			view.strides[k] = o->strides[d];
			if (pass == 0)
				kept[k] = o->shape[d];
			k++;
		}
		if (pass == 0)
			*n_kept = k;
	}
	return view;
}

/* x (value 0) and x * x or x ^ x (value 1) of one input. */
static void make_prologue(struct text *t, tn_dtype dtype)
{
	text_init(t, 1, 0);
	uint16_t x = text_op(t, TN_OP_INPUT, dtype, 0, 0, 0);
	uint16_t op = dtype == TN_BOOL ? TN_OP_XOR : TN_OP_MUL;
	text_output(t, x);
	text_output(t, text_op(t, op, dtype, x, x, 0));
}

static void run_case(tn_dtype storage, unsigned s, unsigned mask, enum layout layout,
		     const uint32_t *combiners)
{
	struct text t;
	struct tensor x = tensor_make(storage, shapes[s].rank, shapes[s].shape, layout), y[2];
	int64_t kept[TN_MAX_RANK];
	unsigned n_kept;
	tn_dtype compute = tn_compute_dtype(storage);
	tensor_fill(&x, s + mask);
	struct tn_operand view = reduced_last(&x.operand, mask, kept, &n_kept);
	for (int v = 0; v < 2; v++)
		y[v] = tensor_make(accumulator_of(combiners[v], compute), n_kept, kept,
				   (s + mask) % 2 ? CONTIGUOUS : REVERSED_AXES);
	make_prologue(&t, compute);
	struct job job = {.threads = mask % 2 ? one : four,
			  .prologue = &t.program,
			  .inputs = &view,
			  .outputs = (struct tn_operand[]){y[0].operand, y[1].operand},
			  .n_reduced = shapes[s].rank - n_kept,
			  .n_values = 2,
			  .combiners = {combiners[0], combiners[1]},
			  .kernels = s % 2 ? &fused_kernels : NULL};
	struct tn_error_info error;
	assert_ok(call(&job, TN_DRY_RUN, &error));
	assert_ok(call(&job, 0, &error));
	check_all(&job);
	check_sentinels(&x);
	check_sentinels(&y[0]);
	check_sentinels(&y[1]);
	tensor_free(&x);
	tensor_free(&y[0]);
	tensor_free(&y[1]);
}

/* Every shape, every subset of its axes (none, too), every layout. */
static void every_set_of_axes_is_reduced(void **state)
{
	static const uint32_t combiners[][2] = {
		{TN_REDUCE_SUM, TN_REDUCE_SUM},
		{TN_REDUCE_MAX, TN_REDUCE_MIN},
		{TN_REDUCE_ARGMAX, TN_REDUCE_SUM},
		{TN_REDUCE_MIN, TN_REDUCE_ARGMIN},
	};
	(void)state;
	for (unsigned s = 0; s < N_SHAPES; s++) {
		for (unsigned mask = 0; mask < 1u << shapes[s].rank; mask++) {
			for (enum layout l = 0; l < LAYOUTS; l++)
				run_case(TN_F32, s, mask, l, combiners[(s + mask + l) % 4]);
		}
	}
}

static void every_dtype_is_reduced(void **state)
{
	static const uint32_t combiners[][2] = {
		{TN_REDUCE_SUM, TN_REDUCE_PRODUCT},
		{TN_REDUCE_MAX, TN_REDUCE_ARGMIN},
		{TN_REDUCE_ARGMAX, TN_REDUCE_MIN},
	};
	(void)state;
	for (tn_dtype dtype = TN_BOOL; dtype <= TN_F64; dtype++) {
		for (unsigned s = 3; s < N_SHAPES; s++) {
			/* Products of many halves overflow; keep those for integers, which wrap. */
			for (unsigned c = tn_is_floating(dtype) && s != 4; c < 3; c++) {
				for (unsigned mask = 1; mask < 1u << shapes[s].rank; mask += 2)
					run_case(dtype, s, mask,
						 (enum layout)((s + mask) % LAYOUTS), combiners[c]);
			}
		}
	}
}

/* ---- Ties and NaN ---- */

static void extreme(const float *x, int64_t rows, int64_t columns, int64_t row_stride,
		    int64_t column_stride, uint32_t combiner, int64_t *index)
{
	struct text t;
	struct tn_operand in = {.buffer = (uint64_t)x,
				.dtype = TN_F32,
				.rank = 2,
				.shape = {rows, columns},
				.strides = {row_stride, column_stride}};
	struct tn_operand out = {.buffer = (uint64_t)index,
				 .dtype = TN_I64,
				 .rank = 1,
				 .shape = {rows},
				 .strides = {1}};
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	struct job job = {.prologue = &t.program,
			  .inputs = &in,
			  .outputs = &out,
			  .n_reduced = 1,
			  .n_values = 1,
			  .combiners = {combiner}};
	assert_ok(call(&job, 0, NULL));
}

static void the_lowest_index_and_the_first_nan_win(void **state)
{
	enum { ROWS = 40, COLUMNS = 1500 };
	static float x[ROWS * COLUMNS], transposed[ROWS * COLUMNS];
	int64_t found[ROWS];
	(void)state;
	for (int r = 0; r < ROWS; r++) {
		for (int c = 0; c < COLUMNS; c++)
			x[r * COLUMNS + c] = 1;
		/* Row r: the largest at 30 r and later again; every third row has NaNs from 31 r on. */
		x[r * COLUMNS + 30 * r] = x[r * COLUMNS + 1499] = x[r * COLUMNS + 30 * r + 7] = 2;
		if (r % 3 == 0)
			x[r * COLUMNS + 31 * r] = x[r * COLUMNS + 1498] = NAN;
	}
	for (int i = 0; i < ROWS * COLUMNS; i++)
		transposed[i % COLUMNS * ROWS + i / COLUMNS] = x[i];
	for (int way = 0; way < 2; way++) {
		if (way == 0)
			extreme(x, ROWS, COLUMNS, COLUMNS, 1, TN_REDUCE_ARGMAX, found);
		else
			extreme(transposed, ROWS, COLUMNS, 1, ROWS, TN_REDUCE_ARGMAX, found);
		for (int r = 0; r < ROWS; r++)
			assert_int_equal(found[r], r % 3 == 0 ? 31 * r : 30 * r);
	}
	for (int i = 0; i < ROWS * COLUMNS; i++)
		x[i] = -x[i];
	extreme(x, ROWS, COLUMNS, COLUMNS, 1, TN_REDUCE_ARGMIN, found);
	for (int r = 0; r < ROWS; r++)
		assert_int_equal(found[r], r % 3 == 0 ? 31 * r : 30 * r);
}

static void a_nan_is_the_largest_and_the_smallest(void **state)
{
	const int64_t shape[] = {3, 2000};
	(void)state;
	for (uint32_t combiner = TN_REDUCE_MAX; combiner <= TN_REDUCE_MIN; combiner++) {
		for (unsigned axis = 0; axis < 2; axis++) {
			struct text t;
			int64_t kept[2];
			unsigned n_kept;
			struct tensor x = tensor_make(TN_F32, 2, shape, CONTIGUOUS);
			tensor_fill(&x, 1);
			((float *)(x.memory + MARGIN))[2000 + 777] = NAN;
			struct tn_operand view =
				reduced_last(&x.operand, 1u << axis, kept, &n_kept);
			struct tensor y = tensor_make(TN_F32, n_kept, kept, CONTIGUOUS);
			text_init(&t, 1, 0);
			text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
			struct job job = {.prologue = &t.program,
					  .inputs = &view,
					  .outputs = &y.operand,
					  .n_reduced = 1,
					  .n_values = 1,
					  .combiners = {combiner}};
			assert_ok(call(&job, 0, NULL));
			const float *v = (const float *)(y.memory + MARGIN);
			for (int i = 0; i < kept[0]; i++)
				assert_int_equal(isnan(v[i]), i == (axis == 0 ? 777 : 1));
			tensor_free(&x);
			tensor_free(&y);
		}
	}
}

/* ---- Windows ---- */

/* x * w summed over the 3 by 3 windows of each plane, w one weight a channel and tap: a depthwise
 * convolution; and the largest of each window. */
static void windows_are_reduced(int64_t stride, int64_t width)
{
	enum { CHANNELS = 3, IMAGES = 2 };
	const int64_t plane[] = {IMAGES, CHANNELS, 11, width};
	const int64_t taps[] = {CHANNELS, 3, 3};
	int64_t rows = (11 - 3) / stride + 1, columns = (width - 3) / stride + 1;
	struct tensor x = tensor_make(TN_F32, 4, plane, CONTIGUOUS);
	struct tensor w = tensor_make(TN_F32, 3, taps, CONTIGUOUS);
	const int64_t result[] = {IMAGES, CHANNELS, rows, columns};
	struct tensor y = tensor_make(TN_F32, 4, result, CONTIGUOUS);
	struct tensor z = tensor_make(TN_F32, 4, result, PADDED);
	struct tensor k = tensor_make(TN_I32, 4, result, CONTIGUOUS);
	struct text t;
	tensor_fill(&x, 1);
	tensor_fill(&w, 2);
	struct tn_operand inputs[2] = {x.operand, w.operand};
	inputs[0].rank = inputs[1].rank = 6;
	memcpy(inputs[0].shape, (int64_t[]){IMAGES, CHANNELS, rows, columns, 3, 3}, 48);
	memcpy(inputs[1].shape, inputs[0].shape, 48);
	memcpy(inputs[0].strides,
	       (int64_t[]){CHANNELS * 11 * width, 11 * width, stride * width, stride, width, 1},
	       48);
	memcpy(inputs[1].strides, (int64_t[]){0, 9, 0, 0, 3, 1}, 48);
	text_init(&t, 2, 0);
	uint16_t a = text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0);
	uint16_t b = text_op(&t, TN_OP_INPUT, TN_F32, 1, 0, 0);
	text_output(&t, text_op(&t, TN_OP_MUL, TN_F32, a, b, 0));
	text_output(&t, a);
	text_output(&t, a);
	struct job job = {.threads = four,
			  .prologue = &t.program,
			  .inputs = inputs,
			  .outputs = (struct tn_operand[]){y.operand, z.operand, k.operand},
			  .n_reduced = 2,
			  .n_values = 3,
			  .combiners = {TN_REDUCE_SUM, TN_REDUCE_MAX, TN_REDUCE_ARGMAX},
			  .kernels = stride == 1 ? &fused_kernels : NULL};
	assert_ok(call(&job, 0, NULL));
	check_all(&job);
	check_sentinels(&y);
	check_sentinels(&z);
	check_sentinels(&k);
	tensor_free(&x);
	tensor_free(&w);
	tensor_free(&y);
	tensor_free(&z);
	tensor_free(&k);
}

static void overlapping_windows_are_reduced(void **state)
{
	(void)state;
	windows_are_reduced(1, 11);
	windows_are_reduced(2, 11);
	windows_are_reduced(1, 700);
	windows_are_reduced(2, 700);
	windows_are_reduced(1, 3);
}

/* ---- Epilogues ---- */

/* Mean, and variance plus a value of each kept element: sums of x and x^2, then a program over both
 * accumulators, a broadcast input, a scalar and the index. */
static void epilogues_see_accumulators_and_inputs(void **state)
{
	(void)state;
	for (unsigned s = 3; s < N_SHAPES; s++) {
		for (unsigned mask = 1; mask < 1u << shapes[s].rank; mask++) {
			struct text t, e;
			int64_t kept[TN_MAX_RANK];
			unsigned n_kept;
			struct tensor x = tensor_make(TN_F32, shapes[s].rank, shapes[s].shape,
						      (enum layout)(mask % LAYOUTS));
			tensor_fill(&x, 1);
			struct tn_operand view = reduced_last(&x.operand, mask, kept, &n_kept);
			struct tensor w = tensor_make(TN_I16, n_kept, kept, BROADCAST_ROW);
			struct tensor mean = tensor_make(TN_F32, n_kept, kept, PADDED);
			struct tensor other = tensor_make(TN_F64, n_kept, kept, REVERSED_AXES);
			tensor_fill(&w, 2);
			double n =
				(double)tensor_count(&view) / (double)tensor_count(&mean.operand);
			struct tn_scalar scalar = {.dtype = TN_F64, .bits = tn_bits_of_f64(1 / n)};
			make_prologue(&t, TN_F32);
			/* mean = s0 / n;  other = (s1 / n - mean^2) + w + element */
			text_init(&e, 3, 1);
			uint16_t s0 = text_op(&e, TN_OP_INPUT, TN_F32, 0, 0, 0);
			uint16_t s1 = text_op(&e, TN_OP_INPUT, TN_F32, 1, 0, 0);
			uint16_t iw = text_op(&e, TN_OP_INPUT, TN_F32, 2, 0, 0);
			uint16_t in = text_op(&e, TN_OP_SCALAR, TN_F32, 0, 0, 0);
			uint16_t m = text_op(&e, TN_OP_MUL, TN_F32, s0, in, 0);
			uint16_t q = text_op(&e, TN_OP_MUL, TN_F32, s1, in, 0);
			uint16_t mm = text_op(&e, TN_OP_MUL, TN_F32, m, m, 0);
			uint16_t var = text_op(&e, TN_OP_SUB, TN_F32, q, mm, 0);
			uint16_t element = text_op(&e, TN_OP_ELEMENT, TN_I64, 0, 0, 0);
			uint16_t at = text_op(&e, TN_OP_CAST, TN_F32, element, 0, 0);
			uint16_t sum = text_op(&e, TN_OP_ADD, TN_F32, var, iw, 0);
			text_output(&e, m);
			text_output(&e, text_op(&e, TN_OP_ADD, TN_F32, sum, at, 0));
			struct tn_reduce_args args = {
				.call = plain_call(sizeof(args), NULL),
				.prologue = &t.program,
				.epilogue = &e.program,
				.inputs = &view,
				.epilogue_inputs = &w.operand,
				.outputs = (struct tn_operand[]){mean.operand, other.operand},
				.epilogue_scalars = &scalar,
				.n_reduced = shapes[s].rank - n_kept,
				.n_values = 2,
				.combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM}};
			assert_ok(tn_interpret_reduce(four, &args, NULL));
			size_t count = tensor_count(&mean.operand);
			for (size_t i = 0; i < count; i++) {
				int64_t index[TN_MAX_RANK];
				double total = 0, squares = 0;
				index_of(&mean.operand, i, index);
				for (size_t r = 0; r < (size_t)n; r++) {
					struct tn_operand space = {.rank = args.n_reduced};
					memcpy(space.shape, view.shape + n_kept,
					       args.n_reduced * sizeof(int64_t));
					index_of(&space, r, index + n_kept);
					double v = number_of_bits(TN_F32, bits_at(&view, index));
					total += v;
					squares += v * v;
				}
				double expected_mean = total / n;
				double expected_other =
					squares / n - expected_mean * expected_mean +
					number_of_bits(TN_I16, bits_at(&w.operand, index)) +
					(double)i;
				/* |x| <= 4.5: at most 300 half ulps of sums of magnitudes, here
				 * divided by n; and the roundings of the epilogue at its sizes. */
				double u = 0x1p-24;
				assert_close(number_of_bits(TN_F32, bits_at(&mean.operand, index)),
					     expected_mean, 310 * u * 4.5);
				assert_close(number_of_bits(TN_F64, bits_at(&other.operand, index)),
					     expected_other,
					     650 * u * 21 + 4 * u * ((double)i + 9));
			}
			check_sentinels(&mean);
			check_sentinels(&other);
			tensor_free(&x);
			tensor_free(&w);
			tensor_free(&mean);
			tensor_free(&other);
		}
	}
}

/* The prologue's indices are those of all axes, reduced ones last. */
static void indices_and_scalars_reach_the_prologue(void **state)
{
	(void)state;
	for (unsigned s = 3; s < N_SHAPES; s++) {
		for (unsigned mask = 0; mask < 1u << shapes[s].rank; mask++) {
			struct text t;
			int64_t kept[TN_MAX_RANK];
			unsigned n_kept;
			struct tensor x =
				tensor_make(TN_F32, shapes[s].rank, shapes[s].shape, CONTIGUOUS);
			tensor_fill(&x, 1);
			struct tn_operand view = reduced_last(&x.operand, mask, kept, &n_kept);
			struct tensor y = tensor_make(TN_I64, n_kept, kept, CONTIGUOUS);
			struct tn_scalar scalar = {.dtype = TN_I32, .bits = 1000003};
			text_init(&t, 1, 1);
			uint16_t sum = text_op(&t, TN_OP_ELEMENT, TN_I64, 0, 0, 0);
			uint16_t factor = text_op(&t, TN_OP_SCALAR, TN_I64, 0, 0, 0);
			for (unsigned axis = 0; axis < view.rank; axis++) {
				uint16_t i = text_op(&t, TN_OP_INDEX, TN_I64, axis, 0, 0);
				sum = text_op(&t, TN_OP_MUL, TN_I64, sum, factor, 0);
				sum = text_op(&t, TN_OP_ADD, TN_I64, sum, i, 0);
			}
			text_output(&t, sum);
			struct job job = {.threads = four,
					  .prologue = &t.program,
					  .inputs = &view,
					  .outputs = &y.operand,
					  .scalars = &scalar,
					  .n_reduced = shapes[s].rank - n_kept,
					  .n_values = 1,
					  .combiners = {TN_REDUCE_SUM}};
			assert_ok(call(&job, 0, NULL));
			check_all(&job);
			tensor_free(&x);
			tensor_free(&y);
		}
	}
}

/* ---- Large sums ---- */

/* 3 million ones and a bit: a running f32 sum would stand still at 2^24, and miss the small parts
 * long before.  Both ways, one thread and four, the same bits. */
static void large_sums_are_accurate_and_repeat(void **state)
{
	static const int64_t extents[][2] = {
		{1, 3000000}, {3000000, 1}, {3, 1000000}, {1000, 3000}, {1000000, 3}};
	(void)state;
	for (unsigned c = 0; c < 5; c++) {
		for (unsigned axis = 0; axis < 2; axis++) {
			struct text t;
			int64_t kept[2];
			unsigned n_kept;
			struct tensor x = tensor_make(TN_F32, 2, extents[c], CONTIGUOUS);
			float *v = (float *)(x.memory + MARGIN);
			for (int64_t i = 0; i < 3000000; i++)
				v[i] = 1.0f + (float)(i % 7) * 0.01f;
			struct tn_operand view =
				reduced_last(&x.operand, 1u << axis, kept, &n_kept);
			struct tensor y = tensor_make(TN_F32, n_kept, kept, CONTIGUOUS);
			struct tensor z = tensor_make(TN_F32, n_kept, kept, CONTIGUOUS);
			text_init(&t, 1, 0);
			text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
			struct job job = {.threads = one,
					  .prologue = &t.program,
					  .inputs = &view,
					  .outputs = &y.operand,
					  .n_reduced = 1,
					  .n_values = 1,
					  .combiners = {TN_REDUCE_SUM}};
			assert_ok(call(&job, TN_DETERMINISTIC, NULL));
			job.threads = four;
			job.outputs = &z.operand;
			assert_ok(call(&job, TN_DETERMINISTIC, NULL));
			assert_memory_equal(y.memory, z.memory, y.bytes);
			for (int64_t i = 0; i < kept[0] && i < 20; i++) {
				double sum = 0;
				for (int64_t r = 0; r < extents[c][axis]; r++)
					sum += v[axis == 0 ? r * kept[0] + i
							   : i * extents[c][1] + r];
				/* The bound that interpret.h states. */
				assert_close(((float *)(y.memory + MARGIN))[i], sum,
					     300 * 0x1p-24 * sum);
			}
			tensor_free(&x);
			tensor_free(&y);
			tensor_free(&z);
		}
	}
}

/* Many kept elements, each of 8000 terms that a running sum would lose a part of one by one: above 4096
 * an ulp is 2^-11, and adding 1 + 2^-13 adds 1, which after 8000 terms is 1000 half ulps off.  Enough
 * groups that none is cut into chunks, so that all levels of the sum are used.  The kept axis has
 * stride 0 to save memory. */
static void sums_of_rows_have_three_levels(void **state)
{
	enum { KEPT = 40 * 1024, TERMS = 8000, APART = 16 };
	static float x[TERMS * APART], y[KEPT];
	struct text t;
	double sum = 0;
	(void)state;
	for (int i = 0; i < TERMS; i++) {
		x[i * APART] = 1 + 0x1p-13f;
		sum += 1 + 0x1p-13;
	}
	struct tn_operand in = {.buffer = (uint64_t)x,
				.dtype = TN_F32,
				.rank = 2,
				.shape = {KEPT, TERMS},
				.strides = {0, APART}};
	struct tn_operand out = {
		.buffer = (uint64_t)y, .dtype = TN_F32, .rank = 1, .shape = {KEPT}, .strides = {1}};
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	struct job job = {.threads = four,
			  .prologue = &t.program,
			  .inputs = &in,
			  .outputs = &out,
			  .n_reduced = 1,
			  .n_values = 1,
			  .combiners = {TN_REDUCE_SUM}};
	assert_ok(call(&job, 0, NULL));
	for (int i = 0; i < KEPT; i++)
		assert_close(y[i], sum, 300 * 0x1p-24 * sum);
}

/* Rows of three elements are taken many at a time: with numbers of rows round those at which the last
 * tile is a low one, and at which a run of additions begins with it.  All sums are exact. */
static void short_rows_are_added_in_piles(void **state)
{
	enum { GROUPS = 40, MOST = 43660, ROW = 3 };
	static const int64_t rows[] = {1,     5,     340,   341,   342,   689,
				       21823, 21824, 21829, 43647, 43648, 43653};
	static float x[MOST * ROW], y[GROUPS * ROW];
	struct text t;
	(void)state;
	for (int i = 0; i < MOST * ROW; i++)
		x[i] = (float)(i % ROW + 1) * (i % 2 ? 1 : 3);
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		double sum[ROW] = {0};
		for (int64_t i = 0; i < rows[k] * ROW; i++)
			sum[i % ROW] += (double)x[i];
		struct tn_operand in = {.buffer = (uint64_t)x,
					.dtype = TN_F32,
					.rank = 3,
					.shape = {GROUPS, ROW, rows[k]},
					.strides = {0, 1, ROW}};
		struct tn_operand out = {.buffer = (uint64_t)y,
					 .dtype = TN_F32,
					 .rank = 2,
					 .shape = {GROUPS, ROW},
					 .strides = {ROW, 1}};
		struct job job = {.threads = four,
				  .prologue = &t.program,
				  .inputs = &in,
				  .outputs = &out,
				  .n_reduced = 1,
				  .n_values = 1,
				  .combiners = {TN_REDUCE_SUM}};
		assert_ok(call(&job, 0, NULL));
		for (int i = 0; i < GROUPS * ROW; i++)
			assert_close(y[i], sum[i % ROW], 0);
	}
}

/* ---- Refusals ---- */

enum fault {
	NO_FAULT,
	NO_PROLOGUE,
	NO_VALUES,
	FIVE_VALUES,
	VALUES_DIFFER,
	UNKNOWN_COMBINER,
	ZERO_COMBINER,
	MANY_REDUCED,
	NO_INPUTS,
	NO_OUTPUT_ARRAY,
	OUTPUT_RANK,
	OUTPUT_SHAPE,
	STILL_OUTPUT,
	COMPLEX_INPUT,
	SHORT_EPILOGUE,
	BAD_EPILOGUE,
	EPILOGUE_WITHOUT_INPUTS,
	EPILOGUE_AXIS,
	FAULTS,
};

static const tn_status answers[FAULTS] = {
	[NO_FAULT] = TN_OK,
	[NO_PROLOGUE] = TN_INVALID_ARGUMENT,
	[NO_VALUES] = TN_INVALID_ARGUMENT,
	[FIVE_VALUES] = TN_INVALID_ARGUMENT,
	[VALUES_DIFFER] = TN_INVALID_ARGUMENT,
	[UNKNOWN_COMBINER] = TN_UNSUPPORTED,
	[ZERO_COMBINER] = TN_UNSUPPORTED,
	[MANY_REDUCED] = TN_INVALID_ARGUMENT,
	[NO_INPUTS] = TN_INVALID_ARGUMENT,
	[NO_OUTPUT_ARRAY] = TN_INVALID_ARGUMENT,
	[OUTPUT_RANK] = TN_SHAPE,
	[OUTPUT_SHAPE] = TN_SHAPE,
	[STILL_OUTPUT] = TN_INVALID_ARGUMENT,
	[COMPLEX_INPUT] = TN_UNSUPPORTED,
	[SHORT_EPILOGUE] = TN_INVALID_ARGUMENT,
	[BAD_EPILOGUE] = TN_UNSUPPORTED,
	[EPILOGUE_WITHOUT_INPUTS] = TN_INVALID_ARGUMENT,
	[EPILOGUE_AXIS] = TN_INVALID_ARGUMENT,
};

struct spoiled {
	struct text prologue, epilogue;
	struct tn_operand input, output;
	struct tn_reduce_args args;
};

static void spoil(struct spoiled *s, enum fault fault)
{
	switch (fault) {
	case NO_PROLOGUE:
		s->args.prologue = NULL;
		break;
	case NO_VALUES:
		s->args.n_values = 0;
		break;
	case FIVE_VALUES:
		s->args.n_values = 5;
		break;
	case VALUES_DIFFER:
		s->args.n_values = 2;
		break;
	case UNKNOWN_COMBINER:
		s->args.combiners[0] = 7;
		break;
	case ZERO_COMBINER:
		s->args.combiners[0] = 0;
		break;
	case MANY_REDUCED:
		s->args.n_reduced = 3;
		break;
	case NO_INPUTS:
		s->prologue.program.n_inputs = 0;
		break;
	case NO_OUTPUT_ARRAY:
		s->args.outputs = NULL;
		break;
	case OUTPUT_RANK:
		s->output.rank = 0;
		break;
	case OUTPUT_SHAPE:
		s->output.shape[0] = 4;
		break;
	case STILL_OUTPUT:
		s->output.strides[0] = 0;
		break;
	case COMPLEX_INPUT:
		s->input.dtype = TN_C64;
		break;
	case SHORT_EPILOGUE:
		s->args.epilogue = &s->epilogue.program;
		s->epilogue.program.n_inputs = 0;
		break;
	case BAD_EPILOGUE:
		s->args.epilogue = &s->epilogue.program;
		s->epilogue.code[0].op = 999;
		break;
	case EPILOGUE_WITHOUT_INPUTS:
		s->args.epilogue = &s->epilogue.program;
		s->epilogue.program.n_inputs = 2;
		break;
	case EPILOGUE_AXIS: /* only kept axes have an index there */
		s->args.epilogue = &s->epilogue.program;
		text_op(&s->epilogue, TN_OP_INDEX, TN_I64, 1, 0, 0);
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
		float x[12] = {0}, y[3] = {42, 42, 42};
		text_init(&s.prologue, 1, 0);
		text_output(&s.prologue, text_op(&s.prologue, TN_OP_INPUT, TN_F32, 0, 0, 0));
		text_init(&s.epilogue, 1, 0);
		text_output(&s.epilogue, text_op(&s.epilogue, TN_OP_INPUT, TN_F32, 0, 0, 0));
		s.input = (struct tn_operand){.buffer = (uint64_t)x,
					      .dtype = TN_F32,
					      .rank = 2,
					      .shape = {3, 4},
					      .strides = {4, 1}};
		s.output = (struct tn_operand){.buffer = (uint64_t)y,
					       .dtype = TN_F32,
					       .rank = 1,
					       .shape = {3},
					       .strides = {1}};
		s.args = (struct tn_reduce_args){.call = plain_call(sizeof(s.args), &error),
						 .prologue = &s.prologue.program,
						 .inputs = &s.input,
						 .outputs = &s.output,
						 .n_reduced = 1,
						 .n_values = 1,
						 .combiners = {TN_REDUCE_SUM}};
		spoil(&s, fault);
		tn_status status = tn_interpret_reduce(one, &s.args, NULL);
		if (status != answers[fault])
			fail_msg("fault %d: %s, expected %s", (int)fault, tn_status_name(status),
				 tn_status_name(answers[fault]));
		assert_true(y[0] == (status ? 42 : 0));
		if (status)
			assert_string_equal(error.operation, "reduce");
	}
}

/* Partial results of a reduction that is cut into chunks may find no memory. */
static int out_of_memory;
void *__real_tn_mem_aligned(size_t size, size_t alignment);
void *__wrap_tn_mem_aligned(size_t size, size_t alignment);

void *__wrap_tn_mem_aligned(size_t size, size_t alignment)
{
	return out_of_memory ? NULL : __real_tn_mem_aligned(size, alignment);
}

static void memory_may_run_out(void **state)
{
	const int64_t shape[] = {1000000};
	struct text t;
	float y = 42;
	(void)state;
	struct tensor x = tensor_make(TN_F32, 1, shape, CONTIGUOUS);
	memset(x.memory, 0, x.bytes);
	struct tn_operand out = {.buffer = (uint64_t)&y, .dtype = TN_F32};
	struct tn_error_info error;
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	struct job job = {.threads = four,
			  .prologue = &t.program,
			  .inputs = &x.operand,
			  .outputs = &out,
			  .n_reduced = 1,
			  .n_values = 1,
			  .combiners = {TN_REDUCE_SUM}};
	out_of_memory = 1;
	assert_status(call(&job, 0, &error), TN_OUT_OF_MEMORY);
	out_of_memory = 0;
	assert_true(y == 42);
	assert_ok(call(&job, 0, &error));
	assert_true(y == 0);
	tensor_free(&x);
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
		cmocka_unit_test(every_set_of_axes_is_reduced),
		cmocka_unit_test(every_dtype_is_reduced),
		cmocka_unit_test(the_lowest_index_and_the_first_nan_win),
		cmocka_unit_test(a_nan_is_the_largest_and_the_smallest),
		cmocka_unit_test(overlapping_windows_are_reduced),
		cmocka_unit_test(epilogues_see_accumulators_and_inputs),
		cmocka_unit_test(indices_and_scalars_reach_the_prologue),
		cmocka_unit_test(large_sums_are_accurate_and_repeat),
		cmocka_unit_test(sums_of_rows_have_three_levels),
		cmocka_unit_test(short_rows_are_added_in_piles),
		cmocka_unit_test(bad_calls_are_refused_and_touch_nothing),
		cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
