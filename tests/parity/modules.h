/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes the modules of modules.txt from the settings of their cases.
 */
#ifndef TN_TESTS_PARITY_MODULES_H
#define TN_TESTS_PARITY_MODULES_H

#include <tenon/nn.h>

#include "record.h"

/* A case's setting, or zeros. */
const int64_t *modules_ints(const struct record *record, const char *name);
/* A case's setting of one integer as a number. */
double modules_number(const struct record *record, const char *name, double otherwise);
void modules_pair(int64_t to[2], const struct record *record, const char *name);

/* NULL: the layer is not known, or the context keeps an error. */
tn_module *modules_make(tn_context *context, const struct record *record);
/* The same of the layers in modules_layers.c. */
tn_module *modules_make_layer(tn_context *context, const struct record *record);

enum { MODULES_INPUTS = 4 };

/* The module's output for x and the case's other inputs, those without a name being NULL. */
struct modules_input {
	const char *name; /* "i:key" */
	tn_array *array;
};
tn_array *modules_forward(tn_module *module, const struct record *record, const tn_array *x,
			  const struct modules_input inputs[MODULES_INPUTS]);

#endif
