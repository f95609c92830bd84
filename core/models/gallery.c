/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <string.h>

#include "array/runtime.h"
#include "base/name.h"
#include "models/models.h"

static const struct {
	struct tn_model_info info;
	tn_module *(*create)(tn_context *context, const struct tn_model_shape *shape);
} gallery[] = {
	{{"mlp", "784-256-128-10 for 28 x 28 digits: linear layers and ReLU"}, tn_model_mlp},
	{{"lenet", "LeNet-5 (LeCun et al. 1998) with ReLU and max pooling"}, tn_model_lenet},
};

#define N_MODELS (sizeof(gallery) / sizeof(gallery[0]))

const struct tn_model_info *tn_model_at(size_t index)
{
	return index < N_MODELS ? &gallery[index].info : NULL;
}

tn_module *tn_model_create(tn_context *context, const char *name,
			   const struct tn_model_shape *shape)
{
	if (!context || !name || !shape)
		return NULL;
	struct tn_runtime *rt = tn_runtime_of(context);
	if (tn_runtime_ready(rt))
		return NULL;
	if (shape->channels < 1 || shape->height < 1 || shape->width < 1 || shape->n_classes < 1) {
		tn_runtime_fail(rt, TN_SHAPE, "model_create",
				"expected lengths and classes of at least 1");
		return NULL;
	}
	for (size_t i = 0; i < N_MODELS; i++) {
		if (!strcmp(gallery[i].info.name, name))
			return gallery[i].create(context, shape);
	}
	const char *known[N_MODELS];
	char names[256] = "";
	for (size_t i = 0; i < N_MODELS; i++) {
		known[i] = gallery[i].info.name;
		if (i)
			strncat(names, ", ", sizeof(names) - strlen(names) - 1);
		strncat(names, known[i], sizeof(names) - strlen(names) - 1);
	}
	const char *like = tn_name_nearest(name, known, N_MODELS);
	tn_runtime_fail(rt, TN_NOT_FOUND, "model_create", "no model '%s'; the models are %s%s%s%s",
			name, names, like ? "; did you mean '" : "", like ? like : "",
			like ? "'?" : "");
	return NULL;
}
