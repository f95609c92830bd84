/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A small network and a step of its training, for tests of capture on several backends.
 */
#ifndef TN_TESTS_CAPTURE_STEP_H
#define TN_TESTS_CAPTURE_STEP_H

#include <tenon/tenon.h>

#include "check.h"

enum { STEP_BATCH = 6, STEP_IN = 5, STEP_HIDDEN = 8, STEP_OUT = 3 };

struct training {
	tn_context *context;
	tn_module *module;
	tn_optimizer *optimizer;
	tn_weight_average *average; /* takes every step's weights in; or NULL */
	tn_array *x, *labels;       /* what a step reads */
	tn_array *loss;             /* of the last step; kept */
};

enum { WITH_SGD, WITH_ADAMW, WITH_ALL, OPTIMIZER_COUNT, WITH_LAMB = OPTIMIZER_COUNT };

/* WITH_ALL: an optimizer with groups, hooks and slow weights.  WITH_LAMB: for backends that have
 * gather and scatter_add. */
static inline tn_optimizer *make_optimizer(tn_module *module, int kind)
{
	if (kind == WITH_ADAMW)
		return tn_adamw(module, NULL);
	if (kind == WITH_LAMB) {
		struct tn_lamb_options lamb = tn_lamb_defaults();
		lamb.adapt_vectors = 1;
		return tn_lamb(module, &lamb);
	}
	if (kind == WITH_ALL) {
		struct tn_nadam_options options = tn_nadam_defaults();
		options.weight_decay = 0.1;
		tn_optimizer *nadam = tn_nadam(module, &options);
		struct tn_group_options group = tn_group_defaults();
		group.max_rank = 1;
		group.weight_decay = 0;
		assert_ok(tn_optimizer_set_group(nadam, &group));
		assert_ok(tn_optimizer_set_lasso(nadam, 0.01));
		assert_ok(tn_optimizer_set_gradient_noise(nadam, 0.1, 0.55));
		struct tn_lookahead_options lookahead = tn_lookahead_defaults();
		lookahead.k = 2;
		assert_ok(tn_lookahead(nadam, &lookahead));
		return nadam;
	}
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	sgd.momentum = 0.9;
	sgd.dampening = 0.5;
	return tn_sgd(module, &sgd);
}

static inline struct training make_training(tn_context *context, int kind)
{
	static const int64_t shape[] = {STEP_BATCH, STEP_IN};
	struct training t = {.context = context, .module = tn_module_sequential(context)};
	tn_random_set_state(context, (struct tn_random_state){.seed = 7, .stream = 1});
	assert_ok(tn_module_sequential_add(t.module, "a",
					   tn_module_linear(context, STEP_IN, STEP_HIDDEN, NULL)));
	assert_ok(tn_module_sequential_add(t.module, "b", tn_module_relu(context)));
	assert_ok(tn_module_sequential_add(t.module, "dropout", tn_module_dropout(context, 0.3)));
	tn_module_set_training(t.module, 1);
	assert_ok(tn_module_sequential_add(t.module, "c",
					   tn_module_linear(context, STEP_HIDDEN, STEP_OUT, NULL)));
	assert_ok(tn_module_build(t.module));
	t.optimizer = make_optimizer(t.module, kind);
	assert_non_null(t.optimizer);
	t.x = tn_zeros(context, TN_F32, 2, shape);
	t.labels = tn_zeros(context, TN_I32, 1, shape);
	return t;
}

static inline void end_training(struct training *t)
{
	tn_array_destroy(t->loss);
	tn_array_destroy(t->x);
	tn_array_destroy(t->labels);
	tn_weight_average_destroy(t->average);
	tn_optimizer_destroy(t->optimizer);
	tn_module_destroy(t->module);
}

/* Batch number n, into the arrays that a step reads. */
static inline void set_batch(struct training *t, int n)
{
	float x[STEP_BATCH * STEP_IN];
	int32_t labels[STEP_BATCH];
	for (int i = 0; i < STEP_BATCH * STEP_IN; i++)
		x[i] = (float)((i * 7 + n * 13) % 11) / 5 - 1;
	for (int i = 0; i < STEP_BATCH; i++)
		labels[i] = (i + n) % STEP_OUT;
	assert_ok(tn_assign_host(t->x, x, sizeof(x)));
	assert_ok(tn_assign_host(t->labels, labels, sizeof(labels)));
}

/* Forward and backward; TN_OK or the kept error. */
static inline tn_status give_gradients(struct training *t)
{
	tn_status status = tn_scope_begin(t->context);
	if (status)
		return status;
	tn_tape *tape = tn_tape_begin(t->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(t->module, t->x), t->labels, NULL);
	tn_array_destroy(t->loss);
	t->loss = loss ? tn_keep(loss) : NULL;
	status = loss ? tn_tape_backward(tape, loss, NULL) : TN_PENDING_ERROR;
	tn_tape_end(tape);
	tn_scope_end(t->context, NULL);
	return status;
}

/* The same with new gradients and the optimizer's step. */
static inline tn_status step(struct training *t)
{
	tn_module_zero_gradients(t->module);
	tn_status status = give_gradients(t);
	if (!status)
		status = tn_optimizer_step(t->optimizer);
	return status || !t->average ? status : tn_weight_average_update(t->average);
}

static inline float loss_of(const struct training *t)
{
	double value = 0;
	assert_ok(tn_item(t->loss, &value));
	return (float)value;
}

/* All weights, concatenated; returns their number. */
static inline size_t weights_of(const struct training *t, float *to)
{
	static const char *const names[] = {"a.weight", "a.bias", "c.weight", "c.bias"};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	size_t n = 0;
	for (int i = 0; i < 4; i++) {
		assert_ok(tn_module_parameter(t->module, names[i], &view));
		size_t size = (size_t)tn_array_size(view.value);
		assert_ok(tn_to_host(view.value, to + n, size * sizeof(*to)));
		n += size;
	}
	return n;
}

enum { STEP_COUNT = 6, STEP_MOST_WEIGHTS = 128 };

/* The results of a training. */
struct course {
	float losses[STEP_COUNT];
	float weights[STEP_MOST_WEIGHTS];
	size_t n_weights;
	uint64_t stream;
};

/* Steps, each with its own learning rate.  From step number n_eager on they are replays, except the
 * last one. */
static inline struct course run_course(tn_context *context, int kind, int n_eager)
{
	struct course course = {.n_weights = 0};
	struct training t = make_training(context, kind);
	tn_graph *graph = NULL;
	if (kind == WITH_ALL) {
		struct tn_weight_average_options averaging = tn_weight_average_defaults();
		averaging.decay = 0.5;
		t.average = tn_weight_average_create(t.module, &averaging);
	}
	for (int i = 0; i < STEP_COUNT; i++) {
		set_batch(&t, i);
		tn_optimizer_set_lr(t.optimizer, 0.05 / (i + 1));
		/* Work between replays does not use their memory. */
		tn_array *other = tn_full(context, TN_F32, 1, (int64_t[]){1 << (i + 4)}, 9);
		if (i == n_eager) {
			assert_ok(tn_capture_begin(context));
			assert_ok(step(&t));
			assert_ok(tn_capture_end(context, &graph));
		}
		assert_ok(graph && i != STEP_COUNT - 1 ? tn_graph_replay(graph) : step(&t));
		tn_array_destroy(other);
		course.losses[i] = loss_of(&t);
	}
	if (t.average)
		assert_ok(tn_weight_average_swap(t.average));
	course.n_weights = weights_of(&t, course.weights);
	course.stream = tn_random_get_state(context).stream;
	end_training(&t);
	tn_graph_destroy(graph);
	return course;
}

/* Replayed steps give bitwise the same losses and weights as eager steps: each has its own dropout
 * mask and the optimizer's step number. */
static inline void check_replays_of(tn_context *context, int kind)
{
	struct course eager = run_course(context, kind, STEP_COUNT);
	for (int n_eager = 0; n_eager < 3; n_eager += 2) {
		struct course replayed = run_course(context, kind, n_eager);
		for (int i = 0; i < STEP_COUNT; i++) {
			if (replayed.losses[i] != eager.losses[i])
				fail_msg("optimizer %d, step %d after %d: loss %.9g, expected %.9g",
					 kind, i, n_eager, (double)replayed.losses[i],
					 (double)eager.losses[i]);
		}
		assert_int_equal(replayed.n_weights, eager.n_weights);
		assert_memory_equal(replayed.weights, eager.weights,
				    eager.n_weights * sizeof(eager.weights[0]));
		assert_int_equal(replayed.stream, eager.stream);
	}
}

static inline void check_replayed_steps(tn_context *context)
{
	for (int kind = 0; kind < OPTIMIZER_COUNT; kind++)
		check_replays_of(context, kind);
}

#endif
