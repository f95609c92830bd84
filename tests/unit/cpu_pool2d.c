/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's pooling against plain loops in double: windows, channels and layouts as data,
 * ties and NaN among the values, sentinels around the outputs, on every level that this machine
 * supports.
 */
#include "cpu_fixture.h"
#include "cpu_tensor.h"

struct setting {
	int64_t n, c, h, w;
	int64_t kernel[2], stride[2], padding[4];
};

/* Channels below, at and beyond one vector and four, of every level. */
static const struct setting settings[] = {
	{1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
	{3, 6, 28, 28, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 16, 10, 10, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 1, 7, 67, {2, 2}, {2, 2}, {0, 0, 0, 0}}, /* a row and a column in no window */
	{2, 2, 5, 22, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 3, 6, 35, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 5, 5, 29, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 6, 7, 27, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{1, 8, 4, 13, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{1, 16, 5, 9, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 17, 5, 7, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{1, 6, 5, 7, {2, 2}, {2, 2}, {0, 0, 1, 1}}, /* the last windows are clipped */
	{1, 6, 4, 8, {2, 2}, {2, 2}, {1, 1, 1, 1}},
	{2, 3, 9, 7, {3, 3}, {2, 2}, {1, 1, 1, 1}},
	{1, 19, 9, 8, {3, 3}, {2, 2}, {1, 1, 1, 1}},
	{1, 64, 7, 7, {3, 3}, {1, 1}, {1, 1, 1, 1}},
	{1, 5, 7, 11, {3, 2}, {1, 3}, {1, 0, 0, 1}},
	{2, 7, 6, 7, {2, 3}, {3, 4}, {0, 1, 1, 1}},   /* cells outside all windows */
	{2, 19, 7, 11, {2, 3}, {3, 4}, {0, 0, 0, 0}}, /* whole windows, with gaps */
	{1, 2, 4, 4, {4, 4}, {1, 1}, {2, 2, 2, 2}},
	{2, 67, 5, 6, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 130, 4, 4, {4, 4}, {4, 4}, {0, 0, 0, 0}}, /* the whole plane */
	{1, 1, 5, 80, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{1, 2, 3, 41, {3, 3}, {1, 1}, {0, 1, 0, 1}},
	{2, 9, 3, 3, {5, 5}, {2, 2}, {2, 2, 2, 2}}, /* larger than the plane */
};

struct variant {
	uint32_t kind, count_padding, has_index;
	int accumulate;
};

static const struct variant variants[] = {
	{TN_POOL_MAX, 0, 1, 0},     {TN_POOL_MAX, 0, 1, 1},     {TN_POOL_MAX, 0, 0, 0},
	{TN_POOL_AVERAGE, 0, 0, 0}, {TN_POOL_AVERAGE, 0, 0, 1}, {TN_POOL_AVERAGE, 1, 0, 0},
};

static int64_t windows(const struct setting *s, int axis)
{
	int64_t length = axis ? s->w : s->h;
	return (length + s->padding[axis] + s->padding[axis + 2] - s->kernel[axis]) /
		       s->stride[axis] +
	       1;
}

static const struct tn_nn_table *nn_of(const struct fixture *f)
{
	return f->descriptor->query(f->instance, TN_TABLE_NN);
}

/* The cells of window (p, q) that are inside the plane. */
struct window {
	int64_t top, left, bottom, right;
	double divisor;
};

static struct window window_at(const struct setting *s, const struct variant *v, int64_t p,
			       int64_t q)
{
	struct window w = {p * s->stride[0] - s->padding[0], q * s->stride[1] - s->padding[1], 0, 0,
			   0};
	w.bottom = w.top + s->kernel[0] < s->h ? w.top + s->kernel[0] : s->h;
	w.right = w.left + s->kernel[1] < s->w ? w.left + s->kernel[1] : s->w;
	w.top = w.top > 0 ? w.top : 0;
	w.left = w.left > 0 ? w.left : 0;
	w.divisor = v->count_padding ? (double)(s->kernel[0] * s->kernel[1])
				     : (double)((w.bottom - w.top) * (w.right - w.left));
	return w;
}

/* ---- One call -------------------------------------------------------------------------------- */

struct operands {
	const struct setting *setting;
	const struct variant *variant;
	struct tensor x, y, index;
};

static struct operands make(const struct setting *s, const struct variant *v, enum layout layout)
{
	const int64_t x[4] = {s->n, s->c, s->h, s->w};
	const int64_t y[4] = {s->n, s->c, windows(s, 0), windows(s, 1)};
	return (struct operands){s, v, tensor_make(TN_F32, x, layout),
				 tensor_make(TN_F32, y, layout), tensor_make(TN_I32, y, layout)};
}

static void release(struct operands *o)
{
	tensor_free(&o->x);
	tensor_free(&o->y);
	tensor_free(&o->index);
}

static struct tn_pool2d_args arguments(const struct operands *o, uint32_t flags)
{
	struct tn_pool2d_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags},
		.x = o->x.operand,
		.y = o->y.operand,
		.index = o->index.operand,
		.kind = o->variant->kind,
		.has_index = o->variant->has_index,
		.count_padding = o->variant->count_padding,
	};
	memcpy(args.kernel, o->setting->kernel, sizeof(args.kernel));
	memcpy(args.stride, o->setting->stride, sizeof(args.stride));
	memcpy(args.padding, o->setting->padding, sizeof(args.padding));
	return args;
}

/* Many ties, and some NaNs for maxima. */
static void fill(const struct operands *o)
{
	tensor_randomise(&o->x);
	for (int64_t i = 0; i < tensor_count(&o->x) && o->variant->kind == TN_POOL_MAX; i++) {
		float *x = tensor_element(&o->x, i);
		double dice = tensor_random();
		if (dice < 0)
			*x = *x > 0 ? 1 : -INFINITY;
		else if (dice < 0.05)
			*x = NAN;
	}
}

/* ---- Forward --------------------------------------------------------------------------------- */

/* Compares the window at (n, c, p, q).  An average rounds once per cell, once for the inverse of
 * its divisor and once for the product. */
static void check_window(const struct operands *o, int64_t n, int64_t c, int64_t p, int64_t q)
{
	struct window window = window_at(o->setting, o->variant, p, q);
	double sum = 0, magnitude = 0, best = NAN, count = 0;
	int64_t place = -1;
	for (int64_t h = window.top; h < window.bottom; h++) {
		for (int64_t w = window.left; w < window.right; w++, count++) {
			double x = *(const float *)tensor_at(&o->x, n, c, h, w);
			sum += x;
			magnitude += fabs(x);
			if (place < 0 || (!isnan(best) && (isnan(x) || x > best))) {
				best = x;
				place = h * o->setting->w + w;
			}
		}
	}
	float found = *(const float *)tensor_at(&o->y, n, c, p, q);
	if (o->variant->kind == TN_POOL_AVERAGE) {
		assert_close(found, sum / window.divisor,
			     (count + 2) * 0x1p-24 * magnitude / window.divisor);
		return;
	}
	assert_close(found, best, 0);
	if (o->variant->has_index)
		assert_int_equal(*(const int32_t *)tensor_at(&o->index, n, c, p, q), place);
}

static void check_forward(const struct operands *o)
{
	const int64_t *y = o->y.operand.shape;
	for (int64_t n = 0; n < y[0]; n++)
		for (int64_t c = 0; c < y[1]; c++)
			for (int64_t p = 0; p < y[2]; p++)
				for (int64_t q = 0; q < y[3]; q++)
					check_window(o, n, c, p, q);
	tensor_check_sentinels(&o->y);
	tensor_check_sentinels(&o->index);
}

/* ---- Backward -------------------------------------------------------------------------------- */

/* Adds the contribution of window (p, q) to expected, magnitude and terms of the plane's cells. */
static void give(const struct operands *o, const int64_t at[4], double (*cells)[3])
{
	struct window window = window_at(o->setting, o->variant, at[2], at[3]);
	double dy = *(const float *)tensor_at(&o->y, at[0], at[1], at[2], at[3]);
	int64_t place = *(const int32_t *)tensor_at(&o->index, at[0], at[1], at[2], at[3]);
	int is_max = o->variant->kind == TN_POOL_MAX;
	for (int64_t h = window.top; h < window.bottom; h++) {
		for (int64_t w = window.left; w < window.right; w++) {
			double *cell = cells[h * o->setting->w + w];
			double part = is_max ? dy : dy / window.divisor;
			if (is_max && place != h * o->setting->w + w)
				continue;
			cell[0] += part;
			cell[1] += fabs(part);
			cell[2] += 1;
		}
	}
}

/* Each part rounds twice and each sum once. */
static void check_plane(const struct operands *o, const double *before, int64_t n, int64_t c)
{
	const struct setting *s = o->setting;
	double(*cells)[3] = tn_mem_zeroed((size_t)(s->h * s->w), sizeof(*cells));
	for (int64_t i = 0; i < s->h * s->w && o->variant->accumulate; i++) {
		cells[i][0] = before[i];
		cells[i][1] = fabs(before[i]);
	}
	for (int64_t p = 0; p < o->y.operand.shape[2]; p++)
		for (int64_t q = 0; q < o->y.operand.shape[3]; q++)
			give(o, (int64_t[]){n, c, p, q}, cells);
	for (int64_t i = 0; i < s->h * s->w; i++)
		assert_close(*(float *)tensor_at(&o->x, n, c, i / s->w, i % s->w), cells[i][0],
			     (cells[i][2] + 3) * 0x1p-24 * cells[i][1]);
	tn_mem_free(cells);
}

/* After a forward: y becomes dy, x becomes dx. */
static void check_backward(const struct fixture *f, struct operands *o)
{
	const struct setting *s = o->setting;
	int64_t plane = s->h * s->w, count = tensor_count(&o->x);
	double *before = tn_mem_zeroed((size_t)count, sizeof(double));
	tensor_randomise(&o->x);
	tensor_randomise(&o->y);
	for (int64_t i = 0; i < count; i++)
		before[i] = tensor_number(&o->x, i);
	struct tn_pool2d_args args = arguments(o, o->variant->accumulate ? TN_ACCUMULATE : 0);
	assert_ok(nn_of(f)->pool2d_backward(f->device, &args));
	for (int64_t i = 0; i < s->n * s->c; i++)
		check_plane(o, before + i * plane, i / s->c, i % s->c);
	tensor_check_sentinels(&o->x);
	tn_mem_free(before);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void check_case(const struct fixture *f, const struct setting *s, const struct variant *v,
		       enum layout layout)
{
	struct operands o = make(s, v, layout);
	struct tn_workspace workspace = {.struct_size = sizeof(workspace), .minimum = 1};
	struct tn_pool2d_args args = arguments(&o, TN_DRY_RUN);
	fill(&o);
	args.call.workspace = &workspace;
	assert_ok(nn_of(f)->pool2d_forward(f->device, &args));
	assert_int_equal(workspace.minimum, 0);
	args.call.flags = 0;
	assert_ok(nn_of(f)->pool2d_forward(f->device, &args));
	check_forward(&o);
	if (v->kind == TN_POOL_AVERAGE || v->has_index)
		check_backward(f, &o);
	release(&o);
}

static void agrees_with_plain_loops_on_every_level(void **unused)
{
	(void)unused;
	for (size_t level = 0; level < FIXTURE_LEVELS; level++) {
		struct fixture f = {.variant = fixture_level(level)};
		fixture_open(&f, 2);
		for (size_t s = 0; s < sizeof(settings) / sizeof(*settings); s++)
			for (size_t v = 0; v < sizeof(variants) / sizeof(*variants); v++)
				for (int layout = 0; layout < LAYOUTS; layout++)
					check_case(&f, &settings[s], &variants[v],
						   (enum layout)layout);
		fixture_close(&f);
	}
}

/* x in one layout and y in another, as where the input of a network is pooled. */
static void layouts_may_differ(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 2);
	struct operands o = make(&settings[4], &variants[0], LAYOUT_NCHW);
	struct operands other = make(&settings[4], &variants[0], LAYOUT_NHWC);
	struct tensor y = o.y;
	o.y = other.y;
	fill(&o);
	struct tn_pool2d_args args = arguments(&o, 0);
	assert_ok(nn_of(&f)->pool2d_forward(f.device, &args));
	check_forward(&o);
	check_backward(&f, &o);
	o.y = y;
	release(&o);
	release(&other);
	fixture_close(&f);
}

/* dy of one number, as from a sum, has strides of 0. */
static void a_gradient_may_be_broadcast(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 2);
	struct operands o = make(&settings[1], &variants[0], LAYOUT_NHWC);
	tensor_randomise(&o.x);
	struct tn_pool2d_args args = arguments(&o, 0);
	assert_ok(nn_of(&f)->pool2d_forward(f.device, &args));
	memset(args.y.strides, 0, sizeof(args.y.strides));
	*(float *)tensor_at(&o.y, 0, 0, 0, 0) = 0.5f;
	assert_ok(nn_of(&f)->pool2d_backward(f.device, &args));
	for (int64_t i = 0; i < tensor_count(&o.y); i++)
		*(float *)tensor_element(&o.y, i) = 0.5f;
	for (int64_t i = 0; i < 3 * 6; i++)
		check_plane(&o, NULL, i / 6, i % 6);
	release(&o);
	fixture_close(&f);
}

static void an_index_outside_the_plane_gives_to_nobody(void **unused)
{
	(void)unused;
	static const int32_t outside[] = {-1, INT32_MIN, 28 * 28, INT32_MAX};
	struct fixture f = {0};
	fixture_open(&f, 1);
	for (int layout = 0; layout < LAYOUTS; layout++) {
		struct operands o = make(&settings[1], &variants[0], (enum layout)layout);
		tensor_randomise(&o.y);
		for (int64_t i = 0; i < tensor_count(&o.index); i++)
			*(int32_t *)tensor_element(&o.index, i) = outside[i % 4];
		struct tn_pool2d_args args = arguments(&o, 0);
		assert_ok(nn_of(&f)->pool2d_backward(f.device, &args));
		for (int64_t i = 0; i < tensor_count(&o.x); i++)
			assert_true(tensor_number(&o.x, i) == 0);
		tensor_check_sentinels(&o.x);
		release(&o);
	}
	fixture_close(&f);
}

static void refuses(const struct fixture *f, const struct tn_pool2d_args *args, tn_status status,
		    const char *text)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_pool2d_args own = *args;
	own.call.error = &error;
	assert_status(nn_of(f)->pool2d_forward(f->device, &own), status);
	assert_string_equal(error.operation, "pool2d_forward");
	assert_contains(error.text, text);
	own.call.flags = TN_DRY_RUN;
	assert_status(nn_of(f)->pool2d_forward(f->device, &own), status);
}

static void what_does_not_fit_is_refused(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	struct operands o = make(&settings[1], &variants[0], LAYOUT_NHWC);
	struct tn_pool2d_args good = arguments(&o, 0), args = good;
	args.x.dtype = args.y.dtype = TN_F64;
	refuses(&f, &args, TN_UNSUPPORTED, "expected f32");
	args = good;
	args.kind = 9;
	refuses(&f, &args, TN_UNSUPPORTED, "kind 9");
	args = good;
	args.padding[3] = 2;
	refuses(&f, &args, TN_INVALID_ARGUMENT, "padding 2");
	args = good;
	args.y.shape[3] = 13;
	refuses(&f, &args, TN_SHAPE, "y: expected (3, 6, 14, 14), found rank 4, (3, 6, 14, 13)");
	args = good;
	args.index.dtype = TN_I64;
	refuses(&f, &args, TN_DTYPE, "index: expected i32");
	args = good;
	args.has_index = 0;
	assert_status(nn_of(&f)->pool2d_backward(f.device, &args), TN_INVALID_ARGUMENT);
	tensor_check_sentinels(&o.y);
	release(&o);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_plain_loops_on_every_level),
		cmocka_unit_test(layouts_may_differ),
		cmocka_unit_test(a_gradient_may_be_broadcast),
		cmocka_unit_test(an_index_outside_the_plane_gives_to_nobody),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
