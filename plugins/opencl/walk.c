/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * If one axis remains, the printed kernel distinguishes views that are dense or constant along it,
 * so that a compiler can load vectors.
 */
#include "walk.h"

enum walk { ANY, DENSE, CONSTANT };

static enum walk walk_of(const struct tn_plugin_nest *nest, uint32_t view)
{
	int64_t stride = nest->views[view].strides[0];
	if (nest->rank != 1)
		return ANY;
	return stride == 1 ? DENSE : stride == 0 ? CONSTANT : ANY;
}

void opencl_walk_simplify(struct tn_plugin_nest *nest)
{
	tn_plugin_nest_simplify(nest);
	if (nest->rank == 0 || nest->rank == 3)
		tn_plugin_nest_pad(nest, nest->rank + 1, 0);
}

void opencl_walk_count(struct opencl_job *job)
{
	uint64_t count = tn_plugin_count(job->nest.rank, job->nest.lengths);
	job->is_wide = count > INT32_MAX;
	job->divides = 1;
	opencl_job_number(job, (int64_t)count);
}

void opencl_walk_key(struct tn_plugin_text *key, const struct opencl_job *job)
{
	uint64_t walks = 0;
	for (uint32_t k = 0; k < job->nest.n_views; k++)
		walks = walks << 2 | walk_of(&job->nest, k);
	opencl_key_number(key, walks);
}

void opencl_print_walk(struct tn_plugin_text *text, const struct opencl_job *job)
{
	opencl_print_number_type(text, job);
	opencl_print_header(text, job);
	tn_plugin_text_add(text, "{\n"
				 "\tconst tn_number e = (tn_number)get_global_id(0);\n"
				 "\tif (e >= (tn_number)g.n0)\n"
				 "\t\treturn;\n");
	/* The last axis first. */
	uint32_t rank = job->nest.rank;
	if (rank > 1)
		tn_plugin_text_add(text, "\ttn_number rest = e;\n");
	for (uint32_t d = rank; d-- > 1;)
		opencl_print_division(text, job, "rest", d);
	if (rank > 0)
		tn_plugin_text_format(text, "\tconst tn_number c0 = %s;\n",
				      rank > 1 ? "rest" : "e");
}

void opencl_print_place(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t view)
{
	enum walk walk = walk_of(&job->nest, view);
	tn_plugin_text_format(text, "\tconst long at%u = g.o%u", view, view);
	if (walk == DENSE)
		tn_plugin_text_add(text, " + e");
	else if (walk == ANY)
		opencl_print_steps(text, job, view, "(long)c", 0, job->nest.rank);
	tn_plugin_text_add(text, ";\n");
}
