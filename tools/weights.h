/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights of files that others wrote: the prefix of their names, and --init and --freeze.
 */
#ifndef TENON_TOOLS_WEIGHTS_H
#define TENON_TOOLS_WEIGHTS_H

#include "tool.h"

/* What all names of the file have before the network's names, "module." or
 * "module.backbone.", owned; "" if a name fits as it is, or none fits.  NULL: no memory. */
char *weights_prefix(const tn_safetensors *file, const tn_module *module);

/* Gives a built network the tensors of a file whose shapes fit, and says on stderr, unless `quiet`,
 * how many those are and which do not; the exit code. */
int weights_begin(tn_context *context, tn_module *module, const char *path, int quiet);

/* Parameters whose names match `pattern` (NULL: none) will not be trained.  To be called before
 * building, which sorts the parameters; the exit code. */
int weights_freeze(tn_module *module, const char *model, const char *pattern, int quiet);

#endif
