/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels that a program defines: several outputs, reductions and scans by texts, beside the
 * functions of the library that give the same; gradients against central differences; what is
 * refused; the memory of programs.  On the built-in backend, the preferred one and the mock.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "unit/mock_fixture.h"
#include "kept_error.h"
#include "test_context.h"

static const char *const x_alone[] = {"x"};
static const char *const x_and_y[] = {"x", "y"};
static const char *const p_and_q[] = {"p", "q"};

enum { ROWS = 3, COLUMNS = 5, SIZE = ROWS * COLUMNS };

static tn_array *sample(tn_dtype dtype)
{
	double values[SIZE];
	for (int i = 0; i < SIZE; i++)
		values[i] = 3 * sin(1.7 * i * i + 0.4) + 0.01 * i;
	tn_array *wide = tn_from_host(context, TN_F64, 2, (int64_t[]){ROWS, COLUMNS}, values);
	return tn_astype(wide, dtype);
}

static void expect_same(const tn_array *found, const tn_array *expected, double tolerance)
{
	double values[2][SIZE];
	if (tn_error(context))
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	assert_non_null(found);
	assert_int_equal(tn_array_dtype(found), tn_array_dtype(expected));
	assert_int_equal(tn_array_rank(found), tn_array_rank(expected));
	for (int i = 0; i < tn_array_rank(found); i++)
		assert_int_equal(tn_array_shape(found)[i], tn_array_shape(expected)[i]);
	const size_t n = (size_t)tn_array_size(found);
	assert_in_range(n, 0, SIZE);
	assert_ok(tn_to_host(tn_astype(found, TN_F64), values[0], n * sizeof(double)));
	assert_ok(tn_to_host(tn_astype(expected, TN_F64), values[1], n * sizeof(double)));
	for (size_t i = 0; i < n; i++)
		assert_close(values[0][i], values[1][i], tolerance);
}

/* ---- Several outputs -------------------------------------------------------------------------*/

static void outputs_have_their_own_dtypes(void **state)
{
	tn_array *x = sample(TN_F16), *y = sample(TN_I32), *out[4];
	const tn_array *both[] = {x, y};
	struct tn_map_options options = tn_map_defaults();
	options.n_outputs = 4;
	options.output_names = (const char *[]){"sum", "less", "twice", "small"};
	options.output_dtypes = (tn_dtype[]){0, 0, TN_I64, TN_U8};
	options.n_scalars = 1;
	options.scalar_names = (const char *[]){"k"};
	options.scalars = (tn_number[]){tn_number_i64(2)};
	(void)state;
	assert_ok(tn_map_outputs("sum = x + k*y; less = x < y; twice = k*y; small = x > 0 ? x : 0",
				 2, x_and_y, both, &options, out));
	tn_array *wide = tn_astype(x, TN_F32), *twice = tn_astype(tn_add(y, y), TN_I64);
	expect_same(out[0], tn_add(wide, tn_astype(twice, TN_F32)), 1e-5);
	expect_same(out[1], tn_less(wide, tn_astype(y, TN_F32)), 0);
	expect_same(out[2], twice, 0);
	expect_same(out[3], tn_astype(tn_relu(wide), TN_U8), 0);
	/* A narrow dtype that all inputs have is the result's. */
	struct tn_map_options map = tn_map_defaults();
	map.n_outputs = 2;
	map.output_names = (const char *[]){"a", "b"};
	assert_ok(tn_map_outputs("a = 2*x; b = x > 0", 1, x_alone, both, &map, out));
	expect_same(out[0], tn_add(x, x), 0);
	assert_int_equal(tn_array_dtype(out[1]), TN_BOOL);
	assert_ok(tn_map_outputs("z = 2*x", 1, x_alone, both, NULL, out));
	expect_same(out[0], tn_add(x, x), 0);
}

static void up_to_eight_outputs_broadcast(void **state)
{
	const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	tn_array *x = sample(TN_F32), *row = tn_slice(x, 0, 1, 2, 1), *out[8];
	const tn_array *both[] = {tn_transpose(x, NULL), tn_transpose(row, NULL)};
	(void)state;
	struct tn_map_options map = tn_map_defaults();
	map.n_outputs = 8;
	map.output_names = names;
	assert_ok(tn_map_outputs("a = x; b = a + y; c = b + y; d = c + y; e = d + y; f = e + y\n"
				 "g = f + y; h = g + y",
				 2, x_and_y, both, &map, out));
	const tn_array *expected = tn_copy(both[0]);
	for (int i = 0; i < 8; i++) {
		expect_same(out[i], expected, 1e-4);
		expected = tn_add(expected, both[1]);
	}
	const tn_array *none = tn_zeros(context, TN_F32, 2, (int64_t[]){0, 3});
	assert_ok(tn_map_outputs("z = x", 1, x_alone, &none, NULL, out));
	assert_int_equal(tn_array_size(out[0]), 0);
}

/* ---- Reductions ------------------------------------------------------------------------------*/

static tn_array *reduced(tn_dtype dtype, const char *text, const char *post, uint32_t combiner,
			 const int *axis, int keepdims)
{
	const tn_array *x = sample(dtype);
	struct tn_reduce_map_options reduce_map = tn_reduce_map_defaults();
	reduce_map.combiner = combiner;
	reduce_map.post = post;
	reduce_map.n_axes = 1;
	reduce_map.axes = axis;
	reduce_map.keepdims = keepdims;
	return tn_reduce_map(text, 1, x_alone, &x, &reduce_map);
}

static void reductions_are_those_of_the_library(void **state)
{
	static const tn_dtype dtypes[] = {TN_BOOL, TN_I8,  TN_I32, TN_U8,  TN_U32,
					  TN_I64,  TN_U64, TN_F16, TN_F32, TN_F64};
	const int last = -1, first = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		/* The language computes u8 in i32, whose sums are i64. */
		const tn_array *x = sample(dtypes[i]);
		const tn_array *wide = dtypes[i] == TN_U8 ? tn_astype(x, TN_I32) : x;
		const double tolerance = dtypes[i] == TN_F16 ? 0.05 : 1e-4;
		expect_same(reduced(dtypes[i], "z = x", NULL, TN_COMBINE_SUM, &last, 0),
			    tn_sum(wide, 1, &last, 0), tolerance);
		expect_same(reduced(dtypes[i], "z = x", NULL, TN_COMBINE_PRODUCT, &first, 1),
			    tn_prod(wide, 1, &first, 1), tolerance);
		expect_same(reduced(dtypes[i], "z = x", NULL, TN_COMBINE_MAX, &first, 0),
			    tn_max(x, 1, &first, 0), 0);
		expect_same(reduced(dtypes[i], "z = x", NULL, TN_COMBINE_MIN, NULL, 1),
			    tn_min(x, TN_ALL_AXES, NULL, 1), 0);
	}
	const tn_array *x = sample(TN_F32);
	expect_same(reduced(TN_F32, "z = x*x", "z = sqrt(a)", TN_COMBINE_SUM, &last, 0),
		    tn_sqrt(tn_sum(tn_square(x), 1, &last, 0)), 1e-5);
	expect_same(reduced(TN_I32, "z = x*x", "z = a/2.0", TN_COMBINE_SUM, &last, 0),
		    tn_astype(tn_affine(tn_sum(tn_square(sample(TN_I32)), 1, &last, 0), 0.5, 0),
			      TN_F32),
		    0);
}

/* Of any backend: a program over arrays runs once, and nothing else does. */
static void reductions_are_one_pass(void **state)
{
	const int last = -1;
	size_t n_rows = 0;
	(void)state;
	const tn_array *x = sample(TN_F32);
	tn_ledger_reset(context);
	struct tn_reduce_map_options reduce_map = tn_reduce_map_defaults();
	reduce_map.n_axes = 1;
	reduce_map.axes = &last;
	assert_non_null(tn_reduce_map("z = x*x", 1, x_alone, &x, &reduce_map));
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		struct tn_ledger_row row = {.struct_size = sizeof(row)};
		assert_ok(tn_ledger_at(context, i, &row));
		if (row.native + row.lent + row.composed + row.host == 0)
			continue;
		assert_string_equal(row.operation, "reduce_map");
		assert_int_equal(row.native + row.lent + row.composed + row.host, 1);
		n_rows++;
	}
	assert_int_equal(n_rows, 1);
}

/* index and element mean the broadcast shape in the text, and the kept axes in post. */
static void reductions_read_indices(void **state)
{
	const int first = 0, last = 1;
	(void)state;
	const tn_array *row = tn_arange(context, TN_F32, 0, COLUMNS, 1);
	expect_same(reduced(TN_F32, "z = index(0) == 1 && x == x ? f32(index(1)) : 0", NULL,
			    TN_COMBINE_SUM, &first, 0),
		    row, 0);
	expect_same(reduced(TN_F32, "z = 0*x", "z = a + f32(index(0))", TN_COMBINE_SUM, &first, 1),
		    tn_expand_dims(row, 0), 0);
	expect_same(reduced(TN_F32, "z = f32(element()) + 0*x", NULL, TN_COMBINE_MAX, &last, 0),
		    tn_affine(tn_arange(context, TN_F32, 0, ROWS, 1), COLUMNS, COLUMNS - 1), 0);
}

/* Beyond INT64_MAX, where the order of i64 is another. */
static void extremes_are_unsigned(void **state)
{
	const uint64_t values[] = {1, UINT64_MAX, 2};
	const tn_array *x = tn_from_host(context, TN_U64, 1, (int64_t[]){3}, values);
	tn_number found;
	(void)state;
	for (uint32_t combiner = TN_COMBINE_MAX; combiner <= TN_COMBINE_MIN; combiner++) {
		struct tn_reduce_map_options reduce_map = tn_reduce_map_defaults();
		reduce_map.combiner = combiner;
		assert_ok(tn_item_number(tn_reduce_map("z = x", 1, x_alone, &x, &reduce_map),
					 &found));
		assert_true(found.u64 == (combiner == TN_COMBINE_MAX ? UINT64_MAX : 1));
	}
}

static void reductions_combine_an_initial_value(void **state)
{
	const tn_array *none = tn_zeros(context, TN_F32, 2, (int64_t[]){2, 0}), *x = sample(TN_I32);
	const tn_number seven = tn_number_i64(7);
	struct tn_reduce_map_options o = tn_reduce_map_defaults();
	o.initial = &seven;
	o.n_axes = 1;
	o.axes = (int[]){1};
	const double sevens[] = {7, 7};
	(void)state;
	for (uint32_t c = TN_COMBINE_SUM; c <= TN_COMBINE_MIN; c++) {
		o.combiner = c;
		expect_same(
			tn_reduce_map("z = x", 1, x_alone, &none, &o),
			tn_astype(tn_from_host(context, TN_F64, 1, (int64_t[]){2}, sevens), TN_F32),
			0);
	}
	o.combiner = TN_COMBINE_SUM;
	o.post = "z = a*k";
	o.n_scalars = 1;
	o.scalar_names = (const char *[]){"k"};
	o.scalars = (tn_number[]){tn_number_i64(3)};
	expect_same(tn_reduce_map("z = x*k", 1, x_alone, &x, &o),
		    tn_astype(tn_affine(tn_sum(x, 1, o.axes, 0), 9, 21), TN_I64), 0);
	o.combiner = TN_COMBINE_MAX;
	o.initial = NULL;
	assert_null(tn_reduce_map("z = x", 1, x_alone, &none, &o));
	assert_error(context, TN_SHAPE, "max", "length 0");
}

/* ---- Scans -----------------------------------------------------------------------------------*/

/* The operator one element after another. */
static tn_array *scanned(const char *text, const tn_array *a, int axis)
{
	const int64_t n = tn_array_shape(a)[axis];
	tn_array *so_far = tn_slice(a, axis, 0, 1, 1), *out = tn_copy(so_far);
	for (int64_t i = 1; i < n; i++) {
		const tn_array *both[] = {so_far, tn_slice(a, axis, i, i + 1, 1)};
		so_far = tn_map(text, 2, x_and_y, both, 0, NULL, NULL);
		const tn_array *parts[] = {out, so_far};
		out = tn_concatenate(2, parts, axis);
	}
	return out;
}

static void scans_apply_any_operator(void **state)
{
	/* The last two are associative, and not commutative. */
	static const char *const texts[] = {
		"z = hypot(x, y)", "z = x + y",          "z = x * y",    "z = max(x, y)",
		"z = min(x, y)",   "z = y == y ? y : x", "z = max(y, y)"};
	struct tn_scan_map_options backwards = tn_scan_map_defaults();
	backwards.reverse = 1;
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (int64_t n = 1; n <= COLUMNS; n++) {
			const tn_array *x = tn_slice(sample(TN_F64), 1, 0, n, 1);
			expect_same(tn_scan_map(texts[i], x, -1, NULL), scanned(texts[i], x, 1),
				    1e-12);
			const tn_array *turned = tn_transpose(x, NULL);
			expect_same(tn_scan_map(texts[i], turned, 0, NULL),
				    scanned(texts[i], turned, 0), 1e-12);
			expect_same(tn_scan_map(texts[i], x, 1, &backwards),
				    tn_flip(scanned(texts[i], tn_flip(x, 1, (int[]){1}), 1), 1,
					    (int[]){1}),
				    1e-12);
		}
	}
	const tn_array *x = sample(TN_I8);
	expect_same(tn_scan_map("z = x ^ y", x, 1, NULL), scanned("z = x ^ y", x, 1), 0);
	expect_same(tn_scan_map("z = x + y", x, 0, NULL), scanned("z = x + y", x, 0), 0);
}

static void scans_are_exclusive_on_request(void **state)
{
	const tn_number zero = tn_number_f64(0);
	struct tn_scan_map_options exclusive = tn_scan_map_defaults();
	exclusive.exclusive = &zero;
	const tn_array *x = sample(TN_F32), *none = tn_slice(x, 1, 0, 0, 1);
	(void)state;
	expect_same(tn_scan_map("z = x + y", x, 1, &exclusive), tn_subtract(tn_cumsum(x, 1), x),
		    1e-5);
	expect_same(tn_scan_map("z = hypot(x, y)", none, 1, &exclusive), none, 0);
	/* A scan of one element is not its input. */
	tn_array *one = tn_ones(context, TN_F32, 1, (int64_t[]){1});
	tn_array *scan = tn_scan_map("z = hypot(x, y)", one, 0, NULL);
	assert_ok(tn_fill(scan, 2));
	expect_same(one, tn_ones(context, TN_F32, 1, (int64_t[]){1}), 0);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *g_outputs(const tn_array *x)
{
	tn_array *out[3];
	const tn_array *both[] = {x, tn_slice(x, 0, 0, 1, 1)};
	struct tn_map_options map = tn_map_defaults();
	map.n_outputs = 3;
	map.output_names = (const char *[]){"a", "b", "c"};
	map.n_scalars = 1;
	map.scalar_names = (const char *[]){"k"};
	map.scalars = (tn_number[]){tn_number_f64(1.5)};
	if (tn_map_outputs("a = p*q*k; b = sin(p) + a; c = p < q", 2, p_and_q, both, &map, out))
		return NULL;
	return tn_add(tn_square(out[0]), out[1]);
}
static tn_array *g_reduce(const tn_array *x, uint32_t combiner)
{
	const tn_array *both[] = {x, tn_slice(x, 1, 0, 1, 1)};
	struct tn_reduce_map_options reduce_map = tn_reduce_map_defaults();
	reduce_map.combiner = combiner;
	reduce_map.post = "z = log(a*a + 2)";
	reduce_map.n_axes = 1;
	reduce_map.axes = (int[]){1};
	reduce_map.keepdims = 1;
	return tn_reduce_map("z = p*p + sin(q)", 2, p_and_q, both, &reduce_map);
}
static tn_array *g_sum(const tn_array *x)
{
	return g_reduce(x, TN_COMBINE_SUM);
}
static tn_array *g_product(const tn_array *x)
{
	return g_reduce(x, TN_COMBINE_PRODUCT);
}
static tn_array *g_max(const tn_array *x)
{
	return g_reduce(x, TN_COMBINE_MAX);
}
static tn_array *g_min(const tn_array *x)
{
	return g_reduce(x, TN_COMBINE_MIN);
}
static tn_array *g_scan(const tn_array *x)
{
	return tn_scan_map("z = hypot(x, y)", x, 1, NULL);
}
static tn_array *g_scan_reverse(const tn_array *x)
{
	const tn_number zero = tn_number_f64(0);
	struct tn_scan_map_options scan_map = tn_scan_map_defaults();
	scan_map.reverse = 1;
	scan_map.exclusive = &zero;
	return tn_scan_map("z = x + y + x*y", x, 0, &scan_map);
}

static const struct {
	const char *name;
	tn_array *(*f)(const tn_array *x);
} rows[] = {
	{"outputs", g_outputs}, {"sum", g_sum},   {"product", g_product},      {"max", g_max},
	{"min", g_min},         {"scan", g_scan}, {"reverse", g_scan_reverse},
};

static tn_array *total(tn_array *a)
{
	return tn_sum(tn_multiply(a, tn_sin(tn_affine(a, 0.3, 0.7))), TN_ALL_AXES, NULL, 0);
}

static double value_at(size_t row, const double *values)
{
	double value;
	assert_ok(tn_scope_begin(context));
	const tn_array *x = tn_from_host(context, TN_F64, 2, (int64_t[]){ROWS, COLUMNS}, values);
	assert_ok(tn_item(total(rows[row].f(x)), &value));
	tn_scope_end(context, NULL);
	return value;
}

static void expect_gradient(size_t row, double *values)
{
	const double step = 1e-5;
	double found[SIZE];
	tn_array *x = tn_from_host(context, TN_F64, 2, (int64_t[]){ROWS, COLUMNS}, values);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, total(rows[row].f(x)), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	tn_tape_end(tape);
	for (size_t i = 0; i < SIZE; i++) {
		const double at = values[i];
		values[i] = at + step;
		double difference = value_at(row, values);
		values[i] = at - step;
		difference = (difference - value_at(row, values)) / (2 * step);
		values[i] = at;
		if (!(fabs(found[i] - difference) <= 1e-6 * fmax(1, fabs(difference))))
			fail_msg("%s: gradient %zu: expected %.12g, found %.12g", rows[row].name, i,
				 difference, found[i]);
	}
}

static void gradients_are_those_of_central_differences(void **state)
{
	double values[SIZE];
	(void)state;
	for (int i = 0; i < SIZE; i++)
		values[i] = 0.8 + 0.5 * sin(1.7 * i * i + 0.4) + 0.01 * i;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		assert_ok(tn_scope_begin(context));
		expect_gradient(row, values);
		tn_scope_end(context, NULL);
	}
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void maps_name_what_they_refuse(void **state)
{
	const tn_array *x = sample(TN_F32), *z = tn_astype(x, TN_C64), *y = tn_slice(x, 1, 0, 2, 1);
	const tn_array *both[] = {x, y};
	tn_array *out[9] = {tn_copy(x), tn_copy(x)};
	struct tn_map_options o = {.struct_size = sizeof(o),
				   .n_outputs = 2,
				   .output_names = (const char *[]){"a", "b"}};
	(void)state;
	assert_status(tn_map_outputs("a = x", 1, x_alone, &x, &o, out), TN_FORMAT);
	assert_null(out[0]);
	assert_null(out[1]);
	assert_error(context, TN_FORMAT, "program_parse", "'b' is never assigned");
	assert_status(tn_map_outputs("a = x; b = x", 1, x_alone, &z, &o, out), TN_DTYPE);
	assert_error(context, TN_DTYPE, "map_outputs", "input 0 is complex");
	assert_status(tn_map_outputs("a = x; b = y", 2, x_and_y, both, &o, out), TN_SHAPE);
	assert_error(context, TN_SHAPE, "map_outputs", "(3, 5)");
	o.output_dtypes = (tn_dtype[]){0, TN_C64};
	assert_status(tn_map_outputs("a = x; b = x", 1, x_alone, &x, &o, out), TN_DTYPE);
	assert_error(context, TN_DTYPE, "map_outputs", "output 1 ('b')");
	o.n_outputs = 0;
	o.output_dtypes = (tn_dtype[]){TN_C64};
	assert_status(tn_map_outputs("a = x", 1, x_alone, &x, &o, out), TN_DTYPE);
	assert_error(context, TN_DTYPE, "map_outputs", "output 0 (the name assigned last)");
	o.n_outputs = 9;
	assert_status(tn_map_outputs("a = x", 1, x_alone, &x, &o, out), TN_LIMIT);
	assert_error(context, TN_LIMIT, "map_outputs", "at most 8, found 9");
	o.n_outputs = 1;
	o.output_names = NULL;
	assert_status(tn_map_outputs("a = x", 1, x_alone, &x, &o, out), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "map_outputs", "the name of output 0 is NULL");
	o.struct_size = 0;
	assert_status(tn_map_outputs("a = x", 1, x_alone, &x, &o, out), TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	assert_status(tn_map_outputs("a = x", 1, x_alone, &x, NULL, NULL), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "map_outputs", "outputs");
	assert_status(tn_map_outputs("a = x", 0, x_alone, &x, NULL, out), TN_INVALID_ARGUMENT);
	assert_null(tn_error(context));
	both[1] = NULL;
	assert_status(tn_map_outputs("a = x", 2, x_and_y, both, NULL, out), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "map_outputs", "operand 1 is NULL");
	assert_status(tn_map_outputs("a = x", 17, x_and_y, both, NULL, out), TN_LIMIT);
	assert_status(tn_map_outputs("a = x", 1, x_and_y, both, NULL, out), TN_PENDING_ERROR);
	assert_error(context, TN_LIMIT, "map_outputs", "n_inputs: expected at most 16, found 17");
}

static void reductions_and_scans_name_what_they_refuse(void **state)
{
	const tn_array *x = sample(TN_F32), *i = sample(TN_I32);
	struct tn_reduce_map_options o = tn_reduce_map_defaults();
	o.combiner = 5;
	const tn_number z = tn_number_c128(1, 1);
	(void)state;
	assert_null(tn_reduce_map("z = x", 1, x_alone, &x, &o));
	assert_error(context, TN_INVALID_ARGUMENT, "reduce_map", "combiner");
	o = tn_reduce_map_defaults();
	o.n_axes = 1;
	o.axes = (int[]){2};
	assert_null(tn_reduce_map("z = x", 1, x_alone, &x, &o));
	assert_error(context, TN_INVALID_ARGUMENT, "reduce_map", "found 2");
	o = tn_reduce_map_defaults();
	o.post = "z = b";
	assert_null(tn_reduce_map("z = x", 1, x_alone, &x, &o));
	assert_error(context, TN_NOT_FOUND, "program_parse", "'b'");
	o = tn_reduce_map_defaults();
	o.initial = &z;
	assert_null(tn_reduce_map("z = x", 1, x_alone, &x, &o));
	assert_error(context, TN_DTYPE, "reduce_map", "initial");
	assert_null(tn_reduce_map(NULL, 1, x_alone, &x, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "reduce_map", "expected a text");
	assert_null(tn_reduce_map("z = index(2) + x", 1, x_alone, &x, NULL));
	assert_error(context, TN_SHAPE, "reduce_map", "axis 2 of an array of rank 2");
	assert_null(tn_scan_map("z = hypot(x, y)", i, 0, NULL));
	assert_error(context, TN_DTYPE, "scan_map", "gives i32, found f32 of two i32");
	assert_null(tn_scan_map("z = x + y", x, 2, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "scan_map", "found 2");
	assert_null(tn_scan_map("z = x + ", x, 0, NULL));
	tn_error_clear(context);
	assert_null(tn_scan_map("z = x + y", NULL, 0, NULL));
	assert_null(tn_error(context));
}

/* ---- The memory of programs ------------------------------------------------------------------*/

static struct tn_memo_statistics memo(void)
{
	struct tn_memo_statistics now = {.struct_size = sizeof(now)};
	assert_ok(tn_memo_get_statistics(context, &now));
	return now;
}

static void programs_are_parsed_once_and_freed(void **state)
{
	const tn_array *x = sample(TN_F32);
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_non_null(tn_map("z = 5*x", 1, x_alone, &x, 0, NULL, NULL));
	assert_int_equal(memo().n_parsed, 1);
	assert_int_equal(memo().n_found, 2);
	assert_int_equal(memo().n_programs, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, (tn_array *)(uintptr_t)x));
	tn_array *y = tn_map("z = x*x*x", 1, x_alone, &x, 0, NULL, NULL);
	assert_status(tn_clear_memo(context), TN_STATE);
	assert_error(context, TN_STATE, "clear_memo", "tape");
	assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	assert_ok(tn_clear_memo(context));
	assert_int_equal(memo().n_programs, 0);
	/* The same addresses may come again for other programs: their gradients are new ones. */
	for (int power = 1; power < 4; power++) {
		char text[32];
		snprintf(text, sizeof(text), "z = %d*x", power);
		tape = tn_tape_begin(context);
		assert_ok(tn_tape_watch(tape, (tn_array *)(uintptr_t)x));
		y = tn_map(text, 1, x_alone, &x, 0, NULL, NULL);
		assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
		expect_same(tn_tape_gradient(tape, x),
			    tn_full(context, TN_F32, 2, (int64_t[]){ROWS, COLUMNS}, power), 0);
		tn_tape_end(tape);
		assert_ok(tn_clear_memo(context));
	}
	expect_same(tn_map("z = 5*x", 1, x_alone, &x, 0, NULL, NULL), tn_affine(x, 5, 0), 1e-5);
	assert_int_equal(memo().n_parsed, 6);
	assert_status(tn_memo_get_statistics(context, NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_clear_memo(NULL), TN_INVALID_ARGUMENT);
}

/* Captured work reads its programs for as long as it lives. */
static void captured_programs_stay(void **state)
{
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){SIZE}), *out = tn_copy(x);
	const tn_array *input = x;
	tn_graph *graph = NULL;
	(void)state;
	assert_ok(tn_capture_begin(context));
	const tn_array *y = tn_map("z = 3*x + 1", 1, x_alone, &input, 0, NULL, NULL);
	assert_ok(tn_add_into(out, y, y));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_clear_memo(context));
	struct tn_memo_statistics before = {.struct_size = sizeof(before)}, after = before;
	assert_ok(tn_memo_get_statistics(context, &before));
	assert_non_null(tn_map("z = 3*x + 1", 1, x_alone, &input, 0, NULL, NULL));
	assert_ok(tn_memo_get_statistics(context, &after));
	assert_int_equal(after.n_parsed, before.n_parsed);
	for (int i = 0; i < 20; i++) {
		char text[32];
		snprintf(text, sizeof(text), "z = x - %d", i);
		assert_non_null(tn_map(text, 1, x_alone, &input, 0, NULL, NULL));
	}
	assert_ok(tn_fill(x, 2));
	assert_ok(tn_graph_replay(graph));
	expect_same(out, tn_full(context, TN_F32, 1, (int64_t[]){SIZE}, 14), 0);
	tn_graph_destroy(graph);
}

static const char *given_backend;

static int open_given(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = given_backend;
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	return 0;
}

static int open_on_mock(void **state)
{
	(void)state;
	context = open_mock("");
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open, context_teardown)

static int run(const char *group, int (*open)(void **state))
{
	const struct CMUnitTest tests[] = {
		TEST(outputs_have_their_own_dtypes),
		TEST(up_to_eight_outputs_broadcast),
		TEST(reductions_are_those_of_the_library),
		TEST(reductions_are_one_pass),
		TEST(reductions_read_indices),
		TEST(extremes_are_unsigned),
		TEST(reductions_combine_an_initial_value),
		TEST(scans_apply_any_operator),
		TEST(scans_are_exclusive_on_request),
		TEST(gradients_are_those_of_central_differences),
		TEST(maps_name_what_they_refuse),
		TEST(reductions_and_scans_name_what_they_refuse),
		TEST(programs_are_parsed_once_and_freed),
	};
	return cmocka_run_group_tests_name(group, tests, NULL, NULL);
}

/* On the mock, which captures. */
static int run_captured(void)
{
	int (*const open)(void **) = open_on_mock;
	const struct CMUnitTest tests[] = {TEST(captured_programs_stay)};
	return cmocka_run_group_tests_name("captured", tests, NULL, NULL);
}

int main(void)
{
	given_backend = "reference!";
	int failed = run("built-in", open_given);
	given_backend = NULL;
	failed += run("preferred", open_given);
	/* Last: it changes the environment. */
	failed += run("mock", open_on_mock);
	return failed + run_captured();
}
