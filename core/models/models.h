/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The networks of the gallery, one architecture a file.
 */
#ifndef TN_MODELS_MODELS_H
#define TN_MODELS_MODELS_H

#include <tenon/models.h>

/* What a network is made for. */
struct tn_model_request {
	struct tn_model_shape shape;
	uint32_t form;        /* one that the network has */
	int layers;           /* 18 of resnet18; 0 where the name has no number */
	int batch_norm;       /* 1 of vgg16_bn */
	const char *settings; /* what follows name and form, of mlp; "": nothing */
	/* Channels of the first stage, for tests and benchmarks: the network then has no stochastic
	 * depth.  0: those of the form. */
	int64_t width;
};

/* Each returns the network unbuilt; NULL: the context keeps the error. */
typedef tn_module *tn_model_maker(tn_context *context, const struct tn_model_request *request);
tn_model_maker tn_model_alexnet, tn_model_baseline, tn_model_convnext, tn_model_densenet,
	tn_model_efficientnet_b0, tn_model_efficientnet_lite0, tn_model_lenet, tn_model_mlp,
	tn_model_mobilenet_v2, tn_model_resnet, tn_model_resnet_cifar, tn_model_squeezenet,
	tn_model_vgg, tn_model_vit;

/* tn_model_create of a network `width` channels wide at its first stage; 0: as it is. */
tn_module *tn_model_create_width(tn_context *context, const char *name,
				 const struct tn_model_shape *shape, int64_t width);

#endif
