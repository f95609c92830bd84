/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A build without cuDNN.
 */
#include "dnn.h"

#include <stdio.h>

enum cuda_dnn_mode cuda_dnn_mode(const struct tn_host *host)
{
	(void)host;
	return CUDA_DNN_OFF;
}

tn_status cuda_dnn_convolve(struct cuda_job *job, const struct tn_conv2d_args *args,
			    enum cuda_dnn_pass pass, const struct cuda_dnn_rival *own, int *goes_on)
{
	(void)job, (void)args, (void)pass, (void)own, (void)goes_on;
	return TN_OK;
}

void cuda_dnn_close(struct cuda_device *device)
{
	(void)device;
}

void cuda_dnn_leave(struct cuda_device *device, cudaStream_t stream)
{
	(void)device, (void)stream;
}

void cuda_dnn_say(const struct cuda_device *device, char *text, size_t size)
{
	(void)device;
	snprintf(text, size, "not used: built without cuDNN's headers");
}
