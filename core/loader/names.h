/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Names of backends and of the files in a folder.
 */
#ifndef TN_LOADER_NAMES_H
#define TN_LOADER_NAMES_H

#include <stddef.h>
#include <tenon/backend.h>

/* Is text[0..length) a backend's name: a-z, 0-9, '_', 1 to 31 of them? */
int tn_search_is_name(const char *text, size_t length);

/* The names in a folder that end in `suffix`, sorted by bytes. */
struct tn_names {
	char **list;
	size_t n;
};

/* TN_IO: it cannot be read (errno says why); the list is then empty.  TN_OUT_OF_MEMORY. */
tn_status tn_names_read(const char *folder, const char *suffix, struct tn_names *names);
void tn_names_release(struct tn_names *names);

#endif
