/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.copy/1.  Kernels that only move elements are specialised by the element's size alone.
 * scatter_add has one item for all elements that differ only along the axis, which adds them in
 * order: the same item handles equal indices, so the bits are the same from run to run.
 */
#include <stdio.h>

#include "program.h"
#include "walk.h"

/* An unsigned type of that dtype's size; for 16 bytes that of c128, a vector. */
static tn_dtype unit_of(tn_dtype dtype)
{
	switch (tn_dtype_size(dtype)) {
	case 1:
		return TN_U8;
	case 2:
		return TN_U16;
	case 4:
		return TN_U32;
	case 8:
		return TN_U64;
	default:
		return TN_C128;
	}
}

static void add_view(struct opencl_job *job, const struct tn_operand *operand, int moves)
{
	uint32_t view = tn_plugin_nest_add(&job->nest, operand, 1);
	if (moves)
		job->nest.views[view].dtype = unit_of(operand->dtype);
}

static void set_lengths(struct tn_plugin_nest *nest, const struct tn_operand *operand)
{
	nest->rank = nest->n_kept = operand->rank;
	for (uint32_t d = 0; d < nest->rank; d++)
		nest->lengths[d] = operand->shape[d];
}

/* Runs a job, or handles its dry run; `detail` is what the text depends on besides the walk. */
static tn_status run_copy(struct opencl_job *job, uint64_t detail,
			  void (*print)(struct tn_plugin_text *text, const struct opencl_job *job,
					const void *argument),
			  const void *argument)
{
	struct opencl_kernel *kernel;
	int goes_on;
	tn_status status = opencl_job_workspace(job, opencl_job_spill(job), &goes_on);
	if (status || !goes_on)
		return status;
	struct tn_plugin_text *key = opencl_key_begin(job, job->operation);
	opencl_walk_key(key, job);
	opencl_key_number(key, detail);
	status = opencl_kernel_get(job, print, argument, &kernel);
	if (status)
		return status;
	return opencl_kernel_run(job, kernel, (uint64_t)job->number[0], 0);
}

/* ---- fill ------------------------------------------------------------------------------------*/

static void print_fill(struct tn_plugin_text *text, const struct opencl_job *job,
		       const void *argument)
{
	(void)argument;
	opencl_print_walk(text, job);
	opencl_print_place(text, job, 0);
	tn_plugin_text_add(text, "\tb0[at0] = ");
	opencl_print_scalar(text, job, 0, job->nest.views[0].dtype);
	tn_plugin_text_add(text, ";\n}\n");
}

static tn_status check_fill(const struct opencl_device *device, const struct tn_fill_args *args)
{
	const struct tn_scalar *value = &args->value;
	const struct tn_operand place = {
		.buffer = value->buffer, .offset = value->offset, .dtype = value->dtype};
	tn_status status = opencl_check_operand(device, &args->call, "fill", "output", 0,
						&args->output, TN_PLUGIN_WRITES);
	if (status)
		return status;
	if (value->dtype != args->output.dtype || value->on_device > 1 ||
	    (value->dtype == TN_C128 && !value->on_device))
		return tn_plugin_fail(
			args->call.error, TN_UNSUPPORTED, "fill",
			"a value of dtype %d (on_device %u) for an output of dtype %d",
			(int)value->dtype, value->on_device, (int)args->output.dtype);
	if (!value->on_device)
		return TN_OK;
	return opencl_check_operand(device, &args->call, "fill", "value", 0, &place,
				    TN_PLUGIN_READS);
}

static tn_status fill(void *device, const struct tn_fill_args *args)
{
	struct tn_fill_args own;
	struct opencl_job job;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, "fill");
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, "fill");
	if (!status)
		status = check_fill(device, &own);
	if (status)
		return status;
	set_lengths(&job.nest, &own.output);
	add_view(&job, &own.output, 1);
	opencl_walk_simplify(&job.nest);
	opencl_walk_count(&job);
	own.value.dtype = unit_of(own.value.dtype);
	opencl_job_scalars(&job, &own.value, 1);
	return run_copy(&job, 0, print_fill, NULL);
}

/* ---- copy ------------------------------------------------------------------------------------*/

static void print_copy(struct tn_plugin_text *text, const struct opencl_job *job,
		       const void *argument)
{
	(void)argument;
	opencl_print_walk(text, job);
	opencl_print_place(text, job, 0);
	opencl_print_place(text, job, 1);
	tn_plugin_text_add(text, "\tb1[at1] = b0[at0];\n}\n");
}

static tn_status copy(void *device, const struct tn_copy_args *args)
{
	struct tn_copy_args own;
	struct opencl_job job;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, "copy");
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, "copy");
	const struct tn_call *call = &own.call;
	if (!status)
		status = opencl_check_operand(device, call, "copy", "input", 0, &own.input,
					      TN_PLUGIN_READS);
	if (!status)
		status = opencl_check_operand(device, call, "copy", "output", 0, &own.output,
					      TN_PLUGIN_WRITES);
	if (!status && own.input.dtype != own.output.dtype)
		status = tn_plugin_fail(
			call->error, TN_DTYPE, "copy",
			"input of dtype %d, output of dtype %d: expected equal dtypes",
			(int)own.input.dtype, (int)own.output.dtype);
	if (!status)
		status = tn_plugin_check_shape(call, "copy", "input", 0, &own.input,
					       own.output.rank, own.output.shape);
	if (status)
		return status;
	set_lengths(&job.nest, &own.output);
	add_view(&job, &own.input, 1);
	add_view(&job, &own.output, 1);
	opencl_walk_simplify(&job.nest);
	opencl_walk_count(&job);
	return run_copy(&job, 0, print_copy, NULL);
}

/* ---- gather and scatter_add ------------------------------------------------------------------*/

/* The indices refer to the axis of operand `chosen`; `listed` has one element for each index. */
static tn_status check_choice(const struct opencl_device *device, const struct tn_gather_args *args,
			      const char *operation, const struct tn_operand *chosen,
			      const struct tn_operand *listed)
{
	const struct tn_call *call = &args->call;
	int64_t shape[TN_MAX_RANK];
	tn_status status = opencl_check_operand(device, call, operation, "input", 0, &args->input,
						TN_PLUGIN_READS);
	if (!status)
		status = opencl_check_operand(device, call, operation, "indices", 0, &args->indices,
					      TN_PLUGIN_READS);
	if (!status)
		status = opencl_check_operand(device, call, operation, "output", 0, &args->output,
					      TN_PLUGIN_WRITES);
	if (status)
		return status;
	if (args->indices.dtype != TN_I32 && args->indices.dtype != TN_I64)
		return tn_plugin_fail(call->error, TN_DTYPE, operation,
				      "indices: expected i32 or i64, found dtype %d",
				      (int)args->indices.dtype);
	/* An output of f32 may keep totals of narrower numbers. */
	const int is_total = listed == &args->input && args->output.dtype == TN_F32 &&
			     (args->input.dtype == TN_F16 || args->input.dtype == TN_BF16);
	if (args->input.dtype != args->output.dtype && !is_total)
		return tn_plugin_fail(
			call->error, TN_DTYPE, operation,
			"input of dtype %d, output of dtype %d: expected equal dtypes",
			(int)args->input.dtype, (int)args->output.dtype);
	if (args->indices.rank != 1 || args->axis >= chosen->rank)
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "axis %u of rank %u, indices of rank %u (expected 1)",
				      args->axis, chosen->rank, args->indices.rank);
	for (uint32_t d = 0; d < chosen->rank; d++)
		shape[d] = d == args->axis ? args->indices.shape[0] : chosen->shape[d];
	return tn_plugin_check_shape(call, operation, listed == &args->input ? "input" : "output",
				     0, listed, chosen->rank, shape);
}

/* Views 0 and 2 are input and output, view 1 the indices.  Numbers: the count, then the chosen
 * axis's length and stride, the listed axis's length and stride, the stride of the indices.  The
 * walk does not move the views along the axis. */
static void fill_choice(struct opencl_job *job, const struct tn_gather_args *args,
			const struct tn_operand *chosen, const struct tn_operand *listed, int moves)
{
	struct tn_plugin_nest *nest = &job->nest;
	const uint32_t axis = args->axis;
	set_lengths(nest, listed);
	add_view(job, &args->input, moves);
	add_view(job, &args->indices, 0);
	add_view(job, &args->output, moves);
	for (uint32_t d = 0; d < nest->rank; d++)
		nest->views[1].strides[d] = 0;
	if (!moves)
		nest->lengths[axis] = 1;
	nest->views[chosen == &args->input ? 0 : 2].strides[axis] = 0;
	opencl_walk_count(job);
	opencl_job_number(job, chosen->shape[axis]);
	opencl_job_number(job, chosen->strides[axis]);
	opencl_job_number(job, listed->shape[axis]);
	opencl_job_number(job, listed->strides[axis]);
	opencl_job_number(job, args->indices.strides[0]);
}

/* `index` := index number `number`, counted from the end if it is negative. */
static void print_index(struct tn_plugin_text *text, const char *number)
{
	tn_plugin_text_format(text,
			      "\tlong index = (long)b1[g.o1 + %s * g.n5];\n"
			      "\tindex += index < 0 ? g.n1 : 0;\n",
			      number);
}

static void print_gather(struct tn_plugin_text *text, const struct opencl_job *job,
			 const void *argument)
{
	char number[32];
	(void)snprintf(number, sizeof(number), "(long)c%u", *(const uint32_t *)argument);
	opencl_print_walk(text, job);
	opencl_print_place(text, job, 0);
	opencl_print_place(text, job, 2);
	print_index(text, number);
	tn_plugin_text_format(text,
			      "\tif (index >= 0 && index < g.n1)\n"
			      "\t\tb2[at2] = b0[at0 + index * g.n2];\n"
			      "\telse\n"
			      "\t\tb2[at2] = (%s)0;\n}\n",
			      opencl_type(job->nest.views[2].dtype));
}

static tn_status gather(void *device, const struct tn_gather_args *args)
{
	struct tn_gather_args own;
	struct opencl_job job;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, "gather");
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, "gather");
	if (!status)
		status = check_choice(device, &own, "gather", &own.input, &own.output);
	if (status)
		return status;
	fill_choice(&job, &own, &own.input, &own.output, 1);
	return run_copy(&job, own.axis, print_gather, &own.axis);
}

/* The dtype in which elements are added; 0 if sums are not supported. */
static tn_dtype sum_dtype(tn_dtype dtype)
{
	if (tn_plugin_dtype_kind(dtype) & TN_PLUGIN_KIND_INTEGER)
		return TN_U64; /* wraps: the low bytes are correct for all of them */
	if (tn_plugin_dtype_kind(dtype) != TN_PLUGIN_KIND_FLOATING)
		return 0;
	return dtype == TN_F64 ? TN_F64 : TN_F32;
}

static void print_scatter(struct tn_plugin_text *text, const struct opencl_job *job,
			  const void *argument)
{
	tn_dtype dtype = job->nest.views[2].dtype, sum = sum_dtype(dtype);
	tn_dtype term = job->nest.views[0].dtype;
	const char *type = opencl_type(sum);
	(void)argument;
	opencl_print_walk(text, job);
	opencl_print_place(text, job, 0);
	opencl_print_place(text, job, 2);
	tn_plugin_text_add(text, "\tfor (long j = 0; j < g.n3; j++) {\n");
	print_index(text, "j");
	tn_plugin_text_format(text,
			      "\tif (index < 0 || index >= g.n1)\n\t\tcontinue;\n"
			      "\tconst long to = at2 + index * g.n2;\n"
			      "\tconst %s old = ",
			      type);
	tn_plugin_text_convert(text, dtype, sum, "b2[to]");
	tn_plugin_text_format(text, ";\n\tconst %s more = ", type);
	tn_plugin_text_convert(text, term, sum, "b0[at0 + j * g.n4]");
	tn_plugin_text_format(text, ";\n\tconst %s total = old + more;\n\tb2[to] = ", type);
	tn_plugin_text_convert(text, sum, dtype, "total");
	tn_plugin_text_add(text, ";\n\t}\n}\n");
}

static tn_status scatter_add(void *device, const struct tn_gather_args *args)
{
	struct tn_gather_args own;
	struct opencl_job job;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, "scatter_add");
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, "scatter_add");
	if (!status)
		status = check_choice(device, &own, "scatter_add", &own.output, &own.input);
	if (!status && !sum_dtype(own.output.dtype))
		status = tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "scatter_add",
					"dtype %d: sums are not supported", (int)own.output.dtype);
	if (status)
		return status;
	fill_choice(&job, &own, &own.output, &own.input, 0);
	return run_copy(&job, own.axis, print_scatter, NULL);
}

const struct tn_copy_table opencl_copy_table = {
	.struct_size = sizeof(opencl_copy_table),
	.fill = fill,
	.copy = copy,
	.gather = gather,
	.scatter_add = scatter_add,
};
