/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a step costs: its operations, by the ledger, and where a test can count them the device's
 * launches, do not depend on the number of parameters, whatever the optimizer and all that goes
 * with it.
 */
#ifndef TN_TESTS_LAUNCH_CHECKS_H
#define TN_TESTS_LAUNCH_CHECKS_H

#include <tenon/tenon.h>

#include "check.h"

enum { LAUNCH_WIDTH = 16, LAUNCH_FEW = 2, LAUNCH_MANY = 20 };

/* ---- Optimizers ------------------------------------------------------------------------------*/

static inline tn_optimizer *launch_sgd(tn_module *net)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	sgd.momentum = 0.9;
	sgd.nesterov = 1;
	return tn_sgd(net, &sgd);
}

static inline tn_optimizer *launch_adam(tn_module *net)
{
	struct tn_adam_options adam = tn_adam_defaults();
	adam.amsgrad = 1;
	return tn_adam(net, &adam);
}

static inline tn_optimizer *launch_adamw(tn_module *net)
{
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.amsgrad = 1;
	return tn_adamw(net, &adamw);
}

static inline tn_optimizer *launch_nadam(tn_module *net)
{
	return tn_nadam(net, NULL);
}

static inline tn_optimizer *launch_rmsprop(tn_module *net)
{
	struct tn_rmsprop_options rmsprop = tn_rmsprop_defaults();
	rmsprop.momentum = 0.9;
	rmsprop.centered = 1;
	return tn_rmsprop(net, &rmsprop);
}

static inline tn_optimizer *launch_adagrad(tn_module *net)
{
	return tn_adagrad(net, NULL);
}

static inline tn_optimizer *launch_adadelta(tn_module *net)
{
	return tn_adadelta(net, NULL);
}

static inline tn_optimizer *launch_lion(tn_module *net)
{
	return tn_lion(net, NULL);
}

static inline tn_optimizer *launch_lars(tn_module *net)
{
	struct tn_lars_options lars = tn_lars_defaults();
	lars.lr = 0.1;
	lars.momentum = 0.9;
	lars.adapt_vectors = 1;
	return tn_lars(net, &lars);
}

static inline tn_optimizer *launch_lamb(tn_module *net)
{
	struct tn_lamb_options lamb = tn_lamb_defaults();
	lamb.adapt_vectors = 1;
	return tn_lamb(net, &lamb);
}

/* One program for all parameters.  LARS and LAMB, which adapt whole parameters, have one more for
 * the ratios and, LAMB, one for the moments; and two sums, along rows and of the rows. */
static const struct launch_case {
	const char *name; /* of its operations */
	tn_optimizer *(*make)(tn_module *net);
	uint64_t operations;
} launch_cases[] = {
	{"sgd", launch_sgd, 1},           {"adam", launch_adam, 1},
	{"adamw", launch_adamw, 1},       {"nadam", launch_nadam, 1},
	{"rmsprop", launch_rmsprop, 1},   {"adagrad", launch_adagrad, 1},
	{"adadelta", launch_adadelta, 1}, {"lion", launch_lion, 1},
	{"lars", launch_lars, 4},         {"lamb", launch_lamb, 5},
};
enum { LAUNCH_CASES = sizeof(launch_cases) / sizeof(launch_cases[0]) };

/* ---- Counting --------------------------------------------------------------------------------*/

/* Calls of an operation, or of all of them (NULL), since the ledger was reset. */
static inline uint64_t launch_calls(tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!operation || !strcmp(row.operation, operation))
			n += row.native + row.lent + row.composed + row.host;
	}
	return n;
}

/* A network of 2 n parameters, of which half are vectors, with gradients. */
static inline tn_module *launch_net(tn_context *context, int n, tn_dtype dtype)
{
	static const int64_t shape[] = {4, LAUNCH_WIDTH};
	tn_module *net = tn_module_sequential(context);
	for (int i = 0; i < n; i++)
		assert_ok(tn_module_sequential_add(
			net, NULL, tn_module_linear(context, LAUNCH_WIDTH, LAUNCH_WIDTH, NULL)));
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, tn_ones(context, dtype, 2, shape));
	assert_ok(tn_tape_backward(tape, tn_sum(tn_astype(y, TN_F32), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	return net;
}

struct launch_counts {
	uint64_t operations;
	uint64_t launches; /* of the device */
};

/* The device's launches so far; NULL: not counted. */
typedef uint64_t launch_counter(tn_context *context);

static inline void launch_begin(tn_context *context, launch_counter *counter,
				struct launch_counts *counts)
{
	*counts = (struct launch_counts){.launches = counter ? counter(context) : 0};
	tn_ledger_reset(context);
}

static inline void launch_end(tn_context *context, launch_counter *counter,
			      struct launch_counts *counts)
{
	counts->operations = launch_calls(context, NULL);
	counts->launches = counter ? counter(context) - counts->launches : 0;
}

static inline void expect_equal(const char *name, const struct launch_counts *few,
				const struct launch_counts *many)
{
	if (few->operations != many->operations || few->launches != many->launches)
		fail_msg("%s: %llu operations in %llu launches for %d parameters, %llu in %llu "
			 "for %d",
			 name, (unsigned long long)few->operations,
			 (unsigned long long)few->launches, 2 * LAUNCH_FEW,
			 (unsigned long long)many->operations, (unsigned long long)many->launches,
			 2 * LAUNCH_MANY);
}

/* ---- Steps -----------------------------------------------------------------------------------*/

/* The second step: the first may make what is kept. */
static inline struct launch_counts count_step(tn_context *context, const struct launch_case *c,
					      int n, launch_counter *counter)
{
	struct launch_counts counts;
	assert_ok(tn_scope_begin(context));
	tn_module *net = launch_net(context, n, TN_F32);
	tn_optimizer *optimizer = c->make(net);
	assert_non_null(optimizer);
	assert_ok(tn_optimizer_step(optimizer));
	launch_begin(context, counter, &counts);
	assert_ok(tn_optimizer_step(optimizer));
	launch_end(context, counter, &counts);
	assert_int_equal(launch_calls(context, c->name), c->operations);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
	return counts;
}

/* Everything that a step can have, one operation each: a step of Lookahead is due every time. */
static inline struct launch_counts count_all(tn_context *context, const struct launch_case *c,
					     int n, launch_counter *counter)
{
	static const char *const once[] = {"clip_grad_value", "lasso", "gradient_noise",
					   "lookahead", "weight_average_update"};
	struct launch_counts counts;
	assert_ok(tn_scope_begin(context));
	tn_module *net = launch_net(context, n, TN_F32);
	tn_optimizer *optimizer = c->make(net);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.9;
	tn_weight_average *average = tn_weight_average_create(net, &averaging);
	assert_ok(tn_optimizer_set_lasso(optimizer, 1e-3));
	assert_ok(tn_optimizer_set_gradient_noise(optimizer, 1e-3, 0.55));
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.k = 1;
	assert_ok(tn_lookahead(optimizer, &lookahead));
	for (int i = 0; i < 2; i++) {
		launch_begin(context, counter, &counts);
		assert_ok(tn_clip_grad_value(net, 1));
		assert_ok(tn_clip_grad_norm(net, 1, NULL));
		assert_ok(tn_optimizer_step(optimizer));
		assert_ok(tn_weight_average_update(average));
		launch_end(context, counter, &counts);
	}
	assert_int_equal(launch_calls(context, c->name), c->operations);
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		assert_int_equal(launch_calls(context, once[i]), 1);
	tn_weight_average_destroy(average);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
	return counts;
}

/* Parameters of f16: masters, and a scaler. */
static inline struct launch_counts count_scaled(tn_context *context, const struct launch_case *c,
						int n, launch_counter *counter)
{
	struct launch_counts counts;
	assert_ok(tn_scope_begin(context));
	tn_module *net = launch_net(context, n, TN_F16);
	tn_optimizer *optimizer = c->make(net);
	tn_grad_scaler *scaler = tn_grad_scaler_create(net, NULL);
	for (int i = 0; i < 2; i++) {
		launch_begin(context, counter, &counts);
		assert_ok(tn_grad_scaler_step(scaler, optimizer));
		assert_ok(tn_grad_scaler_update(scaler));
		launch_end(context, counter, &counts);
	}
	assert_int_equal(launch_calls(context, c->name), c->operations);
	assert_int_equal(launch_calls(context, "grad_scaler"), 2);
	tn_grad_scaler_destroy(scaler);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
	return counts;
}

static inline void check_launches(tn_context *context, launch_counter *counter)
{
	struct launch_counts (*const counts[])(tn_context *, const struct launch_case *, int,
					       launch_counter *) = {count_step, count_all,
								    count_scaled};
	for (size_t i = 0; i < LAUNCH_CASES; i++) {
		const struct launch_case *c = &launch_cases[i];
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			const struct launch_counts few = counts[k](context, c, LAUNCH_FEW, counter),
						   many = counts[k](context, c, LAUNCH_MANY,
								    counter);
			expect_equal(c->name, &few, &many);
		}
	}
}

#endif
