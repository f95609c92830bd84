/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.scan/1.
 *
 * Lines are always cut into blocks of CPU_SCAN_ROWS elements.  With enough lines, each thread scans
 * a few of them at a time.  A few long lines are scanned one after the other by all threads: the
 * total of each block, then the totals before each, then the blocks.  Both ways combine the same
 * values in the same order.
 */
#include "lines.h"
#include "scan_block.h"

/* Elements that justify another thread. */
enum { PIECE = 32768 };

struct job {
	const struct cpu_device *cpu;
	struct tn_scan_args args;
	struct cpu_scan_kind kind;
	int64_t n;
	uint64_t lines;
	int64_t in_step, out_step;
	uint64_t blocks; /* of a line that is scanned by all; 0: lines are divided among threads */
	uint64_t line;   /* that is scanned by all */
	int writes;
	union cpu_sofar *carries; /* of its blocks */
};

/* The elements of a line from its start, or from its end. */
static const char *in_at(const struct job *job, uint64_t line)
{
	const struct tn_operand *in = &job->args.input;
	int64_t first = job->args.reverse ? job->n - 1 : 0;
	return cpu_line_at(in, job->args.axis, line) + first * cpu_line_step(in, job->args.axis);
}

static char *out_at(const struct job *job, uint64_t line)
{
	const struct tn_operand *out = &job->args.output;
	int64_t first = job->args.reverse ? job->n - 1 : 0;
	return cpu_line_at(out, job->args.axis, line) + first * cpu_line_step(out, job->args.axis);
}

static struct cpu_scan_block block_of(const struct job *job, uint64_t width)
{
	struct cpu_scan_block block = {.kind = &job->kind,
				       .in_step = job->in_step,
				       .out_step = job->out_step,
				       .width = (uint32_t)width,
				       .writes = job->writes};
	return block;
}

/* ---- Lines side by side ----------------------------------------------------------------------*/

static void scan_lines(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (uint64_t group = begin; group < end; group++) {
		uint64_t first = group * CPU_SCAN_WIDTH, left = job->lines - first;
		uint64_t width = left < CPU_SCAN_WIDTH ? left : CPU_SCAN_WIDTH;
		struct cpu_scan_block block = block_of(job, width);
		for (uint64_t c = 0; c < width; c++) {
			block.in[c] = in_at(job, first + c);
			block.out[c] = out_at(job, first + c);
			block.carry[c] = cpu_scan_nothing(&job->kind);
		}
		for (int64_t row = 0; row < job->n; row += block.rows) {
			block.rows = job->n - row < CPU_SCAN_ROWS ? job->n - row : CPU_SCAN_ROWS;
			cpu_scan_block(&block);
			for (uint64_t c = 0; c < width; c++) {
				block.in[c] += block.rows * job->in_step;
				block.out[c] += block.rows * job->out_step;
			}
		}
	}
}

/* ---- Blocks of a line side by side -----------------------------------------------------------*/

/* Blocks from `first` on, all of the same length. */
static void scan_blocks(const struct job *job, uint64_t first, uint64_t width, int64_t rows)
{
	struct cpu_scan_block block = block_of(job, width);
	block.rows = rows;
	for (uint64_t c = 0; c < width; c++) {
		int64_t row = (int64_t)(first + c) * CPU_SCAN_ROWS;
		block.in[c] = in_at(job, job->line) + row * job->in_step;
		block.out[c] = out_at(job, job->line) + row * job->out_step;
		block.carry[c] =
			job->writes ? job->carries[first + c] : cpu_scan_nothing(&job->kind);
	}
	cpu_scan_block(&block);
	for (uint64_t c = 0; c < width && !job->writes; c++)
		job->carries[first + c] = block.carry[c];
}

static void scan_groups(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	for (uint64_t group = begin; group < end; group++) {
		uint64_t first = group * CPU_SCAN_WIDTH, last = first + CPU_SCAN_WIDTH;
		int64_t rest = job->n % CPU_SCAN_ROWS;
		last = last < job->blocks ? last : job->blocks;
		/* A shorter last block is processed separately. */
		uint64_t whole = last == job->blocks && rest ? last - 1 : last;
		if (whole > first)
			scan_blocks(job, first, whole - first, CPU_SCAN_ROWS);
		if (whole < last)
			scan_blocks(job, whole, 1, rest);
	}
}

static void scan_by_all(struct job *job)
{
	uint64_t groups = (job->blocks + CPU_SCAN_WIDTH - 1) / CPU_SCAN_WIDTH;
	uint64_t grain = PIECE / (CPU_SCAN_ROWS * CPU_SCAN_WIDTH);
	for (job->line = 0; job->line < job->lines; job->line++) {
		union cpu_sofar before = cpu_scan_nothing(&job->kind);
		job->writes = 0;
		cpu_parallel(job->cpu, groups, grain, scan_groups, job);
		for (uint64_t block = 0; block < job->blocks; block++) {
			union cpu_sofar all = job->carries[block];
			job->carries[block] = before;
			before = cpu_scan_combine(&job->kind, before, all);
		}
		job->writes = 1;
		cpu_parallel(job->cpu, groups, grain, scan_groups, job);
	}
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_dtype accumulator_of(tn_dtype dtype)
{
	if (dtype == TN_F64 || dtype == TN_U64)
		return dtype;
	if (tn_plugin_dtype_kind(dtype) == TN_PLUGIN_KIND_FLOATING)
		return TN_F32;
	return tn_plugin_dtype_kind(dtype) & (TN_PLUGIN_KIND_BOOL | TN_PLUGIN_KIND_INTEGER) ? TN_I64
											    : 0;
}

static tn_status check_arguments(const struct tn_scan_args *args)
{
	struct tn_error_info *error = args->call.error;
	tn_dtype accumulator = accumulator_of(args->input.dtype);
	if (args->combiner < TN_REDUCE_SUM || args->combiner > TN_REDUCE_MIN)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "scan", "combiner %u is not supported",
				      args->combiner);
	if (!accumulator || args->accumulator != accumulator)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "scan",
				      "accumulator: expected dtype %d for dtype %d, found %d",
				      accumulator, args->input.dtype, args->accumulator);
	if (args->output.dtype != accumulator && args->output.dtype != args->input.dtype)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "scan",
				      "output: expected dtype %d or %d, found %d", accumulator,
				      args->input.dtype, args->output.dtype);
	if (args->reverse > 1 || args->exclusive > 1)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "scan",
				      "reverse, exclusive: expected 0 or 1, found %u, %u",
				      args->reverse, args->exclusive);
	return cpu_lines_check(&args->call, "scan", "output", &args->input, &args->output,
			       args->axis, 0);
}

static void plan_scan(struct job *job)
{
	const struct tn_scan_args *args = &job->args;
	const struct tn_host *host = job->cpu->instance->host;
	int64_t sign = args->reverse ? -1 : 1;
	job->n = args->input.shape[args->axis];
	job->lines = cpu_lines_count(&args->input, args->axis);
	job->in_step = sign * cpu_line_step(&args->input, args->axis);
	job->out_step = sign * cpu_line_step(&args->output, args->axis);
	job->writes = 1;
	job->kind = (struct cpu_scan_kind){.input = args->input.dtype,
					   .output = args->output.dtype,
					   .combiner = args->combiner,
					   .exclusive = (int)args->exclusive,
					   .is_real = args->accumulator == TN_F32 ||
						      args->accumulator == TN_F64,
					   .is_unsigned = args->accumulator == TN_U64};
	if (job->lines < (uint64_t)CPU_SCAN_WIDTH * host->thread_count(host->context) &&
	    job->n >= 2 * CPU_SCAN_WIDTH * CPU_SCAN_ROWS)
		job->blocks = (uint64_t)(job->n + CPU_SCAN_ROWS - 1) / CPU_SCAN_ROWS;
}

static tn_status scan(void *device, const struct tn_scan_args *args)
{
	struct job job = {.cpu = device};
	tn_status status = tn_plugin_take(&job.args, sizeof(job.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC, "scan");
	if (!status)
		status = check_arguments(&job.args);
	if (status)
		return status;
	plan_scan(&job);
	if (job.args.call.flags & TN_DRY_RUN) {
		status = tn_plugin_dry_run(&job.args.call, 0, 0);
		if (job.args.call.workspace)
			job.args.call.workspace->preferred = job.blocks * sizeof(*job.carries);
		return status;
	}
	/* The blocks' carries; without them the lines are divided among threads, even if few. */
	const struct tn_workspace *given = job.args.call.workspace;
	if (!given || given->size < job.blocks * sizeof(*job.carries))
		job.blocks = 0;
	else
		job.carries = (union cpu_sofar *)(uintptr_t)(given->buffer + given->offset);
	if (job.blocks) {
		scan_by_all(&job);
		return TN_OK;
	}
	uint64_t groups = (job.lines + CPU_SCAN_WIDTH - 1) / CPU_SCAN_WIDTH;
	cpu_parallel(job.cpu, groups, PIECE / ((uint64_t)job.n * CPU_SCAN_WIDTH) + 1, scan_lines,
		     &job);
	return TN_OK;
}

const struct tn_scan_table cpu_scan_table = {
	.struct_size = sizeof(cpu_scan_table),
	.scan = scan,
};
