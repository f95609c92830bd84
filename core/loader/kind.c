/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The list of plugin kinds, and how a file's name or note tells its kind.
 */
#include "loader/kind.h"

#include <string.h>

#define SUFFIX ".so"

static const struct tn_plugin_kind *const kinds[] = {&tn_backend_kind, &tn_communicator_kind};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

size_t tn_plugin_name_in(const struct tn_plugin_kind *kind, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	size_t length = strlen(file), before = strlen(kind->name), around = before + strlen("_.so");
	*name = file;
	if (length <= around || strncmp(file, kind->name, before) || file[before] != '_' ||
	    strcmp(file + length - strlen(SUFFIX), SUFFIX))
		return 0;
	*name = file + before + 1;
	return length - around;
}

const struct tn_plugin_kind *tn_plugin_kind_of(const char *path)
{
	const char *name;
	for (size_t i = 0; i < N_KINDS; i++) {
		if (tn_plugin_name_in(kinds[i], path, &name))
			return kinds[i];
	}
	return NULL;
}

const struct tn_plugin_kind *tn_plugin_kind_with(uint32_t note_type)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		if (kinds[i]->note_type == note_type)
			return kinds[i];
	}
	return NULL;
}
