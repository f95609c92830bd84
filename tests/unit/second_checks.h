/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Second derivatives of each operation that has them, for tests on several backends: the Hessian of
 * a scalar function times weights, by create_graph.
 */
#ifndef TN_TESTS_SECOND_CHECKS_H
#define TN_TESTS_SECOND_CHECKS_H

#include "gradient_rows.h"

/* The weight of element k of the gradient of input i. */
static inline tn_array *second_weights(const struct gradient_trial *t, int i)
{
	double weights[GRADIENT_ELEMENTS];
	for (int64_t k = 0; k < t->size[i]; k++)
		weights[k] = gradient_noise(3 * k, i + 5) - 0.3;
	return gradient_array(t, i, weights);
}

/* The weighted gradients; with `second` also theirs. */
static inline double second_run(struct gradient_trial *t, int second)
{
	tn_array *x[GRADIENT_INPUTS], *g[GRADIENT_INPUTS], *h[GRADIENT_INPUTS];
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = second};
	size_t n = (size_t)t->n;
	double value;
	assert_ok(tn_scope_begin(t->context));
	tn_tape *tape = tn_tape_begin(t->context);
	for (size_t i = 0; i < n; i++) {
		x[i] = gradient_array(t, (int)i, t->x[i]);
		assert_ok(tn_tape_watch(tape, x[i]));
	}
	tn_array *y = t->row->f(NULL, x);
	if (!y || tn_tape_gradients(tape, 1, &y, NULL, n, x, g, &o))
		fail_msg("%s: %s: %s", t->row->name, tn_error(t->context)->operation,
			 tn_error(t->context)->text);
	tn_array *sum = NULL;
	for (size_t i = 0; i < n; i++) {
		tn_array *part =
			tn_sum(tn_multiply(g[i], second_weights(t, (int)i)), TN_ALL_AXES, NULL, 0);
		sum = sum ? tn_add(sum, part) : part;
	}
	if (second && tn_tape_gradients(tape, 1, &sum, NULL, n, x, h, NULL))
		fail_msg("%s: %s: %s", t->row->name, tn_error(t->context)->operation,
			 tn_error(t->context)->text);
	tn_tape_end(tape);
	for (size_t i = 0; i < n && second; i++) {
		assert_non_null(h[i]);
		assert_ok(tn_to_host(tn_astype(h[i], TN_F64), t->h[i],
				     (size_t)t->size[i] * sizeof(double)));
	}
	assert_ok(tn_item(sum, &value));
	tn_scope_end(t->context, NULL);
	return value;
}

/* On another backend in another type: the same second derivatives as `expected`'s. */
static inline void check_second(tn_context *context, tn_dtype dtype,
				const struct gradient_trial *expected, double tolerance)
{
	static struct gradient_trial t;
	gradient_begin(&t, expected->row, context, dtype);
	second_run(&t, 1);
	for (int i = 0; i < t.n; i++) {
		for (int64_t k = 0; k < t.size[i]; k++) {
			double wanted = expected->h[i][k];
			if (fabs(t.h[i][k] - wanted) <= tolerance * (1 + fabs(wanted)))
				continue;
			fail_msg("%s: input %d, element %d: expected %.9g, found %.9g", t.row->name,
				 i, (int)k, wanted, t.h[i][k]);
		}
	}
}

/* Every `step`th row, in f32 against the reference in f64: sums of some 100 products of second
 * derivatives below 100, each rounded a few times. */
static inline void check_second_rows(tn_context *context, int step)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	tn_context *reference;
	assert_ok(tn_context_open(&options, &reference, NULL));
	for (int i = 0; i < GRADIENT_ROWS; i += step) {
		static struct gradient_trial expected;
		if (gradient_rows[i].order == 1)
			continue;
		gradient_begin(&expected, &gradient_rows[i], reference, TN_F64);
		second_run(&expected, 1);
		check_second(context, TN_F32, &expected, 2e-4);
	}
	tn_context_close(reference);
}

static inline void check_all_second(tn_context *context)
{
	check_second_rows(context, 1);
}

#endif
