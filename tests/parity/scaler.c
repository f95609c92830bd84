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
#include <float.h>
#include <math.h>

#include "parity/course.h"
#include "parity/parity.h"

static double option(const struct record *record, const char *name)
{
	const struct record_array *array = record_array(record, name);
	assert_non_null(array);
	return array->values[0];
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
	for (int i = 0; i < n_parameters(); i++) {
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
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	sgd.momentum = 0.9;
	course.optimizer = tn_sgd(course.module, &sgd);
	struct tn_grad_scaler_options options = tn_grad_scaler_defaults();
	options.growth_interval = (uint32_t)record_ints(record, "growth_interval")[0];
	options.init_scale = option(record, "init_scale");
	options.growth_factor = option(record, "growth_factor");
	options.backoff_factor = option(record, "backoff_factor");
	course.scaler = tn_grad_scaler_create(course.module, &options);
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
