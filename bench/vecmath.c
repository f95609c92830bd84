/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's functions of f32 on one core, a block in the first cache, beside a loop over
 * libm.
 * Usage: bench/vecmath; prints ns an element of the best sample and the ratio libm / kernel by best
 * and by median, for each level of the processor.
 */
#include <math.h>

#include "bench.h"
#include "kernels/kernels.h"

#define N 1024

static float x[N], y[N], out[N];

static float sigmoidf(float v)
{
	return 1 / (1 + expf(-v));
}

static float rsqrtf(float v)
{
	return 1 / sqrtf(v);
}

struct function {
	uint16_t op;
	const char *name;
	float (*one)(float);
	float (*two)(float, float);
	float low, high;
};

static const struct function functions[] = {
	{TN_OP_EXP, "exp", expf, NULL, -10, 10},
	{TN_OP_EXP2, "exp2", exp2f, NULL, -10, 10},
	{TN_OP_EXPM1, "expm1", expm1f, NULL, -10, 10},
	{TN_OP_LOG, "log", logf, NULL, 0.001f, 100},
	{TN_OP_LOG2, "log2", log2f, NULL, 0.001f, 100},
	{TN_OP_LOG1P, "log1p", log1pf, NULL, -0.9f, 100},
	{TN_OP_SIN, "sin", sinf, NULL, -10, 10},
	{TN_OP_COS, "cos", cosf, NULL, -10, 10},
	{TN_OP_TAN, "tan", tanf, NULL, -10, 10},
	{TN_OP_ASIN, "asin", asinf, NULL, -1, 1},
	{TN_OP_ACOS, "acos", acosf, NULL, -1, 1},
	{TN_OP_ATAN, "atan", atanf, NULL, -5, 5},
	{TN_OP_ATAN2, "atan2", NULL, atan2f, -5, 5},
	{TN_OP_SINH, "sinh", sinhf, NULL, -5, 5},
	{TN_OP_COSH, "cosh", coshf, NULL, -5, 5},
	{TN_OP_TANH, "tanh", tanhf, NULL, -5, 5},
	{TN_OP_ERF, "erf", erff, NULL, -4, 4},
	{TN_OP_SIGMOID, "sigmoid", sigmoidf, NULL, -10, 10},
	{TN_OP_POW, "pow", NULL, powf, 0.1f, 4},
	{TN_OP_RSQRT, "rsqrt", rsqrtf, NULL, 0.1f, 4},
};

struct job {
	const struct function *function;
	tn_block_fn fn;
};

static void run_kernel(void *argument)
{
	const struct job *job = argument;
	job->fn(out, x, y, NULL, N);
}

static void run_libm(void *argument)
{
	const struct function *f = ((const struct job *)argument)->function;
	if (f->one) {
		for (int i = 0; i < N; i++)
			out[i] = f->one(x[i]);
	} else {
		for (int i = 0; i < N; i++)
			out[i] = f->two(x[i], y[i]);
	}
}

static void measure(const struct cpu_kernels *kernels, const struct function *f)
{
	static struct cpu_block_table table;
	cpu_block_table_fill(&table, kernels);
	struct job job = {f, table.operations[f->op][TN_COLUMN_F32]};
	struct bench_side sides[2] = {{.run = run_kernel, .argument = &job},
				      {.run = run_libm, .argument = &job}};
	if (!job.fn)
		return;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t bits = i * 2654435761u;
		x[i] = f->low + (f->high - f->low) * (float)(bits >> 8) * 0x1p-24f;
		y[i] = f->low + (f->high - f->low) * (float)(bits * 7919u >> 8) * 0x1p-24f;
	}
	bench_interleave(sides, 2);
	double own = bench_best(&sides[0].samples), peer = bench_best(&sides[1].samples);
	printf("%-10s %-8s %6.3f  %6.2f   %5.1f  %5.1f\n", kernels->name, f->name, own / N * 1e9,
	       peer / N * 1e9, peer / own,
	       bench_median(&sides[1].samples) / bench_median(&sides[0].samples));
}

int main(void)
{
	const struct cpu_kernels *kernels;
	printf("%-19s kernel    libm   ratio of best, of medians\n", "ns an element");
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
			measure(kernels, &functions[i]);
	return 0;
}
