/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The networks.  Each is made in the file of its name and returned unbuilt; NULL: the context keeps
 * the error.
 */
#ifndef TN_MODELS_MODELS_H
#define TN_MODELS_MODELS_H

#include <tenon/models.h>

/* ---- In the gallery --------------------------------------------------------------------------*/

tn_module *tn_model_lenet(tn_context *context, const struct tn_model_shape *shape);
tn_module *tn_model_mlp(tn_context *context, const struct tn_model_shape *shape);

/* ---- Not in the gallery yet ------------------------------------------------------------------*/

/* For pictures of three channels, under the parameter names of torchvision, or of timm for the
 * network that torchvision lacks.  `width` is the number of channels of the first stage: the named
 * network has the width given here; tests use narrower ones. */

/* Width 96. */
tn_module *tn_model_convnext_tiny(tn_context *context, int64_t width, int64_t n_classes);
/* Width 32.  `width` must be a multiple of 4. */
tn_module *tn_model_efficientnet_lite0(tn_context *context, int64_t width, int64_t n_classes);
/* Width 64, with the stem for small pictures. */
tn_module *tn_model_resnet18(tn_context *context, int64_t width, int64_t n_classes);

#endif
