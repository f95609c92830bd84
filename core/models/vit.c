/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A. Dosovitskiy, L. Beyer, A. Kolesnikov, D. Weissenborn, X. Zhai and others, "An Image is Worth
 * 16x16 Words: Transformers for Image Recognition at Scale", ICLR 2021, in the tiny size of H.
 * Touvron and others, "Training data-efficient image transformers & distillation through
 * attention", ICML 2021: 12 layers, 192 wide, with 3 heads.
 *
 *     patches -> Linear, with a class token before them -> + positions
 *         -> 12 layers: x + Attention(LN(x)), x + MLP(LN(x)) -> LN -> the token -> Linear
 *
 *     published  patches of 16x16; the names of torchvision's VisionTransformer
 *     small      patches of 4x4
 */
#include <stdio.h>

#include "array/runtime.h"
#include "models/chain.h"
#include "models/initial.h"
#include "models/models.h"
#include "nn/module.h"

#include <tenon/manipulate.h>

enum { N_LAYERS = 12, N_HEADS = 3, WIDTH = 192 };

static tn_module *norm(tn_context *context, int64_t width)
{
	struct tn_module_norm_options options = tn_module_norm_defaults();
	options.epsilon = 1e-6;
	return tn_module_layer_norm(context, 1, &width, &options);
}

/* ---- A layer ---------------------------------------------------------------------------------*/

enum { LN_1, ATTENTION, LN_2, MLP };

/* x + second(first(x)), of two members. */
static tn_array *add_branch(const tn_module *module, size_t first, size_t second, const tn_array *x)
{
	tn_array *normal = tn_module_forward(module->members[first].module, x);
	tn_array *branch = tn_module_forward(module->members[second].module, normal);
	tn_array *sum = tn_add(x, branch);
	tn_array_destroy(branch);
	tn_array_destroy(normal);
	return sum;
}

static tn_array *layer_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *attended = add_branch(module, LN_1, ATTENTION, x);
	tn_array *y = add_branch(module, LN_2, MLP, attended);
	tn_array_destroy(attended);
	return y;
}

static tn_module *make_layer(tn_context *context, int64_t width)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "EncoderBlock",
						      .forward = layer_forward,
						      .is_repeatable = 1};
	tn_module *layer = tn_module_custom(context, &class_, NULL),
		  *mlp = tn_module_sequential(context);
	tn_status status = layer ? TN_OK : TN_OUT_OF_MEMORY;
	tn_model_add(mlp, "0", tn_module_linear(context, width, 4 * width, NULL), &status);
	tn_model_add(mlp, "1", tn_module_gelu(context, 0), &status);
	tn_model_add(mlp, "3", tn_module_linear(context, 4 * width, width, NULL), &status);
	tn_model_add_member(layer, "ln_1", norm(context, width), &status);
	tn_model_add_member(layer, "self_attention",
			    tn_module_multihead_attention(context, width, N_HEADS, NULL), &status);
	tn_model_add_member(layer, "ln_2", norm(context, width), &status);
	tn_model_add_member(layer, "mlp", mlp, &status);
	return tn_model_end(layer, status);
}

/* ---- The layers, after positions -------------------------------------------------------------*/

enum { LAYERS, LN };

static tn_array *encoder_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *placed = tn_add(x, tn_module_own_parameter(module, "pos_embedding"));
	tn_array *y = tn_module_forward(module->members[LAYERS].module, placed);
	tn_array *normal = tn_module_forward(module->members[LN].module, y);
	tn_array_destroy(y);
	tn_array_destroy(placed);
	return normal;
}

static tn_module *make_encoder(tn_context *context, int64_t length, int64_t width)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Encoder",
						      .forward = encoder_forward,
						      .is_repeatable = 1};
	tn_module *encoder = tn_module_custom(context, &class_, NULL);
	tn_module *layers = tn_module_sequential(context);
	tn_status status = encoder ? TN_OK : TN_OUT_OF_MEMORY;
	if (!status)
		status = tn_module_add_parameter(encoder, "pos_embedding", 3,
						 (const int64_t[]){1, length, width}, 0, 0);
	for (int i = 0; i < N_LAYERS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "encoder_layer_%d", i);
		tn_model_add(layers, name, make_layer(context, width), &status);
	}
	tn_model_add_member(encoder, "layers", layers, &status);
	tn_model_add_member(encoder, "ln", norm(context, width), &status);
	return tn_model_end(encoder, status);
}

/* ---- The network -----------------------------------------------------------------------------*/

enum { CONV_PROJ, ENCODER, HEADS };

/* (N, 1 + patches, width): the class token, and then the patches in rows. */
static tn_array *tokens_of(tn_module *module, const tn_array *x)
{
	tn_array *planes = tn_module_forward(module->members[CONV_PROJ].module, x);
	if (!planes)
		return NULL;
	const int64_t n = tn_array_shape(planes)[0], width = tn_array_shape(planes)[1];
	const int64_t patches = tn_array_shape(planes)[2] * tn_array_shape(planes)[3];
	tn_array *rows = tn_reshape(planes, 3, (const int64_t[]){n, width, patches});
	tn_array *patch_tokens = tn_swapaxes(rows, 1, 2);
	tn_array *token = tn_broadcast_to(tn_module_own_parameter(module, "class_token"), 3,
					  (const int64_t[]){n, 1, width});
	tn_array *tokens = tn_concatenate(2, (const tn_array *[]){token, patch_tokens}, 1);
	tn_array_destroy(token);
	tn_array_destroy(patch_tokens);
	tn_array_destroy(rows);
	tn_array_destroy(planes);
	return tokens;
}

static tn_array *vit_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array *tokens = tokens_of(module, x);
	tn_array *encoded = tn_module_forward(module->members[ENCODER].module, tokens);
	tn_array *first = tn_slice(encoded, 1, 0, 1, 1);
	tn_array *token = tn_squeeze(first, 1);
	tn_array *logits = tn_module_forward(module->members[HEADS].module, token);
	tn_array_destroy(token);
	tn_array_destroy(first);
	tn_array_destroy(encoded);
	tn_array_destroy(tokens);
	return logits;
}

/* timm's, whose normal numbers are cut at +-2, a hundred deviations away. */
static const struct tn_initial initial[] = {
	{"class_token", 3, TN_INITIAL_NORMAL, 1e-6},
	{"encoder.pos_embedding", 3, TN_INITIAL_NORMAL, 0.02},
	{"*", 2, TN_INITIAL_NORMAL, 0.02},
	{"encoder.*bias", 1, TN_INITIAL_ZERO, 0},
	{"heads.*bias", 1, TN_INITIAL_ZERO, 0},
	{0},
};

tn_module *tn_model_vit(tn_context *context, const struct tn_model_request *request)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "VisionTransformer",
						      .forward = vit_forward,
						      .is_repeatable = 1};
	const struct tn_model_shape *shape = &request->shape;
	const int64_t patch = request->form == TN_FORM_PUBLISHED ? 16 : 4;
	const int64_t width = request->width ? request->width : WIDTH;
	const int64_t length = 1 + (shape->height / patch) * (shape->width / patch);
	if (shape->height % patch || shape->width % patch) {
		tn_runtime_fail(tn_runtime_of(context), TN_SHAPE, "vit_tiny",
				"expected pictures whose sides are multiples of %lld, found %lld x "
				"%lld",
				(long long)patch, (long long)shape->height,
				(long long)shape->width);
		return NULL;
	}
	tn_module *net = tn_module_custom(context, &class_, NULL),
		  *heads = tn_module_sequential(context);
	tn_status status = net ? TN_OK : TN_OUT_OF_MEMORY;
	if (!status)
		status = tn_module_add_parameter(net, "class_token", 3,
						 (const int64_t[]){1, 1, width}, 0, 0);
	tn_model_add(heads, "head", tn_module_linear(context, width, shape->n_classes, NULL),
		     &status);
	tn_model_add_member(net, "conv_proj",
			    tn_model_conv_biased(context, shape->channels, width, patch, patch, 0),
			    &status);
	tn_model_add_member(net, "encoder", make_encoder(context, length, width), &status);
	tn_model_add_member(net, "heads", heads, &status);
	tn_model_initial(net, initial, &status);
	return tn_model_end(net, status);
}
