/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tapes while host memory runs out: every failure is an error, and everything is freed.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "failing_memory.h"

static tn_context *context;

static void count_destroyed(void *state)
{
	++*(int *)state;
}

static tn_status square_backward(void *state, const struct tn_node_call *call)
{
	(void)state;
	call->input_gradients[0] =
		tn_multiply(tn_affine(call->saved[0], 2, 0), call->output_gradients[0]);
	return TN_OK;
}

static tn_array *squared(tn_array *x, int *destroyed)
{
	tn_no_grad_begin(context);
	tn_array *y = tn_square(x);
	tn_no_grad_end(context);
	if (!y) {
		++*destroyed;
		return NULL;
	}
	struct tn_node_options node = tn_node_defaults();
	node.name = "squared";
	node.n_inputs = 1;
	node.inputs = &x;
	node.n_outputs = 1;
	node.outputs = &y;
	node.n_saved = 1;
	node.saved = &x;
	node.backward = square_backward;
	node.state = destroyed;
	node.destroy = count_destroyed;
	node.is_differentiable = 1;
	tn_status status = tn_node_record(context, &node);
	return status ? NULL : y;
}

static tn_array *block(void *user, tn_array *const *x)
{
	(void)user;
	return tn_dropout(tn_exp(x[0]), 0.25);
}

/* A node that a program records, a gradient of a gradient, and something that is computed again. */
static tn_status work(tn_array *x, int *destroyed)
{
	tn_status status = tn_scope_begin(context);
	if (status) {
		++*destroyed;
		return status;
	}
	tn_tape *tape = tn_tape_begin(context);
	if (tape)
		tn_tape_watch(tape, x);
	tn_array *y = tape ? squared(x, destroyed) : NULL, *g = NULL;
	*destroyed += tape == NULL;
	tn_array *slice = tn_slice(y, 0, 0, 3, 2);
	tn_array *loss = tn_sum(slice, TN_ALL_AXES, NULL, 0);
	struct tn_gradients_options options = tn_gradients_defaults();
	options.create_graph = 1;
	status = loss ? tn_tape_gradients(tape, 1, &loss, NULL, 1, &x, &g, &options)
		      : TN_PENDING_ERROR;
	tn_array *again = status ? NULL : tn_recompute(block, NULL, 1, &g);
	loss = tn_sum(again, TN_ALL_AXES, NULL, 0);
	status = loss ? tn_tape_backward(tape, loss, NULL) : TN_PENDING_ERROR;
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	return status;
}

static void any_failure_is_an_error_and_nothing_is_kept(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	struct tn_memory_use before = {.struct_size = sizeof(before)},
			     after = {.struct_size = sizeof(after)};
	long n = 0, failures = 1;
	int destroyed = 0;
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){3});
	for (int i = 0; i < 2; i++)
		assert_ok(work(x, &destroyed)); /* programs are parsed, and kept, once */
	assert_int_equal(destroyed, 2);
	tn_device_get_memory_use(tn_device_current(context), &before);
	while (failures) {
		memory_fails_at(n, n % 2 == 1);
		tn_status status = work(x, &destroyed);
		failures = memory_works();
		assert_int_equal(destroyed, n + 3);
		if (status) {
			assert_non_null(tn_error(context));
			assert_status(tn_error(context)->status, TN_OUT_OF_MEMORY);
			tn_error_clear(context);
		}
		assert_true(failures || !status);
		tn_device_get_memory_use(tn_device_current(context), &after);
		assert_int_equal(after.used, before.used);
		n++;
	}
	assert_true(n > 50);
	assert_ok(work(x, &destroyed));
	tn_context_close(context);
}

/* What a context makes once, at the first use: it is closed without it. */
static void a_context_may_fail_at_its_first_use(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	long n = 0, failures = 1;
	(void)state;
	while (failures) {
		int destroyed = 0;
		assert_ok(tn_context_open(&options, &context, NULL));
		tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){3});
		memory_fails_at(n, n % 2 == 1);
		tn_status status = work(x, &destroyed);
		failures = memory_works();
		assert_true(failures || !status);
		assert_int_equal(destroyed, 1);
		tn_context_close(context);
		n++;
	}
	assert_true(n > 100);
}

/* ---- Decompositions --------------------------------------------------------------------------*/

/* A number that depends on the factors of a matrix; NULL: a failure. */
static tn_array *number_of_factors(const tn_array *a)
{
	tn_array *q, *r, *w, *v, *u, *s, *vh, *sign, *log;
	if (tn_qr(a, 0, &q, &r) || tn_eigh(a, 0, &w, &v) || tn_svd(a, 0, &u, &s, &vh) ||
	    tn_slogdet(a, &sign, &log))
		return NULL;
	tn_array *sum =
		tn_add(tn_matmul(q, tn_add(v, u)), tn_multiply(tn_add(r, vh), tn_add(w, s)));
	sum = tn_add(sum, tn_multiply(log, tn_add(tn_solve(a, r), tn_inv(a))));
	sum = tn_add(sum, tn_multiply(tn_det(a), tn_add(tn_cholesky(a, 0), tn_pinv(a, -1))));
	return tn_sum(sum, TN_ALL_AXES, NULL, 0);
}

/* OK, or the status that was kept. */
static tn_status differentiate(tn_array *x)
{
	tn_tape *tape = tn_scope_begin(context) ? NULL : tn_tape_begin(context);
	if (tape)
		tn_tape_watch(tape, x);
	tn_array *y = tape ? number_of_factors(x) : NULL;
	if (y)
		tn_tape_backward(tape, y, NULL);
	tn_status status = tn_error(context) ? tn_error(context)->status : TN_OK;
	tn_error_clear(context);
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	return status;
}

static void decompositions_fail_by_name(void **state)
{
	static const double data[] = {4, 1, 1, 3};
	struct tn_context_options options = tn_context_defaults();
	tn_status status = TN_OUT_OF_MEMORY;
	(void)state;
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = tn_from_host(context, TN_F64, 2, (const int64_t[]){2, 2}, data);
	assert_ok(differentiate(x));
	int n = 0;
	for (; status && n < 20000; n += n < 500 ? 1 : 7) {
		tn_device_memory_trim(tn_device_current(context), 0);
		memory_fails_at(n, 1);
		status = differentiate(x);
		status = memory_works() ? status : TN_OK;
		if (status)
			assert_status(status, TN_OUT_OF_MEMORY);
	}
	assert_true(!status && n > 100);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_failure_is_an_error_and_nothing_is_kept),
		cmocka_unit_test(a_context_may_fail_at_its_first_use),
		cmocka_unit_test(decompositions_fail_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
