/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * When backward says that a gradient is complete: once for each, in the right order, with its final
 * value; on the built-in backend and the preferred one.
 */
#include "mock_fixture.h"

#include "autograd/gradient_ready.h"
#include "autograd/tape.h"
#include "nn/module.h"
#include "test_context.h"

enum { MOST = 16, SIZE = 3 };

struct leaf {
	tn_array *value, *target;
	int filled;
};

/* What was reported, in order, with the target's sum at that time. */
struct reports {
	tn_context *context;
	size_t n;
	const tn_array *targets[MOST];
	double sums[MOST];
	tn_status fails; /* what the hook returns */
};

static struct reports reports;
static struct tn_gradient_hook hook;

static tn_status note(void *user, tn_array *target)
{
	struct reports *r = user;
	assert_true(r->n < MOST);
	r->targets[r->n] = target;
	if (r->fails)
		return tn_runtime_fail(tn_runtime_of(r->context), r->fails, "note", "as asked");
	assert_ok(tn_item(tn_sum(target, TN_ALL_AXES, NULL, 0), &r->sums[r->n]));
	r->n++;
	return TN_OK;
}

static int open_backend(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	tn_status status = tn_context_open(&options, &context, NULL);
	reports = (struct reports){.context = context};
	hook = (struct tn_gradient_hook){.ready = note, .user = &reports};
	return status != TN_OK;
}

static int setup_reference(void **state)
{
	(void)state;
	return open_backend("reference!");
}

static int setup_preferred(void **state)
{
	(void)state;
	return open_backend("auto");
}

/* A watched leaf of equal elements; its target has NaN until backward fills it. */
static struct leaf leaf_of(float value)
{
	const int64_t shape[] = {SIZE};
	struct leaf leaf = {.value = tn_full(context, TN_F32, 1, shape, value),
			    .target = tn_full(context, TN_F32, 1, shape, (double)NAN)};
	assert_non_null(leaf.target);
	return leaf;
}

static void watch(tn_tape *tape, struct leaf *leaf, const struct tn_gradient_hook *own)
{
	assert_ok(tn_tape_watch_weight(tape, leaf->value, leaf->target, &leaf->filled, own));
}

/* Report number i was that of the leaf, complete: the sum did not change any more. */
static void expect(size_t i, const struct leaf *leaf)
{
	double sum = 0;
	assert_true(i < reports.n);
	assert_ptr_equal(reports.targets[i], leaf->target);
	if (!leaf->filled)
		return;
	assert_ok(tn_item(tn_sum(leaf->target, TN_ALL_AXES, NULL, 0), &sum));
	assert_true(sum == reports.sums[i]);
}

static tn_array *total(const tn_array *y)
{
	return tn_sum(y, TN_ALL_AXES, NULL, 0);
}

/* a is used first in forward, so it is complete last. */
static void in_the_order_of_backward(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	struct leaf a = leaf_of(2), b = leaf_of(3), c = leaf_of(5);
	watch(tape, &a, &hook);
	watch(tape, &b, &hook);
	watch(tape, &c, &hook);
	tn_array *y = tn_multiply(tn_exp(a.value), b.value);
	assert_ok(tn_tape_backward(tape, total(tn_multiply(y, c.value)), NULL));
	assert_int_equal(reports.n, 3);
	expect(0, &c);
	expect(1, &b);
	expect(2, &a);
	tn_tape_end(tape);
}

/* a has two users, b is the oldest's and the newest's, c twice an input of one node. */
static void after_the_oldest_use(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	struct leaf a = leaf_of(2), b = leaf_of(3), c = leaf_of(5);
	watch(tape, &a, &hook);
	watch(tape, &b, &hook);
	watch(tape, &c, &hook);
	tn_array *y = tn_exp(tn_affine(b.value, 0.1, 0));
	y = tn_multiply(y, a.value);
	y = tn_add(y, tn_multiply(c.value, c.value));
	y = tn_multiply(tn_multiply(y, a.value), b.value);
	assert_ok(tn_tape_backward(tape, total(y), NULL));
	assert_int_equal(reports.n, 3);
	expect(0, &c);
	expect(1, &a);
	expect(2, &b);
	tn_tape_end(tape);
}

/* Neither what nothing uses, nor what the output does not depend on. */
static void unused_at_the_end(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	struct leaf a = leaf_of(2), unused = leaf_of(3), aside = leaf_of(4), silent = leaf_of(7);
	watch(tape, &unused, &hook);
	watch(tape, &aside, &hook);
	watch(tape, &a, &hook);
	watch(tape, &silent, NULL);
	tn_array *other = tn_exp(aside.value);
	assert_non_null(other);
	tn_array *y = tn_multiply(tn_exp(a.value), silent.value);
	assert_ok(tn_tape_backward(tape, total(y), NULL));
	assert_int_equal(reports.n, 3);
	expect(0, &a);
	expect(1, &aside);
	expect(2, &unused);
	assert_false(unused.filled);
	assert_false(aside.filled);
	assert_true(silent.filled);
	tn_tape_end(tape);
}

struct recomputed {
	const struct leaf *weight;
};

static tn_array *multiply(void *user, tn_array *const *inputs)
{
	const struct recomputed *own = user;
	return tn_multiply(tn_exp(inputs[0]), own->weight->value);
}

/* Which weights a recomputed part uses is known only when it has been computed again. */
static void after_what_is_computed_again(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	struct leaf a = leaf_of(0.5F), inside = leaf_of(3), both = leaf_of(2), late = leaf_of(4);
	const struct recomputed part = {&inside}, again = {&both};
	watch(tape, &a, &hook);
	watch(tape, &inside, &hook);
	watch(tape, &both, &hook);
	watch(tape, &late, &hook);
	tn_array *y = tn_multiply(a.value, a.value);
	y = tn_recompute(multiply, (void *)(uintptr_t)&again, 1, &y);
	y = tn_recompute(multiply, (void *)(uintptr_t)&part, 1, &y);
	y = tn_multiply(tn_multiply(y, both.value), late.value);
	assert_ok(tn_tape_backward(tape, total(y), NULL));
	assert_int_equal(reports.n, 4);
	expect(3, &a); /* the only one that is used before all recomputed parts */
	for (size_t i = 0; i < 3; i++)
		expect(i, reports.targets[i] == late.target   ? &late
			  : reports.targets[i] == both.target ? &both
							      : &inside);
	assert_ptr_not_equal(reports.targets[0], reports.targets[1]);
	assert_ptr_not_equal(reports.targets[1], reports.targets[2]);
	assert_ptr_not_equal(reports.targets[0], reports.targets[2]);
	tn_tape_end(tape);
}

/* Gradients of chosen arrays are not written to targets. */
static void not_for_chosen_arrays(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	struct leaf a = leaf_of(2);
	tn_array *gradient = NULL;
	watch(tape, &a, &hook);
	tn_array *loss = total(tn_exp(a.value));
	assert_ok(tn_tape_gradients(tape, 1, &loss, NULL, 1, &a.value, &gradient, NULL));
	assert_int_equal(reports.n, 0);
	tn_tape_end(tape);
}

static void failures_end_the_pass(void **state)
{
	(void)state;
	tn_tape *tape = tn_tape_begin(context);
	struct leaf a = leaf_of(2), b = leaf_of(3);
	watch(tape, &a, &hook);
	watch(tape, &b, &hook);
	reports.fails = TN_PEER_LOST;
	tn_array *y = tn_multiply(tn_exp(a.value), b.value);
	assert_int_equal(tn_tape_backward(tape, total(y), NULL), TN_PEER_LOST);
	tn_error_clear(context);
	assert_true(b.filled);
	assert_false(a.filled);
	tn_tape_end(tape);
}

/* A network with a member that is used twice and one that is frozen: each trained parameter once,
 * the last of the first layer. */
static void for_a_network(void **state)
{
	(void)state;
	tn_module *net = tn_module_sequential(context);
	tn_module *linear = tn_module_linear(context, 4, 4, NULL);
	assert_ok(tn_module_sequential_add(net, "a", tn_module_linear(context, 4, 4, NULL)));
	assert_ok(tn_module_sequential_add(net, "b", linear));
	assert_ok(tn_module_sequential_add(net, "c", tn_module_linear(context, 4, 4, NULL)));
	assert_ok(tn_module_share_parameter(tn_module_child(net, "c"), "weight", linear, "weight"));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_set_trainable(net, "b.bias", 0));
	net->gradient_hook = &hook;
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){2, 4});
	tn_array *y = tn_module_forward(net, x);
	assert_ok(tn_tape_backward(tape, total(tn_square(y)), NULL));
	tn_tape_end(tape);
	assert_int_equal(tn_module_parameter_count(net), 5);
	assert_int_equal(reports.n, 4); /* a.weight, a.bias, b.weight, c.bias */
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, "c.bias", &view));
	assert_ptr_equal(reports.targets[0], view.gradient);
	assert_ok(tn_module_parameter(net, "b.weight", &view));
	assert_ptr_equal(reports.targets[1], view.gradient);
	net->gradient_hook = NULL;
	tn_module_destroy(net);
}

#define ON(TEST)                                                                                   \
	cmocka_unit_test_setup_teardown(TEST, setup_reference, context_teardown),                  \
		cmocka_unit_test_setup_teardown(TEST, setup_preferred, context_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(in_the_order_of_backward),
		ON(after_the_oldest_use),
		ON(unused_at_the_end),
		ON(after_what_is_computed_again),
		ON(not_for_chosen_arrays),
		ON(failures_end_the_pass),
		ON(for_a_network),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
