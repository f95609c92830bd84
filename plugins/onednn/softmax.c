/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm.  oneDNN's logarithm has an error of some 1e-6 where the result is 0,
 * ten times the interface's tolerance: its forward is refused, and the host composes it.
 */
#include "layers.h"
#include "plan.h"

static const char *const names[] = {"softmax_forward", "softmax_backward"};

struct softmax {
	int is_backward;
	struct tn_softmax_args args;
	struct onednn_view x, y, dy, dx;
	enum onednn_access gradient;
};

static tn_status check_like(const struct softmax *s, const struct tn_operand *operand,
			    const char *which)
{
	const struct tn_operand *y = &s->args.y;
	int fits = operand->rank == y->rank && y->rank <= TN_MAX_RANK;
	for (uint32_t i = 0; fits && i < y->rank; i++)
		fits = operand->shape[i] == y->shape[i];
	return fits ? TN_OK
		    : tn_plugin_fail(s->args.call.error, TN_SHAPE, names[s->is_backward],
				     "%s: expected the shape of y", which);
}

static tn_status check_arguments(const struct softmax *s)
{
	const struct tn_softmax_args *args = &s->args;
	tn_status status = TN_OK;
	if (args->axis >= args->y.rank)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, names[s->is_backward],
				      "axis %u: expected less than the rank %u", args->axis,
				      args->y.rank);
	if (!s->is_backward && args->logarithm)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, names[s->is_backward],
				      "oneDNN's logarithm is not exact enough");
	if (!s->is_backward)
		return check_like(s, &args->x, "x");
	status = check_like(s, &args->dy, "dy");
	return status ? status : check_like(s, &args->dx, "dx");
}

static tn_status take_views(struct softmax *s)
{
	const struct tn_softmax_args *args = &s->args;
	const char *name = names[s->is_backward];
	tn_status status = onednn_view(&s->y, &args->y, &args->call, name, "y");
	if (!status && !s->is_backward)
		return onednn_view(&s->x, &args->x, &args->call, name, "x");
	if (!status)
		status = onednn_view(&s->dy, &args->dy, &args->call, name, "dy");
	if (!status)
		status = onednn_view(&s->dx, &args->dx, &args->call, name, "dx");
	return status;
}

/* ---- The primitive ---------------------------------------------------------------------------*/

/* oneDNN has one description for all operands; it is dense, which its fast kernels need. */
static dnnl_status_t describe_view(const struct onednn_library *dnn, const struct softmax *s,
				   dnnl_softmax_desc_t *desc)
{
	struct onednn_view dense = onednn_dense(&s->y);
	dnnl_memory_desc_t md;
	dnnl_status_t answer = onednn_describe(dnn, &dense, &md);
	if (answer)
		return answer;
	return s->args.logarithm
		       ? dnn->logsoftmax_forward(desc, dnnl_forward_training, &md,
						 (int)s->args.axis)
		       : dnn->softmax_forward(desc, dnnl_forward_training, &md, (int)s->args.axis);
}

static dnnl_status_t make_backward_primitive(struct onednn_work *work, const struct softmax *s)
{
	const struct onednn_library *dnn = work->device->library;
	dnnl_softmax_desc_t desc;
	dnnl_primitive_desc_t hint = NULL;
	dnnl_status_t answer = describe_view(dnn, s, &desc);
	if (!answer)
		answer = dnn->primitive_desc_create(&hint, &desc, work->device->attributes,
						    work->device->engine, NULL);
	if (answer)
		return answer;
	dnnl_memory_desc_t md = desc.data_desc;
	answer = s->args.logarithm ? dnn->logsoftmax_backward(&desc, &md, &md, (int)s->args.axis)
				   : dnn->softmax_backward(&desc, &md, &md, (int)s->args.axis);
	if (!answer)
		answer = onednn_work_primitive(work, &desc, hint);
	dnn->primitive_desc_destroy(hint);
	return answer;
}

/* Cut along the first axis. */
static dnnl_status_t make_forward(struct onednn_work *work, const void *argument)
{
	struct softmax s = *(const struct softmax *)argument;
	int64_t x_step = onednn_slice(&s.x, 0, work->n_pieces);
	int64_t y_step = onednn_slice(&s.y, 0, work->n_pieces);
	dnnl_softmax_desc_t desc;
	dnnl_status_t answer = describe_view(work->device->library, &s, &desc);
	if (!answer)
		answer = onednn_work_primitive(work, &desc, NULL);
	if (!answer)
		answer = onednn_work_part(work, DNNL_ARG_SRC, ONEDNN_READ, &s.x, x_step);
	if (!answer)
		answer = onednn_work_part(work, DNNL_ARG_DST, ONEDNN_WRITE, &s.y, y_step);
	return answer;
}

static dnnl_status_t make_backward(struct onednn_work *work, const void *argument)
{
	struct softmax s = *(const struct softmax *)argument;
	int64_t y_step = onednn_slice(&s.y, 0, work->n_pieces);
	int64_t dy_step = onednn_slice(&s.dy, 0, work->n_pieces);
	int64_t dx_step = onednn_slice(&s.dx, 0, work->n_pieces);
	dnnl_status_t answer = make_backward_primitive(work, &s);
	if (!answer)
		answer = onednn_work_part(work, DNNL_ARG_DST, ONEDNN_READ, &s.y, y_step);
	if (!answer)
		answer = onednn_work_part(work, DNNL_ARG_DIFF_DST, ONEDNN_READ, &s.dy, dy_step);
	if (!answer)
		answer = onednn_work_part(work, DNNL_ARG_DIFF_SRC, s.gradient, &s.dx, dx_step);
	return answer;
}

/* ---- The entries -----------------------------------------------------------------------------*/

static tn_status run_softmax(void *device, const struct tn_softmax_args *args, int is_backward)
{
	struct softmax s = {.is_backward = is_backward};
	struct onednn_work work = {
		.device = device, .call = &s.args.call, .operation = names[is_backward]};
	uint32_t flags = TN_DRY_RUN | TN_DETERMINISTIC | (is_backward ? TN_ACCUMULATE : 0);
	tn_status status = tn_plugin_take(&s.args, sizeof(s.args), args, flags, names[is_backward]);
	if (!status)
		status = check_arguments(&s);
	if (!status)
		status = take_views(&s);
	if (status)
		return status;
	s.gradient = s.args.call.flags & TN_ACCUMULATE ? ONEDNN_ADD : ONEDNN_WRITE;
	const int64_t settings[] = {s.args.axis, s.args.logarithm != 0, s.gradient == ONEDNN_ADD};
	onednn_key_begin(&work.key, ONEDNN_SOFTMAX + s.is_backward);
	onednn_key_add(&work.key, settings, 3);
	onednn_key_view(&work.key, &s.y);
	onednn_key_view(&work.key, s.is_backward ? &s.dy : &s.x);
	if (s.is_backward)
		onednn_key_view(&work.key, &s.dx);
	/* An exponential costs some twenty operations. */
	work.cost = 20;
	for (int i = 0; i < s.y.rank; i++)
		work.cost *= (double)s.y.shape[i];
	work.length = s.args.axis ? s.y.shape[0] : 1;
	onednn_cut(&work);
	status = onednn_begin(&work, is_backward ? make_backward : make_forward, &s);
	if (status || !work.plan)
		return status;
	const uint64_t forward[] = {s.x.address, s.y.address};
	const uint64_t backward[] = {s.y.address, s.dy.address, s.dx.address};
	return onednn_run(&work, is_backward ? backward : forward);
}

tn_status onednn_softmax_forward(void *device, const struct tn_softmax_args *args)
{
	return run_softmax(device, args, 0);
}

tn_status onednn_softmax_backward(void *device, const struct tn_softmax_args *args)
{
	return run_softmax(device, args, 1);
}
