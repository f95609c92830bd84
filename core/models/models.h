/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#ifndef TN_MODELS_MODELS_H
#define TN_MODELS_MODELS_H

#include <tenon/models.h>

/* Adds `member` to a chain under `name`, unless *status is an error already. */
void tn_model_add(tn_module *chain, const char *name, tn_module *member, tn_status *status);

tn_module *tn_model_lenet(tn_context *context, const struct tn_model_shape *shape);
tn_module *tn_model_mlp(tn_context *context, const struct tn_model_shape *shape);

#endif
