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
#include "base/place.h"
#include "base/text.h"
#include "base/trust.h"
#include "loader/names.h"
#include "loader/registered.h"
#include "loader/registry.h"
#include "paths.h"

#define SUFFIX ".so"

/* Of the build and of the system: whoever has installed Tenon answers for them. */
static const char *const fixed[] = {
	TN_PLUGIN_DIR,
	"/usr/local/lib/" TN_PLUGIN_BELOW,
	"/usr/lib/" TN_MULTIARCH "/" TN_PLUGIN_BELOW,
	"/usr/lib/" TN_PLUGIN_BELOW,
};

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

/* ---- Folders ---------------------------------------------------------------------------------*/

/* Was the folder searched before, under this name or another? */
static int is_searched(const struct tn_candidates *candidates, const char *path,
		       const struct stat *information)
{
	for (size_t i = 0; i < candidates->n_folders; i++) {
		const struct tn_searched *folder = &candidates->folders[i];
		if (!strcmp(folder->path, path) ||
		    (information && !folder->problem && folder->device == information->st_dev &&
		     folder->inode == information->st_ino))
			return 1;
	}
	return 0;
}

static tn_status list_folder(struct tn_candidates *candidates, const char *path,
			     const struct tn_searched *folder)
{
	struct tn_searched *list =
		tn_mem_realloc(candidates->folders, candidates->n_folders + 1, sizeof(*list));
	if (!list)
		return TN_OUT_OF_MEMORY;
	candidates->folders = list;
	list[candidates->n_folders] = *folder;
	list[candidates->n_folders].path = tn_mem_copy_string(path);
	return list[candidates->n_folders++].path ? TN_OK : TN_OUT_OF_MEMORY;
}

/* Appends a folder to the list of those searched, with its names; *is_new 0: it is in the list. */
static tn_status read_once(struct tn_candidates *candidates, const char *path,
			   struct tn_names *names, int *is_new)
{
	struct stat information;
	struct tn_searched folder = {.problem = stat(path, &information) ? errno : 0};
	*names = (struct tn_names){0};
	*is_new = !is_searched(candidates, path, folder.problem ? NULL : &information);
	if (!*is_new)
		return TN_OK;
	tn_status status = folder.problem ? TN_OK : tn_names_read(path, SUFFIX, names);
	if (status == TN_IO)
		folder.problem = errno;
	if (!folder.problem) {
		folder.device = information.st_dev;
		folder.inode = information.st_ino;
	}
	if (!status || status == TN_IO)
		status = list_folder(candidates, path, &folder);
	return status;
}

static int has_plugin(const struct tn_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		if (tn_plugin_kind_of(names->list[i]))
			return 1;
	}
	return 0;
}

/* The folder, or one below where an installation has them, holds no plugin. */
static void warn_of_empty(const char *path, const struct tn_logger *logger)
{
	static const char *const below[] = {&TN_PLUGIN_BELOW[sizeof("tenon")], TN_PLUGIN_BELOW,
					    "lib/" TN_PLUGIN_BELOW};
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		struct tn_names names = {0};
		struct tn_text text;
		tn_text_init(&text);
		tn_text_format(&text, "%s/%s", path, below[i]);
		if (!text.failed)
			(void)tn_names_read(text.data, SUFFIX, &names);
		const int found = has_plugin(&names);
		if (found)
			tn_log_format(logger, TN_LOG_WARNING, "loader",
				      "TENON_PLUGIN_PATH: %s holds no plugin; %s does", path,
				      text.data);
		tn_names_release(&names);
		tn_text_release(&text);
		if (found)
			return;
	}
	tn_log_format(logger, TN_LOG_WARNING, "loader", "TENON_PLUGIN_PATH: %s holds no plugin",
		      path);
}

/* Only folders that somebody has named must be there; the search for backends says so. */
static int problem_level(const struct tn_plugin_kind *kind, uint32_t found, int problem)
{
	if (found != TN_FOUND_INSTALLED && kind == &tn_backend_kind)
		return TN_LOG_WARNING;
	return problem == ENOENT || problem == ENOTDIR ? TN_LOG_DEBUG : TN_LOG_INFO;
}

static tn_status add_folder(struct tn_candidates *candidates, const struct tn_plugin_kind *kind,
			    const char *folder, uint32_t found, const struct tn_logger *logger)
{
	struct tn_names names;
	int is_new;
	tn_status status = read_once(candidates, folder, &names, &is_new);
	if (status || !is_new) {
		tn_names_release(&names);
		return status;
	}
	const int problem = candidates->folders[candidates->n_folders - 1].problem;
	if (problem)
		tn_log_format(logger, problem_level(kind, found, problem), "loader", "%s: %s",
			      folder, strerror(problem));
	else if (found == TN_FOUND_VARIABLE && kind == &tn_backend_kind && !has_plugin(&names))
		warn_of_empty(folder, logger);
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

void tn_search_describe(const struct tn_candidates *candidates, struct tn_text *text)
{
	for (size_t i = 0; i < candidates->n_folders; i++) {
		const struct tn_searched *folder = &candidates->folders[i];
		tn_text_format(text, "%s%s", i ? ", " : "", folder->path);
		if (folder->problem == ENOENT || folder->problem == ENOTDIR)
			tn_text_add(text, " (absent)");
		else if (folder->problem)
			tn_text_format(text, " (%s)", strerror(folder->problem));
	}
}

/* ---- Where to look ---------------------------------------------------------------------------*/

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

static tn_status add_variable(const struct tn_registry_options *options,
			      const struct tn_plugin_kind *kind, const char *path,
			      struct tn_candidates *candidates)
{
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
	return status;
}

static int is_fixed(const char *folder)
{
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (!strcmp(fixed[i], folder))
			return 1;
	}
	return 0;
}

/* A folder that nobody has named is searched only if no stranger can have made it, nor can change
 * it until its files are opened: it is searched by its real path. */
static tn_status add_found(struct tn_candidates *candidates, const struct tn_plugin_kind *kind,
			   const char *folder, const struct tn_logger *logger)
{
	const size_t n_before = candidates->n;
	struct tn_error_info refusal;
	char *real;
	tn_status status = tn_trust_resolve(folder, 0, &real, &refusal);
	if (status == TN_IO) {
		const struct tn_searched absent = {.problem = errno};
		tn_log_format(logger, problem_level(kind, TN_FOUND_INSTALLED, absent.problem),
			      "loader", "%s: %s", folder, strerror(absent.problem));
		return is_searched(candidates, folder, NULL)
			       ? TN_OK
			       : list_folder(candidates, folder, &absent);
	}
	if (status == TN_REFUSED && !is_fixed(folder))
		tn_log_format(logger, kind == &tn_backend_kind ? TN_LOG_WARNING : TN_LOG_DEBUG,
			      "loader", "%s is not searched: %s", folder, refusal.text);
	if (status)
		return status == TN_REFUSED ? TN_OK : status;
	status = add_folder(candidates, kind, real, TN_FOUND_INSTALLED, logger);
	for (size_t i = n_before; i < candidates->n; i++)
		candidates->list[i].is_guarded = 1;
	tn_mem_free(real);
	return status;
}

/* Beside the library's file: in its own folder, and in lib where it is in bin. */
static tn_status add_beside(const struct tn_registry_options *options,
			    const struct tn_plugin_kind *kind, struct tn_candidates *candidates)
{
	static const char *const below[] = {TN_PLUGIN_BELOW, "lib/" TN_PLUGIN_BELOW};
	tn_status status = TN_OK;
	if (!*tn_place_folder(options->parameters))
		return TN_OK;
	for (int i = 0; !status && i < (int)(sizeof(below) / sizeof(below[0])); i++) {
		struct tn_text folder;
		tn_text_init(&folder);
		tn_place_add(&folder, i, below[i]);
		status = folder.failed ? TN_OUT_OF_MEMORY
				       : add_found(candidates, kind, folder.data, options->logger);
		tn_text_release(&folder);
	}
	return status;
}

static tn_status add_users(const struct tn_registry_options *options,
			   const struct tn_plugin_kind *kind, struct tn_candidates *candidates)
{
	struct tn_text folder;
	tn_status status = TN_OK;
	if (tn_parameters_privileged(options->parameters))
		return TN_OK;
	const char *data = tn_parameter_read(options->parameters, "XDG_DATA_HOME",
					     "tenon/0 in it is the user's folder of plugins");
	const char *home = tn_parameter_read(options->parameters, "HOME",
					     ".local/share is used where XDG_DATA_HOME is not set");
	tn_text_init(&folder);
	if (data && data[0] == '/')
		tn_text_format(&folder, "%s/" TN_PLUGIN_BELOW, data);
	else if (home && home[0] == '/')
		tn_text_format(&folder, "%s/.local/share/" TN_PLUGIN_BELOW, home);
	if (folder.failed)
		status = TN_OUT_OF_MEMORY;
	else if (folder.data)
		status = add_found(candidates, kind, folder.data, options->logger);
	tn_text_release(&folder);
	return status;
}

static tn_status add_searched_folders(const struct tn_registry_options *options,
				      const struct tn_plugin_kind *kind,
				      struct tn_candidates *candidates)
{
	const char *path =
		tn_parameter_read(options->parameters, "TENON_PLUGIN_PATH",
				  "folders to search for plugins, absolute, with ':' between them");
	const char *only = tn_parameter_read(options->parameters, "TENON_PLUGIN_PATH_ONLY",
					     "1: do not search the folders of installed plugins");
	tn_status status = add_variable(options, kind, path, candidates);
	if (status || (only && !strcmp(only, "1")))
		return status;
	status = add_beside(options, kind, candidates);
	if (!status)
		status = add_users(options, kind, candidates);
	for (size_t i = 0; !status && i < sizeof(fixed) / sizeof(fixed[0]); i++)
		status =
			add_folder(candidates, kind, fixed[i], TN_FOUND_INSTALLED, options->logger);
	return status;
}

static tn_status add_linked(struct tn_candidates *candidates,
			    const struct tn_backend_descriptor *descriptor, uint32_t found)
{
	const char *name = descriptor->name;
	tn_status status = add_candidate(candidates, name, strlen(name), NULL, found);
	if (!status)
		candidates->list[candidates->n - 1].built_in = descriptor;
	return status;
}

tn_status tn_search(const struct tn_registry_options *options, const struct tn_plugin_kind *kind,
		    struct tn_candidates *candidates)
{
	const struct tn_backend_descriptor *registered;
	const int is_whole = kind == &tn_backend_kind && !options->paths_only && !options->probe_ms;
	tn_status status = TN_OK;
	*candidates = (struct tn_candidates){0};
	for (size_t i = 0; !status && i < options->n_built_in; i++)
		status = add_linked(candidates, options->built_in[i], TN_FOUND_BUILT_IN);
	for (size_t i = 0; !status && is_whole && (registered = tn_registered_at(i)); i++)
		status = add_linked(candidates, registered, TN_FOUND_REGISTERED);
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
	for (size_t i = 0; i < candidates->n_folders; i++)
		tn_mem_free(candidates->folders[i].path);
	tn_mem_free(candidates->folders);
	tn_mem_free(candidates->list);
	*candidates = (struct tn_candidates){0};
}
