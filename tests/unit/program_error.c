/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Refused programs: status, position and text; limits; memory that runs out.
 */
#include "unit/program_fixture.h"

void *__real_tn_mem_alloc(size_t size);
void *__wrap_tn_mem_alloc(size_t size);

/* The number of allocations that still succeed; negative: all. */
static int allocations_left = -1;

void *__wrap_tn_mem_alloc(size_t size)
{
	if (allocations_left == 0)
		return NULL;
	if (allocations_left > 0)
		allocations_left--;
	return __real_tn_mem_alloc(size);
}

struct refusal {
	const char *text;
	tn_status status;
	const char *parts[3];
};

static void check_refusal(const struct refusal *refusal, const struct tn_program_names *names)
{
	tn_program *program = NULL;
	struct tn_error_info error;
	tn_status status = tn_program_parse(refusal->text, names, &program, &error);
	assert_null(program);
	if (status != refusal->status)
		fail_msg("%s: expected %s, found %s (%s)", refusal->text,
			 tn_status_name(refusal->status), tn_status_name(status), error.text);
	assert_int_equal(error.status, status);
	assert_string_equal(error.operation, "program_parse");
	for (int k = 0; k < 3 && refusal->parts[k]; k++)
		assert_contains(error.text, refusal->parts[k]);
	/* It is refused without an error struct, too. */
	assert_status(tn_program_parse(refusal->text, names, &program, NULL), status);
}

static void check_refusals(const struct refusal *refusals, size_t n)
{
	const struct tn_program_names names = fixture_names();
	for (size_t k = 0; k < n; k++)
		check_refusal(&refusals[k], &names);
}

#define N(array) (sizeof(array) / sizeof(array[0]))

static void mistakes_of_grammar_are_shown_at_their_place(void **state)
{
	(void)state;
	static const struct refusal cases[] = {
		{"", TN_FORMAT, {"line 1", "expected a statement"}},
		{"  \n ;; # nothing\n", TN_FORMAT, {"line 3", "found the end of the text"}},
		{"z = ",
		 TN_FORMAT,
		 {"line 1, column 5", "expected an operand", "the end of the text"}},
		{"z = x +", TN_FORMAT, {"column 8", "expected an operand"}},
		{"t = x\nz = t + * y", TN_FORMAT, {"line 2, column 9", "an operand, found '*'"}},
		{"z = (x + y", TN_FORMAT, {"column 11", "expected ')'", "the end of the text"}},
		{"z = x)", TN_FORMAT, {"column 6", "expected an operator, ';'", "found ')'"}},
		{"z = max(x, y", TN_FORMAT, {"column 13", "',', ')'"}},
		{"z = max(x,, y)", TN_FORMAT, {"column 11", "expected an operand, found ','"}},
		{"z = max(x)", TN_FORMAT, {"column 5", "'max' takes 2 arguments, found 1"}},
		{"z = exp()", TN_FORMAT, {"'exp' takes 1 arguments, found 0"}},
		{"z = max(x,y,x,y,x,y)", TN_FORMAT, {"column 19", "more than 5 arguments"}},
		{"z x", TN_FORMAT, {"column 3", "expected '=' after the name, found 'x'"}},
		{"z == x", TN_FORMAT, {"column 3", "expected '='"}},
		{"3 = x", TN_FORMAT, {"column 1", "expected a name to assign to, found '3'"}},
		{"z = x y", TN_FORMAT, {"column 7", "expected an operator", "found 'y'"}},
		{"z = x\n+ y", TN_FORMAT, {"line 2, column 1", "found '+'"}},
		{"z = b ? x", TN_FORMAT, {"column 10", "':' of the '?'"}},
		{"z = x < y < a", TN_FORMAT, {"column 11", "comparisons cannot be chained"}},
		{"z = x == y == b", TN_FORMAT, {"column 12", "cannot be chained"}},
		{"z = x $ y", TN_FORMAT, {"column 7", "'$' is not part of the language"}},
		{"z = x \xc3\xa4", TN_FORMAT, {"column 7", "the byte 0xc3"}},
		{"z = 1.0f", TN_FORMAT, {"column 5", "'1.0f' is not a number", "f32(1.0)"}},
		{"z = 0x", TN_FORMAT, {"column 5", "'0x' is not a number"}},
		{"z = 1e", TN_FORMAT, {"'1e' is not a number"}},
		{"z = 1.2.3", TN_FORMAT, {"'1.2.3' is not a number"}},
		{"z = 1e999", TN_FORMAT, {"'1e999' is too large for f64"}},
		{"z = 9223372036854775808", TN_FORMAT, {"is too large for i64"}},
		{"z = x /* and\n", TN_FORMAT, {"line 1, column 7", "never closed"}},
		{"x = y", TN_FORMAT, {"column 1", "'x' is an input"}},
		{"a += y", TN_FORMAT, {"column 1", "'a' is an operand (a scalar)"}},
		{"z = index(i)", TN_FORMAT, {"column 5", "0 to 15"}},
		{"z = index(16)", TN_FORMAT, {"index() takes the number of an axis"}},
		{"z = index(-1)", TN_FORMAT, {"index() takes"}},
	};
	check_refusals(cases, N(cases));
}

static void unknown_names_are_shown_with_the_nearest_known(void **state)
{
	(void)state;
	static const struct refusal cases[] = {
		{"z = q", TN_NOT_FOUND, {"line 1, column 5", "unknown name 'q'"}},
		{"total = x; z = totl + 1", TN_NOT_FOUND, {"column 16", "did you mean 'total'?"}},
		{"z = sigmod(x)", TN_NOT_FOUND, {"unknown function 'sigmod'", "'sigmoid'"}},
		{"z = x(y)", TN_NOT_FOUND, {"unknown function 'x'"}},
		{"z += 1", TN_NOT_FOUND, {"column 1", "unknown name 'z'"}},
		{"z = exp", TN_NOT_FOUND, {"unknown name 'exp'"}},
	};
	check_refusals(cases, N(cases));
}

static void types_that_do_not_fit_are_named(void **state)
{
	(void)state;
	static const struct refusal cases[] = {
		{"z = x & 1",
		 TN_DTYPE,
		 {"column 7", "'&' takes two integers or two booleans",
		  "found f32 and an integer literal"}},
		{"z = i & 3 == 3", TN_DTYPE, {"column 7", "found i32 and bool"}},
		{"z = i | b", TN_DTYPE, {"'|'", "i32 and bool"}},
		{"z = ~x", TN_DTYPE, {"column 5", "'~' takes integers or booleans, found f32"}},
		{"z = x << 1", TN_DTYPE, {"'<<' takes integers, found f32"}},
		{"z = i << 1.0", TN_DTYPE, {"'<<' takes integers"}},
		{"z = i + 3000000000", TN_DTYPE, {"column 7", "3000000000 does not fit i32"}},
		{"z = u + -1", TN_DTYPE, {"-1 does not fit u32"}},
		{"z = x * 1e300", TN_DTYPE, {"1e+300 does not fit f32"}},
		{"z = 1/2", TN_DTYPE, {"column 6", "do not divide evenly", "1.0/2"}},
		{"z = 1/0", TN_DTYPE, {"do not divide evenly"}},
		{"z = i ** j", TN_DTYPE, {"column 7", "constant exponent"}},
		{"z = 2 ** -1", TN_DTYPE, {"constant exponent of 0 or more"}},
		{"z = bitcast_i32(d)", TN_DTYPE, {"i32, u32 or f32, found f64"}},
		{"z = bitcast_f32(b)", TN_DTYPE, {"found bool"}},
		{"z = random(x, 0, 0)", TN_DTYPE, {"column 5", "stream and number, found f32"}},
		{"z = relu(1, 2)", TN_FORMAT, {"'relu' takes 1 arguments, found 2"}},
		{"z = clamp(u, -1, 1)", TN_DTYPE, {"line 1, column 5", "-1 does not fit u32"}},
		{"z = uniform(x, 0, 0)", TN_DTYPE, {"line 1, column 5"}},
	};
	check_refusals(cases, N(cases));
}

static void outputs_must_be_assigned(void **state)
{
	(void)state;
	const char *const outputs[] = {"p", "q"};
	struct tn_program_names names = fixture_names();
	names.n_outputs = 2;
	names.outputs = outputs;
	check_refusal(&(struct refusal){"p = x\n", TN_FORMAT, {"output 'q' is never assigned"}},
		      &names);
	check_refusal(&(struct refusal){"p = q + 1; q = x",
					TN_NOT_FOUND,
					{"column 5", "the output 'q' is read before"}},
		      &names);
}

static void names_are_checked(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		const char *part;
	} cases[] = {{"1x", "is not a name"},
		     {"", "is not a name"},
		     {"a b", "is not a name"},
		     {NULL, "is not a name"},
		     {"y", "the name 'y' is given twice"},
		     {"a_name_of_seventy_characters_is_longer_than_any_name_may_be_in_a_program",
		      "is not a name"}};
	for (size_t k = 0; k < N(cases); k++) {
		const char *const inputs[] = {"y", cases[k].name};
		const tn_dtype dtypes[] = {TN_F32, TN_F32};
		const struct tn_program_names names = {.struct_size = sizeof(names),
						       .n_inputs = 2,
						       .inputs = inputs,
						       .input_dtypes = dtypes};
		check_refusal(&(struct refusal){"z = y", TN_INVALID_ARGUMENT, {cases[k].part}},
			      &names);
	}
}

static void lists_and_dtypes_are_checked(void **state)
{
	(void)state;
	const char *const one[] = {"x"}, *const outputs[] = {"z"};
	const tn_dtype complex_type = TN_C64, f32 = TN_F32;
	struct tn_program_names names = {
		.struct_size = sizeof(names), .n_inputs = 1, .inputs = one};
	tn_program *program = NULL;
	check_refusal(&(struct refusal){"z = x", TN_INVALID_ARGUMENT, {"NULL"}}, &names);
	names.input_dtypes = &complex_type;
	check_refusal(&(struct refusal){"z = x", TN_DTYPE, {"input 'x' is c64"}}, &names);
	names.input_dtypes = &f32;
	names.n_outputs = 1;
	names.outputs = outputs;
	names.output_dtypes = &complex_type;
	check_refusal(&(struct refusal){"z = x", TN_DTYPE, {"output 'z' cannot be c64"}}, &names);
	names.n_inputs = 17;
	check_refusal(&(struct refusal){"z = x", TN_LIMIT, {"17 inputs are more than 16"}}, &names);
	names.n_inputs = 1;
	names.n_outputs = 9;
	check_refusal(&(struct refusal){"z = x", TN_LIMIT, {"9 outputs are more than 8"}}, &names);
	assert_status(tn_program_parse(NULL, &names, &program, NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_program_parse("z = 1", NULL, &program, NULL), TN_INVALID_ARGUMENT);
}

/* `count` copies of a piece between a head and a tail; owned. */
static char *repeated(const char *head, const char *piece, int count, const char *tail)
{
	size_t piece_length = strlen(piece), head_length = strlen(head);
	char *text = malloc(head_length + piece_length * (size_t)count + strlen(tail) + 1);
	memcpy(text, head, head_length);
	for (int k = 0; k < count; k++)
		memcpy(text + head_length + (size_t)k * piece_length, piece, piece_length);
	strcpy(text + head_length + (size_t)count * piece_length, tail);
	return text;
}

static void check_limit(char *text, const char *part)
{
	const struct tn_program_names names = fixture_names();
	check_refusal(&(struct refusal){text, TN_LIMIT, {part}}, &names);
	free(text);
}

static void limits_are_refused_by_name(void **state)
{
	(void)state;
	check_limit(repeated("z = ", "(", 65, "x"), "line 1, column 69: the expression is nested");
	check_limit(repeated("z = ", "-", 70000, "x"), "longer than 65536 bytes");
	check_limit(repeated("z = ", "-", 60000, "x"), "nested deeper than 64");
	check_limit(repeated("z = ", "x ? x : ", 4000, "x"), "nested deeper than 64");
	check_limit(repeated("z = ", "x ** ", 4000, "x"), "nested deeper than 64");
	check_limit(repeated("z = ", "relu(", 100, "x"), "nested deeper than 64");
	check_limit(repeated("z = x;", "z = z*z + x;", 150, ""), "301 instructions remain");
	check_limit(repeated("z = x;", "z = z*z + sin(z);", 2000, ""), "more than 4096 values");
}

/* Without growing nesting, length alone is not limited. */
static void long_texts_within_the_limits_are_taken(void **state)
{
	(void)state;
	char *texts[] = {repeated("z = ", "(", 60,
				  "x))))))))))))))))))))))))))))))))))))))))))"
				  "))))))))))))))))))"),
			 repeated("z = x", "-0*i", 10000, ""), repeated("", "\n", 60000, "z = x"),
			 repeated("z = x; ", "t = x + y; ", 5000, "z = t"),
			 repeated("z = x", " * y + x", 120, "")};
	for (size_t k = 0; k < N(texts); k++) {
		tn_program_destroy(fixture_program(texts[k]));
		free(texts[k]);
	}
}

static char *many_constants(int count)
{
	char *text = malloc((size_t)count * 24 + 16);
	size_t length = (size_t)sprintf(text, "z = x");
	for (int k = 0; k < count; k++)
		length += (size_t)sprintf(text + length, "+ %d.5", k);
	return text;
}

static void constants_are_limited(void **state)
{
	(void)state;
	char *text = many_constants(64);
	tn_program_destroy(fixture_program(text));
	free(text);
	check_limit(many_constants(65), "more than 64 different constants");
	/* 512 names: 10 of the caller, 502 locals. */
	text = malloc(600 * 16);
	size_t length = 0;
	for (int k = 0; k < 600; k++)
		length += (size_t)sprintf(text + length, "t%d = x;", k);
	check_limit(text, "'t502' is one name too many");
}

/* Every allocation of parsing and differentiating fails once; nothing leaks and no program is
 * created. */
static void memory_that_runs_out_is_reported(void **state)
{
	(void)state;
	struct tn_program_names names = fixture_names();
	names.n_inputs = 2;
	const struct tn_program_wants wants = {
		.struct_size = sizeof(wants), .n_inputs = 1, .inputs = (const uint32_t[]){0}};
	tn_program *program = NULL, *gradient = NULL;
	struct tn_error_info error;
	int failures = 0;
	for (int n = 0; !gradient; n++) {
		tn_program_destroy(program);
		program = NULL;
		allocations_left = n;
		tn_status status = tn_program_parse("z = x*y", &names, &program, &error);
		if (!status)
			status = tn_program_differentiate(program, &wants, &gradient, &error);
		allocations_left = -1;
		if (!status)
			break;
		assert_int_equal(status, TN_OUT_OF_MEMORY);
		assert_contains(error.text, "no host memory for");
		failures++;
	}
	assert_true(failures >= 7);
	assert_non_null(gradient);
	tn_program_destroy(program);
	tn_program_destroy(gradient);
}

static void older_callers_give_shorter_structs(void **state)
{
	(void)state;
	const char *const inputs[] = {"x"};
	const tn_dtype f32 = TN_F32;
	/* Without the members from `scalars` on. */
	const struct tn_program_names names = {.struct_size =
						       offsetof(struct tn_program_names, scalars),
					       .n_inputs = 1,
					       .inputs = inputs,
					       .input_dtypes = &f32};
	tn_program_destroy(parse_or_fail("z = x", &names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_of_grammar_are_shown_at_their_place),
		cmocka_unit_test(unknown_names_are_shown_with_the_nearest_known),
		cmocka_unit_test(types_that_do_not_fit_are_named),
		cmocka_unit_test(outputs_must_be_assigned),
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(lists_and_dtypes_are_checked),
		cmocka_unit_test(limits_are_refused_by_name),
		cmocka_unit_test(long_texts_within_the_limits_are_taken),
		cmocka_unit_test(constants_are_limited),
		cmocka_unit_test(memory_that_runs_out_is_reported),
		cmocka_unit_test(older_callers_give_shorter_structs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
