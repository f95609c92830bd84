/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Attention by every route: in one call where the backend has the slots and they can say it, else
 * composed, with the same values and gradients.
 */
#include "device/device.h"
#include "nn_backends.h"

enum { MOST = 512 };

static tn_context *context;

/* A case: shapes of q, k, v and mask (rank 0: none), and whether the slots can say it. */
struct shape {
	int rank;
	int64_t lengths[5];
};

static const struct row {
	const char *name;
	struct shape q, k, v, mask;
	int causal;
	double scale, dropout;
	tn_dtype dtype;
	int is_shared;    /* k and v are broadcast over the first axis */
	int watches_mask; /* its gradient is wanted */
	int is_one_call;
} rows[] = {
	{.name = "plain",
	 .q = {3, {2, 5, 4}},
	 .k = {3, {2, 7, 4}},
	 .v = {3, {2, 7, 3}},
	 .scale = NAN,
	 .is_one_call = 1},
	{.name = "matrices, causal",
	 .q = {2, {5, 4}},
	 .k = {2, {6, 4}},
	 .v = {2, {6, 4}},
	 .scale = 0.3,
	 .causal = 1,
	 .is_one_call = 1},
	{.name = "heads, a mask that broadcasts",
	 .q = {4, {2, 3, 4, 2}},
	 .k = {4, {2, 3, 5, 2}},
	 .v = {4, {2, 3, 5, 6}},
	 .mask = {2, {4, 5}},
	 .scale = NAN,
	 .is_one_call = 1},
	{.name = "a mask of each matrix, causal, f64",
	 .q = {3, {2, 3, 4}},
	 .k = {3, {2, 3, 4}},
	 .v = {3, {2, 3, 2}},
	 .mask = {3, {2, 1, 3}},
	 .scale = 1,
	 .causal = 1,
	 .dtype = TN_F64,
	 .is_one_call = 1},
	{.name = "k and v are shared by views",
	 .q = {3, {3, 2, 4}},
	 .k = {3, {1, 6, 4}},
	 .v = {3, {1, 6, 4}},
	 .scale = NAN,
	 .is_shared = 1,
	 .is_one_call = 1},
	{.name = "k and v are shared by broadcasting",
	 .q = {3, {3, 2, 4}},
	 .k = {2, {6, 4}},
	 .v = {3, {1, 6, 4}},
	 .scale = NAN},
	{.name = "a mask of more matrices",
	 .q = {2, {3, 4}},
	 .k = {2, {3, 4}},
	 .v = {2, {3, 4}},
	 .mask = {3, {2, 3, 3}},
	 .scale = NAN},
	{.name = "the gradient of the mask",
	 .q = {2, {3, 4}},
	 .k = {2, {3, 4}},
	 .v = {2, {3, 4}},
	 .mask = {2, {3, 3}},
	 .watches_mask = 1,
	 .scale = NAN},
	{.name = "dropout of everything",
	 .q = {2, {3, 4}},
	 .k = {2, {3, 4}},
	 .v = {2, {3, 4}},
	 .dropout = 1,
	 .scale = NAN},
	{.name = "nothing to see",
	 .q = {2, {3, 4}},
	 .k = {2, {0, 4}},
	 .v = {2, {0, 2}},
	 .scale = NAN},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Numbers that every context has. */
static tn_array *numbers(const struct shape *shape, int seed, tn_dtype dtype)
{
	float data[MOST];
	int64_t n = 1;
	for (int i = 0; i < shape->rank; i++)
		n *= shape->lengths[i];
	assert_true(n < MOST);
	for (int64_t i = 0; i < n; i++)
		data[i] = (float)((i * 37 + seed * 11) % 19 - 9) / 8;
	return tn_astype(tn_from_host(context, TN_F32, shape->rank, shape->lengths, data),
			 dtype ? dtype : TN_F32);
}

/* y, then the gradients of q, k, v and, where it is watched, of the mask. */
struct outcome {
	size_t n;
	double numbers[MOST];
	uint64_t forwards, backwards; /* in one call */
};

static void add(struct outcome *outcome, const tn_array *array)
{
	const tn_array *wide = array ? tn_astype(array, TN_F64) : NULL;
	if (!wide)
		fail_msg("%s", tn_error(context) ? tn_error(context)->text : "no gradient");
	const size_t n = (size_t)tn_array_size(wide);
	assert_true(outcome->n + n <= MOST);
	assert_ok(tn_to_host(wide, outcome->numbers + outcome->n, n * sizeof(double)));
	outcome->n += n;
}

static uint64_t native_runs(const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; tn_ledger_at(context, i, &row) == TN_OK; i++) {
		if (!strcmp(row.operation, operation))
			return row.native;
	}
	return 0;
}

static void run(const struct row *row, struct outcome *outcome)
{
	const struct shape *const shapes[] = {&row->q, &row->k, &row->v, &row->mask};
	struct tn_attention_options options = tn_attention_defaults();
	tn_array *x[4] = {NULL};
	assert_ok(tn_scope_begin(context));
	tn_ledger_reset(context);
	outcome->n = 0;
	tn_tape *tape = tn_tape_begin(context);
	for (int i = 0; i < 4; i++) {
		if (!shapes[i]->rank)
			continue;
		x[i] = numbers(shapes[i], i, row->dtype);
		if (row->is_shared && (i == 1 || i == 2))
			x[i] = tn_broadcast_to(x[i], 3,
					       (const int64_t[]){row->q.lengths[0],
								 shapes[i]->lengths[1],
								 shapes[i]->lengths[2]});
		if (i < 3 || row->watches_mask)
			assert_ok(tn_tape_watch(tape, x[i]));
	}
	options.mask = x[3];
	options.causal = row->causal;
	options.scale = row->scale;
	options.dropout = row->dropout;
	tn_array *y = tn_scaled_dot_product_attention(x[0], x[1], x[2], &options);
	add(outcome, y);
	/* A gradient that differs from element to element. */
	assert_ok(tn_tape_backward(tape, y, tn_sin(y)));
	for (int i = 0; i < 3 + row->watches_mask; i++)
		add(outcome, tn_tape_gradient(tape, x[i]));
	tn_tape_end(tape);
	outcome->forwards = native_runs("attention");
	outcome->backwards = native_runs("attention_backward");
	tn_scope_end(context, NULL);
}

/* Sums of at most 7 products below 4, of weights that are quotients of such sums: some 40 roundings
 * each of the value, its gradient and the sine between them. */
static void compare(const char *name, const struct outcome *found, const struct outcome *expected)
{
	assert_int_equal(found->n, expected->n);
	for (size_t i = 0; i < found->n; i++) {
		const double a = found->numbers[i], b = expected->numbers[i];
		if (!(fabs(a - b) <= 100 * 6e-8 * (1 + fabs(b)) || (isnan(a) && isnan(b))))
			fail_msg("%s: number %zu is %g, expected %g", name, i, a, b);
	}
}

static void use_slots(int has_forward, int has_backward)
{
	const tn_array *any = tn_zeros(context, TN_F32, 0, NULL);
	struct tn_backend *backend = (struct tn_backend *)(uintptr_t)tn_array_device(any)->backend;
	backend->native[TN_SLOT_ATTENTION_FORWARD] = (unsigned char)has_forward;
	backend->native[TN_SLOT_ATTENTION_BACKWARD] = (unsigned char)has_backward;
}

static struct outcome composed[N_ROWS];

static void the_reference_does_it_in_one_call(void **state)
{
	static struct outcome found;
	(void)state;
	context = open_backend("reference!");
	for (int i = 0; i < N_ROWS; i++) {
		const uint64_t one = rows[i].is_one_call != 0;
		use_slots(0, 0);
		run(&rows[i], &composed[i]);
		assert_int_equal(composed[i].forwards + composed[i].backwards, 0);
		use_slots(1, 1);
		run(&rows[i], &found);
		compare(rows[i].name, &found, &composed[i]);
		assert_int_equal(found.forwards, one);
		assert_int_equal(found.backwards, one);
		/* A backend may have the forward alone. */
		use_slots(1, 0);
		run(&rows[i], &found);
		compare(rows[i].name, &found, &composed[i]);
		assert_int_equal(found.forwards, one);
		assert_int_equal(found.backwards, 0);
	}
	use_slots(1, 1);
	tn_context_close(context);
}

static void other_backends_agree(void **state)
{
	static const char *const backends[] = {"auto", "mock"};
	static struct outcome found;
	(void)state;
	for (int b = 0; b < 2; b++) {
		context = open_backend(backends[b]);
		for (int i = 0; i < N_ROWS; i++) {
			run(&rows[i], &found);
			compare(rows[i].name, &found, &composed[i]);
		}
		tn_context_close(context);
	}
}

/* The calls of a frozen layer are recorded and repeated, its slot among them. */
static void a_frozen_layer_attends_in_one_call(void **state)
{
	float expected[MOST], found[MOST];
	(void)state;
	context = open_backend("reference!");
	tn_module *layer = tn_module_multihead_attention(context, 6, 2, NULL);
	assert_ok(tn_module_build(layer));
	tn_module_set_training(layer, 0);
	tn_array *x = tn_random_normal(context, 3, (const int64_t[]){2, 5, 6}, 0, 1);
	const size_t size = 2 * 5 * 6 * sizeof(float);
	assert_ok(tn_to_host(tn_module_forward(layer, x), expected, size));
	assert_ok(tn_module_freeze(layer));
	tn_ledger_reset(context);
	for (int i = 0; i < 3; i++) {
		assert_ok(tn_to_host(tn_module_forward(layer, x), found, size));
		assert_memory_equal(found, expected, size);
	}
	assert_int_equal(native_runs("attention"), 3);
	tn_module_destroy(layer);
	tn_context_close(context);
}

/* Rows that see nothing are NaN, and others are not. */
static void a_row_that_sees_nothing_is_nan(void **state)
{
	static const float hides[2][2] = {{0, 0}, {-INFINITY, -INFINITY}};
	(void)state;
	context = open_backend("reference!");
	struct tn_attention_options options = tn_attention_defaults();
	tn_array *x = tn_ones(context, TN_F32, 2, (const int64_t[]){2, 2});
	float y[2][2];
	options.mask = tn_from_host(context, TN_F32, 2, (const int64_t[]){2, 2}, hides);
	for (int has_slots = 0; has_slots < 2; has_slots++) {
		use_slots(has_slots, has_slots);
		assert_ok(tn_to_host(tn_scaled_dot_product_attention(x, x, x, &options), y,
				     sizeof(y)));
		assert_true(y[0][0] == 1 && y[0][1] == 1 && isnan(y[1][0]) && isnan(y[1][1]));
	}
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_does_it_in_one_call),
		cmocka_unit_test(other_backends_agree),
		cmocka_unit_test(a_frozen_layer_attends_in_one_call),
		cmocka_unit_test(a_row_that_sees_nothing_is_nan),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
