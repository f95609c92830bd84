/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul: a group of items computes one tile of C.  It loads a tile of A and one of B into local
 * memory, as columns of A and rows of B, so that each item then multiplies ROWS numbers of A with a
 * vector of B and accumulates into ROWS vectors.  Strides implement every transposition; elements
 * outside a matrix are loaded as 0.  The sum over k has one order, so the bits are the same from
 * run to run.
 *
 * The job's nest has six axes: up to four of batches, the rows and the columns of C.  Its views are
 * A (whose last two axes are i and k), B (k and j) and C.
 */
#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "matmul_text.h"
#include "program.h"

enum { AXES = 6, ROW = 4, COLUMN = 5 };

/* A group has width * height items, a tile height * rows by width * vector elements. */
struct shape {
	uint32_t width, height, rows, vector, depth;
};

static const struct shape large = {8, 8, 8, 8, 16}, small = {4, 8, 2, 4, 32};

static const char operation[] = "matmul";

/* ---- Checks ----------------------------------------------------------------------------------*/

static int is_multiplied(const struct opencl_device *device, tn_dtype dtype)
{
	return dtype == TN_F16 || dtype == TN_BF16 || dtype == TN_F32 ||
	       (dtype == TN_F64 && device->facts->has_f64);
}

static tn_status check_arguments(const struct opencl_device *device,
				 const struct tn_matmul_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *operands[] = {&args->a, &args->b, &args->c};
	const uint32_t rank = args->c.rank;
	if (device->facts->max_group < small.width * small.height)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "the device allows groups of at most %zu items, expected %u",
				      device->facts->max_group, small.width * small.height);
	if (args->has_bias || args->activation || args->a_scale || args->b_scale)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "bias, activation and scales are not supported");
	for (unsigned k = 0; k < 3; k++)
		if (!is_multiplied(device, operands[k]->dtype) ||
		    operands[k]->dtype != args->c.dtype)
			return tn_plugin_fail(
				call->error, TN_UNSUPPORTED, operation,
				"dtypes %d, %d and %d: expected f16, bf16, f32 or, if the "
				"device has it, f64 for all three",
				(int)args->a.dtype, (int)args->b.dtype, (int)args->c.dtype);
	if (rank < 2 || rank > AXES)
		return tn_plugin_fail(call->error, TN_SHAPE, operation, "rank %u: expected 2 to 6",
				      rank);
	int64_t a[AXES], b[AXES];
	memcpy(a, args->c.shape, sizeof(a));
	memcpy(b, args->c.shape, sizeof(b));
	a[rank - 1] = b[rank - 2] = args->a.rank == rank ? args->a.shape[rank - 1] : 0;
	for (unsigned k = 0; k < 3; k++) {
		tn_status status =
			opencl_check_operand(device, call, operation, "operand", k, operands[k],
					     k == 2 ? TN_PLUGIN_WRITES : TN_PLUGIN_READS);
		if (!status && k < 2)
			status = tn_plugin_check_shape(call, operation, "operand", k, operands[k],
						       rank, k ? b : a);
		if (status)
			return status;
	}
	return TN_OK;
}

/* ---- The source ------------------------------------------------------------------------------*/

static tn_dtype sum_dtype(tn_dtype dtype)
{
	return dtype == TN_F64 ? TN_F64 : TN_F32;
}

static void print_macro(struct tn_plugin_text *text, const char *name, tn_dtype from, tn_dtype to)
{
	tn_plugin_text_format(text, "#define %s(number) (", name);
	tn_plugin_text_convert(text, from, to, "(number)");
	tn_plugin_text_add(text, ")\n");
}

static void print_kernel(struct tn_plugin_text *text, const struct opencl_job *job,
			 const void *argument)
{
	const struct shape *s = argument;
	tn_dtype dtype = job->nest.views[2].dtype, sum = sum_dtype(dtype);
	const char *type = opencl_type(sum);
	tn_plugin_text_format(text,
			      "#define WIDTH %u\n#define HEIGHT %u\n#define ROWS %u\n"
			      "#define VECTOR %u\n#define DEPTH %u\n"
			      "typedef %s tn_sum;\ntypedef %s%u tn_vector;\n"
			      "#define LOAD_VECTOR vload%u\n#define STORE_VECTOR vstore%u\n",
			      s->width, s->height, s->rows, s->vector, s->depth, type, type,
			      s->vector, s->vector, s->vector);
	tn_plugin_text_format(text,
			      "#ifdef %s\n#define MULTIPLY_ADD(a, b, c) fma(a, b, c)\n#else\n"
			      "#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))\n#endif\n"
			      "#define NUMBER(bits) %s\n",
			      sum == TN_F64 ? "FP_FAST_FMA" : "FP_FAST_FMAF",
			      sum == TN_F64 ? "as_double(bits)" : "as_float((uint)(bits))");
	print_macro(text, "LOAD", dtype, sum);
	print_macro(text, "STORE", sum, dtype);
	opencl_print_header(text, job);
	tn_plugin_text_add(text, matmul);
}

/* ---- The entry -------------------------------------------------------------------------------*/

static int64_t bits_of(double number, tn_dtype dtype)
{
	if (dtype == TN_F64)
		return (int64_t)tn_plugin_bits_of_f64(number);
	return tn_plugin_bits_of_f32((float)number);
}

static int64_t tiles(int64_t length, uint32_t tile)
{
	return (length + tile - 1) / tile;
}

static int64_t count_tiles(const struct tn_plugin_nest *nest, const struct shape *s)
{
	return (int64_t)tn_plugin_count(ROW, nest->lengths) *
	       tiles(nest->lengths[ROW], s->height * s->rows) *
	       tiles(nest->lengths[COLUMN], s->width * s->vector);
}

/* Large tiles reuse more of the loaded elements, if there are enough tiles for all units. */
static const struct shape *choose_shape(const struct opencl_job *job)
{
	const struct tn_plugin_nest *nest = &job->nest;
	const struct opencl_facts *facts = job->device->facts;
	if (facts->max_group < large.width * large.height || nest->lengths[ROW] <= 32 ||
	    nest->lengths[COLUMN] <= 32 || count_tiles(nest, &large) < facts->compute_units)
		return &small;
	return &large;
}

tn_status opencl_matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	struct opencl_job job;
	int goes_on;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, operation);
	if (!status)
		status = check_arguments(device, &own);
	if (status)
		return status;
	struct tn_plugin_nest *nest = &job.nest;
	nest->rank = nest->n_kept = own.c.rank;
	for (uint32_t d = 0; d < nest->rank; d++)
		nest->lengths[d] = own.c.shape[d];
	tn_plugin_nest_add(nest, &own.a, 0);
	tn_plugin_nest_add(nest, &own.b, 0);
	tn_plugin_nest_add(nest, &own.c, 0);
	tn_plugin_nest_pad(nest, AXES, 0);
	for (int i = 0; i < 5; i++)
		opencl_job_number(&job, 0);
	status = opencl_job_workspace(&job, opencl_job_spill(&job), &goes_on);
	if (status || !goes_on)
		return status;
	const struct shape *s = choose_shape(&job);
	struct opencl_kernel *kernel;
	const uint32_t group = s->width * s->height;
	job.fixed_group = group;
	job.number[0] = own.a.shape[own.a.rank - 1];
	job.number[1] = tiles(nest->lengths[COLUMN], s->width * s->vector);
	job.number[2] = tiles(nest->lengths[ROW], s->height * s->rows);
	job.number[3] = bits_of(own.alpha, sum_dtype(own.c.dtype));
	job.number[4] = bits_of(own.beta, sum_dtype(own.c.dtype));
	struct tn_plugin_text *key = opencl_key_begin(&job, operation);
	opencl_key_number(key, s == &large);
	status = opencl_kernel_get(&job, print_kernel, s, &kernel);
	if (status)
		return status;
	return opencl_kernel_run(&job, kernel, (uint64_t)count_tiles(nest, s) * group, group);
}
