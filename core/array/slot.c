/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The switch from a slot's number to its entry.
 */
#include "array/slot.h"

static tn_status call_nn(const struct tn_nn_table *nn, void *handle, enum tn_slot slot,
			 const void *args)
{
	switch ((int)slot) {
	case TN_SLOT_CONV2D_FORWARD:
		return nn->conv2d_forward(handle, args);
	case TN_SLOT_CONV2D_INPUT_GRADIENT:
		return nn->conv2d_input_gradient(handle, args);
	case TN_SLOT_CONV2D_WEIGHT_GRADIENT:
		return nn->conv2d_weight_gradient(handle, args);
	case TN_SLOT_POOL2D_FORWARD:
		return nn->pool2d_forward(handle, args);
	case TN_SLOT_POOL2D_BACKWARD:
		return nn->pool2d_backward(handle, args);
	case TN_SLOT_BATCH_NORM_FORWARD:
		return nn->batch_norm_forward(handle, args);
	case TN_SLOT_BATCH_NORM_BACKWARD:
		return nn->batch_norm_backward(handle, args);
	case TN_SLOT_LAYER_NORM_FORWARD:
		return nn->layer_norm_forward(handle, args);
	case TN_SLOT_LAYER_NORM_BACKWARD:
		return nn->layer_norm_backward(handle, args);
	case TN_SLOT_SOFTMAX_FORWARD:
		return nn->softmax_forward(handle, args);
	case TN_SLOT_SOFTMAX_BACKWARD:
		return nn->softmax_backward(handle, args);
	case TN_SLOT_CROSS_ENTROPY_FORWARD:
		return nn->cross_entropy_forward(handle, args);
	case TN_SLOT_CROSS_ENTROPY_BACKWARD:
		return nn->cross_entropy_backward(handle, args);
	case TN_SLOT_GROUP_NORM_FORWARD:
		return nn->group_norm_forward(handle, args);
	case TN_SLOT_GROUP_NORM_BACKWARD:
		return nn->group_norm_backward(handle, args);
	default:
		return TN_UNSUPPORTED;
	}
}

tn_status tn_slot_call(const struct tn_device *device, enum tn_slot slot, const void *args)
{
	const struct tn_backend *backend = device->backend;
	void *handle = device->handle;
	switch ((int)slot) {
	case TN_SLOT_MAP:
		return backend->compute.map(handle, args);
	case TN_SLOT_REDUCE:
		return backend->compute.reduce(handle, args);
	case TN_SLOT_MATMUL:
		return backend->compute.matmul(handle, args);
	case TN_SLOT_FILL:
		return backend->copy.fill(handle, args);
	case TN_SLOT_COPY:
		return backend->copy.copy(handle, args);
	case TN_SLOT_GATHER:
		return backend->copy.gather(handle, args);
	case TN_SLOT_SCATTER_ADD:
		return backend->copy.scatter_add(handle, args);
	case TN_SLOT_SORT:
		return backend->sort.sort(handle, args);
	case TN_SLOT_SCAN:
		return backend->scan.scan(handle, args);
	default:
		return call_nn(&backend->nn, handle, slot, args);
	}
}
