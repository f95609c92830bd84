/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A critic with a gradient penalty (Gulrajani et al. 2017) measures how far two clouds of points
 * are apart: it becomes the function of slope 1 that differs most between them.  The clouds are
 * equal but for a shift, whose length it finds.
 */
#include <math.h>
#include <stdio.h>
#include <tenon/tenon.h>

enum { POINTS = 256, STEPS = 400 };

static tn_array *mean(const tn_array *a)
{
	return tn_mean(a, TN_ALL_AXES, NULL, 0);
}

/* The mean square of (norm of the critic's gradient - 1), between the clouds. */
static tn_array *penalty(tn_tape *tape, tn_module *critic, const tn_array *near,
			 const tn_array *far)
{
	tn_context *ctx = tn_array_context(near);
	tn_array *part = tn_random_uniform(ctx, 2, (int64_t[]){POINTS, 1}, 0, 1), *slope;
	tn_array *x = tn_add(near, tn_multiply(part, tn_subtract(far, near)));
	tn_tape_watch(tape, x);
	tn_array *scores = tn_sum(tn_module_forward(critic, x), TN_ALL_AXES, NULL, 0);
	struct tn_gradients_options options = tn_gradients_defaults();
	options.create_graph = 1;
	if (tn_tape_gradients(tape, 1, &scores, NULL, 1, &x, &slope, &options))
		return NULL;
	tn_array *norm = tn_sqrt(tn_sum(tn_square(slope), 1, (int[]){1}, 0));
	return mean(tn_square(tn_affine(norm, 1, -1)));
}

/* One step of the critic; what it measures. */
static double step(tn_module *critic, tn_optimizer *optimizer, tn_context *ctx)
{
	double distance = 0;
	tn_scope_begin(ctx);
	tn_array *near = tn_random_normal(ctx, 2, (int64_t[]){POINTS, 2}, -1, 1);
	tn_array *far = tn_random_normal(ctx, 2, (int64_t[]){POINTS, 2}, 1, 1);
	tn_module_zero_gradients(critic);
	tn_tape *tape = tn_tape_begin(ctx);
	tn_array *found = tn_subtract(mean(tn_module_forward(critic, far)),
				      mean(tn_module_forward(critic, near)));
	/* The slope may exceed 1 by the distance / (2 * 100). */
	tn_array *loss = tn_subtract(tn_affine(penalty(tape, critic, near, far), 100, 0), found);
	tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	tn_optimizer_step(optimizer);
	if (tn_item(found, &distance))
		distance = NAN;
	tn_scope_end(ctx, NULL);
	return distance;
}

int main(void)
{
	tn_context *ctx;
	struct tn_error_info error;
	if (tn_context_open(NULL, &ctx, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tn_random_set_state(ctx, (struct tn_random_state){.seed = 1});
	tn_module *critic = tn_module_sequential(ctx);
	tn_module_sequential_add(critic, "0", tn_module_linear(ctx, 2, 32, NULL));
	tn_module_sequential_add(critic, "1", tn_module_gelu(ctx, 0));
	tn_module_sequential_add(critic, "2", tn_module_linear(ctx, 32, 1, NULL));
	tn_module_build(critic);
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.01;
	tn_optimizer *optimizer = tn_adamw(critic, &adamw);
	double average = 0, expected = sqrt(8.0);
	for (int i = 0; i < STEPS && !tn_error(ctx); i++) {
		double distance = step(critic, optimizer, ctx);
		average += i < STEPS - 50 ? 0 : distance / 50;
	}
	if (tn_error(ctx))
		fprintf(stderr, "%s\n", tn_error_text(ctx));
	printf("distance %.2f, expected %.2f\n", average, expected);
	int failed = tn_error(ctx) || !(fabs(average - expected) < 0.2);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(critic);
	tn_context_close(ctx);
	return failed;
}
