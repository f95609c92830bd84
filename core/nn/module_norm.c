/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms.  A batch norm can include a residual and an activation (struct tn_then).
 */
#include "nn/lookup.h"
#include "nn/module_norm.h"

#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "array/shape.h"
#include "base/memory.h"
#include "base/options.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "layers/batch_norm.h"
#include "nn/module.h"
#include "nn/module_activation.h"
#include "nn/tree.h"
#include "ops/map.h"

struct norm_state {
	double epsilon;
	double momentum;
	int cumulative;
	int n_axes;
	int64_t groups;
	int ranks[2];               /* of a batch norm's x: the least and the most */
	int64_t shape[TN_MAX_RANK]; /* of the axes of a layer norm */
};

static tn_status take_options(tn_context *context, const struct tn_module_class *class_,
			      const struct tn_module_norm_options *given,
			      struct tn_module_norm_options *options)
{
	*options = tn_module_norm_defaults();
	return tn_runtime_take(tn_runtime_of(context), options, sizeof(*options), given,
			       "struct tn_module_norm_options", class_->name);
}

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_module_norm_options, epsilon), TN_MOST, .most = INFINITY},
	{TN_MEMBER(struct tn_module_norm_options, momentum), .most = 1},
	{0},
};

/* A module with weight and bias of that shape; NULL: the error is kept. */
static tn_module *create_norm(tn_context *context, const struct tn_module_class *class_, int n_axes,
			      const int64_t *shape, int64_t groups,
			      const struct tn_module_norm_options *options)
{
	if (tn_runtime_check(tn_runtime_of(context), options, members, class_->name))
		return NULL;
	struct norm_state state = {.epsilon = options->epsilon,
				   .momentum = options->momentum,
				   .cumulative = options->cumulative,
				   .n_axes = n_axes,
				   .groups = groups};
	memcpy(state.shape, shape, (size_t)n_axes * sizeof(*shape));
	tn_module *module = tn_module_of_class(context, class_, &state, sizeof(state));
	if (!module || options->no_affine)
		return module;
	if (!tn_module_add_parameter(module, "weight", n_axes, shape, 0.0, 1.0) &&
	    !tn_module_add_parameter(module, "bias", n_axes, shape, 0.0, 0.0))
		return module;
	tn_module_destroy(module);
	return NULL;
}

/* ---- Batch norm ------------------------------------------------------------------------------*/

/* num_batches_tracked + 1 */
static tn_status count_batch(tn_module *module)
{
	static const struct tn_formula next = {
		.text = "count = count + 1", .inputs = "count", .outputs = "count"};
	struct tn_runtime *rt = module->runtime;
	tn_array *count = tn_module_find_buffer(module, "num_batches_tracked");
	const tn_array *input = count;
	return tn_end_into(rt, tn_formula_map(rt, TN_DO_ADD, &next, &input, &count, NULL));
}

/* Moves the running statistics to the means over all batches: those of this one are in
 * batch_statistics, and it has been counted. */
static tn_status accumulate(tn_module *module, tn_array *const batch_statistics[2])
{
	static const struct tn_formula mean = {
		.text = "running_mean = running_mean + (mean - running_mean) / count\n"
			"running_var = running_var + (var - running_var) / count",
		.inputs = "running_mean running_var mean var count",
		.outputs = "running_mean running_var"};
	struct tn_runtime *rt = module->runtime;
	tn_array *const running[] = {tn_module_find_buffer(module, "running_mean"),
				     tn_module_find_buffer(module, "running_var")};
	tn_array *count =
		tn_astype(tn_module_find_buffer(module, "num_batches_tracked"), running[0]->dtype);
	if (!count)
		return rt->error.status;
	const tn_array *inputs[] = {running[0], running[1], batch_statistics[0],
				    batch_statistics[1], count};
	tn_status status =
		tn_end_into(rt, tn_formula_map(rt, tn_operation_named(rt, "batch_norm_statistics"),
					       &mean, inputs, running, NULL));
	tn_array_destroy(count);
	return status;
}

/* With the options' running statistics, which training updates. */
static tn_array *batch_norm_call(tn_module *module, const tn_array *x,
				 const struct tn_batch_norm_options *options)
{
	return tn_batch_norm_of_ranks(x, tn_module_find_parameter(module, "weight"),
				      tn_module_find_parameter(module, "bias"), options,
				      tn_module_root(module)->norm_ranks);
}

/* The batch's own statistics (those of momentum 1) go into arrays beside the running ones. */
static tn_array *batch_norm_cumulative(tn_module *module, const tn_array *x,
				       struct tn_batch_norm_options options)
{
	const tn_array *running = options.running_mean;
	tn_array *const of_batch[] = {tn_zeros(module->context, running->dtype, 1, running->shape),
				      tn_zeros(module->context, running->dtype, 1, running->shape)};
	tn_array *y = NULL;
	options.running_mean = of_batch[0];
	options.running_var = of_batch[1];
	options.momentum = 1;
	if (of_batch[0] && of_batch[1])
		y = batch_norm_call(module, x, &options);
	if (y && (count_batch(module) || accumulate(module, of_batch))) {
		tn_array_destroy(y);
		y = NULL;
	}
	tn_array_destroy(of_batch[0]);
	tn_array_destroy(of_batch[1]);
	return y;
}

static tn_array *batch_norm(tn_module *module, const tn_array *x, const struct tn_then *then)
{
	const struct norm_state *state = module->state;
	struct tn_batch_norm_options options = tn_batch_norm_defaults();
	options.training = module->training;
	options.activation = then->activation;
	options.running_mean = tn_module_find_buffer(module, "running_mean");
	options.running_var = tn_module_find_buffer(module, "running_var");
	options.residual = then->residual;
	options.momentum = state->momentum;
	options.epsilon = state->epsilon;
	if (x->rank < state->ranks[0] || x->rank > state->ranks[1]) {
		tn_runtime_fail(module->runtime, TN_SHAPE, module->class_name,
				"x: expected %s, found rank %d",
				state->ranks[0] == 4 ? "(N, C, H, W)" : "(N, C) or (N, C, L)",
				x->rank);
		return NULL;
	}
	int counts = module->training && !tn_draws_repeat(module->runtime);
	if (counts && state->cumulative)
		return batch_norm_cumulative(module, x, options);
	tn_array *y = batch_norm_call(module, x, &options);
	if (y && counts && count_batch(module)) {
		tn_array_destroy(y);
		return NULL;
	}
	return y;
}

static tn_array *batch_norm_then(tn_module *module, const tn_array *x, const struct tn_then *then)
{
	if (then->activation <= TN_ACTIVATION_RELU6)
		return batch_norm(module, x, then);
	tn_array *sum = batch_norm(module, x, &(struct tn_then){.residual = then->residual});
	return tn_then_finish(sum, &(struct tn_then){.activation = then->activation});
}

static tn_array *batch_norm_forward(tn_module *module, void *state, const tn_array *x)
{
	static const struct tn_then nothing = {0};
	(void)state;
	return batch_norm_then(module, x, &nothing);
}

/* Frozen networks recognise a BatchNorm2d by its forward. */
static tn_array *batch_norm1d_forward(tn_module *module, void *state, const tn_array *x)
{
	return batch_norm_forward(module, state, x);
}

static tn_module *create_batch_norm(tn_context *context, const struct tn_module_class *class_,
				    int64_t channels, const struct tn_module_norm_options *options,
				    int least_rank, int most_rank)
{
	struct tn_module_norm_options o;
	if (take_options(context, class_, options, &o))
		return NULL;
	tn_module *module = create_norm(context, class_, 1, &channels, 1, &o);
	if (!module)
		return NULL;
	struct norm_state *state = module->state;
	state->ranks[0] = least_rank;
	state->ranks[1] = most_rank;
	module->forward_then = batch_norm_then;
	module->least_elements = 2; /* one has no variance */
	if (!tn_module_add_buffer(module, "running_mean", TN_F32, 1, &channels, 0) &&
	    !tn_module_add_buffer(module, "running_var", TN_F32, 1, &channels, 1) &&
	    !tn_module_add_buffer(module, "num_batches_tracked", TN_I64, 0, NULL, 0)) {
		/* As for PyTorch: files of its early versions lack it. */
		module->buffers[module->n_buffers - 1]->is_optional = 1;
		return module;
	}
	tn_module_destroy(module);
	return NULL;
}

tn_module *tn_module_batch_norm1d(tn_context *context, int64_t channels,
				  const struct tn_module_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "BatchNorm1d",
						      .forward = batch_norm1d_forward,
						      .destroy = tn_mem_free};
	return create_batch_norm(context, &class_, channels, options, 2, 3);
}

tn_module *tn_module_batch_norm2d(tn_context *context, int64_t channels,
				  const struct tn_module_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "BatchNorm2d",
						      .forward = batch_norm_forward,
						      .destroy = tn_mem_free};
	return create_batch_norm(context, &class_, channels, options, 4, 4);
}

int tn_is_batch_norm2d(const tn_module *module)
{
	return module->class_.forward == batch_norm_forward;
}

double tn_batch_norm_epsilon(const tn_module *module)
{
	const struct norm_state *state = module->state;
	return state->epsilon;
}

/* ---- Layer norm ------------------------------------------------------------------------------*/

static tn_array *layer_norm_forward(tn_module *module, void *state, const tn_array *x)
{
	const struct norm_state *norm = state;
	const int first = x->rank - norm->n_axes;
	if (first < 0 ||
	    !tn_shape_equal(norm->n_axes, x->shape + first, norm->n_axes, norm->shape)) {
		char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
		tn_runtime_fail(module->runtime, TN_SHAPE, module->class_name,
				"x: expected %s as the lengths of the last axes, found shape %s",
				tn_shape_print(norm->n_axes, norm->shape, expected),
				tn_array_text(x, found));
		return NULL;
	}
	return tn_layer_norm(x, tn_module_find_parameter(module, "weight"),
			     tn_module_find_parameter(module, "bias"), norm->n_axes, norm->epsilon);
}

tn_module *tn_module_layer_norm(tn_context *context, int n_axes, const int64_t *shape,
				const struct tn_module_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "LayerNorm",
						      .forward = layer_norm_forward,
						      .destroy = tn_mem_free};
	struct tn_module_norm_options o;
	if (take_options(context, &class_, options, &o))
		return NULL;
	if (n_axes >= 1 && n_axes <= TN_MAX_RANK && shape)
		return create_norm(context, &class_, n_axes, shape, 1, &o);
	tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
			"expected the lengths of 1 to %d axes, found %d", TN_MAX_RANK, n_axes);
	return NULL;
}

/* Moves channels last, and back. */
static tn_array *layer_norm2d_forward(tn_module *module, void *state, const tn_array *x)
{
	if (x->rank != 4) {
		tn_runtime_fail(module->runtime, TN_SHAPE, module->class_name,
				"x: expected (N, C, H, W), found rank %d", x->rank);
		return NULL;
	}
	tn_array *last = tn_transpose(x, (const int[]){0, 2, 3, 1});
	tn_array *normal = last ? layer_norm_forward(module, state, last) : NULL;
	tn_array *y = normal ? tn_transpose(normal, (const int[]){0, 3, 1, 2}) : NULL;
	tn_array_destroy(last);
	tn_array_destroy(normal);
	return y;
}

tn_module *tn_module_layer_norm2d(tn_context *context, int64_t channels,
				  const struct tn_module_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "LayerNorm2d",
						      .forward = layer_norm2d_forward,
						      .destroy = tn_mem_free};
	struct tn_module_norm_options o;
	if (take_options(context, &class_, options, &o))
		return NULL;
	return create_norm(context, &class_, 1, &channels, 1, &o);
}

/* ---- Group and instance norm -----------------------------------------------------------------*/

static tn_array *group_norm_forward(tn_module *module, void *state, const tn_array *x)
{
	const struct norm_state *norm = state;
	return tn_group_norm(x, tn_module_find_parameter(module, "weight"),
			     tn_module_find_parameter(module, "bias"), norm->groups, norm->epsilon);
}

tn_module *tn_module_group_norm(tn_context *context, int64_t groups, int64_t channels,
				const struct tn_module_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "GroupNorm",
						      .forward = group_norm_forward,
						      .destroy = tn_mem_free};
	struct tn_module_norm_options o;
	if (take_options(context, &class_, options, &o))
		return NULL;
	if (groups >= 1 && channels % groups == 0)
		return create_norm(context, &class_, 1, &channels, groups, &o);
	tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
			"expected channels divisible by %lld groups, found %lld", (long long)groups,
			(long long)channels);
	return NULL;
}

static tn_array *instance_norm2d_forward(tn_module *module, void *state, const tn_array *x)
{
	const struct norm_state *norm = state;
	if (x->rank != 4) {
		tn_runtime_fail(module->runtime, TN_SHAPE, module->class_name,
				"x: expected (N, C, H, W), found rank %d", x->rank);
		return NULL;
	}
	return tn_instance_norm(x, tn_module_find_parameter(module, "weight"),
				tn_module_find_parameter(module, "bias"), norm->epsilon);
}

tn_module *tn_module_instance_norm2d(tn_context *context, int64_t channels,
				     const struct tn_module_instance_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "InstanceNorm2d",
						      .forward = instance_norm2d_forward,
						      .destroy = tn_mem_free};
	struct tn_module_instance_norm_options o = tn_module_instance_norm_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_instance_norm_options", class_.name))
		return NULL;
	struct tn_module_norm_options norm = tn_module_norm_defaults();
	norm.epsilon = o.epsilon;
	norm.no_affine = !o.affine;
	return create_norm(context, &class_, 1, &channels, 1, &norm);
}
