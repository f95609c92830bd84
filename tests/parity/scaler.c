/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ten steps with a gradient scaler against recorded PyTorch numbers: scales, skipped steps and
 * parameters, of networks of all dtypes.
 *
 * Tolerance: PyTorch computes in f32, and some twenty roundings of numbers about 1 make a step.
 * Scales are equal.  Masters stand for parameters of f16 and bf16, whose gradients are of their
 * dtype before they are unscaled: of scales up to 13000 and in f16 of these alone.
 */
#include "record.h"

#include <float.h>
#include <math.h>

#include "parity/parity.h"

enum { STEPS = 10, PARAMETERS = 2 };
static const char *const names[] = {"matrix", "bias"};

/* What all cases share: initial values and gradients. */
static struct record given;

struct course {
	tn_context *context;
	tn_module *module;
	tn_optimizer *optimizer;
	tn_grad_scaler *scaler;
	tn_dtype dtype;
	int step;
};

static const struct record_array *recorded(const struct record *record, const char *letter, int i)
{
	char name[RECORD_NAME];
	snprintf(name, sizeof(name), "%s%d", letter, i);
	const struct record_array *array = record_array(record, name);
	if (!array)
		fail_msg("case %s has no array %s", record->layer, name);
	return array;
}

static double option(const struct record *record, const char *name)
{
	const struct record_array *array = record_array(record, name);
	assert_non_null(array);
	return array->values[0];
}

/* Part number `part` of n values each, as an array of that shape. */
static tn_array *upload(const struct course *course, const double *from, size_t part, int rank,
			const int64_t *shape, size_t n)
{
	tn_array *wide = tn_from_host(course->context, TN_F64, rank, shape, from + part * n);
	return tn_astype(wide, course->dtype);
}

/* The sum of parameter times gradient, in f32 at least. */
static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct course *course = state;
	tn_array *y = tn_astype(tn_multiply(x, x), course->dtype == TN_F64 ? TN_F64 : TN_F32);
	for (int i = 0; i < PARAMETERS; i++) {
		const struct record_array *start = recorded(&given, "w", i);
		tn_array *g = upload(course, recorded(&given, "g", i)->values, (size_t)course->step,
				     (int)start->rank, start->shape, start->count);
		tn_array *w = tn_module_own_parameter(module, names[i]);
		y = tn_add(y, tn_sum(tn_multiply(w, g), TN_ALL_AXES, NULL, 0));
	}
	return y;
}

static void make_module(struct course *course)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Given", .forward = forward};
	course->module = tn_module_create(course->context, &class_, course);
	for (int i = 0; i < PARAMETERS; i++) {
		const struct record_array *start = recorded(&given, "w", i);
		assert_ok(tn_module_add_parameter(course->module, names[i], (int)start->rank,
						  start->shape, 0, 0));
	}
	assert_ok(tn_module_set_dtype(course->module, course->dtype));
	assert_ok(tn_module_build(course->module));
	for (int i = 0; i < PARAMETERS; i++) {
		const struct record_array *start = recorded(&given, "w", i);
		tn_array *w = tn_module_own_parameter(course->module, names[i]);
		assert_ok(tn_assign(w, upload(course, start->values, 0, (int)start->rank,
					      start->shape, start->count)));
	}
}

static double tolerance_of(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F16:
		return 0x1p-10;
	case TN_BF16:
		return 0x1p-7;
	default:
		return 20 * (double)FLT_EPSILON;
	}
}

static void expect_parameters(const struct course *course, const struct record *record)
{
	for (int i = 0; i < PARAMETERS; i++) {
		const struct record_array *expected = recorded(record, "w", i);
		const tn_array *w = tn_module_own_parameter(course->module, names[i]);
		size_t n = expected->count / STEPS;
		double found[16];
		assert_true(n <= 16);
		assert_ok(tn_to_host(tn_astype(w, TN_F64), found, n * sizeof(*found)));
		for (size_t k = 0; k < n; k++) {
			double value = expected->values[(size_t)course->step * n + k];
			double tolerance = tolerance_of(course->dtype) * fmax(1, fabs(value));
			if (fabs(found[k] - value) > tolerance)
				fail_msg("%s, step %d: %s[%zu]: PyTorch has %.9g, found %.9g",
					 tn_dtype_name(course->dtype), course->step, names[i], k,
					 value, found[k]);
		}
	}
}

static void take_step(struct course *course, const struct record *record)
{
	struct tn_grad_scaler_state state = {.struct_size = sizeof(state)};
	double clip = option(record, "clip");
	assert_ok(tn_scope_begin(course->context));
	tn_module_zero_gradients(course->module);
	tn_tape *tape = tn_tape_begin(course->context);
	tn_array *loss = tn_module_forward(course->module,
					   tn_zeros(course->context, course->dtype, 0, NULL));
	assert_non_null(loss);
	assert_ok(tn_tape_backward(tape, tn_grad_scaler_scale(course->scaler, loss), NULL));
	tn_tape_end(tape);
	if (clip > 0) {
		assert_ok(tn_grad_scaler_unscale(course->scaler));
		assert_ok(tn_clip_grad_norm(course->module, clip, NULL));
	}
	assert_ok(tn_grad_scaler_step(course->scaler, course->optimizer));
	assert_int_equal(tn_grad_scaler_has_skipped(course->scaler),
			 record_ints(record, "skipped")[course->step]);
	assert_ok(tn_grad_scaler_update(course->scaler));
	assert_ok(tn_grad_scaler_get_state(course->scaler, &state));
	double scale = record_array(record, "scales")->values[course->step];
	if (state.scale != scale)
		fail_msg("%s, step %d: PyTorch's scale is %.9g, found %.9g",
			 tn_dtype_name(course->dtype), course->step, scale, state.scale);
	tn_scope_end(course->context, NULL);
}

static void check_case(tn_context *context, const struct record *record, tn_dtype dtype)
{
	struct course course = {.context = context, .dtype = dtype};
	assert_ok(tn_scope_begin(context));
	make_module(&course);
	course.optimizer = tn_sgd(course.module,
				  TN_OPTIONS(struct tn_sgd_options, .lr = 0.05, .momentum = 0.9));
	course.scaler = tn_grad_scaler_create(
		course.module,
		TN_OPTIONS(struct tn_grad_scaler_options,
			   .growth_interval = (uint32_t)record_ints(record, "growth_interval")[0],
			   .init_scale = option(record, "init_scale"),
			   .growth_factor = option(record, "growth_factor"),
			   .backoff_factor = option(record, "backoff_factor")));
	assert_non_null(course.scaler);
	for (course.step = 0; course.step < STEPS; course.step++) {
		take_step(&course, record);
		expect_parameters(&course, record);
	}
	tn_grad_scaler_destroy(course.scaler);
	tn_optimizer_destroy(course.optimizer);
	tn_module_destroy(course.module);
	tn_scope_end(context, NULL);
}

static void check(tn_context *context, const struct record *record, int number)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_BF16, TN_F64, TN_F16};
	/* The third scale is beyond f16, and with f64 the products do not overflow. */
	for (int i = 0; i < (number < 2 ? 4 : 2); i++)
		check_case(context, record, dtypes[i]);
}

const struct parity parity = {
	.claim = "scales_as_pytorch_does",
	.records = {{"scaler.txt", 3}},
	.check = check,
	.given = &given,
};
