/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Where NVIDIA's libraries lie: in the process already, where the loader looks, or in the folders
 * of toolkits, conda environments and Python's packages.
 */
#ifndef CUDA_PLACE_H
#define CUDA_PLACE_H

#include <limits.h>

#include <tenon/plugin.h>

/* Where a library was found; empty: it is opened by its name. */
struct cuda_place {
	char path[PATH_MAX];
};

/* One search for the libraries of a major version of CUDA. */
struct cuda_search {
	const struct tn_host *host;
	int major;
	void *handle;        /* a library, where whose dependencies are found the file may be */
	const void *address; /* a function of that library, beside which it may be */
	const char *near;    /* a library, beside which the file may be; may be NULL */
};

/* Finds the file: 1 and its place, or 0. */
int cuda_place_find(const struct cuda_search *search, const char *file, struct cuda_place *place);

/* The folders where the loader does not look, one after the other, until `visit` returns 1, which
 * it then returns too. */
int cuda_place_each(const struct tn_host *host, int major,
		    int (*visit)(void *context, const char *folder), void *context);

/* Is there a library of that name in the folder?  1, and its place. */
int cuda_place_in(const char *folder, size_t length, const char *file, struct cuda_place *place);

/* Does a file whose name begins so lie beside the file at that path? */
int cuda_place_has(const char *path, const char *prefix);

/* The places, in words: "the loader's folders, CUDA_HOME (/opt/cuda), /usr/local/cuda". */
void cuda_place_say(const struct tn_host *host, char *text, size_t size);

/* What most likely brought the library at that path: "pip", "conda", "toolkit", "cuda.libraries" or
 * "system". */
const char *cuda_place_package(const struct tn_host *host, char *path);

#endif
