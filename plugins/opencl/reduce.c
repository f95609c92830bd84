/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce, in one of two ways, chosen by the lengths and the kind of device alone:
 *
 *   items    one item for each kept element walks over all elements reduced to it
 *   groups   a group of items shares the elements of one chunk, each taking every n-th, and
 *            combines the results as a tree in local memory; with several chunks their results are
 *            kept in the workspace for a second kernel (join), with one item for each kept element
 *
 * The order of combining depends on nothing else, so the bits are the same from run to run.
 * Floating sums are accumulated in runs of 16 before they are added to the total.  What rounding
 * takes from the total then (Knuth's TwoSum; a NaN if the total is infinite) begins the next run:
 * so the error does not grow with the length.
 */
#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "memory.h"
#include "program.h"

enum way { ITEMS, GROUPS, JOIN };
enum { RUN = 16, MAX_VALUES = 4, MAX_CHUNKS = 64, CHUNK = 2048 };

struct reduction {
	const struct tn_reduce_args *args;
	enum way way;
	tn_dtype value[MAX_VALUES];       /* of the prologue's outputs */
	tn_dtype accumulator[MAX_VALUES]; /* dtype of a combiner's result */
	uint32_t lanes;                   /* groups: items in a group */
	uint64_t n_kept, n_reduced, n_chunks;
};

static const char operation[] = "reduce";

static int is_place(uint32_t combiner)
{
	return combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
}

static int is_floating(tn_dtype dtype)
{
	return dtype == TN_F32 || dtype == TN_F64;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_arguments(const struct opencl_device *device,
				 const struct tn_reduce_args *args)
{
	const struct tn_call *call = &args->call;
	tn_status status = tn_plugin_check_reduce(device->host, args, opencl_storage(device),
						  opencl_computes(device));
	if (!status)
		status = opencl_check_places(device, call, operation, "input", args->inputs,
					     args->prologue->n_inputs);
	if (!status)
		status = opencl_check_places(device, call, operation, "epilogue input",
					     args->epilogue_inputs,
					     tn_plugin_reduce_epilogue_inputs(args));
	if (!status)
		status = opencl_check_places(device, call, operation, "output", args->outputs,
					     tn_plugin_reduce_outputs(args));
	if (!status)
		status = opencl_check_scalar_places(device, call, operation, args->scalars,
						    args->prologue->n_scalars);
	if (!status && args->epilogue)
		status = opencl_check_scalar_places(device, call, operation, args->epilogue_scalars,
						    args->epilogue->n_scalars);
	return status;
}

/* ---- The plan --------------------------------------------------------------------------------*/

static int is_cpu(const struct opencl_job *job)
{
	return (job->device->facts->type & CL_DEVICE_TYPE_CPU) != 0;
}

/* A CPU is fastest with few long walks, a GPU with many short ones. */
static void choose_way(struct reduction *r, const struct opencl_job *job)
{
	int cpu = is_cpu(job);
	uint64_t enough = cpu ? 32 : 256; /* groups that keep the device busy */
	r->lanes = (uint32_t)opencl_group(job->device, cpu ? 8 : 128);
	r->way = r->n_reduced >= (cpu ? CHUNK : 256) && r->n_kept < (cpu ? 64 : 65536) ? GROUPS
										       : ITEMS;
	r->n_chunks = 1;
	if (r->way == ITEMS || r->n_kept >= enough)
		return;
	r->n_chunks = (r->n_reduced + CHUNK - 1) / CHUNK;
	if (r->n_chunks > (enough + r->n_kept - 1) / r->n_kept)
		r->n_chunks = (enough + r->n_kept - 1) / r->n_kept;
	if (r->n_chunks > MAX_CHUNKS)
		r->n_chunks = MAX_CHUNKS;
}

static void fill_nest(struct opencl_job *job, const struct tn_reduce_args *args)
{
	struct tn_plugin_nest *nest = &job->nest;
	nest->rank = args->inputs[0].rank;
	nest->n_kept = nest->rank - args->n_reduced;
	for (uint32_t d = 0; d < nest->rank; d++)
		nest->lengths[d] = args->inputs[0].shape[d];
	for (uint32_t k = 0; k < args->prologue->n_inputs; k++)
		tn_plugin_nest_add(nest, &args->inputs[k], 0);
	for (uint32_t k = 0; k < tn_plugin_reduce_epilogue_inputs(args); k++)
		tn_plugin_nest_add(nest, &args->epilogue_inputs[k], 1);
	for (uint32_t j = 0; j < tn_plugin_reduce_outputs(args); j++)
		tn_plugin_nest_add(nest, &args->outputs[j], 1);
	if (tn_plugin_program_has(args->prologue, TN_OP_INDEX) ||
	    (args->epilogue && tn_plugin_program_has(args->epilogue, TN_OP_INDEX)))
		return;
	tn_plugin_nest_simplify(nest);
	/* Few different ranks need few kernels.  A single reduced axis is common and needs no
	 * division. */
	uint32_t reduced = nest->rank - nest->n_kept;
	if (nest->n_kept <= 4 && reduced <= 4)
		tn_plugin_nest_pad(nest, 4, reduced > 1 ? 4 : 1);
}

static void plan_reduction(struct reduction *r, struct opencl_job *job,
			   const struct tn_reduce_args *args)
{
	memset(r, 0, sizeof(*r));
	r->args = args;
	fill_nest(job, args);
	const struct tn_plugin_nest *nest = &job->nest;
	r->n_kept = tn_plugin_count(nest->n_kept, nest->lengths);
	r->n_reduced = tn_plugin_count(nest->rank - nest->n_kept, nest->lengths + nest->n_kept);
	job->divides = 1;
	job->is_wide = r->n_kept > INT32_MAX / MAX_CHUNKS || r->n_reduced > INT32_MAX;
	choose_way(r, job);
	for (uint32_t v = 0; v < args->n_values; v++) {
		r->value[v] = tn_plugin_output_dtype(args->prologue, v);
		r->accumulator[v] = is_floating(r->value[v]) && !is_place(args->combiners[v])
					    ? r->value[v]
					    : TN_I64;
	}
	opencl_job_number(job, (int64_t)r->n_kept);
	opencl_job_number(job, (int64_t)r->n_reduced);
	opencl_job_number(job, (int64_t)r->n_chunks);
	opencl_job_number(job, (int64_t)((r->n_reduced + r->n_chunks - 1) / r->n_chunks));
	opencl_job_number(job, 0); /* start of the scratch, in words */
	opencl_job_scalars(job, args->scalars, args->prologue->n_scalars);
	if (args->epilogue)
		opencl_job_scalars(job, args->epilogue_scalars, args->epilogue->n_scalars);
	job->has_scratch = r->n_chunks > 1;
}

/* ---- Printing: accumulators ------------------------------------------------------------------*/

/* The accumulator of value v: acc or, for a position, best and place. */
static void print_accumulators(struct tn_plugin_text *text, const struct reduction *r)
{
	static const char *const integer[] = {"", "0", "1", "(-0x7fffffffffffffffL - 1)",
					      "0x7fffffffffffffffL"};
	static const char *const floating[] = {"", "0", "1", "-INFINITY", "INFINITY"};
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		uint32_t combiner = r->args->combiners[v];
		const char *type = opencl_type(r->accumulator[v]);
		if (is_place(combiner))
			tn_plugin_text_format(text, "\t%s best%u = 0;\n\tlong place%u = -1;\n",
					      opencl_type(r->value[v]), v, v);
		else
			tn_plugin_text_format(
				text, "\t%s acc%u = %s;\n", type, v,
				(is_floating(r->accumulator[v]) ? floating : integer)[combiner]);
	}
}

static int has_runs(const struct reduction *r, uint32_t v)
{
	return r->args->combiners[v] == TN_REDUCE_SUM && is_floating(r->accumulator[v]);
}

/* acc v := combiner of acc v and x, of its dtype; for a position, of best v and x, whose number is
 * `index`. */
static void print_join(struct tn_plugin_text *text, const struct reduction *r, uint32_t v,
		       const char *acc, const char *x, const char *index)
{
	uint32_t combiner = r->args->combiners[v];
	int floating = is_floating(r->accumulator[v]);
	if (is_place(combiner)) {
		tn_plugin_text_format(
			text,
			"\tif (%s >= 0 && (place%u < 0 || (best%u != best%u ?\n"
			"\t    %s != %s && %s < place%u :\n"
			"\t    %s != %s || %s %s best%u || (%s == best%u && %s < place%u)))) {\n"
			"\t\tbest%u = %s;\n\t\tplace%u = %s;\n\t}\n",
			index, v, v, v, x, x, index, v, x, x, x,
			combiner == TN_REDUCE_ARGMAX ? ">" : "<", v, x, v, index, v, v, x, v,
			index);
		return;
	}
	if (combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_MIN) {
		tn_plugin_text_format(text, "\t%s%u = %s %s %s%u%s%s%s%s ? %s : %s%u;\n", acc, v, x,
				      combiner == TN_REDUCE_MAX ? ">" : "<", acc, v,
				      floating ? " || " : "", floating ? x : "",
				      floating ? " != " : "", floating ? x : "", x, acc, v);
		return;
	}
	const char *sign = combiner == TN_REDUCE_SUM ? "+" : "*";
	if (floating)
		tn_plugin_text_format(text, "\t%s%u = %s%u %s %s;\n", acc, v, acc, v, sign, x);
	else
		tn_plugin_text_format(text, "\t%s%u = (long)((ulong)%s%u %s (ulong)%s);\n", acc, v,
				      acc, v, sign, x);
}

/* Adds one element's values to the accumulators. */
static void print_values(struct tn_plugin_text *text, const struct reduction *r)
{
	char name[32], x[32];
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		(void)snprintf(name, sizeof(name), "p_out%u", v);
		(void)snprintf(x, sizeof(x), "x%u", v);
		tn_dtype dtype = is_place(r->args->combiners[v]) ? r->value[v] : r->accumulator[v];
		tn_plugin_text_format(text, "\tconst %s %s = ", opencl_type(dtype), x);
		tn_plugin_text_convert(text, r->value[v], dtype, name);
		tn_plugin_text_add(text, ";\n");
		print_join(text, r, v, has_runs(r, v) ? "part" : "acc", x, "(long)r");
	}
}

static int has_any_run(const struct reduction *r)
{
	int any = 0;
	for (uint32_t v = 0; v < r->args->n_values; v++)
		any |= has_runs(r, v);
	return any;
}

static void print_run_begin(struct tn_plugin_text *text, const struct reduction *r)
{
	for (uint32_t v = 0; v < r->args->n_values; v++)
		if (has_runs(r, v))
			tn_plugin_text_format(text, "\t%s part%u = 0;\n",
					      opencl_type(r->accumulator[v]), v);
	if (has_any_run(r))
		tn_plugin_text_add(text, "\tuint steps = 0;\n");
}

static void print_run_end(struct tn_plugin_text *text, const struct reduction *r)
{
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		if (!has_runs(r, v))
			continue;
		const char *type = opencl_type(r->accumulator[v]);
		tn_plugin_text_format(
			text,
			"\t{\n\tconst %s sum = acc%u + part%u, taken = sum - acc%u;\n"
			"\tconst %s lost = (acc%u - (sum - taken)) + (part%u - taken);\n"
			"\tacc%u = sum;\n"
			"\tpart%u = lost == lost ? lost : 0;\n\t}\n",
			type, v, v, v, type, v, v, v, v);
	}
}

static void print_run_step(struct tn_plugin_text *text, const struct reduction *r)
{
	if (!has_any_run(r))
		return;
	tn_plugin_text_format(text, "\tif (++steps %% %d == 0) {\n", RUN);
	print_run_end(text, r);
	tn_plugin_text_add(text, "\t}\n");
}

/* ---- Printing: indices, prologue, epilogue ---------------------------------------------------*/

/* Indices c<first> to c<end-1> of element number `number` of those axes. */
static void print_indices(struct tn_plugin_text *text, const struct opencl_job *job,
			  const char *number, uint32_t first, uint32_t end)
{
	char rest[32];
	(void)snprintf(rest, sizeof(rest), "rest%u", first);
	if (end > first)
		tn_plugin_text_format(text, "\ttn_number %s = %s;\n", rest, number);
	for (uint32_t d = end; d-- > first + 1;)
		opencl_print_division(text, job, rest, d);
	if (end > first)
		tn_plugin_text_format(text, "\tconst tn_number c%u = %s;\n", first, rest);
}

/* The start of each input for kept element k. */
static void print_bases(struct tn_plugin_text *text, const struct opencl_job *job,
			const struct reduction *r)
{
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++) {
		tn_plugin_text_format(text, "\tconst long base%u = g.o%u", k, k);
		opencl_print_steps(text, job, k, "(long)c", 0, job->nest.n_kept);
		tn_plugin_text_add(text, ";\n");
	}
}

static void print_axis_names(struct tn_plugin_text *text, const char *prefix, uint32_t n)
{
	for (uint32_t d = 0; d < n; d++)
		tn_plugin_text_format(text, "\tconst long %si%u = (long)c%u;\n", prefix, d, d);
}

static void print_prologue(struct tn_plugin_text *text, const struct opencl_job *job,
			   const struct reduction *r)
{
	const struct tn_program *prologue = r->args->prologue;
	char place[32];
	tn_plugin_text_add(text, "\tconst long p_element = (long)k * g.n1 + (long)r;\n");
	if (tn_plugin_program_has(prologue, TN_OP_INDEX))
		print_axis_names(text, "p_", job->nest.rank);
	for (uint32_t k = 0; k < prologue->n_inputs; k++) {
		tn_dtype dtype = tn_plugin_source_dtype(prologue, TN_OP_INPUT, k);
		if (!dtype)
			continue;
		tn_plugin_text_format(text, "\tconst long at%u = base%u", k, k);
		opencl_print_steps(text, job, k, "(long)c", job->nest.n_kept, job->nest.rank);
		(void)snprintf(place, sizeof(place), "b%u[at%u]", k, k);
		tn_plugin_text_format(text, ";\n\tconst %s p_in%u = ", opencl_type(dtype), k);
		tn_plugin_text_convert(text, job->nest.views[k].dtype, dtype, place);
		tn_plugin_text_add(text, ";\n");
	}
	tn_plugin_text_print(text, &opencl_dialect, prologue, "p_");
}

/* The name of value v's result. */
static void name_result(const struct reduction *r, uint32_t v, char *name, size_t size)
{
	(void)snprintf(name, size, "%s%u", is_place(r->args->combiners[v]) ? "place" : "acc", v);
}

static void print_store(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t view,
			tn_dtype dtype, const char *value)
{
	tn_plugin_text_format(text, "\tb%u[g.o%u", view, view);
	opencl_print_steps(text, job, view, "(long)c", 0, job->nest.n_kept);
	tn_plugin_text_add(text, "] = ");
	tn_plugin_text_convert(text, dtype, job->nest.views[view].dtype, value);
	tn_plugin_text_add(text, ";\n");
}

static void print_epilogue_inputs(struct tn_plugin_text *text, const struct opencl_job *job,
				  const struct reduction *r)
{
	const struct tn_program *epilogue = r->args->epilogue;
	char name[48];
	for (uint32_t k = 0; k < epilogue->n_inputs; k++) {
		tn_dtype to = tn_plugin_source_dtype(epilogue, TN_OP_INPUT, k), from;
		uint32_t view = r->args->prologue->n_inputs + k - r->args->n_values;
		if (!to)
			continue;
		if (k < r->args->n_values) {
			name_result(r, k, name, sizeof(name));
			from = r->accumulator[k];
		} else {
			tn_plugin_text_format(text, "\tconst long at_e%u = g.o%u", k, view);
			opencl_print_steps(text, job, view, "(long)c", 0, job->nest.n_kept);
			tn_plugin_text_add(text, ";\n");
			(void)snprintf(name, sizeof(name), "b%u[at_e%u]", view, k);
			from = job->nest.views[view].dtype;
		}
		tn_plugin_text_format(text, "\tconst %s e_in%u = ", opencl_type(to), k);
		tn_plugin_text_convert(text, from, to, name);
		tn_plugin_text_add(text, ";\n");
	}
}

static void print_epilogue(struct tn_plugin_text *text, const struct opencl_job *job,
			   const struct reduction *r)
{
	const struct tn_program *epilogue = r->args->epilogue;
	uint32_t first = r->args->prologue->n_inputs + tn_plugin_reduce_epilogue_inputs(r->args);
	char name[32];
	if (!epilogue) {
		for (uint32_t v = 0; v < r->args->n_values; v++) {
			name_result(r, v, name, sizeof(name));
			print_store(text, job, first + v, r->accumulator[v], name);
		}
		return;
	}
	tn_plugin_text_add(text, "\tconst long e_element = (long)k;\n");
	if (tn_plugin_program_has(epilogue, TN_OP_INDEX))
		print_axis_names(text, "e_", job->nest.n_kept);
	opencl_print_program_scalars(text, job, epilogue, "e_", r->args->prologue->n_scalars);
	print_epilogue_inputs(text, job, r);
	tn_plugin_text_print(text, &opencl_dialect, epilogue, "e_");
	for (uint32_t j = 0; j < epilogue->n_outputs; j++) {
		(void)snprintf(name, sizeof(name), "e_out%u", j);
		print_store(text, job, first + j, tn_plugin_output_dtype(epilogue, j), name);
	}
}

/* ---- Printing: the three kernels -------------------------------------------------------------*/

static void print_items(struct tn_plugin_text *text, const struct opencl_job *job,
			const struct reduction *r)
{
	uint32_t kept = job->nest.n_kept, rank = job->nest.rank;
	tn_plugin_text_add(text, "\tconst tn_number k = (tn_number)get_global_id(0);\n"
				 "\tif (k >= (tn_number)g.n0)\n\t\treturn;\n"
				 "\ttn_number r = 0;\n");
	print_indices(text, job, "k", 0, kept);
	print_bases(text, job, r);
	opencl_print_program_scalars(text, job, r->args->prologue, "p_", 0);
	print_accumulators(text, r);
	print_run_begin(text, r);
	for (uint32_t d = kept; d < rank; d++)
		tn_plugin_text_format(text,
				      "\tfor (tn_number c%u = 0; c%u < (tn_number)g.length[%u]; "
				      "c%u++)\n",
				      d, d, d, d);
	tn_plugin_text_add(text, "\t{\n");
	print_prologue(text, job, r);
	print_values(text, r);
	print_run_step(text, r);
	tn_plugin_text_add(text, "\tr++;\n\t}\n");
	print_run_end(text, r);
	print_epilogue(text, job, r);
}

/* Combines all lanes into lane 0, halving the group in each step. */
static void print_tree(struct tn_plugin_text *text, const struct reduction *r)
{
	char x[48], place[48];
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		if (is_place(r->args->combiners[v]))
			tn_plugin_text_format(
				text, "\ttree%u[lane] = best%u;\n\tplaces%u[lane] = place%u;\n", v,
				v, v, v);
		else
			tn_plugin_text_format(text, "\ttree%u[lane] = acc%u;\n", v, v);
	}
	tn_plugin_text_add(text,
			   "\tbarrier(CLK_LOCAL_MEM_FENCE);\n"
			   "\tfor (uint half_way = LANES / 2; half_way > 0; half_way /= 2) {\n"
			   "\tif (lane < half_way) {\n");
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		(void)snprintf(x, sizeof(x), "tree%u[lane + half_way]", v);
		(void)snprintf(place, sizeof(place), "places%u[lane + half_way]", v);
		print_join(text, r, v, "acc", x, place);
		if (is_place(r->args->combiners[v]))
			tn_plugin_text_format(
				text, "\ttree%u[lane] = best%u;\n\tplaces%u[lane] = place%u;\n", v,
				v, v, v);
		else
			tn_plugin_text_format(text, "\ttree%u[lane] = acc%u;\n", v, v);
	}
	tn_plugin_text_add(text, "\t}\n\tbarrier(CLK_LOCAL_MEM_FENCE);\n\t}\n");
}

/* The bits of a value as an unsigned number, and back. */
static const char *to_bits(tn_dtype dtype)
{
	return dtype == TN_F32 ? "(ulong)as_uint(" : dtype == TN_F64 ? "as_ulong(" : "(ulong)(";
}

static const char *from_bits(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F32:
		return "as_float((uint)";
	case TN_F64:
		return "as_double(";
	case TN_BOOL:
		return "(uchar)(";
	case TN_I32:
		return "(int)(";
	case TN_U32:
		return "(uint)(";
	default:
		return "(long)(";
	}
}

static void print_scratch_write(struct tn_plugin_text *text, const struct reduction *r)
{
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		int place = is_place(r->args->combiners[v]);
		tn_dtype dtype = place ? r->value[v] : r->accumulator[v];
		tn_plugin_text_format(text, "\tslot[%u] = %s%s%u);\n", 2 * v, to_bits(dtype),
				      place ? "best" : "acc", v);
		if (place)
			tn_plugin_text_format(text, "\tslot[%u] = (ulong)place%u;\n", 2 * v + 1, v);
	}
}

static void print_groups(struct tn_plugin_text *text, const struct opencl_job *job,
			 const struct reduction *r)
{
	uint32_t kept = job->nest.n_kept, rank = job->nest.rank;
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		int place = is_place(r->args->combiners[v]);
		tn_plugin_text_format(text, "\tlocal %s tree%u[LANES];\n",
				      opencl_type(place ? r->value[v] : r->accumulator[v]), v);
		if (place)
			tn_plugin_text_format(text, "\tlocal long places%u[LANES];\n", v);
	}
	tn_plugin_text_add(text, "\tconst uint lane = (uint)get_local_id(0);\n"
				 "\tconst tn_number group = (tn_number)get_group_id(0);\n"
				 "\tconst tn_number k = group / (tn_number)g.n2;\n"
				 "\tconst long begin = (long)(group % (tn_number)g.n2) * g.n3;\n"
				 "\tconst long end = min(begin + g.n3, g.n1);\n");
	print_indices(text, job, "k", 0, kept);
	print_bases(text, job, r);
	opencl_print_program_scalars(text, job, r->args->prologue, "p_", 0);
	print_accumulators(text, r);
	print_run_begin(text, r);
	tn_plugin_text_add(text, "\tfor (long at = begin + lane; at < end; at += LANES) {\n"
				 "\tconst tn_number r = (tn_number)at;\n");
	print_indices(text, job, "r", kept, rank);
	print_prologue(text, job, r);
	print_values(text, r);
	print_run_step(text, r);
	tn_plugin_text_add(text, "\t}\n");
	print_run_end(text, r);
	print_tree(text, r);
	tn_plugin_text_add(text, "\tif (lane == 0) {\n");
	if (r->n_chunks > 1) {
		tn_plugin_text_format(text,
				      "\tglobal ulong *slot = scratch + g.n4 + (long)group * %u;\n",
				      2 * r->args->n_values);
		print_scratch_write(text, r);
	} else
		print_epilogue(text, job, r);
	tn_plugin_text_add(text, "\t}\n");
}

static void print_joins(struct tn_plugin_text *text, const struct opencl_job *job,
			const struct reduction *r)
{
	char x[48], place[48];
	tn_plugin_text_add(text, "\tconst tn_number k = (tn_number)get_global_id(0);\n"
				 "\tif (k >= (tn_number)g.n0)\n\t\treturn;\n");
	print_indices(text, job, "k", 0, job->nest.n_kept);
	print_accumulators(text, r);
	print_run_begin(text, r);
	tn_plugin_text_format(text,
			      "\tfor (long chunk = 0; chunk < g.n2; chunk++) {\n"
			      "\tglobal const ulong *slot = scratch + g.n4 +\n"
			      "\t\t((long)k * g.n2 + chunk) * %u;\n",
			      2 * r->args->n_values);
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		int is_at = is_place(r->args->combiners[v]);
		tn_dtype dtype = is_at ? r->value[v] : r->accumulator[v];
		tn_plugin_text_format(text, "\tconst %s x%u = %sslot[%u]);\n", opencl_type(dtype),
				      v, from_bits(dtype), 2 * v);
		(void)snprintf(x, sizeof(x), "x%u", v);
		(void)snprintf(place, sizeof(place), "(long)slot[%u]", 2 * v + 1);
		print_join(text, r, v, has_runs(r, v) ? "part" : "acc", x, place);
	}
	print_run_end(text, r);
	tn_plugin_text_add(text, "\t}\n");
	print_epilogue(text, job, r);
}

static void print_kernel(struct tn_plugin_text *text, const struct opencl_job *job,
			 const void *argument)
{
	const struct reduction *r = argument;
	opencl_print_number_type(text, job);
	tn_plugin_text_format(text, "#define LANES %u\n", r->lanes);
	opencl_print_header(text, job);
	tn_plugin_text_add(text, "{\n");
	if (r->way == ITEMS)
		print_items(text, job, r);
	else if (r->way == GROUPS)
		print_groups(text, job, r);
	else
		print_joins(text, job, r);
	tn_plugin_text_add(text, "}\n");
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_status get_kernel(struct opencl_job *job, const struct reduction *r,
			    struct opencl_kernel **kernel)
{
	job->fixed_group = r->way == GROUPS ? r->lanes : 0;
	struct tn_plugin_text *key = opencl_key_begin(job, operation);
	uint64_t combiners = 0;
	for (uint32_t v = 0; v < r->args->n_values; v++)
		combiners = combiners << 8 | r->args->combiners[v];
	opencl_key_number(key, (uint64_t)r->way | (uint64_t)r->lanes << 8 |
				       (uint64_t)(r->n_chunks > 1) << 33 |
				       (uint64_t)(r->args->epilogue != NULL) << 34 |
				       (uint64_t)r->args->n_values << 40);
	opencl_key_number(key, combiners);
	opencl_key_program(key, r->args->prologue);
	if (r->args->epilogue)
		opencl_key_program(key, r->args->epilogue);
	return opencl_kernel_get(job, print_kernel, r, kernel);
}

/* All kernels exist before the first is started: a failure to build has no side effect. */
static tn_status run_reduction(struct opencl_job *job, struct reduction *r)
{
	struct opencl_kernel *first, *second = NULL;
	size_t group = opencl_group(job->device, is_cpu(job) ? 16 : 128);
	if (r->way == ITEMS) {
		tn_status status = get_kernel(job, r, &first);
		return status ? status : opencl_kernel_run(job, first, r->n_kept, group);
	}
	tn_status status = get_kernel(job, r, &first);
	if (!status && r->n_chunks > 1) {
		r->way = JOIN;
		status = get_kernel(job, r, &second);
	}
	if (!status)
		status =
			opencl_kernel_run(job, first, r->n_kept * r->n_chunks * r->lanes, r->lanes);
	if (!status && second)
		status = opencl_kernel_run(job, second, r->n_kept, group);
	return status;
}

tn_status opencl_reduce(void *device, const struct tn_reduce_args *args)
{
	struct tn_reduce_args own;
	struct opencl_job job;
	struct reduction r;
	int goes_on;
	tn_status status = tn_plugin_take(&own, sizeof(own), args,
					  TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC, operation);
	if (!status)
		status = opencl_job_begin(&job, device, &own.call, operation);
	if (!status)
		status = check_arguments(device, &own);
	if (status)
		return status;
	plan_reduction(&r, &job, &own);
	uint64_t spilled = opencl_job_spill(&job);
	/* Two words for each value of each chunk of each kept element. */
	uint64_t scratch = r.n_chunks > 1 ? 16 * r.n_kept * r.n_chunks * own.n_values : 0;
	status = opencl_job_workspace(&job, spilled + scratch, &goes_on);
	if (status || !goes_on)
		return status;
	if (job.has_scratch) {
		job.number[4] = (int64_t)((own.call.workspace->offset + spilled) / 8);
		job.scratch = opencl_buffer_memory(device, own.call.workspace->buffer);
	}
	return run_reduction(&job, &r);
}
