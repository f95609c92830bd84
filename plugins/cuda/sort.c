/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.sort/1.  Short lines are sorted by one kernel; long ones several at a time, by three
 * kernels for each 8 bits of a key, after one that makes the keys and before one that writes the
 * requested outputs.
 */
#include <string.h>

#include "kernel.h"
#include "operand.h"
#include "ranges.h"
#include "status.h"

/* The first four must equal those of kernels/sort.cu. */
enum { BLOCK = 256, WARPS = 8, TILE = 2048, PART = 4096, DIGITS = 256 };
/* The number of elements of long lines, at least one line, that are sorted at once: enough to fill
 * the device, with bounded workspace. */
#define AT_ONCE (UINT64_C(1) << 22)

/* Same layout as in kernels/sort.cu. */
struct sorting {
	uint64_t first_line, n_lines;
	uint64_t n, n_kept;
	uint64_t from, values, indices;
	int64_t from_step, values_step, indices_step;
	uint64_t length[TN_MAX_RANK];
	int64_t from_stride[TN_MAX_RANK], values_stride[TN_MAX_RANK], indices_stride[TN_MAX_RANK];
	uint64_t infinity, sign, inverse;
	uint64_t keys[2], places[2];
	uint64_t counts;
	uint64_t totals;
	uint32_t n_parts, shift;
	uint32_t width_bits;
	uint32_t columns;
	uint32_t rank;
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_flags(const struct tn_sort_args *args)
{
	struct tn_error_info *error = args->call.error;
	if (args->descending > 1 || args->has_values > 1 || args->has_indices > 1)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, "sort",
			"descending, has_values, has_indices: expected 0 or 1, found %u, "
			"%u, %u",
			args->descending, args->has_values, args->has_indices);
	if (!args->has_values && !args->has_indices)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "sort",
				      "expected has_values or has_indices to be 1");
	return TN_OK;
}

static tn_status check_input(const struct tn_sort_args *args)
{
	const struct tn_operand *input = &args->input;
	tn_status status = tn_plugin_check_operand(&args->call, "sort", "input", 0, input,
						   CUDA_STORAGE, TN_PLUGIN_READS);
	if (status)
		return status;
	if (!(tn_plugin_dtype_kind(input->dtype) & TN_PLUGIN_KIND_REAL))
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "sort",
				      "dtype %d cannot be sorted", (int)input->dtype);
	if (args->axis >= input->rank)
		return tn_plugin_fail(args->call.error, TN_SHAPE, "sort",
				      "axis %u: expected less than the rank %u", args->axis,
				      input->rank);
	if (input->shape[args->axis] > INT32_MAX)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "sort",
				      "lines of %lld elements: expected at most %d",
				      (long long)input->shape[args->axis], INT32_MAX);
	return TN_OK;
}

/* An output of k elements along the axis; k 0: any number. */
static tn_status check_output(const struct tn_sort_args *args, const char *name,
			      const struct tn_operand *output, tn_dtype dtype, int64_t k)
{
	const struct tn_operand *input = &args->input;
	int64_t shape[TN_MAX_RANK];
	tn_status status = tn_plugin_check_operand(&args->call, "sort", name, 0, output,
						   CUDA_STORAGE, TN_PLUGIN_WRITES);
	if (status)
		return status;
	if (output->dtype != dtype)
		return tn_plugin_fail(args->call.error, TN_DTYPE, "sort",
				      "%s: expected dtype %d, found %d", name, (int)dtype,
				      (int)output->dtype);
	memcpy(shape, input->shape, sizeof(shape));
	if (!k && output->rank == input->rank)
		k = output->shape[args->axis];
	if (k && k <= shape[args->axis])
		shape[args->axis] = k;
	return tn_plugin_check_shape(&args->call, "sort", name, 0, output, input->rank, shape);
}

/* ---- Plan ------------------------------------------------------------------------------------*/

static void add_view(struct tn_plugin_nest *nest, const struct tn_operand *operand, uint32_t axis)
{
	const struct tn_operand rest = cuda_without_axis(operand, axis);
	(void)tn_plugin_nest_add(nest, &rest, 0);
}

/* Where lines begin, and the distance between their elements. */
static void place_views(struct sorting *s, const struct tn_sort_args *args,
			const struct tn_plugin_nest *nest)
{
	const uint32_t axis = args->axis;
	uint32_t k = 0;
	for (uint32_t d = 0; d < nest->rank; d++)
		s->length[d] = (uint64_t)nest->lengths[d];
	memcpy(s->from_stride, nest->views[k].strides, sizeof(s->from_stride));
	s->from = cuda_view_address(&nest->views[k++]);
	s->from_step = args->input.strides[axis];
	if (args->has_values) {
		memcpy(s->values_stride, nest->views[k].strides, sizeof(s->values_stride));
		s->values = cuda_view_address(&nest->views[k++]);
		s->values_step = args->values.strides[axis];
	}
	if (args->has_indices) {
		memcpy(s->indices_stride, nest->views[k].strides, sizeof(s->indices_stride));
		s->indices = cuda_view_address(&nest->views[k]);
		s->indices_step = args->indices.strides[axis];
	}
}

static void plan_sort(struct sorting *s, const struct tn_sort_args *args)
{
	const uint32_t axis = args->axis;
	const struct tn_operand rest = cuda_without_axis(&args->input, axis);
	struct tn_plugin_nest nest;
	tn_plugin_nest_begin(&nest, rest.rank, rest.rank, rest.shape);
	add_view(&nest, &args->input, axis);
	if (args->has_values)
		add_view(&nest, &args->values, axis);
	if (args->has_indices)
		add_view(&nest, &args->indices, axis);
	tn_plugin_nest_simplify(&nest);
	tn_plugin_nest_pad(&nest, 1, 0);
	memset(s, 0, sizeof(*s));
	s->n_lines = tn_plugin_count(nest.rank, nest.lengths);
	s->n = (uint64_t)args->input.shape[axis];
	s->n_kept = (uint64_t)(args->has_values ? args->values : args->indices).shape[axis];
	place_views(s, args, &nest);
	s->columns = s->from_step != 1 && s->from_stride[nest.rank - 1] == 1;
	s->rank = nest.rank;
	/* How bits become a key. */
	static const uint64_t infinities[] = {
		[TN_F16] = 0x7c00,
		[TN_BF16] = 0x7f80,
		[TN_F32] = 0x7f800000,
		[TN_F64] = UINT64_C(0x7ff0000000000000),
	};
	const tn_dtype dtype = args->input.dtype;
	const int is_floating = tn_plugin_dtype_kind(dtype) == TN_PLUGIN_KIND_FLOATING;
	const int is_signed = (tn_plugin_dtype_kind(dtype) &
			       (TN_PLUGIN_KIND_SIGNED | TN_PLUGIN_KIND_FLOATING)) != 0;
	s->infinity = is_floating ? infinities[dtype] : 0;
	s->sign = is_signed ? UINT64_C(1) << (8 * tn_dtype_size(dtype) - 1) : 0;
	s->inverse = args->descending ? UINT64_MAX : 0;
}

/* ---- Lines in shared memory ------------------------------------------------------------------*/

static tn_status sort_short(struct cuda_job *job, struct sorting *s, const struct cuda_define *key)
{
	struct cuda_kernel *kernel;
	void *arguments[] = {s};
	tn_status status = cuda_kernel_get(job, "sort", "sort_short", key, 1, &kernel);
	if (status)
		return status;
	while (s->n > UINT64_C(1) << s->width_bits)
		s->width_bits++;
	const struct cuda_grid grid = {
		cuda_blocks(job->device, s->n_lines, TILE >> s->width_bits), 1, 1, BLOCK, 1, 1, 0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

/* ---- Long lines ------------------------------------------------------------------------------*/

struct kernels {
	struct cuda_kernel *load, *count, *offsets, *move, *store;
};

static uint64_t lines_at_once(const struct sorting *s)
{
	const uint64_t most = AT_ONCE / s->n > 1 ? AT_ONCE / s->n : 1;
	return s->n_lines < most ? s->n_lines : most;
}

/* Reserves n numbers after the current end of the workspace. */
static uint64_t reserve(uint64_t *at, uint64_t n, uint64_t size)
{
	const uint64_t found = *at;
	*at += (n * size + 255) / 256 * 256;
	return found;
}

/* Divides the workspace, which begins there; gives its end. */
static uint64_t divide_workspace(struct sorting *s, size_t key_size, uint64_t at)
{
	const uint64_t n_lines = lines_at_once(s);
	s->n_parts = (uint32_t)((s->n + PART - 1) / PART);
	for (int k = 0; k < 2; k++) {
		s->keys[k] = reserve(&at, n_lines * s->n, key_size);
		s->places[k] = reserve(&at, n_lines * s->n, sizeof(uint32_t));
	}
	s->counts = reserve(&at, n_lines * DIGITS * s->n_parts, sizeof(uint32_t));
	s->totals = reserve(&at, n_lines * DIGITS, sizeof(uint32_t));
	return at;
}

static tn_status launch_kernel(struct cuda_job *job, const struct cuda_kernel *kernel,
			       uint64_t blocks, struct sorting *s)
{
	const struct cuda_grid grid = {(uint32_t)blocks, 1, 1, BLOCK, 1, 1, 0};
	void *arguments[] = {s};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

/* Moves all pairs by one digit, and swaps source and destination. */
static tn_status pass(struct cuda_job *job, const struct kernels *k, struct sorting *s)
{
	const uint64_t keys = s->keys[0], places = s->places[0];
	tn_status status = launch_kernel(job, k->count, s->n_lines * s->n_parts, s);
	if (!status)
		status = launch_kernel(job, k->offsets, s->n_lines * (DIGITS / WARPS), s);
	if (!status)
		status = launch_kernel(job, k->move, s->n_lines * s->n_parts, s);
	s->keys[0] = s->keys[1];
	s->places[0] = s->places[1];
	s->keys[1] = keys;
	s->places[1] = places;
	return status;
}

static tn_status sort_long(struct cuda_job *job, const struct sorting *all,
			   const struct cuda_define *key, size_t key_size)
{
	const uint64_t most = lines_at_once(all);
	struct kernels kernels;
	/* The kernels that sum counts do not depend on the keys. */
	const struct cuda_define counts = {"DTYPE", TN_U32};
	const struct {
		const char *name;
		const struct cuda_define *define;
		struct cuda_kernel **kernel;
	} wanted[] = {{"sort_load", key, &kernels.load},
		      {"sort_count", key, &kernels.count},
		      {"sort_offsets", &counts, &kernels.offsets},
		      {"sort_move", key, &kernels.move},
		      {"sort_store", key, &kernels.store}};
	tn_status status = TN_OK;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !status; i++)
		status = cuda_kernel_get(job, "sort", wanted[i].name, wanted[i].define, 1,
					 wanted[i].kernel);
	for (uint64_t line = 0; line < all->n_lines && !status; line += most) {
		struct sorting some = *all;
		some.first_line = line;
		some.n_lines = all->n_lines - line < most ? all->n_lines - line : most;
		status = launch_kernel(job, kernels.load,
				       cuda_blocks(job->device, some.n_lines * some.n, BLOCK),
				       &some);
		for (some.shift = 0; some.shift < 8 * key_size && !status; some.shift += 8)
			status = pass(job, &kernels, &some);
		if (!status)
			status = launch_kernel(
				job, kernels.store,
				cuda_blocks(job->device, some.n_lines * some.n_kept, BLOCK), &some);
	}
	return status;
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_status sort(void *device, const struct tn_sort_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "sort");
	struct tn_sort_args own;
	struct cuda_job job;
	struct sorting s;
	uint64_t bytes = 0;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "sort");
	int64_t k = 0;
	if (!status)
		status = check_flags(&own);
	if (!status)
		status = check_input(&own);
	if (!status && own.has_values) {
		status = check_output(&own, "values", &own.values, own.input.dtype, 0);
		k = own.values.shape[own.axis];
	}
	if (!status && own.has_indices)
		status = check_output(&own, "indices", &own.indices, TN_I64, k);
	if (status)
		return status;
	const size_t key_size = tn_dtype_size(own.input.dtype);
	const struct cuda_define key = {"DTYPE", cuda_bits_dtype(own.input.dtype)};
	plan_sort(&s, &own);
	if (s.n > TILE)
		bytes = divide_workspace(&s, key_size, 0);
	status = tn_plugin_workspace(&own.call, "sort", bytes, &goes_on);
	if (status || !goes_on)
		return status;
	if (s.n <= TILE)
		return sort_short(&job, &s, &key);
	(void)divide_workspace(&s, key_size, (uint64_t)(uintptr_t)cuda_workspace_at(&own.call));
	return sort_long(&job, &s, &key, key_size);
}

const struct tn_sort_table cuda_sort_table = {
	.struct_size = sizeof(cuda_sort_table),
	.sort = sort,
};
