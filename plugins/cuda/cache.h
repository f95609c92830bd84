/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compiled kernels on disk.  One file for each key, which has all that a binary depends on: the
 * source, the options, the compiler's version, the architecture.
 */
#ifndef CUDA_CACHE_H
#define CUDA_CACHE_H

#include "plugin.h"

/* Opens the folder, and makes it where it is not there.  -1: there is none,
 * or it cannot be trusted. */
int cuda_cache_open(const struct tn_host *host);
void cuda_cache_close(int folder);
/* Removes what was not used for longest, where more than 256 MiB are kept. */
void cuda_cache_trim(const struct tn_host *host, int folder);

/* Reads the binary of that key; 0: there is none that is whole. */
int cuda_cache_read(int folder, const struct tn_plugin_text *key, struct tn_plugin_text *binary);
/* Keeps it; failure costs a compilation later on, and is logged. */
void cuda_cache_write(const struct tn_host *host, int folder, const struct tn_plugin_text *key,
		      const struct tn_plugin_text *binary);

/* A 128-bit sum of bytes, against accidents. */
void cuda_hash(const void *data, size_t length, uint64_t hash[2]);

#endif
