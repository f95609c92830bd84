/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * With n = (x - mean) rstd, g = dy where the activation lets it pass, and sums over the samples of
 * all ranks, N of each channel:
 *     dx = w rstd (g - sum g / N - n sum (g n) / N)
 * dw and db are this rank's sums of g n and of g: they are summed over the ranks like all
 * gradients.  Sums of the ranks are combined in f64 in the order of the ranks, so all have the same
 * bits.
 */
#include "layers/sync_batch_norm.h"

#include <tenon/statistics.h>

#include <math.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "base/memory.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "layers/norm.h"
#include "ops/formula.h"
#include "ops/map.h"

static const char operation[] = "sync_batch_norm";

enum { X, W, B, RESIDUAL, N_INPUTS };
enum { SAVED_X, SAVED_W, SAVED_MEAN, SAVED_RSTD, SAVED_RESULT, N_SAVED };

struct sync_state {
	const struct tn_norm_ranks *ranks;
	uint32_t activation;
	double count; /* elements of a channel, of all ranks */
};

/* ---- Exchanging ------------------------------------------------------------------------------*/

static tn_dtype dtype_of(const tn_array *x)
{
	return x->dtype == TN_F64 ? TN_F64 : TN_F32;
}

/* All axes but that of the channels. */
static int axes_of(const tn_array *x, int *axes)
{
	int n = 0;
	for (int i = 0; i < x->rank; i++) {
		if (i != 1)
			axes[n++] = i;
	}
	return n;
}

static tn_array *sum_of_channels(const tn_array *a)
{
	int axes[TN_MAX_RANK];
	return a ? tn_sum(a, axes_of(a, axes), axes, 0) : NULL;
}

static tn_status read(const tn_array *a, double *values)
{
	const tn_array *wide = a ? tn_astype(a, TN_F64) : NULL;
	return wide ? tn_to_host(wide, values, (size_t)wide->size * sizeof(*values))
		    : TN_PENDING_ERROR;
}

/* Values for each channel as an array of the statistics' dtype. */
static tn_array *write(const tn_array *x, const double *values)
{
	return tn_astype(tn_from_host(tn_array_context(x), TN_F64, 1, &x->shape[1], values),
			 dtype_of(x));
}

/* Such an array, or w, as it is broadcast to x. */
static tn_array *along(const tn_array *x, const tn_array *a)
{
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < x->rank; i++)
		shape[i] = i == 1 ? x->shape[1] : 1;
	return a ? tn_reshape(tn_astype(a, dtype_of(x)), x->rank, shape) : NULL;
}

/* Memory for n numbers of this rank and of all ranks behind them; NULL: the error is kept. */
static double *make_numbers(const tn_array *x, const struct tn_norm_ranks *ranks, size_t n)
{
	double *numbers = tn_mem_zeroed(n * (1 + (size_t)ranks->n_ranks), sizeof(*numbers));
	if (!numbers)
		tn_runtime_fail(x->runtime, TN_OUT_OF_MEMORY, operation,
				"no host memory for the statistics of %u ranks", ranks->n_ranks);
	return numbers;
}

/* ---- Statistics ------------------------------------------------------------------------------*/

/* A rank's numbers are its count, the means and the variances of c channels.  They become those of
 * all ranks (Chan, Golub and LeVeque 1979). */
static void combine(const double *all, uint32_t n_ranks, size_t c, double *own)
{
	const size_t width = 1 + 2 * c;
	double *mean = own + 1, *var = own + 1 + c, count = 0;
	for (size_t i = 1; i < width; i++)
		own[i] = 0;
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		const double *other = all + rank * width;
		const double sum = count + other[0];
		for (size_t i = 0; i < c && other[0] > 0; i++) {
			const double delta = other[1 + i] - mean[i];
			mean[i] += delta * (other[0] / sum);
			var[i] += other[1 + c + i] * other[0] +
				  delta * delta * count * other[0] / sum;
		}
		count = sum;
	}
	own[0] = count;
	for (size_t i = 0; i < c; i++)
		var[i] /= count;
}

/* numbers: the count, means and variances of all ranks. */
static tn_status exchange_statistics(const tn_array *x, const struct tn_norm_ranks *ranks,
				     double *numbers)
{
	const size_t c = (size_t)x->shape[1], width = 1 + 2 * c;
	int axes[TN_MAX_RANK];
	const int n = axes_of(x, axes);
	const tn_array *wide = tn_astype(x, dtype_of(x));
	numbers[0] = c ? (double)x->size / (double)c : 0;
	tn_status status = read(tn_mean(wide, n, axes, 0), numbers + 1);
	if (!status)
		status = read(tn_var(wide, n, axes, 0, 0), numbers + 1 + c);
	if (!status)
		status = ranks->gather(ranks->user, width, numbers, numbers + width);
	if (!status)
		combine(numbers + width, ranks->n_ranks, c, numbers);
	if (!status && !(numbers[0] > 1))
		status = tn_runtime_fail(x->runtime, TN_SHAPE, operation,
					 "expected more than one element per channel in training, "
					 "on all ranks together");
	return status;
}

/* The variance is multiplied by Bessel's correction, count / (count - 1). */
static tn_status update_running(const tn_array *x, const struct tn_batch_norm_options *o,
				const double *numbers)
{
	static const struct tn_formula formula = {
		.text = "running_mean = running_mean + momentum * (mean - running_mean)\n"
			"running_var = running_var + momentum * (var * bessel - running_var)",
		.inputs = "running_mean running_var mean var",
		.scalars = "momentum bessel",
		.outputs = "running_mean running_var"};
	struct tn_runtime *rt = x->runtime;
	const tn_array *inputs[] = {o->running_mean, o->running_var, write(x, numbers + 1),
				    write(x, numbers + 1 + x->shape[1])};
	tn_array *const outputs[] = {o->running_mean, o->running_var};
	const double scalars[] = {o->momentum, numbers[0] / (numbers[0] - 1)};
	if (!inputs[2] || !inputs[3])
		return rt->error.status;
	return tn_end_into(rt, tn_formula_map(rt, tn_operation_named(rt, operation), &formula,
					      inputs, outputs, scalars));
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* dy where the activation lets it pass. */
static tn_array *before_activation(const struct tn_node *node, tn_array *dy)
{
	static const struct tn_formula relu = {.text = "g = y > 0 ? dy : 0", .inputs = "dy y"};
	static const struct tn_formula relu6 = {.text = "g = y > 0 && y < 6 ? dy : 0",
						.inputs = "dy y"};
	const struct sync_state *state = node->state;
	const tn_array *inputs[] = {dy, node->saved[SAVED_RESULT].array};
	return state->activation
		       ? tn_formula_map_number(state->activation == TN_ACTIVATION_RELU6 ? &relu6
											: &relu,
					       inputs, NULL)
		       : tn_reshape(dy, dy->rank, dy->shape);
}

/* Of each channel, for all ranks: the means of g and of g n. */
static tn_status exchange_sums(const struct tn_node *node, const tn_array *x, const tn_array *sum,
			       const tn_array *sum_n, tn_array **mean, tn_array **mean_n)
{
	const struct sync_state *state = node->state;
	const size_t c = (size_t)x->shape[1], width = 2 * c;
	double *own = make_numbers(x, state->ranks, width), *all = own ? own + width : NULL;
	if (!own)
		return tn_runtime_status(x->runtime);
	tn_status status = read(sum, own);
	if (!status)
		status = read(sum_n, own + c);
	if (!status)
		status = state->ranks->gather(state->ranks->user, width, own, all);
	for (size_t i = 0; i < width; i++) {
		double total = 0;
		for (uint32_t rank = 0; rank < state->ranks->n_ranks; rank++)
			total += all[rank * width + i];
		own[i] = total / state->count;
	}
	if (!status) {
		*mean = write(x, own);
		*mean_n = write(x, own + c);
	}
	tn_mem_free(own);
	return tn_runtime_status(x->runtime);
}

/* g and n in the statistics' dtype; mean and mean_n as above. */
static tn_array *input_gradient(const struct tn_node *node, const tn_array *x, const tn_array *g,
				const tn_array *n, const tn_array *mean, const tn_array *mean_n)
{
	static const struct tn_formula weighted = {
		.text = "dx = w * rstd * (g - mean - n * mean_n)",
		.inputs = "g n mean mean_n rstd w"};
	static const struct tn_formula unweighted = {.text = "dx = rstd * (g - mean - n * mean_n)",
						     .inputs = "g n mean mean_n rstd"};
	const tn_array *w = along(x, node->saved[SAVED_W].array);
	const tn_array *inputs[] = {
		g, n, along(x, mean), along(x, mean_n), along(x, node->saved[SAVED_RSTD].array), w};
	return tn_astype(tn_formula_map_number(w ? &weighted : &unweighted, inputs, NULL),
			 x->dtype);
}

/* A sum of channels in the form of w or b. */
static tn_array *like_parameter(const tn_array *sum, const tn_array *w)
{
	return sum ? tn_reshape(tn_astype(sum, w->dtype), w->rank, w->shape) : NULL;
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	static const struct tn_formula normal = {.text = "n = (x - mean) * rstd",
						 .inputs = "x mean rstd"};
	const tn_array *x = node->saved[SAVED_X].array, *w = node->saved[SAVED_W].array;
	const tn_array *inputs[] = {tn_astype(x, dtype_of(x)),
				    along(x, node->saved[SAVED_MEAN].array),
				    along(x, node->saved[SAVED_RSTD].array)};
	tn_array *before = before_activation(node, dy);
	const tn_array *g = tn_astype(before, dtype_of(x));
	const tn_array *n = tn_formula_map_number(&normal, inputs, NULL);
	const tn_array *sum = sum_of_channels(g), *sum_n = sum_of_channels(tn_multiply(g, n));
	tn_status status = tn_runtime_status(tn_node_runtime(node));
	if (!status && w)
		status = tn_node_give(node, W, like_parameter(sum_n, w));
	if (!status && w)
		status = tn_node_give(node, B, like_parameter(sum, w));
	if (!status && tn_node_wants(node, RESIDUAL))
		status = tn_node_give(node, RESIDUAL, before);
	if (status || !tn_node_wants(node, X))
		return status;
	tn_array *mean = NULL, *mean_n = NULL;
	status = exchange_sums(node, x, sum, sum_n, &mean, &mean_n);
	return status ? status : tn_node_give(node, X, input_gradient(node, x, g, n, mean, mean_n));
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_array *record(struct tn_suspension suspension, const struct tn_norm_call *call,
			const struct sync_state *state, tn_array *y)
{
	return tn_tape_resume(
		suspension, y,
		&(struct tn_node_request){.operation = operation,
					  .backward = backward,
					  .n_inputs = N_INPUTS,
					  .inputs = {call->x, call->w, call->b, call->residual},
					  .n_saved = N_SAVED,
					  .saved = {call->x, call->w, call->mean, call->rstd,
						    call->activation ? y : NULL},
					  .state = state,
					  .state_size = sizeof(*state)});
}

/* y, and the statistics that it was made with; NULL: the error is kept. */
static tn_array *run(struct tn_norm_call *call, const struct tn_batch_norm_options *o,
		     double *numbers)
{
	const tn_array *x = call->x;
	const size_t c = (size_t)x->shape[1];
	double *mean = numbers + 1, *var = numbers + 1 + c;
	/* What is computed again (tn_recompute) has updated them in forward. */
	if (o->running_mean && !tn_draws_repeat(x->runtime) && update_running(x, o, numbers))
		return NULL;
	call->mean = write(x, mean);
	for (size_t i = 0; i < c; i++)
		var[i] = 1 / sqrt(var[i] + o->epsilon);
	call->rstd = write(x, var);
	return call->mean && call->rstd ? tn_norm_call_forward(call) : NULL;
}

tn_array *tn_sync_batch_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			     const struct tn_batch_norm_options *o,
			     const struct tn_norm_ranks *ranks)
{
	struct tn_norm_call call = {.kind = TN_NORM_BATCH,
				    .epsilon = o->epsilon,
				    .use_statistics = 1,
				    .activation = o->activation,
				    .x = x,
				    .w = w,
				    .b = b,
				    .residual = o->residual};
	double *numbers = make_numbers(x, ranks, 1 + 2 * (size_t)x->shape[1]);
	if (!numbers)
		return NULL;
	tn_array *y = NULL;
	if (!tn_scope_begin(tn_array_context(x))) {
		struct tn_suspension suspension = tn_tape_suspend(x);
		if (suspension.runtime && !exchange_statistics(x, ranks, numbers))
			y = run(&call, o, numbers);
		const struct sync_state state = {ranks, o->activation, numbers[0]};
		y = record(suspension, &call, &state, y);
		tn_scope_end(tn_array_context(x), y);
	}
	tn_mem_free(numbers);
	return y;
}
