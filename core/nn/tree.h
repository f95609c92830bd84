/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tree of modules: its root, the names in it, and the listing of its modules, parameters and
 * buffers.
 */
#ifndef TN_NN_TREE_H
#define TN_NN_TREE_H

#include "nn/module.h"

/* Has the module not been built?  TN_STATE (kept). */
tn_status tn_module_check_open(const tn_module *module, const char *name);
/* May a parameter or a buffer of that name be added?  TN_STATE, TN_INVALID_ARGUMENT (kept). */
tn_status tn_module_check_new(const tn_module *module, const char *name);
/* TN_INVALID_ARGUMENT: empty, with a dot, or taken. */
tn_status tn_module_check_name(const tn_module *module, const char *name);
/* The number of elements; negative: invalid shape. */
int64_t tn_module_elements(int rank, const int64_t *shape);
/* prefix.name, or name alone; NULL: out of memory. */
char *tn_module_join(const char *prefix, const char *name);

/* The member whose name the path begins with; NULL: there is none. */
tn_module *tn_module_find_member(const tn_module *module, const char *path);
/* The module's own parameter of that name, and the weight at a path, "layer1.0.conv1.weight", which
 * may be any of its names; NULL: there is none. */
struct tn_slot_entry *tn_module_slot(const tn_module *module, const char *name);
struct tn_weight *tn_module_weight_at(const tn_module *module, const char *path);
/* The same in the listing, with its first name. */
const struct tn_named_weight *tn_module_named_weight(const tn_module *module, const char *path);

/* Makes the listing if needed.  TN_OUT_OF_MEMORY (kept). */
tn_status tn_module_list(const tn_module *module);
void tn_module_unlist(tn_module *module); /* of it and the modules around it */
/* From now on the structure of the tree does not change. */
void tn_module_seal(tn_module *module);
/* Does the outermost module have its arena? */
int tn_module_is_built(const tn_module *module);
/* TN_STATE, kept, unless it is the outermost module and built. */
tn_status tn_module_check_network(const tn_module *module, const char *operation);
const tn_module *tn_module_root(const tn_module *module);

#endif
