/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the files of NVIDIA's libraries, without opening them where a look at the folder is enough.
 */
#include "place.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where NVIDIA's installers put the toolkit; a test has a folder of its own. */
#ifndef CUDA_LOCAL
#define CUDA_LOCAL "/usr/local/cuda"
#endif

#ifdef __aarch64__
#define TARGET "targets/sbsa-linux/lib"
#else
#define TARGET "targets/x86_64-linux/lib"
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct walk {
	const struct tn_host *host;
	int major;
	int (*visit)(void *context, const char *folder);
	void *context;
};

/* The variables that name a folder of a toolkit, in order. */
static const struct root {
	const char *variable, *help;
} toolkits[] = {
	{"CUDA_HOME", "a folder of the CUDA toolkit"},
	{"CUDA_PATH", "a folder of the CUDA toolkit"},
	{"CONDA_PREFIX", "the conda environment, where the cuda backend looks for libraries"},
};

static const struct root pythons[] = {
	{"VIRTUAL_ENV", "Python's environment, where the cuda backend looks for libraries"},
	{"CONDA_PREFIX", "the conda environment, where the cuda backend looks for libraries"},
};

static const char *value_of(const struct tn_host *host, const struct root *root)
{
	const char *value = host->parameter(host->context, root->variable, root->help);
	return value && value[0] == '/' ? value : NULL;
}

/* ---- Folders ---------------------------------------------------------------------------------*/

static int visit_in(const struct walk *walk, const char *root, const char *folder)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", root, folder);
	return n > 0 && (size_t)n < sizeof(path) && walk->visit(walk->context, path);
}

static int visit_toolkit(const struct walk *walk, const char *root)
{
	static const char *const folders[] = {"lib64", "lib", TARGET};
	for (size_t i = 0; i < COUNT(folders); i++)
		if (visit_in(walk, root, folders[i]))
			return 1;
	return 0;
}

/* pip's packages: of CUDA 13 in one folder, of CUDA 12 in one for each. */
static int visit_packages(const struct walk *walk, const char *site)
{
	static const char *const folders[] = {"cuda_runtime/lib", "cublas/lib", "cuda_nvrtc/lib",
					      "cudnn/lib"};
	char root[PATH_MAX], joined[16];
	int n = snprintf(root, sizeof(root), "%s/site-packages/nvidia", site);
	if (n < 0 || (size_t)n >= sizeof(root))
		return 0;
	snprintf(joined, sizeof(joined), "cu%d/lib", walk->major);
	if (visit_in(walk, root, joined))
		return 1;
	for (size_t i = 0; i < COUNT(folders); i++)
		if (visit_in(walk, root, folders[i]))
			return 1;
	return 0;
}

static int is_python(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "python3", 7);
}

static int visit_python(const struct walk *walk, const char *prefix)
{
	char path[PATH_MAX];
	struct dirent **list = NULL;
	int found = 0, length = snprintf(path, sizeof(path), "%s/lib/", prefix);
	if (length < 0 || (size_t)length >= sizeof(path))
		return 0;
	int n = scandir(path, &list, is_python, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path + length, sizeof(path) - (size_t)length, "%s", list[i]->d_name);
		found = found || visit_packages(walk, path);
		free(list[i]);
	}
	free(list);
	return found;
}

/* The folders of the option, with colons between: then only these. */
static int visit_list(const struct walk *walk, const char *list)
{
	char path[PATH_MAX];
	while (*list) {
		size_t length = strcspn(list, ":");
		int n = snprintf(path, sizeof(path), "%.*s", (int)length, list);
		if (path[0] == '/' && n > 0 && (size_t)n < sizeof(path) &&
		    walk->visit(walk->context, path))
			return 1;
		list += length + (list[length] == ':');
	}
	return 0;
}

int cuda_place_each(const struct tn_host *host, int major,
		    int (*visit)(void *context, const char *folder), void *context)
{
	const struct walk walk = {host, major, visit, context};
	char numbered[sizeof(CUDA_LOCAL) + 16];
	const char *list = tn_plugin_option(host, "libraries");
	if (list && *list)
		return visit_list(&walk, list);
	for (size_t i = 0; i < COUNT(toolkits); i++) {
		const char *root = value_of(host, &toolkits[i]);
		if (root && visit_toolkit(&walk, root))
			return 1;
	}
	snprintf(numbered, sizeof(numbered), CUDA_LOCAL "-%d", major);
	if (visit_toolkit(&walk, CUDA_LOCAL) || visit_toolkit(&walk, numbered))
		return 1;
	for (size_t i = 0; i < COUNT(pythons); i++) {
		const char *prefix = value_of(host, &pythons[i]);
		if (prefix && visit_python(&walk, prefix))
			return 1;
	}
	return 0;
}

/* Appends what fits. */
static void say(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

void cuda_place_say(const struct tn_host *host, char *text, size_t size)
{
	const char *list = tn_plugin_option(host, "libraries");
	snprintf(text, size, "the loader's folders");
	if (list && *list) {
		say(text, size, ", cuda.libraries (%s)", list);
		return;
	}
	for (size_t i = 0; i < COUNT(toolkits); i++) {
		const char *root = value_of(host, &toolkits[i]);
		if (root)
			say(text, size, ", %s (%s)", toolkits[i].variable, root);
	}
	say(text, size, ", " CUDA_LOCAL);
	const char *python = value_of(host, &pythons[0]);
	if (python)
		say(text, size, ", %s (%s)", pythons[0].variable, python);
}

static int is_below(const char *path, const char *folder)
{
	size_t length = folder ? strlen(folder) : 0;
	return length && !strncmp(path, folder, length) && path[length] == '/';
}

static int visit_parent(void *path, const char *folder)
{
	return is_below(path, folder);
}

const char *cuda_place_package(const struct tn_host *host, char *path)
{
	const struct walk walk = {.visit = visit_parent, .context = path};
	const char *list = tn_plugin_option(host, "libraries");
	if (list && visit_list(&walk, list))
		return "cuda.libraries";
	if (strstr(path, "/site-packages/nvidia/"))
		return "pip";
	if (is_below(path, value_of(host, &toolkits[2])))
		return "conda";
	if (is_below(path, value_of(host, &toolkits[0])) ||
	    is_below(path, value_of(host, &toolkits[1])) ||
	    !strncmp(path, CUDA_LOCAL, sizeof(CUDA_LOCAL) - 1))
		return "toolkit";
	return "system";
}

/* ---- Files -----------------------------------------------------------------------------------*/

enum found { NOT_SEEN, SEEN, DAMAGED };

/* Does it begin as a library does? */
static enum found look_in(const char *folder, size_t length, const char *file,
			  struct cuda_place *place)
{
	char magic[4];
	int n = snprintf(place->path, sizeof(place->path), "%.*s/%s", (int)length, folder, file);
	FILE *stream = n > 0 && (size_t)n < sizeof(place->path) ? fopen(place->path, "rbe") : NULL;
	if (!stream) {
		place->path[0] = 0;
		return NOT_SEEN;
	}
	size_t got = fread(magic, 1, sizeof(magic), stream);
	(void)fclose(stream);
	if (got == sizeof(magic) && !memcmp(magic, "\177ELF", sizeof(magic)))
		return SEEN;
	place->path[0] = 0;
	return DAMAGED;
}

int cuda_place_in(const char *folder, size_t length, const char *file, struct cuda_place *place)
{
	return look_in(folder, length, file, place) == SEEN;
}

static int look_beside(const char *path, const char *file, struct cuda_place *place)
{
	const char *end = path ? strrchr(path, '/') : NULL;
	return end && cuda_place_in(path, (size_t)(end - path), file, place);
}

/* The folders that dlopen searches for the library's own dependencies, in order; a damaged file
 * ends its search. */
static int look_in_path(void *handle, const char *file, struct cuda_place *place)
{
	Dl_serinfo size;
	union {
		Dl_serinfo info;
		char room[16384];
	} path;
	if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) || size.dls_size > sizeof(path))
		return 0;
	path.info.dls_size = size.dls_size;
	path.info.dls_cnt = size.dls_cnt;
	if (dlinfo(handle, RTLD_DI_SERINFO, &path.info))
		return 0;
	enum found found = NOT_SEEN;
	for (unsigned i = 0; i < path.info.dls_cnt && found == NOT_SEEN; i++)
		found = look_in(path.info.dls_serpath[i].dls_name,
				strlen(path.info.dls_serpath[i].dls_name), file, place);
	return found == SEEN;
}

/* Can it be opened by its name?  `how`: RTLD_NOLOAD: only if the process has it. */
static int is_open_by_name(const char *file, int how)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE | how);
	if (handle)
		dlclose(handle);
	return handle != NULL;
}

struct wanted {
	const char *file;
	struct cuda_place *place;
};

static int visit_folder(void *context, const char *folder)
{
	const struct wanted *wanted = context;
	return cuda_place_in(folder, strlen(folder), wanted->file, wanted->place);
}

int cuda_place_find(const struct cuda_search *search, const char *file, struct cuda_place *place)
{
	struct wanted wanted = {file, place};
	Dl_info info = {.dli_fname = NULL};
	place->path[0] = 0;
	if (is_open_by_name(file, RTLD_NOLOAD))
		return 1;
	if (look_beside(search->near, file, place) || look_in_path(search->handle, file, place))
		return 1;
	if (dladdr(search->address, &info) && look_beside(info.dli_fname, file, place))
		return 1;
	return is_open_by_name(file, 0) ||
	       cuda_place_each(search->host, search->major, visit_folder, &wanted);
}

int cuda_place_has(const char *path, const char *prefix)
{
	char folder[PATH_MAX];
	const char *end = strrchr(path, '/');
	const struct dirent *entry = NULL;
	int found = 0;
	if (!end || (size_t)(end - path) >= sizeof(folder))
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
	DIR *stream = opendir(folder);
	while (stream && !found && (entry = readdir(stream)))
		found = !strncmp(entry->d_name, prefix, strlen(prefix));
	if (stream)
		(void)closedir(stream);
	return found;
}
