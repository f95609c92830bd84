/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.sort/1.
 *
 * Many lines are divided among the threads, each with a slot of the workspace; a few long ones are
 * sorted one after the other, each by all threads.  The order is unique, so both give the same
 * result.
 */
#include "lines.h"
#include "sort_keys.h"

/* Items that justify another thread, and the most parts that a line is cut into. */
enum { CHUNK = 16384, MOST_CHUNKS = 64, LINE = 64 };

struct job {
	const struct cpu_device *cpu;
	struct tn_sort_args args;
	uint64_t n, k, lines;
	uint64_t line; /* that is sorted by all */
	uint64_t slots;
	uint64_t slot_bytes;
	char *memory;
	struct cpu_radix radix; /* of the first slot */
};

/* ---- One line --------------------------------------------------------------------------------*/

static void load_places(const struct job *job, const struct cpu_radix *radix, uint64_t line,
			uint64_t begin, uint64_t end)
{
	const struct tn_operand *in = &job->args.input;
	uint32_t axis = job->args.axis;
	cpu_sort_load(radix, in->dtype, (int)job->args.descending, cpu_line_at(in, axis, line),
		      cpu_line_step(in, axis), begin, end);
}

static void store_places(const struct job *job, const struct cpu_radix *radix, uint64_t line,
			 uint64_t begin, uint64_t end)
{
	const struct tn_sort_args *args = &job->args;
	uint32_t axis = args->axis;
	end = end < job->k ? end : job->k;
	if (args->has_values)
		cpu_sort_values(radix, tn_dtype_size(args->input.dtype),
				cpu_line_at(&args->input, axis, line),
				cpu_line_step(&args->input, axis),
				cpu_line_at(&args->values, axis, line),
				cpu_line_step(&args->values, axis), begin, end);
	if (args->has_indices)
		cpu_sort_indices(radix, cpu_line_at(&args->indices, axis, line),
				 cpu_line_step(&args->indices, axis), begin, end);
}

/* The arrays of slot number `slot`. */
static struct cpu_radix radix_of(const struct job *job, uint64_t slot)
{
	struct cpu_radix radix = job->radix;
	char *memory = job->memory + slot * job->slot_bytes;
	uint64_t bytes = job->n * cpu_radix_item(radix.is_wide);
	radix.counts = (uint32_t(*)[256])(void *)memory;
	radix.items = memory + radix.chunks * sizeof(*radix.counts);
	radix.other =
		memory + radix.chunks * sizeof(*radix.counts) + (bytes + LINE - 1) / LINE * LINE;
	return radix;
}

/* Slot i has the lines from i/slots of them to (i + 1)/slots. */
static void sort_lines(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (uint64_t slot = begin; slot < end; slot++) {
		uint64_t last = job->lines * (slot + 1) / job->slots;
		for (uint64_t line = job->lines * slot / job->slots; line < last; line++) {
			struct cpu_radix radix = radix_of(job, slot);
			load_places(job, &radix, line, 0, job->n);
			cpu_radix_sort(&radix, NULL);
			store_places(job, &radix, line, 0, job->n);
		}
	}
}

static void load_chunks(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	load_places(job, &job->radix, job->line, cpu_radix_chunk(&job->radix, begin),
		    cpu_radix_chunk(&job->radix, end));
}

static void store_chunks(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	store_places(job, &job->radix, job->line, cpu_radix_chunk(&job->radix, begin),
		     cpu_radix_chunk(&job->radix, end));
}

static void sort_by_all(struct job *job)
{
	uint64_t chunks = job->radix.chunks;
	for (job->line = 0; job->line < job->lines; job->line++) {
		job->radix = radix_of(job, 0);
		cpu_parallel(job->cpu, chunks, 1, load_chunks, job);
		cpu_radix_sort(&job->radix, job->cpu);
		cpu_parallel(job->cpu, chunks, 1, store_chunks, job);
	}
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_status check_output(const struct tn_sort_args *args, const char *name,
			      const struct tn_operand *output, tn_dtype dtype)
{
	if (output->dtype != dtype)
		return tn_plugin_fail(args->call.error, TN_DTYPE, "sort",
				      "%s: expected dtype %d, found %d", name, dtype,
				      output->dtype);
	return cpu_lines_check(&args->call, "sort", name, &args->input, output, args->axis, 1);
}

static tn_status check_arguments(const struct tn_sort_args *args)
{
	struct tn_error_info *error = args->call.error;
	tn_status status = TN_OK;
	if (args->descending > 1 || args->has_values > 1 || args->has_indices > 1)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, "sort",
			"descending, has_values, has_indices: expected 0 or 1, found %u, %u, %u",
			args->descending, args->has_values, args->has_indices);
	if (!args->has_values && !args->has_indices)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "sort",
				      "expected has_values or has_indices to be 1");
	if (!cpu_sort_has_keys(args->input.dtype))
		return tn_plugin_fail(error, TN_UNSUPPORTED, "sort", "dtype %d cannot be sorted",
				      args->input.dtype);
	if (args->has_values)
		status = check_output(args, "values", &args->values, args->input.dtype);
	if (!status && args->has_indices)
		status = check_output(args, "indices", &args->indices, TN_I64);
	if (!status && args->has_values && args->has_indices)
		status = cpu_lines_check(&args->call, "sort", "indices", &args->values,
					 &args->indices, args->axis, 0);
	if (!status && args->input.shape[args->axis] > UINT32_MAX)
		status = tn_plugin_fail(error, TN_UNSUPPORTED, "sort",
					"a line has 2^32 elements or more");
	return status;
}

/* Cuts the work: lines into slots, or the one line at a time into chunks. */
static void plan_sort(struct job *job)
{
	const struct tn_sort_args *args = &job->args;
	const struct tn_host *host = job->cpu->instance->host;
	uint64_t threads = host->thread_count(host->context);
	size_t size = tn_dtype_size(args->input.dtype);
	job->n = (uint64_t)args->input.shape[args->axis];
	job->k = (uint64_t)(args->has_values ? args->values : args->indices).shape[args->axis];
	job->lines = cpu_lines_count(&args->input, args->axis);
	job->slots = job->lines < 2 * threads ? job->lines : 2 * threads;
	job->radix = (struct cpu_radix){
		.n = job->n, .is_wide = size == 8, .bytes = (unsigned)size, .chunks = 1};
	if (job->lines < 2 * threads && job->n >= 2 * CHUNK) {
		job->slots = 1;
		job->radix.chunks = job->n / CHUNK < MOST_CHUNKS ? job->n / CHUNK : MOST_CHUNKS;
	}
	uint64_t bytes = job->n * cpu_radix_item(job->radix.is_wide);
	job->slot_bytes = job->radix.chunks * sizeof(*job->radix.counts) +
			  2 * ((bytes + LINE - 1) / LINE * LINE);
}

static tn_status sort(void *device, const struct tn_sort_args *args)
{
	struct job job = {.cpu = device};
	tn_status status = tn_plugin_take(&job.args, sizeof(job.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC, "sort");
	if (!status)
		status = check_arguments(&job.args);
	if (status)
		return status;
	plan_sort(&job);
	if (job.args.call.flags & TN_DRY_RUN) {
		struct tn_workspace *asked = job.args.call.workspace;
		if (!asked)
			return tn_plugin_fail(job.args.call.error, TN_UNSUPPORTED, "sort",
					      "workspace: expected %llu bytes, found none",
					      (unsigned long long)job.slot_bytes);
		asked->minimum = job.slot_bytes;
		asked->preferred = job.slots * job.slot_bytes;
		return TN_OK;
	}
	/* As many slots as fit in the workspace. */
	const struct tn_workspace *given = job.args.call.workspace;
	if (!given || given->size < job.slot_bytes)
		return tn_plugin_fail(job.args.call.error, TN_UNSUPPORTED, "sort",
				      "workspace: expected %llu bytes, found %llu",
				      (unsigned long long)job.slot_bytes,
				      (unsigned long long)(given ? given->size : 0));
	if (given->size / job.slot_bytes < job.slots)
		job.slots = given->size / job.slot_bytes;
	job.memory = (char *)(uintptr_t)(given->buffer + given->offset);
	if (job.radix.chunks > 1)
		sort_by_all(&job);
	else
		cpu_parallel(job.cpu, job.slots, 1, sort_lines, &job);
	return TN_OK;
}

const struct tn_sort_table cpu_sort_table = {
	.struct_size = sizeof(cpu_sort_table),
	.sort = sort,
};
