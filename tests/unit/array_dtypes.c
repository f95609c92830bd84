/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Dtypes of results, against those that NumPy gives (numpy_dtypes.h), and values that only the
 * right dtype holds.
 */
#include <math.h>

#include <tenon/autograd.h>

#include "array/result_type.h"
#include "array_fixture.h"
#include "numpy_dtypes.h"

/* Word `number` of a line of dtypes, as a dtype; 0: "-". */
static tn_dtype nth(const char *line, int number)
{
	char word[8];
	while (number--)
		line = strchr(line, ' ') + 1;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(line, " "), line);
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (!strcmp(word, tn_dtype_name(dtype)))
			return dtype;
	}
	return 0;
}

/* NumPy knows bf16 only from ml_dtypes, which has no result for it beside most others: Tenon lets
 * it take the place of f16. */
static tn_dtype numpy_result(tn_dtype a, tn_dtype b)
{
	tn_dtype result = nth(numpy_result_type[a - 1], b - 1);
	if (result)
		return result;
	tn_dtype x = a == TN_BF16 ? TN_F16 : a, y = b == TN_BF16 ? TN_F16 : b;
	result = nth(numpy_result_type[x - 1], y - 1);
	return result == TN_F16 ? TN_F32 : result;
}

static void pairs_of_dtypes_give_numpys_result_type(void **state)
{
	struct fixture *f = *state;
	for (tn_dtype a = 1; a < TN_DTYPES; a++) {
		for (tn_dtype b = 1; b < TN_DTYPES; b++) {
			assert_int_equal(tn_result_type(a, b), numpy_result(a, b));
			tn_array *x = tn_ones(context_of(f), a, SHAPE(2));
			tn_array *y = tn_full(context_of(f), b, SHAPE(2), b == TN_BOOL ? 1 : 3);
			tn_array *sum = tn_add(x, y);
			assert_int_equal(tn_array_dtype(sum), numpy_result(a, b));
			int is_or = a == TN_BOOL && b == TN_BOOL;
			double expected = is_or ? 1 : b == TN_BOOL ? 2 : 4;
			assert_elements(tn_astype(sum, TN_F32), expected, expected);
		}
	}
}

static tn_array *apply(const char *operation, const tn_array *a)
{
	static const struct {
		const char *name;
		tn_array *(*unary)(const tn_array *);
		tn_array *(*binary)(const tn_array *, const tn_array *);
		tn_array *(*along)(const tn_array *, int, const int *, int);
	} functions[] = {
		{"negative", tn_negative, 0, 0}, {"abs", tn_abs, 0, 0},
		{"sign", tn_sign, 0, 0},         {"square", tn_square, 0, 0},
		{"sqrt", tn_sqrt, 0, 0},         {"exp", tn_exp, 0, 0},
		{"log", tn_log, 0, 0},           {"sin", tn_sin, 0, 0},
		{"cos", tn_cos, 0, 0},           {"tanh", tn_tanh, 0, 0},
		{"floor", tn_floor, 0, 0},       {"ceil", tn_ceil, 0, 0},
		{"round", tn_round, 0, 0},       {"add", 0, tn_add, 0},
		{"subtract", 0, tn_subtract, 0}, {"multiply", 0, tn_multiply, 0},
		{"divide", 0, tn_divide, 0},     {"power", 0, tn_power, 0},
		{"maximum", 0, tn_maximum, 0},   {"equal", 0, tn_equal, 0},
		{"less", 0, tn_less, 0},         {"sum", 0, 0, tn_sum},
		{"prod", 0, 0, tn_prod},         {"mean", 0, 0, tn_mean},
		{"max", 0, 0, tn_max},
	};
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(functions[i].name, operation) != 0)
			continue;
		if (functions[i].unary)
			return functions[i].unary(a);
		return functions[i].binary ? functions[i].binary(a, a)
					   : functions[i].along(a, TN_ALL_AXES, NULL, 0);
	}
	if (!strcmp(operation, "cumsum"))
		return tn_cumsum(a, 0);
	if (!strcmp(operation, "affine"))
		return tn_affine(a, 2, 1);
	return NULL; /* matmul: array_matmul.c */
}

/* Where Tenon departs from NumPy: the rows of tn_array(3)'s table. */
static tn_dtype expected_dtype(const char *operation, tn_dtype dtype, tn_dtype numpys)
{
	int is_order = !strcmp(operation, "less") || !strncmp(operation, "max", 3);
	if (!strcmp(operation, "round") && dtype == TN_BOOL)
		return TN_BOOL;
	if (tn_is_complex(dtype) && is_order)
		return 0;
	if (!strcmp(operation, "affine") && dtype == TN_BF16)
		return TN_BF16;
	/* Functions of the narrowest integers: NumPy has f16. */
	if (numpys == TN_F16 && dtype != TN_F16)
		return TN_F32;
	return numpys;
}

static void operations_give_numpys_dtypes(void **state)
{
	struct fixture *f = *state;
	int seen = 0;
	for (size_t i = 0; i < sizeof(numpy_operations) / sizeof(numpy_operations[0]); i++) {
		const char *operation = numpy_operations[i].operation;
		for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
			tn_dtype expected = expected_dtype(
				operation, dtype, nth(numpy_operations[i].dtypes, dtype - 1));
			tn_array *a = tn_ones(context_of(f), dtype, SHAPE(2, 2));
			if (!strcmp(operation, "matmul"))
				continue;
			tn_array *result = apply(operation, a);
			seen++;
			if (expected)
				assert_int_equal(tn_array_dtype(result), expected);
			else
				assert_kept(f, TN_DTYPE, "not defined for");
		}
	}
	assert_int_equal(seen, 27 * (TN_DTYPES - 1));
}

static void products_and_joins_of_two_dtypes_have_the_common_one(void **state)
{
	static const tn_dtype dtypes[] = {TN_BOOL, TN_I8,   TN_U16, TN_I32,
					  TN_U64,  TN_BF16, TN_F32, TN_F64};
	struct fixture *f = *state;
	for (size_t i = 0; i < 8; i++) {
		for (size_t j = 0; j < 8; j++) {
			tn_dtype common = tn_result_type(dtypes[i], dtypes[j]);
			int is_bool = common == TN_BOOL;
			tn_array *a = tn_ones(context_of(f), dtypes[i], SHAPE(2, 3));
			tn_array *b = tn_ones(context_of(f), dtypes[j], SHAPE(3, 1));
			tn_array *product = tn_matmul(a, b);
			assert_int_equal(tn_array_dtype(product), common);
			assert_elements(tn_astype(product, TN_F32), is_bool ? 1 : 3,
					is_bool ? 1 : 3);
			const tn_array *both[] = {tn_slice(a, 0, 0, 1, 1), tn_transpose(b, NULL)};
			tn_array *joined = tn_concatenate(2, both, 1);
			assert_int_equal(tn_array_dtype(joined), common);
			assert_shape(joined, 1, 6);
		}
	}
	tn_array *i = tn_ones(context_of(f), TN_I32, SHAPE(2, 2));
	tn_array *x = tn_full(context_of(f), TN_F32, SHAPE(2, 2), 0.5);
	tn_array *c = tn_ones(context_of(f), TN_F32, SHAPE(2, 2));
	assert_ok(tn_matmul_into(c, i, 0, x, 0, 2, 3));
	assert_elements(c, 5, 5, 5, 5);
	assert_status(tn_matmul_into(i, i, 0, x, 0, 1, 0), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "the result is f64, the output i32");
}

/* ---- u64 -------------------------------------------------------------------------------------*/

static tn_array *u64s(struct fixture *f, int64_t n, const uint64_t *values)
{
	return tn_from_host(context_of(f), TN_U64, 1, &n, values);
}

#define U64S(f, ...)                                                                               \
	u64s(f, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static void assert_u64s(const tn_array *array, int64_t n, const uint64_t *expected)
{
	uint64_t values[8];
	assert_non_null(array);
	assert_int_equal(tn_array_dtype(array), TN_U64);
	assert_int_equal(tn_array_size(array), n);
	assert_ok(tn_to_host(array, values, (size_t)n * sizeof(*values)));
	for (int64_t i = 0; i < n; i++)
		assert_int_equal(values[i], expected[i]);
}

#define ASSERT_U64S(array, ...)                                                                    \
	assert_u64s(array, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                   \
		    (uint64_t[]){__VA_ARGS__})

#define LARGE (UINT64_MAX - 15) /* 2^64 - 16 */

static void u64_has_values_above_those_of_i64(void **state)
{
	struct fixture *f = *state;
	tn_array *a = U64S(f, 1, LARGE, 7), *seven = U64S(f, 7);
	ASSERT_U64S(tn_max(a, TN_ALL_AXES, NULL, 0), LARGE);
	ASSERT_U64S(tn_min(a, TN_ALL_AXES, NULL, 0), 1);
	assert_elements(tn_astype(tn_argmax(a, 0, 0), TN_F32), 1);
	assert_elements(tn_astype(tn_argmin(a, 0, 0), TN_F32), 0);
	assert_elements(tn_mean(a, TN_ALL_AXES, NULL, 0), (1 + 0x1p64 + 7) / 3);
	assert_elements(tn_astype(a, TN_F64), 1, 0x1p64, 7);
	assert_elements(tn_astype(a, TN_F32), 1, 0x1p64, 7);
	ASSERT_U64S(tn_abs(a), 1, LARGE, 7);
	ASSERT_U64S(tn_relu(a), 1, LARGE, 7);
	ASSERT_U64S(tn_sign(a), 1, 1, 1);
	ASSERT_U64S(tn_maximum(a, seven), 7, LARGE, 7);
	ASSERT_U64S(tn_minimum(a, seven), 1, 7, 7);
	assert_elements(tn_less(a, seven), 1, 0, 0);
	assert_elements(tn_greater_equal(a, seven), 0, 1, 1);
	ASSERT_U64S(tn_sum(U64S(f, LARGE, 20), TN_ALL_AXES, NULL, 0), 4);
	ASSERT_U64S(tn_astype(tn_full(context_of(f), TN_F64, SHAPE(1), 0x1p63 + 2048), TN_U64),
		    (UINT64_C(1) << 63) + 2048);
	assert_elements(tn_divide(a, seven), 1.0 / 7, 0x1p64 / 7, 1);
}

/* Division, remainder, shifts and conversions differ between i64 and u64. */
static void programs_compute_in_u64(void **state)
{
	static const char *const names[] = {"x", "y"};
	struct fixture *f = *state;
	tn_array *x = U64S(f, LARGE, UINT64_MAX, 5, INT64_MAX);
	tn_array *y = U64S(f, 10, UINT64_MAX - 1, 0, UINT64_C(1) << 63);
	const tn_array *both[] = {x, y};
#define MAP(text) tn_map(text, 2, names, both, 0, NULL, NULL)
	ASSERT_U64S(MAP("z = x / y"), LARGE / 10, 1, 0, 0);
	ASSERT_U64S(MAP("z = x % y"), LARGE % 10, 1, 0, INT64_MAX);
	ASSERT_U64S(MAP("z = x >> 60"), 15, 15, 0, 7);
	ASSERT_U64S(MAP("z = x >> 0"), LARGE, UINT64_MAX, 5, INT64_MAX);
	ASSERT_U64S(MAP("z = x << 60"), 0, UINT64_C(15) << 60, UINT64_C(5) << 60,
		    UINT64_C(15) << 60);
	ASSERT_U64S(MAP("z = ~x"), 15, 0, UINT64_MAX - 5, UINT64_C(1) << 63);
	ASSERT_U64S(MAP("z = x ** 3"), (uint64_t)-4096, (uint64_t)-1, 125,
		    (uint64_t)INT64_MAX * INT64_MAX * INT64_MAX);
	ASSERT_U64S(MAP("z = x > y ? u64(-1.5) : u64(1e30)"), 0, 0, 0, UINT64_MAX);
	ASSERT_U64S(MAP("z = u64(f32(x) * 0.5)"), UINT64_C(1) << 63, UINT64_C(1) << 63, 2,
		    UINT64_C(1) << 62);
	assert_elements(MAP("z = f64(x)"), 0x1p64, 0x1p64, 5, 0x1p63);
	assert_elements(MAP("z = x && y"), 1, 1, 0, 1);
	/* Rounded once: half a unit of f32 above 2^63, and a bit more. */
	tn_array *halfway = U64S(f, (UINT64_C(1) << 63) + (UINT64_C(1) << 39),
				 (UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1,
				 (UINT64_C(3) << 39) + (UINT64_C(1) << 63));
	const tn_array *one[] = {halfway};
	assert_elements(tn_map("z = f32(x)", 1, names, one, 0, NULL, NULL), 0x1p63, 0x1p63 + 0x1p40,
			0x1p63 + 0x1p41);
#undef MAP
	assert_null(tn_map("z = x < -1", 1, names, one, 0, NULL, NULL));
	assert_kept(f, TN_DTYPE, "the literal -1 does not fit u64");
}

/* No dtype holds all values of both: NumPy compares them exactly. */
static void u64_compares_exactly_with_signed_integers(void **state)
{
	struct fixture *f = *state;
	tn_array *u = U64S(f, 0, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63);
	tn_array *i = tn_from_host(context_of(f), TN_I64, SHAPE(4),
				   ((int64_t[]){-1, -1, INT64_MAX, INT64_MAX}));
	assert_elements(tn_equal(u, i), 0, 0, 1, 0);
	assert_elements(tn_not_equal(i, u), 1, 1, 0, 1);
	assert_elements(tn_less(i, u), 1, 1, 0, 1);
	assert_elements(tn_less_equal(u, i), 0, 0, 1, 0);
	assert_elements(tn_greater(u, i), 1, 1, 0, 1);
	assert_elements(tn_greater_equal(i, u), 0, 0, 1, 0);
	assert_elements(tn_less(tn_full(context_of(f), TN_I8, SHAPE(1), -3), u), 1, 1, 1, 1);
}

/* ---- Integers --------------------------------------------------------------------------------*/

static void narrow_integers_wrap_in_their_own_width(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_full(context_of(f), TN_I8, SHAPE(1), 100);
	tn_array *b = tn_full(context_of(f), TN_U8, SHAPE(1), 200);
	assert_elements(tn_astype(tn_add(a, a), TN_F32), -56);
	assert_elements(tn_astype(tn_add(b, b), TN_F32), 144);
	assert_elements(tn_astype(tn_multiply(a, b), TN_F32), 20000);
	assert_elements(tn_astype(tn_negative(b), TN_F32), 56);
	assert_elements(tn_astype(tn_divide(a, b), TN_F32), 0.5);
}

static void powers_of_integers_are_integers(void **state)
{
	static const tn_dtype dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64,
					  TN_U8, TN_U16, TN_U32, TN_U64};
	struct fixture *f = *state;
	for (size_t d = 0; d < 8; d++) {
		int is_signed = !tn_is_unsigned(dtypes[d]);
		unsigned width = 8 * (unsigned)tn_dtype_size(dtypes[d]);
		uint64_t mask = UINT64_MAX >> (64 - width);
		for (int base = is_signed ? -3 : 0; base <= 7; base++) {
			for (int n = 0; n < 128; n += n < 12 ? 1 : 23) {
				uint64_t expected = 1, found = 0;
				for (int k = 0; k < n; k++)
					expected *= (uint64_t)(int64_t)base;
				tn_array *x = tn_full(context_of(f), dtypes[d], SHAPE(1), base);
				tn_array *y = tn_full(context_of(f), dtypes[d], SHAPE(1), n);
				tn_array *z = tn_power(x, y);
				assert_int_equal(tn_array_dtype(z), dtypes[d]);
				assert_ok(tn_to_host(z, &found, width / 8));
				assert_int_equal(found, expected & mask);
			}
		}
	}
	/* Beyond the low half of the exponent: 3^(2^40 + 5), by squaring. */
	uint64_t expected = 243, square = 3;
	for (int k = 0; k < 40; k++)
		square *= square;
	expected *= square;
	ASSERT_U64S(tn_power(U64S(f, 3), U64S(f, (UINT64_C(1) << 40) + 5)), expected);
	/* Exponents below 0: the quotient, truncated. */
	tn_array *x = tn_from_host(context_of(f), TN_I64, SHAPE(5), ((int64_t[]){1, -1, -1, 2, 0}));
	tn_array *y =
		tn_from_host(context_of(f), TN_I64, SHAPE(5), ((int64_t[]){-5, -5, -4, -1, -1}));
	assert_elements(tn_astype(tn_power(x, y), TN_F32), 1, -1, 1, 0, 0);
}

/* The _into forms store the result as its own dtype holds it. */
static void a_result_wraps_in_its_own_width_before_it_is_stored(void **state)
{
	static const struct {
		tn_dtype dtype, out;
		double value, stored;
	} cases[] = {
		{TN_U8, TN_F32, 255, 254},        {TN_U8, TN_I32, 255, 254},
		{TN_I8, TN_I64, 127, -2},         {TN_F16, TN_F64, 60000, INFINITY},
		{TN_U64, TN_F32, 0x1p62, 0x1p63}, {TN_I32, TN_I64, 0x1p30, -0x1p31},
		{TN_U8, TN_C64, 255, 254},        {TN_BOOL, TN_C64, 1, 1},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_array *a = tn_full(context_of(f), cases[i].dtype, SHAPE(1), cases[i].value);
		tn_array *out = tn_zeros(context_of(f), cases[i].out, SHAPE(1));
		assert_ok(tn_add_into(out, a, a));
		assert_elements(tn_astype(out, TN_F64), cases[i].stored);
	}
}

static void a_concatenation_has_one_dtype_in_any_order(void **state)
{
	static const tn_dtype orders[][3] = {{TN_I16, TN_U16, TN_F32},
					     {TN_F32, TN_I16, TN_U16},
					     {TN_U16, TN_F32, TN_I16},
					     {TN_I8, TN_U8, TN_F16}};
	struct fixture *f = *state;
	for (size_t i = 0; i < 4; i++) {
		const tn_array *arrays[3];
		for (int k = 0; k < 3; k++)
			arrays[k] = tn_ones(context_of(f), orders[i][k], SHAPE(1));
		assert_int_equal(tn_array_dtype(tn_concatenate(3, arrays, 0)),
				 i < 3 ? TN_F32 : TN_F16);
	}
}

static void a_map_gives_the_dtype_of_the_language(void **state)
{
	struct fixture *f = *state;
	const char *const names[] = {"x"};
	const tn_array *u[] = {U64S(f, 1)}, *b[] = {tn_ones(context_of(f), TN_U8, SHAPE(1))};
	assert_int_equal(tn_array_dtype(tn_map("z = i64(x)", 1, names, u, 0, NULL, NULL)), TN_I64);
	assert_int_equal(tn_array_dtype(tn_map("z = x + 1", 1, names, u, 0, NULL, NULL)), TN_U64);
	assert_int_equal(tn_array_dtype(tn_map("z = x + 1", 1, names, b, 0, NULL, NULL)), TN_U8);
	assert_int_equal(tn_array_dtype(tn_map("z = x / 2.0", 1, names, b, 0, NULL, NULL)), TN_F32);
}

/* The gradient of a sum is dy itself, in the dtype of each input. */
static void gradients_have_their_inputs_dtypes(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_ones(context_of(f), TN_F32, SHAPE(2));
	tn_array *b = tn_ones(context_of(f), TN_F64, SHAPE(2));
	tn_array *c = tn_ones(context_of(f), TN_F16, SHAPE(2));
	tn_tape *tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, a));
	assert_ok(tn_tape_watch(tape, b));
	assert_ok(tn_tape_watch(tape, c));
	tn_array *sum = tn_sum(tn_add(tn_add(a, b), c), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, sum, NULL));
	assert_int_equal(tn_array_dtype(tn_tape_gradient(tape, a)), TN_F32);
	assert_int_equal(tn_array_dtype(tn_tape_gradient(tape, b)), TN_F64);
	assert_int_equal(tn_array_dtype(tn_tape_gradient(tape, c)), TN_F16);
	tn_tape_end(tape);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(pairs_of_dtypes_give_numpys_result_type),
		TEST(operations_give_numpys_dtypes),
		TEST(products_and_joins_of_two_dtypes_have_the_common_one),
		TEST(u64_has_values_above_those_of_i64),
		TEST(programs_compute_in_u64),
		TEST(u64_compares_exactly_with_signed_integers),
		TEST(narrow_integers_wrap_in_their_own_width),
		TEST(powers_of_integers_are_integers),
		TEST(a_result_wraps_in_its_own_width_before_it_is_stored),
		TEST(a_concatenation_has_one_dtype_in_any_order),
		TEST(a_map_gives_the_dtype_of_the_language),
		TEST(gradients_have_their_inputs_dtypes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
