/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compiled kernels on disk.  One file for each key, which has everything that a binary depends on:
 * the source, the options, the compiler's version, the architecture.
 */
#ifndef CUDA_CACHE_H
#define CUDA_CACHE_H

#include "plugin.h"

/* Opens the folder, and creates it if it does not exist.  -1: there is none, or it cannot be
 * trusted. */
int cuda_cache_open(const struct tn_host *host);
void cuda_cache_close(int folder);
/* Removes the least recently used files if more than 256 MiB are stored. */
void cuda_cache_trim(const struct tn_host *host, int folder);

/* Reads the binary of that key; 0: no complete one is stored. */
int cuda_cache_read(int folder, const struct tn_plugin_text *key, struct tn_plugin_text *binary);
/* Stores it; a failure is logged, and costs a compilation later. */
void cuda_cache_write(const struct tn_host *host, int folder, const struct tn_plugin_text *key,
		      const struct tn_plugin_text *binary);

/* A 128-bit checksum of bytes, against accidental corruption. */
void cuda_hash(const void *data, size_t length, uint64_t hash[2]);

#endif
