/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's sort and scan: the same bits for any number of threads and workspace.  The
 * conformance kit checks the values.
 */
#include "cpu_fixture.h"

enum { ROOM = 200000, THREADS = 4 };

struct shape {
	int64_t lengths[2];
	uint32_t axis;
};

/* Lines shorter and longer than the split; few, and enough to share between threads. */
static const struct shape shapes[] = {
	{{1, 150001}, 1}, {{1, 32768}, 1}, {{3, 40009}, 1}, {{40009, 3}, 0},
	{{9, 16385}, 1},  {{200, 700}, 1}, {{700, 200}, 0}, {{2000, 33}, 1},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

static double input[ROOM], values[ROOM], first_values[ROOM];
static int64_t indices[ROOM], first_indices[ROOM];
static unsigned char room[8 << 20] __attribute__((aligned(256)));

static struct tn_operand operand(void *memory, const struct shape *shape, tn_dtype dtype)
{
	return (struct tn_operand){.buffer = (uint64_t)(uintptr_t)memory,
				   .dtype = dtype,
				   .rank = 2,
				   .shape = {shape->lengths[0], shape->lengths[1]},
				   .strides = {shape->lengths[1], 1}};
}

/* Numbers of all magnitudes, with ties. */
static void fill(tn_dtype dtype)
{
	uint32_t seed = 1;
	for (int i = 0; i < ROOM; i++) {
		seed = seed * 1664525u + 1013904223u;
		double x = ((double)(seed >> 16) - 32768) * (seed & 256 ? 1e-3 : 7e5);
		if (dtype == TN_F64)
			input[i] = x;
		else
			((float *)input)[i] = (float)x;
	}
}

/* Passes the smallest workspace that the call requests, or the preferred one. */
static void give(struct tn_workspace *workspace, int most)
{
	workspace->buffer = (uint64_t)(uintptr_t)room;
	workspace->size = most ? workspace->preferred : workspace->minimum;
	assert_in_range(workspace->size, 0, sizeof(room));
}

static void sort(struct fixture *f, const struct tn_sort_table *table, const struct shape *shape,
		 tn_dtype dtype, int most)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_sort_args args = {
		.call = {.struct_size = sizeof(args), .flags = TN_DRY_RUN, .workspace = &workspace},
		.input = operand(input, shape, dtype),
		.values = operand(values, shape, dtype),
		.indices = operand(indices, shape, TN_I64),
		.axis = shape->axis,
		.descending = (uint32_t)most,
		.has_values = 1,
		.has_indices = 1};
	assert_ok(table->sort(f->device, &args));
	give(&workspace, most);
	args.call.flags = 0;
	assert_ok(table->sort(f->device, &args));
}

static void scan(struct fixture *f, const struct tn_scan_table *table, const struct shape *shape,
		 tn_dtype dtype, int most)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_scan_args args = {
		.call = {.struct_size = sizeof(args), .flags = TN_DRY_RUN, .workspace = &workspace},
		.input = operand(input, shape, dtype),
		.output = operand(values, shape, dtype),
		.axis = shape->axis,
		.combiner = TN_REDUCE_SUM,
		.reverse = shape->lengths[0] == 9,
		.accumulator = dtype};
	assert_ok(table->scan(f->device, &args));
	give(&workspace, most);
	args.call.flags = 0;
	assert_ok(table->scan(f->device, &args));
}

/* The first call of a shape gives the expected result of the others. */
static void expect_same(int is_first)
{
	if (is_first) {
		memcpy(first_values, values, sizeof(values));
		memcpy(first_indices, indices, sizeof(indices));
	}
	assert_memory_equal(values, first_values, sizeof(values));
	assert_memory_equal(indices, first_indices, sizeof(indices));
}

static void the_same(tn_dtype dtype, int is_sort, const struct shape *shape)
{
	for (unsigned turn = 0; turn < 2 * THREADS; turn++) {
		struct fixture f = {0};
		int most = turn / THREADS, is_first = is_sort ? turn % THREADS == 0 : turn == 0;
		fixture_open(&f, 1 + turn % THREADS);
		memset(values, 0, sizeof(values));
		memset(indices, 0, sizeof(indices));
		if (is_sort)
			sort(&f, f.descriptor->query(f.instance, TN_TABLE_SORT), shape, dtype,
			     most);
		else
			scan(&f, f.descriptor->query(f.instance, TN_TABLE_SCAN), shape, dtype,
			     most);
		fixture_close(&f);
		expect_same(is_first);
	}
}

static void an_order_does_not_depend_on_the_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++) {
		fill(i % 2 ? TN_F64 : TN_F32);
		the_same(i % 2 ? TN_F64 : TN_F32, 1, &shapes[i]);
	}
}

static void a_sum_does_not_depend_on_the_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++) {
		fill(i % 2 ? TN_F32 : TN_F64);
		the_same(i % 2 ? TN_F32 : TN_F64, 0, &shapes[i]);
	}
}

static void a_sort_without_its_workspace_is_refused(void **state)
{
	const struct shape shape = {{2, 3}, 1};
	struct fixture f = {0};
	(void)state;
	fixture_open(&f, 1);
	struct tn_sort_args args = {.call = {.struct_size = sizeof(args)},
				    .input = operand(input, &shape, TN_F32),
				    .values = operand(values, &shape, TN_F32),
				    .axis = 1,
				    .has_values = 1};
	const struct tn_sort_table *table = f.descriptor->query(f.instance, TN_TABLE_SORT);
	assert_status(table->sort(f.device, &args), TN_UNSUPPORTED);
	args.call.flags = TN_DRY_RUN;
	assert_status(table->sort(f.device, &args), TN_UNSUPPORTED);
	fixture_close(&f);
}

/* -0 equals 0, and every NaN every other one, which all come last. */
static void equal_numbers_keep_their_order(void **state)
{
	static const float numbers[] = {0, NAN, 1, -0.0f, INFINITY, -NAN, 1, -INFINITY};
	static const int64_t order[2][8] = {{7, 0, 3, 2, 6, 4, 1, 5}, {1, 5, 4, 2, 6, 0, 3, 7}};
	const struct shape shape = {{1, 8}, 1};
	(void)state;
	memcpy(input, numbers, sizeof(numbers));
	for (int descending = 0; descending < 2; descending++) {
		struct fixture f = {0};
		fixture_open(&f, 1);
		sort(&f, f.descriptor->query(f.instance, TN_TABLE_SORT), &shape, TN_F32,
		     descending);
		assert_memory_equal(indices, order[descending], sizeof(order[0]));
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_does_not_depend_on_the_threads),
		cmocka_unit_test(a_sum_does_not_depend_on_the_threads),
		cmocka_unit_test(a_sort_without_its_workspace_is_refused),
		cmocka_unit_test(equal_numbers_keep_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
