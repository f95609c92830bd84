/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values saved by the forward of one route must be usable by the backward of every other: each
 * forward route is combined with each backward route, by hiding slots of the device in between.
 * The saved values are compared as well as the results, and the ledger must show that the route was
 * taken.
 *
 * Only existing routes are tested: without the native slot nothing is native, without map, reduce
 * or matmul nothing is composed, and the built-in backend has no host to fall back to.
 */
#include <stdio.h>

#include "layers.h"
#include "layers/conv2d.h"
#include "layers/cross_entropy.h"
#include "layers/norm.h"
#include "layers/pool2d.h"
#include "layers/softmax.h"
#include "layers/window.h"

enum { MOST_SAVED = 3, MOST_GRADIENTS = 3 };

/* Arrays of one context between forward and backward. */
struct pass {
	tn_array *inputs[LAYER_INPUTS];
	tn_array *dy;
	tn_array *saved[MOST_SAVED]; /* the result first */
	tn_array *gradients[MOST_GRADIENTS];
};

struct crossing {
	const char *check; /* "cross.conv2d" */
	const char *name;
	enum bound bound;
	int family;
	double terms;
	double scale;
	uint32_t n_inputs;
	struct layer_input inputs[LAYER_INPUTS];
	struct tn_window window;
	int number;                          /* kind of norm, or logarithm */
	const char *saved_names[MOST_SAVED]; /* NULL ends them */
	const char *gradient_names[MOST_GRADIENTS];
	const char *operations[3]; /* the forward's, then those of the backward */
	uint64_t slots[2];         /* of forward and backward */
	/* Both leave NULL on failure. */
	void (*forward)(const struct crossing *c, struct pass *p);
	void (*backward)(const struct crossing *c, struct pass *p);
};

/* ---- Families --------------------------------------------------------------------------------*/

static tn_array *zeros_like(const tn_array *a)
{
	return tn_zeros(tn_array_context(a), tn_array_dtype(a), tn_array_rank(a),
			tn_array_shape(a));
}

static void conv2d_forward(const struct crossing *c, struct pass *p)
{
	p->saved[0] = tn_conv2d_forward(p->inputs[0], p->inputs[1], p->inputs[2], &c->window);
}

static void conv2d_backward(const struct crossing *c, struct pass *p)
{
	tn_array *dw = zeros_like(p->inputs[1]);
	p->gradients[0] = tn_conv2d_input_gradient(p->dy, p->inputs[1],
						   tn_array_shape(p->inputs[0]), &c->window);
	if (dw && !tn_conv2d_weight_gradient(dw, p->inputs[0], p->dy, &c->window, 0))
		p->gradients[1] = dw;
}

static void pool2d_forward(const struct crossing *c, struct pass *p)
{
	int is_max = c->window.kind == TN_POOL_MAX;
	p->saved[0] = tn_pool2d_forward(p->inputs[0], &c->window, is_max ? &p->saved[1] : NULL);
}

static void pool2d_backward(const struct crossing *c, struct pass *p)
{
	p->gradients[0] =
		tn_pool2d_backward(p->dy, p->saved[1], tn_array_shape(p->inputs[0]), &c->window);
}

static void norm_forward(const struct crossing *c, struct pass *p)
{
	struct tn_norm_call call = {.kind = c->number,
				    .groups = c->window.groups,
				    .epsilon = 1e-5,
				    .x = p->inputs[0],
				    .w = p->inputs[1],
				    .b = p->inputs[2]};
	p->saved[0] = tn_norm_call_forward(&call);
	p->saved[1] = call.mean;
	p->saved[2] = call.rstd;
}

static void norm_backward(const struct crossing *c, struct pass *p)
{
	tn_array *dw = zeros_like(p->inputs[1]), *db = zeros_like(p->inputs[2]);
	p->gradients[0] = tn_norm_call_backward(&(struct tn_norm_call){.kind = c->number,
								       .groups = c->window.groups,
								       .x = p->inputs[0],
								       .w = p->inputs[1],
								       .mean = p->saved[1],
								       .rstd = p->saved[2],
								       .dy = p->dy,
								       .dw = dw,
								       .db = db});
	p->gradients[1] = dw;
	p->gradients[2] = db;
}

static void softmax_forward(const struct crossing *c, struct pass *p)
{
	p->saved[0] = tn_softmax_forward(p->inputs[0], 1, c->number);
}

static void softmax_backward(const struct crossing *c, struct pass *p)
{
	p->gradients[0] = tn_softmax_backward(p->saved[0], p->dy, 1, c->number);
}

static void cross_entropy_forward(const struct crossing *c, struct pass *p)
{
	(void)c;
	if (tn_cross_entropy_forward(p->inputs[0], p->inputs[1], IGNORED, &p->saved[0],
				     &p->saved[1], &p->saved[2]))
		p->saved[0] = NULL;
}

static void cross_entropy_backward(const struct crossing *c, struct pass *p)
{
	(void)c;
	p->gradients[0] = tn_cross_entropy_backward(p->inputs[0], p->inputs[1], p->saved[1],
						    p->saved[2], p->dy, IGNORED);
}

#define X(...)                                                                                     \
	{                                                                                          \
		.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .shape = {             \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define WITHIN_2(...)                                                                              \
	{                                                                                          \
		.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                        \
		.shape = {__VA_ARGS__}, .low = -2, .high = 2                                       \
	}
#define CONV2D                                                                                     \
	.check = "cross.conv2d", .bound = LINEAR, .family = TN_FAMILY_CONV, .saved_names = {"y"},  \
	.gradient_names = {"dx", "dw"},                                                            \
	.operations = {"conv2d", "conv2d_input_gradient", "conv2d_weight_gradient"},               \
	.slots = {SLOT_BIT(TN_SLOT_CONV2D_FORWARD),                                                \
		  SLOT_BIT(TN_SLOT_CONV2D_INPUT_GRADIENT) |                                        \
			  SLOT_BIT(TN_SLOT_CONV2D_WEIGHT_GRADIENT)},                               \
	.forward = conv2d_forward, .backward = conv2d_backward
#define POOL2D                                                                                     \
	.check = "cross.pool2d", .family = TN_FAMILY_POOL, .gradient_names = {"dx"},               \
	.operations = {"pool2d", "pool2d_backward"},                                               \
	.slots = {SLOT_BIT(TN_SLOT_POOL2D_FORWARD), SLOT_BIT(TN_SLOT_POOL2D_BACKWARD)},            \
	.forward = pool2d_forward, .backward = pool2d_backward
#define NORM                                                                                       \
	.bound = SMOOTH, .family = TN_FAMILY_NORM, .saved_names = {"y", "mean", "rstd"},           \
	.gradient_names = {"dx", "dw", "db"}, .forward = norm_forward, .backward = norm_backward
#define SOFTMAX                                                                                    \
	.check = "cross.softmax", .bound = SMOOTH, .family = TN_FAMILY_SOFTMAX,                    \
	.saved_names = {"y"}, .gradient_names = {"dx"},                                            \
	.operations = {"softmax", "softmax_backward"},                                             \
	.slots = {SLOT_BIT(TN_SLOT_SOFTMAX_FORWARD), SLOT_BIT(TN_SLOT_SOFTMAX_BACKWARD)},          \
	.forward = softmax_forward, .backward = softmax_backward

static const struct crossing crossings[] = {
	{CONV2D, .name = "conv2d, 2 groups", .terms = 84, .n_inputs = 3,
	 .inputs = {X(2, 4, 6, 7), X(6, 2, 3, 3), X(6)},
	 .window = {.padding = {1, 0, 0, 1}, .groups = 2}},
	{CONV2D, .name = "conv2d, stride 2, dilation 2", .terms = 48, .n_inputs = 3,
	 .inputs = {X(2, 3, 9, 8), X(5, 3, 3, 2), X(5)},
	 .window = {.stride = {2, 1}, .dilation = {1, 2}, .padding = {1, 1, 1, 1}}},
	/* A cell is the maximum of up to four windows. */
	{POOL2D, .name = "max, overlapping", .bound = CHOSEN, .terms = 4,
	 .saved_names = {"y", "index"}, .n_inputs = 1, .inputs = {X(2, 3, 9, 7)},
	 .window = {.kind = TN_POOL_MAX,
		    .kernel = {3, 3},
		    .stride = {2, 2},
		    .padding = {1, 1, 1, 1}}},
	{POOL2D, .name = "max, 2 x 2", .bound = CHOSEN, .saved_names = {"y", "index"},
	 .n_inputs = 1, .inputs = {X(2, 3, 8, 6)},
	 .window = {.kind = TN_POOL_MAX, .kernel = {2, 2}, .stride = {2, 2}}},
	{POOL2D, .name = "average", .bound = LINEAR, .terms = 9, .saved_names = {"y"},
	 .n_inputs = 1, .inputs = {X(2, 3, 9, 7)},
	 .window = {.kind = TN_POOL_AVERAGE,
		    .kernel = {3, 3},
		    .stride = {2, 2},
		    .padding = {1, 1, 1, 1}}},
	{NORM, .check = "cross.batch_norm", .name = "batch_norm", .terms = 84, .n_inputs = 3,
	 .inputs = {WITHIN_2(4, 3, 3, 7), X(3), X(3)}, .number = 0,
	 .operations = {"batch_norm", "batch_norm_backward"},
	 .slots = {SLOT_BIT(TN_SLOT_BATCH_NORM_FORWARD), SLOT_BIT(TN_SLOT_BATCH_NORM_BACKWARD)}},
	{NORM, .check = "cross.layer_norm", .name = "layer_norm", .terms = 40, .n_inputs = 3,
	 .inputs = {WITHIN_2(5, 40), X(40), X(40)}, .number = 1,
	 .operations = {"layer_norm", "layer_norm_backward"},
	 .slots = {SLOT_BIT(TN_SLOT_LAYER_NORM_FORWARD), SLOT_BIT(TN_SLOT_LAYER_NORM_BACKWARD)}},
	{NORM, .check = "cross.group_norm", .name = "group_norm", .terms = 42, .n_inputs = 3,
	 .inputs = {WITHIN_2(4, 6, 3, 7), X(6), X(6)}, .number = 2, .window = {.groups = 3},
	 .operations = {"group_norm", "group_norm_backward"},
	 .slots = {SLOT_BIT(TN_SLOT_GROUP_NORM_FORWARD), SLOT_BIT(TN_SLOT_GROUP_NORM_BACKWARD)}},
	{SOFTMAX, .name = "softmax", .terms = 37, .n_inputs = 1, .inputs = {WITHIN_2(6, 37)},
	 .number = 0},
	{SOFTMAX, .name = "log_softmax", .terms = 37, .n_inputs = 1, .inputs = {WITHIN_2(6, 37)},
	 .number = 1},
	{.check = "cross.cross_entropy",
	 .name = "cross_entropy",
	 .bound = SMOOTH,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 20,
	 .n_inputs = 2,
	 .inputs = {WITHIN_2(13, 10), {.content = LABELS, .rank = 1, .shape = {13}, .high = 10}},
	 .saved_names = {"loss", "maximum", "log_sum"},
	 .gradient_names = {"dx"},
	 .operations = {"cross_entropy", "cross_entropy_backward"},
	 .slots = {SLOT_BIT(TN_SLOT_CROSS_ENTROPY_FORWARD),
		   SLOT_BIT(TN_SLOT_CROSS_ENTROPY_BACKWARD)},
	 .forward = cross_entropy_forward,
	 .backward = cross_entropy_backward},
};
enum { N_CROSSINGS = sizeof(crossings) / sizeof(crossings[0]) };

/* ---- What is expected ------------------------------------------------------------------------*/

/* The results of one side as numbers. */
struct results {
	int rank[MOST_SAVED + MOST_GRADIENTS];
	int64_t shape[MOST_SAVED + MOST_GRADIENTS][LAYER_RANK];
	double *values[MOST_SAVED + MOST_GRADIENTS];
};

static void results_free(struct results *r)
{
	for (int i = 0; i < MOST_SAVED + MOST_GRADIENTS; i++)
		free(r->values[i]);
	memset(r, 0, sizeof(*r));
}

static int result_get(struct kit *kit, struct results *r, int i, const tn_array *array)
{
	free(r->values[i]);
	r->values[i] = array ? values_of(kit, array) : NULL;
	if (!r->values[i])
		return 0;
	r->rank[i] = tn_array_rank(array);
	memcpy(r->shape[i], tn_array_shape(array), (size_t)r->rank[i] * sizeof(int64_t));
	return 1;
}

/* The numbers of one half: the saved values, or the gradients. */
static int results_get(struct kit *kit, const struct crossing *c, struct results *r,
		       const struct pass *p, int is_backward)
{
	const char *const *names = is_backward ? c->gradient_names : c->saved_names;
	tn_array *const *arrays = is_backward ? p->gradients : p->saved;
	int most = is_backward ? MOST_GRADIENTS : MOST_SAVED;
	for (int i = 0; i < most && names[i]; i++) {
		if (!result_get(kit, r, i + (is_backward ? MOST_SAVED : 0), arrays[i]))
			return 0;
	}
	return 1;
}

/* The data of a case: the same for every pair. */
struct trial {
	const struct crossing *c;
	double *values[LAYER_INPUTS];
	double *dy;
	struct results expected, magnitude, found;
};

static int upload_dy(struct kit *kit, tn_context *context, tn_dtype dtype, const struct results *r,
		     const double *dy, struct pass *p)
{
	p->dy = values_upload(kit, context, dtype, r->rank[0], r->shape[0], dy);
	return p->dy != NULL;
}

/* Runs both halves on the built-in backend in f64. */
static int run_reference(struct kit *kit, struct trial *t, double *const *values, double **dy,
			 struct results *r)
{
	const struct crossing *c = t->c;
	tn_context *context = kit_reference_context(kit);
	struct pass p = {.dy = NULL};
	int done;
	if (tn_scope_begin(context))
		return 0;
	done = layer_values_upload(kit, context, c->n_inputs, c->inputs, TN_F64, values, p.inputs);
	if (done)
		c->forward(c, &p);
	done = done && results_get(kit, c, r, &p, 0);
	if (done && !*dy) {
		size_t n = shape_count((uint32_t)r->rank[0], r->shape[0]);
		*dy = numbers(n);
		for (size_t i = 0; i < n; i++)
			(*dy)[i] = kit_uniform(kit, -1, 1);
		values_round(kit, TN_F32, *dy, n);
	}
	done = done && upload_dy(kit, context, TN_F64, r, *dy, &p);
	if (done)
		c->backward(c, &p);
	done = done && results_get(kit, c, r, &p, 1);
	if (!done)
		kit_fail_context(kit, context, c->name);
	tn_scope_end(context, NULL);
	return done;
}

static int run_magnitudes(struct kit *kit, struct trial *t)
{
	double *magnitudes[LAYER_INPUTS], *dy;
	size_t n = shape_count((uint32_t)t->expected.rank[0], t->expected.shape[0]);
	int done;
	if (t->c->bound != LINEAR)
		return 1;
	dy = numbers(n);
	for (size_t i = 0; i < n; i++)
		dy[i] = fabs(t->dy[i]);
	layer_values_magnitude(t->c->n_inputs, t->c->inputs, t->values, magnitudes);
	done = run_reference(kit, t, magnitudes, &dy, &t->magnitude);
	layer_values_free(t->c->n_inputs, magnitudes);
	free(dy);
	return done;
}

static void compare(struct kit *kit, struct trial *t, int is_backward, const char *routes)
{
	const struct crossing *c = t->c;
	const char *const *names = is_backward ? c->gradient_names : c->saved_names;
	int most = is_backward ? MOST_GRADIENTS : MOST_SAVED;
	for (int k = 0; k < most && names[k]; k++) {
		int i = k + (is_backward ? MOST_SAVED : 0);
		const struct results *e = &t->expected;
		size_t n = shape_count((uint32_t)e->rank[i], e->shape[i]);
		const struct bounds bounds = {c->bound, c->family, c->terms, c->scale};
		double *tolerance = bound_tolerance(kit, &bounds, TN_F32, n, e->values[i],
						    t->magnitude.values[i], is_backward);
		values_compare(kit, names[k], e->rank[i], e->shape[i], t->found.values[i],
			       e->values[i], tolerance, routes);
		free(tolerance);
	}
}

/* ---- Pairs -----------------------------------------------------------------------------------*/

/* Runs one half on a forced route; 1 if the route was taken and all values exist. */
static int half(struct kit *kit, struct trial *t, tn_context *context, struct pass *p,
		int is_backward, enum route route)
{
	const struct crossing *c = t->c;
	char routes[ROUTES_TEXT];
	int is_taken = 1;
	tn_ledger_reset(context);
	route_force(context, c->slots[is_backward], route);
	(is_backward ? c->backward : c->forward)(c, p);
	for (int i = is_backward; i < (is_backward ? 3 : 1) && c->operations[i]; i++) {
		if (!tn_error(context) && !route_took(kit, context, c->operations[i], route))
			is_taken = 0;
	}
	kit_take_ledger(kit, context, routes);
	if (!results_get(kit, c, &t->found, p, is_backward)) {
		kit_fail_context(kit, context, c->name);
		is_taken = 0;
	}
	/* The values must be right on every route. */
	if (!kit->case_failed)
		compare(kit, t, is_backward, routes);
	return is_taken && !kit->case_failed;
}

static void name_pair(struct kit *kit, const struct crossing *c, enum route forward,
		      enum route backward)
{
	kit_case(kit, KIT_CONTEXT, "%s, forward %s, backward %s", c->name, route_names[forward],
		 route_names[backward]);
}

/* Tests one forward route with every backward route. */
static void cross_forward(struct kit *kit, struct trial *t, tn_context *context, enum route forward,
			  int only_lent)
{
	const struct crossing *c = t->c;
	struct pass p = {.dy = NULL};
	kit_case(kit, KIT_CONTEXT, "%s, forward %s", c->name, route_names[forward]);
	if (!layer_values_upload(kit, context, c->n_inputs, c->inputs, TN_F32, t->values,
				 p.inputs) ||
	    !upload_dy(kit, context, TN_F32, &t->expected, t->dy, &p))
		return;
	if (!half(kit, t, context, &p, 0, forward))
		return;
	for (int backward = 0; backward < ROUTES; backward++) {
		if (!route_exists(context, c->slots[1], (enum route)backward) ||
		    (only_lent && forward != LENT && backward != LENT))
			continue;
		name_pair(kit, c, forward, (enum route)backward);
		if (half(kit, t, context, &p, 1, (enum route)backward))
			kit_pass(kit);
		else
			kit_unsupported(kit);
		route_force(context, 0, NATIVE);
	}
}

static void cross_all(struct kit *kit, struct trial *t, tn_context *context, int only_lent)
{
	for (int forward = 0; forward < ROUTES; forward++) {
		route_force(context, 0, NATIVE);
		if (!route_exists(context, t->c->slots[0], (enum route)forward))
			continue;
		if (tn_scope_begin(context))
			kit_give_up(kit, "a scope: %s", tn_error_text(context));
		cross_forward(kit, t, context, (enum route)forward, only_lent);
		tn_scope_end(context, NULL);
	}
	route_force(context, 0, NATIVE);
}

/* With equal maxima the first is chosen. */
static void make_equals(const struct crossing *c, double *x)
{
	size_t n = shape_count((uint32_t)c->inputs[0].rank, c->inputs[0].shape);
	for (size_t i = 0; c->bound == CHOSEN && i < n; i += 3)
		x[i] = 0.5;
}

static void cross(struct kit *kit, const struct crossing *c)
{
	struct trial t = {.c = c};
	kit_case(kit, KIT_CONTEXT, "%s", c->name);
	layer_values_make(kit, c->n_inputs, c->inputs, TN_F32, t.values);
	make_equals(c, t.values[0]);
	if (run_reference(kit, &t, t.values, &t.dy, &t.expected) && run_magnitudes(kit, &t)) {
		cross_all(kit, &t, kit_context(kit), 0);
		if (kit_has_lenders(kit))
			cross_all(kit, &t, kit_lending_context(kit), 1);
	}
	results_free(&t.expected);
	results_free(&t.magnitude);
	results_free(&t.found);
	free(t.dy);
	layer_values_free(c->n_inputs, t.values);
}

void check_cross(struct kit *kit)
{
	for (int i = 0; i < N_CROSSINGS; i++) {
		if (strcmp(crossings[i].check, kit->check->id) == 0)
			cross(kit, &crossings[i]);
	}
}
