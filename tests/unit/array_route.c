/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The route of an operation, its count in the ledger, and equal results on every route.
 */
#include "array_fixture.h"
#include "device/chunk.h"
#include "layers/softmax.h"

/* A program with every kind of call; the sum of all results. */
static double run_all(struct fixture *f)
{
	tn_array *a = noise(f, 1, SHAPE(6, 8)), *b = noise(f, 2, SHAPE(8));
	tn_array *c = tn_add(a, tn_slice(b, 0, INT64_MIN, INT64_MIN, -1));
	tn_array *d = tn_matmul(tn_transpose(c, NULL), a);
	tn_array *view = tn_slice(tn_slice(d, 0, 1, 7, 2), 1, 0, 8, 3);
	assert_ok(tn_add_into(view, view, view));
	assert_ok(tn_fill(tn_slice(d, 0, 0, 1, 1), 0.25));
	tn_array *sum = tn_sum(tn_tanh(d), 1, (const int[]){0}, 0);
	tn_array *places = tn_astype(tn_argmax(d, 0, 0), TN_I32);
	tn_array *taken = tn_take(sum, tn_full(context_of(f), TN_I32, SHAPE(3), 5), 0, TN_RAISE);
	tn_array *all[] = {sum, tn_astype(places, TN_F32), taken, tn_copy(view)};
	double total = 0, value = 0;
	for (int i = 0; i < 4; i++) {
		assert_ok(tn_item(tn_sum(all[i], TN_ALL_AXES, NULL, 0), &value));
		total += value * (i + 1);
	}
	return total;
}

static void every_way_gives_the_same(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint64_t slots;
		int is_far;
	} cases[] = {{MANDATORY, 0},
		     {SLOT(MAP) | SLOT(REDUCE), 0},
		     {SLOT(COPY), 0},
		     {MEMORY_ALONE, 0},
		     {MEMORY_ALONE, 1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *g = NULL;
		void *fresh = NULL;
		open_fixture(&fresh);
		g = fresh;
		g->context.runtime.device = add_device(g, "odd", cases[i].slots, cases[i].is_far);
		/* The same loops in the same order: the same bits. */
		assert_close(run_all(g), run_all(f), 0);
		assert_null(tn_error(context_of(g)));
		close_fixture(&fresh);
	}
}

static void a_slot_of_the_device_is_native(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	tn_add(a, a);
	tn_add(a, tn_transpose(a, NULL));
	tn_sum(a, TN_ALL_AXES, NULL, 0);
	tn_matmul(a, a);
	struct tn_ledger_row row = ledger_row(f, "add");
	assert_int_equal(row.native, 2);
	assert_int_equal(row.lent + row.composed + row.host, 0);
	assert_int_equal(ledger_row(f, "sum").native, 1);
	assert_int_equal(ledger_row(f, "matmul").native, 1);
	assert_close(ledger_row(f, "matmul").seconds, 0, 0);
	tn_ledger_reset(context_of(f));
	assert_int_equal(tn_ledger_count(context_of(f)), 0);
	assert_status(tn_ledger_at(context_of(f), 0, &row), TN_INVALID_ARGUMENT);
}

static void all_operations_are_timed_when_asked(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.ledger_time = 1;
	tn_array *a = noise(f, 1, SHAPE(100, 100));
	tn_exp(a);
	tn_matmul(a, a);
	assert_true(ledger_row(f, "exp").seconds > 0);
	assert_true(ledger_row(f, "matmul").seconds > 0);
}

/* ---- Workspace -------------------------------------------------------------------------------*/

static char order[16]; /* of the calls: c without workspace, d a dry run, w with */
static const struct tn_compute_table *reference_compute;

static tn_status needs_256(void *device, const struct tn_matmul_args *args)
{
	struct tn_workspace *workspace = args->call.workspace;
	int is_dry = (args->call.flags & TN_DRY_RUN) != 0;
	size_t n = strlen(order);
	assert_true(n + 1 < sizeof(order));
	order[n] = is_dry ? 'd' : workspace ? 'w' : 'c';
	if (!is_dry && !workspace)
		return TN_UNSUPPORTED;
	if (is_dry) {
		workspace->minimum = 256;
		workspace->preferred = 4096;
		return TN_OK;
	}
	assert_int_equal(workspace->size, 256);
	memset((void *)(uintptr_t)(workspace->buffer + workspace->offset), 1, 256);
	return reference_compute->matmul(device, args);
}

static void what_wants_workspace_is_asked_once_it_has_refused(void **state)
{
	struct fixture *f = *state;
	reference_compute = tn_reference_backend.query(f->instance, TN_TABLE_COMPUTE);
	f->context.runtime.device = add_device(f, "wants", SLOT(MATMUL) | SLOT(MAP), 0);
	f->backends[1].compute.matmul = needs_256;
	memset(order, 0, sizeof(order));
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	assert_elements(tn_matmul(a, a), 2, 3, 6, 11);
	assert_string_equal(order, "cdw");
	assert_elements(tn_matmul(a, a), 2, 3, 6, 11);
	assert_string_equal(order, "cdwdw");
	assert_int_equal(ledger_row(f, "matmul").native, 2);
	assert_int_equal(ledger_row(f, "matmul").lent + ledger_row(f, "matmul").host, 0);
}

static void a_host_memory_device_lends_its_slot(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "poor", SLOT(MAP), 0);
	f->lenders[f->context.runtime.n_lenders++] = add_device(f, "rich", SLOT(MATMUL), 0);
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	tn_array *c = tn_matmul(a, a);
	assert_elements(c, 2, 3, 6, 11);
	assert_ptr_equal(tn_array_device(c), f->context.runtime.device);
	assert_int_equal(ledger_row(f, "matmul").lent, 1);
	assert_true(ledger_row(f, "matmul").seconds > 0);
	/* Operations on far memory are not lent. */
	f->context.runtime.device = add_device(f, "far", SLOT(MAP), 1);
	tn_matmul(counted(f, 0, SHAPE(2, 2)), counted(f, 0, SHAPE(2, 2)));
	assert_int_equal(ledger_row(f, "matmul").lent, 1);
	assert_int_equal(ledger_row(f, "matmul").host, 1);
}

/* Host memory with products and convolutions only, like a library of fast kernels. */
static void what_a_device_refuses_is_lent_without_a_copy(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "kernels", SLOT(MATMUL), 0);
	f->lenders[f->context.runtime.n_lenders++] = f->context.runtime.device;
	f->lenders[f->context.runtime.n_lenders++] = add_device(f, "rich", ALL_SLOTS, 0);
	tn_array *a = noise(f, 1, SHAPE(4, 6));
	assert_non_null(tn_add(a, tn_slice(a, 1, INT64_MIN, INT64_MIN, -1)));
	assert_non_null(tn_sum(a, 1, (const int[]){0}, 0));
	assert_non_null(tn_copy(tn_transpose(a, NULL)));
	assert_non_null(tn_random_uniform(context_of(f), SHAPE(3), 0, 1));
	assert_non_null(tn_softmax_forward(a, 1, 0));
	assert_ok(tn_fill(a, 1));
	tn_array *product = tn_matmul(tn_transpose(a, NULL), tn_slice(a, 1, 0, 1, 1));
	assert_int_equal(ledger_row(f, "matmul").native, 1);
	for (size_t i = 0; i < tn_ledger_count(context_of(f)); i++) {
		struct tn_ledger_row row = {.struct_size = sizeof(row)};
		assert_ok(tn_ledger_at(context_of(f), i, &row));
		if (strcmp(row.operation, "matmul") == 0)
			continue;
		assert_int_equal(row.lent, 1);
		assert_int_equal(row.native + row.composed + row.host + row.bytes_moved, 0);
	}
	assert_int_equal(tn_ledger_count(context_of(f)), 7);
	assert_elements(product, 4, 4, 4, 4, 4, 4);
}

/* The lender has the steps, but not the operation. */
static void a_composition_is_made_of_lent_steps(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "kernels", SLOT(CONV2D_FORWARD), 0);
	f->lenders[f->context.runtime.n_lenders++] = add_device(f, "plain", MANDATORY, 0);
	tn_array *x = noise(f, 1, SHAPE(5, 7));
	tn_array *y = tn_softmax_forward(x, 1, 0);
	assert_int_equal(ledger_row(f, "softmax").composed, 1);
	assert_int_equal(ledger_row(f, "softmax").host, 0);
	/* Bytes leaving the device are counted, also within a composition. */
	assert_int_equal(ledger_row(f, "max").lent, 1);
	assert_int_equal(ledger_row(f, "sum").lent, 1);
	f->context.runtime.device = f->context.runtime.reference;
	assert_arrays_close(y, tn_softmax_forward(noise(f, 1, SHAPE(5, 7)), 1, 0), 1e-6);
}

static void a_lender_is_asked_before_the_host_and_after_the_device(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "kernels", SLOT(MATMUL), 0);
	f->lenders[f->context.runtime.n_lenders++] = add_device(f, "poor", SLOT(MAP), 0);
	f->lenders[f->context.runtime.n_lenders++] =
		add_device(f, "rich", SLOT(REDUCE) | SLOT(MAP), 0);
	tn_array *a = counted(f, 1, SHAPE(2, 2));
	assert_elements(tn_sum(a, TN_ALL_AXES, NULL, 0), 10); /* the first lender has no reduce */
	assert_int_equal(ledger_row(f, "sum").lent, 1);
	f->context.runtime.fallback =
		TN_FALLBACK_NATIVE; /* lending is neither a host run nor a composition */
	assert_non_null(tn_add(a, a));
	assert_int_equal(ledger_row(f, "add").lent, 1);
	f->context.runtime.n_lenders = 0;
	assert_null(tn_add(a, a));
	assert_kept(f, TN_UNSUPPORTED, "TENON_FALLBACK=native");
}

static tn_status broken_map(void *device, const struct tn_map_args *args)
{
	(void)device;
	if (args->call.flags & TN_DRY_RUN)
		return TN_OK;
	tn_fail(args->call.error, TN_BACKEND_FAILURE, "map", "it smokes");
	return TN_BACKEND_FAILURE;
}

static void a_failure_of_a_lender_names_the_lender(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "kernels", SLOT(MATMUL), 0);
	f->lenders[f->context.runtime.n_lenders++] = add_device(f, "broken", MANDATORY, 0);
	f->backends[2].compute.map = broken_map;
	tn_array *a = counted(f, 1, SHAPE(2));
	assert_null(tn_add(a, a));
	assert_kept(f, TN_BACKEND_FAILURE, "broken:0");
	assert_int_equal(ledger_row(f, "add").lent + ledger_row(f, "add").host, 0);
}

static void a_copy_and_a_fill_are_composed_of_a_map(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "small", MANDATORY, 0);
	tn_array *a = tn_full(context_of(f), TN_F32, SHAPE(3), 4);
	tn_array *b = tn_copy(a);
	assert_true(ledger_row(f, "fill").composed == 1 && ledger_row(f, "fill").native == 0);
	assert_true(ledger_row(f, "copy").composed == 1 && ledger_row(f, "copy").native == 0);
	assert_elements(b, 4, 4, 4);
}

static void host_runs_count_the_bytes_that_move(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	tn_array *a = counted(f, 0, SHAPE(4, 8)), *b = counted(f, 0, SHAPE(8));
	tn_array *c = tn_add(a, b);
	/* 32 and 8 elements there, 32 back. */
	assert_int_equal(ledger_row(f, "add").host, 1);
	assert_int_equal(ledger_row(f, "add").bytes_moved, 4 * (32 + 8 + 32));
	assert_true(ledger_row(f, "add").seconds > 0);
	/* An operand that is the output moves once each way. */
	tn_ledger_reset(context_of(f));
	assert_ok(tn_add_into(c, c, c));
	assert_int_equal(ledger_row(f, "add").bytes_moved, 4 * (32 + 32));
	/* Bytes between the elements of a view are preserved. */
	tn_array *column = tn_slice(c, 1, 2, 3, 1);
	tn_pool_trim(f->context.runtime.reference);
	tn_exp(tn_full(context_of(f), TN_F32, SHAPE(100), 3)); /* other bytes on the way */
	assert_ok(tn_fill(column, -1));
	tn_array *rows = tn_slice(c, 0, 2, 4, 1);
	assert_elements(rows, 32, 36, -1, 44, 48, 52, 56, 60, 48, 52, -1, 60, 64, 68, 72, 76);
}

/* A device that is not synchronous gathers, but cannot check the indices. */
static void a_check_of_indices_on_the_host_is_counted_or_forbidden(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "late", SLOT(MAP) | SLOT(GATHER), 0);
	f->context.runtime.device->synchronous = 0;
	tn_array *a = counted(f, 0, SHAPE(4));
	tn_array *indices = tn_full(context_of(f), TN_I32, SHAPE(2), 3);
	assert_elements(tn_take(a, indices, 0, TN_RAISE), 3, 3);
	assert_int_equal(ledger_row(f, "take").native, 1);
	assert_int_equal(ledger_row(f, "take").host, 0);
	assert_int_equal(ledger_row(f, "index_check").host, 1);
	assert_int_equal(ledger_row(f, "index_check").bytes_moved, 2 * 4);
	assert_true(ledger_row(f, "index_check").seconds > 0);
	f->context.runtime.fallback = TN_FALLBACK_WARN;
	assert_elements(tn_take(a, indices, 0, TN_RAISE), 3, 3);
	assert_contains(f->log, "route: index_check runs on the host: late:0 cannot do it\n");
	tn_ledger_reset(context_of(f));
	f->context.runtime.fallback = TN_FALLBACK_ERROR;
	assert_null(tn_take(a, indices, 0, TN_RAISE));
	assert_string_equal(tn_error(context_of(f))->operation, "take");
	assert_kept(f, TN_UNSUPPORTED,
		    "late:0 cannot check its indices, and TENON_FALLBACK=error forbids");
	assert_int_equal(ledger_row(f, "index_check").host, 0);
}

static void a_host_memory_device_moves_nothing(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "near", MEMORY_ALONE, 0);
	tn_array *a = counted(f, 0, SHAPE(4));
	assert_elements(tn_add(a, a), 0, 2, 4, 6);
	assert_int_equal(ledger_row(f, "add").host, 1);
	assert_int_equal(ledger_row(f, "add").bytes_moved, 0);
}

static void the_mode_error_forbids_host_runs(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "far", SLOT(MAP), 1);
	f->context.runtime.fallback = TN_FALLBACK_ERROR;
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	assert_null(tn_matmul(a, a));
	assert_string_equal(tn_error(context_of(f))->operation, "matmul");
	assert_kept(f, TN_UNSUPPORTED, "TENON_FALLBACK=error");
	assert_int_equal(ledger_row(f, "matmul").host, 0);
}

static void the_mode_native_forbids_compositions_too(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "small", MANDATORY, 0);
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	f->context.runtime.fallback = TN_FALLBACK_NATIVE;
	assert_status(tn_fill(a, 1), TN_UNSUPPORTED);
	assert_kept(f, TN_UNSUPPORTED, "TENON_FALLBACK=native");
	assert_non_null(tn_add(a, a));
}

static void the_mode_warn_speaks_once_an_operation(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	f->context.runtime.fallback = TN_FALLBACK_WARN;
	tn_array *a = counted(f, 0, SHAPE(2));
	tn_exp(a);
	tn_exp(a);
	tn_sin(a);
	assert_contains(f->log, "route: exp runs on the host: far:0 cannot do it\n");
	assert_contains(f->log, "route: sin runs on the host");
	assert_null(strstr(strstr(f->log, "exp") + 1, "exp"));
}

/* The next draw is that of the failed one. */
static void a_draw_that_fails_uses_up_no_stream(void **state)
{
	struct fixture *f = *state;
	float expected[8], found[8];
	f->context.runtime.random = (struct tn_random_state){3, 9};
	assert_ok(tn_to_host(tn_random_uniform(context_of(f), SHAPE(8), 0, 1), expected,
			     sizeof(expected)));
	f->context.runtime.random = (struct tn_random_state){3, 9};
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	f->context.runtime.fallback = TN_FALLBACK_ERROR;
	assert_null(tn_random_uniform(context_of(f), SHAPE(8), 0, 1));
	assert_kept(f, TN_UNSUPPORTED, "TENON_FALLBACK=error");
	assert_int_equal(f->context.runtime.random.stream, 9);
	f->context.runtime.fallback = TN_FALLBACK_ALLOW;
	assert_ok(
		tn_to_host(tn_random_uniform(context_of(f), SHAPE(8), 0, 1), found, sizeof(found)));
	assert_memory_equal(found, expected, sizeof(found));
}

static tn_status fail_reduce(void *device, const struct tn_reduce_args *args)
{
	(void)device;
	if (args->call.error) {
		args->call.error->status = TN_BACKEND_FAILURE;
		args->call.error->native_code = 77;
		snprintf(args->call.error->text, sizeof(args->call.error->text), "it smokes");
	}
	return TN_BACKEND_FAILURE;
}

static void a_failure_of_the_backend_is_kept_with_its_words(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "broken", ALL_SLOTS, 0);
	f->backends[1].compute.reduce = fail_reduce;
	assert_null(tn_sum(counted(f, 0, SHAPE(2)), TN_ALL_AXES, NULL, 0));
	assert_int_equal(tn_error(context_of(f))->native_code, 77);
	assert_kept(f, TN_BACKEND_FAILURE, "it smokes");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(every_way_gives_the_same),
		TEST(a_slot_of_the_device_is_native),
		TEST(all_operations_are_timed_when_asked),
		TEST(what_wants_workspace_is_asked_once_it_has_refused),
		TEST(a_host_memory_device_lends_its_slot),
		TEST(what_a_device_refuses_is_lent_without_a_copy),
		TEST(a_composition_is_made_of_lent_steps),
		TEST(a_lender_is_asked_before_the_host_and_after_the_device),
		TEST(a_failure_of_a_lender_names_the_lender),
		TEST(a_copy_and_a_fill_are_composed_of_a_map),
		TEST(host_runs_count_the_bytes_that_move),
		TEST(a_check_of_indices_on_the_host_is_counted_or_forbidden),
		TEST(a_host_memory_device_moves_nothing),
		TEST(the_mode_error_forbids_host_runs),
		TEST(a_draw_that_fails_uses_up_no_stream),
		TEST(the_mode_native_forbids_compositions_too),
		TEST(the_mode_warn_speaks_once_an_operation),
		TEST(a_failure_of_the_backend_is_kept_with_its_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
