/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layer operations: gradients in half precision and of empty batches (autograd_gradients.c compares
 * them with differences); masks of dropped parts; refused calls.
 */
#include "gradient_rows.h"

static tn_context *context;

static void open_context(const char *backend)
{
	struct tn_error_info error;
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	assert_ok(tn_context_open(&options, &context, &error));
}

/* ---- Half precision --------------------------------------------------------------------------*/

enum { ROOM = 512 };

/* The function's value and the gradients of its inputs, one after the other.  Inputs are those
 * rounded to `narrow`. */
static size_t values_of(const struct gradient_trial *t, tn_dtype narrow, tn_dtype dtype,
			double *values)
{
	tn_array *x[GRADIENT_INPUTS];
	tn_tape *tape = tn_tape_begin(context);
	for (int i = 0; i < t->n; i++) {
		x[i] = tn_astype(tn_astype(gradient_array(t, i, t->x[i]), narrow), dtype);
		assert_ok(tn_tape_watch(tape, x[i]));
	}
	tn_array *y = t->row->f(NULL, x);
	if (!y)
		fail_msg("%s in %s: %s", t->row->name, tn_dtype_name(dtype),
			 tn_error(context)->text);
	assert_int_equal(tn_array_dtype(y), dtype);
	assert_ok(tn_item(y, values));
	assert_ok(tn_tape_backward(tape, y, NULL));
	size_t n = 1;
	for (int i = 0; i < t->n; i++) {
		size_t size = (size_t)t->size[i];
		tn_array *g = tn_tape_gradient(tape, x[i]);
		assert_int_equal(tn_array_dtype(g), dtype);
		assert_true(n + size <= ROOM);
		assert_ok(tn_to_host(tn_astype(g, TN_F64), values + n, size * sizeof(*values)));
		n += size;
	}
	tn_tape_end(tape);
	return n;
}

/* Each of some ten roundings to 11 or 8 bits counts relative to the largest value. */
static void check_half(const struct gradient_row *row, tn_dtype dtype, double epsilon)
{
	static double expected[ROOM], found[ROOM];
	static struct gradient_trial t;
	assert_ok(tn_scope_begin(context));
	gradient_begin(&t, row, context, TN_F64);
	size_t n = values_of(&t, dtype, TN_F32, expected);
	assert_int_equal(values_of(&t, dtype, dtype, found), n);
	double largest = 1;
	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(expected[i]));
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(found[i] - expected[i]) <= 16 * epsilon * largest))
			fail_msg("%s in %s: value %zu: expected %g, found %g", row->name,
				 tn_dtype_name(dtype), i, expected[i], found[i]);
	}
	tn_scope_end(context, NULL);
}

static void halves_agree_with_f32(void **state)
{
	static const char *const backends[] = {"reference!", "auto"};
	(void)state;
	for (int k = 0; k < 2; k++) {
		open_context(backends[k]);
		for (int i = 0; i < GRADIENT_ROWS; i++) {
			if (!gradient_rows[i].is_layer)
				continue;
			check_half(&gradient_rows[i], TN_F16, 0x1p-11);
			check_half(&gradient_rows[i], TN_BF16, 0x1p-8);
		}
		tn_context_close(context);
	}
}

/* ---- Weights in double -----------------------------------------------------------------------*/

/* A ramp 0, 1, ... from left to right stays one, and a constant the same, to the last bits. */
static void planes_in_double_are_exact(void **state)
{
	double ramp[28], found[3 * 11];
	(void)state;
	open_context("reference!");
	assert_ok(tn_scope_begin(context));
	for (int i = 0; i < 28; i++)
		ramp[i] = i % 7;
	tn_array *x = tn_from_host(context, TN_F64, 4, (int64_t[]){1, 1, 4, 7}, ramp);
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.mode = TN_INTERPOLATE_BILINEAR;
	interpolate.size[0] = 3;
	interpolate.size[1] = 11;
	interpolate.align_corners = 1;
	tn_array *y = tn_interpolate(x, &interpolate);
	assert_ok(tn_to_host(y, found, sizeof(found)));
	for (int i = 0; i < 33; i++)
		assert_close(found[i], i % 11 * 6.0 / 10.0, 1e-14);
	y = tn_adaptive_avg_pool2d(x, 3, 3);
	assert_ok(tn_to_host(y, found, 9 * sizeof(double)));
	for (int i = 0; i < 9; i++)
		assert_close(found[i], 1 + 2 * (i % 3), 1e-14);
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* ---- Nearest ---------------------------------------------------------------------------------*/

/* The cell that PyTorch takes: of once and twice the length whatever the scale. */
static int64_t nearest_cell(int64_t i, int64_t n, int64_t length, double scale)
{
	if (n == length || n == 2 * length)
		return i * length / n;
	const int64_t cell = (int64_t)floorf((float)i * (float)(1 / scale));
	return cell < length ? cell : length - 1;
}

static void check_nearest(int64_t height, int64_t width, double scale)
{
	float cells[5 * 7], found[20 * 28];
	const int64_t rows = (int64_t)floor((double)height * scale);
	const int64_t columns = (int64_t)floor((double)width * scale);
	struct tn_interpolate_options options = tn_interpolate_defaults();
	options.scale[0] = options.scale[1] = scale;
	for (int64_t i = 0; i < height * width; i++)
		cells[i] = (float)i;
	assert_ok(tn_scope_begin(context));
	const tn_array *y = tn_interpolate(
		tn_from_host(context, TN_F32, 4, (int64_t[]){1, 1, height, width}, cells),
		&options);
	assert_non_null(y);
	assert_int_equal(tn_array_size(y), rows * columns);
	assert_ok(tn_to_host(y, found, (size_t)(rows * columns) * sizeof(*found)));
	for (int64_t i = 0; i < rows; i++) {
		const int64_t row = nearest_cell(i, rows, height, scale);
		for (int64_t k = 0; k < columns; k++)
			assert_true(found[i * columns + k] ==
				    cells[row * width + nearest_cell(k, columns, width, scale)]);
	}
	tn_scope_end(context, NULL);
}

/* Also where the length is multiplied by another number than the scale. */
static void nearest_cells_are_those_of_the_scale(void **state)
{
	static const char *const backends[] = {"reference!", "auto"};
	(void)state;
	for (int k = 0; k < 2; k++) {
		open_context(backends[k]);
		for (int64_t height = 1; height <= 5; height++) {
			for (int tenths = 10; tenths < 40; tenths++)
				check_nearest(height, 7, tenths / 10.0);
		}
		tn_context_close(context);
	}
}

/* ---- Empty batches ---------------------------------------------------------------------------*/

/* Sums over no samples are 0. */
static void check_empty_batch(const struct gradient_row *row)
{
	static struct gradient_trial t;
	double values[GRADIENT_ELEMENTS];
	tn_array *x[GRADIENT_INPUTS];
	assert_ok(tn_scope_begin(context));
	gradient_begin(&t, row, context, TN_F32);
	tn_tape *tape = tn_tape_begin(context);
	for (int i = 0; i < t.n; i++) {
		if (row->batch >> i & 1)
			t.shape[i][0] = 0;
		x[i] = tn_zeros(context, TN_F32, t.rank[i], t.shape[i]);
		assert_ok(tn_tape_watch(tape, x[i]));
	}
	tn_array *y = row->f(NULL, x);
	if (!y)
		fail_msg("%s: %s", row->name, tn_error(context)->text);
	assert_ok(tn_tape_backward(tape, y, NULL));
	for (int i = 1; i < t.n; i++) {
		tn_array *g = tn_tape_gradient(tape, x[i]);
		assert_non_null(g);
		size_t n = (size_t)tn_array_size(g);
		assert_ok(tn_to_host(tn_astype(g, TN_F64), values, n * sizeof(*values)));
		for (size_t j = 0; j < n; j++)
			assert_true(values[j] == 0);
	}
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

/* Every function of a batch of no samples, forward and backward. */
static void an_empty_batch_gives_zero_gradients(void **state)
{
	(void)state;
	open_context("auto");
	for (int i = 0; i < GRADIENT_ROWS; i++) {
		if (gradient_rows[i].batch)
			check_empty_batch(&gradient_rows[i]);
	}
	tn_context_close(context);
}

static tn_array *zeros(int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
	return tn_zeros(context, TN_F32, rank, (int64_t[]){a, b, c, d});
}

/* ---- Dropped parts ---------------------------------------------------------------------------*/

enum { N = 40, C = 10, CELLS = 3 };

/* Elements [i, ...] share a mask of `part` elements, which is 0 or 1 / (1 - p), in y and in dx. */
static void expect_parts(tn_array *(*f)(const tn_array *x, double p), size_t part)
{
	static float y[N * C * CELLS], dx[N * C * CELLS];
	size_t kept = 0, changes = 0, n = sizeof(y) / sizeof(y[0]);
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_ones(context, TN_F32, 3, (int64_t[]){N, C, CELLS});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *out = f(x, 0.25);
	assert_ok(tn_to_host(out, y, sizeof(y)));
	assert_ok(tn_tape_backward(tape, tn_sum(out, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), dx, sizeof(dx)));
	tn_tape_end(tape);
	for (size_t i = 0; i < n; i++) {
		assert_true(y[i] == 0 || y[i] == 1 / 0.75f);
		assert_true(y[i] == dx[i] && y[i] == y[i / part * part]);
		kept += y[i] != 0;
		changes += i && y[i] != y[i - 1];
	}
	/* Of n / part parts, 3/4: four deviations.  Neighbours differ with 2 * 3/4 * 1/4. */
	double parts = (double)n / (double)part;
	assert_close((double)changes / parts, 0.375, 4 * sqrt(0.375 / parts));
	assert_close((double)kept / (double)n, 0.75, 4 * sqrt(0.25 * 0.75 / parts));
	tn_scope_end(context, NULL);
}

static void whole_parts_are_dropped(void **state)
{
	(void)state;
	open_context("auto");
	expect_parts(tn_dropout, 1);
	expect_parts(tn_dropout2d, CELLS);
	expect_parts(tn_stochastic_depth, C * CELLS);
	tn_context_close(context);
}

/* As in PyTorch, p = 1 drops everything, the gradients too. */
static void expect_nothing_kept(tn_array *(*f)(const tn_array *x, double p))
{
	float y[24], dx[24];
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_full(context, TN_F32, 3, (int64_t[]){2, 3, 4}, 1e30);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *out = f(x, 1);
	assert_non_null(out);
	assert_ok(tn_to_host(out, y, sizeof(y)));
	assert_ok(tn_tape_backward(tape, tn_sum(out, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), dx, sizeof(dx)));
	tn_tape_end(tape);
	for (int i = 0; i < 24; i++)
		assert_true(y[i] == 0 && dx[i] == 0);
	tn_scope_end(context, NULL);
}

static void with_a_probability_of_1_all_is_dropped(void **state)
{
	(void)state;
	open_context("auto");
	expect_nothing_kept(tn_dropout);
	expect_nothing_kept(tn_dropout2d);
	expect_nothing_kept(tn_stochastic_depth);
	tn_context_close(context);
}

/* ---- Attention -------------------------------------------------------------------------------*/

/* With a scale of 0 all values weigh alike; without one the scale is 1 / sqrt(2). */
static void attention_has_the_scale_that_is_written(void **state)
{
	static const float rows[2][2] = {{1, 2}, {3, -1}};
	(void)state;
	open_context("auto");
	for (int i = 0; i < 3; i++) {
		struct tn_attention_options options = tn_attention_defaults();
		float found[2][2];
		if (i)
			options.scale = i - 1;
		tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){2, 2}, rows);
		tn_array *y = tn_scaled_dot_product_attention(x, x, x, &options);
		assert_ok(tn_to_host(y, found, sizeof(found)));
		/* the scores of row 0 are 5 and 1, times the scale */
		const double first = 1 / (1 + exp(-4 * (i ? i - 1 : sqrt(0.5))));
		assert_close(found[0][0], first + 3 * (1 - first), 1e-5);
		tn_array_destroy(x);
		tn_array_destroy(y);
	}
	tn_context_close(context);
}

/* ---- Padding ---------------------------------------------------------------------------------*/

/* Rows of complex numbers, of which 2 is chosen twice and 1 is padding; also with create_graph. */
static void rows_of_complex_numbers_have_gradients(void **state)
{
	static const int32_t indices[] = {2, 0, 2, 1};
	static const double numbers[] = {1, 2, 3, 4, 5, 6}, expected[] = {2, -4, 0, 0, 20, -24};
	double found[6];
	(void)state;
	open_context("auto");
	assert_ok(tn_scope_begin(context));
	for (int again = 0; again < 2; again++) {
		tn_array *w = tn_from_host(context, TN_C128, 2, (int64_t[]){3, 1}, numbers), *g;
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, w));
		tn_array *of = tn_from_host(context, TN_I32, 1, (int64_t[]){4}, indices);
		tn_array *y = tn_embedding(of, w, 1);
		/* The real part of y^2, whose gradient is 2 conj(y). */
		tn_array *loss = tn_sum(tn_real(tn_multiply(y, y)), TN_ALL_AXES, NULL, 0);
		struct tn_gradients_options options = tn_gradients_defaults();
		options.create_graph = again;
		assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &w, &g, &options));
		assert_ok(tn_to_host(g, found, sizeof(found)));
		for (int i = 0; i < 6; i++)
			assert_close(found[i], expected[i], 1e-12);
		tn_tape_end(tape);
	}
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* Layers of no inputs, and of no outputs. */
static void linear_layers_may_be_empty(void **state)
{
	(void)state;
	open_context("auto");
	assert_ok(tn_scope_begin(context));
	for (int i = 0; i < 2; i++) {
		double sum = NAN;
		tn_array *x = zeros(3, 2, 3, i ? 4 : 0, 0),
			 *w = zeros(2, i ? 0 : 5, i ? 4 : 0, 0, 0);
		tn_array *b = tn_ones(context, TN_F32, 1, (int64_t[]){i ? 0 : 5});
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, x));
		assert_ok(tn_tape_watch(tape, w));
		assert_ok(tn_tape_watch(tape, b));
		tn_array *y = tn_sum(tn_linear(x, w, b), TN_ALL_AXES, NULL, 0);
		assert_ok(tn_item(y, &sum));
		assert_close(sum, i ? 0 : 2 * 3 * 5, 0);
		assert_ok(tn_tape_backward(tape, y, NULL));
		assert_int_equal(tn_array_size(tn_tape_gradient(tape, w)), 0);
		assert_int_equal(tn_array_size(tn_tape_gradient(tape, x)), i ? 24 : 0);
		tn_tape_end(tape);
	}
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

static void the_row_of_padding_has_no_gradient(void **state)
{
	static const int64_t indices[] = {2, 0, -1, 2, 1};
	float found[6];
	(void)state;
	open_context("auto");
	assert_ok(tn_scope_begin(context));
	for (int64_t padding = -1; padding <= 2; padding += 3) {
		tn_array *w = tn_ones(context, TN_F32, 2, (int64_t[]){3, 2});
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, w));
		tn_array *y = tn_embedding(
			tn_from_host(context, TN_I64, 1, (int64_t[]){5}, indices), w, padding);
		assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
		assert_ok(tn_to_host(tn_tape_gradient(tape, w), found, sizeof(found)));
		for (int i = 0; i < 6; i++)
			assert_true(found[i] == (i < 4 ? 1 : 0));
		tn_tape_end(tape);
	}
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* ---- Refused calls ---------------------------------------------------------------------------*/

static void expect_error(const tn_array *found, tn_status status, const char *part)
{
	assert_null(found);
	assert_non_null(tn_error(context));
	assert_status(tn_error(context)->status, status);
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
}

static void misfits_are_refused_with_a_reason(void **state)
{
	(void)state;
	open_context("auto");
	assert_ok(tn_scope_begin(context));
	tn_array *x = zeros(4, 2, 4, 3, 3), *line = zeros(3, 2, 5, 4, 0);
	tn_array *indices = tn_zeros(context, TN_I32, 1, (int64_t[]){2});
	expect_error(tn_embedding(indices, line, TN_NO_PADDING_INDEX), TN_SHAPE, "(rows, width)");
	expect_error(tn_embedding(indices, zeros(2, 3, 2, 0, 0), 3), TN_INVALID_ARGUMENT,
		     "expected -3 to 2, found 3");
	expect_error(tn_embedding(line, zeros(2, 3, 2, 0, 0), 0), TN_DTYPE, "indices");
	expect_error(tn_linear(x, tn_zeros(context, TN_F64, 2, (int64_t[]){5, 3}), NULL), TN_DTYPE,
		     "found f32, f64 and no bias");
	expect_error(tn_conv2d(x, zeros(4, 4, 3, 2, 2), NULL, NULL), TN_SHAPE,
		     "w takes another number of channels");
	expect_error(tn_conv2d(x, zeros(4, 4, 4, 4, 2), NULL, NULL), TN_SHAPE,
		     "the kernel is larger than x with its padding");
	expect_error(tn_conv1d(x, x, NULL, NULL), TN_SHAPE, "(N, C, L)");
	expect_error(tn_conv_transpose2d(line, x, NULL, NULL), TN_SHAPE, "ranks 3 and 4");
	expect_error(tn_conv_transpose2d(x, zeros(4, 3, 4, 2, 2), NULL, NULL), TN_SHAPE,
		     "found 4 and 3");
	expect_error(tn_conv_transpose2d(x, zeros(4, 4, 4, 2, 2), zeros(1, 3, 0, 0, 0), NULL),
		     TN_SHAPE, "bias: expected 4 elements");
	struct tn_conv_transpose2d_options options = tn_conv_transpose2d_defaults();
	options.output_padding[0] = 1;
	options.output_padding[1] = 0;
	expect_error(tn_conv_transpose2d(x, zeros(4, 4, 4, 2, 2), NULL, &options),
		     TN_INVALID_ARGUMENT, "output_padding: expected 0 to 0");
	options = tn_conv_transpose2d_defaults();
	options.padding[0] = 2;
	options.padding[1] = 0;
	expect_error(tn_conv_transpose2d(x, zeros(4, 4, 4, 2, 2), NULL, &options), TN_SHAPE,
		     "no output");
	expect_error(tn_instance_norm(zeros(2, 3, 4, 0, 0), NULL, NULL, 1e-5), TN_SHAPE,
		     "found (3, 4)");
	expect_error(tn_instance_norm(zeros(4, 3, 4, 1, 1), NULL, NULL, 1e-5), TN_SHAPE,
		     "more than one element per channel");
	expect_error(tn_dropout2d(x, 1.1), TN_INVALID_ARGUMENT, "[0, 1]");
	expect_error(tn_dropout2d(zeros(1, 3, 0, 0, 0), 0.5), TN_SHAPE, "(N, C, ...)");
	expect_error(tn_scaled_dot_product_attention(line, line, x, NULL), TN_SHAPE, "lengths");
	struct tn_attention_options attention = tn_attention_defaults();
	attention.mask = indices;
	expect_error(tn_scaled_dot_product_attention(line, line, line, &attention), TN_DTYPE,
		     "mask");
	expect_error(tn_lstm(line, zeros(2, 8, 3, 0, 0), zeros(2, 8, 2, 0, 0), NULL, NULL, NULL,
			     NULL, NULL),
		     TN_SHAPE, "expected w_ih (4 H, 4)");
	expect_error(tn_gru(line, zeros(2, 6, 4, 0, 0), zeros(2, 6, 2, 0, 0), zeros(1, 6, 0, 0, 0),
			    NULL, NULL, NULL),
		     TN_INVALID_ARGUMENT, "or none");
	struct tn_recurrent_options recurrent = tn_recurrent_defaults();
	recurrent.h0 = line;
	expect_error(tn_gru(line, zeros(2, 6, 4, 0, 0), zeros(2, 6, 2, 0, 0), NULL, NULL,
			    &recurrent, NULL),
		     TN_SHAPE, "h0: expected (2, 2)");
	expect_error(tn_adaptive_max_pool2d(x, 0, 1), TN_INVALID_ARGUMENT, "1 x 1");
	tn_array *whole = tn_astype(x, TN_I32),
		 *steps = tn_zeros(context, TN_I32, 3, (int64_t[]){1, 2, 3});
	expect_error(tn_adaptive_avg_pool2d(whole, 2, 2), TN_DTYPE, "floating type, found i32");
	expect_error(tn_adaptive_max_pool2d(whole, 2, 2), TN_DTYPE, "floating type, found i32");
	expect_error(tn_dropout(whole, 0.5), TN_DTYPE, "floating type, found i32");
	expect_error(tn_dropout2d(whole, 0.5), TN_DTYPE, "floating type, found i32");
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.size[0] = interpolate.size[1] = 2;
	interpolate.mode = TN_INTERPOLATE_BILINEAR;
	expect_error(tn_interpolate(whole, &interpolate), TN_DTYPE, "floating type, found i32");
	interpolate = tn_interpolate_defaults();
	interpolate.size[0] = interpolate.size[1] = 2;
	assert_non_null(tn_interpolate(whole, &interpolate));
	expect_error(tn_scaled_dot_product_attention(steps, steps, steps, NULL), TN_DTYPE,
		     "floating type, found i32");
	expect_error(tn_lstm(steps, tn_zeros(context, TN_I32, 2, (int64_t[]){8, 3}),
			     tn_zeros(context, TN_I32, 2, (int64_t[]){8, 2}), NULL, NULL, NULL,
			     NULL, NULL),
		     TN_DTYPE, "floating type, found i32");
	expect_error(tn_interpolate(x, NULL), TN_INVALID_ARGUMENT, "expected a size");
	interpolate.scale[0] = interpolate.scale[1] = 2;
	expect_error(tn_interpolate(x, &interpolate), TN_INVALID_ARGUMENT, "scale 2 x 2");
	interpolate = tn_interpolate_defaults();
	interpolate.size[0] = interpolate.size[1] = 2;
	interpolate.align_corners = 1;
	expect_error(tn_interpolate(x, &interpolate), TN_INVALID_ARGUMENT, "align_corners");
	interpolate = tn_interpolate_defaults();
	interpolate.mode = 2;
	expect_error(tn_interpolate(x, &interpolate), TN_INVALID_ARGUMENT, "mode");
	expect_error(tn_interpolate(line, NULL), TN_SHAPE, "(N, C, H, W)");
	expect_error(tn_local_response_norm(x, 0, NULL), TN_INVALID_ARGUMENT, "size");
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_agree_with_f32),
		cmocka_unit_test(planes_in_double_are_exact),
		cmocka_unit_test(nearest_cells_are_those_of_the_scale),
		cmocka_unit_test(an_empty_batch_gives_zero_gradients),
		cmocka_unit_test(whole_parts_are_dropped),
		cmocka_unit_test(with_a_probability_of_1_all_is_dropped),
		cmocka_unit_test(attention_has_the_scale_that_is_written),
		cmocka_unit_test(the_row_of_padding_has_no_gradient),
		cmocka_unit_test(rows_of_complex_numbers_have_gradients),
		cmocka_unit_test(linear_layers_may_be_empty),
		cmocka_unit_test(misfits_are_refused_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
