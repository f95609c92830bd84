/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes the list of candidates without opening them.  File names are matched whole: a folder's
 * other files (backend_x.so.bak, libbackend_x.so) are skipped silently.  A file with an invalid
 * name, such as backend_X.so, and any file given by its path still become candidates, so that their
 * rows can report what is wrong.
 */
#include "loader/search.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "loader/names.h"
#include "loader/registry.h"
#include "paths.h"

#define SUFFIX ".so"

static tn_status add_candidate(struct tn_candidates *candidates, const char *name, size_t length,
			       const char *path, uint32_t found)
{
	struct tn_candidate *list =
		tn_mem_realloc(candidates->list, candidates->n + 1, sizeof(*list));
	if (!list)
		return TN_OUT_OF_MEMORY;
	candidates->list = list;
	struct tn_candidate *candidate = &list[candidates->n];
	*candidate = (struct tn_candidate){.found = found, .fd = -1};
	if (length >= sizeof(candidate->name))
		length = sizeof(candidate->name) - 1;
	memcpy(candidate->name, name, length);
	candidate->path = tn_mem_copy_string(path);
	if (path && !candidate->path)
		return TN_OUT_OF_MEMORY;
	candidates->n++;
	return TN_OK;
}

static tn_status add_file(struct tn_candidates *candidates, const struct tn_plugin_kind *kind,
			  const char *path, uint32_t found)
{
	const char *name;
	size_t length = tn_plugin_name_in(kind, path, &name);
	return add_candidate(candidates, name, length ? length : strlen(name), path, found);
}

static tn_status add_folder(struct tn_candidates *candidates, const struct tn_plugin_kind *kind,
			    const char *folder, uint32_t found, const struct tn_logger *logger)
{
	struct tn_names names;
	tn_status status = tn_names_read(folder, SUFFIX, &names);
	if (status == TN_IO) {
		/* The installed folder may be absent: no plugin was ever installed. */
		tn_log_format(logger, found == TN_FOUND_INSTALLED ? TN_LOG_DEBUG : TN_LOG_WARNING,
			      "loader", "%s: %s", folder, strerror(errno));
		return TN_OK;
	}
	for (size_t i = 0; !status && i < names.n; i++) {
		const char *name;
		struct tn_text path;
		if (!tn_plugin_name_in(kind, names.list[i], &name))
			continue;
		tn_text_init(&path);
		tn_text_format(&path, "%s/%s", folder, names.list[i]);
		status = path.failed ? TN_OUT_OF_MEMORY
				     : add_file(candidates, kind, path.data, found);
		tn_text_release(&path);
	}
	tn_names_release(&names);
	return status;
}

/* A folder or a file.  A file whose name is that of another kind of plugin is not looked for. */
static tn_status add_path(struct tn_candidates *candidates, const struct tn_plugin_kind *kind,
			  const char *path, uint32_t found, const struct tn_logger *logger)
{
	struct stat information;
	const struct tn_plugin_kind *named = tn_plugin_kind_of(path);
	if (!strchr(path, '/')) {
		tn_log_format(
			logger, TN_LOG_WARNING, "loader",
			"plugin path '%s' is ignored: it has no '/' (the working directory is "
			"never searched)",
			path);
		return TN_OK;
	}
	int there = !stat(path, &information);
	if ((there && !S_ISDIR(information.st_mode)) || (!there && named))
		return named && named != kind ? TN_OK : add_file(candidates, kind, path, found);
	return add_folder(candidates, kind, path, found, logger);
}

static tn_status add_searched_folders(const struct tn_registry_options *options,
				      const struct tn_plugin_kind *kind,
				      struct tn_candidates *candidates)
{
	const char *path =
		tn_parameter_read(options->parameters, "TENON_PLUGIN_PATH",
				  "folders to search for plugins, absolute, with ':' between them");
	const char *only = tn_parameter_read(options->parameters, "TENON_PLUGIN_PATH_ONLY",
					     "1: do not search the folder of installed plugins");
	tn_status status = TN_OK;
	while (!status && path && *path) {
		size_t length = strcspn(path, ":");
		char *folder = tn_mem_alloc(length + 1);
		if (!folder)
			return TN_OUT_OF_MEMORY;
		memcpy(folder, path, length);
		folder[length] = '\0';
		if (folder[0] == '/')
			status = add_path(candidates, kind, folder, TN_FOUND_VARIABLE,
					  options->logger);
		else if (length)
			tn_log_format(options->logger, TN_LOG_WARNING, "loader",
				      "TENON_PLUGIN_PATH: '%s' is ignored: not an absolute path",
				      folder);
		tn_mem_free(folder);
		path += length;
		path += *path == ':';
	}
	if (!status && !(only && !strcmp(only, "1")))
		status = add_folder(candidates, kind, TN_PLUGIN_DIR, TN_FOUND_INSTALLED,
				    options->logger);
	return status;
}

tn_status tn_search(const struct tn_registry_options *options, const struct tn_plugin_kind *kind,
		    struct tn_candidates *candidates)
{
	tn_status status = TN_OK;
	*candidates = (struct tn_candidates){0};
	for (size_t i = 0; !status && i < options->n_built_in; i++) {
		const char *name = options->built_in[i]->name;
		status = add_candidate(candidates, name, strlen(name), NULL, TN_FOUND_BUILT_IN);
		if (!status)
			candidates->list[i].built_in = options->built_in[i];
	}
	for (size_t i = 0; !status && i < options->n_paths; i++)
		status = add_path(candidates, kind, options->paths[i], TN_FOUND_API,
				  options->logger);
	if (!status && !options->paths_only)
		status = add_searched_folders(options, kind, candidates);
	if (status)
		tn_candidates_release(candidates);
	return status;
}

void tn_candidates_release(struct tn_candidates *candidates)
{
	for (size_t i = 0; i < candidates->n; i++) {
		struct tn_candidate *candidate = &candidates->list[i];
		if (candidate->fd >= 0)
			close(candidate->fd);
		tn_mem_free(candidate->path);
		tn_mem_free(candidate->real_path);
	}
	tn_mem_free(candidates->list);
	*candidates = (struct tn_candidates){0};
}
