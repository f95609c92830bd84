/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The language of element programs: what every form means, and the examples of its page.
 */
#include <locale.h>

#include "unit/program_fixture.h"

static const struct fixture_values values = {.x = 2.5,
					     .y = -4,
					     .d = 0.1,
					     .i = 7,
					     .j = -2,
					     .u = 4000000000.0,
					     .l = 10000000000.0,
					     .b = 1,
					     .a = 3,
					     .s = 1234};

struct expectation {
	const char *text;
	tn_dtype dtype;
	double value;
};

static void check_all(const struct expectation *cases, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		tn_dtype dtype;
		uint64_t bits = run_text(cases[k].text, values, &dtype);
		double found = number_of_bits(dtype, bits);
		int same = found == cases[k].value || (isnan(found) && isnan(cases[k].value));
		if (dtype == cases[k].dtype && same)
			continue;
		print_error("%s: expected %s %.17g, found %s %.17g\n", cases[k].text,
			    tn_dtype_name(cases[k].dtype), cases[k].value, tn_dtype_name(dtype),
			    found);
		fail();
	}
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(cases[0]))

static void operators_bind_as_in_c(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{"z = 2 + 3 * 4", TN_I32, 14},
		{"z = (2 + 3) * 4", TN_I32, 20},
		{"z = i - j - 1", TN_I32, 8},
		{"z = x / y / 2", TN_F32, -0.3125},
		{"z = -x ** 2", TN_F32, -6.25},
		{"z = 2 ** 3 ** 2", TN_I32, 512},
		{"z = x ** -1", TN_F32, (double)(1 / 2.5f)},
		{"z = 1 << 2 + 1", TN_I32, 8},
		{"z = 1 | 6 & 2 ^ 8", TN_I32, 11},
		{"z = x < 3 && y < 0 || false", TN_BOOL, 1},
		{"z = false && false || true", TN_BOOL, 1},
		{"z = !b", TN_BOOL, 0},
		{"z = - - i", TN_I32, 7},
		{"z = ~i", TN_I32, -8},
		{"z = x > 0 ? y > 0 ? 1 : 2 : 3", TN_I32, 2},
		{"z = x < 0 ? 1 : y > 0 ? 2 : 3", TN_I32, 3},
		{"z = x < y == false", TN_BOOL, 1},
		{"z = +x", TN_F32, 2.5},
		{"z = i % j", TN_I32, 1},
	};
	CHECK_ALL(cases);
}

static void statements_run_in_order(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{"t = x - y; z = t*t", TN_F32, 42.25},
		{"t = x\nt = t * 2\nz = t + 1", TN_F32, 6},
		{"t = i; t += 3; t *= 2; t -= 1; t /= 3; t %= 4; z = t", TN_I32, 2},
		{"t = i; t <<= 2; t |= 1; t &= 13; t ^= 6; t >>= 1; z = t", TN_I32, 5},
		{";;\n\n z = x;\n;", TN_F32, 2.5},
		{"z = x +\n y", TN_F32, -1.5},
		{"z = (x\n + y\n)", TN_F32, -1.5},
		{"z =\n max(x,\n y)", TN_F32, 2.5},
		{"z = x ? \n y :\n 1", TN_F32, -4},
		{"# all\nz = x // one\n", TN_F32, 2.5},
		{"z = /* a\n comment */ x", TN_F32, 2.5},
		{"z = x # last", TN_F32, 2.5},
		{"z = x\r\n", TN_F32, 2.5},
		{"x1 = x; _z9 = x1", TN_F32, 2.5},
	};
	CHECK_ALL(cases);
}

static void numbers_are_read_exactly(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{"z = 0.1", TN_F32, (double)0.1f},
		{"z = d * 0 + 0.1", TN_F64, 0.1},
		{"z = .5", TN_F32, 0.5},
		{"z = 5.", TN_F32, 5},
		{"z = 1e3", TN_F32, 1000},
		{"z = 1E-3", TN_F32, (double)1e-3f},
		{"z = 0x1p-24", TN_F32, 0x1p-24},
		{"z = 0x1.8p1", TN_F32, 3},
		{"z = 0xff", TN_I32, 255},
		{"z = 0XfF", TN_I32, 255},
		{"z = 010", TN_I32, 10},
		{"z = 2147483647", TN_I32, 2147483647},
		{"z = 2147483648", TN_I64, 2147483648.0},
		{"z = 9223372036854774784", TN_I64, 9223372036854774784.0},
		{"z = 0xFFFFFFFFFFFFFFFF", TN_I32, -1},
		{"z = u - 0xFFFFFFFF", TN_U32, 4000000001.0},
		{"z = f64(0.1)", TN_F64, 0.1},
		{"z = pi", TN_F32, (double)3.14159265358979323846f},
		{"z = f64(pi)", TN_F64, 3.14159265358979323846},
		{"z = d*0 + e", TN_F64, 2.71828182845904523536},
		{"z = inf", TN_F32, INFINITY},
		{"z = -inf", TN_F32, -INFINITY},
		{"z = nan", TN_F32, NAN},
		{"e = 2; z = e", TN_I32, 2},
		{"z = true", TN_BOOL, 1},
	};
	CHECK_ALL(cases);
}

/* The table of tenon-program(7). */
static void types_meet_by_the_table(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{"z = b + b", TN_I32, 2},
		{"z = b + i", TN_I32, 8},
		{"z = b + u", TN_U32, 4000000001.0},
		{"z = b + l", TN_I64, 10000000001.0},
		{"z = b + x", TN_F32, 3.5},
		{"z = b + d", TN_F64, 1.1},
		{"z = i + u", TN_I64, 4000000007.0},
		{"z = i + l", TN_I64, 10000000007.0},
		{"z = u + l", TN_I64, 14000000000.0},
		{"z = i + x", TN_F32, 9.5},
		{"z = u + x", TN_F32, 4000000000.0},
		{"z = l + x", TN_F32, 1e10},
		{"z = i + d", TN_F64, 7.1},
		{"z = x + d", TN_F64, 2.6},
		{"z = i + 1", TN_I32, 8},
		{"z = u + 1", TN_U32, 4000000001.0},
		{"z = l + 1", TN_I64, 10000000001.0},
		{"z = b + 1", TN_I32, 2},
		{"z = x + 1", TN_F32, 3.5},
		{"z = d + 1", TN_F64, 1.1},
		{"z = i * 0.5", TN_F32, 3.5},
		{"z = l * 0.5", TN_F32, 5e9},
		{"z = d * 0.5", TN_F64, 0.05},
		{"z = i / 2", TN_I32, 3},
		{"z = 7.0 / 2", TN_F32, 3.5},
		{"z = 8 / 2", TN_I32, 4},
		{"z = sqrt(i + 2)", TN_F32, 3},
		{"z = sqrt(d * 0 + 9)", TN_F64, 3},
		{"z = floor(i)", TN_I32, 7},
		{"z = -b", TN_I32, -1},
		{"z = abs(b)", TN_I32, 1},
		{"z = b ? i : l", TN_I64, 7},
		{"z = b ? 1 : 0.5", TN_F32, 1},
		{"z = b ? x : 1", TN_F32, 2.5},
		{"z = i && x", TN_BOOL, 1},
		{"z = !i", TN_BOOL, 0},
		{"z = b & !b", TN_BOOL, 0},
		{"z = i << (l + 33)", TN_I32, 14}, /* 10^10 is a multiple of 32 */
		{"c = 0.1; z = d*0 + c", TN_F64, 0.1},
		{"z = min(1, 2) * d", TN_F64, 0.1},
		{"z = a * x", TN_F32, 7.5},
		{"z = s", TN_I64, 1234},
	};
	CHECK_ALL(cases);
}

static void functions_do_what_they_say(void **state)
{
	(void)state;
	static const struct expectation cases[] = {
		{"z = clamp(x, 0, 1)", TN_F32, 1},
		{"z = clamp(y, 0, 1)", TN_F32, 0},
		{"z = clamp(nan * x, 0, 1)", TN_F32, NAN},
		{"z = clamp(x, 3, 1)", TN_F32, 1}, /* low above high: high, as PyTorch */
		{"z = clamp(i, 0, 5)", TN_I32, 5},
		{"z = relu(y)", TN_F32, 0},
		{"z = relu(nan * x)", TN_F32, NAN},
		{"z = leaky_relu(y, 0.5)", TN_F32, -2},
		{"z = square(x)", TN_F32, 6.25},
		{"z = reciprocal(y)", TN_F32, -0.25},
		{"z = lerp(x, y, 0.5)", TN_F32, -0.75},
		{"z = isnan(x - x)", TN_BOOL, 0},
		{"z = isnan(x * nan)", TN_BOOL, 1},
		{"z = isinf(x / 0)", TN_BOOL, 1},
		{"z = isfinite(x)", TN_BOOL, 1},
		{"z = isfinite(-inf * x)", TN_BOOL, 0},
		{"z = softplus(x * 0 + 200)", TN_F32, 200},
		{"z = where(b, x, y)", TN_F32, 2.5},
		{"z = select(b, x, y)", TN_F32, 2.5},
		{"z = fma(x, y, a)", TN_F32, -7},
		{"z = fma(i, j, 1)", TN_I32, -13},
		{"z = pow(i, 3)", TN_I32, 343},
		{"z = pow(x, 3)", TN_F32, 15.625},
		{"z = index(0) + 10*index(1) + 100*index(2)", TN_I64, 753},
		{"z = element()", TN_I64, 42},
		{"z = bitcast_u32(x)", TN_U32, 0x40200000},
		{"z = bitcast_f32(0x40200000)", TN_F32, 2.5},
		{"z = bitcast_i32(-1.0)", TN_I32, -1082130432.0},
		{"z = rem(x, 2)", TN_F32, 0.5},
		{"z = i32(x)", TN_I32, 2},
		{"z = bool(x)", TN_BOOL, 1},
		{"z = elu(y * inf, 2)", TN_F32, -2},
		{"z = copysign(0.1, d)", TN_F64, 0.1}, /* a literal takes the other type */
		{"z = copysign(0.1, -d) * 3", TN_F64, -3 * 0.1},
	};
	CHECK_ALL(cases);
}

static void an_output_may_have_an_inputs_name(void **state)
{
	(void)state;
	const char *const names_in[] = {"p", "g"}, *const names_out[] = {"p"};
	const tn_dtype dtypes[] = {TN_F32, TN_F32};
	struct tn_program_names names = {.struct_size = sizeof(names),
					 .n_inputs = 2,
					 .inputs = names_in,
					 .input_dtypes = dtypes,
					 .n_outputs = 1,
					 .outputs = names_out};
	tn_program *program = parse_or_fail("p = p - 0.5*g; p -= 1", &names);
	uint64_t inputs[] = {tn_bits_of_f32(10), tn_bits_of_f32(4)}, output;
	tn_evaluate_program(program, inputs, NULL, NULL, 0, &output);
	assert_close(tn_f32_of_bits(output), 7, 0);
	tn_program_destroy(program);
}

static void narrow_dtypes_compute_in_wide_ones(void **state)
{
	(void)state;
	static const struct {
		tn_dtype storage, compute;
	} cases[] = {{TN_BOOL, TN_BOOL}, {TN_I8, TN_I32},  {TN_I16, TN_I32},  {TN_I32, TN_I32},
		     {TN_I64, TN_I64},   {TN_U8, TN_I32},  {TN_U16, TN_I32},  {TN_U32, TN_U32},
		     {TN_U64, TN_I64},   {TN_F16, TN_F32}, {TN_BF16, TN_F32}, {TN_F32, TN_F32},
		     {TN_F64, TN_F64}};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const char *const names_in[] = {"x"};
		struct tn_program_names names = {.struct_size = sizeof(names),
						 .n_inputs = 1,
						 .inputs = names_in,
						 .input_dtypes = &cases[k].storage};
		tn_program *program = parse_or_fail("z = x", &names);
		assert_int_equal(tn_program_input_dtype(program, 0), cases[k].compute);
		tn_program_destroy(program);
	}
}

static void outputs_take_the_dtype_that_is_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		tn_dtype wanted, found;
	} cases[] = {
		{"z = x", TN_F64, TN_F64}, {"z = x", TN_I32, TN_I32}, {"z = x > 0", TN_F32, TN_F32},
		{"z = 1", TN_F32, TN_F32}, {"z = 1", TN_I64, TN_I64}, {"z = x", TN_U8, TN_F32},
		{"z = i", TN_U8, TN_I32},  {"z = x", TN_F16, TN_F32}, {"z = d", TN_F16, TN_F64},
		{"z = 1", TN_F16, TN_F32}, {"z = x", 0, TN_F32},
	};
	const char *const outputs[] = {"z"};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct tn_program_names names = fixture_names();
		names.n_outputs = 1;
		names.outputs = outputs;
		names.output_dtypes = &cases[k].wanted;
		tn_program *program = parse_or_fail(cases[k].text, &names);
		assert_int_equal(tn_program_output_dtype(program, 0), cases[k].found);
		assert_int_equal(tn_program_output_dtype(program, 1), 0);
		tn_program_destroy(program);
	}
}

static void scalars_without_dtype_follow_the_inputs(void **state)
{
	(void)state;
	const char *const names_in[] = {"x"}, *const scalars[] = {"a"};
	const tn_dtype f32 = TN_F32, f64 = TN_F64, none = 0;
	struct tn_program_names names = {.struct_size = sizeof(names),
					 .n_inputs = 1,
					 .inputs = names_in,
					 .input_dtypes = &f32,
					 .n_scalars = 1,
					 .scalars = scalars,
					 .scalar_dtypes = &none};
	tn_program *program = parse_or_fail("z = a*x", &names);
	assert_int_equal(tn_program_scalar_dtype(program, 0), TN_F32);
	tn_program_destroy(program);
	names.input_dtypes = &f64;
	program = parse_or_fail("z = a*x", &names);
	assert_int_equal(tn_program_scalar_dtype(program, 0), TN_F64);
	tn_program_destroy(program);
}

/* In a locale whose decimal point is a comma, texts and printed numbers keep the point. */
static void the_locale_changes_nothing(void **state)
{
	(void)state;
	static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
	char text[512];
	size_t k = 0;
	while (k < 4 && !setlocale(LC_ALL, locales[k]))
		k++;
	if (k == 4)
		skip();
	tn_program *program = fixture_program("z = x * 1.5");
	tn_program_text(program, text, sizeof(text));
	setlocale(LC_ALL, "C");
	assert_contains(text, "constant 1.5");
	tn_program_destroy(program);
}

/* The next program of the manual, from `*place` on, into text; 0 when there is none. */
static int next_example(const char **place, char *text, size_t size)
{
	static const char mark[] = ".\\\" program\n.Bd -literal -offset indent\n";
	const char *start = strstr(*place, mark), *end;
	if (!start)
		return 0;
	start += strlen(mark);
	end = strstr(start, ".Ed");
	assert_non_null(end);
	assert_true((size_t)(end - start) < size);
	memcpy(text, start, (size_t)(end - start));
	text[end - start] = '\0';
	*place = end;
	return 1;
}

/* A file of the source tree as a string.  Skips the test without the tree. */
static void read_source(const char *name, char *text, size_t size)
{
	char path[4096];
	const char *source = getenv("TENON_SOURCE");
	snprintf(path, sizeof(path), "%s/%s", source ? source : ".", name);
	FILE *file = fopen(path, "r");
	if (!file)
		skip();
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

static void the_programs_of_the_manual_are_programs(void **state)
{
	(void)state;
	static const char *const inputs[] = {"x", "y", "g", "m", "v", "p"};
	static const tn_dtype dtypes[] = {TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32};
	static const char *const scalars[] = {"a",  "seed", "step", "keep", "scale",
					      "b1", "b2",   "lr",   "eps",  "wd"};
	static const tn_dtype scalar_dtypes[] = {0, TN_I64, TN_I64, TN_U32, 0, 0, 0, 0, 0, 0};
	static char page[65536], text[1024];
	struct tn_program_names names = {.struct_size = sizeof(names),
					 .n_inputs = 3,
					 .inputs = inputs,
					 .input_dtypes = dtypes,
					 .n_scalars = 10,
					 .scalars = scalars,
					 .scalar_dtypes = scalar_dtypes};
	int n = 0;
	read_source("man/tenon-program.7", page, sizeof(page));
	for (const char *place = page; next_example(&place, text, sizeof(text)); n++) {
		/* The step of the optimizer updates three of its inputs, its outputs. */
		int in_place = strstr(text, "sqrt(v)") != NULL;
		names.n_inputs = in_place ? 6 : 3;
		names.n_outputs = in_place ? 3 : 0;
		names.outputs = inputs + 3;
		tn_program_destroy(parse_or_fail(text, &names));
	}
	assert_in_range(n, 6, 20);

	/* In the comment at the head of the header: a program, two blanks, and what it is. */
	static const char mark[] = "\n *     ";
	read_source("include/tenon/program.h", page, sizeof(page));
	*strstr(page, " */") = '\0';
	names.n_inputs = 3;
	names.n_outputs = 0;
	n = 0;
	for (char *line = page; (line = strstr(line, mark)) != NULL; n++) {
		line += strlen(mark);
		size_t length = strcspn(line, "\n");
		snprintf(text, sizeof(text), "%.*s", (int)length, line);
		if (strstr(text, "  "))
			*strstr(text, "  ") = '\0';
		tn_program_destroy(parse_or_fail(text, &names));
	}
	assert_in_range(n, 3, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_bind_as_in_c),
		cmocka_unit_test(statements_run_in_order),
		cmocka_unit_test(numbers_are_read_exactly),
		cmocka_unit_test(types_meet_by_the_table),
		cmocka_unit_test(functions_do_what_they_say),
		cmocka_unit_test(an_output_may_have_an_inputs_name),
		cmocka_unit_test(narrow_dtypes_compute_in_wide_ones),
		cmocka_unit_test(outputs_take_the_dtype_that_is_asked_for),
		cmocka_unit_test(scalars_without_dtype_follow_the_inputs),
		cmocka_unit_test(the_locale_changes_nothing),
		cmocka_unit_test(the_programs_of_the_manual_are_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
