/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The source of a reduction; its accumulators are in kernels/reduce.cu.
 */
#include <stdio.h>

#include "program.h"
#include "reduce.h"

enum { FOLD = 16 }; /* additions to a partial sum before it is added to the total */

/* ---- Words -----------------------------------------------------------------------------------*/

/* n0 results, n1 groups of elements for each, n2 chunks, n3 groups in one, n4 elements along the
 * last axis, n5 elements for each result; wV holds the accumulators of value v. */
void cuda_reduce_words(struct cuda_words *words, const struct cuda_reduction *r)
{
	const struct tn_reduce_args *args = r->args;
	const uint64_t numbers[] = {r->n_kept, r->n_groups,         r->n_chunks,
				    r->chunk,  (uint64_t)r->n_last, r->n_elements};
	for (uint32_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		cuda_word(words, "n", k, CUDA_NO_AXIS, numbers[k]);
	for (uint32_t v = 0; v < args->n_values; v++)
		cuda_word(words, "w", v, CUDA_NO_AXIS,
			  r->scratch + v * CUDA_ACCUMULATOR * r->n_kept * r->n_chunks);
	cuda_words_lengths(words, &r->nest);
	cuda_words_views(words, &r->nest);
	for (uint32_t k = 0; k < args->prologue->n_inputs; k++)
		cuda_word(words, "step", k, CUDA_NO_AXIS, (uint64_t)r->step[k]);
	cuda_words_scalars(words, args->scalars, args->prologue->n_scalars, 0);
	if (args->epilogue)
		cuda_words_scalars(words, args->epilogue_scalars, args->epilogue->n_scalars,
				   args->prologue->n_scalars);
}

/* ---- Accumulators ----------------------------------------------------------------------------*/

static int is_floating(tn_dtype dtype)
{
	return dtype == TN_F32 || dtype == TN_F64;
}

/* The dtype in which value v is accumulated. */
static const char *accumulated(const struct cuda_reduction *r, uint32_t v)
{
	uint32_t combiner = r->args->combiners[v];
	if (is_floating(r->value[v]))
		return cuda_value_type(r->value[v]);
	return combiner == TN_REDUCE_SUM || combiner == TN_REDUCE_PRODUCT ? "cu_u64" : "cu_i64";
}

static const char *result_type(const struct cuda_reduction *r, uint32_t v)
{
	int place = cuda_is_place(r->args->combiners[v]);
	return is_floating(r->value[v]) && !place ? cuda_value_type(r->value[v]) : "cu_i64";
}

/* Prints the text once for each value, with its number in place of every '#'. */
static void print_each(struct tn_plugin_text *text, const struct cuda_reduction *r,
		       const char *words)
{
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		const char digit = (char)('0' + v);
		for (const char *at = words; *at; at++)
			tn_plugin_text_append(text, *at == '#' ? &digit : at, 1);
	}
}

/* ---- Indices ---------------------------------------------------------------------------------*/

/* c<first> to c<end-1> of element number `number` of those axes. */
static void print_indices(struct tn_plugin_text *text, const struct cuda_reduction *r,
			  const char *number, uint32_t first, uint32_t end)
{
	char rest[32];
	(void)snprintf(rest, sizeof(rest), "rest%u", first);
	tn_plugin_text_format(text, "\tnumber %s = %s;\n", rest, number);
	for (uint32_t d = end; d-- > first + 1;)
		cuda_print_division(text, rest, d, r->is_wide);
	tn_plugin_text_format(text, "\tconst number c%u = %s;\n", first, rest);
}

static void print_sum(struct tn_plugin_text *text, uint32_t view, uint32_t first, uint32_t end)
{
	for (uint32_t d = first; d < end; d++)
		tn_plugin_text_format(text, " + (place)c%u * (place)g.t%u_%u", d, view, d);
}

/* ---- The prologue ----------------------------------------------------------------------------*/

static void print_load(struct tn_plugin_text *text, const struct cuda_reduction *r, uint32_t k)
{
	const char *type = cuda_memory_type(r->nest.views[k].dtype);
	uint32_t last = r->nest.rank - 1;
	tn_plugin_text_format(text, "\tconst %s *from%u = base%u", type, k, k);
	print_sum(text, k, r->nest.n_kept, last);
	if (r->walk[k] != CUDA_CONSTANT)
		tn_plugin_text_format(text, " + (place)c%u * (place)g.t%u_%u", last, k, last);
	tn_plugin_text_format(text, ";\n\t%s x%u[V] = {};\n", type, k);
	if (r->walk[k] == CUDA_CONSTANT) {
		tn_plugin_text_format(text, "\tx%u[0] = *from%u;\n", k, k);
		return;
	}
	if (r->walk[k] == CUDA_DENSE)
		tn_plugin_text_format(text, "\t%scu_load(x%u, from%u);\n",
				      r->has_tail ? "if (left >= V) " : "", k, k);
	if (r->walk[k] == CUDA_DENSE && !r->has_tail)
		return;
	tn_plugin_text_format(text,
			      "\t%s{\n#pragma unroll\n"
			      "\t\tfor (int lane = 0; lane < V; lane++)\n"
			      "\t\t\t%sx%u[lane] = from%u[lane * (place)g.step%u];\n\t}\n",
			      r->walk[k] == CUDA_DENSE ? "else " : "",
			      r->has_tail ? "if (lane < left) " : "", k, k, k);
}

static void print_lane(struct tn_plugin_text *text, const struct cuda_reduction *r)
{
	const struct tn_program *prologue = r->args->prologue;
	uint32_t last = r->nest.rank - 1;
	tn_plugin_text_add(text, "#pragma unroll\n\tfor (int lane = 0; lane < V; lane++) {\n");
	if (r->has_tail)
		tn_plugin_text_add(text, "\tif (lane >= left)\n\t\tbreak;\n");
	tn_plugin_text_add(text, "\tconst cu_i64 at = (cu_i64)r * V + lane;\n"
				 "\tconst cu_i64 p_element = (cu_i64)kept * (cu_i64)g.n5 + at;\n");
	for (uint32_t d = 0; d < r->n_named; d++) {
		uint32_t axis = d + r->first_axis;
		tn_plugin_text_format(text, "\tconst cu_i64 p_i%u = (cu_i64)c%u%s;\n", d, axis,
				      axis == last ? " * V + lane" : "");
	}
	for (uint32_t k = 0; k < prologue->n_inputs; k++) {
		tn_dtype dtype = tn_plugin_source_dtype(prologue, TN_OP_INPUT, k);
		if (dtype)
			tn_plugin_text_format(text,
					      "\tconst %s p_in%u = cu_convert<%s>(x%u[%s]);\n",
					      cuda_value_type(dtype), k, cuda_value_type(dtype), k,
					      r->walk[k] == CUDA_CONSTANT ? "0" : "lane");
	}
	tn_plugin_text_print(text, &cuda_dialect, prologue, "p_");
	for (uint32_t v = 0; v < r->args->n_values; v++)
		tn_plugin_text_format(text, "\tacc%u.add((%s)p_out%u, at);\n", v, accumulated(r, v),
				      v);
	tn_plugin_text_add(text, "\t}\n");
}

static void print_elements(struct tn_plugin_text *text, const struct cuda_reduction *r)
{
	const struct tn_program *prologue = r->args->prologue;
	/* The start of each input for a result. */
	for (uint32_t k = 0; k < r->args->prologue->n_inputs; k++) {
		const char *type = cuda_memory_type(r->nest.views[k].dtype);
		if (!tn_plugin_source_dtype(r->args->prologue, TN_OP_INPUT, k))
			continue;
		tn_plugin_text_format(text, "\tconst %s *base%u = (const %s *)g.p%u", type, k, type,
				      k);
		print_sum(text, k, 0, r->nest.n_kept);
		tn_plugin_text_add(text, ";\n");
	}
	cuda_print_scalars(text, prologue, r->args->scalars, "p_", 0);
	tn_plugin_text_format(text,
			      "\tconst number begin = (number)blockIdx.y * (number)g.n3;\n"
			      "\tnumber end = begin + (number)g.n3;\n"
			      "\tend = end < (number)g.n1 ? end : (number)g.n1;\n"
			      "\tcu_u32 steps = 0;\n"
			      "\tfor (number r = begin + ly; is_result && r < end; r += LY) {\n");
	print_indices(text, r, "r", r->nest.n_kept, r->nest.rank);
	if (r->has_tail)
		tn_plugin_text_format(text, "\tconst number left = (number)g.n4 - c%u * V;\n",
				      r->nest.rank - 1);
	for (uint32_t k = 0; k < prologue->n_inputs; k++)
		if (tn_plugin_source_dtype(prologue, TN_OP_INPUT, k))
			print_load(text, r, k);
	print_lane(text, r);
	tn_plugin_text_format(text, "\tif (++steps %% (V < %d ? %d / V : 1) == 0) {\n", FOLD, FOLD);
	print_each(text, r, "\t\tacc#.fold();\n");
	tn_plugin_text_add(text, "\t}\n\t}\n");
	print_each(text, r, "\tacc#.fold();\n");
}

/* ---- The epilogue ----------------------------------------------------------------------------*/

static void print_store(struct tn_plugin_text *text, const struct cuda_reduction *r, uint32_t view,
			const char *value)
{
	const char *type = cuda_memory_type(r->nest.views[view].dtype);
	tn_plugin_text_format(text, "\t*((%s *)g.p%u", type, view);
	print_sum(text, view, 0, r->nest.n_kept);
	tn_plugin_text_format(text, ") = cu_convert<%s>(%s);\n", type, value);
}

static void print_epilogue_input(struct tn_plugin_text *text, const struct cuda_reduction *r,
				 uint32_t k)
{
	tn_dtype dtype = tn_plugin_source_dtype(r->args->epilogue, TN_OP_INPUT, k);
	uint32_t view = r->args->prologue->n_inputs + k - r->args->n_values;
	if (!dtype)
		return;
	tn_plugin_text_format(text, "\tconst %s e_in%u = cu_convert<%s>(", cuda_value_type(dtype),
			      k, cuda_value_type(dtype));
	if (k < r->args->n_values) {
		tn_plugin_text_format(text, "(%s)acc%u.result());\n", result_type(r, k), k);
		return;
	}
	tn_plugin_text_format(text, "*((const %s *)g.p%u",
			      cuda_memory_type(r->nest.views[view].dtype), view);
	print_sum(text, view, 0, r->nest.n_kept);
	tn_plugin_text_add(text, "));\n");
}

static void print_epilogue(struct tn_plugin_text *text, const struct cuda_reduction *r)
{
	const struct tn_program *epilogue = r->args->epilogue;
	uint32_t first = r->args->prologue->n_inputs + tn_plugin_reduce_epilogue_inputs(r->args);
	char value[64];
	if (!epilogue) {
		for (uint32_t v = 0; v < r->args->n_values; v++) {
			(void)snprintf(value, sizeof(value), "(%s)acc%u.result()",
				       result_type(r, v), v);
			print_store(text, r, first + v, value);
		}
		return;
	}
	tn_plugin_text_add(text, "\tconst cu_i64 e_element = (cu_i64)k;\n");
	for (uint32_t d = 0; d < r->n_named && d + r->first_axis < r->nest.n_kept; d++)
		tn_plugin_text_format(text, "\tconst cu_i64 e_i%u = (cu_i64)c%u;\n", d,
				      d + r->first_axis);
	cuda_print_scalars(text, epilogue, r->args->epilogue_scalars, "e_",
			   r->args->prologue->n_scalars);
	for (uint32_t k = 0; k < epilogue->n_inputs; k++)
		print_epilogue_input(text, r, k);
	tn_plugin_text_print(text, &cuda_dialect, epilogue, "e_");
	for (uint32_t j = 0; j < epilogue->n_outputs; j++) {
		(void)snprintf(value, sizeof(value), "e_out%u", j);
		print_store(text, r, first + j, value);
	}
}

/* ---- The kernel ------------------------------------------------------------------------------*/

static void print_body(struct tn_plugin_text *text, const struct cuda_reduction *r)
{
	if (r->ly > 1)
		print_each(text, r, "\t__shared__ acc#_type shared#[LX * LY];\n");
	tn_plugin_text_add(
		text, r->is_rows ? "\tconst int ly = threadIdx.x % LY, lx = threadIdx.x / LY;\n"
				 : "\tconst int lx = threadIdx.x % LX, ly = threadIdx.x / LX;\n");
	tn_plugin_text_format(text, "\tconst number k = (number)blockIdx.x * LX + lx;\n"
				    "\tconst bool is_result = k < (number)g.n0;\n"
				    "\tconst number kept = is_result ? k : 0;\n");
	print_indices(text, r, "kept", 0, r->nest.n_kept);
	print_each(text, r, "\tacc#_type acc#;\n");
	print_each(text, r, "\tacc#.begin();\n");
	if (r->stage == CUDA_JOIN) {
		tn_plugin_text_add(
			text, "\tfor (number r = ly; is_result && r < (number)g.n2; r += LY) {\n");
		print_each(text, r,
			   "\tacc#.join(((const acc#_type *)g.w#)[(cu_u64)k * g.n2 + r]);\n");
		tn_plugin_text_add(text, "\t}\n");
	} else {
		print_elements(text, r);
	}
	for (uint32_t v = 0; v < r->args->n_values && r->ly > 1; v++)
		tn_plugin_text_format(text, "\tcu_join_%s<LX, LY>(acc%u, shared%u, lx, ly);\n",
				      r->is_rows ? "rows" : "columns", v, v);
	tn_plugin_text_add(text, "\tif (ly != 0 || !is_result)\n\t\treturn;\n");
	if (r->stage == CUDA_PART)
		for (uint32_t v = 0; v < r->args->n_values; v++)
			tn_plugin_text_format(
				text,
				"\t((acc%u_type *)g.w%u)[(cu_u64)k * g.n2 + blockIdx.y] "
				"= acc%u;\n",
				v, v, v);
	else
		print_epilogue(text, r);
}

void cuda_reduce_print(struct tn_plugin_text *text, const void *argument)
{
	const struct cuda_reduction *r = argument;
	struct cuda_words words = {.text = text};
	cuda_print_number_types(text, r->is_wide);
	tn_plugin_text_format(text, "#define V %u\n#define LX %u\n#define LY %u\n", r->vector,
			      r->lx, r->ly);
	static const char *const format[] = {[TN_REDUCE_SUM] = "cu_acc_sum<%s>",
					     [TN_REDUCE_PRODUCT] = "cu_acc_product<%s>",
					     [TN_REDUCE_MAX] = "cu_acc_extreme<%s, 1>",
					     [TN_REDUCE_MIN] = "cu_acc_extreme<%s, -1>",
					     [TN_REDUCE_ARGMAX] = "cu_acc_place<%s, 1>",
					     [TN_REDUCE_ARGMIN] = "cu_acc_place<%s, -1>"};
	char type[64];
	for (uint32_t v = 0; v < r->args->n_values; v++) {
		(void)snprintf(type, sizeof(type), format[r->args->combiners[v]],
			       accumulated(r, v));
		tn_plugin_text_format(text,
				      "typedef %s acc%u_type;\n"
				      "static_assert(sizeof(acc%u_type) <= %llu, \"\");\n",
				      type, v, v, (unsigned long long)CUDA_ACCUMULATOR);
	}
	tn_plugin_text_add(text, "struct geometry {\n");
	cuda_reduce_words(&words, r);
	tn_plugin_text_format(text,
			      "};\nextern \"C\" __global__ void __launch_bounds__(%d)\n"
			      "run(const geometry %s)\n{\n",
			      CUDA_REDUCE_BLOCK, cuda_words_spilled(&words) ? "*spilled" : "g");
	if (cuda_words_spilled(&words))
		tn_plugin_text_add(text, "\tconst geometry &g = *spilled;\n");
	print_body(text, r);
	tn_plugin_text_add(text, "}\n");
}
