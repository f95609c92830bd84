/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The hidden layers of mlp in `tenon train`: options that become settings of its name.
 */
#ifndef TENON_TOOLS_TRAIN_NETWORK_H
#define TENON_TOOLS_TRAIN_NETWORK_H

#include "option_table.h"

enum { N_NETWORK_ROWS = 6 };

struct train_network {
	const char *hidden_sizes, *activation, *dropout, *momentum, *slope; /* NULL: not given */
	int batch_norm;
	char name[1024];
};

/* Writes N_NETWORK_ROWS rows and returns their number. */
size_t train_network_rows(struct train_network *network, struct option_row *rows);
/* "mlp:hidden-sizes=64,32", as tn_model_create takes it, in `network`; NULL: it is too long. */
const char *train_network_name(struct train_network *network, const char *model);

#endif
