/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's functions of f32, in every variant that this processor runs, against libm in
 * f64: over a sample of all bit patterns (every STEP-th, which covers each exponent and sign
 * thousands of times) and at the special values.  `cpu_vecmath STEP` uses another step and prints
 * the largest errors; 1 tests all 2^32 patterns, which takes an hour.
 */
#include "check.h"
#include "kernels/kernels.h"

#define BLOCK 2048

struct function {
	uint16_t op;
	const char *name;
	double (*value)(double);
	double (*value2)(double, double);
	double ulp; /* the bound stated in tenon-cpu(7) */
};

static double sigmoid(double x)
{
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double rsqrt(double x)
{
	return 1 / sqrt(x);
}

static const struct function functions[] = {
	{TN_OP_EXP, "exp", exp, NULL, 1.5},
	{TN_OP_EXP2, "exp2", exp2, NULL, 2},
	{TN_OP_EXPM1, "expm1", expm1, NULL, 2},
	{TN_OP_LOG, "log", log, NULL, 1.5},
	{TN_OP_LOG2, "log2", log2, NULL, 1.5},
	{TN_OP_LOG1P, "log1p", log1p, NULL, 2},
	{TN_OP_SIN, "sin", sin, NULL, 2},
	{TN_OP_COS, "cos", cos, NULL, 2},
	{TN_OP_TAN, "tan", tan, NULL, 4},
	{TN_OP_ASIN, "asin", asin, NULL, 2.5},
	{TN_OP_ACOS, "acos", acos, NULL, 1.5},
	{TN_OP_ATAN, "atan", atan, NULL, 2},
	{TN_OP_SINH, "sinh", sinh, NULL, 2},
	{TN_OP_COSH, "cosh", cosh, NULL, 2},
	{TN_OP_TANH, "tanh", tanh, NULL, 3},
	{TN_OP_ERF, "erf", erf, NULL, 3.5},
	{TN_OP_SIGMOID, "sigmoid", sigmoid, NULL, 2.5},
	{TN_OP_SQRT, "sqrt", sqrt, NULL, 0.5},
	{TN_OP_RSQRT, "rsqrt", rsqrt, NULL, 1.6},
	{TN_OP_POW, "pow", NULL, pow, 1},
	{TN_OP_ATAN2, "atan2", NULL, atan2, 2},
};
#define N_FUNCTIONS (sizeof(functions) / sizeof(*functions))

static uint32_t step = 2003;
static int verbose;

static float float_of(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The distance in units of the last place of an f32 at `expected`, the least being 2^-149; f32's
 * infinity counts as 2^128.  Infinite where one is a NaN, or the sign of a zero is wrong. */
static double distance(float found, double expected)
{
	int exponent;
	if (isnan(expected) || isnan(found))
		return isnan(expected) && isnan(found) ? 0 : INFINITY;
	if ((double)found == expected && !signbit(found) == !signbit(expected))
		return 0;
	if (isinf(expected) || expected == 0)
		return INFINITY;
	frexp(expected, &exponent);
	double place = ldexp(1, (exponent < -125 ? -125 : exponent > 128 ? 128 : exponent) - 24);
	double value = isinf(found) ? copysign(0x1p128, found) : (double)found;
	double limit = fabs(expected) > 0x1p128 ? copysign(0x1p128, expected) : expected;
	return fabs(value - limit) / place;
}

struct worst {
	double ulp;
	float x, y;
};

static void compare(const struct function *f, const float *x, const float *y, const float *found,
		    size_t n, struct worst *worst)
{
	for (size_t i = 0; i < n; i++) {
		double expected = f->value ? f->value(x[i]) : f->value2(x[i], y[i]);
		double ulp = distance(found[i], expected);
		if (!(ulp <= worst->ulp))
			*worst = (struct worst){ulp, x[i], y[i]};
	}
}

static void check_worst(const struct cpu_kernels *kernels, const struct function *f,
			const struct worst *worst)
{
	if (verbose)
		print_message("%s %s: %.2f ulp at %a\n", kernels->name, f->name, worst->ulp,
			      (double)worst->x);
	if (worst->ulp <= f->ulp)
		return;
	fail_msg("%s of %s: %.3f ulp at %a, %a", f->name, kernels->name, worst->ulp,
		 (double)worst->x, (double)worst->y);
}

static tn_block_fn row(const struct cpu_kernels *kernels, uint16_t op)
{
	static struct cpu_block_table table;
	cpu_block_table_fill(&table, kernels);
	return table.operations[op][TN_COLUMN_F32];
}

static void check_one_argument(const struct cpu_kernels *kernels, const struct function *f)
{
	static float x[BLOCK], found[BLOCK];
	struct worst worst = {0};
	tn_block_fn fn = row(kernels, f->op);
	for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
		size_t n = 0;
		for (; n < BLOCK && bits < UINT64_C(1) << 32; bits += step)
			x[n++] = float_of((uint32_t)bits);
		fn(found, x, NULL, NULL, n);
		compare(f, x, x, found, n, &worst);
	}
	check_worst(kernels, f, &worst);
}

static void functions_are_within_their_bounds_over_the_whole_range(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	unsigned n_checked = 0;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t i = 0; i < N_FUNCTIONS; i++) {
			if (!functions[i].value || !row(kernels, functions[i].op))
				continue;
			check_one_argument(kernels, &functions[i]);
			n_checked++;
		}
	assert_true(n_checked >= 19);
}

static const float specials[] = {
	0.0f,
	-0.0f,
	INFINITY,
	-INFINITY,
	NAN,
	1.0f,
	-1.0f,
	2.0f,
	-2.0f,
	0.5f,
	-0.5f,
	3.0f,
	-3.0f,
	0x1p-149f,
	-0x1p-149f,
	0x1p-126f,
	0x1.fffffep127f,
	-0x1.fffffep127f,
	0x1p24f,
	-0x1.fffffep23f,
	0x1.fffffep23f,
	0x1.fffffep-1f,
	0x1.000002p0f,
	-0x1.000002p0f,
	88.5f,
	-103.5f,
	1e-5f,
	16777217.0f,
	0x1p20f,
	0x1.921fb6p0f,
	-0x1.921fb6p1f,
	87.0f,
	0x1.5d58ap6f,
	0x1p23f,
};
#define N_SPECIALS (sizeof(specials) / sizeof(*specials))

/* Half of them special, the rest of any magnitude or near 1. */
static float sample(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	uint32_t bits = *state ^ *state >> 15;
	switch (*state >> 30) {
	case 0:
		return float_of(bits * 2654435761u);
	case 1:
		return ldexpf((float)(int32_t)(bits * 2654435761u) * 0x1p-31f, (int)(bits % 9) - 4);
	default:
		return specials[bits % N_SPECIALS];
	}
}

static void check_two_arguments(const struct cpu_kernels *kernels, const struct function *f)
{
	static float x[BLOCK], y[BLOCK], found[BLOCK];
	struct worst worst = {0};
	uint32_t state = 1;
	for (int block = 0; block < 150; block++) {
		for (size_t i = 0; i < BLOCK; i++) {
			x[i] = sample(&state);
			y[i] = sample(&state);
		}
		row(kernels, f->op)(found, x, y, NULL, BLOCK);
		compare(f, x, y, found, BLOCK, &worst);
	}
	check_worst(kernels, f, &worst);
}

static void functions_of_two_arguments_are_within_their_bounds(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t i = 0; i < N_FUNCTIONS; i++) {
			if (functions[i].value2 && row(kernels, functions[i].op))
				check_two_arguments(kernels, &functions[i]);
		}
}

/* Also at the special values, alone and next to others, in place, and at every position of a short
 * block: the bits of a result depend only on its argument. */
static void check_places(const struct cpu_kernels *kernels, const struct function *f)
{
	enum { N = 3 * N_SPECIALS };
	float x[N], y[N], found[N], alone;
	uint32_t state = 5;
	struct worst worst = {0};
	for (size_t i = 0; i < N; i++) {
		x[i] = i < N_SPECIALS ? specials[i] : sample(&state) * 0.001f;
		y[i] = specials[(i * 7 + 3) % N_SPECIALS];
	}
	tn_block_fn fn = row(kernels, f->op);
	fn(found, x, y, NULL, N);
	compare(f, x, y, found, N, &worst);
	check_worst(kernels, f, &worst);
	for (size_t i = 0; i < N; i++) {
		fn(&alone, &x[i], &y[i], NULL, 1);
		if (memcmp(&alone, &found[i], sizeof(alone)) && !(isnan(alone) && isnan(found[i])))
			fail_msg("%s of %s: %a alone, %a in a block, at %a", f->name, kernels->name,
				 (double)alone, (double)found[i], (double)x[i]);
	}
	float copy[N];
	memcpy(copy, x, sizeof(x));
	fn(copy, copy, y, NULL, N);
	assert_memory_equal(copy, found, sizeof(copy));
}

static void bits_depend_on_the_argument_alone_and_blocks_work_in_place(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t i = 0; i < N_FUNCTIONS; i++) {
			if (row(kernels, functions[i].op))
				check_places(kernels, &functions[i]);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_within_their_bounds_over_the_whole_range),
		cmocka_unit_test(functions_of_two_arguments_are_within_their_bounds),
		cmocka_unit_test(bits_depend_on_the_argument_alone_and_blocks_work_in_place),
	};
	if (argc > 1) {
		step = (uint32_t)strtoul(argv[1], NULL, 10);
		verbose = 1;
	}
	if (!step || !cpu_kernels_variant(0))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
