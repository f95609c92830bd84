/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Optimizers and clipping: a few steps of a linear layer on the device and on the built-in backend,
 * with weights compared after each.
 */
#include <stdio.h>

#include "base/dtype.h"
#include "layers.h"

#include <tenon/optim.h>

enum { STEPS = 5, ROWS = 8, IN = 6, OUT = 4 };

struct rule {
	const char *check;
	const char *name;
	int is_adamw;
	struct tn_sgd_options sgd;
	double weight_decay;                      /* of AdamW */
	double max_norm;                          /* 0: no clipping */
	tn_optimizer *(*make)(tn_module *module); /* another one, with Adam's tolerance */
};

#define SGD(...) .sgd = {.struct_size = sizeof(struct tn_sgd_options), .lr = 0.1, __VA_ARGS__}

static tn_optimizer *make_lamb(tn_module *module)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	options.lr = 0.01;
	options.weight_decay = 0.1;
	options.adapt_vectors = 1;
	return tn_lamb(module, &options);
}

static tn_optimizer *make_amsgrad(tn_module *module)
{
	struct tn_adam_options options = tn_adam_defaults();
	options.lr = 0.01;
	options.weight_decay = 0.1;
	options.amsgrad = 1;
	return tn_adam(module, &options);
}

/* NAdam with groups, Lasso, gradient noise and slow weights. */
static tn_optimizer *make_hooked(tn_module *module)
{
	struct tn_nadam_options nadam = tn_nadam_defaults();
	struct tn_group_options group = tn_group_defaults();
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	nadam.lr = 0.01;
	nadam.weight_decay = 0.1;
	group.max_rank = 1;
	group.weight_decay = 0;
	lookahead.k = 2;
	tn_optimizer *made = tn_nadam(module, &nadam);
	if (tn_optimizer_set_group(made, &group) || tn_optimizer_set_lasso(made, 0.01) ||
	    tn_optimizer_set_gradient_noise(made, 0.1, 0.55) || tn_lookahead(made, &lookahead)) {
		tn_optimizer_destroy(made);
		return NULL;
	}
	return made;
}

static const struct rule rules[] = {
	{.check = "optimizers.sgd", .name = "sgd", SGD(.momentum = 0)},
	{.check = "optimizers.sgd", .name = "sgd with decay", SGD(.weight_decay = 0.01)},
	{.check = "optimizers.sgd",
	 .name = "sgd with momentum",
	 SGD(.momentum = 0.9, .dampening = 0.1)},
	{.check = "optimizers.sgd", .name = "nesterov", SGD(.momentum = 0.9, .nesterov = 1)},
	{.check = "optimizers.adamw", .name = "adamw", .is_adamw = 1, .weight_decay = 0.01},
	{.check = "optimizers.adamw", .name = "adam", .is_adamw = 1},
	{.check = "optimizers.adamw", .name = "amsgrad", .is_adamw = 1, .make = make_amsgrad},
	{.check = "optimizers.lamb", .name = "lamb", .is_adamw = 1, .make = make_lamb},
	{.check = "optimizers.hooks", .name = "nadam", .is_adamw = 1, .make = make_hooked},
	{.check = "optimizers.clip", .name = "clipped", SGD(.momentum = 0), .max_norm = 0.1},
	{.check = "optimizers.clip", .name = "not clipped", SGD(.momentum = 0), .max_norm = 1e6},
};
enum { N_RULES = sizeof(rules) / sizeof(rules[0]) };

/* One side, device or reference. */
struct side {
	tn_context *context;
	tn_module *module;
	tn_optimizer *optimizer;
	tn_array *x;
	double norm;
};

static tn_optimizer *make_optimizer(const struct rule *rule, tn_module *module)
{
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.01;
	adamw.weight_decay = rule->weight_decay;
	if (rule->make)
		return rule->make(module);
	return rule->is_adamw ? tn_adamw(module, &adamw) : tn_sgd(module, &rule->sgd);
}

static int begin(struct kit *kit, const struct rule *rule, tn_context *context, const double *x,
		 struct side *side)
{
	*side = (struct side){.context = context};
	if (tn_scope_begin(context))
		kit_give_up(kit, "a scope: %s", tn_error_text(context));
	tn_random_set_state(context, (struct tn_random_state){kit->seed + 1, 0});
	side->module = tn_module_linear(context, IN, OUT, NULL);
	side->x = values_upload(kit, context, TN_F32, 2, (const int64_t[]){ROWS, IN}, x);
	if (!side->module || tn_module_build(side->module) || !side->x)
		return 0;
	tn_module_set_training(side->module, 1);
	side->optimizer = make_optimizer(rule, side->module);
	return side->optimizer != NULL;
}

static void end(struct side *side)
{
	tn_optimizer_destroy(side->optimizer);
	tn_module_destroy(side->module);
	tn_scope_end(side->context, NULL);
}

/* Minimises the mean square of (output - 1). */
static int take_step(const struct rule *rule, struct side *side)
{
	static const char *const names[] = {"y"};
	tn_tape *tape = tn_tape_begin(side->context);
	tn_array *y = tn_module_forward(side->module, side->x);
	tn_array *square = tn_map("z = (y - 1) * (y - 1)", 1, names, (const tn_array *const[]){y},
				  0, NULL, NULL);
	tn_array *loss = tn_mean(square, TN_ALL_AXES, NULL, 0);
	int done = loss && !tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (done && rule->max_norm > 0)
		done = !tn_clip_grad_norm(side->module, rule->max_norm, &side->norm);
	if (done)
		done = !tn_optimizer_step(side->optimizer);
	tn_module_zero_gradients(side->module);
	return done;
}

/* The step s, 1 to STEPS, moves a weight by at most lr (1 + momentum + ...) of a gradient below 8;
 * each of its sums of ROWS x OUT + 2 IN terms, of numbers below 8, and the rule's own operations
 * round once, and errors carry over to later steps.  AdamW divides by the root of the second
 * moment, which amplifies an error of g by its condition: up to 1e-3 of a step of lr.
 *
 * Where f32 is computed in bf16, the rounding of the weight itself, which is below 1, is larger
 * than all others together, which lr multiplies.  In f16 the squares of small gradients lose as
 * many bits. */
enum { WEIGHT_ROUNDINGS = 4 };

static double allowed(const struct kit *kit, const struct rule *rule, int step)
{
	double roundings = ROWS * OUT + 2 * IN + 16;
	if (kit_compute_dtype(kit, TN_FAMILY_MAP) != TN_F32)
		return step * WEIGHT_ROUNDINGS * tn_half_unit(TN_BF16);
	return step * (roundings * 8 * kit_epsilon(TN_F32) + (rule->is_adamw ? 0.01 * 1e-3 : 0));
}

static void compare_parameter(struct kit *kit, const struct rule *rule,
			      const struct tn_parameter_view *found,
			      const struct tn_parameter_view *expected, int step,
			      const char *routes)
{
	size_t n = (size_t)tn_array_size(expected->value);
	double *a = values_of(kit, found->value), *b = values_of(kit, expected->value);
	double *tolerance = numbers(n);
	char what[64];
	for (size_t i = 0; i < n; i++)
		tolerance[i] = allowed(kit, rule, step);
	snprintf(what, sizeof(what), "%s after step %d ", expected->name, step);
	if (a && b)
		values_compare(kit, what, expected->rank, expected->shape, a, b, tolerance, routes);
	free(a);
	free(b);
	free(tolerance);
}

static void compare(struct kit *kit, const struct rule *rule, const struct side *device,
		    const struct side *reference, int step, const char *routes)
{
	struct tn_parameter_view found = {.struct_size = sizeof(found)},
				 expected = {.struct_size = sizeof(expected)};
	if (fabs(device->norm - reference->norm) > kit_composed_error(kit, TN_FAMILY_MAP, TN_F32,
								      8 * (ROWS * OUT + IN),
								      WEIGHT_ROUNDINGS) *
							   reference->norm * step)
		kit_fail(kit, "the norm of step %d: expected %.9g, found %.9g (%s)", step,
			 reference->norm, device->norm, routes);
	for (size_t i = 0; i < tn_module_parameter_count(reference->module); i++) {
		tn_module_parameter_at(device->module, i, &found);
		tn_module_parameter_at(reference->module, i, &expected);
		compare_parameter(kit, rule, &found, &expected, step, routes);
	}
}

static void try(struct kit *kit, const struct rule *rule)
{
	struct side device, reference;
	double x[ROWS * IN];
	char routes[ROUTES_TEXT];
	kit_case(kit, KIT_CONTEXT, "%s", rule->name);
	for (int i = 0; i < ROWS * IN; i++)
		x[i] = kit_uniform(kit, -1, 1);
	values_round(kit, TN_F32, x, ROWS * IN);
	int done = begin(kit, rule, kit_reference_context(kit), x, &reference);
	done = begin(kit, rule, kit_context(kit), x, &device) && done;
	for (int step = 1; step <= STEPS && done && !kit->case_failed; step++) {
		done = take_step(rule, &reference) && take_step(rule, &device);
		kit_take_ledger(kit, device.context, routes);
		if (done)
			compare(kit, rule, &device, &reference, step, routes);
	}
	if (!done)
		kit_fail_context(kit, tn_error(device.context) ? device.context : reference.context,
				 rule->name);
	end(&device);
	end(&reference);
	kit_pass(kit);
}

void check_optimizers(struct kit *kit)
{
	for (int i = 0; i < N_RULES; i++) {
		if (strcmp(rules[i].check, kit->check->id) == 0)
			try(kit, &rules[i]);
	}
}
