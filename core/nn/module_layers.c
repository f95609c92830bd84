/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layers without parameters.
 */
#include "array/array.h"
#include "base/memory.h"
#include "nn/module.h"

static tn_array *max_pool2d_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	return tn_max_pool2d(x, state);
}

static tn_array *avg_pool2d_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	return tn_avg_pool2d(x, state);
}

static tn_array *adaptive_avg_pool2d_forward(tn_module *module, void *state, const tn_array *x)
{
	const int64_t *output = state;
	(void)module;
	return tn_adaptive_avg_pool2d(x, output[0], output[1]);
}

static tn_array *adaptive_max_pool2d_forward(tn_module *module, void *state, const tn_array *x)
{
	const int64_t *output = state;
	(void)module;
	return tn_adaptive_max_pool2d(x, output[0], output[1]);
}

static tn_array *upsample_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	return tn_interpolate(x, state);
}

struct response_state {
	int64_t size;
	struct tn_local_response_norm_options options;
};

static tn_array *response_forward(tn_module *module, void *state, const tn_array *x)
{
	const struct response_state *response = state;
	(void)module;
	return tn_local_response_norm(x, response->size, &response->options);
}

static tn_array *identity_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	(void)state;
	return tn_reshape(x, x->rank, x->shape);
}

static tn_array *flatten_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	(void)state;
	return tn_flatten(x, 1);
}

struct dropout_state {
	tn_array *(*f)(const tn_array *x, double p);
	double p;
};

static tn_array *dropout_forward(tn_module *module, void *state, const tn_array *x)
{
	const struct dropout_state *dropout = state;
	if (!module->training || dropout->p == 0.0)
		return tn_reshape(x, x->rank, x->shape);
	return dropout->f(x, dropout->p);
}

static tn_module *pool(tn_context *context, const struct tn_module_class *class_,
		       const struct tn_pool2d_options *options)
{
	struct tn_pool2d_options o = tn_pool2d_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_pool2d_options", class_->name))
		return NULL;
	if (o.kernel[0] > 0 && o.kernel[1] > 0)
		return tn_module_of_class(context, class_, &o, sizeof(o));
	tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_->name,
			"expected a kernel of at least 1 x 1, found %lld x %lld",
			(long long)o.kernel[0], (long long)o.kernel[1]);
	return NULL;
}

tn_module *tn_module_max_pool2d(tn_context *context, const struct tn_pool2d_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "MaxPool2d",
						      .forward = max_pool2d_forward,
						      .destroy = tn_mem_free};
	tn_module *module = pool(context, &class_, options);
	if (module)
		module->is_max_pool = 1;
	return module;
}

tn_module *tn_module_avg_pool2d(tn_context *context, const struct tn_pool2d_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "AvgPool2d",
						      .forward = avg_pool2d_forward,
						      .destroy = tn_mem_free};
	return pool(context, &class_, options);
}

static tn_module *adaptive_pool(tn_context *context, const struct tn_module_class *class_,
				int64_t output_h, int64_t output_w)
{
	const int64_t output[] = {output_h, output_w};
	if (output_h > 0 && output_w > 0)
		return tn_module_of_class(context, class_, output, sizeof(output));
	if (context)
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_->name,
				"expected an output of at least 1 x 1, found %lld x %lld",
				(long long)output_h, (long long)output_w);
	return NULL;
}

tn_module *tn_module_adaptive_avg_pool2d(tn_context *context, int64_t output_h, int64_t output_w)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "AdaptiveAvgPool2d",
						      .forward = adaptive_avg_pool2d_forward,
						      .destroy = tn_mem_free};
	return adaptive_pool(context, &class_, output_h, output_w);
}

tn_module *tn_module_adaptive_max_pool2d(tn_context *context, int64_t output_h, int64_t output_w)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "AdaptiveMaxPool2d",
						      .forward = adaptive_max_pool2d_forward,
						      .destroy = tn_mem_free};
	return adaptive_pool(context, &class_, output_h, output_w);
}

static tn_array *global_avg_pool_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	(void)state;
	return tn_global_avg_pool(x);
}

tn_module *tn_module_global_avg_pool(tn_context *context)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "GlobalAvgPool",
						      .forward = global_avg_pool_forward};
	return tn_module_make(context, &class_, NULL);
}

static tn_array *global_max_pool_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)module;
	(void)state;
	return tn_global_max_pool(x);
}

tn_module *tn_module_global_max_pool(tn_context *context)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "GlobalMaxPool",
						      .forward = global_max_pool_forward};
	return tn_module_make(context, &class_, NULL);
}

tn_module *tn_module_upsample(tn_context *context, const struct tn_interpolate_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Upsample",
						      .forward = upsample_forward,
						      .destroy = tn_mem_free};
	struct tn_interpolate_options o = tn_interpolate_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_interpolate_options", class_.name))
		return NULL;
	return tn_module_of_class(context, &class_, &o, sizeof(o));
}

tn_module *tn_module_local_response_norm(tn_context *context, int64_t size,
					 const struct tn_local_response_norm_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "LocalResponseNorm",
						      .forward = response_forward,
						      .destroy = tn_mem_free};
	struct response_state state = {.size = size, .options = tn_local_response_norm_defaults()};
	if (tn_runtime_take(tn_runtime_of(context), &state.options, sizeof(state.options), options,
			    "struct tn_local_response_norm_options", class_.name))
		return NULL;
	if (size >= 1)
		return tn_module_of_class(context, &class_, &state, sizeof(state));
	tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
			"size: expected at least 1, found %lld", (long long)size);
	return NULL;
}

tn_module *tn_module_identity(tn_context *context)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Identity", .forward = identity_forward};
	return tn_module_make(context, &class_, NULL);
}

tn_module *tn_module_flatten(tn_context *context)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Flatten", .forward = flatten_forward};
	return tn_module_make(context, &class_, NULL);
}

static tn_module *create_dropout(tn_context *context, const char *name,
				 tn_array *(*f)(const tn_array *x, double p), double p)
{
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = name,
					       .forward = dropout_forward,
					       .destroy = tn_mem_free};
	const struct dropout_state state = {f, p};
	if (p >= 0.0 && p <= 1.0)
		return tn_module_of_class(context, &class_, &state, sizeof(state));
	if (context)
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, name,
				"expected p in [0, 1], found %g", p);
	return NULL;
}

tn_module *tn_module_dropout(tn_context *context, double p)
{
	return create_dropout(context, "Dropout", tn_dropout, p);
}

tn_module *tn_module_dropout2d(tn_context *context, double p)
{
	return create_dropout(context, "Dropout2d", tn_dropout2d, p);
}

tn_module *tn_module_stochastic_depth(tn_context *context, double p)
{
	return create_dropout(context, "StochasticDepth", tn_stochastic_depth, p);
}
