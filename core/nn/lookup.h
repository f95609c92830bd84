/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A module's own parameters and buffers and its members by name, without an error where there is
 * none; the public look-ups keep one.
 */
#ifndef TN_NN_LOOKUP_H
#define TN_NN_LOOKUP_H

#include "nn/module.h"

/* NULL: there is none, or the module has not been built. */
tn_array *tn_module_find_parameter(const tn_module *module, const char *name);
tn_array *tn_module_find_buffer(const tn_module *module, const char *name);
/* NULL: there is none. */
tn_module *tn_module_find_child(tn_module *module, const char *path);

/* Keep TN_NOT_FOUND with the nearest name, of the module's own parameters or of all below it. */
tn_status tn_module_no_own_parameter(const tn_module *module, const char *operation,
				     const char *name);
tn_status tn_module_no_parameter(const tn_module *module, const char *operation, const char *what,
				 const char *name);

#endif
