/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A network in training compared with recorded numbers: helpers of the tests of whole networks.
 */
#ifndef TN_TESTS_PARITY_TRAINING_H
#define TN_TESTS_PARITY_TRAINING_H

#include <tenon/tenon.h>

#include "check.h"

struct run {
	tn_context *context;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_array *x;
	tn_array *labels;
};

/* The results of a row's first step, before the weights change. */
typedef void (*first_look)(const struct run *run, size_t row, const tn_array *logits);

static inline void run_open(struct run *run, const char *backend)
{
	struct tn_error_info error;
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	*run = (struct run){0};
	assert_ok(tn_context_open(&options, &run->context, &error));
}

static inline void run_close(struct run *run)
{
	assert_null(tn_error(run->context));
	tn_optimizer_destroy(run->optimizer);
	tn_module_destroy(run->net);
	tn_context_close(run->context);
}

static inline struct tn_parameter_view run_parameter(const struct run *run, size_t k)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter_at(run->net, k, &view));
	return view;
}

/* Sets parameter k to what `fill` writes. */
typedef void (*run_filler)(size_t k, const struct tn_parameter_view *view, float *values,
			   int64_t n);

static inline void run_fill(const struct run *run, run_filler fill)
{
	for (size_t k = 0; k < tn_module_parameter_count(run->net); k++) {
		struct tn_parameter_view view = run_parameter(run, k);
		int64_t n = tn_array_size(view.value);
		float *values = malloc((size_t)n * sizeof(*values));
		fill(k, &view, values, n);
		assert_ok(tn_assign_host(view.value, values, (size_t)n * sizeof(*values)));
		free(values);
	}
}

/* Makes the pictures, with every third class. */
static inline void run_feed(struct run *run, const int64_t *shape, const float *pictures,
			    int32_t n_classes)
{
	int32_t *labels = malloc((size_t)shape[0] * sizeof(*labels));
	for (int32_t i = 0; i < shape[0]; i++)
		labels[i] = 3 * i % n_classes;
	run->x = tn_from_host(run->context, TN_F32, 4, shape, pictures);
	run->labels = tn_from_host(run->context, TN_I32, 1, shape, labels);
	free(labels);
}

/* Runs one step and returns its loss.  `look`, if not NULL, is called before the weights change. */
static inline double run_step(const struct run *run, size_t row, first_look look)
{
	double loss_value;
	assert_ok(tn_scope_begin(run->context));
	tn_module_zero_gradients(run->net);
	tn_tape *tape = tn_tape_begin(run->context);
	tn_array *logits = tn_module_forward(run->net, run->x);
	tn_array *loss = tn_cross_entropy(logits, run->labels, NULL);
	assert_non_null(loss);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	if (look)
		look(run, row, logits);
	assert_ok(tn_item(loss, &loss_value));
	assert_ok(tn_optimizer_step(run->optimizer));
	tn_scope_end(run->context, NULL);
	return loss_value;
}

#endif
