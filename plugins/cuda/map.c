/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map: one kernel for each program, number of axes, and layout of the views along the last axis.  A
 * thread takes a few neighbours along that axis at a time, with one load and one store of up to 16
 * bytes if a view is dense and aligned, and advances in strides of the grid.
 */
#include <string.h>

#include "geometry.h"
#include "kernel.h"
#include "program.h"
#include "ranges.h"
#include "status.h"

enum { BLOCK = 256, MAX_VECTOR = 8 };

/* The layout of a view along the last axis. */
enum walk { STEPS, CONSTANT, DENSE };

struct map {
	const struct tn_map_args *args;
	struct tn_plugin_nest nest; /* the last axis counts groups of `vector` elements */
	uint32_t vector;
	int is_wide;
	int has_tail;   /* the last group may be short: there is only one axis */
	int64_t n_last; /* elements along the last axis */
	enum walk walk[TN_PLUGIN_MAX_VIEWS];
	int64_t step[TN_PLUGIN_MAX_VIEWS]; /* from one element of a group to the next */
};

static const char operation[] = "map";

/* ---- The plan --------------------------------------------------------------------------------*/

/* Can a view be loaded and stored n elements at a time? */
static int is_aligned(const struct tn_plugin_nest *nest, const struct tn_plugin_view *view,
		      uint32_t n)
{
	uint32_t last = nest->rank - 1;
	if (view->strides[last] != 1 || cuda_view_address(view) % (n * tn_dtype_size(view->dtype)))
		return 0;
	for (uint32_t d = 0; d < last; d++)
		if (view->strides[d] % n)
			return 0;
	return 1;
}

static void group_neighbours(struct map *map)
{
	struct tn_plugin_nest *nest = &map->nest;
	uint32_t last = nest->rank - 1;
	/* How many neighbours a thread takes: as many of the widest dense view's elements as fit in
	 * 16 bytes. */
	uint32_t vector = MAX_VECTOR, n_aligned = 0;
	for (uint32_t k = 0; k < nest->n_views; k++) {
		uint32_t fits = (uint32_t)(16 / tn_dtype_size(nest->views[k].dtype));
		if (nest->views[k].strides[last] == 1 && fits < vector)
			vector = fits;
	}
	while (nest->rank > 1 && nest->lengths[last] % vector)
		vector /= 2;
	for (uint32_t k = 0; k < nest->n_views; k++)
		n_aligned += (uint32_t)is_aligned(nest, &nest->views[k], vector);
	map->vector = n_aligned && nest->lengths[last] >= vector ? vector : 1;
	map->n_last = nest->lengths[last];
	for (uint32_t k = 0; k < nest->n_views; k++) {
		struct tn_plugin_view *view = &nest->views[k];
		map->step[k] = view->strides[last];
		map->walk[k] = map->step[k] == 0                     ? CONSTANT
			       : is_aligned(nest, view, map->vector) ? DENSE
								     : STEPS;
		view->strides[last] *= map->vector;
	}
	map->has_tail = nest->rank == 1 && map->vector > 1;
	nest->lengths[last] = (nest->lengths[last] + map->vector - 1) / map->vector;
}

static void plan_map(struct map *map, const struct tn_map_args *args)
{
	const struct tn_program *program = args->program;
	struct tn_plugin_nest *nest = &map->nest;
	map->args = args;
	tn_plugin_nest_begin(nest, args->outputs[0].rank, args->outputs[0].rank,
			     args->outputs[0].shape);
	for (uint32_t k = 0; k < program->n_inputs; k++)
		tn_plugin_nest_add(nest, &args->inputs[k], 1);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_plugin_nest_add(nest, &args->outputs[j], 1);
	if (!tn_plugin_program_has(program, TN_OP_INDEX)) {
		tn_plugin_nest_simplify(nest);
		if (nest->rank == 0 || nest->rank == 3 || (nest->rank > 4 && nest->rank < 8))
			tn_plugin_nest_pad(nest, nest->rank < 4 ? nest->rank + 1 : 8, 0);
	} else if (nest->rank == 0)
		tn_plugin_nest_pad(nest, 1, 0);
	map->is_wide = tn_plugin_nest_is_wide(nest);
	group_neighbours(map);
}

/* ---- The source ------------------------------------------------------------------------------*/

/* Two numbers; for each axis its length and multiplier; for each view its address, strides and
 * step. */
_Static_assert(2 + 2 * TN_MAX_RANK +
			       (TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS) *
				       (2 + TN_MAX_RANK) +
			       TN_PROGRAM_MAX_SCALARS <=
		       CUDA_PARAMETER_WORDS,
	       "the words of a map fit a kernel's parameters");

static void say_words(struct cuda_words *words, const struct map *map)
{
	cuda_word(words, "n", 0, CUDA_NO_AXIS, tn_plugin_count(map->nest.rank, map->nest.lengths));
	cuda_word(words, "n", 1, CUDA_NO_AXIS, (uint64_t)map->n_last);
	cuda_words_lengths(words, &map->nest);
	cuda_words_views(words, &map->nest);
	for (uint32_t k = 0; k < map->nest.n_views; k++)
		cuda_word(words, "step", k, CUDA_NO_AXIS, (uint64_t)map->step[k]);
	cuda_words_scalars(words, map->args->scalars, map->args->program->n_scalars, 0);
}

/* atK: where the group begins. */
static void print_place(struct tn_plugin_text *text, const struct map *map, uint32_t k)
{
	uint32_t last = map->nest.rank - 1;
	tn_plugin_text_format(text, "\tconst place at%u = 0", k);
	for (uint32_t d = 0; d < last; d++)
		tn_plugin_text_format(text, " + (place)c%u * (place)g.t%u_%u", d, k, d);
	if (map->walk[k] == DENSE)
		tn_plugin_text_format(text, " + (place)(c%u * V)", last);
	else if (map->walk[k] == STEPS)
		tn_plugin_text_format(text, " + (place)c%u * (place)g.t%u_%u", last, k, last);
	tn_plugin_text_add(text, ";\n");
}

static void print_load(struct tn_plugin_text *text, const struct map *map, uint32_t k)
{
	const char *type = cuda_memory_type(map->nest.views[k].dtype);
	print_place(text, map, k);
	tn_plugin_text_format(text,
			      "\tconst %s *from%u = (const %s *)g.p%u + at%u;\n\t%s x%u[V] = {};\n",
			      type, k, type, k, k, type, k);
	if (map->walk[k] == CONSTANT) {
		tn_plugin_text_format(text, "\tx%u[0] = *from%u;\n", k, k);
		return;
	}
	if (map->walk[k] == DENSE)
		tn_plugin_text_format(text, "\t%scu_load(x%u, from%u);\n",
				      map->has_tail ? "if (whole) " : "", k, k);
	if (map->walk[k] == DENSE && !map->has_tail)
		return;
	tn_plugin_text_format(text,
			      "\t%s{\n#pragma unroll\n"
			      "\t\tfor (int lane = 0; lane < V; lane++)\n"
			      "\t\t\t%sx%u[lane] = from%u[lane * (place)g.step%u];\n\t}\n",
			      map->walk[k] == DENSE ? "else " : "",
			      map->has_tail ? "if (lane < left) " : "", k, k, k);
}

static void print_store(struct tn_plugin_text *text, const struct map *map, uint32_t k, uint32_t j)
{
	const char *type = cuda_memory_type(map->nest.views[k].dtype);
	print_place(text, map, k);
	tn_plugin_text_format(text, "\t%s *to%u = (%s *)g.p%u + at%u;\n", type, k, type, k, k);
	if (map->walk[k] == DENSE)
		tn_plugin_text_format(text, "\t%scu_store(to%u, y%u);\n",
				      map->has_tail ? "if (whole) " : "", k, j);
	if (map->walk[k] == DENSE && !map->has_tail)
		return;
	tn_plugin_text_format(text,
			      "\t%s{\n#pragma unroll\n"
			      "\t\tfor (int lane = 0; lane < V; lane++)\n"
			      "\t\t\t%sto%u[lane * (place)g.step%u] = y%u[lane];\n\t}\n",
			      map->walk[k] == DENSE ? "else " : "",
			      map->has_tail ? "if (lane < left) " : "", k, k, j);
}

/* The program, for one element of the group. */
static void print_lane(struct tn_plugin_text *text, const struct map *map)
{
	const struct tn_program *program = map->args->program;
	uint32_t last = map->nest.rank - 1;
	tn_plugin_text_add(text, "#pragma unroll\n\tfor (int lane = 0; lane < V; lane++) {\n");
	if (map->args->outputs[0].rank) {
		for (uint32_t d = 0; d < last; d++)
			tn_plugin_text_format(text, "\tconst cu_i64 p_i%u = (cu_i64)c%u;\n", d, d);
		tn_plugin_text_format(text, "\tconst cu_i64 p_i%u = (cu_i64)c%u * V + lane;\n",
				      last, last);
	}
	tn_plugin_text_add(text, "\tconst cu_i64 p_element = (cu_i64)e * V + lane;\n");
	for (uint32_t k = 0; k < program->n_inputs; k++) {
		tn_dtype dtype = tn_plugin_source_dtype(program, TN_OP_INPUT, k);
		if (dtype)
			tn_plugin_text_format(text,
					      "\tconst %s p_in%u = cu_convert<%s>(x%u[%s]);\n",
					      cuda_value_type(dtype), k, cuda_value_type(dtype), k,
					      map->walk[k] == CONSTANT ? "0" : "lane");
	}
	tn_plugin_text_print(text, &cuda_dialect, program, "p_");
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_plugin_text_format(
			text, "\ty%u[lane] = cu_convert<%s>(p_out%u);\n", j,
			cuda_memory_type(map->nest.views[program->n_inputs + j].dtype), j);
	tn_plugin_text_add(text, "\t}\n");
}

static void print_kernel(struct tn_plugin_text *text, const void *argument)
{
	const struct map *map = argument;
	const struct tn_program *program = map->args->program;
	cuda_print_number_types(text, map->is_wide);
	tn_plugin_text_format(text, "#define V %u\n", map->vector);
	struct cuda_words words = {.text = text};
	tn_plugin_text_add(text, "struct geometry {\n");
	say_words(&words, map);
	tn_plugin_text_add(text, "};\n");
	tn_plugin_text_format(text,
			      "extern \"C\" __global__ void __launch_bounds__(%d)\n"
			      "run(const geometry g)\n{\n",
			      BLOCK);
	cuda_print_scalars(text, program, map->args->scalars, "p_", 0);
	tn_plugin_text_format(text,
			      "\tfor (number e = (number)blockIdx.x * %d + threadIdx.x; "
			      "e < (number)g.n0;\n\t     e += (number)gridDim.x * %d) {\n",
			      BLOCK, BLOCK);
	uint32_t rank = map->nest.rank;
	if (rank > 1)
		tn_plugin_text_add(text, "\tnumber rest = e;\n");
	for (uint32_t d = rank; d-- > 1;)
		cuda_print_division(text, "rest", d, map->is_wide);
	tn_plugin_text_format(text, "\tconst number c0 = %s;\n", rank > 1 ? "rest" : "e");
	if (map->has_tail)
		tn_plugin_text_add(text, "\tconst number left = (number)g.n1 - e * V;\n"
					 "\tconst bool whole = left >= V;\n");
	for (uint32_t k = 0; k < program->n_inputs; k++)
		if (tn_plugin_source_dtype(program, TN_OP_INPUT, k))
			print_load(text, map, k);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_plugin_text_format(
			text, "\t%s y%u[V];\n",
			cuda_memory_type(map->nest.views[program->n_inputs + j].dtype), j);
	print_lane(text, map);
	for (uint32_t j = 0; j < program->n_outputs; j++)
		print_store(text, map, program->n_inputs + j, j);
	tn_plugin_text_add(text, "\t}\n}\n");
}

/* ---- The entry -------------------------------------------------------------------------------*/

tn_status cuda_map(void *device, const struct tn_map_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "map");
	struct tn_map_args own;
	struct cuda_job job;
	struct map map;
	struct cuda_words words;
	struct cuda_kernel *kernel;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, operation);
	if (!status)
		status = tn_plugin_check_map(job.device->host, &own, CUDA_STORAGE, CUDA_COMPUTES);
	if (!status)
		status = tn_plugin_workspace(&own.call, operation, 0, &goes_on);
	if (status || !goes_on)
		return status;
	plan_map(&map, &own);
	struct tn_plugin_text *key = cuda_key_begin(job.device, operation);
	uint64_t walks = 0;
	cuda_key_nest(key, &map.nest);
	for (uint32_t k = 0; k < map.nest.n_views; k++)
		walks = walks << 2 | (uint64_t)map.walk[k];
	cuda_key_number(key, walks | (uint64_t)map.vector << 48 | (uint64_t)map.is_wide << 56 |
				     (uint64_t)map.has_tail << 57 |
				     (uint64_t)(map.args->outputs[0].rank > 0) << 58);
	cuda_key_scalars(key, map.args->scalars, map.args->program->n_scalars);
	cuda_key_program(key, map.args->program);
	const struct cuda_printer printer = {
		.print = print_kernel,
		.argument = &map,
		.has_normal = tn_plugin_program_has(map.args->program, TN_OP_NORMAL),
	};
	status = cuda_kernel_print(&job, &printer, &kernel);
	if (status)
		return status;
	words.text = NULL;
	words.n = 0;
	say_words(&words, &map);
	void *arguments[] = {words.word};
	uint64_t groups = tn_plugin_count(map.nest.rank, map.nest.lengths);
	const struct cuda_grid grid = {cuda_blocks(device, groups, BLOCK), 1, 1, BLOCK, 1, 1, 0};
	return cuda_kernel_launch(&job, kernel, grid, arguments);
}
