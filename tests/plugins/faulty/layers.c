/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions that are wrong for combined options, or at the end of a block of channels or a
 * plane.
 */
#include "faulty.h"

static int (*is_wrong)(const struct tn_conv2d_args *args);

static tn_status conv2d_forward(void *device, const struct tn_conv2d_args *args)
{
	tn_status status = right.nn.conv2d_forward(device, args);
	if (computes(&args->call, status) && is_wrong(args))
		spoil(&args->y);
	return status;
}

static tn_status conv2d_input_gradient(void *device, const struct tn_conv2d_args *args)
{
	tn_status status = right.nn.conv2d_input_gradient(device, args);
	if (computes(&args->call, status) && is_wrong(args))
		spoil(&args->x);
	return status;
}

static tn_status conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args)
{
	tn_status status = right.nn.conv2d_weight_gradient(device, args);
	if (computes(&args->call, status) && is_wrong(args))
		spoil(&args->w);
	return status;
}

static int groups_dilated_strided(const struct tn_conv2d_args *args)
{
	return args->groups > 1 && args->dilation[0] > 1 && args->stride[0] > 1;
}

static int wide_depthwise(const struct tn_conv2d_args *args)
{
	return (int64_t)args->groups == args->x.shape[1] && args->groups > 16;
}

static int many_channels(const struct tn_conv2d_args *args)
{
	return args->w.shape[1] > 64;
}

static int large_image(const struct tn_conv2d_args *args)
{
	return args->x.shape[2] > 64 && args->x.shape[3] > 64;
}

static void plant_conv2d(int (*condition)(const struct tn_conv2d_args *args))
{
	is_wrong = condition;
	faulty.nn.conv2d_forward = conv2d_forward;
	faulty.nn.conv2d_input_gradient = conv2d_input_gradient;
	faulty.nn.conv2d_weight_gradient = conv2d_weight_gradient;
}

static void plant_three_features(void)
{
	plant_conv2d(groups_dilated_strided);
}

static void plant_wide_depthwise(void)
{
	plant_conv2d(wide_depthwise);
}

static void plant_many_channels(void)
{
	plant_conv2d(many_channels);
}

static void plant_large_image(void)
{
	plant_conv2d(large_image);
}

const struct fault layer_faults[] = {
	{"conv_three_features", plant_three_features},
	{"conv_wide_depthwise", plant_wide_depthwise},
	{"conv_many_channels", plant_many_channels},
	{"conv_large_image", plant_large_image},
	{NULL, NULL},
};
