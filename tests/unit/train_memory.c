/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory over the steps of a training: after warm-up a step allocates nothing, neither from the
 * device's pool nor, by page faults, from the system.
 */
#include <sys/resource.h>

#include <tenon/tenon.h>

#include "check.h"

/* Sanitizers allocate their own memory during the run. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { BATCH = 64, WARM_STEPS = 3, STEPS = 10, MOST_FAULTS_A_STEP = 10 };

struct training {
	tn_context *context;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_array *x, *labels;
};

static void begin(struct training *t)
{
	static const struct tn_model_shape shape = {1, 28, 28, 10};
	struct tn_adamw_options options = tn_adamw_defaults();
	const int64_t images[] = {BATCH, 1, 28, 28}, batch = BATCH;
	struct tn_error_info error;
	assert_ok(tn_context_open(NULL, &t->context, &error));
	t->net = tn_model_create(t->context, "lenet", &shape);
	assert_ok(tn_module_build(t->net));
	tn_module_set_training(t->net, 1);
	t->optimizer = tn_adamw(t->net, &options);
	t->x = tn_random_normal(t->context, 4, images, 0, 1);
	t->labels = tn_astype(tn_random_uniform(t->context, 1, &batch, 0, 10), TN_I32);
}

static void end(struct training *t)
{
	tn_optimizer_destroy(t->optimizer);
	tn_module_destroy(t->net);
	tn_context_close(t->context);
}

static void step(struct training *t)
{
	assert_ok(tn_scope_begin(t->context));
	tn_module_zero_gradients(t->net);
	tn_tape *tape = tn_tape_begin(t->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(t->net, t->x), t->labels, NULL);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(t->optimizer));
	tn_scope_end(t->context, NULL);
}

static struct tn_memory_use memory(const struct training *t)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(tn_device_current(t->context), &use);
	return use;
}

static long faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void a_warm_step_takes_no_new_memory(void **state)
{
	struct training t;
	(void)state;
	begin(&t);
	for (int i = 0; i < WARM_STEPS; i++)
		step(&t);
	struct tn_memory_use before = memory(&t);
	long first = faults();
	for (int i = 0; i < STEPS; i++)
		step(&t);
	long taken = faults() - first;
	struct tn_memory_use after = memory(&t);
	end(&t);
	assert_int_equal(after.used, before.used);
	assert_int_equal(after.cached, before.cached);
	assert_int_equal(after.peak, before.peak);
	if (!SANITIZED)
		assert_in_range(taken, 0, STEPS * MOST_FAULTS_A_STEP);
}

static void a_step_leaves_nothing_behind(void **state)
{
	struct training t;
	(void)state;
	begin(&t);
	step(&t); /* the first step allocates the optimizer's and the kernels' memory */
	uint64_t used = memory(&t).used;
	step(&t);
	assert_int_equal(memory(&t).used, used);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_warm_step_takes_no_new_memory),
		cmocka_unit_test(a_step_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
