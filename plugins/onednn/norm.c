/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch and layer norm.  The interface stores rstd = 1 / sqrt(var + epsilon), oneDNN the variance:
 * the variance is kept in the workspace and is converted, after a forward that makes statistics, to
 *
 *     rstd = 1 / sqrt(var + epsilon),
 *
 * and before every pass that reads them, with an epsilon of 0 for oneDNN, to var = 1 / rstd^2.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "layers.h"
#include "plan.h"

static const char *const names[2][2] = {{"batch_norm_forward", "batch_norm_backward"},
					{"layer_norm_forward", "layer_norm_backward"}};

struct norm {
	int is_layer, is_backward;
	const char *name;
	struct tn_norm_args args;
	int makes_statistics; /* forward: statistics are written */
	int wants_dx, wants_parameters;
	struct onednn_view x, y, w, b, mean, rstd, dx, dw, db;
	enum onednn_access gradient;
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_x(const struct norm *n)
{
	const struct tn_operand *x = &n->args.x, *y = &n->args.y, *dx = &n->args.dx;
	int fits = x->rank == y->rank && x->rank >= 2 && x->rank <= TN_MAX_RANK;
	if (n->wants_dx)
		fits = fits && dx->rank == x->rank;
	for (uint32_t i = 0; fits && i < x->rank; i++)
		fits = x->shape[i] == y->shape[i] && (!n->wants_dx || dx->shape[i] == x->shape[i]);
	if (!fits || (n->is_layer && x->rank != 2))
		return tn_plugin_fail(n->args.call.error, TN_SHAPE, n->name,
				      "x, y and dx: expected equal shapes, %s",
				      n->is_layer ? "(rows, C)" : "(N, C, ...)");
	return TN_OK;
}

static tn_status check_values(const struct norm *n, const struct tn_operand *values, int64_t count,
			      const char *which)
{
	if (values->rank == 1 && values->shape[0] == count)
		return TN_OK;
	return tn_plugin_fail(n->args.call.error, TN_SHAPE, n->name,
			      "%s: expected %" PRId64 " elements in one axis", which, count);
}

static tn_status check_arguments(const struct norm *n)
{
	const struct tn_norm_args *args = &n->args;
	int64_t channels = args->x.shape[1], groups = args->x.shape[n->is_layer ? 0 : 1];
	tn_status status = check_x(n);
	if (!status && (args->has_residual || args->activation || args->wants > 3))
		status = tn_plugin_fail(args->call.error, TN_UNSUPPORTED, n->name,
					"residual and activation are not supported");
	if (!status && n->is_layer && args->use_statistics)
		status = tn_plugin_fail(args->call.error, TN_UNSUPPORTED, n->name,
					"use_statistics: expected 0 for layer norm");
	if (!status)
		status = check_values(n, &args->mean, groups, "mean");
	if (!status)
		status = check_values(n, &args->rstd, groups, "rstd");
	if (!status && args->has_affine)
		status = check_values(n, &args->w, channels, "w");
	if (!status && args->has_affine && !n->is_backward)
		status = check_values(n, &args->b, channels, "b");
	if (!status && n->wants_parameters)
		status = check_values(n, &args->dw, channels, "dw");
	if (!status && n->wants_parameters)
		status = check_values(n, &args->db, channels, "db");
	return status;
}

/* Views of all operands that the call uses. */
static tn_status take_views(struct norm *n)
{
	const struct tn_norm_args *args = &n->args;
	const struct {
		struct onednn_view *view;
		const struct tn_operand *operand;
		const char *which;
		int used;
	} all[] = {
		{&n->x, &args->x, "x", 1},
		{&n->y, &args->y, "y", 1},
		{&n->w, &args->w, "w", args->has_affine != 0},
		{&n->b, &args->b, "b", args->has_affine && !n->is_backward},
		{&n->mean, &args->mean, "mean", 1},
		{&n->rstd, &args->rstd, "rstd", 1},
		{&n->dx, &args->dx, "dx", n->wants_dx},
		{&n->dw, &args->dw, "dw", n->wants_parameters},
		{&n->db, &args->db, "db", n->wants_parameters},
	};
	tn_status status = TN_OK;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !status; i++) {
		if (all[i].used)
			status = onednn_view(all[i].view, all[i].operand, &args->call, n->name,
					     all[i].which);
	}
	return status;
}

/* ---- The primitive ---------------------------------------------------------------------------*/

/* oneDNN computes gradients of a scale and a shift only if they are used; w is then 1. */
static int has_scale(const struct norm *n)
{
	return n->args.has_affine || n->wants_parameters;
}

static unsigned flags_of(const struct norm *n)
{
	unsigned flags = has_scale(n) ? dnnl_use_scale : 0;
	if (has_scale(n) && (!n->is_backward || n->wants_parameters))
		flags |= dnnl_use_shift;
	return n->args.use_statistics ? flags | dnnl_use_global_stats : flags;
}

union description {
	dnnl_batch_normalization_desc_t batch;
	dnnl_layer_normalization_desc_t layer;
};

struct offers {
	dnnl_memory_desc_t x, statistics;
};

static dnnl_status_t describe_forward(const struct onednn_library *dnn, const struct norm *n,
				      const struct offers *offers, union description *desc)
{
	float epsilon = n->makes_statistics ? (float)n->args.epsilon : 0;
	if (n->is_layer)
		return dnn->layer_normalization_forward(&desc->layer, dnnl_forward_training,
							&offers->x, &offers->statistics, epsilon,
							flags_of(n));
	return dnn->batch_normalization_forward(&desc->batch, dnnl_forward_training, &offers->x,
						epsilon, flags_of(n));
}

static dnnl_status_t describe_backward(const struct onednn_library *dnn, const struct norm *n,
				       const struct offers *offers, union description *desc)
{
	dnnl_prop_kind_t kind = n->wants_parameters ? dnnl_backward : dnnl_backward_data;
	if (n->is_layer)
		return dnn->layer_normalization_backward(&desc->layer, kind, &offers->x, &offers->x,
							 &offers->statistics, 0, flags_of(n));
	return dnn->batch_normalization_backward(&desc->batch, kind, &offers->x, &offers->x, 0,
						 flags_of(n));
}

/* The backward's primitive is chosen with that of its forward as a hint. */
static dnnl_status_t make_primitive(struct onednn_work *work, const struct norm *n)
{
	const struct onednn_library *dnn = work->device->library;
	struct offers offers;
	union description desc;
	dnnl_primitive_desc_t hint = NULL;
	/* x in its own layout if that is plain, else dense; statistics are dense. */
	struct onednn_view x = onednn_dense(&n->x), statistics = onednn_dense(&n->mean);
	if (!n->is_layer && onednn_is_plain(&n->x))
		x = n->x;
	dnnl_status_t answer = onednn_describe(dnn, &x, &offers.x);
	if (!answer)
		answer = onednn_describe(dnn, &statistics, &offers.statistics);
	if (!answer)
		answer = describe_forward(dnn, n, &offers, &desc);
	if (!answer && !n->is_backward)
		return onednn_work_primitive(work, &desc, NULL);
	if (!answer)
		answer = dnn->primitive_desc_create(&hint, &desc, work->device->attributes,
						    work->device->engine, NULL);
	if (!answer)
		answer = describe_backward(dnn, n, &offers, &desc);
	if (!answer)
		answer = onednn_work_primitive(work, &desc, hint);
	if (hint)
		dnn->primitive_desc_destroy(hint);
	return answer;
}

/* ---- Parts -----------------------------------------------------------------------------------*/

/* How an operand advances from piece to piece; layer norm is cut along its rows. */
enum spread { WHOLE, ROWS };

struct operand {
	int argument;
	enum onednn_access access;
	struct onednn_view *view; /* NULL: not the caller's */
	enum spread spread;
};

/* The first parts of every plan. */
enum { VARIANCE, SCALE };

static int list_forward(struct norm *n, struct operand *list)
{
	enum onednn_access statistics = n->makes_statistics ? ONEDNN_WRITE : ONEDNN_READ;
	int count = 0;
	list[count++] = (struct operand){DNNL_ARG_VARIANCE, statistics, NULL, ROWS};
	if (has_scale(n)) {
		list[count++] = (struct operand){DNNL_ARG_SCALE, ONEDNN_READ, &n->w, WHOLE};
		list[count++] = (struct operand){DNNL_ARG_SHIFT, ONEDNN_READ, &n->b, WHOLE};
	}
	list[count++] = (struct operand){DNNL_ARG_MEAN, statistics, &n->mean, ROWS};
	list[count++] = (struct operand){DNNL_ARG_SRC, ONEDNN_READ, &n->x, ROWS};
	list[count++] = (struct operand){DNNL_ARG_DST, ONEDNN_WRITE, &n->y, ROWS};
	return count;
}

static int list_backward(struct norm *n, struct operand *list)
{
	int count = 0;
	list[count++] = (struct operand){DNNL_ARG_VARIANCE, ONEDNN_READ, NULL, ROWS};
	if (has_scale(n))
		list[count++] = (struct operand){DNNL_ARG_SCALE, ONEDNN_READ,
						 n->args.has_affine ? &n->w : NULL, WHOLE};
	list[count++] = (struct operand){DNNL_ARG_MEAN, ONEDNN_READ, &n->mean, ROWS};
	list[count++] = (struct operand){DNNL_ARG_SRC, ONEDNN_READ, &n->x, ROWS};
	list[count++] = (struct operand){DNNL_ARG_DIFF_DST, ONEDNN_READ, &n->y, ROWS};
	/* oneDNN always writes it; if it is not requested, it stays in the workspace. */
	list[count++] = (struct operand){DNNL_ARG_DIFF_SRC, ONEDNN_WRITE,
					 n->wants_dx ? &n->dx : NULL, ROWS};
	if (n->wants_parameters) {
		/* oneDNN requires the shift, and does not read it. */
		list[count++] = (struct operand){DNNL_ARG_SHIFT, ONEDNN_READ, NULL, WHOLE};
		list[count++] = (struct operand){DNNL_ARG_DIFF_SCALE, n->gradient, &n->dw, WHOLE};
		list[count++] = (struct operand){DNNL_ARG_DIFF_SHIFT, n->gradient, &n->db, WHOLE};
	}
	return count;
}

static int list_operands(struct norm *n, struct operand *list)
{
	return n->is_backward ? list_backward(n, list) : list_forward(n, list);
}

static dnnl_status_t make_norm(struct onednn_work *work, const void *argument)
{
	struct norm n = *(const struct norm *)argument;
	struct operand list[ONEDNN_MOST_PARTS];
	int64_t steps[ONEDNN_MOST_PARTS] = {0};
	int count = list_operands(&n, list);
	for (int i = 0; i < count; i++) {
		if (list[i].view && list[i].spread == ROWS)
			steps[i] = onednn_slice(list[i].view, 0, work->n_pieces);
	}
	dnnl_status_t answer = make_primitive(work, &n);
	for (int i = 0; i < count && !answer; i++)
		answer = onednn_work_part(work, list[i].argument, list[i].access, list[i].view,
					  steps[i]);
	return answer;
}

/* ---- Statistics ------------------------------------------------------------------------------*/

static float *value(const struct onednn_view *view, int64_t i)
{
	return (float *)(uintptr_t)view->address + i * view->strides[0];
}

static void prepare_parts(const struct norm *n, const struct onednn_work *work)
{
	if (!n->makes_statistics) {
		float *variance = onednn_part_place(work, VARIANCE);
		for (int64_t i = 0; i < n->rstd.shape[0]; i++) {
			float rstd = *value(&n->rstd, i);
			variance[i] = 1 / (rstd * rstd);
		}
	}
	if (has_scale(n) && !n->args.has_affine) {
		float *scale = onednn_part_place(work, SCALE);
		for (int64_t i = 0; i < n->args.x.shape[1] * work->n_pieces; i++)
			scale[i] = 1;
	}
}

/* ---- The entries -----------------------------------------------------------------------------*/

static void make_key(struct onednn_key *key, struct norm *n)
{
	struct operand list[ONEDNN_MOST_PARTS];
	int count = list_operands(n, list);
	const int64_t settings[] = {flags_of(n), n->args.has_affine != 0, n->wants_dx,
				    n->wants_parameters, n->gradient == ONEDNN_ADD};
	int64_t epsilon;
	memcpy(&epsilon, &n->args.epsilon, sizeof(epsilon));
	onednn_key_begin(key,
			 (n->is_layer ? ONEDNN_LAYER_NORM : ONEDNN_BATCH_NORM) + n->is_backward);
	onednn_key_add(key, settings, 5);
	onednn_key_add(key, &epsilon, 1);
	for (int i = 0; i < count; i++) {
		if (list[i].view)
			onednn_key_view(key, list[i].view);
	}
}

static tn_status take_arguments(struct norm *n, const struct tn_norm_args *args)
{
	uint32_t flags = TN_DRY_RUN | TN_DETERMINISTIC | (n->is_backward ? TN_ACCUMULATE : 0);
	tn_status status = tn_plugin_take(&n->args, sizeof(n->args), args, flags, n->name);
	if (status)
		return status;
	n->makes_statistics = !n->is_backward && !n->args.use_statistics;
	n->wants_dx = n->is_backward && (n->args.wants & 1);
	n->wants_parameters = n->is_backward && (n->args.wants & 2);
	n->gradient = n->args.call.flags & TN_ACCUMULATE ? ONEDNN_ADD : ONEDNN_WRITE;
	status = check_arguments(n);
	if (!status)
		status = take_views(n);
	if (!status) {
		/* oneDNN's batch norm has at most three axes after the channels. */
		struct onednn_view *views[] = {&n->x, &n->y, &n->dx};
		if (!n->is_layer)
			onednn_merge(views, n->wants_dx ? 3 : 2, 2);
	}
	return status;
}

static tn_status run_norm(void *device, const struct tn_norm_args *args, int is_layer,
			  int is_backward)
{
	struct norm n = {.is_layer = is_layer,
			 .is_backward = is_backward,
			 .name = names[is_layer][is_backward]};
	struct onednn_work work = {.device = device, .call = &n.args.call, .operation = n.name};
	struct operand list[ONEDNN_MOST_PARTS];
	uint64_t addresses[ONEDNN_MOST_PARTS];
	tn_status status = take_arguments(&n, args);
	if (status)
		return status;
	make_key(&work.key, &n);
	/* Batch norm's groups span the images: it is not cut. */
	work.cost = 10;
	for (int i = 0; i < n.x.rank; i++)
		work.cost *= (double)n.x.shape[i];
	work.length = n.is_layer ? n.x.shape[0] : 1;
	onednn_cut(&work);
	status = onednn_begin(&work, make_norm, &n);
	if (status || !work.plan)
		return status;
	int count = list_operands(&n, list);
	for (int i = 0; i < count; i++)
		addresses[i] = list[i].view ? list[i].view->address : 0;
	prepare_parts(&n, &work);
	status = onednn_run(&work, addresses);
	if (!status && n.makes_statistics) {
		const float *variance = onednn_part_place(&work, VARIANCE);
		for (int64_t i = 0; i < n.rstd.shape[0]; i++)
			*value(&n.rstd, i) = 1 / sqrtf(variance[i] + (float)n.args.epsilon);
	}
	return status;
}

tn_status onednn_batch_norm_forward(void *device, const struct tn_norm_args *args)
{
	return run_norm(device, args, 0, 0);
}

tn_status onednn_batch_norm_backward(void *device, const struct tn_norm_args *args)
{
	return run_norm(device, args, 0, 1);
}

tn_status onednn_layer_norm_forward(void *device, const struct tn_norm_args *args)
{
	return run_norm(device, args, 1, 0);
}

tn_status onednn_layer_norm_backward(void *device, const struct tn_norm_args *args)
{
	return run_norm(device, args, 1, 1);
}
