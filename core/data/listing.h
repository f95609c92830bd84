/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of a folder.
 */
#ifndef TN_DATA_LISTING_H
#define TN_DATA_LISTING_H

#include <stddef.h>
#include <tenon/types.h>

struct tn_listing {
	char **names; /* in the order of their bytes */
	size_t n;
	size_t capacity;
};

/* The folders.  Symbolic links are followed; names that begin with a dot are left out.
 * TN_IO: it cannot be read. */
tn_status tn_listing_folders(const char *folder, struct tn_listing *out,
			     struct tn_error_info *error);
/* Also the files whose names end in one of `endings` (NULL-terminated, lower case; the names' case
 * does not matter), and the other files.  On failure all three are empty.
 * TN_IO: such a file is a pipe, a socket, a device or a link to nothing. */
tn_status tn_listing_all(const char *folder, const char *const *endings, struct tn_listing *files,
			 struct tn_listing *folders, struct tn_listing *others,
			 struct tn_error_info *error);
void tn_listing_release(struct tn_listing *listing); /* takes a zeroed struct */

/* The place of a name; n if it is not there. */
size_t tn_listing_find(const struct tn_listing *listing, const char *name);

#endif
