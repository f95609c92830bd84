/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * pool2d: averages by oneDNN; maxima are in max_pool.c.
 */
#include <inttypes.h>

#include "layers.h"
#include "plan.h"

static const char *const names[] = {"pool2d_forward", "pool2d_backward"};

struct pooling {
	int is_backward;
	struct tn_pool2d_args args;
	struct onednn_view x, y;
	dnnl_dims_t kernel, stride, before, after;
	enum onednn_access gradient;
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_window(const struct tn_pool2d_args *args, const char *name)
{
	if (args->kind != TN_POOL_MAX && args->kind != TN_POOL_AVERAGE)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "kind %u is not supported", args->kind);
	for (int i = 0; i < 4; i++) {
		int64_t kernel = args->kernel[i % 2];
		if (kernel < 1 || args->stride[i % 2] < 1 || args->padding[i] < 0 ||
		    args->padding[i] > kernel / 2)
			return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
					      "kernel %" PRId64 ", stride %" PRId64
					      ", padding %" PRId64
					      ": expected at least 1, 1, and 0 to kernel / 2",
					      kernel, args->stride[i % 2], args->padding[i]);
	}
	return TN_OK;
}

static int64_t output_length(const struct tn_pool2d_args *args, int axis)
{
	int64_t room = args->x.shape[2 + axis] + args->padding[axis] + args->padding[axis + 2] -
		       args->kernel[axis];
	return room < 0 ? 0 : room / args->stride[axis] + 1;
}

static tn_status check_shapes(const struct tn_pool2d_args *args, const char *name)
{
	const int64_t *x = args->x.shape, *y = args->y.shape;
	if (args->x.rank != 4 || args->y.rank != 4)
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "ranks %u and %u: expected 4 for x and y", args->x.rank,
				      args->y.rank);
	for (int i = 0; i < 4; i++) {
		if (x[i] < 1 || y[i] < 1)
			return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
					      "axis %d has length %" PRId64 " in x and %" PRId64
					      " in y",
					      i, x[i], y[i]);
	}
	if (y[0] == x[0] && y[1] == x[1] && y[2] == output_length(args, 0) &&
	    y[3] == output_length(args, 1))
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_SHAPE, name,
			      "y: expected (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
			      "), found (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")",
			      x[0], x[1], output_length(args, 0), output_length(args, 1), y[0],
			      y[1], y[2], y[3]);
}

/* ---- The primitive ---------------------------------------------------------------------------*/

struct offers {
	dnnl_memory_desc_t x, y;
};

static dnnl_alg_kind_t algorithm(const struct pooling *p)
{
	return p->args.count_padding ? dnnl_pooling_avg_include_padding
				     : dnnl_pooling_avg_exclude_padding;
}

/* The backward's primitive is chosen with that of its forward as a hint. */
static dnnl_status_t make_primitive(struct onednn_work *work, const struct pooling *p)
{
	const struct onednn_library *dnn = work->device->library;
	struct offers offers;
	dnnl_pooling_desc_t desc;
	dnnl_primitive_desc_t hint = NULL;
	struct onednn_view x = onednn_dense(&p->x), y = onednn_dense(&p->y);
	dnnl_status_t answer = onednn_describe(dnn, &x, &offers.x);
	if (!answer)
		answer = onednn_describe(dnn, &y, &offers.y);
	if (!answer)
		answer = dnn->pooling_forward(&desc, dnnl_forward_training, algorithm(p), &offers.x,
					      &offers.y, p->stride, p->kernel, p->before, p->after);
	if (!answer && !p->is_backward)
		return onednn_work_primitive(work, &desc, NULL);
	if (!answer)
		answer = dnn->primitive_desc_create(&hint, &desc, work->device->attributes,
						    work->device->engine, NULL);
	if (!answer)
		answer = dnn->pooling_backward(&desc, algorithm(p), &offers.x, &offers.y, p->stride,
					       p->kernel, p->before, p->after);
	if (!answer)
		answer = onednn_work_primitive(work, &desc, hint);
	if (hint)
		dnn->primitive_desc_destroy(hint);
	return answer;
}

/* Cut along the images. */
static dnnl_status_t make_pooling(struct onednn_work *work, const void *argument)
{
	struct pooling p = *(const struct pooling *)argument;
	int64_t x_step = onednn_slice(&p.x, 0, work->n_pieces);
	int64_t y_step = onednn_slice(&p.y, 0, work->n_pieces);
	int x = p.is_backward ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
	int y = p.is_backward ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST;
	dnnl_status_t answer = make_primitive(work, &p);
	if (!answer)
		answer = onednn_work_part(work, x, p.is_backward ? p.gradient : ONEDNN_READ, &p.x,
					  x_step);
	if (!answer)
		answer = onednn_work_part(work, y, p.is_backward ? ONEDNN_READ : ONEDNN_WRITE, &p.y,
					  y_step);
	return answer;
}

/* ---- The entries -----------------------------------------------------------------------------*/

static tn_status run_average(struct onednn_device *device, struct pooling *p)
{
	const char *name = names[p->is_backward];
	struct onednn_work work = {.device = device, .call = &p->args.call, .operation = name};
	tn_status status = onednn_view(&p->x, &p->args.x, &p->args.call, name, "x");
	if (!status)
		status = onednn_view(&p->y, &p->args.y, &p->args.call, name, "y");
	if (status)
		return status;
	for (int i = 0; i < 2; i++) {
		p->kernel[i] = p->args.kernel[i];
		p->stride[i] = p->args.stride[i];
		p->before[i] = p->args.padding[i];
		p->after[i] = p->args.padding[i + 2];
	}
	p->gradient = p->args.call.flags & TN_ACCUMULATE ? ONEDNN_ADD : ONEDNN_WRITE;
	const int64_t settings[] = {p->args.count_padding != 0, p->gradient == ONEDNN_ADD};
	onednn_key_begin(&work.key, ONEDNN_POOL2D + p->is_backward);
	onednn_key_add(&work.key, settings, 2);
	onednn_key_add(&work.key, p->args.kernel, 2);
	onednn_key_add(&work.key, p->args.stride, 2);
	onednn_key_add(&work.key, p->args.padding, 4);
	onednn_key_view(&work.key, &p->x);
	onednn_key_view(&work.key, &p->y);
	work.length = p->x.shape[0];
	work.cost = (double)(p->y.shape[0] * p->y.shape[1] * p->y.shape[2] * p->y.shape[3]) *
		    (double)(p->kernel[0] * p->kernel[1]);
	onednn_cut(&work);
	status = onednn_begin(&work, make_pooling, p);
	if (status || !work.plan)
		return status;
	const uint64_t addresses[] = {p->x.address, p->y.address};
	return onednn_run(&work, addresses);
}

static tn_status run_pooling(void *device, const struct tn_pool2d_args *args, int is_backward)
{
	struct pooling p = {.is_backward = is_backward};
	const char *name = names[p.is_backward];
	uint32_t flags = TN_DRY_RUN | TN_DETERMINISTIC | (p.is_backward ? TN_ACCUMULATE : 0);
	tn_status status = tn_plugin_take(&p.args, sizeof(p.args), args, flags, name);
	if (!status)
		status = check_window(&p.args, name);
	if (!status)
		status = check_shapes(&p.args, name);
	if (status)
		return status;
	if (p.args.kind == TN_POOL_MAX)
		return onednn_max_pool(device, &p.args, is_backward, names[is_backward]);
	return run_average(device, &p);
}

tn_status onednn_pool2d_forward(void *device, const struct tn_pool2d_args *args)
{
	return run_pooling(device, args, 0);
}

tn_status onednn_pool2d_backward(void *device, const struct tn_pool2d_args *args)
{
	return run_pooling(device, args, 1);
}
