/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce: blocks of LX x LY threads, LY for each of LX results.  If the reduced axes are the dense
 * ones, the threads of one result are neighbours and load several elements at once (rows);
 * otherwise those of neighbouring results are (columns).  With too few results to fill the device,
 * each is split into chunks, whose accumulators are kept in the workspace for a second kernel.  All
 * of it is chosen by shapes, strides and the kind of device, so the bits are the same from run to
 * run.
 */
#include <string.h>

#include "geometry.h"
#include "kernel.h"
#include "program.h"
#include "ranges.h"
#include "reduce.h"
#include "status.h"

static const char operation[] = "reduce";

/* ---- The nest --------------------------------------------------------------------------------*/

static int asks_for(const struct tn_reduce_args *args, uint16_t op)
{
	return tn_plugin_program_has(args->prologue, op) ||
	       (args->epilogue && tn_plugin_program_has(args->epilogue, op));
}

static int has_place_combiner(const struct tn_reduce_args *args)
{
	int any = 0;
	for (uint32_t v = 0; v < args->n_values; v++)
		any |= cuda_is_place(args->combiners[v]);
	return any;
}

static uint64_t magnitude(int64_t stride)
{
	return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

static void swap_axes(struct tn_plugin_nest *nest, uint32_t a, uint32_t b)
{
	int64_t length = nest->lengths[a];
	nest->lengths[a] = nest->lengths[b];
	nest->lengths[b] = length;
	for (uint32_t k = 0; k < nest->n_views; k++) {
		int64_t *stride = nest->views[k].strides, kept = stride[a];
		stride[a] = stride[b];
		stride[b] = kept;
	}
}

/* The axes from first to end in the first input's memory order, the densest last. */
static void sort_axes(struct tn_plugin_nest *nest, uint32_t first, uint32_t end)
{
	const int64_t *stride = nest->views[0].strides;
	for (uint32_t i = first + 1; i < end; i++)
		for (uint32_t d = i; d > first && magnitude(stride[d - 1]) < magnitude(stride[d]);
		     d--)
			swap_axes(nest, d - 1, d);
}

/* Few different numbers of axes need few kernels. */
static uint32_t rank_class(uint32_t rank)
{
	uint32_t class = 1;
	while (class < rank)
		class *= 2;
	return class;
}

static void fill_nest(struct cuda_reduction *r, const struct tn_reduce_args *args)
{
	struct tn_plugin_nest *nest = &r->nest;
	uint32_t rank = args->inputs[0].rank, kept = rank - args->n_reduced;
	tn_plugin_nest_begin(nest, rank, kept, args->inputs[0].shape);
	for (uint32_t k = 0; k < args->prologue->n_inputs; k++)
		tn_plugin_nest_add(nest, &args->inputs[k], 0);
	for (uint32_t k = 0; k < tn_plugin_reduce_epilogue_inputs(args); k++)
		tn_plugin_nest_add(nest, &args->epilogue_inputs[k], 1);
	for (uint32_t j = 0; j < tn_plugin_reduce_outputs(args); j++)
		tn_plugin_nest_add(nest, &args->outputs[j], 1);
	if (asks_for(args, TN_OP_INDEX) || asks_for(args, TN_OP_ELEMENT)) {
		r->first_axis = kept == 0;
		r->n_named = rank;
		(void)tn_plugin_nest_pad(nest, 1, 1);
		return;
	}
	tn_plugin_nest_simplify(nest);
	sort_axes(nest, 0, nest->n_kept);
	if (!has_place_combiner(args))
		sort_axes(nest, nest->n_kept, nest->rank);
	tn_plugin_nest_simplify(nest);
	if (!tn_plugin_nest_pad(nest, rank_class(nest->n_kept),
				rank_class(nest->rank - nest->n_kept)))
		(void)tn_plugin_nest_pad(nest, 1, 1);
}

/* ---- The plan --------------------------------------------------------------------------------*/

/* The smallest nonzero stride between neighbours along some axes, over all inputs; 0: none. */
static uint64_t shortest(const struct cuda_reduction *r, uint32_t first, uint32_t end)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++)
		for (uint32_t d = first; d < end; d++) {
			uint64_t stride = magnitude(r->nest.views[k].strides[d]);
			if (r->nest.lengths[d] > 1 && stride && stride < least)
				least = stride;
		}
	return least;
}

static int is_aligned(const struct tn_plugin_nest *nest, const struct tn_plugin_view *view,
		      uint32_t n)
{
	uint32_t last = nest->rank - 1;
	if (view->strides[last] != 1 || cuda_view_address(view) % (n * tn_dtype_size(view->dtype)))
		return 0;
	for (uint32_t d = 0; d < last; d++)
		if (view->strides[d] % n && nest->lengths[d] > 1)
			return 0;
	return 1;
}

static uint32_t choose_vector(const struct cuda_reduction *r)
{
	const struct tn_plugin_nest *nest = &r->nest;
	uint32_t last = nest->rank - 1, vector = 8, n_aligned = 0;
	uint64_t before = tn_plugin_count(last - nest->n_kept, nest->lengths + nest->n_kept);
	if (!r->is_rows)
		return 1;
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++) {
		uint32_t fits = (uint32_t)(16 / tn_dtype_size(nest->views[k].dtype));
		if (nest->views[k].strides[last] == 1 && fits < vector)
			vector = fits;
	}
	while (before > 1 && nest->lengths[last] % vector)
		vector /= 2;
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++)
		n_aligned += (uint32_t)is_aligned(nest, &nest->views[k], vector);
	return n_aligned && nest->lengths[last] >= vector ? vector : 1;
}

/* The last axis from here on counts groups of `vector` elements. */
static void group_elements(struct cuda_reduction *r)
{
	struct tn_plugin_nest *nest = &r->nest;
	uint32_t last = nest->rank - 1;
	r->vector = choose_vector(r);
	r->n_last = nest->lengths[last];
	r->n_elements = tn_plugin_count(nest->rank - nest->n_kept, nest->lengths + nest->n_kept);
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++) {
		struct tn_plugin_view *view = &nest->views[k];
		r->step[k] = view->strides[last];
		r->walk[k] = r->step[k] == 0                     ? CUDA_CONSTANT
			     : is_aligned(nest, view, r->vector) ? CUDA_DENSE
								 : CUDA_STEPS;
		view->strides[last] *= r->vector;
	}
	r->has_tail = r->n_last % r->vector != 0;
	nest->lengths[last] = (r->n_last + r->vector - 1) / r->vector;
}

static uint32_t power_of_two(uint64_t least, uint32_t most)
{
	uint32_t power = 1;
	while (power < least && power < most)
		power *= 2;
	return power;
}

/* Threads for each result. */
static void choose_lanes(struct cuda_reduction *r, uint32_t processors)
{
	uint64_t enough = (uint64_t)processors * 8 * CUDA_REDUCE_BLOCK; /* threads */
	if (r->is_rows) {
		/* Several steps per thread if there are enough results. */
		uint64_t wanted =
			r->n_kept * r->n_groups / 4 > enough ? r->n_groups / 4 : r->n_groups;
		r->ly = power_of_two(wanted, CUDA_REDUCE_BLOCK);
		r->lx = CUDA_REDUCE_BLOCK / r->ly;
		return;
	}
	r->lx = power_of_two(r->n_kept,
			     r->n_groups <= 8 || r->n_kept > enough ? CUDA_REDUCE_BLOCK : 32);
	r->ly = CUDA_REDUCE_BLOCK / r->lx;
}

/* Chunks for each result: enough to fill the device, unless they become too short. */
static void choose_chunks(struct cuda_reduction *r, uint32_t processors)
{
	uint64_t blocks = (r->n_kept + r->lx - 1) / r->lx, enough = (uint64_t)processors * 4;
	uint64_t most = r->n_groups / ((uint64_t)r->ly * 8);
	r->n_chunks = 1;
	r->chunk = r->n_groups;
	if (blocks >= enough / 2 || most < 2)
		return;
	uint64_t wanted = (enough + blocks - 1) / blocks;
	wanted = wanted < most ? wanted : most;
	wanted = wanted < 1024 ? wanted : 1024;
	r->chunk = (r->n_groups + wanted - 1) / wanted;
	r->chunk = (r->chunk + r->ly - 1) / r->ly * r->ly;
	r->n_chunks = (r->n_groups + r->chunk - 1) / r->chunk;
}

static void plan_reduction(struct cuda_reduction *r, const struct cuda_device *device,
			   const struct tn_reduce_args *args)
{
	memset(r, 0, offsetof(struct cuda_reduction, nest));
	r->args = args;
	fill_nest(r, args);
	r->is_wide = tn_plugin_nest_is_wide(&r->nest);
	r->is_rows = shortest(r, r->nest.n_kept, r->nest.rank) <= shortest(r, 0, r->nest.n_kept);
	group_elements(r);
	r->n_kept = tn_plugin_count(r->nest.n_kept, r->nest.lengths);
	r->n_groups =
		tn_plugin_count(r->nest.rank - r->nest.n_kept, r->nest.lengths + r->nest.n_kept);
	choose_lanes(r, device->processors);
	choose_chunks(r, device->processors);
	for (uint32_t v = 0; v < args->n_values; v++)
		r->value[v] = tn_plugin_output_dtype(args->prologue, v);
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_status get_kernel(struct cuda_job *job, const struct cuda_reduction *r,
			    struct cuda_kernel **kernel)
{
	struct tn_plugin_text *key = cuda_key_begin(job->device, operation);
	uint64_t walks = 0, combiners = 0;
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++)
		walks = walks << 2 | (uint64_t)r->walk[k];
	for (uint32_t v = 0; v < r->args->n_values; v++)
		combiners = combiners << 4 | r->args->combiners[v];
	cuda_key_nest(key, &r->nest);
	cuda_key_number(key, walks | combiners << 32 | (uint64_t)r->args->n_values << 48);
	cuda_key_number(key, (uint64_t)r->stage | (uint64_t)r->lx << 8 | (uint64_t)r->ly << 20 |
				     (uint64_t)r->vector << 32 | (uint64_t)r->is_rows << 40 |
				     (uint64_t)r->is_wide << 41 | (uint64_t)r->has_tail << 42 |
				     (uint64_t)(r->args->epilogue != NULL) << 43 |
				     (uint64_t)r->first_axis << 44 | (uint64_t)r->n_named << 45);
	cuda_key_scalars(key, r->args->scalars, r->args->prologue->n_scalars);
	cuda_key_program(key, r->args->prologue);
	if (r->args->epilogue) {
		cuda_key_scalars(key, r->args->epilogue_scalars, r->args->epilogue->n_scalars);
		cuda_key_program(key, r->args->epilogue);
	}
	const struct cuda_printer printer = {
		.file = "reduce",
		.print = cuda_reduce_print,
		.argument = r,
		.has_normal = asks_for(r->args, TN_OP_NORMAL),
	};
	return cuda_kernel_print(job, &printer, kernel);
}

static tn_status launch_kernel(struct cuda_job *job, struct cuda_reduction *r,
			       struct cuda_words *words, const struct cuda_kernel *kernel)
{
	uint64_t blocks = (r->n_kept + r->lx - 1) / r->lx;
	void *arguments[] = {r->spilled ? (void *)&r->spilled : words->word};
	if (blocks > INT32_MAX)
		return tn_plugin_fail(job->call->error, TN_UNSUPPORTED, operation,
				      "%llu results: more than one launch can take",
				      (unsigned long long)r->n_kept);
	const struct cuda_grid grid = {
		.x = (uint32_t)blocks,
		.y = r->stage == CUDA_PART ? (uint32_t)r->n_chunks : 1,
		.z = 1,
		.block_x = CUDA_REDUCE_BLOCK,
		.block_y = 1,
		.block_z = 1,
	};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

/* All kernels exist before the first is started: a failure to build has no side effect. */
static tn_status run_stages(struct cuda_job *job, struct cuda_reduction *r,
			    struct cuda_words *words)
{
	struct cuda_kernel *first = NULL, *second = NULL, *store = NULL;
	struct cuda_reduction join = *r;
	r->stage = r->n_chunks > 1 ? CUDA_PART : CUDA_WHOLE;
	tn_status status = get_kernel(job, r, &first);
	if (!status && r->n_chunks > 1) {
		/* The second stage: its elements are each result's chunks. */
		join.stage = CUDA_JOIN;
		join.is_rows = 1;
		join.ly = power_of_two(join.n_chunks, CUDA_REDUCE_BLOCK);
		join.lx = CUDA_REDUCE_BLOCK / join.ly;
		status = get_kernel(job, &join, &second);
	}
	if (!status && r->spilled)
		status = cuda_words_kernel(job, &store);
	if (!status && r->spilled)
		status = cuda_words_store(job, store, words, r->spilled);
	if (!status)
		status = launch_kernel(job, r, words, first);
	return status || !second ? status : launch_kernel(job, &join, words, second);
}

tn_status cuda_reduce(void *device, const struct tn_reduce_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "reduce");
	struct tn_reduce_args own;
	struct cuda_reduction r;
	struct cuda_job job;
	struct cuda_words words;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, operation);
	if (!status)
		status =
			tn_plugin_check_reduce(job.device->host, &own, CUDA_STORAGE, CUDA_COMPUTES);
	if (status)
		return status;
	plan_reduction(&r, device, &own);
	words.text = NULL;
	words.n = 0;
	cuda_reduce_words(&words, &r);
	uint64_t spilled = cuda_words_spilled(&words);
	uint64_t partial =
		r.n_chunks > 1 ? CUDA_ACCUMULATOR * r.n_kept * r.n_chunks * own.n_values : 0;
	status = tn_plugin_workspace(&own.call, operation, spilled + partial, &goes_on);
	if (status || !goes_on)
		return status;
	if (spilled)
		r.spilled = (uint64_t)(uintptr_t)cuda_workspace_at(&own.call);
	if (partial) {
		r.scratch = (uint64_t)(uintptr_t)cuda_workspace_at(&own.call) + spilled;
		words.n = 0;
		cuda_reduce_words(&words, &r);
	}
	return run_stages(&job, &r, &words);
}
