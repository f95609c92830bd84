/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LSTM and GRU: layers of one or two directions, with PyTorch's names.
 */
#include <math.h>
#include <stdio.h>

#include "array/array.h"
#include "base/memory.h"
#include "nn/forward.h"
#include "nn/lookup.h"
#include "nn/module.h"

struct recurrent_state {
	int is_lstm;
	int64_t hidden;
	int n_layers;
	int n_directions;
	double dropout;
};

enum { MOST_STATES = 2 * TN_MAX_RECURRENT_LAYERS, NAME_SIZE = 48 };

/* The states of all layers and directions; NULL: not wanted. */
struct states {
	tn_array *h[MOST_STATES];
	tn_array *c[MOST_STATES];
};

static const char *name_of(char name[NAME_SIZE], const char *kind, int layer, int direction)
{
	snprintf(name, NAME_SIZE, "%s_l%d%s", kind, layer, direction ? "_reverse" : "");
	return name;
}

static const tn_array *parameter(const tn_module *module, const char *kind, int layer,
				 int direction)
{
	char name[NAME_SIZE];
	return tn_module_find_parameter(module, name_of(name, kind, layer, direction));
}

/* Row `index` of (states, N, hidden), or NULL of none. */
static tn_array *row(const tn_array *all, int index)
{
	return all ? tn_squeeze(tn_slice(all, 0, index, index + 1, 1), 0) : NULL;
}

static tn_array *run_direction(tn_module *module, const tn_array *x, int layer, int direction,
			       const tn_array *h0, const tn_array *c0, tn_array **h, tn_array **c)
{
	const struct recurrent_state *state = module->state;
	int index = layer * state->n_directions + direction;
	const tn_array *own_h0 = row(h0, index), *own_c0 = row(c0, index);
	if ((h0 && !own_h0) || (c0 && !own_c0))
		return NULL;
	const struct tn_recurrent_options options = {
		.struct_size = sizeof(options), .reverse = direction, .h0 = own_h0, .c0 = own_c0};
	const tn_array *w_ih = parameter(module, "weight_ih", layer, direction);
	const tn_array *w_hh = parameter(module, "weight_hh", layer, direction);
	const tn_array *b_ih = parameter(module, "bias_ih", layer, direction);
	const tn_array *b_hh = parameter(module, "bias_hh", layer, direction);
	return state->is_lstm ? tn_lstm(x, w_ih, w_hh, b_ih, b_hh, &options, h, c)
			      : tn_gru(x, w_ih, w_hh, b_ih, b_hh, &options, h);
}

/* A layer's output, with dropout unless it is the last one. */
static tn_array *run_layer(tn_module *module, const tn_array *x, int layer, const tn_array *h0,
			   const tn_array *c0, tn_array **h, tn_array **c)
{
	const struct recurrent_state *state = module->state;
	tn_array *y[2] = {NULL};
	for (int i = 0; i < state->n_directions; i++)
		y[i] = run_direction(module, x, layer, i, h0, c0, h ? h + i : NULL,
				     c ? c + i : NULL);
	tn_array *both = y[0];
	if (state->n_directions == 2) {
		both = y[0] && y[1] ? tn_concatenate(2, (const tn_array *const *)y, 2) : NULL;
		tn_array_destroy(y[0]);
		tn_array_destroy(y[1]);
	}
	if (!module->training || state->dropout == 0 || layer == state->n_layers - 1)
		return both;
	tn_array *dropped = tn_dropout(both, state->dropout);
	tn_array_destroy(both);
	return dropped;
}

/* Joins n states to (n, N, hidden). */
static tn_array *join(int n, tn_array **states)
{
	const tn_array *wide[MOST_STATES];
	for (int i = 0; i < n; i++)
		wide[i] = tn_expand_dims(states[i], 0);
	return tn_concatenate(n, wide, 0);
}

/* Ends the scope of an output and its states, where they are wanted. */
static tn_array *end_results(const tn_module *module, tn_array **results, tn_array **h_n,
			     tn_array **c_n)
{
	tn_scope_end_all(module->context, TN_OK, 3, results);
	if (h_n)
		*h_n = results[1];
	if (c_n)
		*c_n = results[2];
	return results[0];
}

static tn_array *run(tn_module *module, const tn_array *x, const tn_array *h0, const tn_array *c0,
		     tn_array **h_n, tn_array **c_n)
{
	const struct recurrent_state *state = module->state;
	struct states states = {{NULL}, {NULL}};
	int n_directions = state->n_directions, n = state->n_layers * n_directions;
	tn_array *y = NULL;
	if (tn_scope_begin(module->context))
		return NULL;
	for (int layer = 0; layer < state->n_layers && (!layer || y); layer++) {
		tn_array *next = run_layer(module, y ? y : x, layer, h0, c0,
					   h_n ? states.h + layer * n_directions : NULL,
					   c_n ? states.c + layer * n_directions : NULL);
		tn_array_destroy(y);
		y = next;
	}
	tn_array *results[] = {y, h_n ? join(n, states.h) : NULL, c_n ? join(n, states.c) : NULL};
	return end_results(module, results, h_n, c_n);
}

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	return run(module, x, NULL, NULL, NULL, NULL);
}

/* ---- The general forward ---------------------------------------------------------------------*/

enum { WANTS_H = 1, WANTS_C = 2 }; /* flags */

static tn_array *flat(const tn_array *a)
{
	return a ? tn_reshape(a, 1, &a->size) : NULL;
}

/* The result, followed by the states that are wanted, in one line: what is computed again in
 * backward has one result. */
static tn_array *run_joined(tn_module *module, uint32_t flags, tn_array *const *inputs)
{
	tn_array *h = NULL, *c = NULL, **h_n = flags & WANTS_H ? &h : NULL;
	if (!flags)
		return run(module, inputs[0], inputs[1], inputs[2], NULL, NULL);
	if (tn_scope_begin(module->context))
		return NULL;
	tn_array *y =
		run(module, inputs[0], inputs[1], inputs[2], h_n, flags & WANTS_C ? &c : NULL);
	const tn_array *all[] = {y, h, c}, *lines[3];
	int n = 0;
	for (int i = 0; i < 3; i++) {
		if (all[i])
			lines[n++] = flat(all[i]);
	}
	return tn_scope_end(module->context, tn_concatenate(n, lines, 0));
}

/* The next part of the line, from *start on. */
static tn_array *cut(const tn_array *line, int64_t *start, int64_t a, int64_t b, int64_t c)
{
	const tn_array *part = tn_slice(line, 0, *start, *start + a * b * c, 1);
	*start += a * b * c;
	return tn_reshape(part, 3, (const int64_t[]){a, b, c});
}

static tn_array *run_again_in_backward(tn_module *module, uint32_t flags,
				       const tn_array *const *inputs, tn_array **h_n,
				       tn_array **c_n)
{
	const struct recurrent_state *state = module->state;
	const tn_array *x = inputs[0];
	int64_t n = (int64_t)state->n_layers * state->n_directions, start = 0;
	if (tn_scope_begin(module->context))
		return NULL;
	const tn_array *line = tn_module_run(module, run_joined, flags, 3, inputs);
	tn_array *results[3] = {NULL};
	if (line)
		results[0] = cut(line, &start, x->shape[0], x->shape[1],
				 state->n_directions * state->hidden);
	if (line && h_n)
		results[1] = cut(line, &start, n, x->shape[0], state->hidden);
	if (line && c_n)
		results[2] = cut(line, &start, n, x->shape[0], state->hidden);
	return end_results(module, results, h_n, c_n);
}

static tn_status check_state(const tn_module *module, const char *which, const tn_array *x,
			     const tn_array *given)
{
	const struct recurrent_state *state = module->state;
	int n = state->n_layers * state->n_directions;
	if (!given ||
	    (given->rank == 3 && given->shape[0] == n &&
	     given->shape[1] == (x->rank ? x->shape[0] : 0) && given->shape[2] == state->hidden))
		return TN_OK;
	return tn_runtime_fail(
		module->runtime, TN_SHAPE, module->class_name,
		"%s: expected (%d, N, %lld) with x's N, found rank %d, %lld elements", which, n,
		(long long)state->hidden, given->rank, (long long)given->size);
}

tn_array *tn_module_recurrent_forward(tn_module *recurrent, const tn_array *x, const tn_array *h0,
				      const tn_array *c0, tn_array **h_n, tn_array **c_n)
{
	const tn_array *inputs[] = {x, h0, c0};
	if (h_n)
		*h_n = NULL;
	if (c_n)
		*c_n = NULL;
	if (!recurrent || !x) {
		tn_runtime_null(tn_module_any_runtime(recurrent, 3, inputs), "recurrent_forward",
				recurrent ? "x" : "recurrent");
		return NULL;
	}
	const struct recurrent_state *state = recurrent->state;
	int is_recurrent = recurrent->class_.forward == forward;
	if (!is_recurrent || (!state->is_lstm && (c0 || c_n))) {
		tn_runtime_fail(recurrent->runtime, TN_INVALID_ARGUMENT, "recurrent_forward",
				is_recurrent ? "a %s has no c0 and c_n"
					     : "expected an LSTM or a GRU, found a %s",
				recurrent->class_name);
		return NULL;
	}
	if (tn_module_begin_forward(recurrent, 3, inputs) || check_state(recurrent, "h0", x, h0) ||
	    check_state(recurrent, "c0", x, c0))
		return NULL;
	const uint32_t flags = (h_n ? WANTS_H : 0) | (c_n ? WANTS_C : 0);
	tn_array *y;
	if (!flags) {
		y = tn_module_run(recurrent, run_joined, 0, 3, inputs);
	} else if (recurrent->is_recomputed && recurrent->runtime->recorder) {
		y = run_again_in_backward(recurrent, flags, inputs, h_n, c_n);
	} else {
		struct tn_module_visit visit;
		tn_module_enter(recurrent, &visit);
		y = run(recurrent, x, h0, c0, h_n, c_n);
		tn_module_leave(recurrent, &visit, y);
	}
	return tn_module_end_forward(recurrent, x, y);
}

/* ---- Creating --------------------------------------------------------------------------------*/

static tn_status add_parameters(tn_module *module, int64_t in, int layer, int direction,
				int has_bias)
{
	const struct recurrent_state *state = module->state;
	int64_t rows = (state->is_lstm ? 4 : 3) * state->hidden;
	double bound = 1.0 / sqrt((double)state->hidden);
	char name[NAME_SIZE];
	tn_status status = tn_module_add_parameter(
		module, name_of(name, "weight_ih", layer, direction), 2,
		(const int64_t[]){rows, layer ? state->n_directions * state->hidden : in}, bound,
		0.0);
	if (!status)
		status = tn_module_add_parameter(
			module, name_of(name, "weight_hh", layer, direction), 2,
			(const int64_t[]){rows, state->hidden}, bound, 0.0);
	if (!status && has_bias)
		status = tn_module_add_parameter(module, name_of(name, "bias_ih", layer, direction),
						 1, &rows, bound, 0.0);
	if (!status && has_bias)
		status = tn_module_add_parameter(module, name_of(name, "bias_hh", layer, direction),
						 1, &rows, bound, 0.0);
	return status;
}

static tn_module *create(tn_context *context, const struct tn_module_class *class_, int is_lstm,
			 int64_t in_features, int64_t hidden,
			 const struct tn_module_recurrent_options *options)
{
	struct tn_module_recurrent_options o = tn_module_recurrent_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_recurrent_options", class_->name))
		return NULL;
	if (o.n_layers < 1 || o.n_layers > TN_MAX_RECURRENT_LAYERS || hidden < 1 ||
	    hidden > INT32_MAX || !(o.dropout >= 0.0 && o.dropout <= 1.0)) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_->name,
				"expected 1 to %d layers, a hidden width of at least 1 and "
				"dropout in [0, 1], found %d, %lld and %g",
				TN_MAX_RECURRENT_LAYERS, o.n_layers, (long long)hidden, o.dropout);
		return NULL;
	}
	const struct recurrent_state state = {.is_lstm = is_lstm,
					      .hidden = hidden,
					      .n_layers = o.n_layers,
					      .n_directions = o.bidirectional ? 2 : 1,
					      .dropout = o.dropout};
	tn_module *module = tn_module_of_class(context, class_, &state, sizeof(state));
	tn_status status = module ? TN_OK : TN_OUT_OF_MEMORY;
	for (int i = 0; i < state.n_layers * state.n_directions && !status; i++)
		status = add_parameters(module, in_features, i / state.n_directions,
					i % state.n_directions, !o.no_bias);
	if (!status)
		return module;
	tn_module_destroy(module);
	return NULL;
}

tn_module *tn_module_lstm(tn_context *context, int64_t in_features, int64_t hidden,
			  const struct tn_module_recurrent_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "LSTM",
						      .forward = forward,
						      .destroy = tn_mem_free};
	return create(context, &class_, 1, in_features, hidden, options);
}

tn_module *tn_module_gru(tn_context *context, int64_t in_features, int64_t hidden,
			 const struct tn_module_recurrent_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "GRU",
						      .forward = forward,
						      .destroy = tn_mem_free};
	return create(context, &class_, 0, in_features, hidden, options);
}
