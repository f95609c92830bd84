/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.scan/1.  A long line is split into parts, each of which is combined; the totals are
 * scanned, and then each part: three kernels, none of which waits for another's blocks.  The split
 * follows from the shape alone.
 */
#include <string.h>

#include "kernel.h"
#include "layer.h"
#include "operand.h"
#include "ranges.h"
#include "status.h"

enum { PART = 4096, LONG = 2 * PART, MANY_LINES = 512, DEFINES = 5 };

/* Same layout as in kernels/scan.cu. */
struct scan {
	uint64_t n_lines, n;
	uint64_t part, n_parts;
	uint64_t from, to, parts;
	int64_t from_step, to_step;
	uint64_t length[TN_MAX_RANK];
	int64_t from_stride[TN_MAX_RANK], to_stride[TN_MAX_RANK];
	uint64_t nothing;
	uint32_t rank, combiner;
	int32_t reverse, exclusive;
	int32_t keeps_dtype;
};

/* The parameters that a kernel is compiled with. */
struct kind {
	tn_dtype dtype, accumulator;
	struct cuda_team team;
};

/* ---- Checks ----------------------------------------------------------------------------------*/

/* 0: there is none. */
static tn_dtype accumulator_of(tn_dtype dtype)
{
	const unsigned kind = tn_plugin_dtype_kind(dtype);
	if (!(kind & TN_PLUGIN_KIND_REAL))
		return 0;
	if (kind == TN_PLUGIN_KIND_FLOATING)
		return dtype == TN_F64 ? TN_F64 : TN_F32;
	return dtype == TN_U64 ? TN_U64 : TN_I64;
}

static tn_status check_kind(const struct tn_scan_args *args)
{
	struct tn_error_info *error = args->call.error;
	const tn_dtype input = args->input.dtype, output = args->output.dtype;
	const tn_dtype accumulator = accumulator_of(input);
	if (args->combiner < TN_REDUCE_SUM || args->combiner > TN_REDUCE_MIN)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "scan", "combiner %u is not supported",
				      args->combiner);
	if (!accumulator || args->accumulator != accumulator)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "scan",
				      "accumulator: expected dtype %d for dtype %d, found %d",
				      (int)accumulator, (int)input, (int)args->accumulator);
	if (output != accumulator && output != input)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "scan",
				      "output: expected dtype %d or %d, found %d", (int)accumulator,
				      (int)input, (int)output);
	if (args->reverse > 1 || args->exclusive > 1)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "scan",
				      "reverse, exclusive: expected 0 or 1, found %u, %u",
				      args->reverse, args->exclusive);
	return TN_OK;
}

/* ---- Plan ------------------------------------------------------------------------------------*/

/* The smallest or the largest value of an integer dtype, or bool, in 64 bits. */
static uint64_t extreme(tn_dtype dtype, int is_largest)
{
	const unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	if (dtype == TN_BOOL)
		return (uint64_t)is_largest;
	if (tn_plugin_dtype_kind(dtype) == TN_PLUGIN_KIND_UNSIGNED)
		return is_largest ? UINT64_MAX >> (64 - width) : 0;
	return is_largest ? UINT64_MAX >> (65 - width) : ~(UINT64_MAX >> (65 - width));
}

/* The bits of a combiner's value over no elements. */
static uint64_t neutral_bits(const struct tn_scan_args *args)
{
	static const uint64_t one[] = {0x3f800000, UINT64_C(0x3ff0000000000000)};
	static const uint64_t infinity[] = {0x7f800000, UINT64_C(0x7ff0000000000000)};
	static const uint64_t minus[] = {0xff800000, UINT64_C(0xfff0000000000000)};
	const int is_f64 = args->accumulator == TN_F64;
	const int is_floating = is_f64 || args->accumulator == TN_F32;
	if (args->combiner == TN_REDUCE_SUM)
		return 0;
	if (args->combiner == TN_REDUCE_PRODUCT)
		return is_floating ? one[is_f64] : 1;
	const int is_largest = args->combiner == TN_REDUCE_MIN;
	if (!is_floating)
		return extreme(args->input.dtype, is_largest);
	return is_largest ? infinity[is_f64] : minus[is_f64];
}

static void plan_scan(struct scan *s, struct kind *kind, const struct tn_scan_args *args)
{
	const struct tn_operand input = cuda_without_axis(&args->input, args->axis);
	const struct tn_operand output = cuda_without_axis(&args->output, args->axis);
	struct tn_plugin_nest nest;
	tn_plugin_nest_begin(&nest, input.rank, input.rank, input.shape);
	(void)tn_plugin_nest_add(&nest, &input, 0);
	(void)tn_plugin_nest_add(&nest, &output, 0);
	tn_plugin_nest_simplify(&nest);
	tn_plugin_nest_pad(&nest, 1, 0);
	memset(s, 0, sizeof(*s));
	s->n_lines = tn_plugin_count(nest.rank, nest.lengths);
	s->n = (uint64_t)args->input.shape[args->axis];
	s->from = cuda_view_address(&nest.views[0]);
	s->to = cuda_view_address(&nest.views[1]);
	s->from_step = args->input.strides[args->axis];
	s->to_step = args->output.strides[args->axis];
	for (uint32_t d = 0; d < nest.rank; d++)
		s->length[d] = (uint64_t)nest.lengths[d];
	memcpy(s->from_stride, nest.views[0].strides, sizeof(s->from_stride));
	memcpy(s->to_stride, nest.views[1].strides, sizeof(s->to_stride));
	s->nothing = neutral_bits(args);
	s->rank = nest.rank;
	s->combiner = args->combiner;
	s->keeps_dtype = args->output.dtype == args->input.dtype;
	s->reverse = (int32_t)args->reverse;
	s->exclusive = (int32_t)args->exclusive;
	const int columns = s->from_step != 1 && s->from_stride[nest.rank - 1] == 1;
	/* Long lines, if there are few of them; and lines with distant elements, because their
	 * tiles are short. */
	const int is_cut = s->n > LONG && (columns || s->n_lines < MANY_LINES);
	s->part = is_cut ? PART : s->n;
	s->n_parts = (s->n + s->part - 1) / s->part;
	*kind = (struct kind){args->input.dtype, args->accumulator,
			      cuda_team_of((int64_t)s->n, columns)};
}

/* ---- Run -------------------------------------------------------------------------------------*/

static tn_status launch_kernel(struct cuda_job *job, const char *name, const struct kind *kind,
			       struct scan *s)
{
	const struct cuda_define defines[DEFINES] = {{"DTYPE", kind->dtype},
						     {"ACCUMULATOR", kind->accumulator},
						     {"LX", kind->team.lx},
						     {"LY", kind->team.ly},
						     {"COLUMNS", kind->team.columns}};
	struct cuda_kernel *kernel;
	void *arguments[] = {s};
	tn_status status = cuda_kernel_get(job, "scan", name, defines, DEFINES, &kernel);
	if (status)
		return status;
	const struct cuda_grid grid = {
		cuda_blocks(job->device, s->n_lines * s->n_parts, kind->team.lx),
		1,
		1,
		CUDA_TEAM_BLOCK,
		1,
		1,
		0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

/* Replaces each part's total by the total of the parts before it. */
static tn_status scan_parts(struct cuda_job *job, const struct scan *s, const struct kind *kind)
{
	struct scan parts = {.n_lines = s->n_lines,
			     .n = s->n_parts,
			     .part = s->n_parts,
			     .n_parts = 1,
			     .from = s->parts,
			     .to = s->parts,
			     .from_step = 1,
			     .to_step = 1,
			     .length = {s->n_lines},
			     .from_stride = {(int64_t)s->n_parts},
			     .to_stride = {(int64_t)s->n_parts},
			     .nothing = s->nothing,
			     .rank = 1,
			     .combiner = s->combiner,
			     .exclusive = 1,
			     .keeps_dtype = 1};
	const struct kind own = {kind->accumulator, kind->accumulator,
				 cuda_team_of((int64_t)s->n_parts, 0)};
	return launch_kernel(job, "scan_lines", &own, &parts);
}

static tn_status scan(void *device, const struct tn_scan_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "scan");
	struct tn_scan_args own;
	struct cuda_job job;
	struct scan s;
	struct kind kind;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "scan");
	const struct tn_call *call = &own.call;
	const struct tn_operand *input = &own.input;
	if (!status)
		status = tn_plugin_check_operand(call, "scan", "input", 0, input, CUDA_STORAGE,
						 TN_PLUGIN_READS);
	if (!status)
		status = tn_plugin_check_operand(call, "scan", "output", 0, &own.output,
						 CUDA_STORAGE, TN_PLUGIN_WRITES);
	if (!status)
		status = check_kind(&own);
	if (!status && own.axis >= input->rank)
		status = tn_plugin_fail(call->error, TN_SHAPE, "scan",
					"axis %u: expected less than the rank %u", own.axis,
					input->rank);
	if (!status)
		status = tn_plugin_check_shape(call, "scan", "output", 0, &own.output, input->rank,
					       input->shape);
	if (status)
		return status;
	plan_scan(&s, &kind, &own);
	const uint64_t bytes =
		s.n_parts > 1 ? s.n_lines * s.n_parts * tn_dtype_size(own.accumulator) : 0;
	status = tn_plugin_workspace(&own.call, "scan", bytes, &goes_on);
	if (status || !goes_on)
		return status;
	if (s.n_parts > 1) {
		s.parts = (uint64_t)(uintptr_t)cuda_workspace_at(job.call);
		status = launch_kernel(&job, "scan_totals", &kind, &s);
		if (!status)
			status = scan_parts(&job, &s, &kind);
	}
	return status ? status : launch_kernel(&job, "scan_lines", &kind, &s);
}

const struct tn_scan_table cuda_scan_table = {
	.struct_size = sizeof(cuda_scan_table),
	.scan = scan,
};
