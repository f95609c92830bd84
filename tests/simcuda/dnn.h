/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations shared by the files of the simulated libcudnn.
 */
#ifndef TN_TESTS_SIMCUDA_DNN_H
#define TN_TESTS_SIMCUDA_DNN_H

#include <stddef.h>
#include <stdint.h>

#include <cudnn.h>

enum sim_dnn_kind { SIM_HANDLE = 1, SIM_TENSOR, SIM_FILTER, SIM_CONVOLUTION };

/* A handle or a descriptor. */
struct sim_dnn {
	struct sim_dnn *next;
	enum sim_dnn_kind kind;
	cudaStream_t stream; /* of a handle */
	/* Of a tensor or a filter: */
	cudnnDataType_t type;
	cudnnTensorFormat_t format; /* of a filter */
	int64_t length[4], distance[4];
	/* Of a convolution: */
	int padding[2], stride[2], dilation[2], groups;
	cudnnDataType_t compute;
	cudnnMathType_t math;
};

/* Counts a call and returns the code injected for it. */
cudnnStatus_t sim_dnn_begin(const char *name);
/* The object; NULL: not of that kind. */
struct sim_dnn *sim_dnn_find(const void *handle, enum sim_dnn_kind kind);
/* Keeps a text for cudnnGetLastErrorString; returns `status`. */
cudnnStatus_t sim_dnn_say(cudnnStatus_t status, const char *words);

#endif
