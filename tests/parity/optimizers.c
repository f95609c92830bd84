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

/* Sets an option that the case has; others keep their defaults. */
static void take(const struct record *record, const char *name, double *option)
{
	const struct record_array *array = record_array(record, name);
	if (array)
		*option = array->values[0];
}

static void take_flag(const struct record *record, const char *name, int *option)
{
	const int64_t *ints = record_ints(record, name);
	if (ints)
		*option = (int)ints[0];
}

static tn_optimizer *sgd(tn_module *module, const struct record *r)
{
	struct tn_sgd_options o = tn_sgd_defaults();
	take(r, "lr", &o.lr);
	take(r, "momentum", &o.momentum);
	take(r, "dampening", &o.dampening);
	take(r, "weight_decay", &o.weight_decay);
	take_flag(r, "nesterov", &o.nesterov);
	return tn_sgd(module, &o);
}

static tn_optimizer *adam(tn_module *module, const struct record *r)
{
	struct tn_adam_options o = tn_adam_defaults();
	take(r, "lr", &o.lr);
	take(r, "beta1", &o.beta1);
	take(r, "beta2", &o.beta2);
	take(r, "epsilon", &o.epsilon);
	take(r, "weight_decay", &o.weight_decay);
	take_flag(r, "amsgrad", &o.amsgrad);
	return tn_adam(module, &o);
}

static tn_optimizer *adamw(tn_module *module, const struct record *r)
{
	struct tn_adamw_options o = tn_adamw_defaults();
	take(r, "lr", &o.lr);
	take(r, "beta1", &o.beta1);
	take(r, "beta2", &o.beta2);
	take(r, "epsilon", &o.epsilon);
	take(r, "weight_decay", &o.weight_decay);
	take_flag(r, "amsgrad", &o.amsgrad);
	return tn_adamw(module, &o);
}

static tn_optimizer *nadam(tn_module *module, const struct record *r)
{
	struct tn_nadam_options o = tn_nadam_defaults();
	take(r, "lr", &o.lr);
	take(r, "beta1", &o.beta1);
	take(r, "beta2", &o.beta2);
	take(r, "epsilon", &o.epsilon);
	take(r, "weight_decay", &o.weight_decay);
	take(r, "momentum_decay", &o.momentum_decay);
	take_flag(r, "decoupled_weight_decay", &o.decoupled_weight_decay);
	return tn_nadam(module, &o);
}

static tn_optimizer *rmsprop(tn_module *module, const struct record *r)
{
	struct tn_rmsprop_options o = tn_rmsprop_defaults();
	take(r, "lr", &o.lr);
	take(r, "alpha", &o.alpha);
	take(r, "epsilon", &o.epsilon);
	take(r, "weight_decay", &o.weight_decay);
	take(r, "momentum", &o.momentum);
	take_flag(r, "centered", &o.centered);
	return tn_rmsprop(module, &o);
}

static tn_optimizer *adagrad(tn_module *module, const struct record *r)
{
	struct tn_adagrad_options o = tn_adagrad_defaults();
	take(r, "lr", &o.lr);
	take(r, "lr_decay", &o.lr_decay);
	take(r, "weight_decay", &o.weight_decay);
	take(r, "initial_accumulator_value", &o.initial_accumulator_value);
	take(r, "epsilon", &o.epsilon);
	return tn_adagrad(module, &o);
}

static tn_optimizer *adadelta(tn_module *module, const struct record *r)
{
	struct tn_adadelta_options o = tn_adadelta_defaults();
	take(r, "lr", &o.lr);
	take(r, "rho", &o.rho);
	take(r, "epsilon", &o.epsilon);
	take(r, "weight_decay", &o.weight_decay);
	return tn_adadelta(module, &o);
}

static tn_optimizer *lion(tn_module *module, const struct record *r)
{
	struct tn_lion_options o = tn_lion_defaults();
	take(r, "lr", &o.lr);
	take(r, "beta1", &o.beta1);
	take(r, "beta2", &o.beta2);
	take(r, "weight_decay", &o.weight_decay);
	return tn_lion(module, &o);
}

static tn_optimizer *lars(tn_module *module, const struct record *r)
{
	struct tn_lars_options o = tn_lars_defaults();
	take(r, "lr", &o.lr);
	take(r, "momentum", &o.momentum);
	take(r, "dampening", &o.dampening);
	take(r, "weight_decay", &o.weight_decay);
	take(r, "trust_coefficient", &o.trust_coefficient);
	take(r, "epsilon", &o.epsilon);
	take_flag(r, "nesterov", &o.nesterov);
	take_flag(r, "adapt_vectors", &o.adapt_vectors);
	return tn_lars(module, &o);
}

static tn_optimizer *lamb(tn_module *module, const struct record *r)
{
	struct tn_lamb_options o = tn_lamb_defaults();
	take(r, "lr", &o.lr);
	take(r, "beta1", &o.beta1);
	take(r, "beta2", &o.beta2);
	take(r, "epsilon", &o.epsilon);
	take(r, "weight_decay", &o.weight_decay);
	take_flag(r, "adapt_vectors", &o.adapt_vectors);
	return tn_lamb(module, &o);
}

/* record_optimizers.py's grouped(). */
static tn_optimizer *groups(tn_module *module, const struct record *r)
{
	struct tn_adamw_options o = tn_adamw_defaults();
	struct tn_group_options matrices = tn_group_defaults(), vectors = tn_group_defaults();
	(void)r;
	o.lr = 0.03;
	o.weight_decay = 0.1;
	matrices.names = "mat*";
	matrices.lr_factor = 1 / 3.0;
	vectors.max_rank = 1;
	vectors.weight_decay = 0;
	tn_optimizer *optimizer = tn_adamw(module, &o);
	assert_ok(tn_optimizer_set_group(optimizer, &matrices));
	assert_ok(tn_optimizer_set_group(optimizer, &vectors));
	return optimizer;
}

static tn_optimizer *lookahead(tn_module *module, const struct record *r)
{
	struct tn_adamw_options o = tn_adamw_defaults();
	struct tn_lookahead_options around = tn_lookahead_defaults();
	o.lr = 0.05;
	around.k = (uint64_t)record_ints(r, "k")[0];
	take(r, "alpha", &around.alpha);
	tn_optimizer *optimizer = tn_adamw(module, &o);
	assert_ok(tn_lookahead(optimizer, &around));
	return optimizer;
}

/* The weights of an average. */
static tn_optimizer *average(tn_module *module, const struct record *r)
{
	struct tn_sgd_options o = tn_sgd_defaults();
	(void)r;
	o.lr = 0.05;
	return tn_sgd(module, &o);
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
		struct tn_weight_average_view view = {.struct_size = sizeof(view)};
		if (course->average) {
			assert_ok(tn_weight_average_at(course->average, (size_t)i, &view));
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
		assert_ok(tn_weight_average_update(course->average));
	tn_scope_end(course->context, NULL);
}

static tn_weight_average *average_of(tn_module *module, const struct record *record)
{
	struct tn_weight_average_options o = tn_weight_average_defaults();
	take(record, "decay", &o.decay);
	if (o.decay == 0) /* recorded for the mean */
		o.decay = NAN;
	return tn_weight_average_create(module, &o);
}

static void check_case(tn_context *context, const struct record *record, tn_dtype dtype)
{
	struct course course = {.context = context, .dtype = dtype};
	assert_ok(tn_scope_begin(context));
	make_module(&course);
	course.optimizer = make_optimizer(course.module, record);
	assert_non_null(course.optimizer);
	if (!strcmp(record->layer, "average"))
		course.average = average_of(course.module, record);
	for (course.step = 0; course.step < STEPS; course.step++) {
		take_step(&course);
		expect_parameters(&course, record);
	}
	tn_weight_average_destroy(course.average);
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
	.records = {{"optimizers.txt", 63}, {"drawn_optimizers.txt", 30}},
	.check = check,
	.given = &given,
};
