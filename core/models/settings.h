/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What follows a network's name and form: "hidden-sizes=64,32:activation=tanh".
 */
#ifndef TN_MODELS_SETTINGS_H
#define TN_MODELS_SETTINGS_H

#include <tenon/nn.h>

enum { TN_MOST_HIDDEN = 16 };

/* Of the hidden layers of mlp, by layer. */
struct tn_mlp_settings {
	size_t n; /* at least 1 */
	int64_t sizes[TN_MOST_HIDDEN];
	uint32_t activations[TN_MOST_HIDDEN]; /* indices of tn_mlp_activations */
	double dropout[TN_MOST_HIDDEN];
	int batch_norm;
	double momentum;       /* of batch norms; 0: their default */
	double negative_slope; /* of leaky_relu */
};

/* The names of activations, then NULL. */
enum {
	TN_MLP_RELU,
	TN_MLP_LEAKY_RELU,
	TN_MLP_TANH,
	TN_MLP_SIGMOID,
	TN_MLP_GELU,
	TN_MLP_GELU_TANH,
	TN_MLP_SILU
};
extern const char *const tn_mlp_activations[];

/* Reads settings, separated by colons; "" leaves the defaults.  TN_INVALID_ARGUMENT, kept by the
 * context: an unknown setting, one given twice or without its value, a list of another length than
 * hidden-sizes. */
tn_status tn_mlp_settings_read(tn_context *context, const char *text, struct tn_mlp_settings *out);

#endif
