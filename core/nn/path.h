/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The path of a module, for errors.
 */
#ifndef TN_NN_PATH_H
#define TN_NN_PATH_H

#include "nn/module.h"

enum { TN_MODULE_PATH = 256 };
/* Writes the path from the outermost module, cut where it does not fit, or its class for that one
 * itself; returns `path`. */
const char *tn_module_write_path(const tn_module *module, char path[TN_MODULE_PATH]);

#endif
