/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * cuDNN, opened at run time, as library.h has the other libraries.  It is apart because its header
 * is long, and few files need it.
 */
#ifndef CUDA_DNN_LIBRARY_H
#define CUDA_DNN_LIBRARY_H

#include <cudnn.h>

#include "library.h"

struct cuda_dnn {
	void *handle;
	__typeof__(&cudnnCreate) cudnnCreate;
	__typeof__(&cudnnDestroy) cudnnDestroy;
	__typeof__(&cudnnSetStream) cudnnSetStream;
	__typeof__(&cudnnGetProperty) cudnnGetProperty;
	__typeof__(&cudnnGetCudartVersion) cudnnGetCudartVersion;
	__typeof__(&cudnnGetErrorString) cudnnGetErrorString;
	__typeof__(&cudnnGetLastErrorString) cudnnGetLastErrorString;
	__typeof__(&cudnnCreateTensorDescriptor) cudnnCreateTensorDescriptor;
	__typeof__(&cudnnSetTensor4dDescriptorEx) cudnnSetTensor4dDescriptorEx;
	__typeof__(&cudnnDestroyTensorDescriptor) cudnnDestroyTensorDescriptor;
	__typeof__(&cudnnCreateFilterDescriptor) cudnnCreateFilterDescriptor;
	__typeof__(&cudnnSetFilter4dDescriptor) cudnnSetFilter4dDescriptor;
	__typeof__(&cudnnDestroyFilterDescriptor) cudnnDestroyFilterDescriptor;
	__typeof__(&cudnnCreateConvolutionDescriptor) cudnnCreateConvolutionDescriptor;
	__typeof__(&cudnnSetConvolution2dDescriptor) cudnnSetConvolution2dDescriptor;
	__typeof__(&cudnnSetConvolutionGroupCount) cudnnSetConvolutionGroupCount;
	__typeof__(&cudnnSetConvolutionMathType) cudnnSetConvolutionMathType;
	__typeof__(&cudnnDestroyConvolutionDescriptor) cudnnDestroyConvolutionDescriptor;
	__typeof__(&cudnnGetConvolutionForwardAlgorithm_v7) cudnnGetConvolutionForwardAlgorithm_v7;
	__typeof__(&cudnnGetConvolutionBackwardDataAlgorithm_v7)
		cudnnGetConvolutionBackwardDataAlgorithm_v7;
	__typeof__(&cudnnGetConvolutionBackwardFilterAlgorithm_v7)
		cudnnGetConvolutionBackwardFilterAlgorithm_v7;
	__typeof__(&cudnnGetConvolutionForwardWorkspaceSize)
		cudnnGetConvolutionForwardWorkspaceSize;
	__typeof__(&cudnnGetConvolutionBackwardDataWorkspaceSize)
		cudnnGetConvolutionBackwardDataWorkspaceSize;
	__typeof__(&cudnnGetConvolutionBackwardFilterWorkspaceSize)
		cudnnGetConvolutionBackwardFilterWorkspaceSize;
	__typeof__(&cudnnConvolutionForward) cudnnConvolutionForward;
	__typeof__(&cudnnConvolutionBackwardData) cudnnConvolutionBackwardData;
	__typeof__(&cudnnConvolutionBackwardFilter) cudnnConvolutionBackwardFilter;
};

/* Like those of library.h; and the libraries that it opens itself.  It must be for the same major
 * version of CUDA. */
tn_status cuda_dnn_open(struct cuda_dnn *dnn, const struct tn_host *host,
			const struct cuda_runtime *rt, int major, char *text, size_t size);

#endif
