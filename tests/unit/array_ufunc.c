/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Universal functions as objects: the list, out that is an input or overlaps one, gradients of
 * reduce and accumulate against central differences, and what is refused.  Numbers:
 * tests/parity/ufunc_methods.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "kept_error.h"
#include "test_context.h"

static const int last[] = {-1};

static tn_array *line(tn_dtype dtype, int64_t n)
{
	return tn_arange(context, dtype, 0, (double)n, 1);
}

static tn_array *matrix(tn_dtype dtype, int64_t rows, int64_t columns)
{
	return tn_reshape(line(dtype, rows * columns), 2, (int64_t[]){rows, columns});
}

static tn_array *call_two(const char *name, const tn_array *a, const tn_array *b,
			  const struct tn_ufunc_options *options)
{
	const tn_array *both[] = {a, b};
	return tn_ufunc_call(tn_ufunc_find(name), 2, both, options);
}

static void expect_values(const tn_array *a, size_t n, const double *expected)
{
	double values[16];
	if (tn_error(context))
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	assert_in_range(n, 0, 16);
	assert_ok(tn_to_host(tn_astype(a, TN_F64), values, n * sizeof(*values)));
	for (size_t i = 0; i < n; i++)
		assert_close(values[i], expected[i], 1e-6);
}

/* ---- The list --------------------------------------------------------------------------------*/

static void functions_are_listed_by_name(void **state)
{
	const int n = tn_ufunc_count();
	tn_number identity = tn_number_i64(7);
	(void)state;
	assert_in_range(n, 90, 1000);
	for (int i = 0; i < n; i++) {
		const tn_ufunc *ufunc = tn_ufunc_number(i);
		assert_ptr_equal(tn_ufunc_find(tn_ufunc_name(ufunc)), ufunc);
		assert_in_range(tn_ufunc_inputs(ufunc), 1, 3);
	}
	assert_null(tn_ufunc_number(n));
	assert_null(tn_ufunc_number(-1));
	assert_ptr_equal(tn_ufunc_find("true_divide"), tn_ufunc_find("divide"));
	assert_null(tn_ufunc_find("where"));
	assert_null(tn_ufunc_find("modf"));
	assert_null(tn_ufunc_find("no_such"));
	assert_null(tn_ufunc_find(NULL));
	assert_int_equal(tn_ufunc_inputs(tn_ufunc_find("clip")), 3);
	assert_int_equal(tn_ufunc_identity(tn_ufunc_find("multiply"), &identity), 1);
	assert_int_equal(identity.i64, 1);
	assert_int_equal(tn_ufunc_identity(tn_ufunc_find("logaddexp"), &identity), 1);
	assert_close(identity.f64, -INFINITY, 0);
	assert_int_equal(tn_ufunc_identity(tn_ufunc_find("maximum"), &identity), 0);
	assert_int_equal(tn_ufunc_identity(NULL, &identity), 0);
	assert_null(tn_ufunc_name(NULL));
}

/* Every function computes what its own entry does. */
static void functions_run_by_name(void **state)
{
	const tn_array *x = tn_affine(line(TN_F32, 5), 0.25, 0.1);
	(void)state;
	for (int i = 0; i < tn_ufunc_count(); i++) {
		const tn_ufunc *ufunc = tn_ufunc_number(i);
		const tn_array *inputs[] = {x, x, x};
		const char *name = tn_ufunc_name(ufunc);
		const int is_of_bits = strstr(name, "bitwise") || strstr(name, "shift") ||
				       strcmp(name, "invert") == 0;
		const tn_array *ints = line(TN_I32, 5);
		for (int k = 0; is_of_bits && k < 3; k++)
			inputs[k] = ints;
		const tn_array *r = tn_ufunc_call(ufunc, tn_ufunc_inputs(ufunc), inputs, NULL);
		if (!r)
			fail_msg("%s: %s", name, tn_error(context)->text);
		assert_int_equal(tn_array_size(r), 5);
	}
	static const char *const composed[] = {"arcsin", "arccos", "arcsinh", "arccosh"};
	const tn_array *z = tn_complex(x, x);
	for (int i = 0; i < 4; i++) {
		const tn_array *w = tn_ufunc_call(tn_ufunc_find(composed[i]), 1, &z, NULL);
		assert_int_equal(tn_array_dtype(w), TN_C64);
	}
	expect_values(tn_slice(tn_ufunc_call(tn_ufunc_find("exp"), 1, &x, NULL), 0, 0, 2, 1), 2,
		      (double[]){exp(0.1), exp(0.35)});
}

/* ---- Options ---------------------------------------------------------------------------------*/

static void out_may_be_an_input_or_overlap_one(void **state)
{
	tn_array *x = line(TN_F32, 6), *low = tn_slice(x, 0, 0, 5, 1), *high;
	tn_array *mask = tn_astype(
		tn_from_host(context, TN_I64, 1, (int64_t[]){6}, (int64_t[]){1, 0, 1, 0, 1, 0}),
		TN_BOOL);
	(void)state;
	high = tn_slice(x, 0, 1, 6, 1);
	struct tn_ufunc_options ufunc = tn_ufunc_defaults();
	ufunc.out = high;
	tn_array *r = call_two("add", low, high, &ufunc);
	assert_ptr_equal(r, high);
	expect_values(x, 6, (double[]){0, 1, 3, 5, 7, 9});
	ufunc.out = x;
	ufunc.where = mask;
	call_two("multiply", x, x, &ufunc);
	expect_values(x, 6, (double[]){0, 1, 9, 5, 49, 9});
	const tn_array *turned = tn_flip(x, 1, (int[]){0});
	ufunc = tn_ufunc_defaults();
	ufunc.out = x;
	call_two("subtract", x, turned, &ufunc);
	expect_values(x, 6, (double[]){-9, -48, 4, -4, 48, 9});
	/* A wider output broadcasts the inputs; converted to its dtype. */
	tn_array *wide = tn_zeros(context, TN_F64, 2, (int64_t[]){2, 3});
	ufunc.out = wide;
	call_two("add", line(TN_I32, 3), line(TN_I32, 3), &ufunc);
	expect_values(wide, 6, (double[]){0, 2, 4, 0, 2, 4});
	ufunc = tn_ufunc_defaults();
	ufunc.where = mask;
	expect_values(call_two("add", line(TN_I8, 6), line(TN_I8, 6), &ufunc), 6,
		      (double[]){0, 0, 4, 0, 8, 0});
}

static void results_outlive_the_call_and_out_stays_where_it_is(void **state)
{
	tn_array *out = tn_zeros(context, TN_F32, 1, (int64_t[]){4});
	(void)state;
	assert_ok(tn_scope_begin(context));
	struct tn_ufunc_options ufunc = tn_ufunc_defaults();
	ufunc.out = out;
	tn_array *r =
		tn_ufunc_reduce(tn_ufunc_find("hypot"), matrix(TN_F32, 4, 3), 1, last, 0, &ufunc);
	assert_ptr_equal(r, out);
	tn_scope_end(context, NULL);
	expect_values(out, 4, (double[]){sqrt(5), sqrt(50), sqrt(149), sqrt(302)});
	/* A reduction of nothing is a copy. */
	tn_array *x = line(TN_F32, 3);
	tn_array *same = tn_ufunc_reduce(tn_ufunc_find("subtract"), x, 0, last, 0, NULL);
	assert_ok(tn_fill(same, 9));
	expect_values(x, 3, (double[]){0, 1, 2});
}

static void casting_follows_numpy(void **state)
{
	(void)state;
	assert_int_equal(tn_can_cast(TN_I64, TN_F64, TN_CASTING_SAFE), 1);
	assert_int_equal(tn_can_cast(TN_I64, TN_F32, TN_CASTING_SAFE), 0);
	assert_int_equal(tn_can_cast(TN_I64, TN_F32, TN_CASTING_SAME_KIND), 1);
	assert_int_equal(tn_can_cast(TN_I64, TN_U64, TN_CASTING_SAME_KIND), 0);
	assert_int_equal(tn_can_cast(TN_F64, TN_F16, TN_CASTING_SAME_KIND), 1);
	assert_int_equal(tn_can_cast(TN_F64, TN_I64, TN_CASTING_SAME_KIND), 0);
	assert_int_equal(tn_can_cast(TN_F64, TN_I64, TN_CASTING_UNSAFE), 1);
	assert_int_equal(tn_can_cast(TN_I32, TN_I64, TN_CASTING_NO), 0);
	assert_int_equal(tn_can_cast(TN_I32, TN_I32, TN_CASTING_EQUIV), 1);
	assert_int_equal(tn_can_cast(TN_I32, 99, TN_CASTING_UNSAFE), 0);
	assert_int_equal(tn_can_cast(TN_I32, TN_I32, 5), 0);
}

/* ---- In place at indices ---------------------------------------------------------------------*/

static void at_reads_operands_that_overlap_the_array(void **state)
{
	tn_array *x = line(TN_F32, 4);
	const tn_array *indices =
		tn_from_host(context, TN_I64, 1, (int64_t[]){4}, (int64_t[]){0, 0, -1, 0});
	(void)state;
	assert_ok(tn_ufunc_at(tn_ufunc_find("add"), x, indices, x));
	expect_values(x, 4, (double[]){0 + 0 + 1 + 3, 1, 2, 3 + 2});
	assert_ok(tn_ufunc_at(tn_ufunc_find("multiply"), x, indices, x));
	expect_values(x, 4, (double[]){4 * 4 * 1 * 5.0, 1, 2, 5 * 2});
	assert_ok(tn_ufunc_at(tn_ufunc_find("negative"), x, indices, NULL));
	expect_values(x, 4, (double[]){-80, 1, 2, -10});
	/* A strided array, with rows. */
	tn_array *wide = tn_zeros(context, TN_I32, 2, (int64_t[]){3, 4});
	tn_array *columns = tn_slice(wide, 1, 0, 4, 2);
	assert_ok(
		tn_ufunc_at(tn_ufunc_find("add"), columns,
			    tn_from_host(context, TN_I32, 1, (int64_t[]){3}, (int32_t[]){2, 0, 2}),
			    matrix(TN_I32, 3, 2)));
	expect_values(wide, 12, (double[]){2, 0, 3, 0, 0, 0, 0, 0, 4, 0, 6, 0});
}

/* ---- Gradients -------------------------------------------------------------------------------*/

enum { ROWS = 3, COLUMNS = 5, SIZE = ROWS * COLUMNS };

static const char *current;
static tn_array *f_reduce(const tn_array *x)
{
	return tn_ufunc_reduce(tn_ufunc_find(current), x, 1, last, 1, NULL);
}
static tn_array *f_reduce_some(const tn_array *x)
{
	static const tn_number initial = {.dtype = TN_F64, .f64 = 1.5};
	const tn_array *mask = tn_less(x, tn_scalar_f32(context, 1));
	struct tn_ufunc_options ufunc = tn_ufunc_defaults();
	ufunc.where = mask;
	ufunc.initial = &initial;
	return tn_ufunc_reduce(tn_ufunc_find(current), x, 1, (int[]){0}, 0, &ufunc);
}
static tn_array *f_accumulate(const tn_array *x)
{
	return tn_ufunc_accumulate(tn_ufunc_find(current), x, 1, NULL);
}
static tn_array *f_outer(const tn_array *x)
{
	return tn_ufunc_outer(tn_ufunc_find(current), tn_slice(x, 0, 0, 1, 1),
			      tn_slice(x, 0, 1, 3, 1), NULL);
}
static tn_array *f_call(const tn_array *x)
{
	const tn_array *mask = tn_less(x, tn_scalar_f32(context, 1));
	struct tn_ufunc_options options = tn_ufunc_defaults();
	options.where = mask;
	return call_two(current, x, tn_slice(x, 1, 0, 1, 1), &options);
}

static tn_array *(*const forms[])(const tn_array *x) = {f_reduce, f_reduce_some, f_accumulate,
							f_outer, f_call};

static tn_array *total(tn_array *a)
{
	return tn_sum(tn_multiply(a, tn_sin(tn_affine(a, 0.3, 0.7))), TN_ALL_AXES, NULL, 0);
}

static double value_at(size_t form, const double *values)
{
	double value;
	assert_ok(tn_scope_begin(context));
	const tn_array *x = tn_from_host(context, TN_F64, 2, (int64_t[]){ROWS, COLUMNS}, values);
	assert_ok(tn_item(total(forms[form](x)), &value));
	tn_scope_end(context, NULL);
	return value;
}

static void expect_gradient(size_t form, double *values)
{
	const double step = 1e-5;
	double found[SIZE];
	tn_array *x = tn_from_host(context, TN_F64, 2, (int64_t[]){ROWS, COLUMNS}, values);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, total(forms[form](x)), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	tn_tape_end(tape);
	for (size_t i = 0; i < SIZE; i++) {
		const double at = values[i];
		values[i] = at + step;
		double difference = value_at(form, values);
		values[i] = at - step;
		difference = (difference - value_at(form, values)) / (2 * step);
		values[i] = at;
		if (!(fabs(found[i] - difference) <= 1e-6 * fmax(1, fabs(difference))))
			fail_msg("%s, form %zu: gradient %zu: expected %.12g, found %.12g", current,
				 form, i, difference, found[i]);
	}
}

static void gradients_are_those_of_central_differences(void **state)
{
	static const char *const names[] = {"add",       "multiply", "maximum", "fmin", "hypot",
					    "logaddexp", "subtract", "divide",  "power"};
	double values[SIZE];
	(void)state;
	for (int i = 0; i < SIZE; i++)
		values[i] = 1 + 0.5 * sin(1.7 * i * i + 0.4) + 0.01 * i;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		current = names[k];
		for (size_t form = 0; form < sizeof(forms) / sizeof(forms[0]); form++) {
			assert_ok(tn_scope_begin(context));
			expect_gradient(form, values);
			tn_scope_end(context, NULL);
		}
	}
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void refuse_call(const char *name, const tn_array *a, const tn_array *b,
			const struct tn_ufunc_options *options, tn_status status, const char *words)
{
	assert_null(call_two(name, a, b, options));
	assert_error(context, status, name, words);
}

static void calls_name_what_they_refuse(void **state)
{
	tn_array *f = line(TN_F64, 3), *i = line(TN_I32, 3), *b = tn_astype(i, TN_BOOL);
	struct tn_ufunc_options o = {.struct_size = sizeof(o), .out = i};
	(void)state;
	refuse_call("add", f, i, &o, TN_DTYPE,
		    "out: casting 'same_kind' does not allow f64 to "
		    "become i32");
	o.out = line(TN_F64, 2);
	refuse_call("add", f, f, &o, TN_SHAPE,
		    "out: expected a shape to which (3,) broadcasts, "
		    "found (2,)");
	o.out = tn_broadcast_to(tn_ones(context, TN_F64, 1, (int64_t[]){1}), 1, (int64_t[]){3});
	refuse_call("add", f, f, &o, TN_INVALID_ARGUMENT, "");
	o.out = NULL;
	o.where = i;
	refuse_call("add", f, f, &o, TN_DTYPE, "where: expected bool, found i32");
	o.where = tn_slice(b, 0, 0, 2, 1);
	refuse_call("add", f, f, &o, TN_SHAPE, "(2,)");
	o.where = NULL;
	o.casting = TN_CASTING_NO;
	refuse_call("add", i, f, &o, TN_DTYPE,
		    "input 0: casting 'no' does not allow i32 to become "
		    "f64");
	o.casting = TN_CASTING_SAME_KIND;
	o.dtype = TN_I32;
	refuse_call("add", i, f, &o, TN_DTYPE, "input 1: casting 'same_kind'");
	refuse_call("divide", i, i, &o, TN_DTYPE, "dtype: it has no result of i32");
	refuse_call("less", i, i, &o, TN_DTYPE, "dtype: it has no result of i32");
	o.dtype = 99;
	refuse_call("add", i, i, &o, TN_DTYPE, "found 99");
	o.dtype = 0;
	o.casting = 5;
	refuse_call("add", i, i, &o, TN_INVALID_ARGUMENT, "casting");
	o.struct_size = 0;
	refuse_call("add", i, i, &o, TN_INVALID_ARGUMENT, "struct tn_ufunc_options");
	refuse_call("sqrt", f, f, NULL, TN_INVALID_ARGUMENT, "expected 1 arrays, found 2");
	assert_null(tn_ufunc_call(NULL, 1, (const tn_array *[]){f}, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "ufunc", "call: the ufunc is NULL");
	assert_null(tn_ufunc_outer(tn_ufunc_find("sqrt"), f, f, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "sqrt", "outer");
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, f));
	o = (struct tn_ufunc_options){.struct_size = sizeof(o), .out = f};
	refuse_call("add", f, f, &o, TN_STATE, "");
	assert_status(tn_ufunc_at(tn_ufunc_find("add"), f, i, f), TN_STATE);
	assert_error(context, TN_STATE, "add", "");
	tn_tape_end(tape);
}

/* Values whose negatives their own dtype does not have. */
static void at_subtracts_narrower_operands(void **state)
{
	const tn_ufunc *subtract = tn_ufunc_find("subtract");
	tn_array *wide = tn_zeros(context, TN_I64, 1, (int64_t[]){3});
	tn_array *real = tn_zeros(context, TN_F32, 1, (int64_t[]){3});
	const tn_array *twice = tn_from_host(context, TN_I64, 1, (int64_t[]){2}, (int64_t[]){1, 1});
	(void)state;
	assert_ok(tn_ufunc_at(subtract, wide, twice, tn_full(context, TN_U32, 0, NULL, 7)));
	expect_values(wide, 3, (double[]){0, -14, 0});
	assert_ok(tn_ufunc_at(subtract, wide, twice, tn_full(context, TN_I8, 0, NULL, -128)));
	expect_values(wide, 3, (double[]){0, 242, 0});
	assert_ok(tn_ufunc_at(subtract, real, twice, tn_ones(context, TN_BOOL, 0, NULL)));
	expect_values(real, 3, (double[]){0, -2, 0});
}

static void methods_name_what_they_refuse(void **state)
{
	const tn_ufunc *subtract = tn_ufunc_find("subtract"), *fmax = tn_ufunc_find("fmax");
	tn_array *x = matrix(TN_F32, 2, 3), *none = line(TN_F32, 0), *i = line(TN_I32, 2);
	const tn_array *mask = tn_less(x, x);
	(void)state;
	assert_null(tn_ufunc_reduce(subtract, x, 2, (int[]){0, 1}, 0, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "subtract", "one axis");
	assert_null(tn_ufunc_reduce(fmax, none, 1, last, 0, NULL));
	assert_error(context, TN_SHAPE, "fmax", "shape (0,) has no elements");
	struct tn_ufunc_options ufunc = tn_ufunc_defaults();
	ufunc.where = mask;
	assert_null(tn_ufunc_reduce(fmax, x, 1, last, 0, &ufunc));
	assert_error(context, TN_INVALID_ARGUMENT, "fmax", "no identity");
	assert_null(tn_ufunc_reduce(fmax, x, 1, (int[]){2}, 0, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "fmax", "found 2");
	assert_null(tn_ufunc_reduce(tn_ufunc_find("sqrt"), x, 1, last, 0, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "sqrt", "reduce");
	assert_null(tn_ufunc_reduce(tn_ufunc_find("less"), x, 1, last, 0, NULL));
	assert_error(context, TN_DTYPE, "less", "reduce: not defined for f32");
	ufunc = tn_ufunc_defaults();
	ufunc.out = line(TN_F32, 3);
	assert_null(tn_ufunc_reduce(subtract, x, 1, last, 0, &ufunc));
	assert_error(context, TN_SHAPE, "subtract", "out: expected shape (2,), found (3,)");
	ufunc = tn_ufunc_defaults();
	ufunc.where = mask;
	assert_null(tn_ufunc_accumulate(fmax, x, 1, &ufunc));
	assert_error(context, TN_INVALID_ARGUMENT, "fmax", "accumulate");
	assert_null(tn_ufunc_accumulate(fmax, x, 2, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "fmax", "axis");
	/* Reported by the next call that waits, where the host cannot read the indices at once. */
	tn_status status = tn_ufunc_at(subtract, x, tn_add(i, i), x);
	assert_status(status ? status : tn_synchronize(context), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "ufunc_at", "out of range");
	assert_int_equal(tn_ufunc_at(subtract, i, i, x), TN_DTYPE);
	assert_error(context, TN_DTYPE, "subtract", "become a's i32");
	assert_int_equal(tn_ufunc_at(subtract, x, x, x), TN_DTYPE);
	assert_error(context, TN_DTYPE, "ufunc_at", "indices: expected integers, found f32");
	assert_int_equal(tn_ufunc_at(subtract, x, none, line(TN_F32, 3)), TN_DTYPE);
	assert_error(context, TN_DTYPE, "ufunc_at", "indices: expected integers, found f32");
	assert_int_equal(tn_ufunc_at(subtract, tn_scalar_f32(context, 1), i, i),
			 TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "subtract", "0-d");
	assert_int_equal(tn_ufunc_at(subtract, x, i, NULL), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "subtract", "b NULL");
	assert_int_equal(tn_ufunc_at(subtract, x, i, line(TN_F32, 2)), TN_SHAPE);
	tn_error_clear(context);
	assert_int_equal(tn_ufunc_at(NULL, x, i, x), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "ufunc", "at: the ufunc is NULL");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, context_setup, context_teardown)
	const struct CMUnitTest tests[] = {
		TEST(functions_are_listed_by_name),
		TEST(functions_run_by_name),
		TEST(out_may_be_an_input_or_overlap_one),
		TEST(results_outlive_the_call_and_out_stays_where_it_is),
		TEST(casting_follows_numpy),
		TEST(at_reads_operands_that_overlap_the_array),
		TEST(at_subtracts_narrower_operands),
		TEST(gradients_are_those_of_central_differences),
		TEST(calls_name_what_they_refuse),
		TEST(methods_name_what_they_refuse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
