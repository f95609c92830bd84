/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gallery: classic networks by name.
 */
#ifndef TENON_MODELS_H
#define TENON_MODELS_H

#include <tenon/data.h>
#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of the input, lengths of at most 65536, and the number of classes of the output, at
 * most 2^20. */
struct tn_model_shape {
	int64_t channels;
	int64_t height;
	int64_t width;
	int64_t n_classes;
};

/* The forms of a network. */
enum {
	TN_FORM_PUBLISHED = 0,  /* as in the paper, under torchvision's names */
	TN_FORM_SMALL = 1,      /* for pictures of 32 x 32: smaller strides */
	TN_FORM_NNOTT = 2,      /* as nnott has it, for pictures of 28 x 28 */
	TN_FORM_PROJECTION = 3, /* of the CIFAR ResNets: shortcuts by convolution (option B) */
};

struct tn_model_info {
	uint32_t struct_size;
	const char *name;
	const char *text;   /* one line: what it is */
	const char *source; /* of the architecture: authors and year; "" if there is none */
	uint32_t forms;     /* bit i: it has the form i */
	/* What the published form is for; of the small form this is {3, 32, 32, 10}, of nnott's
	 * {1, 28, 28, 10}. */
	struct tn_model_shape published;
};

/* The gallery, by index; NULL past the end.  Borrowed, always valid.  [thread: any | since 0.1] */
TN_API const struct tn_model_info *tn_model_at(size_t index);
/* "published", "small", "nnott", "projection"; NULL for other numbers.  Always valid.
 * [thread: any | since 0.1] */
TN_API const char *tn_model_form_name(uint32_t form);

/* The network `name` for inputs of that shape, not yet built; owned.  The name may be followed by a
 * form, "resnet18:nnott"; else the form is the small one for pictures of at most 64 x 64, and the
 * published one for others, as far as the network has them.  mlp has settings, each after a colon,
 * "mlp:hidden-sizes=64,32:activation=tanh"; lists have a value for each hidden layer, or one for
 * all:
 *   hidden-sizes    the widths of the hidden layers, at most 16; 256,128
 *   activation      relu (the default), leaky_relu, tanh, sigmoid, gelu, gelu_tanh, silu
 *   dropout         after the activation, below 1; 0 (the default), none, off
 *   batch-norm      1: before the activation; 0
 *   bn-momentum     of those; 0.1
 *   negative-slope  of leaky_relu; 0.01
 * On failure NULL, and the context keeps the error: TN_NOT_FOUND states the nearest name or the
 * forms, TN_SHAPE the shape that the network requires, TN_INVALID_ARGUMENT a name or shape that is
 * NULL, or a setting that the network does not have or take.
 * [thread: one per context | since 0.1] */
TN_API tn_module *tn_model_create(tn_context *context, const char *name,
				  const struct tn_model_shape *shape);

/* How pictures are prepared for the published weights of a network, whatever its form: those of
 * torchvision (IMAGENET1K_V1), or of timm for efficientnet_lite0 (ra_in1k) and vit_tiny
 * (augreg_in21k_ft_in1k): size, resize, interpolation, mean, deviation and 1000 classes.  A caller
 * may change these, and gives the result as normalise_as of a data set.  *format (its struct_size
 * first set by the caller) is written only on success.
 * TN_NOT_FOUND: there are none that this version knows.  TN_INVALID_ARGUMENT: NULL, or no
 * struct_size.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_model_input_format(const char *name, struct tn_input_format *format,
						  struct tn_error_info *error);

#ifdef __cplusplus
}
#endif
#endif
