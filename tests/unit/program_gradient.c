/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Derivatives: against PyTorch's recorded ones at kinks and special values, and against central
 * differences for whole formulas.
 */
#include "unit/program_fixture.h"

static const char *const inputs[] = {"x", "y", "k"};
static const tn_dtype dtypes[] = {TN_F64, TN_F64, TN_I32};
static const char *const scalars[] = {"a", "n"};
static const tn_dtype scalar_dtypes[] = {TN_F64, TN_I32};
static const uint32_t first_two[] = {0, 1};
static const uint32_t first[] = {0};

static struct tn_program_names names(void)
{
	return (struct tn_program_names){.struct_size = sizeof(struct tn_program_names),
					 .n_inputs = 3,
					 .inputs = inputs,
					 .input_dtypes = dtypes,
					 .n_scalars = 2,
					 .scalars = scalars,
					 .scalar_dtypes = scalar_dtypes};
}

/* The program of the gradients of x, y and a. */
static tn_program *differentiate(const tn_program *program)
{
	const struct tn_program_wants wants = {.struct_size = sizeof(wants),
					       .n_inputs = 2,
					       .inputs = first_two,
					       .n_scalars = 1,
					       .scalars = first};
	struct tn_error_info error;
	tn_program *gradient = NULL;
	if (tn_program_differentiate(program, &wants, &gradient, &error))
		fail_msg("%s", error.text);
	assert_ok(tn_program_check(gradient, TN_OP_COUNT, TN_ALL_DTYPES, "test", NULL));
	return gradient;
}

/* x, y, k and upstream gradients for up to two outputs; a and n. */
static void evaluate(const tn_program *program, double x, double y, double a, const double *dz,
		     double *outputs)
{
	uint64_t bits[TN_PROGRAM_MAX_INPUTS] = {tn_bits_of_f64(x), tn_bits_of_f64(y), 3};
	const uint64_t scalar_bits[] = {tn_bits_of_f64(a), 4};
	const int64_t index[TN_MAX_RANK] = {2, 5};
	uint64_t results[TN_PROGRAM_MAX_OUTPUTS];
	for (uint32_t j = 0; dz && 3 + j < program->n_inputs; j++)
		bits[3 + j] = bits_of_number(tn_program_input_dtype(program, 3 + j), dz[j]);
	tn_evaluate_program(program, bits, scalar_bits, index, 9, results);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		outputs[j] = number_of_bits(tn_program_output_dtype(program, j), results[j]);
}

struct recorded {
	const char *text;
	double x, y, dx, dy;
};

static const struct recorded recorded[] = {
#include "parity/program_gradients.h"
};

/* Equal, or within 1e-9 of the larger of 1 and the value: the formulas differ in their last bits,
 * and PyTorch's softplus is x above 20. */
static int is_close(double found, double expected)
{
	if (found == expected || (isnan(found) && isnan(expected)))
		return 1;
	return fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected));
}

static void derivatives_are_pytorchs_at_kinks_too(void **state)
{
	(void)state;
	int failures = 0;
	for (size_t k = 0; k < sizeof(recorded) / sizeof(recorded[0]); k++) {
		const struct recorded *r = &recorded[k];
		const struct tn_program_names n = names();
		double found[3];
		tn_program *program = parse_or_fail(r->text, &n);
		tn_program *gradient = differentiate(program);
		evaluate(gradient, r->x, r->y, 0, (const double[]){1}, found);
		if (!is_close(found[0], r->dx) || !is_close(found[1], r->dy)) {
			print_error(
				"%s at (%g, %g): expected (%.12g, %.12g), found (%.12g, %.12g)\n",
				r->text, r->x, r->y, r->dx, r->dy, found[0], found[1]);
			failures++;
		}
		tn_program_destroy(program);
		tn_program_destroy(gradient);
	}
	assert_int_equal(failures, 0);
}

/* dz/dv by central differences: truncation h^2 f'''/6 and rounding eps f / h are both near 1e-9 for
 * h = 1e-5 and values near 1; 1e-7 leaves room for third derivatives. */
static void check_differences(const char *text, double x, double y, double a, const double *dz,
			      uint32_t n_outputs)
{
	const double h = 1e-5;
	const struct tn_program_names n = names();
	tn_program *program = parse_or_fail(text, &n);
	tn_program *gradient = differentiate(program);
	double found[3], up[4], down[4];
	evaluate(gradient, x, y, a, dz, found);
	for (int v = 0; v < 3; v++) {
		double expected = 0;
		evaluate(program, x + h * (v == 0), y + h * (v == 1), a + h * (v == 2), NULL, up);
		evaluate(program, x - h * (v == 0), y - h * (v == 1), a - h * (v == 2), NULL, down);
		for (uint32_t j = 0; j < n_outputs; j++)
			expected += dz[j] * (up[j] - down[j]) / (2 * h);
		if (fabs(found[v] - expected) > 1e-7 * fmax(1, fabs(expected)))
			fail_msg("%s: gradient %d at (%g, %g, %g): expected %.12g, found %.12g",
				 text, v, x, y, a, expected, found[v]);
	}
	tn_program_destroy(program);
	tn_program_destroy(gradient);
}

static void derivatives_are_limits_of_differences(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"z = x*y + a*x",
		"t = sin(x) * exp(y); z = t*t / (1 + abs(a))",
		"z = tanh(a*x + y) * sigmoid(x*y)",
		"z = x > y ? x*x*a : y*y + a",
		"z = sqrt(x*x + y*y + a*a)",
		"z = atan2(x, y) + pow(x*x + 1, y) * log(2 + a*a)",
		"z = fma(x, y, a) % 7",
		"z = mul_rounded(x, y) + mul_rounded(a, a)",
		"z = gelu(x) + mish(y) - gelu_tanh(a) + softplus(x*y)",
		"z = erf(x) * expm1(y) + log1p(a*a) + exp2(x - y)",
		"z = log2(3 + x*x) + rsqrt(1 + y*y) + asin(tanh(x)) * acos(tanh(y))",
		"z = sinh(x) / cosh(y) + tan(a / 4) + atan(x*y)",
		"z = max(x, y) * min(x, a) + lerp(x, y, a)",
		"z = floor(x) * y + round(y) * x + sign(a) * x + trunc(a)",
		"z = k * x + n * y + index(1) * a + element() * x",
		"z = x * (normal(n, 2, element(), y, a) + uniform(n, 1, 5))",
		"z = i32(x) * y + f64(bool(y)) * x",
		"z = normal(1, 2, element(), x, y)",
		"z = 1",
		"z = k",
	};
	static const double points[][3] = {{0.7, 1.3, 0.4}, {-1.2, 0.6, -0.9}, {0.3, -0.8, 1.7}};
	const double dz[] = {1.5};
	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		for (int p = 0; p < 3; p++)
			check_differences(texts[t], points[p][0], points[p][1], points[p][2], dz,
					  1);
	}
}

static void gradients_of_several_outputs_add_up(void **state)
{
	(void)state;
	const char *const outputs[] = {"p", "q", "r"};
	const double dz[] = {1.5, -0.5, 2};
	struct tn_program_names n = names();
	n.n_outputs = 3;
	n.outputs = outputs;
	tn_program *program = parse_or_fail("p = x*y; q = x > 0; r = p*a + x", &n);
	tn_program *gradient = differentiate(program);
	double found[3];
	assert_int_equal(gradient->n_inputs, 6);
	/* The boolean output's upstream gradient exists but is not read. */
	assert_int_equal(tn_program_input_dtype(gradient, 4), 0);
	evaluate(gradient, 2, 3, 4, dz, found);
	assert_close(found[0], 1.5 * 3 + 2 * (4 * 3 + 1), 0);
	assert_close(found[1], 1.5 * 2 + 2 * 4 * 2, 0);
	assert_close(found[2], 2 * 6, 0);
	tn_program_destroy(program);
	tn_program_destroy(gradient);
}

static void mixed_types_give_gradients_of_the_inputs_types(void **state)
{
	(void)state;
	const struct tn_program_wants wants = {
		.struct_size = sizeof(wants), .n_inputs = 1, .inputs = (const uint32_t[]){1}};
	const char *const few[] = {"x", "y", "d"};
	const tn_dtype few_dtypes[] = {TN_F32, TN_F16, TN_F64};
	struct tn_program_names n = {
		.struct_size = sizeof(n), .n_inputs = 3, .inputs = few, .input_dtypes = few_dtypes};
	tn_program *program = parse_or_fail("z = x * y + d", &n), *gradient = NULL;
	assert_ok(tn_program_differentiate(program, &wants, &gradient, NULL));
	assert_int_equal(tn_program_output_dtype(gradient, 0), TN_F32);
	assert_int_equal(tn_program_input_dtype(gradient, 3), TN_F64);
	/* dz x, in f32: f16 would lose its last bits, and f64 have those of dz. */
	const float x = 1 + 0x1p-20f;
	const double dz = 3 + 0x1p-40;
	const uint64_t bits[] = {bits_of_number(TN_F32, (double)x), bits_of_number(TN_F16, 7), 0,
				 tn_bits_of_f64(dz)};
	uint64_t found;
	tn_evaluate_program(gradient, bits, NULL, (const int64_t[TN_MAX_RANK]){0}, 0, &found);
	assert_true(number_of_bits(TN_F32, found) == (double)(3 * x));
	tn_program_destroy(gradient);
	tn_program_destroy(program);
}

/* Values not needed by the gradient are not read: the tape need not keep them. */
static void unneeded_inputs_are_not_read(void **state)
{
	(void)state;
	const struct tn_program_names n = names();
	tn_program *program = parse_or_fail("z = x + y", &n);
	tn_program *gradient = differentiate(program);
	assert_int_equal(tn_program_input_dtype(gradient, 0), 0);
	assert_int_equal(tn_program_input_dtype(gradient, 1), 0);
	assert_int_equal(tn_program_input_dtype(gradient, 3), TN_F64);
	tn_program_destroy(gradient);
	tn_program_destroy(program);
}

static void check_refusal(const char *text, const struct tn_program_wants *wants, tn_status status,
			  const char *part)
{
	const struct tn_program_names n = names();
	struct tn_error_info error;
	tn_program *program = parse_or_fail(text, &n), *gradient = NULL;
	assert_status(tn_program_differentiate(program, wants, &gradient, &error), status);
	assert_contains(error.text, part);
	assert_null(gradient);
	tn_program_destroy(program);
}

static void impossible_gradients_are_refused(void **state)
{
	(void)state;
	const uint32_t nine[TN_PROGRAM_MAX_OUTPUTS + 1] = {0}, third[] = {2}, ninth[] = {9};
	struct tn_program_wants wants = {.struct_size = sizeof(wants)};
	check_refusal("z = x", &wants, TN_INVALID_ARGUMENT, "no gradient is requested");
	wants.n_inputs = TN_PROGRAM_MAX_OUTPUTS + 1;
	wants.inputs = nine;
	check_refusal("z = x", &wants, TN_LIMIT, "at most 8");
	wants.n_inputs = 1;
	wants.inputs = third;
	check_refusal("z = x * k", &wants, TN_DTYPE, "input 2 is requested, which is i32");
	wants.inputs = ninth;
	check_refusal("z = x", &wants, TN_INVALID_ARGUMENT, "input 9");
}

static void too_many_inputs_are_a_limit(void **state)
{
	(void)state;
	const char *const sixteen[] = {"a", "b", "c", "d", "e", "f", "g", "h",
				       "i", "j", "k", "l", "m", "n", "o", "p"};
	const tn_dtype f32[] = {TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32,
				TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32, TN_F32};
	const struct tn_program_wants wants = {
		.struct_size = sizeof(wants), .n_inputs = 1, .inputs = first};
	struct tn_program_names n = {
		.struct_size = sizeof(n), .n_inputs = 16, .inputs = sixteen, .input_dtypes = f32};
	struct tn_error_info error;
	tn_program *program = parse_or_fail("z = a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p", &n);
	tn_program *gradient = NULL;
	assert_status(tn_program_differentiate(program, &wants, &gradient, &error), TN_LIMIT);
	assert_contains(error.text, "16 inputs and the gradients of 1 outputs");
	tn_program_destroy(program);
	/* With one input less there is room for the gradient of the output. */
	n.n_inputs = 15;
	program = parse_or_fail("z = a*b+c+d+e+f+g+h+i+j+k+l+m+n+o", &n);
	assert_ok(tn_program_differentiate(program, &wants, &gradient, &error));
	assert_int_equal(gradient->n_inputs, 16);
	tn_program_destroy(gradient);
	tn_program_destroy(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derivatives_are_pytorchs_at_kinks_too),
		cmocka_unit_test(derivatives_are_limits_of_differences),
		cmocka_unit_test(gradients_of_several_outputs_add_up),
		cmocka_unit_test(mixed_types_give_gradients_of_the_inputs_types),
		cmocka_unit_test(unneeded_inputs_are_not_read),
		cmocka_unit_test(impossible_gradients_are_refused),
		cmocka_unit_test(too_many_inputs_are_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
