/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * conv2d and its gradients.  In oneDNN dilation starts at 0, and groups are an axis of the weights.
 */
#include <inttypes.h>

#include "layers.h"
#include "plan.h"

/* Elements of the gradients of all pieces. */
#define MOST_GRADIENTS (INT64_C(4) << 20)

enum which { FORWARD = 1, INPUT_GRADIENT, WEIGHT_GRADIENT };

static const char *const names[] = {"", "conv2d_forward", "conv2d_input_gradient",
				    "conv2d_weight_gradient"};

struct convolution {
	enum which which;
	const struct onednn_library *dnn;
	struct tn_conv2d_args args;
	struct onednn_view x, w, y, bias;
	dnnl_dims_t stride, dilation, before, after;
	enum onednn_access gradient; /* ONEDNN_WRITE or ONEDNN_ADD */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static int64_t output_length(const struct tn_conv2d_args *args, int axis)
{
	int64_t length = args->x.shape[2 + axis], kernel = args->w.shape[2 + axis];
	int64_t room = length + args->padding[axis] + args->padding[axis + 2] -
		       args->dilation[axis] * (kernel - 1) - 1;
	return room < 0 ? 0 : room / args->stride[axis] + 1;
}

static tn_status check_window(const struct tn_conv2d_args *args, const char *name)
{
	for (int i = 0; i < 4; i++) {
		if (args->stride[i % 2] < 1 || args->dilation[i % 2] < 1 || args->padding[i] < 0)
			return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
					      "stride %" PRId64 ", dilation %" PRId64
					      ", padding %" PRId64 ": expected at least 1, 1 and 0",
					      args->stride[i % 2], args->dilation[i % 2],
					      args->padding[i]);
	}
	if (!args->groups)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
				      "groups: expected at least 1, found 0");
	return TN_OK;
}

static tn_status check_shapes(const struct tn_conv2d_args *args, const char *name)
{
	const int64_t *x = args->x.shape, *w = args->w.shape, *y = args->y.shape;
	int64_t groups = args->groups;
	if (args->x.rank != 4 || args->w.rank != 4 || args->y.rank != 4)
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "ranks %u, %u and %u: expected 4 for x, w and y",
				      args->x.rank, args->w.rank, args->y.rank);
	if (x[1] % groups || w[0] % groups || w[1] != x[1] / groups)
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "%" PRId64 " channels, %u groups: w has (%" PRId64
				      ", %" PRId64 ")",
				      x[1], args->groups, w[0], w[1]);
	if (y[0] != x[0] || y[1] != w[0] || y[2] != output_length(args, 0) ||
	    y[3] != output_length(args, 1))
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "y: expected (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
				      "), found (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
				      ")",
				      x[0], w[0], output_length(args, 0), output_length(args, 1),
				      y[0], y[1], y[2], y[3]);
	if (args->has_bias && (args->bias.rank != 1 || args->bias.shape[0] != w[0]))
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "bias: expected %" PRId64 " elements", w[0]);
	return TN_OK;
}

static tn_status take_views(struct convolution *c)
{
	const struct tn_conv2d_args *args = &c->args;
	const char *name = names[c->which];
	tn_status status = onednn_view(&c->x, &args->x, &args->call, name, "x");
	if (!status)
		status = onednn_view(&c->w, &args->w, &args->call, name, "w");
	if (!status)
		status = onednn_view(&c->y, &args->y, &args->call, name, "y");
	if (!status && args->has_bias)
		status = onednn_view(&c->bias, &args->bias, &args->call, name, "bias");
	if (!status && args->groups > 1)
		onednn_split(&c->w, 0, args->groups);
	return status;
}

/* ---- The primitive ---------------------------------------------------------------------------*/

/* oneDNN's own kernels need blocks of channels, and with layouts of its choice, including reorders,
 * it is up to 20 times as fast as on plain images (a column matrix and a product); but a 1 x 1
 * kernel is just the product, and with few channels a block is mostly empty. */
static int is_better_plain(const struct convolution *c)
{
	const int64_t *w = c->args.w.shape;
	return (w[2] == 1 && w[3] == 1) ||
	       (c->which == INPUT_GRADIENT && c->args.groups == 1 && w[1] < 4);
}

/* The layout offered to the primitive: any, or the operand's own if that is plain, else dense. */
static dnnl_status_t describe_offer(const struct convolution *c, const struct onednn_view *view,
				    dnnl_memory_desc_t *md)
{
	struct onednn_view dense = onednn_dense(view);
	if (!is_better_plain(c))
		return c->dnn->memory_desc_init_by_tag(md, view->rank, view->shape, dnnl_f32,
						       dnnl_format_tag_any);
	return onednn_describe(c->dnn, onednn_is_plain(view) ? view : &dense, md);
}

struct offers {
	dnnl_memory_desc_t x, w, y, bias;
};

static dnnl_status_t describe_forward(const struct convolution *c, const struct offers *offers,
				      dnnl_convolution_desc_t *desc)
{
	const struct tn_conv2d_args *args = &c->args;
	return c->dnn->convolution_forward(desc, dnnl_forward_training, dnnl_convolution_direct,
					   &offers->x, &offers->w,
					   args->has_bias ? &offers->bias : NULL, &offers->y,
					   c->stride, c->dilation, c->before, c->after);
}

static dnnl_status_t describe_gradient(const struct convolution *c, const struct offers *offers,
				       dnnl_convolution_desc_t *desc)
{
	if (c->which == INPUT_GRADIENT)
		return c->dnn->convolution_backward_data(desc, dnnl_convolution_direct, &offers->x,
							 &offers->w, &offers->y, c->stride,
							 c->dilation, c->before, c->after);
	return c->dnn->convolution_backward_weights(desc, dnnl_convolution_direct, &offers->x,
						    &offers->w, NULL, &offers->y, c->stride,
						    c->dilation, c->before, c->after);
}

/* A gradient's primitive is chosen with that of its forward as a hint. */
static dnnl_status_t make_primitive(struct onednn_work *work, const struct convolution *c)
{
	const struct onednn_library *dnn = c->dnn;
	struct offers offers;
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_t hint = NULL;
	struct onednn_view bias = onednn_dense(&c->bias);
	dnnl_status_t answer = describe_offer(c, &c->x, &offers.x);
	if (!answer)
		answer = describe_offer(c, &c->w, &offers.w);
	if (!answer)
		answer = describe_offer(c, &c->y, &offers.y);
	if (!answer && c->args.has_bias)
		answer = onednn_describe(c->dnn, &bias, &offers.bias);
	if (!answer)
		answer = describe_forward(c, &offers, &desc);
	if (!answer && c->which == FORWARD)
		return onednn_work_primitive(work, &desc, NULL);
	if (!answer)
		answer = dnn->primitive_desc_create(&hint, &desc, work->device->attributes,
						    work->device->engine, NULL);
	if (!answer)
		answer = describe_gradient(c, &offers, &desc);
	if (!answer)
		answer = onednn_work_primitive(work, &desc, hint);
	if (hint)
		dnn->primitive_desc_destroy(hint);
	return answer;
}

struct role {
	int argument;
	enum onednn_access access;
};

static const struct role roles[][3] = {
	[FORWARD] = {{DNNL_ARG_SRC, ONEDNN_READ},
		     {DNNL_ARG_WEIGHTS, ONEDNN_READ},
		     {DNNL_ARG_DST, ONEDNN_WRITE}},
	[INPUT_GRADIENT] = {{DNNL_ARG_DIFF_SRC, ONEDNN_WRITE},
			    {DNNL_ARG_WEIGHTS, ONEDNN_READ},
			    {DNNL_ARG_DIFF_DST, ONEDNN_READ}},
	[WEIGHT_GRADIENT] = {{DNNL_ARG_SRC, ONEDNN_READ},
			     {DNNL_ARG_DIFF_WEIGHTS, ONEDNN_WRITE},
			     {DNNL_ARG_DIFF_DST, ONEDNN_READ}},
};

/* The parts are x, w, y and, if there is one, bias; x and y are cut along the images. */
static dnnl_status_t make_convolution(struct onednn_work *work, const void *argument)
{
	struct convolution c = *(const struct convolution *)argument;
	const struct onednn_view *views[] = {&c.x, &c.w, &c.y};
	const int64_t steps[] = {onednn_slice(&c.x, 0, work->n_pieces), 0,
				 onednn_slice(&c.y, 0, work->n_pieces)};
	dnnl_status_t answer = make_primitive(work, &c);
	for (int i = 0; i < 3 && !answer; i++) {
		const struct role *role = &roles[c.which][i];
		enum onednn_access access = role->access == ONEDNN_READ ? ONEDNN_READ : c.gradient;
		answer = onednn_work_part(work, role->argument, access, views[i], steps[i]);
	}
	if (!answer && c.args.has_bias)
		answer = onednn_work_part(work, DNNL_ARG_BIAS, ONEDNN_READ, &c.bias, 0);
	return answer;
}

/* ---- The entries -----------------------------------------------------------------------------*/

static int64_t count(const struct tn_operand *operand)
{
	return operand->shape[0] * operand->shape[1] * operand->shape[2] * operand->shape[3];
}

static void make_key(struct onednn_key *key, const struct convolution *c)
{
	const struct tn_conv2d_args *args = &c->args;
	const int64_t settings[] = {args->has_bias, args->groups, c->gradient == ONEDNN_ADD};
	onednn_key_begin(key, ONEDNN_CONV2D + c->which);
	onednn_key_add(key, settings, 3);
	onednn_key_add(key, args->stride, 2);
	onednn_key_add(key, args->dilation, 2);
	onednn_key_add(key, args->padding, 4);
	onednn_key_view(key, &c->x);
	onednn_key_view(key, &c->w);
	onednn_key_view(key, &c->y);
	if (args->has_bias)
		onednn_key_view(key, &c->bias);
}

static tn_status take_arguments(struct convolution *c, const struct tn_conv2d_args *args)
{
	uint32_t flags = TN_DRY_RUN | TN_DETERMINISTIC;
	const char *name = names[c->which];
	if (c->which != FORWARD)
		flags |= TN_ACCUMULATE;
	tn_status status = tn_plugin_take(&c->args, sizeof(c->args), args, flags, name);
	if (c->which != FORWARD)
		c->args.has_bias = 0;
	if (!status && c->which == FORWARD && (c->args.has_residual || c->args.activation))
		status = tn_plugin_fail(c->args.call.error, TN_UNSUPPORTED, name,
					"residual and activation are not supported");
	if (!status)
		status = check_window(&c->args, name);
	if (!status)
		status = check_shapes(&c->args, name);
	c->gradient = c->args.call.flags & TN_ACCUMULATE ? ONEDNN_ADD : ONEDNN_WRITE;
	if (!status) {
		for (int i = 0; i < 2; i++) {
			c->stride[i] = c->args.stride[i];
			c->dilation[i] = c->args.dilation[i] - 1;
			c->before[i] = c->args.padding[i];
			c->after[i] = c->args.padding[i + 2];
		}
	}
	return status ? status : take_views(c);
}

static tn_status convolve(void *device, const struct tn_conv2d_args *args, enum which which)
{
	struct onednn_device *onednn = device;
	struct convolution c = {.which = which, .dnn = onednn->library};
	struct onednn_work work = {
		.device = onednn, .call = &c.args.call, .operation = names[which]};
	tn_status status = take_arguments(&c, args);
	if (status)
		return status;
	make_key(&work.key, &c);
	/* Each piece has its own gradient of the weights: not too many pieces if they are large. */
	const struct tn_operand *w = &c.args.w;
	work.length = c.args.x.shape[0];
	work.cost =
		2.0 * (double)count(&c.args.y) * (double)(w->shape[1] * w->shape[2] * w->shape[3]);
	if (c.which == WEIGHT_GRADIENT)
		work.most_pieces = (int)(MOST_GRADIENTS / count(w)) + 1;
	if (work.most_pieces > ONEDNN_MOST_PIECES)
		work.most_pieces = ONEDNN_MOST_PIECES;
	onednn_cut(&work);
	status = onednn_begin(&work, make_convolution, &c);
	if (status || !work.plan)
		return status;
	const uint64_t addresses[] = {c.x.address, c.w.address, c.y.address, c.bias.address};
	return onednn_run(&work, addresses);
}

tn_status onednn_conv2d_forward(void *device, const struct tn_conv2d_args *args)
{
	return convolve(device, args, FORWARD);
}

tn_status onednn_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args)
{
	return convolve(device, args, INPUT_GRADIENT);
}

tn_status onednn_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args)
{
	return convolve(device, args, WEIGHT_GRADIENT);
}
