/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce against a loop over tn_op_evaluate, for every set of reduced axes.
 */
#include "interpret_reduce.h"

static const struct {
	unsigned rank;
	int64_t shape[4];
} shapes[] = {
	{1, {1}},           {1, {5}},           {1, {1023}},    {2, {1, 1}},       {2, {3, 5}},
	{2, {7, 300}},      {2, {300, 7}},      {2, {129, 65}}, {3, {4, 33, 5}},   {3, {2, 1, 9}},
	{4, {3, 2, 5, 70}}, {4, {2, 3, 17, 3}}, {2, {2, 3000}}, {4, {5, 4, 3, 2}},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

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

/* Every shape, every subset of its axes (including none), every layout. */
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
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		for (unsigned s = 3; s < N_SHAPES && tn_compute_dtype(dtype); s++) {
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
		/* Row r: the maximum at 30 r and again later; every third row has NaNs from 31 r
		 * on. */
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

/* x * w summed over the 3 by 3 windows of each plane, w one weight per channel and tap: a depthwise
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
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
