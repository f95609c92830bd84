/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The layers' slots of the reference backend against recorded PyTorch numbers, in f32 and in f64.
 *
 * The reference computes in f64 and rounds its results once.  Inputs in f32 that PyTorch had in f64
 * (the output of a softmax, mean and rstd, the log-sum-exp) are rounded too; a result changes by a
 * few times as much, relative to the largest numbers involved.  32 roundings are allowed for that.
 */
#include "record.h"

#include <float.h>

#include "unit/reference_fixture.h"

/* Operands made from a case's arrays. */
struct trial {
	struct fixture *f;
	struct record record;
	tn_dtype dtype;
	int n_blocks;
	void *blocks[RECORD_ITEMS];
};

static void *block(struct trial *t, size_t size)
{
	assert_true(t->n_blocks < RECORD_ITEMS);
	return t->blocks[t->n_blocks++] = test_calloc(1, size);
}

static const struct record_array *recorded(const struct trial *t, const char *name)
{
	const struct record_array *array = record_array(&t->record, name);
	if (!array)
		fail_msg("case %s has no array %s", t->record.layer, name);
	return array;
}

/* An input, from the recorded values, of the given dtype. */
static struct tn_operand given_as(struct trial *t, const char *name, tn_dtype dtype)
{
	const struct record_array *array = recorded(t, name);
	void *data = block(t, array->count * sizeof(double));
	for (size_t i = 0; i < array->count; i++) {
		if (dtype == TN_F64)
			((double *)data)[i] = array->values[i];
		else if (dtype == TN_F32)
			((float *)data)[i] = (float)array->values[i];
		else
			((int32_t *)data)[i] = (int32_t)array->values[i];
	}
	return operand(dtype, data, array->rank, array->shape);
}

static struct tn_operand given(struct trial *t, const char *name)
{
	return given_as(t, name, t->dtype);
}

/* An output of a recorded array's shape. */
static struct tn_operand blank(struct trial *t, const char *name, tn_dtype dtype)
{
	const struct record_array *array = recorded(t, name);
	return operand(dtype, block(t, array->count * sizeof(double)), array->rank, array->shape);
}

static double value_at(const struct tn_operand *o, size_t i)
{
	const void *data = (const void *)(uintptr_t)o->buffer;
	if (o->dtype == TN_F64)
		return ((const double *)data)[i];
	return o->dtype == TN_F32 ? (double)((const float *)data)[i]
				  : (double)((const int32_t *)data)[i];
}

/* The output must be the recorded array. */
static void expect(const struct trial *t, const char *name, const struct tn_operand *found)
{
	const struct record_array *array = recorded(t, name);
	double epsilon = found->dtype == TN_F32 ? FLT_EPSILON : DBL_EPSILON, largest = 1;
	for (size_t i = 0; i < array->count; i++)
		largest = fmax(largest, fabs(array->values[i]));
	for (size_t i = 0; i < array->count; i++) {
		double tolerance = found->dtype == TN_I32 ? 0 : 32 * epsilon / 2 * largest;
		if (fabs(value_at(found, i) - array->values[i]) <= tolerance)
			continue;
		fail_msg("%s: %s[%zu]: PyTorch has %.17g, found %.17g (%s)", t->record.layer, name,
			 i, array->values[i], value_at(found, i), tn_dtype_name(found->dtype));
	}
}

static void take_ints(const struct trial *t, const char *name, int64_t *to, int n)
{
	const int64_t *values = record_ints(&t->record, name);
	assert_non_null(values);
	memcpy(to, values, (size_t)n * sizeof(*to));
}

static int64_t one_int(const struct trial *t, const char *name)
{
	int64_t value;
	take_ints(t, name, &value, 1);
	return value;
}

static void conv2d(struct trial *t)
{
	const struct tn_nn_table *nn = t->f->nn;
	struct tn_conv2d_args args = {.call = CALL(struct tn_conv2d_args, t->f)}, gradient;
	take_ints(t, "stride", args.stride, 2);
	take_ints(t, "dilation", args.dilation, 2);
	take_ints(t, "padding", args.padding, 4);
	args.groups = (uint32_t)one_int(t, "groups");
	args.x = given(t, "x");
	args.w = given(t, "w");
	args.y = given(t, "dy");
	gradient = args;
	gradient.x = blank(t, "dx", t->dtype);
	assert_ok(nn->conv2d_input_gradient(t->f->device, &gradient));
	expect(t, "dx", &gradient.x);
	gradient.x = args.x;
	gradient.w = blank(t, "dw", t->dtype);
	assert_ok(nn->conv2d_weight_gradient(t->f->device, &gradient));
	expect(t, "dw", &gradient.w);
	args.y = blank(t, "y", t->dtype);
	args.has_bias = (uint32_t)one_int(t, "bias");
	if (args.has_bias)
		args.bias = given(t, "b");
	assert_ok(nn->conv2d_forward(t->f->device, &args));
	expect(t, "y", &args.y);
}

static void pool2d(struct trial *t, uint32_t kind)
{
	struct tn_pool2d_args args = {.call = CALL(struct tn_pool2d_args, t->f), .kind = kind};
	take_ints(t, "kernel", args.kernel, 2);
	take_ints(t, "stride", args.stride, 2);
	take_ints(t, "padding", args.padding, 4);
	args.x = given(t, "x");
	args.y = blank(t, "y", t->dtype);
	if (kind == TN_POOL_MAX) {
		args.has_index = 1;
		args.index = blank(t, "index", TN_I32);
	} else {
		args.count_padding = (uint32_t)one_int(t, "count_padding");
	}
	assert_ok(t->f->nn->pool2d_forward(t->f->device, &args));
	expect(t, "y", &args.y);
	if (kind == TN_POOL_MAX)
		expect(t, "index", &args.index);
	args.x = blank(t, "dx", t->dtype);
	args.y = given(t, "dy");
	assert_ok(t->f->nn->pool2d_backward(t->f->device, &args));
	expect(t, "dx", &args.x);
}

static void max_pool2d(struct trial *t)
{
	pool2d(t, TN_POOL_MAX);
}

static void avg_pool2d(struct trial *t)
{
	pool2d(t, TN_POOL_AVERAGE);
}

typedef tn_status (*norm_entry)(void *device, const struct tn_norm_args *args);

static void norm(struct trial *t, norm_entry forward, norm_entry backward)
{
	struct tn_norm_args args = {.call = CALL(struct tn_norm_args, t->f),
				    .has_affine = 1,
				    .wants = 3,
				    .use_statistics = (uint32_t)one_int(t, "given"),
				    .epsilon = (double)one_int(t, "epsilon_millionths") / 1e6};
	args.x = given(t, "x");
	args.w = given(t, "w");
	args.b = given(t, "b");
	args.y = blank(t, "y", t->dtype);
	args.mean = args.use_statistics ? given(t, "mean") : blank(t, "mean", t->dtype);
	args.rstd = args.use_statistics ? given(t, "rstd") : blank(t, "rstd", t->dtype);
	assert_ok(forward(t->f->device, &args));
	expect(t, "y", &args.y);
	expect(t, "mean", &args.mean);
	expect(t, "rstd", &args.rstd);
	args.y = given(t, "dy");
	args.dx = blank(t, "dx", t->dtype);
	args.dw = blank(t, "dw", t->dtype);
	args.db = blank(t, "db", t->dtype);
	assert_ok(backward(t->f->device, &args));
	expect(t, "dx", &args.dx);
	expect(t, "dw", &args.dw);
	expect(t, "db", &args.db);
}

static void batch_norm(struct trial *t)
{
	norm(t, t->f->nn->batch_norm_forward, t->f->nn->batch_norm_backward);
}

static void layer_norm(struct trial *t)
{
	norm(t, t->f->nn->layer_norm_forward, t->f->nn->layer_norm_backward);
}

static void softmax(struct trial *t)
{
	struct tn_softmax_args args = {.call = CALL(struct tn_softmax_args, t->f),
				       .axis = (uint32_t)one_int(t, "axis"),
				       .logarithm = (uint32_t)one_int(t, "logarithm")};
	args.x = given(t, "x");
	args.y = blank(t, "y", t->dtype);
	assert_ok(t->f->nn->softmax_forward(t->f->device, &args));
	expect(t, "y", &args.y);
	args.dy = given(t, "dy");
	args.dx = blank(t, "dx", t->dtype);
	assert_ok(t->f->nn->softmax_backward(t->f->device, &args));
	expect(t, "dx", &args.dx);
}

static void cross_entropy(struct trial *t)
{
	struct tn_cross_entropy_args args = {.call = CALL(struct tn_cross_entropy_args, t->f),
					     .ignore_label = (int32_t)one_int(t, "ignore")};
	args.x = given(t, "x");
	args.labels = given_as(t, "labels", TN_I32);
	args.loss = blank(t, "loss", t->dtype);
	args.maximum = blank(t, "maximum", t->dtype);
	args.log_sum = blank(t, "log_sum", t->dtype);
	assert_ok(t->f->nn->cross_entropy_forward(t->f->device, &args));
	expect(t, "loss", &args.loss);
	expect(t, "maximum", &args.maximum);
	expect(t, "log_sum", &args.log_sum);
	args.loss = given(t, "dloss");
	args.dx = blank(t, "dx", t->dtype);
	assert_ok(t->f->nn->cross_entropy_backward(t->f->device, &args));
	expect(t, "dx", &args.dx);
}

static const struct {
	const char *name;
	void (*run)(struct trial *trial);
} layers[] = {
	{"conv2d", conv2d},
	{"max_pool2d", max_pool2d},
	{"avg_pool2d", avg_pool2d},
	{"batch_norm", batch_norm},
	{"layer_norm", layer_norm},
	{"softmax", softmax},
	{"cross_entropy", cross_entropy},
};

static void run_layer(struct trial *t, tn_dtype dtype)
{
	t->dtype = dtype;
	t->n_blocks = 0;
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		if (strcmp(layers[i].name, t->record.layer) != 0)
			continue;
		layers[i].run(t);
		while (t->n_blocks > 0)
			test_free(t->blocks[--t->n_blocks]);
		return;
	}
	fail_msg("layer %s is not known", t->record.layer);
}

static void agree_with_pytorch(void **state)
{
	struct trial t = {.f = *state};
	FILE *file = record_open("layers.txt");
	int n_cases = 0;
	while (record_read(file, &t.record)) {
		run_layer(&t, TN_F32);
		run_layer(&t, TN_F64);
		record_free(&t.record);
		n_cases++;
	}
	fclose(file);
	assert_int_equal(n_cases, 23);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(agree_with_pytorch)};
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
