/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution through cuDNN, which is a rival of the own kernels and never needed: whatever it does
 * not do, or cannot be had, they do.  Built without its headers there is dnn_none.c in place of
 * dnn.c.
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

/* What TENON_CUDA_CUDNN asks for; CUDA_DNN_OFF in a build without it. */
enum cuda_dnn_mode cuda_dnn_mode(const struct tn_host *host);

/* A checked call, for which the own kernels have said their workspace.  A dry run: raises what is
 * preferred; the first of all opens the library, and the first of a shape plans it, which takes
 * time and memory as no other dry run does.  *goes_on := 0: the work is done; else it is for the
 * own kernels. */
tn_status cuda_dnn_convolve(struct cuda_job *job, const struct tn_conv2d_args *args,
			    enum cuda_dnn_pass pass, const struct cuda_dnn_rival *own,
			    int *goes_on);

/* Before the streams go; and when one does. */
void cuda_dnn_close(struct cuda_device *device);
void cuda_dnn_leave(struct cuda_device *device, cudaStream_t stream);

/* For a report: the version, or why it is not used. */
void cuda_dnn_say(const struct cuda_device *device, char *text, size_t size);

#endif
