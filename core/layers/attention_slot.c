/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The route of the attention slots: only the device's own backend, since the recorded composition
 * is as good on any other.
 */
#include "layers/attention_slot.h"

#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "array/watch.h"
#include "dispatch/operand.h"
#include "dispatch/operations.h"
#include "dispatch/route.h"

enum { MOST_BATCH_AXES = 4 };

static int is_mask(const struct tn_attention *attention)
{
	const tn_array *q = attention->q, *k = attention->k, *mask = attention->mask;
	int64_t shape[TN_MAX_RANK], scores[TN_MAX_RANK];
	int rank = q->rank;
	memcpy(scores, q->shape, (size_t)rank * sizeof(*scores));
	scores[rank - 1] = k->shape[rank - 2];
	memcpy(shape, scores, sizeof(scores));
	return mask->dtype == q->dtype &&
	       tn_shape_broadcast(&rank, shape, mask->rank, mask->shape) &&
	       tn_shape_equal(rank, shape, q->rank, scores);
}

int tn_attention_fits(const struct tn_attention *attention)
{
	const tn_array *q = attention->q, *k = attention->k, *v = attention->v;
	const int n_batch = q->rank - 2;
	if (n_batch > MOST_BATCH_AXES || k->dtype != q->dtype || v->dtype != q->dtype ||
	    !tn_shape_equal(n_batch, q->shape, k->rank - 2, k->shape) ||
	    !tn_shape_equal(n_batch, q->shape, v->rank - 2, v->shape))
		return 0;
	return q->size && k->size && v->size && (!attention->mask || is_mask(attention));
}

static struct tn_attention_args arguments(const struct tn_attention *attention)
{
	struct tn_attention_args args = {.call = {.struct_size = sizeof(args)},
					 .scale = attention->scale,
					 .has_mask = attention->mask != NULL,
					 .causal = attention->causal != 0};
	const int rank = attention->q->rank;
	tn_operand_of(&args.q, attention->q);
	tn_operand_of(&args.k, attention->k);
	tn_operand_of(&args.v, attention->v);
	tn_operand_of(&args.y, attention->y);
	tn_operand_of(&args.maximum, attention->maximum);
	tn_operand_of(&args.log_sum, attention->log_sum);
	if (attention->mask) {
		int64_t scores[TN_MAX_RANK];
		memcpy(scores, args.q.shape, (size_t)rank * sizeof(*scores));
		scores[rank - 1] = args.k.shape[rank - 2];
		tn_operand_broadcast(&args.mask, attention->mask, rank, scores);
	}
	return args;
}

static tn_status call(const struct tn_attention *attention, enum tn_slot slot, uint32_t operation,
		      struct tn_attention_args *args)
{
	struct tn_route route = {.runtime = attention->q->runtime,
				 .device = tn_array_home(attention->q),
				 .operation = operation,
				 .slot = slot,
				 .call = &args->call,
				 .is_native_only = 1};
	return tn_route_run(&route);
}

/* Multiply-adds of q k^T, and of a forward's two products. */
static int64_t scores_of(const struct tn_attention *attention)
{
	return attention->q->size * attention->k->shape[attention->k->rank - 2];
}

static int64_t products_of(const struct tn_attention *attention)
{
	return scores_of(attention) +
	       attention->y->size * attention->k->shape[attention->k->rank - 2];
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_status make_results(struct tn_attention *attention)
{
	const tn_array *q = attention->q, *v = attention->v;
	struct tn_runtime *runtime = q->runtime;
	struct tn_device *device = tn_array_home(q);
	const tn_dtype wide = q->dtype == TN_F64 ? TN_F64 : TN_F32;
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, q->shape, (size_t)q->rank * sizeof(*shape));
	shape[q->rank - 1] = v->shape[v->rank - 1];
	attention->y = tn_array_make(runtime, device, q->dtype, q->rank, shape);
	attention->maximum = tn_array_make(runtime, device, wide, q->rank - 1, shape);
	attention->log_sum = tn_array_make(runtime, device, wide, q->rank - 1, shape);
	return attention->y && attention->maximum && attention->log_sum ? TN_OK
									: tn_report_status(runtime);
}

/* TN_UNSUPPORTED is no error here. */
static tn_status end(struct tn_runtime *runtime, tn_status status)
{
	if (status != TN_UNSUPPORTED)
		return tn_end_into(runtime, status);
	runtime->report.status = TN_OK;
	return status;
}

tn_status tn_attention_forward(struct tn_attention *attention)
{
	const tn_array *inputs[] = {attention->q, attention->k, attention->v, attention->mask};
	struct tn_runtime *runtime = attention->q->runtime;
	struct tn_device *device = tn_array_home(attention->q);
	if (!tn_backend_has(device->backend, TN_SLOT_ATTENTION_FORWARD))
		return TN_UNSUPPORTED;
	tn_status status = tn_begin_into(attention->mask ? 4 : 3, inputs, "attention");
	if (status)
		return status;
	status = make_results(attention);
	if (!status) {
		struct tn_attention_args args = arguments(attention);
		status = call(attention, TN_SLOT_ATTENTION_FORWARD, TN_DO_ATTENTION, &args);
	}
	if (status) {
		tn_array_discard(attention->y);
		tn_array_discard(attention->maximum);
		tn_array_discard(attention->log_sum);
		attention->y = attention->maximum = attention->log_sum = NULL;
	} else {
		tn_watch_multiplied(runtime, products_of(attention));
	}
	return end(runtime, status);
}

/* ---- Backward --------------------------------------------------------------------------------*/

tn_status tn_attention_backward(const struct tn_attention *attention, const tn_array *dy,
				uint32_t wants, tn_array *gradients[3])
{
	const tn_array *inputs[] = {attention->q, attention->k, attention->v, dy};
	struct tn_runtime *runtime = attention->q->runtime;
	struct tn_device *device = tn_array_home(attention->q);
	for (int i = 0; i < 3; i++)
		gradients[i] = NULL;
	if (!tn_backend_has(device->backend, TN_SLOT_ATTENTION_BACKWARD))
		return TN_UNSUPPORTED;
	tn_status status = tn_begin_into(4, inputs, "attention_backward");
	if (status)
		return status;
	struct tn_attention_args args = arguments(attention);
	struct tn_operand *const operands[] = {&args.dq, &args.dk, &args.dv};
	args.wants = wants;
	tn_operand_of(&args.dy, dy);
	for (int i = 0; i < 3 && !status; i++) {
		if (!(wants & 1u << i))
			continue;
		gradients[i] = tn_array_make(runtime, device, dy->dtype, inputs[i]->rank,
					     inputs[i]->shape);
		if (gradients[i])
			tn_operand_of(operands[i], gradients[i]);
		else
			status = tn_report_status(runtime);
	}
	if (!status)
		status = call(attention, TN_SLOT_ATTENTION_BACKWARD, TN_DO_ATTENTION_BACKWARD,
			      &args);
	for (int i = 0; i < 3 && status; i++) {
		tn_array_discard(gradients[i]);
		gradients[i] = NULL;
	}
	/* Two products for the gradients of each of the forward's, and the scores again. */
	if (!status)
		tn_watch_multiplied(runtime, 2 * products_of(attention) + scores_of(attention));
	return end(runtime, status);
}
