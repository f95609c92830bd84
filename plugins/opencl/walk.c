/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Where one axis is left, views that are dense or constant along it are told apart when the kernel is
 * printed, so that a compiler can load vectors.
 */
#include "walk.h"

enum walk { ANY, DENSE, CONSTANT };

static enum walk walk_of(const struct opencl_nest *nest, uint32_t view)
{
	int64_t stride = nest->view[view].stride[0];
	if (nest->rank != 1)
		return ANY;
	return stride == 1 ? DENSE : stride == 0 ? CONSTANT : ANY;
}

void opencl_walk_simplify(struct opencl_nest *nest)
{
	opencl_nest_simplify(nest);
	if (nest->rank == 0 || nest->rank == 3)
		opencl_nest_pad(nest, nest->rank + 1, 0);
}

/* Do element numbers need 64 bits?  Those of the items behind the last count too. */
static int is_wide(const struct opencl_job *job)
{
	return job->number[0] > INT32_MAX;
}

void opencl_walk_key(struct opencl_text *key, const struct opencl_job *job)
{
	uint64_t walks = (uint64_t)is_wide(job);
	for (uint32_t k = 0; k < job->nest.n_views; k++)
		walks = walks << 2 | walk_of(&job->nest, k);
	opencl_key_number(key, walks);
}

/* The last axis first. */
static void print_indices(struct opencl_text *text, uint32_t rank)
{
	if (rank > 1)
		opencl_text_add(text, "\ttn_number rest = e;\n");
	for (uint32_t d = rank; d-- > 1;)
		opencl_text_format(text,
				   "\tconst tn_number c%u = rest %% (tn_number)g.length[%u];\n"
				   "\trest /= (tn_number)g.length[%u];\n",
				   d, d, d);
	if (rank > 0)
		opencl_text_format(text, "\tconst tn_number c0 = %s;\n", rank > 1 ? "rest" : "e");
}

void opencl_print_walk(struct opencl_text *text, const struct opencl_job *job)
{
	opencl_text_format(text, "typedef %s tn_number;\n", is_wide(job) ? "ulong" : "uint");
	opencl_print_header(text, job);
	opencl_text_add(text, "{\n"
			      "\tconst tn_number e = (tn_number)get_global_id(0);\n"
			      "\tif (e >= (tn_number)g.n0)\n"
			      "\t\treturn;\n");
	print_indices(text, job->nest.rank);
}

void opencl_print_place(struct opencl_text *text, const struct opencl_job *job, uint32_t view)
{
	enum walk walk = walk_of(&job->nest, view);
	opencl_text_format(text, "\tconst long at%u = g.o%u", view, view);
	if (walk == DENSE)
		opencl_text_add(text, " + e");
	else if (walk == ANY)
		opencl_print_steps(text, job, view, "(long)c", 0, job->nest.rank);
	opencl_text_add(text, ";\n");
}
