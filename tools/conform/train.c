/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small networks trained on synthetic pictures: a pattern for each class plus noise.  Starting from
 * bitwise equal weights, the losses of the first 20 steps must decrease and stay within 1e-4 of the
 * built-in backend's.
 */
#include <stdio.h>

#include <tenon/loss.h>
#include <tenon/models.h>
#include <tenon/optim.h>

#include "array/runtime.h"
#include "base/dtype.h"
#include "layers.h"

enum { STEPS = 20, BATCH = 8, SIDE = 16, CLASSES = 4, PIXELS = SIDE * SIDE };

/* The project guarantees this relative agreement of losses over STEPS steps for any two backends
 * that compute in f32. */
static const double agreement = 1e-4;

/* How far a loss may be off.  Where f32 is computed in bf16, weights are rounded at each step: a
 * few of its units of the loss at the start, which is about 1.  In f16, which has more bits, small
 * gradients lose theirs, and Adam makes these as large as others. */
static double allowed(const struct kit *kit, double loss)
{
	return kit_compute_dtype(kit, TN_FAMILY_MAP) == TN_F32
		       ? agreement * fabs(loss)
		       : 16 * tn_half_unit(TN_BF16) * fmax(1, fabs(loss));
}

struct course {
	const char *check;
	tn_module *(*make)(tn_context *context);
	int is_adamw;
};

/* ---- Networks --------------------------------------------------------------------------------*/

static const struct tn_model_shape shape = {1, SIDE, SIDE, CLASSES};

static tn_module *make_mlp(tn_context *context)
{
	return tn_model_create(context, "mlp", &shape);
}

static tn_module *make_lenet(tn_context *context)
{
	return tn_model_create(context, "lenet", &shape);
}

static tn_module *make_dropout(tn_context *context)
{
	tn_module *net = tn_module_sequential(context);
	tn_module *const members[] = {
		tn_module_flatten(context),
		tn_module_linear(context, PIXELS, 32, NULL),
		tn_module_tanh(context),
		tn_module_dropout(context, 0.25),
		tn_module_linear(context, 32, CLASSES, NULL),
	};
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		tn_module_sequential_add(net, NULL, members[i]);
	return net;
}

static const struct course courses[] = {
	{"train.mlp", make_mlp, 0},
	{"train.lenet", make_lenet, 1},
	{"train.dropout", make_dropout, 0},
};
enum { N_COURSES = sizeof(courses) / sizeof(courses[0]) };

/* ---- Data ------------------------------------------------------------------------------------*/

struct data {
	double pictures[STEPS][BATCH * PIXELS];
	double labels[STEPS][BATCH];
};

static struct data *make_data(struct kit *kit)
{
	struct data *data = calloc(1, sizeof(*data));
	double patterns[CLASSES][PIXELS];
	if (!data)
		kit_give_up(kit, "the kit is out of memory");
	for (int i = 0; i < CLASSES * PIXELS; i++)
		patterns[i / PIXELS][i % PIXELS] = kit_uniform(kit, -1, 1);
	for (int i = 0; i < STEPS * BATCH; i++) {
		int label = (int)(kit_random(kit) % CLASSES);
		double *picture = data->pictures[i / BATCH] + i % BATCH * PIXELS;
		data->labels[i / BATCH][i % BATCH] = label;
		for (int k = 0; k < PIXELS; k++)
			picture[k] = patterns[label][k] + kit_uniform(kit, -0.25, 0.25);
	}
	return data;
}

/* ---- One side --------------------------------------------------------------------------------*/

struct side {
	tn_context *context;
	tn_module *net;
	tn_optimizer *optimizer;
};

static int begin(struct kit *kit, const struct course *course, tn_context *context,
		 struct side *side)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	struct tn_adamw_options adamw = tn_adamw_defaults();
	sgd.lr = 0.02;
	sgd.momentum = 0.9;
	adamw.lr = 3e-3;
	adamw.weight_decay = 0;
	*side = (struct side){.context = context};
	if (tn_scope_begin(context))
		kit_give_up(kit, "a scope: %s", tn_error_text(context));
	tn_random_set_state(context, (struct tn_random_state){kit->seed + 1, 0});
	side->net = course->make(context);
	if (!side->net || tn_module_build(side->net))
		return 0;
	tn_module_set_training(side->net, 1);
	side->optimizer = course->is_adamw ? tn_adamw(side->net, &adamw) : tn_sgd(side->net, &sgd);
	return side->optimizer != NULL;
}

static void end(struct side *side)
{
	tn_optimizer_destroy(side->optimizer);
	tn_module_destroy(side->net);
	tn_scope_end(side->context, NULL);
}

/* Runs one step; returns its loss, or NaN on failure. */
static double learn(struct kit *kit, struct side *side, const struct data *data, int step)
{
	double value = NAN;
	if (tn_scope_begin(side->context))
		return NAN;
	tn_array *x = values_upload(kit, side->context, TN_F32, 4,
				    (const int64_t[]){BATCH, 1, SIDE, SIDE}, data->pictures[step]);
	tn_array *labels = values_upload(kit, side->context, TN_I32, 1, (const int64_t[]){BATCH},
					 data->labels[step]);
	tn_tape *tape = tn_tape_begin(side->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(side->net, x), labels, NULL);
	int failed = !loss || tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (failed || tn_optimizer_step(side->optimizer) || tn_item(loss, &value))
		value = NAN;
	tn_module_zero_gradients(side->net);
	tn_scope_end(side->context, NULL);
	if (isnan(value))
		kit_fail_context(kit, side->context, "a step");
	return value;
}

/* Do both sides' parameters have the same bits? */
static void compare_weights(struct kit *kit, const struct side *a, const struct side *b,
			    const char *when)
{
	struct tn_parameter_view found = {.struct_size = sizeof(found)},
				 expected = {.struct_size = sizeof(expected)};
	for (size_t i = 0; i < tn_module_parameter_count(b->net); i++) {
		tn_module_parameter_at(a->net, i, &found);
		tn_module_parameter_at(b->net, i, &expected);
		double *x = values_of(kit, found.value), *y = values_of(kit, expected.value);
		char what[96];
		snprintf(what, sizeof(what), "%s %s ", expected.name, when);
		if (x && y)
			values_compare(kit, what, expected.rank, expected.shape, x, y, NULL,
				       "bits");
		free(x);
		free(y);
	}
}

/* ---- Against the built-in backend ------------------------------------------------------------*/

static void follow(struct kit *kit, struct side *device, struct side *reference,
		   const struct data *data)
{
	char routes[ROUTES_TEXT];
	double first = 0, last = 0;
	compare_weights(kit, device, reference, "at the start");
	for (int step = 0; step < STEPS && !kit->case_failed; step++) {
		double expected = learn(kit, reference, data, step);
		double found = learn(kit, device, data, step);
		kit_take_ledger(kit, device->context, routes);
		if (!(fabs(found - expected) <= allowed(kit, expected)))
			kit_fail(kit,
				 "the loss of step %d: expected %.9g within %.3g, found %.9g (%s)",
				 step + 1, expected, allowed(kit, expected), found, routes);
		first += step < 4 ? found : 0;
		last += step >= STEPS - 4 ? found : 0;
	}
	if (!(last < first))
		kit_fail(kit,
			 "the network does not learn: the losses of the first four steps sum "
			 "to %g, of the last four to %g",
			 first, last);
}

static void train(struct kit *kit, const struct course *course, tn_context *context)
{
	struct side device, reference;
	struct data *data;
	kit_case(kit, KIT_CONTEXT, "%s", course->check + strlen("train."));
	data = make_data(kit);
	int made = begin(kit, course, kit_reference_context(kit), &reference);
	if (!begin(kit, course, context, &device) || !made)
		kit_fail_context(kit, made ? device.context : reference.context, "the network");
	else
		follow(kit, &device, &reference, data);
	end(&device);
	end(&reference);
	free(data);
	kit_pass(kit);
}

void check_train(struct kit *kit)
{
	for (int i = 0; i < N_COURSES; i++) {
		if (strcmp(courses[i].check, kit->check->id) == 0)
			train(kit, &courses[i], kit_context(kit));
	}
}

/* As a program runs where other backends are installed. */
void check_train_lent(struct kit *kit)
{
	if (!kit_has_lenders(kit))
		return kit_skip(kit, "no other backend that was found works in this device's "
				     "memory");
	for (int i = 0; i < N_COURSES; i++)
		train(kit, &courses[i], kit_lending_context(kit));
}

/* ---- Twice the same --------------------------------------------------------------------------*/

/* The weakest guarantee of the families that training uses. */
static uint8_t determinism(const struct kit *kit)
{
	uint8_t weakest = TN_DETERMINISM_ALWAYS;
	for (int family = TN_FAMILY_MAP; family <= TN_FAMILY_COPY; family++) {
		uint8_t own = kit->description.determinism[family];
		weakest = own > weakest ? own : weakest;
	}
	return weakest;
}

enum { REPEATED_STEPS = 5 };

static void repeat(struct kit *kit, const struct course *course)
{
	struct side sides[2];
	struct data *data;
	char routes[ROUTES_TEXT];
	double losses[2][REPEATED_STEPS];
	int made = 1;
	kit_case(kit, KIT_CONTEXT, "%s twice", course->check + strlen("train."));
	data = make_data(kit);
	for (int i = 0; i < 2; i++) {
		made = begin(kit, course, kit_context(kit), &sides[i]) && made;
		for (int step = 0; made && step < REPEATED_STEPS; step++)
			losses[i][step] = learn(kit, &sides[i], data, step);
	}
	kit_take_ledger(kit, kit_context(kit), routes);
	if (!made)
		kit_fail_context(kit, kit_context(kit), "the network");
	for (int step = 0; made && step < REPEATED_STEPS; step++) {
		if (losses[0][step] != losses[1][step])
			kit_fail(kit, "the loss of step %d: %.9g the first time, then %.9g (%s)",
				 step + 1, losses[0][step], losses[1][step], routes);
	}
	if (made)
		compare_weights(kit, &sides[1], &sides[0], "at the end");
	end(&sides[1]);
	end(&sides[0]);
	free(data);
	kit_pass(kit);
}

void check_repeatable(struct kit *kit)
{
	struct tn_runtime *rt;
	if (determinism(kit) == TN_DETERMINISM_NEVER)
		return kit_skip(kit, "the device declares a family as never deterministic");
	rt = tn_runtime_of(kit_context(kit));
	if (determinism(kit) == TN_DETERMINISM_ON_REQUEST)
		rt->call_flags |= TN_DETERMINISTIC;
	for (int i = 0; i < N_COURSES; i++)
		repeat(kit, &courses[i]);
	rt->call_flags &= ~(uint32_t)TN_DETERMINISTIC;
}
