/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A user's reduction: values of a program, combined along axes, and a program of the result.
 */
#include <string.h>

#include <tenon/map.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "ops/copy.h"
#include "ops/reduce_axes.h"
#include "ops/reduce_run.h"
#include "ops/users_program.h"

static const char operation[] = "reduce_map";

_Static_assert((int)TN_COMBINE_SUM == (int)TN_REDUCE_SUM &&
		       (int)TN_COMBINE_PRODUCT == (int)TN_REDUCE_PRODUCT &&
		       (int)TN_COMBINE_MAX == (int)TN_REDUCE_MAX &&
		       (int)TN_COMBINE_MIN == (int)TN_REDUCE_MIN,
	       "combiners are passed to backends");

struct job {
	struct tn_runtime *runtime;
	struct tn_users_text map;
	struct tn_users_program program;
	const struct tn_reduce_map_options *o;
	const tn_array *form; /* of the broadcast shape; only its shape counts */
	uint32_t axes;
	int64_t count; /* elements reduced to one */
	int rank;      /* without the reduced axes */
	int64_t shape[TN_MAX_RANK];
};

static const struct combiner {
	tn_array *(*reduce)(const tn_array *a, int n, const int *axes, int keepdims);
	tn_array *(*with)(const tn_array *a, const tn_array *b);
	int is_extreme;
} combiners[] = {
	[TN_COMBINE_SUM] = {tn_sum, tn_add, 0},
	[TN_COMBINE_PRODUCT] = {tn_prod, tn_multiply, 0},
	[TN_COMBINE_MAX] = {tn_max, tn_maximum, 1},
	[TN_COMBINE_MIN] = {tn_min, tn_minimum, 1},
};

/* An array of no memory of its own in the shape that the inputs broadcast to. */
static tn_array *broadcast_form(struct tn_runtime *runtime, const struct tn_users_text *map)
{
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK] = {0};
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	int rank = 0;
	for (int i = 0; i < map->n_inputs; i++) {
		const tn_array *in = map->inputs[i];
		if (tn_shape_broadcast(&rank, shape, in->rank, in->shape))
			continue;
		tn_runtime_fail(runtime, TN_SHAPE, operation,
				"input %d of shape %s does not broadcast with shape %s", i,
				tn_array_text(in, found), tn_shape_print(rank, shape, expected));
		return NULL;
	}
	tn_array *form = tn_array_view(map->inputs[0], rank, shape, strides, 0);
	return tn_end(runtime, form ? TN_OK : runtime->report.status, form);
}

/* ---- Values, combined ------------------------------------------------------------------------*/

static tn_dtype combined_dtype(const struct job *job)
{
	tn_dtype value = job->program.results[0];
	return combiners[job->o->combiner].is_extreme ? value : tn_sum_type(value);
}

/* Can the backend's reduction do it in one pass?  It compares in i64, and puts axes in an order of
 * its own; its accumulators are not recorded. */
static int is_one_pass(const struct job *job)
{
	const struct tn_program *program = job->program.program;
	const tn_dtype value = job->program.results[0];
	return job->count && value != TN_BOOL &&
	       !(value == TN_U64 && combiners[job->o->combiner].is_extreme) &&
	       !tn_program_has(program, TN_OP_INDEX) && !tn_program_has(program, TN_OP_ELEMENT) &&
	       !tn_wants_record(job->runtime, (uint32_t)job->map.n_inputs, job->map.inputs);
}

static tn_array *combine_in_one_pass(struct job *job)
{
	struct tn_runtime *runtime = job->runtime;
	tn_array *out = tn_array_make(runtime, tn_array_home(job->form), combined_dtype(job),
				      job->rank, job->shape);
	const struct tn_reduce_run run = {.operation = job->map.number,
					  .prologue = job->program.program,
					  .inputs = job->map.inputs,
					  .outputs = &out,
					  .scalars = job->program.scalars,
					  .rank = job->form->rank,
					  .shape = job->form->shape,
					  .axes = job->axes,
					  .n_values = 1,
					  .combiners = {job->o->combiner}};
	return tn_end(runtime, out ? tn_reduce_run(runtime, &run) : runtime->report.status, out);
}

static tn_array *combine_values(struct job *job, int n, const int *axes)
{
	struct tn_runtime *runtime = job->runtime;
	const struct combiner *combiner = &combiners[job->o->combiner];
	tn_array *values;
	if (combiner->is_extreme && !job->count && job->o->initial)
		return tn_array_filled_number(job->form, operation, "initial", combined_dtype(job),
					      job->rank, job->shape, *job->o->initial);
	tn_status status =
		tn_users_run(runtime, &job->map, &job->program, job->program.results, &values);
	return status ? tn_end(runtime, status, NULL) : combiner->reduce(values, n, axes, 0);
}

static tn_array *combine_initial(const struct job *job, tn_array *a)
{
	if (!a || !job->o->initial)
		return a;
	const tn_array *initial = tn_array_filled_number(a, operation, "initial", a->dtype, 0, NULL,
							 *job->o->initial);
	return combiners[job->o->combiner].with(a, initial);
}

/* ---- The result ------------------------------------------------------------------------------*/

static tn_array *run_post(const struct job *job, const tn_array *a)
{
	static const char *const name = "a";
	const struct tn_users_text post = {.operation = operation,
					   .number = job->map.number,
					   .argument = "post",
					   .text = job->o->post,
					   .n_inputs = 1,
					   .names = &name,
					   .inputs = &a,
					   .n_scalars = job->map.n_scalars,
					   .scalar_names = job->map.scalar_names,
					   .scalars = job->map.scalars};
	struct tn_users_program program;
	tn_array *out = NULL;
	tn_status status = tn_users_parse(job->runtime, &post, &program);
	if (status)
		return tn_end(job->runtime, status, NULL);
	tn_dtype dtype = tn_users_dtype(program.results[0], job->map.n_inputs, job->map.inputs);
	status = tn_users_run(job->runtime, &post, &program, &dtype, &out);
	tn_users_release(job->runtime, &program);
	return tn_end(job->runtime, status, out);
}

static tn_array *finish(const struct job *job, tn_array *a)
{
	int64_t shape[TN_MAX_RANK];
	int rank;
	if (!a)
		return NULL;
	const tn_dtype dtype = tn_users_dtype(a->dtype, job->map.n_inputs, job->map.inputs);
	if (job->o->post)
		a = run_post(job, a);
	else if (dtype != a->dtype)
		a = tn_astype(a, dtype);
	if (!job->o->keepdims)
		return a;
	tn_axes_shape(job->form, job->axes, 1, &rank, shape);
	return tn_reshape(a, rank, shape);
}

/* In a scope of its caller. */
static tn_array *reduce(struct job *job)
{
	int axes[TN_MAX_RANK], n = job->o->axes ? job->o->n_axes : TN_ALL_AXES;
	tn_array *a;
	job->form = broadcast_form(job->runtime, &job->map);
	if (!job->form || tn_axes_mask(job->form, operation, &n, job->o->axes, axes, &job->axes))
		return NULL;
	job->count = tn_axes_shape(job->form, job->axes, 0, &job->rank, job->shape);
	a = is_one_pass(job) ? combine_in_one_pass(job) : combine_values(job, n, axes);
	return finish(job, combine_initial(job, a));
}

static tn_array *parse_and_reduce(struct job *job)
{
	tn_context *context = job->runtime->context;
	if (job->o->combiner < TN_COMBINE_SUM || job->o->combiner > TN_COMBINE_MIN) {
		tn_runtime_fail(job->runtime, TN_INVALID_ARGUMENT, operation,
				"combiner: expected TN_COMBINE_SUM to TN_COMBINE_MIN, found %u",
				job->o->combiner);
		return NULL;
	}
	tn_status status = tn_users_parse(job->runtime, &job->map, &job->program);
	if (status)
		return tn_end(job->runtime, status, NULL);
	tn_array *out = NULL;
	if (!tn_scope_begin(context))
		out = tn_scope_end(context, reduce(job));
	tn_users_release(job->runtime, &job->program);
	return out;
}

tn_array *tn_reduce_map(const char *text, int n_inputs, const char *const *names,
			const tn_array *const *inputs, const struct tn_reduce_map_options *options)
{
	struct tn_reduce_map_options own = tn_reduce_map_defaults();
	struct job job = {.runtime = tn_users_begin(operation, n_inputs, inputs), .o = &own};
	if (!job.runtime)
		return NULL;
	if (options && tn_runtime_take(job.runtime, &own, sizeof(own), options,
				       "struct tn_reduce_map_options", operation))
		return NULL;
	job.map = (struct tn_users_text){.operation = operation,
					 .number = tn_operation_named(job.runtime, operation),
					 .argument = "text",
					 .text = text,
					 .n_inputs = n_inputs,
					 .names = names,
					 .inputs = inputs,
					 .n_scalars = own.n_scalars,
					 .scalar_names = own.scalar_names,
					 .scalars = own.scalars};
	return parse_and_reduce(&job);
}
