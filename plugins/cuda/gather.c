/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gather and scatter_add.  Sums are made in the order of the indices, which are sorted for it:
 * merge sort, one kernel for each doubling of the runs.
 */
#include "gather.h"

#include <string.h>

#include "kernel.h"
#include "operand.h"
#include "ranges.h"
#include "status.h"

enum { BLOCK = 256, DEFINES = 5 };

/* Same layout as in kernels/gather.cu. */
struct choice {
	uint64_t table, listed, indices, keys;
	int64_t n_rows, n_indices;
	int64_t table_step, listed_step, indices_step;
	uint64_t n_others;
	uint64_t length[TN_MAX_RANK];
	int64_t table_stride[TN_MAX_RANK], listed_stride[TN_MAX_RANK];
};

/* The operand whose rows the indices select, and the one that has a row for each index. */
struct pair {
	const struct tn_operand *table, *listed;
	const char *listed_name;
};

/* ---- Checks ----------------------------------------------------------------------------------*/

/* An output of f32 may keep totals of narrower numbers. */
static int may_differ(const struct tn_gather_args *args, const struct pair *pair)
{
	return pair->table == &args->output && args->output.dtype == TN_F32 &&
	       (args->input.dtype == TN_F16 || args->input.dtype == TN_BF16);
}

static tn_status check_arguments(const struct tn_gather_args *args, const char *operation,
				 const struct pair *pair)
{
	const struct tn_call *call = &args->call;
	int64_t shape[TN_MAX_RANK];
	tn_status status = tn_plugin_check_operand(call, operation, "input", 0, &args->input,
						   CUDA_STORAGE, TN_PLUGIN_READS);
	if (!status)
		status = tn_plugin_check_operand(call, operation, "output", 0, &args->output,
						 CUDA_STORAGE, TN_PLUGIN_WRITES);
	if (!status && args->input.dtype != args->output.dtype && !may_differ(args, pair))
		status = tn_plugin_fail(call->error, TN_DTYPE, operation,
					"output: expected the input's dtype %d, found %d",
					(int)args->input.dtype, (int)args->output.dtype);
	if (status)
		return status;
	const struct tn_operand *indices = &args->indices;
	status = tn_plugin_check_operand(call, operation, "indices", 0, indices, CUDA_STORAGE,
					 TN_PLUGIN_READS);
	if (status)
		return status;
	if (indices->dtype != TN_I32 && indices->dtype != TN_I64)
		return tn_plugin_fail(call->error, TN_DTYPE, operation,
				      "indices: expected i32 or i64, found dtype %d",
				      (int)indices->dtype);
	if (indices->rank != 1 || args->axis >= pair->table->rank)
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "axis %u of rank %u, indices of rank %u (expected 1)",
				      args->axis, pair->table->rank, indices->rank);
	memcpy(shape, pair->table->shape, sizeof(shape));
	shape[args->axis] = indices->shape[0];
	return tn_plugin_check_shape(call, operation, pair->listed_name, 0, pair->listed,
				     pair->table->rank, shape);
}

/* Keys have 32 bits for the row, and 32 bits for the number of the index. */
static tn_status check_sum(const struct tn_gather_args *args)
{
	const tn_dtype dtype = args->input.dtype;
	if (!(tn_plugin_dtype_kind(dtype) & (TN_PLUGIN_KIND_INTEGER | TN_PLUGIN_KIND_FLOATING)))
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "scatter_add",
				      "dtype %d: sums are not supported", (int)dtype);
	if (args->indices.shape[0] > INT32_MAX || args->output.shape[args->axis] > INT32_MAX)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "scatter_add",
				      "%lld indices into %lld rows: expected at most %d of each",
				      (long long)args->indices.shape[0],
				      (long long)args->output.shape[args->axis], INT32_MAX);
	return TN_OK;
}

/* ---- Plan ------------------------------------------------------------------------------------*/

/* Gives the number of the other axes, after merging. */
static uint32_t plan_choice(struct choice *c, const struct tn_gather_args *args,
			    const struct pair *pair)
{
	const uint32_t axis = args->axis;
	struct tn_operand table = cuda_without_axis(pair->table, axis);
	struct tn_operand listed = cuda_without_axis(pair->listed, axis);
	struct tn_plugin_nest nest;
	tn_plugin_nest_begin(&nest, table.rank, table.rank, table.shape);
	tn_plugin_nest_add(&nest, &table, 1);
	tn_plugin_nest_add(&nest, &listed, 1);
	tn_plugin_nest_simplify(&nest);
	tn_plugin_nest_pad(&nest, 1, 0);
	memset(c, 0, sizeof(*c));
	c->table = cuda_address(pair->table);
	c->listed = cuda_address(pair->listed);
	c->indices = cuda_address(&args->indices);
	c->n_rows = pair->table->shape[axis];
	c->n_indices = args->indices.shape[0];
	c->table_step = pair->table->strides[axis];
	c->listed_step = pair->listed->strides[axis];
	c->indices_step = args->indices.strides[0];
	c->n_others = tn_plugin_count(nest.rank, nest.lengths);
	for (uint32_t d = 0; d < nest.rank; d++) {
		c->length[d] = (uint64_t)nest.lengths[d];
		c->table_stride[d] = nest.views[0].strides[d];
		c->listed_stride[d] = nest.views[1].strides[d];
	}
	return nest.rank;
}

static void define(struct cuda_define defines[DEFINES], const struct tn_gather_args *args,
		   const struct choice *c, uint32_t rank)
{
	const struct cuda_define all[DEFINES] = {
		{"DTYPE", args->input.dtype},
		{"RANK", rank},
		{"BY_AXIS", c->listed_step == 1 && c->listed_stride[rank - 1] != 1},
		{"WIDE_INDEX", args->indices.dtype == TN_I64},
		{"TOTAL", args->output.dtype}};
	memcpy(defines, all, sizeof(all));
}

static struct cuda_grid grid_for(const struct cuda_job *job, uint64_t n)
{
	return (struct cuda_grid){cuda_blocks(job->device, n, BLOCK), 1, 1, BLOCK, 1, 1, 0};
}

/* ---- gather ----------------------------------------------------------------------------------*/

tn_status cuda_gather(void *device, const struct tn_gather_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "gather");
	struct tn_gather_args own;
	struct cuda_job job;
	struct cuda_define defines[DEFINES];
	struct cuda_kernel *kernel;
	struct choice c;
	const struct pair pair = {&own.input, &own.output, "output"};
	void *arguments[] = {&c};
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "gather");
	if (!status)
		status = check_arguments(&own, "gather", &pair);
	if (!status)
		status = tn_plugin_workspace(&own.call, "gather", 0, &goes_on);
	if (status || !goes_on)
		return status;
	define(defines, &own, &c, plan_choice(&c, &own, &pair));
	defines[0].value = defines[4].value = cuda_bits_dtype(own.input.dtype);
	status = cuda_kernel_get(&job, "gather", "gather_rows", defines, DEFINES, &kernel);
	return status ? status
		      : cuda_kernel_launch(&job, kernel,
					   grid_for(&job, (uint64_t)c.n_indices * c.n_others),
					   arguments);
}

/* ---- scatter_add -----------------------------------------------------------------------------*/

struct kernels {
	struct cuda_kernel *keys, *merge, *sum;
};

/* c->keys := the sorted keys, in one of the two halves of the workspace. */
static tn_status sort(struct cuda_job *job, const struct kernels *k, struct choice *c)
{
	uint64_t n = (uint64_t)c->n_indices, from = c->keys, to = from + n * sizeof(uint64_t);
	void *keys_arguments[] = {c};
	tn_status status = cuda_kernel_launch(job, k->keys, grid_for(job, n), keys_arguments);
	for (uint64_t run = 1; run < n && !status; run *= 2) {
		void *arguments[] = {&from, &to, &n, &run};
		uint64_t sorted = to;
		status = cuda_kernel_launch(job, k->merge, grid_for(job, n), arguments);
		to = from;
		from = sorted;
	}
	c->keys = from;
	return status;
}

tn_status cuda_scatter_add(void *device, const struct tn_gather_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "scatter_add");
	struct tn_gather_args own;
	struct cuda_job job;
	const struct pair pair = {&own.output, &own.input, "input"};
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "scatter_add");
	if (!status)
		status = check_arguments(&own, "scatter_add", &pair);
	if (!status)
		status = check_sum(&own);
	if (!status)
		status = tn_plugin_workspace(&own.call, "scatter_add",
					     2 * sizeof(uint64_t) * (uint64_t)own.indices.shape[0],
					     &goes_on);
	if (status || !goes_on)
		return status;
	struct cuda_define defines[DEFINES];
	struct kernels kernels;
	struct choice c;
	void *arguments[] = {&c};
	define(defines, &own, &c, plan_choice(&c, &own, &pair));
	c.keys = (uint64_t)(uintptr_t)cuda_workspace_at(&own.call);
	/* Sorting uses the indices alone. */
	const struct cuda_define keys[DEFINES] = {
		{"DTYPE", TN_U64}, {"RANK", 1}, {"BY_AXIS", 0}, defines[3], {"TOTAL", TN_U64}};
	status = cuda_kernel_get(&job, "gather", "scatter_keys", keys, DEFINES, &kernels.keys);
	if (!status)
		status = cuda_kernel_get(&job, "gather", "scatter_merge", keys, DEFINES,
					 &kernels.merge);
	if (!status)
		status = cuda_kernel_get(&job, "gather", "scatter_sum", defines, DEFINES,
					 &kernels.sum);
	if (!status)
		status = sort(&job, &kernels, &c);
	if (status)
		return status;
	return cuda_kernel_launch(&job, kernels.sum,
				  grid_for(&job, (uint64_t)c.n_indices * c.n_others), arguments);
}
