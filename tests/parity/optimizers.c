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

/* The recorded option, or the default where there is none. */
static double option(const struct record *record, const char *name, double otherwise)
{
	const struct record_array *array = record_array(record, name);
	return array ? array->values[0] : otherwise;
}

static int flag(const struct record *record, const char *name)
{
	const int64_t *ints = record_ints(record, name);
	return ints ? (int)ints[0] : 0;
}

static tn_optimizer *sgd(tn_module *module, const struct record *r)
{
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = option(r, "lr", options.lr);
	options.momentum = option(r, "momentum", options.momentum);
	options.dampening = option(r, "dampening", options.dampening);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.nesterov = flag(r, "nesterov");
	return tn_sgd(module, &options);
}

static tn_optimizer *adam(tn_module *module, const struct record *r)
{
	struct tn_adam_options options = tn_adam_defaults();
	options.lr = option(r, "lr", options.lr);
	options.beta1 = option(r, "beta1", options.beta1);
	options.beta2 = option(r, "beta2", options.beta2);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.amsgrad = flag(r, "amsgrad");
	return tn_adam(module, &options);
}

static tn_optimizer *adamw(tn_module *module, const struct record *r)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = option(r, "lr", options.lr);
	options.beta1 = option(r, "beta1", options.beta1);
	options.beta2 = option(r, "beta2", options.beta2);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.amsgrad = flag(r, "amsgrad");
	return tn_adamw(module, &options);
}

static tn_optimizer *nadam(tn_module *module, const struct record *r)
{
	struct tn_nadam_options options = tn_nadam_defaults();
	options.lr = option(r, "lr", options.lr);
	options.beta1 = option(r, "beta1", options.beta1);
	options.beta2 = option(r, "beta2", options.beta2);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.momentum_decay = option(r, "momentum_decay", options.momentum_decay);
	options.decoupled_weight_decay = flag(r, "decoupled_weight_decay");
	return tn_nadam(module, &options);
}

static tn_optimizer *rmsprop(tn_module *module, const struct record *r)
{
	struct tn_rmsprop_options options = tn_rmsprop_defaults();
	options.lr = option(r, "lr", options.lr);
	options.alpha = option(r, "alpha", options.alpha);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.momentum = option(r, "momentum", options.momentum);
	options.centered = flag(r, "centered");
	return tn_rmsprop(module, &options);
}

static tn_optimizer *adagrad(tn_module *module, const struct record *r)
{
	struct tn_adagrad_options options = tn_adagrad_defaults();
	options.lr = option(r, "lr", options.lr);
	options.lr_decay = option(r, "lr_decay", options.lr_decay);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.initial_accumulator_value =
		option(r, "initial_accumulator_value", options.initial_accumulator_value);
	options.epsilon = option(r, "epsilon", options.epsilon);
	return tn_adagrad(module, &options);
}

static tn_optimizer *adadelta(tn_module *module, const struct record *r)
{
	struct tn_adadelta_options options = tn_adadelta_defaults();
	options.lr = option(r, "lr", options.lr);
	options.rho = option(r, "rho", options.rho);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	return tn_adadelta(module, &options);
}

static tn_optimizer *lion(tn_module *module, const struct record *r)
{
	struct tn_lion_options options = tn_lion_defaults();
	options.lr = option(r, "lr", options.lr);
	options.beta1 = option(r, "beta1", options.beta1);
	options.beta2 = option(r, "beta2", options.beta2);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	return tn_lion(module, &options);
}

static tn_optimizer *lars(tn_module *module, const struct record *r)
{
	struct tn_lars_options options = tn_lars_defaults();
	options.lr = option(r, "lr", options.lr);
	options.momentum = option(r, "momentum", options.momentum);
	options.dampening = option(r, "dampening", options.dampening);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.trust_coefficient = option(r, "trust_coefficient", options.trust_coefficient);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.nesterov = flag(r, "nesterov");
	options.adapt_vectors = flag(r, "adapt_vectors");
	return tn_lars(module, &options);
}

static tn_optimizer *lamb(tn_module *module, const struct record *r)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	options.lr = option(r, "lr", options.lr);
	options.beta1 = option(r, "beta1", options.beta1);
	options.beta2 = option(r, "beta2", options.beta2);
	options.epsilon = option(r, "epsilon", options.epsilon);
	options.weight_decay = option(r, "weight_decay", options.weight_decay);
	options.adapt_vectors = flag(r, "adapt_vectors");
	return tn_lamb(module, &options);
}

/* record_optimizers.py's grouped(). */
static tn_optimizer *groups(tn_module *module, const struct record *r)
{
	(void)r;
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = 0.03;
	options.weight_decay = 0.1;
	tn_optimizer *optimizer = tn_adamw(module, &options);
	struct tn_group_options group = tn_group_defaults();
	group.names = "mat*";
	group.lr_factor = 1 / 3.0;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	group = tn_group_defaults();
	group.max_rank = 1;
	group.weight_decay = 0;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	return optimizer;
}

static tn_optimizer *lookahead(tn_module *module, const struct record *r)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = 0.05;
	tn_optimizer *optimizer = tn_adamw(module, &options);
	struct tn_lookahead_options lookahead_options = tn_lookahead_defaults();
	lookahead_options.k = (uint64_t)flag(r, "k");
	lookahead_options.alpha = option(r, "alpha", lookahead_options.alpha);
	assert_ok(tn_lookahead(optimizer, &lookahead_options));
	return optimizer;
}

/* The weights of an average. */
static tn_optimizer *average(tn_module *module, const struct record *r)
{
	(void)r;
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.05;
	return tn_sgd(module, &options);
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
		struct tn_average_view view;
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
	if (!strcmp(record->layer, "average")) {
		struct tn_average_options averaging = tn_average_defaults();
		averaging.decay = option(record, "decay", averaging.decay);
		course.average = tn_average_create(course.module, &averaging);
	}
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
