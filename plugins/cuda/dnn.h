/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution through cuDNN, an alternative to the own kernels that is never required: they compute
 * everything that cuDNN does not support, or if it is not available.  A build without its headers
 * has dnn_none.c in place of dnn.c.
 */
#ifndef CUDA_DNN_H
#define CUDA_DNN_H

#include "kernel.h"
#include "plugin.h"

enum cuda_dnn_pass {
	CUDA_DNN_FORWARD,
	CUDA_DNN_INPUT_GRADIENT,
	CUDA_DNN_WEIGHT_GRADIENT,
};

/* The own kernels, ready to run. */
struct cuda_dnn_rival {
	tn_status (*run)(struct cuda_job *job, void *plan);
	void *plan;
};

/* The value of the option `cudnn`; CUDA_DNN_OFF in a build without it. */
enum cuda_dnn_mode cuda_dnn_mode(const struct tn_host *host);

/* A checked call, for which the own kernels have set their workspace.  A dry run raises
 * `preferred`; the very first opens the library, and the first of a shape plans it, which takes
 * more time and memory than any other dry run.  *goes_on := 0: the work is done; else the own
 * kernels must do it. */
tn_status cuda_dnn_convolve(struct cuda_job *job, const struct tn_conv2d_args *args,
			    enum cuda_dnn_pass pass, const struct cuda_dnn_rival *own,
			    int *goes_on);

/* Before the streams are destroyed; and when one is. */
void cuda_dnn_close(struct cuda_device *device);
void cuda_dnn_leave(struct cuda_device *device, cudaStream_t stream);

/* For a report: the version, or why it is not used. */
void cuda_dnn_say(const struct cuda_device *device, char *text, size_t size);

#endif
