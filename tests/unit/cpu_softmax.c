/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's softmax and cross-entropy against plain loops in double: shapes, axes and
 * layouts as data, infinities and NaN among the values, sentinels around the outputs, on every
 * level that this machine supports.
 */
#include "cpu_fixture.h"
#include "cpu_tensor.h"

#define EPSILON 0x1p-24

static const struct tn_nn_table *nn_of(const struct fixture *f)
{
	return f->descriptor->query(f->instance, TN_TABLE_NN);
}

static double number(const struct tensor *t, int64_t i)
{
	return tensor_number(t, i);
}

static void set(const struct tensor *t, int64_t i, double value)
{
	*(float *)tensor_element(t, i) = (float)value;
}

static void scale(const struct tensor *t, double by)
{
	for (int64_t i = 0; i < tensor_count(t); i++)
		set(t, i, by * number(t, i));
}

/* ---- Softmax --------------------------------------------------------------------------------- */

/* Lines below, at and beyond a register and four of every level, and beyond a block of rows and a
 * band of columns. */
static const int64_t shapes[][4] = {
	{1, 1, 1, 1},   {3, 5, 1, 1},   {2, 10, 1, 1},  {4, 16, 3, 2},   {1, 70, 2, 9},
	{2, 3, 17, 33}, {1, 300, 1, 1}, {2, 19, 5, 64}, {1, 41, 1, 301}, {1, 2, 1, 5000},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

/* Lines of one axis: element j of a line is at start + j * step in row-major order. */
struct lines {
	int64_t n, step, count;
};

static struct lines lines_of(const int64_t shape[4], uint32_t axis)
{
	struct lines l = {.n = shape[axis], .step = 1, .count = 1};
	for (uint32_t i = 0; i < 4; i++) {
		l.step *= i > axis ? shape[i] : 1;
		l.count *= i == axis ? 1 : shape[i];
	}
	return l;
}

static int64_t line_start(const struct lines *l, int64_t line)
{
	return line / l->step * l->n * l->step + line % l->step;
}

/* log of the sum of exp of a line; NaN where PyTorch's softmax is NaN. */
static double log_sum_exp(const struct tensor *x, const struct lines *l, int64_t start)
{
	double most = -INFINITY, sum = 0;
	for (int64_t j = 0; j < l->n; j++)
		most = fmax(most, number(x, start + j * l->step));
	for (int64_t j = 0; j < l->n; j++)
		sum += exp(number(x, start + j * l->step) - most);
	return most + log(sum);
}

/* x - max rounds once, by at most half an ulp of its size, which exp makes relative; exp is within
 * 2 ulp, a sum of n exponentials within n roundings of positive numbers, and the division within
 * two.  Below e^-87 the result may be 0. */
static void check_forward_line(const struct tensor *x, const struct tensor *y,
			       const struct lines *l, int64_t start, int logarithm)
{
	double lse = log_sum_exp(x, l, start);
	for (int64_t j = 0; j < l->n; j++) {
		double away = number(x, start + j * l->step) - lse;
		double size = fabs(away) < 1e30 ? fabs(away) : 0;
		double error = EPSILON * ((double)l->n + 2 * size + 16);
		double found = number(y, start + j * l->step);
		if (logarithm)
			assert_close(found, away, error);
		else
			assert_close(found, exp(away), error * exp(away) + 0x1p-125);
	}
}

static void check_backward_line(const struct tensor *const t[4], const struct lines *l,
				int64_t start, int logarithm, int accumulate)
{
	double sum = 0, size = 0;
	for (int64_t j = 0; j < l->n; j++) {
		double y = number(t[0], start + j * l->step);
		double term = number(t[1], start + j * l->step) * (logarithm ? 1 : y);
		sum += term;
		size += fabs(term);
	}
	for (int64_t j = 0; j < l->n; j++) {
		int64_t i = start + j * l->step;
		double y = number(t[0], i), dy = number(t[1], i);
		double before = accumulate ? number(t[3], i) : 0;
		double factor = logarithm ? exp(y) : y;
		double value = logarithm ? dy - factor * sum : factor * (dy - sum);
		double own = logarithm ? fabs(dy) : fabs(factor * dy);
		double error = own + ((double)l->n + 4 + 2 * fabs(y)) * fabs(factor) * size;
		assert_close(number(t[2], i), before + value,
			     EPSILON * (4 * error + 2 * fabs(before)));
	}
}

static void check_sentinels(const struct tensor *const t[4])
{
	for (int i = 0; i < 4; i++)
		tensor_check_sentinels(t[i]);
}

/* x, y and dx in one layout, or in one that the plugin may refuse. */
static tn_status check_softmax(const struct fixture *f, const int64_t shape[4], uint32_t axis,
			       enum layout layout, int logarithm, int accumulate)
{
	struct lines l = lines_of(shape, axis);
	struct tensor x = tensor_make(TN_F32, shape, layout),
		      y = tensor_make(TN_F32, shape, layout);
	struct tensor dx = tensor_make(TN_F32, shape, layout);
	struct tensor old = tensor_make(TN_F32, shape, layout);
	const struct tensor *const backward[4] = {&y, &x, &dx, &old};
	struct tn_softmax_args args = {
		.call = {.struct_size = sizeof(args), .flags = TN_DRY_RUN},
		.x = x.operand,
		.y = y.operand,
		.dy = x.operand,
		.dx = dx.operand,
		.axis = axis,
		.logarithm = (uint32_t)logarithm,
	};
	tensor_randomise(&x);
	tensor_randomise(&dx);
	scale(&x, accumulate ? 4 : 120);
	memcpy(old.memory, dx.memory, dx.bytes);
	tn_status status = nn_of(f)->softmax_forward(f->device, &args);
	if (!status) {
		args.call.flags = 0;
		assert_ok(nn_of(f)->softmax_forward(f->device, &args));
		for (int64_t line = 0; line < l.count; line++)
			check_forward_line(&x, &y, &l, line_start(&l, line), logarithm);
		args.call.flags = accumulate ? TN_ACCUMULATE : 0;
		assert_ok(nn_of(f)->softmax_backward(f->device, &args));
		for (int64_t line = 0; line < l.count; line++)
			check_backward_line(backward, &l, line_start(&l, line), logarithm,
					    accumulate);
		check_sentinels(backward);
	}
	tensor_free(&x);
	tensor_free(&y);
	tensor_free(&dx);
	tensor_free(&old);
	return status;
}

static void softmax_agrees_with_plain_loops_along_every_axis(void **unused)
{
	(void)unused;
	for (size_t level = 0; level < FIXTURE_LEVELS; level++) {
		struct fixture f = {.variant = fixture_level(level)};
		fixture_open(&f, 2);
		for (size_t i = 0; i < N_SHAPES * LAYOUTS * 16; i++) {
			enum layout layout = (enum layout)(i / 16 % LAYOUTS);
			tn_status status =
				check_softmax(&f, shapes[i / 16 / LAYOUTS], (uint32_t)i % 4, layout,
					      (int)i / 4 % 2, (int)i / 8 % 2);
			if (layout == LAYOUT_NCHW || layout == LAYOUT_NHWC)
				assert_ok(status);
		}
		fixture_close(&f);
	}
}

static void infinities_and_nan_are_as_pytorch_has_them(void **unused)
{
	(void)unused;
	static const double lines[][3] = {
		{1, -INFINITY, 2},   {-INFINITY, -INFINITY, -INFINITY},
		{INFINITY, 0, 1},    {NAN, 0, 1},
		{1, NAN, -INFINITY}, {-INFINITY, 5, -INFINITY},
		{1e38, -1e38, 0},    {0, -90, -100},
	};
	for (size_t i = 0; i < FIXTURE_LEVELS * 4; i++) {
		struct fixture f = {.variant = fixture_level(i)};
		int across = (int)i / FIXTURE_LEVELS % 2, logarithm = (int)i / FIXTURE_LEVELS / 2;
		fixture_open(&f, 1);
		/* Several registers wide, so that lines are adjacent. */
		const int64_t shape[4] = {1, across ? 3 : 40, across ? 40 : 3, 1};
		struct lines l = lines_of(shape, across ? 1 : 2);
		struct tensor x = tensor_make(TN_F32, shape, LAYOUT_NCHW);
		struct tensor y = tensor_make(TN_F32, shape, LAYOUT_NCHW);
		for (int64_t k = 0; k < 120; k++)
			set(&x, line_start(&l, k / 3) + k % 3 * l.step, lines[k / 3 % 8][k % 3]);
		struct tn_softmax_args args = {.call = {.struct_size = sizeof(args)},
					       .x = x.operand,
					       .y = y.operand,
					       .axis = across ? 1 : 2,
					       .logarithm = (uint32_t)logarithm};
		assert_ok(nn_of(&f)->softmax_forward(f.device, &args));
		for (int64_t k = 0; k < 120; k++) {
			const double *line = lines[k / 3 % 8];
			double most = fmax(line[0], fmax(line[1], line[2])), sum = 0;
			for (int j = 0; j < 3; j++)
				sum += exp(line[j] - most);
			double away = line[k % 3] - most;
			double expected = logarithm ? away - log(sum) : exp(away) / sum;
			double found = number(&y, line_start(&l, k / 3) + k % 3 * l.step);
			assert_close(found, expected,
				     1e-6 * (fabs(away) < 1e39 ? 1 + fabs(away) : 1));
		}
		tensor_free(&x);
		tensor_free(&y);
		fixture_close(&f);
	}
}

/* ---- Cross-entropy --------------------------------------------------------------------------- */

enum { IGNORED = -100 };

static const int64_t sizes[][2] = {{1, 1},   {1, 10},  {128, 10}, {7, 16},
				   {33, 37}, {5, 300}, {3, 1000}, {2000, 10}};

struct entropy {
	int64_t n, classes;
	struct tensor x, dx, old, labels, maximum, log_sum, loss;
	struct tn_cross_entropy_args args;
};

static struct entropy make_entropy(const int64_t size[2], enum layout layout)
{
	const int64_t shape[4] = {size[0], size[1], 1, 1};
	struct entropy e = {.n = size[0], .classes = size[1]};
	struct tensor *rows[] = {&e.x, &e.dx, &e.old};
	struct tensor *values[] = {&e.labels, &e.maximum, &e.log_sum, &e.loss};
	for (int i = 0; i < 3; i++) {
		*rows[i] = tensor_make(TN_F32, shape, layout);
		tensor_randomise(rows[i]);
		rows[i]->operand.rank = 2;
	}
	for (int i = 0; i < 4; i++) {
		*values[i] = tensor_make(i ? TN_F32 : TN_I32, (int64_t[]){size[0], 1, 1, 1},
					 LAYOUT_NCHW_GAPS);
		values[i]->operand.rank = 1;
	}
	scale(&e.x, 20);
	for (int64_t n = 0; n < e.n; n++)
		*(int32_t *)tensor_element(&e.labels, n) = n % 5 == 2    ? IGNORED
							   : n % 11 == 7 ? (int32_t)e.classes
							   : n % 13 == 5
								   ? -1
								   : (int32_t)(n * 7 % e.classes);
	e.args = (struct tn_cross_entropy_args){.call = {.struct_size = sizeof(e.args)},
						.x = e.x.operand,
						.labels = e.labels.operand,
						.maximum = e.maximum.operand,
						.log_sum = e.log_sum.operand,
						.loss = e.loss.operand,
						.dx = e.dx.operand,
						.ignore_label = IGNORED};
	return e;
}

static void release_entropy(struct entropy *e)
{
	struct tensor *all[] = {&e->x,       &e->dx,      &e->old, &e->labels,
				&e->maximum, &e->log_sum, &e->loss};
	for (int i = 0; i < 7; i++) {
		tensor_check_sentinels(all[i]);
		tensor_free(all[i]);
	}
}

static int32_t label_of(const struct entropy *e, int64_t n)
{
	return *(const int32_t *)tensor_element(&e->labels, n);
}

/* The sum of C exponentials of distances up to 40, its logarithm, and two differences. */
static void check_losses(const struct entropy *e)
{
	struct lines l = {.n = e->classes, .step = 1, .count = e->n};
	double error = EPSILON * ((double)e->classes + 2 * 40 + 16);
	for (int64_t n = 0; n < e->n; n++) {
		double lse = log_sum_exp(&e->x, &l, n * e->classes), loss = NAN;
		int32_t label = label_of(e, n);
		assert_close(number(&e->maximum, n) + number(&e->log_sum, n), lse, error);
		if (label == IGNORED)
			loss = 0;
		else if (label >= 0 && label < e->classes)
			loss = lse - number(&e->x, n * e->classes + label);
		assert_close(number(&e->loss, n), loss, error);
	}
}

/* The two differences round, which exp makes relative; exp, and the product with dloss. */
static void check_gradients(const struct entropy *e, int accumulate)
{
	for (int64_t i = 0; i < e->n * e->classes; i++) {
		int64_t n = i / e->classes;
		int32_t label = label_of(e, n);
		double before = accumulate ? number(&e->old, i) : 0;
		double dloss = number(&e->loss, n);
		double away = number(&e->x, i) - number(&e->maximum, n) - number(&e->log_sum, n);
		double value = (exp(away) - (i % e->classes == label)) * dloss;
		if (label == IGNORED)
			value = 0;
		else if (label < 0 || label >= e->classes)
			value = NAN;
		assert_close(number(&e->dx, i), before + value,
			     EPSILON * ((fabs(away) + 8) * fabs(dloss) + 3 * fabs(before)));
	}
}

static void check_entropy(const struct fixture *f, const int64_t size[2], enum layout layout,
			  int accumulate)
{
	struct entropy e = make_entropy(size, layout);
	assert_ok(nn_of(f)->cross_entropy_forward(f->device, &e.args));
	check_losses(&e);
	for (int64_t n = 0; n < e.n; n++)
		set(&e.loss, n, tensor_random());
	memcpy(e.old.memory, e.dx.memory, e.dx.bytes);
	e.args.call.flags = accumulate ? TN_ACCUMULATE : 0;
	assert_ok(nn_of(f)->cross_entropy_backward(f->device, &e.args));
	check_gradients(&e, accumulate);
	release_entropy(&e);
}

static void cross_entropy_agrees_with_plain_loops(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) * 4 * FIXTURE_LEVELS; i++) {
		struct fixture f = {.variant = fixture_level(i)};
		size_t way = i / FIXTURE_LEVELS;
		fixture_open(&f, 2);
		check_entropy(&f, sizes[way / 4], way % 2 ? LAYOUT_NHWC_GAPS : LAYOUT_NCHW,
			      (int)way / 2 % 2);
		fixture_close(&f);
	}
}

/* A confident prediction has a loss of e^-10, which a difference of numbers near 1000 would
 * lose. */
static void a_small_loss_is_not_lost_beside_large_logits(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	struct entropy e = make_entropy((int64_t[]){1, 2}, LAYOUT_NCHW);
	set(&e.x, 0, 1000);
	set(&e.x, 1, 990);
	assert_ok(nn_of(&f)->cross_entropy_forward(f.device, &e.args));
	assert_close(number(&e.loss, 0), log1p(exp(-10)), 4 * EPSILON);
	release_entropy(&e);
	fixture_close(&f);
}

/* The same bits as without the offset, to which whole logits are added exactly. */
static void an_offset_of_the_logits_changes_no_bit_of_the_gradient(void **unused)
{
	static const double offsets[] = {1e3, -1e4, 1e6, 1e7};
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		struct entropy plain = make_entropy((int64_t[]){33, 37}, LAYOUT_NCHW);
		struct entropy far = make_entropy((int64_t[]){33, 37}, LAYOUT_NCHW);
		for (int64_t k = 0; k < 33 * 37; k++) {
			set(&plain.x, k, (double)(k * 7 % 17) - 8);
			set(&far.x, k, (double)(k * 7 % 17) - 8 + offsets[i]);
		}
		for (int j = 0; j < 2; j++) {
			struct entropy *e = j ? &far : &plain;
			assert_ok(nn_of(&f)->cross_entropy_forward(f.device, &e->args));
			for (int64_t n = 0; n < e->n; n++)
				set(&e->loss, n, 0.5 + (double)n);
			assert_ok(nn_of(&f)->cross_entropy_backward(f.device, &e->args));
		}
		assert_memory_equal(plain.log_sum.memory, far.log_sum.memory, far.log_sum.bytes);
		assert_memory_equal(plain.dx.memory, far.dx.memory, far.dx.bytes);
		release_entropy(&plain);
		release_entropy(&far);
	}
	fixture_close(&f);
}

static void what_cannot_be_done_is_refused(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	fixture_open(&f, 1);
	struct entropy e = make_entropy((int64_t[]){7, 16}, LAYOUT_NCHW);
	struct tn_cross_entropy_args args = e.args;
	args.call.error = &error;
	args.labels.dtype = TN_I64;
	assert_status(nn_of(&f)->cross_entropy_forward(f.device, &args), TN_UNSUPPORTED);
	assert_contains(error.text, "labels: dtype");
	args = e.args;
	args.log_sum.shape[0] = 6;
	assert_status(nn_of(&f)->cross_entropy_forward(f.device, &args), TN_SHAPE);
	args = e.args;
	args.x.strides[1] = 2;
	assert_status(nn_of(&f)->cross_entropy_backward(f.device, &args), TN_UNSUPPORTED);
	struct tn_softmax_args softmax = {.call = {.struct_size = sizeof(softmax), .error = &error},
					  .x = e.x.operand,
					  .y = e.dx.operand,
					  .axis = 2};
	assert_status(nn_of(&f)->softmax_forward(f.device, &softmax), TN_SHAPE);
	assert_contains(error.text, "axis 2: expected less than the rank 2");
	softmax.axis = 0;
	softmax.x.dtype = TN_F64;
	assert_status(nn_of(&f)->softmax_forward(f.device, &softmax), TN_UNSUPPORTED);
	memcpy(e.old.memory, e.dx.memory, e.dx.bytes);
	release_entropy(&e);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax_agrees_with_plain_loops_along_every_axis),
		cmocka_unit_test(infinities_and_nan_are_as_pytorch_has_them),
		cmocka_unit_test(cross_entropy_agrees_with_plain_loops),
		cmocka_unit_test(a_small_loss_is_not_lost_beside_large_logits),
		cmocka_unit_test(an_offset_of_the_logits_changes_no_bit_of_the_gradient),
		cmocka_unit_test(what_cannot_be_done_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
