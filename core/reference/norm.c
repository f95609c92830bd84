/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm.  All normalise groups of m elements: a channel of all samples
 * (batch), a row (layer), some channels of a sample (group).  With t numbering a group's elements
 * and xhat = (x - mean) rstd:
 *
 *   forward     mean = sum_t x / m,  var = sum_t (x - mean)^2 / m,  rstd = 1 / sqrt(var + epsilon)
 *               y = xhat w + b
 *   backward    g  = dy w
 *               dx = rstd (g - sum_t g / m - xhat sum_t (g xhat) / m)
 *               dx = rstd g                        where the statistics are given (use_statistics)
 *               dw = sum dy xhat,  db = sum dy     over all elements that share w
 *
 * With an activation and a residual, forward writes activation(y + residual), and backward replaces
 * dy by dresidual, which is dy where the activation's gradient is 1, else 0.
 *
 * dx follows from d xhat[u] / d x[t] = rstd ((t == u) - 1 / m - xhat[t] xhat[u] / m).
 *
 * Both directions compute xhat from the stored mean and rstd.
 */
#include <math.h>

#include "reference/activation.h"

enum kind { BATCH, LAYER, GROUP };

enum { WANTS_DX = 1, WANTS_DW_DB = 2, WANTS_DRESIDUAL = 4 };

/* x as (n_outer, n_channels, n_inner), compact: batch norm's groups are the channels, and w is
 * theirs; layer norm has n_inner 1, its groups are the outer rows, and w runs along the row; group
 * norm's groups have n_shared channels each. */
struct extent {
	int64_t n_outer;
	int64_t n_channels;
	int64_t n_inner;
	int64_t n_shared;
	int64_t n_groups;
	int64_t group_size;
};

static int64_t count_groups(const struct tn_norm_args *args, enum kind kind)
{
	if (kind == GROUP)
		return args->x.shape[0] * args->groups;
	return args->x.shape[kind == BATCH ? 1 : 0];
}

static struct extent extent_of(const struct tn_norm_args *args, enum kind kind)
{
	struct extent e = {
		.n_outer = args->x.shape[0], .n_channels = args->x.shape[1], .n_inner = 1};
	for (uint32_t axis = 2; axis < args->x.rank; axis++)
		e.n_inner *= args->x.shape[axis];
	e.n_shared = kind == GROUP ? e.n_channels / args->groups : 1;
	e.n_groups = count_groups(args, kind);
	e.group_size = e.n_outer * e.n_channels * e.n_inner / e.n_groups;
	return e;
}

/* The position of element t of a group in x. */
static int64_t place(const struct extent *e, enum kind kind, int64_t group, int64_t t)
{
	if (kind != BATCH)
		return group * e->group_size + t;
	return (t / e->n_inner * e->n_channels + group) * e->n_inner + t % e->n_inner;
}

/* The index of its w and b. */
static int64_t channel(const struct extent *e, enum kind kind, int64_t group, int64_t t)
{
	if (kind == GROUP)
		return group * e->n_shared % e->n_channels + t / e->n_inner;
	return kind == LAYER ? t : group;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

struct rule {
	const char *name;
	const struct tn_operand *operand;
	int is_used;
	int access;
	uint32_t rank;
	const int64_t *shape;
};

static tn_status check_rules(const struct tn_norm_args *args, const char *operation,
			     const struct rule *rules, size_t n_rules)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < n_rules && !status; i++) {
		if (!rules[i].is_used)
			continue;
		status = tn_reference_check_real(&args->call, operation, rules[i].name,
						 rules[i].operand, args->x.dtype, rules[i].access);
		if (!status)
			status = tn_reference_check_shape(&args->call, operation, rules[i].name,
							  rules[i].operand, rules[i].rank,
							  rules[i].shape);
	}
	return status;
}

static tn_status check_settings(const struct tn_norm_args *args, const char *operation,
				enum kind kind)
{
	const struct tn_call *call = &args->call;
	uint32_t rank = args->x.rank;
	if (rank < 2 || (kind == LAYER && rank > 2))
		return tn_reference_fail(call, TN_SHAPE, operation, "x: rank %u, expected %s", rank,
					 kind == LAYER ? "2" : "at least 2");
	if (args->has_affine > 1 || args->use_statistics > 1 || args->has_residual > 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "has_affine %u, use_statistics %u, has_residual %u: "
					 "expected 0 or 1",
					 args->has_affine, args->use_statistics,
					 args->has_residual);
	if (kind == GROUP && (args->groups < 1 || args->x.shape[1] % args->groups))
		return tn_reference_fail(
			call, TN_SHAPE, operation,
			"%lld channels in %u groups: expected an equal number in each",
			(long long)args->x.shape[1], args->groups);
	if (args->wants > (WANTS_DX | WANTS_DW_DB | WANTS_DRESIDUAL))
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "wants 0x%x: expected only bits 0 to 2", args->wants);
	if (args->activation > TN_ACTIVATION_RELU6)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "activation %u: expected NONE, RELU or RELU6",
					 args->activation);
	if (!(args->epsilon >= 0))
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "epsilon %g: expected at least 0", args->epsilon);
	return TN_OK;
}

static tn_status check_arguments(const struct tn_norm_args *args, const char *operation,
				 enum kind kind, int is_forward)
{
	const struct tn_operand *x = &args->x;
	const int64_t *channels = &x->shape[1];
	const int64_t n_groups = x->rank < 2 ? 0 : count_groups(args, kind), *groups = &n_groups;
	int wants_dx = !is_forward && args->wants & WANTS_DX;
	int wants_dw = !is_forward && args->wants & WANTS_DW_DB;
	int statistics = is_forward && !args->use_statistics ? WRITE : READ;
	const struct rule rules[] = {
		{.name = "x",
		 .operand = x,
		 .is_used = 1,
		 .access = READ,
		 .rank = x->rank,
		 .shape = x->shape},
		{.name = "y",
		 .operand = &args->y,
		 .is_used = 1,
		 .access = is_forward ? WRITE : READ,
		 .rank = x->rank,
		 .shape = x->shape},
		{.name = "w",
		 .operand = &args->w,
		 .is_used = args->has_affine != 0,
		 .access = READ,
		 .rank = 1,
		 .shape = channels},
		{.name = "b",
		 .operand = &args->b,
		 .is_used = args->has_affine && is_forward,
		 .access = READ,
		 .rank = 1,
		 .shape = channels},
		{.name = "mean",
		 .operand = &args->mean,
		 .is_used = 1,
		 .access = statistics,
		 .rank = 1,
		 .shape = groups},
		{.name = "rstd",
		 .operand = &args->rstd,
		 .is_used = 1,
		 .access = statistics,
		 .rank = 1,
		 .shape = groups},
		{.name = "dx",
		 .operand = &args->dx,
		 .is_used = wants_dx,
		 .access = WRITE,
		 .rank = x->rank,
		 .shape = x->shape},
		{.name = "dw",
		 .operand = &args->dw,
		 .is_used = wants_dw,
		 .access = WRITE,
		 .rank = 1,
		 .shape = channels},
		{.name = "db",
		 .operand = &args->db,
		 .is_used = wants_dw,
		 .access = WRITE,
		 .rank = 1,
		 .shape = channels},
		{.name = "residual",
		 .operand = &args->residual,
		 .is_used = is_forward && args->has_residual,
		 .access = READ,
		 .rank = x->rank,
		 .shape = x->shape},
		{.name = "result",
		 .operand = &args->result,
		 .is_used = !is_forward && args->activation,
		 .access = READ,
		 .rank = x->rank,
		 .shape = x->shape},
		{.name = "dresidual",
		 .operand = &args->dresidual,
		 .is_used = !is_forward && args->wants & WANTS_DRESIDUAL,
		 .access = WRITE,
		 .rank = x->rank,
		 .shape = x->shape},
	};
	tn_status status = check_rules(args, operation, rules, 1);
	if (!status)
		status = check_settings(args, operation, kind);
	if (!status)
		status = check_rules(args, operation, rules, sizeof(rules) / sizeof(rules[0]));
	return status;
}

/* ---- Copies ----------------------------------------------------------------------------------*/

/* Compact copies in f64. */
struct copies {
	double *x, *y, *w, *b, *mean, *rstd, *dx, *dw, *db;
	double *residual; /* forward's output, or NULL */
	double *result;   /* in backward with an activation, else NULL */
};

static double *ones(void *device, int64_t n)
{
	double *numbers = tn_reference_numbers(device, (uint64_t)n);
	for (int64_t i = 0; numbers && i < n; i++)
		numbers[i] = 1;
	return numbers;
}

static double *zeros(void *device, int64_t n)
{
	double *numbers = tn_reference_numbers(device, (uint64_t)n);
	if (numbers)
		memset(numbers, 0, (size_t)n * sizeof(*numbers));
	return numbers;
}

static void release_copies(void *device, struct copies *c)
{
	double *all[] = {c->x,  c->y,  c->w,  c->b,        c->mean,  c->rstd,
			 c->dx, c->dw, c->db, c->residual, c->result};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tn_reference_release(device, all[i]);
}

static tn_status make_copies(void *device, const struct tn_norm_args *args, const struct extent *e,
			     int is_forward, struct copies *c)
{
	int writes_statistics = is_forward && !args->use_statistics;
	int64_t n = e->n_outer * e->n_channels * e->n_inner;
	c->x = tn_reference_unpack(device, &args->x);
	c->y = is_forward ? zeros(device, n) : tn_reference_unpack(device, &args->y);
	c->w = args->has_affine ? tn_reference_unpack(device, &args->w)
				: ones(device, e->n_channels);
	c->b = args->has_affine && is_forward ? tn_reference_unpack(device, &args->b)
					      : zeros(device, e->n_channels);
	c->mean = writes_statistics ? zeros(device, e->n_groups)
				    : tn_reference_unpack(device, &args->mean);
	c->rstd = writes_statistics ? zeros(device, e->n_groups)
				    : tn_reference_unpack(device, &args->rstd);
	c->dx = zeros(device, is_forward ? 1 : n);
	c->dw = zeros(device, e->n_channels);
	c->db = zeros(device, e->n_channels);
	if (!(c->x && c->y && c->w && c->b && c->mean && c->rstd && c->dx && c->dw && c->db))
		return TN_OUT_OF_MEMORY;
	int has_residual = is_forward && args->has_residual;
	int has_result = !is_forward && args->activation;
	if (has_residual)
		c->residual = tn_reference_unpack(device, &args->residual);
	if (has_result)
		c->result = tn_reference_unpack(device, &args->result);
	return (c->residual || !has_residual) && (c->result || !has_result) ? TN_OK
									    : TN_OUT_OF_MEMORY;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

/* mean := sum_t x / m,  rstd := 1 / sqrt(sum_t (x - mean)^2 / m + epsilon), in two passes */
static void group_statistics(const struct extent *e, enum kind kind, double epsilon,
			     struct copies *c, int64_t group)
{
	double mean = 0, variance = 0;
	for (int64_t t = 0; t < e->group_size; t++)
		mean += c->x[place(e, kind, group, t)];
	mean /= (double)e->group_size;
	for (int64_t t = 0; t < e->group_size; t++) {
		double distance = c->x[place(e, kind, group, t)] - mean;
		variance += distance * distance;
	}
	variance /= (double)e->group_size;
	c->mean[group] = mean;
	c->rstd[group] = 1 / sqrt(variance + epsilon);
}

static tn_status forward(void *device, const struct tn_norm_args *theirs, const char *operation,
			 enum kind kind)
{
	struct copies copies = {0};
	struct tn_norm_args args;
	struct extent e;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, operation);
	if (!status)
		status = check_arguments(&args, operation, kind, 1);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	e = extent_of(&args, kind);
	status = make_copies(device, &args, &e, 1, &copies);
	if (!status) {
		for (int64_t group = 0; group < e.n_groups; group++) {
			if (!args.use_statistics)
				group_statistics(&e, kind, args.epsilon, &copies, group);
			/* y := (x - mean) rstd w + b */
			for (int64_t t = 0; t < e.group_size; t++) {
				int64_t i = place(&e, kind, group, t),
					k = channel(&e, kind, group, t);
				copies.y[i] = (copies.x[i] - copies.mean[group]) *
						      copies.rstd[group] * copies.w[k] +
					      copies.b[k];
			}
		}
		tn_reference_finish(args.activation, copies.y, copies.residual,
				    tn_reference_count(&args.y));
		tn_reference_write(&args.y, copies.y, 0);
		if (!args.use_statistics) {
			tn_reference_write(&args.mean, copies.mean, 0);
			tn_reference_write(&args.rstd, copies.rstd, 0);
		}
	} else {
		status = tn_reference_no_memory(&args.call, operation);
	}
	release_copies(device, &copies);
	return status;
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* dx := rstd (g - mean_g - xhat mean_g_xhat); with given statistics, rstd g */
static void group_backward(const struct extent *e, enum kind kind, int use_statistics,
			   struct copies *c, int64_t group)
{
	double mean_g = 0, mean_g_xhat = 0;
	/* dw += dy xhat, db += dy, and the group's means of g and of g xhat */
	for (int64_t t = 0; t < e->group_size; t++) {
		int64_t i = place(e, kind, group, t), k = channel(e, kind, group, t);
		double xhat = (c->x[i] - c->mean[group]) * c->rstd[group];
		c->dw[k] += c->y[i] * xhat;
		c->db[k] += c->y[i];
		mean_g += c->y[i] * c->w[k];
		mean_g_xhat += c->y[i] * c->w[k] * xhat;
	}
	mean_g /= (double)e->group_size;
	mean_g_xhat /= (double)e->group_size;
	if (use_statistics)
		mean_g = mean_g_xhat = 0;
	for (int64_t t = 0; t < e->group_size; t++) {
		int64_t i = place(e, kind, group, t), k = channel(e, kind, group, t);
		double xhat = (c->x[i] - c->mean[group]) * c->rstd[group];
		c->dx[i] = c->rstd[group] * (c->y[i] * c->w[k] - mean_g - xhat * mean_g_xhat);
	}
}

static tn_status backward(void *device, const struct tn_norm_args *theirs, const char *operation,
			  enum kind kind)
{
	struct copies copies = {0};
	struct tn_norm_args args;
	struct extent e;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE, operation);
	if (!status)
		status = check_arguments(&args, operation, kind, 0);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	e = extent_of(&args, kind);
	status = make_copies(device, &args, &e, 0, &copies);
	if (!status) {
		/* dy := dresidual */
		uint64_t n = tn_reference_count(&args.y);
		for (uint64_t i = 0; copies.result && i < n; i++) {
			if (!tn_reference_passes(args.activation, copies.result[i]))
				copies.y[i] = 0;
		}
		for (int64_t group = 0; group < e.n_groups; group++)
			group_backward(&e, kind, (int)args.use_statistics, &copies, group);
		int accumulate = (args.call.flags & TN_ACCUMULATE) != 0;
		if (args.wants & WANTS_DX)
			tn_reference_write(&args.dx, copies.dx, 0);
		if (args.wants & WANTS_DW_DB) {
			tn_reference_write(&args.dw, copies.dw, accumulate);
			tn_reference_write(&args.db, copies.db, accumulate);
		}
		if (args.wants & WANTS_DRESIDUAL)
			tn_reference_write(&args.dresidual, copies.y, 0);
	} else {
		status = tn_reference_no_memory(&args.call, operation);
	}
	release_copies(device, &copies);
	return status;
}

/* ---- Entries ---------------------------------------------------------------------------------*/

tn_status tn_reference_batch_norm_forward(void *device, const struct tn_norm_args *args)
{
	return forward(device, args, "batch_norm_forward", BATCH);
}

tn_status tn_reference_batch_norm_backward(void *device, const struct tn_norm_args *args)
{
	return backward(device, args, "batch_norm_backward", BATCH);
}

tn_status tn_reference_layer_norm_forward(void *device, const struct tn_norm_args *args)
{
	return forward(device, args, "layer_norm_forward", LAYER);
}

tn_status tn_reference_layer_norm_backward(void *device, const struct tn_norm_args *args)
{
	return backward(device, args, "layer_norm_backward", LAYER);
}

tn_status tn_reference_group_norm_forward(void *device, const struct tn_norm_args *args)
{
	return forward(device, args, "group_norm_forward", GROUP);
}

tn_status tn_reference_group_norm_backward(void *device, const struct tn_norm_args *args)
{
	return backward(device, args, "group_norm_backward", GROUP);
}
