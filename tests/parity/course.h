/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ten steps of a module of given parameters, whose gradients are given too.
 */
#ifndef TN_TESTS_PARITY_COURSE_H
#define TN_TESTS_PARITY_COURSE_H

#include <tenon/tenon.h>

#include "check.h"
#include "parity/record.h"

enum { STEPS = 10 };
static const char *const names[] = {"matrix", "bias", "scale"};

/* What all cases share: initial values, gradients, and the steps without one. */
static struct record given;

struct course {
	tn_context *context;
	tn_module *module;
	tn_optimizer *optimizer;
	tn_weight_average *average; /* whose values are recorded in place of the weights; or NULL */
	tn_grad_scaler *scaler;
	tn_dtype dtype;
	int step;
};

/* Not every record has a scale. */
static inline int n_parameters(void)
{
	return record_array(&given, "w2") ? 3 : 2;
}

static inline int has_gradient(int step, int i)
{
	char name[RECORD_NAME];
	snprintf(name, sizeof(name), "missing%d", i);
	for (int k = 0; k < given.n_ints; k++) {
		for (int n = 0; n < given.ints[k].n; n++) {
			if (!strcmp(given.ints[k].name, name) && given.ints[k].values[n] == step)
				return 0;
		}
	}
	return 1;
}

static inline const struct record_array *recorded(const struct record *record, const char *letter,
						  int i)
{
	char name[RECORD_NAME];
	snprintf(name, sizeof(name), "%s%d", letter, i);
	const struct record_array *array = record_array(record, name);
	if (!array)
		fail_msg("case %s has no array %s", record->layer, name);
	return array;
}

/* Part number `part` of n values each, as an array of that shape. */
static inline tn_array *upload(const struct course *course, const double *from, size_t part,
			       int rank, const int64_t *shape, size_t n)
{
	tn_array *wide = tn_from_host(course->context, TN_F64, rank, shape, from + part * n);
	return tn_astype(wide, course->dtype);
}

/* The sum of parameter times gradient, of those that have one at this step, in f32 at least. */
static inline tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct course *course = state;
	tn_array *y = tn_astype(tn_multiply(x, x), course->dtype == TN_F64 ? TN_F64 : TN_F32);
	for (int i = 0; i < n_parameters(); i++) {
		const struct record_array *start = recorded(&given, "w", i);
		if (!has_gradient(course->step, i))
			continue;
		tn_array *g = upload(course, recorded(&given, "g", i)->values, (size_t)course->step,
				     (int)start->rank, start->shape, start->count);
		tn_array *w = tn_module_own_parameter(module, names[i]);
		y = tn_add(y, tn_sum(tn_multiply(w, g), TN_ALL_AXES, NULL, 0));
	}
	return y;
}

static inline void make_module(struct course *course)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Given", .forward = forward};
	course->module = tn_module_custom(course->context, &class_, course);
	for (int i = 0; i < n_parameters(); i++) {
		const struct record_array *start = recorded(&given, "w", i);
		assert_ok(tn_module_add_parameter(course->module, names[i], (int)start->rank,
						  start->shape, 0, 0));
	}
	assert_ok(tn_module_set_dtype(course->module, course->dtype));
	assert_ok(tn_module_build(course->module));
	for (int i = 0; i < n_parameters(); i++) {
		const struct record_array *start = recorded(&given, "w", i);
		tn_array *w = tn_module_own_parameter(course->module, names[i]);
		assert_ok(tn_assign(w, upload(course, start->values, 0, (int)start->rank,
					      start->shape, start->count)));
	}
}

#endif
