/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Who could change the code that is about to be run from a file?
 */
#ifndef TN_BASE_TRUST_H
#define TN_BASE_TRUST_H

#include <sys/types.h>

#include <tenon/backend.h>

/* TN_OK: nobody but those whom the process trusts can change, replace or remove the file or folder
 * at that absolute path, a folder above it, or a link that is part of it.  TN_REFUSED: somebody
 * else can; the text names the file, folder or link, and the user.  TN_OUT_OF_MEMORY. */
tn_status tn_trust_check(const char *path, int is_privileged, struct tn_error_info *error);

/* The same of a path and of what it leads to: *real, without links, which is safe to use later; to
 * be freed with tn_mem_free.  TN_IO: it leads nowhere; errno says why. */
tn_status tn_trust_resolve(const char *path, int is_privileged, char **real,
			   struct tn_error_info *error);

/* The owner of the library's file is trusted, too: its code runs already. */
void tn_trust_owner(uid_t user);

#endif
