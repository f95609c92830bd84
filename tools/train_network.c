/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rows of mlp's options, and the name with settings that they become.
 */
#include "train_network.h"

#include <stdio.h>
#include <string.h>

size_t train_network_rows(struct train_network *network, struct option_row *rows)
{
	const struct option_row all[N_NETWORK_ROWS] = {
		{"hidden-sizes", "N,...", "mlp: the widths of the hidden layers (256,128)",
		 .text = &network->hidden_sizes},
		{"activation", "NAMES",
		 "mlp: of all hidden layers, or of each: relu (default),\nleaky_relu, tanh, "
		 "sigmoid, gelu, gelu_tanh or silu",
		 .text = &network->activation},
		{"dropout", "P,...", "mlp: dropout after all hidden layers, or each (0)",
		 .text = &network->dropout},
		{"batch-norm", NULL, "mlp: batch norm before each activation",
		 .flag = &network->batch_norm},
		{"bn-momentum", "X", "of those batch norms (0.1)", .text = &network->momentum},
		{"negative-slope", "X", "of leaky_relu (0.01)", .text = &network->slope},
	};
	memcpy(rows, all, sizeof(all));
	return N_NETWORK_ROWS;
}

const char *train_network_name(struct train_network *network, const char *model)
{
	const struct {
		const char *name, *value;
	} settings[N_NETWORK_ROWS] = {{"hidden-sizes", network->hidden_sizes},
				      {"activation", network->activation},
				      {"dropout", network->dropout},
				      {"batch-norm", network->batch_norm ? "1" : NULL},
				      {"bn-momentum", network->momentum},
				      {"negative-slope", network->slope}};
	const size_t size = sizeof(network->name);
	size_t used = (size_t)snprintf(network->name, size, "%s", model);
	for (size_t i = 0; i < N_NETWORK_ROWS && used < size; i++) {
		if (settings[i].value)
			used += (size_t)snprintf(network->name + used, size - used, ":%s=%s",
						 settings[i].name, settings[i].value);
	}
	return used < size ? network->name : NULL;
}
