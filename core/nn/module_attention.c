/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Multi-head attention.  in_proj_weight holds the weights of query, key and value, one below the
 * other; those that are the same array are projected in one product.
 */
#include <math.h>

#include "array/array.h"
#include "base/memory.h"
#include "layers/split.h"
#include "nn/forward.h"
#include "nn/lookup.h"
#include "nn/module.h"

enum { OUT_PROJ };

struct attention_state {
	int64_t width;
	int64_t heads;
	int causal;
	double dropout;
};

/* x through parts first to first + count - 1 of the projection: (N, L, count width). */
static tn_array *project(const tn_module *module, const tn_array *x, int64_t first, int64_t count)
{
	const struct attention_state *state = module->state;
	const tn_array *w = tn_module_find_parameter(module, "in_proj_weight");
	const tn_array *b = tn_module_find_parameter(module, "in_proj_bias");
	if (count == 3)
		return tn_linear(x, w, b);
	int64_t begin = first * state->width, end = (first + count) * state->width;
	tn_array *rows = tn_slice(w, 0, begin, end, 1);
	tn_array *bias = b ? tn_slice(b, 0, begin, end, 1) : NULL;
	tn_array *y = b && !bias ? NULL : tn_linear(x, rows, bias);
	tn_array_destroy(rows);
	tn_array_destroy(bias);
	return y;
}

/* The `count` parts of a projection (N, L, count width), each as (N, heads, L, width / heads); NULL
 * on failure. */
static void split_heads(const struct attention_state *state, const tn_array *projected,
			int64_t count, tn_array **heads)
{
	tn_array *parts[3] = {NULL};
	tn_array *all =
		projected ? tn_reshape(projected, 4,
				       (const int64_t[]){projected->shape[0], projected->shape[1],
							 count * state->heads,
							 state->width / state->heads})
			  : NULL;
	if (all && !tn_split_parts(all, 2, (int)count, parts)) {
		for (int64_t i = 0; i < count; i++)
			heads[i] = tn_transpose(parts[i], (const int[]){0, 2, 1, 3});
	}
	tn_array_destroy(all);
	for (int64_t i = 0; i < count; i++)
		tn_array_destroy(parts[i]);
}

static tn_status check_input(const tn_module *module, const char *which, const tn_array *x)
{
	const struct attention_state *state = module->state;
	if (x->rank == 3 && x->shape[2] == state->width)
		return TN_OK;
	return tn_runtime_fail(module->runtime, TN_SHAPE, module->class_name,
			       "%s: expected (N, L, %lld), found rank %d with a last axis of %lld",
			       which, (long long)state->width, x->rank,
			       (long long)(x->rank ? x->shape[x->rank - 1] : 0));
}

static tn_array *attend(tn_module *module, const tn_array *query, const tn_array *key,
			const tn_array *value, const tn_array *mask)
{
	const struct attention_state *state = module->state;
	struct tn_attention_options options = tn_attention_defaults();
	options.mask = mask;
	options.causal = state->causal;
	options.dropout = module->training ? state->dropout : 0;
	if (check_input(module, "query", query) || check_input(module, "key", key) ||
	    check_input(module, "value", value))
		return NULL;
	/* Equal inputs are projected together: `first` to `first + count - 1` of the three. */
	const tn_array *inputs[] = {query, key, value};
	tn_array *projected[3] = {NULL}, *qkv[3] = {NULL};
	for (int first = 0, count; first < 3; first += count) {
		count = first == 0 && query == key && key == value ? 3
			: first == 1 && key == value               ? 2
								   : 1;
		projected[first] = project(module, inputs[first], first, count);
		split_heads(state, projected[first], count, qkv + first);
	}
	tn_array *seen = tn_scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], &options);
	tn_array *moved = seen ? tn_transpose(seen, (const int[]){0, 2, 1, 3}) : NULL;
	tn_array *joined = moved ? tn_reshape(moved, 3, query->shape) : NULL;
	tn_array *y = tn_module_forward(module->members[OUT_PROJ].module, joined);
	tn_array *const temporaries[] = {projected[0], projected[1], projected[2], qkv[0], qkv[1],
					 qkv[2],       seen,         moved,        joined};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	return attend(module, x, x, x, NULL);
}

static tn_array *forward_inputs(tn_module *module, uint32_t flags, tn_array *const *inputs)
{
	(void)flags;
	return attend(module, inputs[0], inputs[1], inputs[2], inputs[3]);
}

tn_array *tn_module_attention_forward(tn_module *attention, const tn_array *query,
				      const tn_array *key, const tn_array *value,
				      const tn_array *mask)
{
	const tn_array *inputs[] = {query, key, value, mask};
	if (!attention || !query || !key || !value) {
		const struct tn_given given[] = {
			{"attention", attention}, {"query", query}, {"key", key}, {"value", value}};
		tn_runtime_given(tn_module_any_runtime(attention, 4, inputs), "attention_forward",
				 4, given);
		return NULL;
	}
	if (attention->class_.forward != forward) {
		tn_runtime_fail(attention->runtime, TN_INVALID_ARGUMENT, "attention_forward",
				"expected a MultiheadAttention, found a %s", attention->class_name);
		return NULL;
	}
	if (tn_module_begin_forward(attention, 4, inputs))
		return NULL;
	return tn_module_end_forward(attention, query,
				     tn_module_run(attention, forward_inputs, 0, 4, inputs));
}

tn_module *tn_module_multihead_attention(tn_context *context, int64_t width, int64_t heads,
					 const struct tn_module_attention_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "MultiheadAttention",
						      .forward = forward,
						      .destroy = tn_mem_free};
	struct tn_module_attention_options o = tn_module_attention_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_attention_options", class_.name))
		return NULL;
	if (heads < 1 || width < 1 || width % heads || !(o.dropout >= 0.0 && o.dropout <= 1.0)) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
				"expected a width divisible by %lld heads and dropout in [0, 1], "
				"found %lld and %g",
				(long long)heads, (long long)width, o.dropout);
		return NULL;
	}
	const struct attention_state state = {width, heads, o.causal, o.dropout};
	tn_module *module = tn_module_of_class(context, &class_, &state, sizeof(state));
	if (!module)
		return NULL;
	/* xavier_uniform_ */
	double bound = sqrt(6.0 / (4.0 * (double)width));
	int64_t rows = 3 * width;
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = o.no_bias;
	tn_module *out = tn_module_linear(context, width, width, &linear);
	if (out && !o.no_bias)
		out->slots[1].weight->bound = 0.0;
	if (!tn_module_add(module, "out_proj", out) &&
	    !tn_module_add_parameter(module, "in_proj_weight", 2, (const int64_t[]){rows, width},
				     bound, 0.0) &&
	    (o.no_bias || !tn_module_add_parameter(module, "in_proj_bias", 1, &rows, 0.0, 0.0)))
		return module;
	tn_module_destroy(module);
	return NULL;
}
