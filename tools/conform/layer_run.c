/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs a layer on the device and on the built-in backend in f64, forward and backward, and
 * compares.  The checks layers.GROUP and gradients.GROUP use it.
 */
#include <stdio.h>

#include <tenon/autograd.h>

#include "layers.h"

/* ---- Inputs ----------------------------------------------------------------------------------*/

static double draw(struct kit *kit, const struct layer_input *input, size_t i)
{
	double low = input->low, high = input->high;
	if (input->content == NUMBERS)
		return low == 0 && high == 0 ? kit_uniform(kit, -1, 1)
					     : kit_uniform(kit, low, high);
	if (input->content == LABELS && i % 5 == 2)
		return IGNORED;
	return floor(kit_uniform(kit, input->content == PLACES ? -high : 0, high));
}

static tn_dtype dtype_of(const struct layer_input *input, tn_dtype dtype)
{
	return input->content == NUMBERS ? dtype : TN_I32;
}

void layer_values_make(struct kit *kit, uint32_t n, const struct layer_input *inputs,
		       tn_dtype dtype, double **values)
{
	for (uint32_t k = 0; k < n; k++) {
		size_t count = shape_count((uint32_t)inputs[k].rank, inputs[k].shape);
		values[k] = numbers(count);
		for (size_t i = 0; i < count; i++)
			values[k][i] = draw(kit, &inputs[k], i);
		values_round(kit, dtype_of(&inputs[k], dtype), values[k], count);
	}
}

void layer_values_free(uint32_t n, double **values)
{
	for (uint32_t k = 0; k < n; k++)
		free(values[k]);
}

void layer_values_magnitude(uint32_t n, const struct layer_input *inputs, double *const *values,
			    double **magnitudes)
{
	for (uint32_t k = 0; k < n; k++) {
		size_t count = shape_count((uint32_t)inputs[k].rank, inputs[k].shape);
		magnitudes[k] = numbers(count);
		for (size_t i = 0; i < count; i++)
			magnitudes[k][i] =
				inputs[k].content == NUMBERS ? fabs(values[k][i]) : values[k][i];
	}
}

int layer_values_upload(struct kit *kit, tn_context *context, uint32_t n,
			const struct layer_input *inputs, tn_dtype dtype, double *const *values,
			tn_array **arrays)
{
	for (uint32_t k = 0; k < n; k++) {
		arrays[k] = values_upload(kit, context, dtype_of(&inputs[k], dtype), inputs[k].rank,
					  inputs[k].shape, values[k]);
		if (!arrays[k])
			return 0;
	}
	return 1;
}

/* ---- Bounds ----------------------------------------------------------------------------------*/

double *bound_tolerance(struct kit *kit, const struct bounds *bounds, tn_dtype dtype, size_t n,
			const double *expected, const double *magnitude, int is_gradient)
{
	double scale = bounds->scale > 0 ? bounds->scale : 8, terms = bounds->terms;
	double error = kit_composed_error(kit, bounds->family, dtype, terms,
					  bounds->bound == SMOOTH ? 16 : 4);
	double *tolerance = numbers(n);
	if (dtype == TN_F64) /* the expected value is rounded as often */
		error *= 2;
	for (size_t i = 0; i < n; i++) {
		if (bounds->bound == CHOSEN)
			tolerance[i] = is_gradient ? error * fmax(terms, 1) : 0;
		else if (bounds->bound == LINEAR)
			tolerance[i] = error * magnitude[i];
		else
			tolerance[i] = error * (scale + fabs(expected[i]));
	}
	return tolerance;
}

/* ---- One run ---------------------------------------------------------------------------------*/

struct outcome {
	int rank;
	int64_t shape[TN_MAX_RANK];
	size_t n;
	double *y;
	double *gradients[LAYER_INPUTS]; /* NULL: no gradient */
};

static void outcome_free(struct outcome *outcome)
{
	free(outcome->y);
	for (int k = 0; k < LAYER_INPUTS; k++)
		free(outcome->gradients[k]);
}

static int has_gradient(const struct layer *layer, uint32_t k)
{
	return layer->inputs[k].content == NUMBERS;
}

/* The upstream gradient: drawn in the first run, and reused in later ones. */
static double *upstream(struct kit *kit, const struct outcome *outcome, tn_dtype dtype)
{
	double *dy = numbers(outcome->n);
	for (size_t i = 0; i < outcome->n; i++)
		dy[i] = kit_uniform(kit, -1, 1);
	values_round(kit, dtype, dy, outcome->n);
	return dy;
}

static int backward(struct kit *kit, const struct layer_case *c, tn_tape *tape, tn_array *y,
		    tn_array *const *inputs, double **dy, struct outcome *outcome)
{
	tn_array *given;
	if (!*dy)
		*dy = upstream(kit, outcome, c->dtype);
	given = values_upload(kit, c->context, tn_array_dtype(y), outcome->rank, outcome->shape,
			      *dy);
	if (c->step)
		c->step(kit, c, BEFORE_BACKWARD);
	if (!given || tn_tape_backward(tape, y, given))
		return 0;
	for (uint32_t k = 0; k < c->layer->n_inputs; k++) {
		if (!has_gradient(c->layer, k))
			continue;
		tn_array *gradient = tn_tape_gradient(tape, inputs[k]);
		outcome->gradients[k] = gradient ? values_of(kit, gradient) : NULL;
		if (!outcome->gradients[k])
			return 0;
	}
	return 1;
}

static int forward(struct kit *kit, const struct layer_case *c, tn_tape *tape,
		   double *const *values, double **dy, struct outcome *outcome)
{
	const struct layer *layer = c->layer;
	tn_array *inputs[LAYER_INPUTS], *y;
	if (!layer_values_upload(kit, c->context, layer->n_inputs, layer->inputs, c->dtype, values,
				 inputs))
		return 0;
	for (uint32_t k = 0; tape && k < layer->n_inputs; k++) {
		if (has_gradient(layer, k) && tn_tape_watch(tape, inputs[k]))
			return 0;
	}
	if (c->step)
		c->step(kit, c, BEFORE_FORWARD);
	y = layer->run(layer, inputs);
	outcome->y = y ? values_of(kit, y) : NULL;
	if (!outcome->y)
		return 0;
	outcome->rank = tn_array_rank(y);
	memcpy(outcome->shape, tn_array_shape(y), (size_t)outcome->rank * sizeof(int64_t));
	outcome->n = (size_t)tn_array_size(y);
	return !tape || backward(kit, c, tape, y, inputs, dy, outcome);
}

/* Runs the layer on c->context, with the random generator reset; 0: the case has failed. */
static int run(struct kit *kit, const struct layer_case *c, double *const *values, double **dy,
	       struct outcome *outcome)
{
	tn_tape *tape = NULL;
	int done;
	memset(outcome, 0, sizeof(*outcome));
	tn_random_set_state(c->context, (struct tn_random_state){kit->seed + 1, 0});
	if (tn_scope_begin(c->context))
		return 0;
	if (c->gradient)
		tape = tn_tape_begin(c->context);
	done = forward(kit, c, tape, values, dy, outcome);
	if (!done)
		kit_fail_context(kit, c->context, c->layer->name);
	tn_tape_end(tape);
	tn_scope_end(c->context, NULL);
	return done;
}

/* The same on the built-in backend in f64. */
static int run_reference(struct kit *kit, const struct layer_case *c, double *const *values,
			 double **dy, struct outcome *outcome)
{
	const struct layer_case other = {.layer = c->layer,
					 .dtype = TN_F64,
					 .context = kit_reference_context(kit),
					 .gradient = c->gradient};
	return run(kit, &other, values, dy, outcome);
}

/* ---- Comparing -------------------------------------------------------------------------------*/

struct sides {
	struct outcome found, expected, magnitude;
	double *dy;
};

static void compare_one(struct kit *kit, const struct layer_case *c, const char *what, int rank,
			const int64_t *shape, const double *const of[3], int is_gradient,
			const char *routes)
{
	size_t n = shape_count((uint32_t)rank, shape);
	const struct bounds bounds = {c->layer->bound, c->layer->family, c->layer->terms,
				      c->layer->scale};
	double *tolerance = bound_tolerance(kit, &bounds, c->dtype, n, of[1], of[2], is_gradient);
	values_compare(kit, what, rank, shape, of[0], of[1], tolerance, routes);
	free(tolerance);
}

static void compare(struct kit *kit, const struct layer_case *c, const struct sides *s,
		    const char *routes)
{
	const struct outcome *y = &s->expected;
	const double *const of[3] = {s->found.y, y->y, s->magnitude.y};
	if (s->found.n != y->n || s->found.rank != y->rank) {
		kit_fail(kit, "y: expected %zu elements of rank %d, found %zu of rank %d (%s)",
			 y->n, y->rank, s->found.n, s->found.rank, routes);
		return;
	}
	compare_one(kit, c, "y", y->rank, y->shape, of, 0, routes);
	for (uint32_t k = 0; k < c->layer->n_inputs; k++) {
		const struct layer_input *input = &c->layer->inputs[k];
		const double *const gradient[3] = {s->found.gradients[k], y->gradients[k],
						   s->magnitude.gradients[k]};
		char what[32];
		snprintf(what, sizeof(what), "gradient of input %u ", k);
		if (gradient[0])
			compare_one(kit, c, what, input->rank, input->shape, gradient, 1, routes);
	}
}

/* The layer applied to magnitudes bounds the rounding error of a sum. */
static int run_magnitudes(struct kit *kit, const struct layer_case *c, double *const *values,
			  struct sides *s)
{
	double *magnitudes[LAYER_INPUTS], *dy = NULL;
	int done;
	if (c->layer->bound != LINEAR)
		return 1;
	if (s->dy) {
		dy = numbers(s->expected.n);
		for (size_t i = 0; i < s->expected.n; i++)
			dy[i] = fabs(s->dy[i]);
	}
	layer_values_magnitude(c->layer->n_inputs, c->layer->inputs, values, magnitudes);
	done = run_reference(kit, c, magnitudes, &dy, &s->magnitude);
	layer_values_free(c->layer->n_inputs, magnitudes);
	free(dy);
	return done;
}

void layer_try(struct kit *kit, const struct layer_case *c, char routes[ROUTES_TEXT])
{
	double *values[LAYER_INPUTS];
	struct sides s = {.dy = NULL};
	routes[0] = 0;
	layer_values_make(kit, c->layer->n_inputs, c->layer->inputs, c->dtype, values);
	tn_ledger_reset(c->context);
	if (run_reference(kit, c, values, &s.dy, &s.expected) &&
	    run_magnitudes(kit, c, values, &s) && run(kit, c, values, &s.dy, &s.found)) {
		if (c->step)
			c->step(kit, c, AFTER_ALL);
		kit_take_ledger(kit, c->context, routes);
		compare(kit, c, &s, routes);
	}
	outcome_free(&s.found);
	outcome_free(&s.expected);
	outcome_free(&s.magnitude);
	free(s.dy);
	layer_values_free(c->layer->n_inputs, values);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

int layer_is_claimed(const struct kit *kit, const struct layer *layer, tn_dtype dtype)
{
	int has_products = layer->family == TN_FAMILY_MATMUL || layer->family == TN_FAMILY_CONV;
	return kit_claims_storage(kit, dtype) && kit_claims_program(kit, dtype) &&
	       (!has_products || kit_claims_matmul(kit, dtype));
}

/* "layers.conv2d" has the layers of group "conv2d". */
static int is_of_check(const struct kit *kit, const struct layer *layer)
{
	const char *dot = strchr(kit->check->id, '.');
	return dot && strcmp(dot + 1, layer->group) == 0;
}

static void try_in(struct kit *kit, const struct layer *layer, tn_dtype dtype, int gradient)
{
	const struct layer_case c = {
		.layer = layer, .dtype = dtype, .context = kit_context(kit), .gradient = gradient};
	char routes[ROUTES_TEXT];
	kit_case(kit, KIT_CONTEXT, "%s of %s", layer->name, tn_dtype_name(dtype));
	layer_try(kit, &c, routes);
	kit_pass(kit);
}

void check_layers(struct kit *kit)
{
	for (size_t i = 0; i < n_layers; i++) {
		if (!is_of_check(kit, &layers[i]))
			continue;
		/* f32 is required of every backend, on any route. */
		try_in(kit, &layers[i], TN_F32, 0);
		if (layer_is_claimed(kit, &layers[i], TN_F64))
			try_in(kit, &layers[i], TN_F64, 0);
	}
}

/* ---- Differences -----------------------------------------------------------------------------*/

enum { MOST_DIFFERENCES = 6 }; /* elements of an input */

struct weighted {
	const struct layer *layer;
	tn_array *dy;
};

/* sum of y dy, whose gradients are those of the layer for the upstream gradient dy */
static tn_array *weighted_sum(void *user, tn_array *const *inputs)
{
	const struct weighted *w = user;
	tn_array *y;
	/* Every call draws the same random numbers. */
	tn_random_set_state(tn_array_context(w->dy), (struct tn_random_state){1, 0});
	y = w->layer->run(w->layer, inputs);
	return tn_sum(tn_multiply(y, w->dy), TN_ALL_AXES, NULL, 0);
}

/* With h = 1e-6, differences of a sum of some hundred terms below 8 are off by 1e3 x 1e-16 / h =
 * 1e-7 for rounding and h^2 for the third derivative.  The chance that an element is within h of a
 * kink of a layer is one in 1e5. */
static const double difference_tolerance = 1e-6;

/* Numeric inputs come first in every layer. */
static int n_numbers(const struct layer *layer)
{
	int n = 0;
	while (n < (int)layer->n_inputs && has_gradient(layer, (uint32_t)n))
		n++;
	return n;
}

static void differ(struct kit *kit, const struct layer *layer)
{
	tn_context *context = kit_context(kit);
	struct weighted w = {.layer = layer};
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	tn_array *inputs[LAYER_INPUTS] = {NULL}, *y;
	double *values[LAYER_INPUTS], *dy;
	char routes[ROUTES_TEXT];
	struct outcome shape = {.n = 0};
	kit_case(kit, KIT_CONTEXT, "%s of f64 and central differences", layer->name);
	layer_values_make(kit, layer->n_inputs, layer->inputs, TN_F64, values);
	if (tn_scope_begin(context))
		kit_give_up(kit, "a scope: %s", tn_error_text(context));
	if (layer_values_upload(kit, context, layer->n_inputs, layer->inputs, TN_F64, values,
				inputs) &&
	    (y = layer->run(layer, inputs)) != NULL) {
		shape.n = (size_t)tn_array_size(y);
		dy = upstream(kit, &shape, TN_F64);
		w.dy = values_upload(kit, context, TN_F64, tn_array_rank(y), tn_array_shape(y), dy);
		free(dy);
	}
	if (!w.dy || tn_gradient_check(context, weighted_sum, &w, n_numbers(layer), inputs, 0,
				       difference_tolerance, MOST_DIFFERENCES, &report))
		kit_fail_context(kit, context, layer->name);
	kit_take_ledger(kit, context, routes);
	tn_scope_end(context, NULL);
	layer_values_free(layer->n_inputs, values);
	kit_pass(kit);
}

void check_gradients(struct kit *kit)
{
	for (size_t i = 0; i < n_layers; i++) {
		const struct layer *layer = &layers[i];
		if (!is_of_check(kit, layer) || layer->has_no_gradient)
			continue;
		try_in(kit, layer, TN_F32, 1);
		if (!layer_is_claimed(kit, layer, TN_F64))
			continue;
		try_in(kit, layer, TN_F64, 1);
		differ(kit, layer);
	}
}

/* ---- Lending ---------------------------------------------------------------------------------*/

/* All slots that compute. */
static uint64_t computing_slots(void)
{
	uint64_t slots = 0;
	for (int slot = TN_SLOT_MAP; slot <= TN_SLOT_SCATTER_ADD; slot++)
		slots |= SLOT_BIT(slot);
	for (int slot = TN_SLOT_CONV2D_FORWARD; slot <= TN_SLOT_CROSS_ENTROPY_BACKWARD; slot++)
		slots |= SLOT_BIT(slot);
	return slots;
}

/* The ledger must have no native runs and no moved bytes.  Operations that no lender has and that
 * cannot be composed run on the host, in the same memory. */
static void check_lent(struct kit *kit, tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	if (!tn_ledger_count(context))
		kit_fail(kit, "the ledger is empty");
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (row.native || row.bytes_moved)
			kit_fail(kit,
				 "%s: expected to be lent without a copy, found %llu native runs, "
				 "%llu bytes moved",
				 row.operation, (unsigned long long)row.native,
				 (unsigned long long)row.bytes_moved);
	}
}

static void lend(struct kit *kit, const struct layer_case *c, enum layer_step step)
{
	if (step == BEFORE_FORWARD)
		route_force(c->context, computing_slots(), LENT);
	else if (step == AFTER_ALL)
		check_lent(kit, c->context);
}

void check_lending(struct kit *kit)
{
	tn_context *context;
	if (!kit_has_lenders(kit))
		return kit_skip(kit, "no other backend that was found works in this device's "
				     "memory");
	context = kit_lending_context(kit);
	for (size_t i = 0; i < n_layers; i++) {
		const struct layer_case c = {.layer = &layers[i],
					     .dtype = TN_F32,
					     .context = context,
					     .gradient = !layers[i].has_no_gradient,
					     .step = lend};
		char routes[ROUTES_TEXT];
		kit_case(kit, KIT_CONTEXT, "%s, lent", layers[i].name);
		layer_try(kit, &c, routes);
		kit_pass(kit);
	}
	route_force(context, 0, NATIVE);
}
