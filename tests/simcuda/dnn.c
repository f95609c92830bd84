/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuDNN: handles, descriptors and texts.  It refuses only what the real one was
 * observed to refuse.
 */
#include "dnn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "simcuda.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_dnn *objects;
static _Thread_local const char *last_words = "";

cudnnStatus_t sim_dnn_begin(const char *name)
{
	last_words = "";
	return (cudnnStatus_t)simcudaFault(name);
}

cudnnStatus_t sim_dnn_say(cudnnStatus_t status, const char *words)
{
	last_words = words;
	return status;
}

struct sim_dnn *sim_dnn_find(const void *handle, enum sim_dnn_kind kind)
{
	struct sim_dnn *object = NULL;
	pthread_mutex_lock(&lock);
	for (object = objects; object; object = object->next)
		if (object == (const struct sim_dnn *)handle && object->kind == kind)
			break;
	pthread_mutex_unlock(&lock);
	return object;
}

static cudnnStatus_t make(const char *name, enum sim_dnn_kind kind, void **to)
{
	cudnnStatus_t status = sim_dnn_begin(name);
	if (status)
		return status;
	struct sim_dnn *object = calloc(1, sizeof(*object));
	if (!object)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	object->kind = kind;
	object->groups = 1;
	pthread_mutex_lock(&lock);
	object->next = objects;
	objects = object;
	pthread_mutex_unlock(&lock);
	*to = object;
	return CUDNN_STATUS_SUCCESS;
}

/* NULL is accepted, as by the real one. */
static cudnnStatus_t drop(const char *name, enum sim_dnn_kind kind, void *handle)
{
	cudnnStatus_t status = sim_dnn_begin(name);
	if (status || !handle)
		return status;
	struct sim_dnn *object = sim_dnn_find(handle, kind);
	if (!object)
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "it is no such object");
	pthread_mutex_lock(&lock);
	struct sim_dnn **at = &objects;
	while (*at != object)
		at = &(*at)->next;
	*at = object->next;
	pthread_mutex_unlock(&lock);
	free(object);
	return CUDNN_STATUS_SUCCESS;
}

size_t simcudaDnnLive(void)
{
	size_t n = 0;
	pthread_mutex_lock(&lock);
	for (const struct sim_dnn *object = objects; object; object = object->next)
		n++;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- Handles ---------------------------------------------------------------------------------*/

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
	void *made = NULL;
	if (simcudaStream(NULL))
		return sim_dnn_say(CUDNN_STATUS_NOT_INITIALIZED, "there is no device");
	cudnnStatus_t status = make("cudnnCreate", SIM_HANDLE, &made);
	*handle = made;
	return status;
}

/* Waits for the device; its stream must still exist. */
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
	const struct sim_dnn *object = sim_dnn_find(handle, SIM_HANDLE);
	if (object && simcudaStream(object->stream) == cudaErrorInvalidResourceHandle)
		return sim_dnn_say(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "its stream is gone");
	cudaDeviceSynchronize();
	return drop("cudnnDestroy", SIM_HANDLE, handle);
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
	cudnnStatus_t status = sim_dnn_begin("cudnnSetStream");
	struct sim_dnn *object = sim_dnn_find(handle, SIM_HANDLE);
	if (status)
		return status;
	if (!object)
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "handle == nullptr");
	object->stream = stream;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- Words and numbers -----------------------------------------------------------------------*/

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value)
{
	static const int versions[] = {CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL};
	cudnnStatus_t status = sim_dnn_begin("cudnnGetProperty");
	if (status)
		return status;
	if ((unsigned)type > PATCH_LEVEL)
		return CUDNN_STATUS_BAD_PARAM;
	*value = versions[type];
	return CUDNN_STATUS_SUCCESS;
}

/* Built for CUDA 13, whichever the process uses. */
size_t cudnnGetCudartVersion(void)
{
	return CUDART_VERSION;
}

size_t cudnnGetVersion(void)
{
	return CUDNN_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t code)
{
	switch ((int)code) {
	case CUDNN_STATUS_SUCCESS:
		return "CUDNN_STATUS_SUCCESS";
	case CUDNN_STATUS_NOT_INITIALIZED:
		return "CUDNN_STATUS_NOT_INITIALIZED";
	case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED:
		return "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED";
	case CUDNN_STATUS_BAD_PARAM:
		return "CUDNN_STATUS_BAD_PARAM";
	case CUDNN_STATUS_NOT_SUPPORTED:
		return "CUDNN_STATUS_NOT_SUPPORTED";
	case CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
		return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
	case CUDNN_STATUS_EXECUTION_FAILED:
		return "CUDNN_STATUS_EXECUTION_FAILED";
	case CUDNN_STATUS_EXECUTION_FAILED_CUDART:
		return "CUDNN_STATUS_EXECUTION_FAILED_CUDART";
	default:
		return "CUDNN_UNKNOWN_STATUS";
	}
}

void cudnnGetLastErrorString(char *message, size_t size)
{
	snprintf(message, size, "%s", last_words);
}

/* ---- Descriptors -----------------------------------------------------------------------------*/

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor)
{
	return make("cudnnCreateTensorDescriptor", SIM_TENSOR, (void **)tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor)
{
	return drop("cudnnDestroyTensorDescriptor", SIM_TENSOR, tensor);
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
					   int n, int c, int h, int w, int n_stride, int c_stride,
					   int h_stride, int w_stride)
{
	const int length[] = {n, c, h, w};
	const int distance[] = {n_stride, c_stride, h_stride, w_stride};
	cudnnStatus_t status = sim_dnn_begin("cudnnSetTensor4dDescriptorEx");
	struct sim_dnn *object = sim_dnn_find(tensor, SIM_TENSOR);
	if (status)
		return status;
	if (!object)
		return CUDNN_STATUS_BAD_PARAM;
	for (int i = 0; i < 4; i++) {
		if (length[i] < 1 || distance[i] == 0)
			return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "a length or a stride of 0");
		object->length[i] = length[i];
		object->distance[i] = distance[i];
	}
	object->type = type;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter)
{
	return make("cudnnCreateFilterDescriptor", SIM_FILTER, (void **)filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter)
{
	return drop("cudnnDestroyFilterDescriptor", SIM_FILTER, filter);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
					 cudnnTensorFormat_t format, int k, int c, int h, int w)
{
	const int length[] = {k, c, h, w};
	static const int orders[2][4] = {{3, 2, 1, 0}, {1, 3, 2, 0}};
	cudnnStatus_t status = sim_dnn_begin("cudnnSetFilter4dDescriptor");
	struct sim_dnn *object = sim_dnn_find(filter, SIM_FILTER);
	int64_t dense = 1;
	if (status)
		return status;
	if (!object || (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC))
		return CUDNN_STATUS_BAD_PARAM;
	for (int i = 0; i < 4; i++) {
		const int axis = orders[format == CUDNN_TENSOR_NHWC][i];
		if (length[axis] < 1)
			return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "a length of 0");
		object->length[axis] = length[axis];
		object->distance[axis] = dense;
		dense *= length[axis];
	}
	object->type = type;
	object->format = format;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convolution)
{
	return make("cudnnCreateConvolutionDescriptor", SIM_CONVOLUTION, (void **)convolution);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution)
{
	return drop("cudnnDestroyConvolutionDescriptor", SIM_CONVOLUTION, convolution);
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h,
					      int pad_w, int u, int v, int dilation_h,
					      int dilation_w, cudnnConvolutionMode_t mode,
					      cudnnDataType_t compute)
{
	cudnnStatus_t status = sim_dnn_begin("cudnnSetConvolution2dDescriptor");
	struct sim_dnn *object = sim_dnn_find(convolution, SIM_CONVOLUTION);
	if (status)
		return status;
	if (!object || pad_h < 0 || pad_w < 0 || u < 1 || v < 1 || dilation_h < 1 || dilation_w < 1)
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "a number out of its range");
	if (mode != CUDNN_CROSS_CORRELATION)
		return sim_dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "no true convolution here");
	object->padding[0] = pad_h;
	object->padding[1] = pad_w;
	object->stride[0] = u;
	object->stride[1] = v;
	object->dilation[0] = dilation_h;
	object->dilation[1] = dilation_w;
	object->compute = compute;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups)
{
	cudnnStatus_t status = sim_dnn_begin("cudnnSetConvolutionGroupCount");
	struct sim_dnn *object = sim_dnn_find(convolution, SIM_CONVOLUTION);
	if (status)
		return status;
	if (!object || groups < 1)
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "groupCount < 1");
	object->groups = groups;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
					  cudnnMathType_t math)
{
	cudnnStatus_t status = sim_dnn_begin("cudnnSetConvolutionMathType");
	struct sim_dnn *object = sim_dnn_find(convolution, SIM_CONVOLUTION);
	if (status)
		return status;
	if (!object || (unsigned)math > CUDNN_FMA_MATH)
		return CUDNN_STATUS_BAD_PARAM;
	object->math = math;
	return CUDNN_STATUS_SUCCESS;
}
