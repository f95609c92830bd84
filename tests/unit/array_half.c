/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * f16 and bf16 on every backend: the same numbers as in f32 to rounding, and the ledger's count of
 * what was widened.
 */
/* First: the next one replaces its assert_kept. */
#include "mock_fixture.h"

#include "array_fixture.h"
#include "capture/replay.h"
#include "half_checks.h"
#include "loader/slot_contents.h"

static tn_array *half_of(tn_array *a)
{
	return tn_astype(a, TN_F16);
}

/* ---- Results ---------------------------------------------------------------------------------*/

static void halves_agree_with_f32_on_devices_of_any_slots(void **state)
{
	static const struct {
		uint64_t slots;
		int is_far;
	} cases[] = {{ALL_SLOTS, 0},
		     {MANDATORY, 0},
		     {SLOT(MAP) | SLOT(MATMUL), 0},
		     {SLOT(MAP) | SLOT(REDUCE), 0},
		     {MEMORY_ALONE, 0},
		     {MEMORY_ALONE, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *fresh = NULL;
		open_fixture(&fresh);
		struct fixture *f = fresh;
		f->context.runtime.device = add_device(f, "odd", cases[i].slots, cases[i].is_far);
		check_all_halves(context_of(f));
		close_fixture(&fresh);
	}
}

static void halves_agree_with_f32_where_slots_are_lent(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "poor", SLOT(MAP), 0);
	f->lenders[f->context.runtime.n_lenders++] = add_device(f, "rich", ALL_SLOTS, 0);
	check_all_halves(context_of(f));
}

static void halves_agree_with_f32_on_the_cpu(void **state)
{
	(void)state;
	tn_context *context = open_cpu();
	if (!context)
		skip(); /* built without it */
	check_all_halves(context);
	tn_context_close(context);
}

static void halves_agree_with_f32_on_the_mock(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_all_halves(context);
	tn_context_close(context);
}

/* ---- The ledger ------------------------------------------------------------------------------*/

/* One product, then one convolution and one softmax; the row of one of them. */
static struct tn_ledger_row run_three(struct fixture *f, const char *operation)
{
	tn_ledger_reset(context_of(f));
	tn_array *x = half_of(noise(f, 1, SHAPE(2, 3, 4, 4)));
	tn_array *w = half_of(noise(f, 2, SHAPE(3, 3, 3, 3)));
	tn_array *matrix = half_of(noise(f, 3, SHAPE(3, 3)));
	assert_non_null(tn_matmul(matrix, matrix));
	assert_non_null(tn_conv2d_forward(x, w, NULL, &(struct tn_window){0}));
	assert_non_null(tn_softmax_forward(x, 1, 0));
	return ledger_row(f, operation);
}

static void check_row(struct tn_ledger_row row, uint64_t lent, uint64_t widened, uint64_t composed)
{
	assert_int_equal(row.native, 0);
	assert_int_equal(row.lent, lent);
	assert_int_equal(row.widened, widened);
	assert_int_equal(row.composed, composed);
	assert_int_equal(row.host, 0);
}

static void a_widened_run_is_counted_once(void **state)
{
	static const char *const operations[] = {"matmul", "conv2d", "softmax"};
	struct fixture *f = *state;
	struct tn_device *small = add_device(f, "small", MANDATORY, 0);
	struct tn_device *poor = add_device(f, "poor", SLOT(MAP), 0);
	struct tn_device *rich = add_device(f, "rich", ALL_SLOTS, 0);
	for (int i = 0; i < 3; i++) {
		f->context.runtime.n_lenders = 0;
		f->context.runtime.device = f->context.runtime.reference;
		check_row(run_three(f, operations[i]), 0, 1, 0);
		assert_true(ledger_row(f, operations[i]).seconds > 0);
		f->context.runtime.device = small;
		check_row(run_three(f, operations[i]), 0, 1, 0);
		/* A step that leaves the device counts too. */
		f->context.runtime.device = poor;
		f->lenders[f->context.runtime.n_lenders++] = rich;
		check_row(run_three(f, operations[i]), 1, 1, 0);
	}
	/* f32 is as before. */
	f->context.runtime.device = f->context.runtime.reference;
	tn_ledger_reset(context_of(f));
	tn_array *a = noise(f, 1, SHAPE(2, 2));
	tn_matmul(a, a);
	assert_int_equal(ledger_row(f, "matmul").native, 1);
	assert_int_equal(ledger_row(f, "matmul").widened, 0);
}

/* Bias and activation are part of the call in f32: their sum is rounded once. */
static void a_product_is_widened_with_its_bias(void **state)
{
	struct fixture *f = *state;
	tn_array *x = half_of(noise(f, 1, SHAPE(4, 3))), *w = half_of(noise(f, 2, SHAPE(5, 3)));
	assert_non_null(tn_linear(x, w, half_of(noise(f, 3, SHAPE(5)))));
	check_row(ledger_row(f, "matmul"), 0, 1, 0);
	assert_int_equal(ledger_row(f, "epilogue").native, 0);
}

static void a_forbidden_fallback_forbids_widening(void **state)
{
	struct fixture *f = *state;
	tn_array *a = half_of(noise(f, 1, SHAPE(3, 3)));
	f->context.runtime.fallback = TN_FALLBACK_NATIVE;
	assert_null(tn_matmul(a, a));
	assert_kept(f, TN_UNSUPPORTED, "TENON_FALLBACK=native");
	f->context.runtime.fallback = TN_FALLBACK_ERROR;
	check_row(run_three(f, "matmul"), 0, 1, 0);
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	f->context.runtime.fallback = TN_FALLBACK_ALLOW;
	a = half_of(noise(f, 1, SHAPE(3, 3)));
	f->context.runtime.fallback = TN_FALLBACK_ERROR;
	assert_null(tn_matmul(a, a));
	assert_kept(f, TN_UNSUPPORTED, "TENON_FALLBACK=error");
}

static tn_status fail_in_f32(void *device, const struct tn_matmul_args *args)
{
	(void)device;
	if (args->c.dtype != TN_F32)
		return TN_UNSUPPORTED;
	return args->call.flags & TN_DRY_RUN ? TN_OK : TN_BACKEND_FAILURE;
}

/* ---- Hints -----------------------------------------------------------------------------------*/

/* The backend "records", which computes in f32 alone, keeps where each operand was that it was told
 * was read for the last time, until that is written again. */
static struct {
	struct tn_operand dead[64];
	size_t n_dead, n_hints;
} records;

static void forget(const struct tn_operand *written)
{
	for (size_t i = 0; i < records.n_dead; i++) {
		if (records.dead[i].buffer == written->buffer &&
		    records.dead[i].offset == written->offset)
			records.dead[i--] = records.dead[--records.n_dead];
	}
}

static void assert_not_dead(const struct tn_operand *read)
{
	for (size_t i = 0; i < records.n_dead; i++)
		assert_false(records.dead[i].buffer == read->buffer &&
			     records.dead[i].offset == read->offset);
}

static tn_status record(enum tn_slot slot, void *device, const struct tn_call *call,
			tn_status (*run)(void *device, const void *args))
{
	struct tn_slot_contents contents;
	tn_status status = run(device, call);
	if (status || call->flags & TN_DRY_RUN)
		return status;
	tn_slot_list(slot, (struct tn_call *)(uintptr_t)call, &contents);
	for (uint32_t i = 0; i < contents.n_operands; i++) {
		if (contents.operands[i].access & TN_READS)
			assert_not_dead(contents.operands[i].operand);
	}
	for (uint32_t i = 0; i < contents.n_operands; i++) {
		const uint64_t hint = TN_HINT_LAST_USE(contents.operands[i].number);
		if (contents.operands[i].access & TN_WRITES)
			forget(contents.operands[i].operand);
		if (!(call->hints & hint))
			continue;
		assert_int_equal(contents.operands[i].access, TN_READS);
		assert_int_equal(contents.operands[i].operand->dtype, TN_F32);
		assert_true(records.n_dead < 64);
		records.dead[records.n_dead++] = *contents.operands[i].operand;
		records.n_hints++;
	}
	return TN_OK;
}

static const struct tn_compute_table *reference_compute(void)
{
	return tn_reference_backend.query(NULL, TN_TABLE_COMPUTE);
}

static tn_status run_map(void *device, const void *args)
{
	return reference_compute()->map(device, args);
}

static tn_status run_matmul(void *device, const void *args)
{
	return reference_compute()->matmul(device, args);
}

static tn_status run_conv2d(void *device, const void *args)
{
	const struct tn_nn_table *nn = tn_reference_backend.query(NULL, TN_TABLE_NN);
	const struct tn_conv2d_args *conv2d = args;
	return conv2d->y.dtype == TN_F32 ? nn->conv2d_forward(device, args) : TN_UNSUPPORTED;
}

static tn_status recording_map(void *device, const struct tn_map_args *args)
{
	return record(TN_SLOT_MAP, device, &args->call, run_map);
}

static tn_status recording_matmul(void *device, const struct tn_matmul_args *args)
{
	return record(TN_SLOT_MATMUL, device, &args->call, run_matmul);
}

static tn_status recording_conv2d(void *device, const struct tn_conv2d_args *args)
{
	return record(TN_SLOT_CONV2D_FORWARD, device, &args->call, run_conv2d);
}

/* Of each f32 copy that is made for a call, the last call that reads it says so. */
static void copies_are_used_for_the_last_time(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = add_device(f, "records", MANDATORY | SLOT(CONV2D_FORWARD), 0);
	struct tn_backend *backend = &f->backends[f->n_backends - 1];
	f->context.runtime.device = device;
	tn_array *a = half_of(noise(f, 1, SHAPE(3, 3))), *b = half_of(noise(f, 2, SHAPE(3, 3)));
	tn_array *c = half_of(noise(f, 3, SHAPE(3, 3))), *bias = half_of(noise(f, 4, SHAPE(3)));
	tn_array *x = half_of(noise(f, 5, SHAPE(1, 2, 4, 4)));
	tn_array *w = half_of(noise(f, 6, SHAPE(3, 2, 3, 3)));
	backend->compute.map = recording_map;
	backend->compute.matmul = recording_matmul;
	backend->nn.conv2d_forward = recording_conv2d;
	/* The copies of what is read, and that of the result. */
	const struct tn_window window = {0};
	for (int k = 0; k < 5; k++) {
		static const size_t hints[] = {3, 3, 3, 4, 4};
		records.n_hints = 0;
		if (k < 2)
			assert_non_null(tn_matmul(a, k ? a : b));
		else if (k == 2)
			assert_ok(tn_matmul_into(c, a, 0, b, 1, 1, 0.5));
		else if (k == 3)
			assert_non_null(tn_linear(a, b, bias));
		else
			assert_non_null(tn_conv2d_forward(x, w, bias, &window));
		assert_null(tn_error(context_of(f)));
		assert_int_equal(records.n_hints, hints[k]);
	}
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static void the_copies_are_freed_even_after_a_failure(void **state)
{
	struct fixture *f = *state;
	tn_array *a = half_of(noise(f, 1, SHAPE(200, 200)));
	struct tn_memory_use before = {.struct_size = sizeof(before)},
			     after = {.struct_size = sizeof(after)};
	tn_device_get_memory_use(f->context.runtime.reference, &before);
	tn_array_destroy(tn_matmul(a, a));
	tn_device_get_memory_use(f->context.runtime.reference, &after);
	assert_int_equal(after.used, before.used);
	f->backends[0].compute.matmul = fail_in_f32;
	assert_null(tn_matmul(a, a));
	assert_kept(f, TN_BACKEND_FAILURE, "");
	tn_device_get_memory_use(f->context.runtime.reference, &after);
	assert_int_equal(after.used, before.used);
}

/* ---- Capture and replay ----------------------------------------------------------------------*/

static double first_of(const tn_array *a)
{
	double value = 0;
	assert_ok(tn_item(tn_slice(tn_slice(a, 0, 0, 1, 1), 1, 0, 1, 1), &value));
	return value;
}

static void a_captured_step_is_widened_in_each_replay(void **state)
{
	const int64_t shape[] = {4, 4};
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("");
	tn_array *x = tn_full(context, TN_F16, 2, shape, 1),
		 *sum = tn_zeros(context, TN_F16, 2, shape);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_matmul_into(sum, x, 0, x, 0, 1, 1));
	assert_ok(tn_capture_end(context, &graph));
	assert_true(first_of(sum) == 0);
	for (int i = 0; i < 20; i++)
		(void)tn_full(context, TN_F32, 2, shape, i);
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(sum) == 4);
	assert_ok(tn_fill(x, 2));
	assert_ok(tn_graph_replay(graph));
	assert_true(first_of(sum) == 20);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

static tn_array *two_steps(const tn_array *x, const tn_array *w)
{
	tn_array *y = tn_matmul(x, w);
	tn_array *z = tn_matmul(y, w);
	tn_array_destroy(y);
	return z;
}

static void a_recorded_call_is_widened_in_each_replay(void **state)
{
	struct fixture *f = *state;
	struct tn_runtime *runtime = &f->context.runtime;
	tn_array *w = half_of(counted(f, 1, SHAPE(2, 2)));
	tn_array *x = half_of(counted(f, 0, SHAPE(2, 2)));
	assert_ok(tn_replay_begin(runtime, x));
	tn_array *y = two_steps(x, w);
	struct tn_replay *replay = tn_replay_end(runtime, y);
	assert_non_null(replay);
	assert_elements(y, 15, 22, 59, 86);
	tn_array *other = half_of(counted(f, 1, SHAPE(2, 2)));
	tn_ledger_reset(context_of(f));
	assert_elements(tn_replay_run(replay, other), 37, 54, 81, 118);
	check_row(ledger_row(f, "matmul"), 0, 2, 0);
	assert_elements(tn_replay_run(replay, x), 15, 22, 59, 86);
	tn_replay_destroy(replay);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_agree_with_f32_on_devices_of_any_slots),
		TEST(halves_agree_with_f32_where_slots_are_lent),
		cmocka_unit_test(halves_agree_with_f32_on_the_cpu),
		cmocka_unit_test(halves_agree_with_f32_on_the_mock),
		TEST(a_widened_run_is_counted_once),
		TEST(a_product_is_widened_with_its_bias),
		TEST(a_forbidden_fallback_forbids_widening),
		TEST(copies_are_used_for_the_last_time),
		TEST(the_copies_are_freed_even_after_a_failure),
		cmocka_unit_test(a_captured_step_is_widened_in_each_replay),
		TEST(a_recorded_call_is_widened_in_each_replay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
