/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions with options and of what is not NaN: gradients, and what is refused.  Results:
 * tests/parity/reduce.
 */
#include "unit/formula_checks.h"
#include "test_context.h"

static const int last[] = {-1};

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *reduced(const tn_array *x, uint32_t reducer, double correction)
{
	const int has_initial = reducer <= TN_REDUCER_PROD || reducer == TN_REDUCER_MAX ||
				reducer == TN_REDUCER_MIN;
	const struct tn_reduce_options options = {
		.struct_size = sizeof(options),
		.where = tn_greater(tn_detach(x), tn_full(context, TN_F64, 0, NULL, -0.7)),
		.initial = has_initial ? tn_number_f64(0.1) : (tn_number){0},
		.correction = correction};
	return tn_reduce(x, reducer, 1, last, &options);
}

static tn_array *f_sum(const tn_array *x)
{
	return reduced(x, TN_REDUCER_SUM, 0);
}
static tn_array *f_prod(const tn_array *x)
{
	return reduced(x, TN_REDUCER_PROD, 0);
}
static tn_array *f_mean(const tn_array *x)
{
	return reduced(x, TN_REDUCER_MEAN, 0);
}
static tn_array *f_var(const tn_array *x)
{
	return reduced(x, TN_REDUCER_VAR, 0.5);
}
static tn_array *f_std(const tn_array *x)
{
	return reduced(x, TN_REDUCER_STD, 0);
}
static tn_array *f_max(const tn_array *x)
{
	return reduced(x, TN_REDUCER_MAX, 0);
}
static tn_array *f_min(const tn_array *x)
{
	return reduced(x, TN_REDUCER_MIN, 0);
}
/* NaN in place of numbers below 0. */
static tn_array *with_nan(const tn_array *x)
{
	return tn_map("z = x < 0 ? nan : x * x", 1, (const char *[]){"x"}, &x, 0, NULL, NULL);
}
/* A variance of elements that count, of which the others are NaN. */
static tn_array *f_var_beside_nan(const tn_array *x)
{
	const struct tn_reduce_options options = {
		.struct_size = sizeof(options),
		.where = tn_greater_equal(tn_detach(x), tn_full(context, TN_F64, 0, NULL, 0))};
	return tn_reduce(with_nan(x), TN_REDUCER_VAR, TN_ALL_AXES, NULL, &options);
}
static tn_array *f_nanmedian(const tn_array *x)
{
	return tn_nanmedian(with_nan(x), TN_ALL_AXES, NULL, 0);
}
static tn_array *f_nanquantile(const tn_array *x)
{
	return tn_nanquantile(with_nan(x), 2, (double[]){0.3, 0.9}, NULL);
}
static tn_array *f_nancumsum(const tn_array *x)
{
	return tn_nancumsum(with_nan(x), TN_AXIS_NONE);
}
static tn_array *f_nancumprod(const tn_array *x)
{
	return tn_nancumprod(with_nan(x), 0);
}
static tn_array *f_cumulative_sum(const tn_array *x)
{
	return tn_cumulative_sum(x, 1, 0, 1);
}
static tn_array *f_cumulative_prod(const tn_array *x)
{
	return tn_cumulative_prod(x, 0, 0, 1);
}

static tn_array *f_logcumsumexp(const tn_array *x)
{
	return tn_logcumsumexp(x, -1);
}

static const struct formula_row rows[] = {
	{"sum", f_sum},
	{"prod", f_prod},
	{"mean", f_mean},
	{"var", f_var},
	{"std", f_std},
	{"max", f_max},
	{"min", f_min},
	{"var beside NaN", f_var_beside_nan},
	{"nanmedian", f_nanmedian},
	{"nanquantile", f_nanquantile},
	{"nancumsum", f_nancumsum},
	{"nancumprod", f_nancumprod},
	{"cumulative_sum", f_cumulative_sum},
	{"cumulative_prod", f_cumulative_prod},
	{"logcumsumexp", f_logcumsumexp},
};

static void gradients_are_those_of_central_differences(void **state)
{
	(void)state;
	formula_expect_gradients(context, sizeof(rows) / sizeof(rows[0]), rows);
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void expect_refusal(uint32_t reducer, const struct tn_reduce_options *options,
			   tn_status status, const char *operation, const char *words)
{
	const tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){2, 3});
	assert_refused(context, tn_reduce(x, reducer, 1, last, options), status, operation, words);
}

static void options_name_what_they_refuse(void **state)
{
	const tn_array *yes = tn_ones(context, TN_BOOL, 1, (int64_t[]){3});
	const tn_array *two = tn_ones(context, TN_BOOL, 1, (int64_t[]){2});
	const tn_array *numbers = tn_ones(context, TN_F32, 1, (int64_t[]){3});
	(void)state;
	expect_refusal(10, NULL, TN_INVALID_ARGUMENT, "reduce",
		       "reducer: expected 0 to 9, found 10");
	struct tn_reduce_options reduce = tn_reduce_defaults();
	reduce.initial = tn_number_f64(0);
	expect_refusal(TN_REDUCER_MEAN, &reduce, TN_INVALID_ARGUMENT, "mean",
		       "options: initial is not for this reduction");
	reduce = tn_reduce_defaults();
	reduce.dtype = TN_F64;
	expect_refusal(TN_REDUCER_MAX, &reduce, TN_INVALID_ARGUMENT, "max", "options: dtype");
	reduce = tn_reduce_defaults();
	reduce.correction = 1;
	expect_refusal(TN_REDUCER_SUM, &reduce, TN_INVALID_ARGUMENT, "sum", "options: correction");
	reduce = tn_reduce_defaults();
	reduce.dtype = TN_I32;
	expect_refusal(TN_REDUCER_MEAN, &reduce, TN_DTYPE, "mean",
		       "dtype: expected a floating or complex type, found i32");
	reduce.dtype = TN_C64;
	expect_refusal(TN_REDUCER_STD, &reduce, TN_DTYPE, "std",
		       "dtype: expected a floating type, found c64");
	reduce.dtype = 99;
	expect_refusal(TN_REDUCER_SUM, &reduce, TN_DTYPE, "sum", "found none");
	reduce = tn_reduce_defaults();
	reduce.where = numbers;
	expect_refusal(TN_REDUCER_SUM, &reduce, TN_DTYPE, "sum", "where: expected bool, found f32");
	reduce.where = two;
	expect_refusal(TN_REDUCER_ANY, &reduce, TN_SHAPE, "any",
		       "where: expected a shape that broadcasts to (2, 3), found (2,)");
	reduce.where = yes;
	expect_refusal(TN_REDUCER_MIN, &reduce, TN_INVALID_ARGUMENT, "min",
		       "where: expected initial beside it");
	const tn_array *bytes = tn_ones(context, TN_U8, 1, (int64_t[]){3});
	reduce = tn_reduce_defaults();
	reduce.initial = tn_number_i64(-1);
	assert_refused(context, tn_reduce(bytes, TN_REDUCER_MAX, 1, last, &reduce),
		       TN_INVALID_ARGUMENT, "max", "initial");
	const tn_array *none = tn_ones(context, TN_F32, 1, (int64_t[]){0});
	assert_refused(context, tn_reduce(none, TN_REDUCER_MAX, 1, last, NULL), TN_SHAPE, "max",
		       "(0,)");
	const tn_array *z = tn_ones(context, TN_C64, 1, (int64_t[]){3});
	reduce.initial = tn_number_i64(1);
	assert_refused(context, tn_reduce(z, TN_REDUCER_MIN, 1, last, &reduce), TN_DTYPE, "min",
		       "c64");
	assert_null(tn_reduce(NULL, 0, 1, last, NULL));
	assert_null(tn_error(context));
}

static void functions_name_what_they_refuse(void **state)
{
	const tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){3});
	const tn_array *z = tn_ones(context, TN_C64, 1, (int64_t[]){3});
	struct tn_quantile_options unknown = tn_quantile_defaults();
	const double below = -1, half = 0.5;
	unknown.method = 13;
	(void)state;
	assert_refused(context, tn_nanmedian(z, 1, last, 0), TN_DTYPE, "nanmedian", "c64");
	assert_refused(context, tn_nanquantile(x, TN_SCALAR, &below, NULL), TN_INVALID_ARGUMENT,
		       "nanquantile", "[0, 1], found -1");
	assert_refused(context, tn_nanpercentile(x, TN_SCALAR, &half, &unknown),
		       TN_INVALID_ARGUMENT, "nanpercentile", "expected 0 to 12, found 13");
	assert_refused(context, tn_nancumsum(x, 1), TN_INVALID_ARGUMENT, "nancumsum", "found 1");
	assert_refused(context, tn_cumulative_sum(x, 2, 0, 0), TN_INVALID_ARGUMENT,
		       "cumulative_sum", "found 2");
	assert_refused(context, tn_logcumsumexp(z, 0), TN_DTYPE, "logcumsumexp",
		       "a: expected a floating type, found c64");
	assert_refused(context, tn_logcumsumexp(x, 1), TN_INVALID_ARGUMENT, "logcumsumexp",
		       "found 1");
	assert_refused(context, tn_cumulative_prod(x, 0, 99, 0), TN_DTYPE, "cumulative_prod",
		       "found 99");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, context_setup, context_teardown)
	const struct CMUnitTest tests[] = {
		TEST(gradients_are_those_of_central_differences),
		TEST(options_name_what_they_refuse),
		TEST(functions_name_what_they_refuse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
