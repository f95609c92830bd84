/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host and device memory runs out at every allocation in turn: each operation then fails with its
 * name, leaks nothing, and works again once there is memory.
 */
#include <tenon/linalg.h>

#include "array_fixture.h"

/* The tests' own allocations do not fail. */
#define FAILING_MALLOC 0
#include "device/chunk.h"
#include "failing_memory.h"
#include "layers/conv2d.h"
#include "layers/pool2d.h"
#include "layers/softmax.h"
#include "layers/window.h"

/* Runs some of everything on the current device; 0: a failure. */
static int compute(struct fixture *f)
{
	const struct tn_window window = {.padding = {1, 1, 1, 1}};
	const struct tn_window pooling = {.kernel = {2, 2}, .kind = TN_POOL_MAX};
	static const float data[18] = {1, 2, 3};
	float back[8];
	tn_context *context = context_of(f);
	tn_array *x = tn_from_host(context, TN_F32, SHAPE(1, 2, 3, 3), data);
	tn_array *w = tn_random_normal(context, SHAPE(2, 2, 3, 3), 0, 1);
	tn_array *y = tn_conv2d_forward(x, w, NULL, &window), *index = NULL;
	tn_array *pooled = tn_pool2d_forward(y, &pooling, &index);
	tn_array *dy = tn_pool2d_backward(pooled, index, y ? y->shape : NULL, &pooling);
	if (!dy || tn_conv2d_weight_gradient(w, x, dy, &window, 1))
		return 0;
	tn_array *half = tn_astype(x, TN_F16), *whole = tn_astype(x, TN_I32);
	if (!tn_conv2d_forward(half, tn_astype(w, TN_F16), NULL, &window) ||
	    !tn_matmul(half, half) || !tn_matmul(whole, whole))
		return 0;
	tn_array *z = tn_transpose(tn_softmax_forward(dy, 1, 0), NULL);
	tn_array *turned = tn_transpose(z, (const int[]){0, 1, 3, 2});
	if (!tn_matmul(tn_slice(z, 0, 0, 3, 2), tn_slice(turned, 0, 0, 3, 2)))
		return 0;
	tn_array *flat = tn_reshape(z, SHAPE(-1));
	const tn_array *parts[] = {tn_logsumexp(flat, TN_ALL_AXES, NULL, 1), flat};
	tn_array *joined = parts[0] ? tn_concatenate(2, parts, 0) : NULL;
	if (!joined || tn_add_into(tn_slice(joined, 0, 1, 5, 1), tn_slice(joined, 0, 0, 4, 1),
				   tn_slice(joined, 0, 2, 6, 1)))
		return 0;
	tn_array *places = NULL, *most = tn_topk(tn_cumsum(turned, 1), 2, 1, 1, &places);
	if (!most || !tn_take_along_axis(turned, places, 1))
		return 0;
	tn_array *mapped = tn_map("z = x * a", 1, (const char *[]){"x"},
				  (const tn_array *[]){tn_slice(joined, 0, 0, 8, 1)}, 1,
				  (const char *[]){"a"}, (double[]){3});
	return mapped && tn_to_host(mapped, back, sizeof(back)) == TN_OK;
}

/* The same of decompositions. */
static int decompose(struct fixture *f)
{
	static const float data[8] = {4, 1, 1, 3, 5, 2, 2, 6};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(2, 2, 2), data), *b, *c, *d, *e;
	if (tn_qr(a, 0, &b, &c) || tn_lu(a, &b, &c, &d) || tn_eigh(a, 0, &b, &c) ||
	    tn_svd(a, 1, &b, &c, &d) || tn_eig(a, &b, &c) || tn_slogdet(a, &b, &c))
		return 0;
	if (!tn_cholesky(a, 1) || !tn_matrix_power(a, -2) || !tn_det(a) || !tn_cond(a, TN_NORM_2))
		return 0;
	tn_array *matrix = tn_squeeze(tn_slice(a, 0, 0, 1, 1), 0);
	if (tn_lstsq(matrix, matrix, -1, &b, &c, &d, &e) || !tn_matrix_rank(matrix, -1))
		return 0;
	return tn_expm(matrix) && tn_tensorinv(matrix, 1) &&
	       tn_solve_triangular(a, matrix, 1, 0, 0);
}

static void fail_everywhere(struct fixture *f, int (*work)(struct fixture *f))
{
	int n = 0, worked = 0;
	for (; !worked && n < 100000; n++) {
		assert_ok(tn_scope_begin(context_of(f)));
		memory_fails_at(n, 1);
		worked = work(f);
		memory_works();
		if (!worked) {
			const struct tn_error_info *error = tn_error(context_of(f));
			/* A NULL operand means that an error is kept. */
			assert_non_null(error);
			assert_int_equal(error->status, TN_OUT_OF_MEMORY);
			assert_true(error->operation[0] && error->text[0]);
		}
		tn_error_clear(context_of(f));
		while (f->context.runtime.scope->parent && f->context.runtime.scope->parent->parent)
			fail_msg("a scope was left open");
		tn_scope_end(context_of(f), NULL);
		assert_int_equal(f->context.runtime.depth, 0);
		/* Otherwise the caches of memory and programs would avoid allocations in the next
		 * round. */
		tn_pool_trim(f->context.runtime.device);
	}
	assert_true(worked && n > 10);
	assert_ok(tn_scope_begin(context_of(f)));
	assert_true(work(f));
	tn_scope_end(context_of(f), NULL);
}

static void memory_runs_out_on_a_backend_that_does_all(void **state)
{
	fail_everywhere(*state, compute);
}

static void memory_runs_out_in_compositions(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "small", MANDATORY, 0);
	fail_everywhere(f, compute);
}

static void memory_runs_out_on_the_way_to_the_host(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	fail_everywhere(f, compute);
}

static void memory_runs_out_in_decompositions(void **state)
{
	fail_everywhere(*state, decompose);
}

static void a_runtime_without_memory_is_none(void **state)
{
	struct fixture *f = *state;
	for (int n = 0; n < 5; n++) {
		tn_context context = {.runtime.device = f->context.runtime.device};
		memory_fails_at(n, 1);
		assert_status(tn_runtime_init(&context), TN_OUT_OF_MEMORY);
		memory_works();
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(memory_runs_out_on_a_backend_that_does_all),
		TEST(memory_runs_out_in_compositions),
		TEST(memory_runs_out_on_the_way_to_the_host),
		TEST(memory_runs_out_in_decompositions),
		TEST(a_runtime_without_memory_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
