/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of 8-bit integers: C := activation(alpha a_scale b_scale A B + beta C + bias), with C of
 * i32 (modulo 2^32, without scales and activation) or f32.  Sums are kept in 32 bits, for a part of
 * a row of C at a time.
 */
#include <string.h>

#include "conv2d.h"
#include "matmul.h"
#include "plugin.h"

/* Of a row: their sums stay in the first cache. */
enum { COLUMNS = 512 };

struct product {
	const struct cpu_device *cpu;
	const struct tn_matmul_args *args;
	uint64_t m; /* rows of each matrix */
};

int cpu_matmul_is_i8(const struct tn_matmul_args *args)
{
	return (args->a.dtype == TN_I8 || args->a.dtype == TN_U8) && args->b.dtype == TN_I8 &&
	       (args->c.dtype == TN_I32 || args->c.dtype == TN_F32);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

/* NULL: the vector is not there. */
static tn_status check_vector(const struct tn_call *call, const char *name,
			      const struct tn_operand *vector, tn_dtype dtype, int64_t length)
{
	if (!vector || (vector->dtype == dtype && vector->rank == 1 && vector->shape[0] == length))
		return TN_OK;
	return tn_plugin_fail(call->error, vector->dtype == dtype ? TN_SHAPE : TN_UNSUPPORTED,
			      "matmul", "%s: expected one axis of %lld elements of dtype %d", name,
			      (long long)length, dtype);
}

static tn_status check_arguments(const struct tn_matmul_args *args)
{
	const struct tn_operand *c = &args->c;
	const struct tn_call *call = &args->call;
	const int64_t m = c->shape[c->rank - 2], n = c->shape[c->rank - 1];
	const int is_plain = !args->a_scale && !args->b_scale && !args->activation;
	if (args->activation > TN_ACTIVATION_GELU || (c->dtype == TN_I32 && !is_plain))
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, "matmul",
				      "activation %u, or scales, with a C of dtype %d",
				      args->activation, c->dtype);
	tn_status status = TN_OK;
	if (args->has_bias)
		status = check_vector(call, "bias", &args->bias, c->dtype, n);
	if (!status)
		status = check_vector(call, "a_scale", args->a_scale, TN_F32, m);
	if (!status)
		status = check_vector(call, "b_scale", args->b_scale, TN_F32, n);
	return status;
}

/* ---- Running ---------------------------------------------------------------------------------*/

/* The first element of matrix number n, counted over the batch axes. */
static char *matrix(const struct tn_operand *x, uint64_t n)
{
	int64_t at = 0;
	for (uint32_t axis = x->rank - 2; axis-- > 0;) {
		at += (int64_t)(n % (uint64_t)x->shape[axis]) * x->strides[axis];
		n /= (uint64_t)x->shape[axis];
	}
	return (char *)(uintptr_t)(x->buffer + x->offset) + at * (int64_t)tn_dtype_size(x->dtype);
}

/* sum[j] += factor b[j step] */
static void add(uint32_t *sum, int32_t factor, const int8_t *b, int64_t step, int64_t n)
{
	if (step == 1) {
		for (int64_t j = 0; j < n; j++)
			sum[j] += (uint32_t)(factor * b[j]);
		return;
	}
	for (int64_t j = 0; j < n; j++)
		sum[j] += (uint32_t)(factor * b[j * step]);
}

/* Element i of the scales of A or B; 1 without them. */
static float scale_at(const struct tn_operand *scales, int64_t i)
{
	if (!scales)
		return 1;
	return ((const float *)(uintptr_t)(scales->buffer +
					   scales->offset))[i * scales->strides[0]];
}

/* c[j] := alpha sum[j] + beta c[j] + bias[j], modulo 2^32, from column `first` on */
static void finish_i32(const struct tn_matmul_args *args, const uint32_t *sum, int32_t *c,
		       int64_t first, int64_t n)
{
	const int64_t step = args->c.strides[args->c.rank - 1];
	const int32_t *bias = (const int32_t *)(uintptr_t)(args->bias.buffer + args->bias.offset);
	for (int64_t j = 0; j < n; j++) {
		uint32_t total = (uint32_t)(int64_t)args->alpha * sum[j];
		if (args->beta != 0)
			total += (uint32_t)(int64_t)args->beta * (uint32_t)c[j * step];
		if (args->has_bias)
			total += (uint32_t)bias[(first + j) * args->bias.strides[0]];
		c[j * step] = (int32_t)total;
	}
}

/* The same with scales and activation; `scale` is alpha times the row's. */
static void finish_f32(const struct product *p, const uint32_t *sum, float *c, double scale,
		       int64_t first, int64_t n)
{
	const struct tn_matmul_args *args = p->args;
	const int64_t step = args->c.strides[args->c.rank - 1];
	const float *bias = (const float *)(uintptr_t)(args->bias.buffer + args->bias.offset);
	float row[COLUMNS];
	for (int64_t j = 0; j < n; j++) {
		double value = scale * (int32_t)sum[j] * scale_at(args->b_scale, first + j);
		if (args->beta != 0)
			value += args->beta * c[j * step];
		if (args->has_bias)
			value += bias[(first + j) * args->bias.strides[0]];
		row[j] = (float)value;
	}
	cpu_activate(p->cpu->instance, args->activation, row, n);
	for (int64_t j = 0; j < n; j++)
		c[j * step] = row[j];
}

/* Row i of matrix number `batch`. */
static void multiply_row(const struct product *p, uint64_t batch, int64_t i)
{
	const struct tn_matmul_args *args = p->args;
	const uint32_t down = args->c.rank - 2, across = args->c.rank - 1;
	const char *a = matrix(&args->a, batch) + i * args->a.strides[down];
	const int8_t *b = (const int8_t *)matrix(&args->b, batch);
	char *c = matrix(&args->c, batch) + i * args->c.strides[down] * 4;
	const double scale = args->alpha * scale_at(args->a_scale, i);
	uint32_t sum[COLUMNS];
	for (int64_t j = 0, n; j < args->c.shape[across]; j += n) {
		n = args->c.shape[across] - j < COLUMNS ? args->c.shape[across] - j : COLUMNS;
		memset(sum, 0, (size_t)n * sizeof(*sum));
		for (int64_t k = 0; k < args->a.shape[across]; k++) {
			const char *factor = a + k * args->a.strides[across];
			add(sum,
			    args->a.dtype == TN_U8 ? *(const uint8_t *)factor
						   : *(const int8_t *)factor,
			    b + k * args->b.strides[down] + j * args->b.strides[across],
			    args->b.strides[across], n);
		}
		char *to = c + j * args->c.strides[across] * 4;
		if (args->c.dtype == TN_I32)
			finish_i32(args, sum, (int32_t *)(void *)to, j, n);
		else
			finish_f32(p, sum, (float *)(void *)to, scale, j, n);
	}
}

static void multiply_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct product *p = argument;
	for (uint64_t r = begin; r < end; r++)
		multiply_row(p, r / p->m, (int64_t)(r % p->m));
}

tn_status cpu_matmul_i8(struct cpu_device *cpu, const struct tn_matmul_args *args)
{
	struct product p = {
		.cpu = cpu, .args = args, .m = (uint64_t)args->c.shape[args->c.rank - 2]};
	uint64_t rows = 1;
	tn_status status = check_arguments(args);
	if (status)
		return status;
	if (args->call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&args->call, 0, 0);
	for (uint32_t axis = 0; axis + 1 < args->c.rank; axis++)
		rows *= (uint64_t)args->c.shape[axis];
	/* Rows that are distributed together: several if each is small. */
	const double work =
		(double)args->c.shape[args->c.rank - 1] * (double)args->a.shape[args->a.rank - 1];
	cpu_parallel(cpu, rows, work >= 1e5 ? 1 : (uint64_t)(1e5 / work) + 1, multiply_some, &p);
	return TN_OK;
}
