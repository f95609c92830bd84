/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes the path of a module, "layer1.0.conv1", from its outermost module down.
 */
#include "nn/path.h"

#include <stdio.h>

static const char *name_in_parent(const tn_module *module)
{
	const struct tn_member *member = module->parent->members;
	while (member->module != module)
		member++;
	return member->name;
}

/* Returns the length. */
static size_t write_path(const tn_module *module, char *path, size_t size)
{
	size_t n = module->parent->parent ? write_path(module->parent, path, size) : 0;
	int more = snprintf(path + n, size - n, n ? ".%s" : "%s", name_in_parent(module));
	return n + (size_t)more < size ? n + (size_t)more : size - 1;
}

const char *tn_module_write_path(const tn_module *module, char path[TN_MODULE_PATH])
{
	if (module->parent)
		write_path(module, path, TN_MODULE_PATH);
	else
		snprintf(path, TN_MODULE_PATH, "%s", module->class_name);
	return path;
}
