/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ten steps of each optimizer against recorded PyTorch numbers, in f32 and f64, on three parameters
 * of which one or another has no gradient at some steps.
 *
 * Tolerance: a step rounds the weight once, and its update, of at most about the weight's size, by
 * some 20 operations: 24 roundings a step, relative to the larger of 1 and the weight, which later
 * steps carry on.  PyTorch keeps the product of NAdam's mu in f32 in any case.
 */
#include <float.h>
#include <math.h>

#include "parity/course.h"
#include "parity/parity.h"

/* ---- Optimizers ------------------------------------------------------------------------------*/

static double option(const struct record *record, const char *name)
{
	const struct record_array *array = record_array(record, name);
	return array ? array->values[0] : 0.0;
}

static int flag(const struct record *record, const char *name)
{
	const int64_t *ints = record_ints(record, name);
	return ints ? (int)ints[0] : 0;
}

static tn_optimizer *sgd(tn_module *module, const struct record *r)
{
	return tn_sgd(module, TN_OPTIONS(struct tn_sgd_options, .lr = option(r, "lr"),
					 .momentum = option(r, "momentum"),
					 .dampening = option(r, "dampening"),
					 .weight_decay = option(r, "weight_decay"),
					 .nesterov = flag(r, "nesterov")));
}

static tn_optimizer *adam(tn_module *module, const struct record *r)
{
	return tn_adam(module, TN_OPTIONS(struct tn_adam_options, .lr = option(r, "lr"),
					  .beta1 = option(r, "beta1"), .beta2 = option(r, "beta2"),
					  .epsilon = option(r, "epsilon"),
					  .weight_decay = option(r, "weight_decay"),
					  .amsgrad = flag(r, "amsgrad")));
}

static tn_optimizer *adamw(tn_module *module, const struct record *r)
{
	int has_decay = record_array(r, "weight_decay") != NULL;
	return tn_adamw(module,
			TN_OPTIONS(struct tn_adamw_options, .lr = option(r, "lr"),
				   .beta1 = option(r, "beta1"), .beta2 = option(r, "beta2"),
				   .epsilon = option(r, "epsilon"),
				   .weight_decay = has_decay ? option(r, "weight_decay") : -1,
				   .amsgrad = flag(r, "amsgrad")));
}

static tn_optimizer *nadam(tn_module *module, const struct record *r)
{
	return tn_nadam(module,
			TN_OPTIONS(struct tn_nadam_options, .lr = option(r, "lr"),
				   .beta1 = option(r, "beta1"), .beta2 = option(r, "beta2"),
				   .epsilon = option(r, "epsilon"),
				   .weight_decay = option(r, "weight_decay"),
				   .momentum_decay = option(r, "momentum_decay"),
				   .decoupled_weight_decay = flag(r, "decoupled_weight_decay")));
}

static tn_optimizer *rmsprop(tn_module *module, const struct record *r)
{
	return tn_rmsprop(module,
			  TN_OPTIONS(struct tn_rmsprop_options, .lr = option(r, "lr"),
				     .alpha = option(r, "alpha"), .epsilon = option(r, "epsilon"),
				     .weight_decay = option(r, "weight_decay"),
				     .momentum = option(r, "momentum"),
				     .centered = flag(r, "centered")));
}

static tn_optimizer *adagrad(tn_module *module, const struct record *r)
{
	return tn_adagrad(module, TN_OPTIONS(struct tn_adagrad_options, .lr = option(r, "lr"),
					     .lr_decay = option(r, "lr_decay"),
					     .weight_decay = option(r, "weight_decay"),
					     .initial_accumulator_value =
						     option(r, "initial_accumulator_value"),
					     .epsilon = option(r, "epsilon")));
}

static tn_optimizer *adadelta(tn_module *module, const struct record *r)
{
	return tn_adadelta(module,
			   TN_OPTIONS(struct tn_adadelta_options, .lr = option(r, "lr"),
				      .rho = option(r, "rho"), .epsilon = option(r, "epsilon"),
				      .weight_decay = option(r, "weight_decay")));
}

static tn_optimizer *lion(tn_module *module, const struct record *r)
{
	return tn_lion(module, TN_OPTIONS(struct tn_lion_options, .lr = option(r, "lr"),
					  .beta1 = option(r, "beta1"), .beta2 = option(r, "beta2"),
					  .weight_decay = option(r, "weight_decay")));
}

static tn_optimizer *lars(tn_module *module, const struct record *r)
{
	return tn_lars(module,
		       TN_OPTIONS(struct tn_lars_options, .lr = option(r, "lr"),
				  .momentum = option(r, "momentum"),
				  .dampening = option(r, "dampening"),
				  .weight_decay = option(r, "weight_decay"),
				  .trust_coefficient = option(r, "trust_coefficient"),
				  .epsilon = option(r, "epsilon"), .nesterov = flag(r, "nesterov"),
				  .adapt_vectors = flag(r, "adapt_vectors")));
}

static tn_optimizer *lamb(tn_module *module, const struct record *r)
{
	return tn_lamb(module, TN_OPTIONS(struct tn_lamb_options, .lr = option(r, "lr"),
					  .beta1 = option(r, "beta1"), .beta2 = option(r, "beta2"),
					  .epsilon = option(r, "epsilon"),
					  .weight_decay = option(r, "weight_decay"),
					  .adapt_vectors = flag(r, "adapt_vectors")));
}

/* record_optimizers.py's grouped(). */
static tn_optimizer *groups(tn_module *module, const struct record *r)
{
	(void)r;
	tn_optimizer *optimizer = tn_adamw(
		module, TN_OPTIONS(struct tn_adamw_options, .lr = 0.03, .weight_decay = 0.1));
	assert_ok(tn_optimizer_set_group(
		optimizer,
		TN_OPTIONS(struct tn_group_options, .names = "mat*", .lr_factor = 1 / 3.0)));
	assert_ok(tn_optimizer_set_group(
		optimizer, TN_OPTIONS(struct tn_group_options, .max_rank = 1, .no_decay = 1)));
	return optimizer;
}

static tn_optimizer *lookahead(tn_module *module, const struct record *r)
{
	tn_optimizer *optimizer = tn_adamw(
		module, TN_OPTIONS(struct tn_adamw_options, .lr = 0.05, .weight_decay = -1));
	assert_ok(tn_lookahead(optimizer,
			       TN_OPTIONS(struct tn_lookahead_options, .k = (uint64_t)flag(r, "k"),
					  .alpha = option(r, "alpha"))));
	return optimizer;
}

/* The weights of an average. */
static tn_optimizer *average(tn_module *module, const struct record *r)
{
	(void)r;
	return tn_sgd(module, TN_OPTIONS(struct tn_sgd_options, .lr = 0.05));
}

static const struct {
	const char *name;
	tn_optimizer *(*make)(tn_module *module, const struct record *record);
} optimizers[] = {
	{"adadelta", adadelta}, {"adagrad", adagrad},     {"adam", adam},   {"adamw", adamw},
	{"average", average},   {"groups", groups},       {"lion", lion},   {"lamb", lamb},
	{"lars", lars},         {"lookahead", lookahead}, {"nadam", nadam}, {"rmsprop", rmsprop},
	{"sgd", sgd},
};

static tn_optimizer *make_optimizer(tn_module *module, const struct record *record)
{
	for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++) {
		if (!strcmp(optimizers[i].name, record->layer))
			return optimizers[i].make(module, record);
	}
	fail_msg("optimizer %s is not known", record->layer);
	return NULL;
}

/* ---- Steps -----------------------------------------------------------------------------------*/

static void expect_parameters(const struct course *course, const struct record *record)
{
	for (int i = 0; i < n_parameters(); i++) {
		const struct record_array *expected = recorded(record, "w", i);
		const tn_array *w = tn_module_own_parameter(course->module, names[i]);
		struct tn_average_view view = {.struct_size = sizeof(view)};
		if (course->average) {
			assert_ok(tn_average_at(course->average, (size_t)i, &view));
			w = view.value;
		}
		size_t n = expected->count / STEPS;
		int is_narrow = course->dtype == TN_F32 || !strcmp(record->layer, "nadam");
		double found[64], epsilon = is_narrow ? FLT_EPSILON : DBL_EPSILON;
		assert_true(n <= 64);
		assert_ok(tn_to_host(tn_astype(w, TN_F64), found, n * sizeof(*found)));
		for (size_t k = 0; k < n; k++) {
			double value = expected->values[(size_t)course->step * n + k];
			double tolerance =
				(course->step + 1) * 24 * epsilon / 2 * fmax(1, fabs(value));
			if (fabs(found[k] - value) > tolerance)
				fail_msg("%s (%s), step %d: %s[%zu]: PyTorch has %.17g, found "
					 "%.17g",
					 record->layer, tn_dtype_name(course->dtype), course->step,
					 names[i], k, value, found[k]);
		}
	}
}

static void take_step(struct course *course)
{
	assert_ok(tn_scope_begin(course->context));
	tn_module_zero_gradients(course->module);
	tn_tape *tape = tn_tape_begin(course->context);
	tn_array *loss =
		tn_module_forward(course->module, tn_ones(course->context, course->dtype, 0, NULL));
	assert_non_null(loss);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(course->optimizer));
	if (course->average)
		assert_ok(tn_average_update(course->average));
	tn_scope_end(course->context, NULL);
}

static void check_case(tn_context *context, const struct record *record, tn_dtype dtype)
{
	struct course course = {.context = context, .dtype = dtype};
	assert_ok(tn_scope_begin(context));
	make_module(&course);
	course.optimizer = make_optimizer(course.module, record);
	assert_non_null(course.optimizer);
	if (!strcmp(record->layer, "average"))
		course.average = tn_average_create(
			course.module,
			TN_OPTIONS(struct tn_average_options, .decay = option(record, "decay")));
	for (course.step = 0; course.step < STEPS; course.step++) {
		take_step(&course);
		expect_parameters(&course, record);
	}
	tn_average_destroy(course.average);
	tn_optimizer_destroy(course.optimizer);
	tn_module_destroy(course.module);
	tn_scope_end(context, NULL);
}

static void check(tn_context *context, const struct record *record, int number)
{
	(void)number;
	check_case(context, record, TN_F32);
	check_case(context, record, TN_F64);
}

const struct parity parity = {
	.claim = "steps_as_pytorch_does",
	.records = {{"optimizers.txt", 30}},
	.check = check,
	.given = &given,
};
