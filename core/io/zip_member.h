/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The content of a member of a ZIP file, stored or deflated, from front to back.
 */
#ifndef TN_IO_ZIP_MEMBER_H
#define TN_IO_ZIP_MEMBER_H

#include "io/zip.h"

struct tn_zip_member;

/* `label` names file and member in error texts; it and `zip` are borrowed until the close.
 * TN_UNSUPPORTED: another method, or deflated and built without zlib.  TN_LIMIT, TN_FORMAT: its
 * size is more than it may be, or more than deflate can make of it. */
tn_status tn_zip_member_open(const struct tn_zip *zip, const struct tn_zip_entry *entry,
			     const char *label, struct tn_zip_member **out,
			     struct tn_error_info *error);
void tn_zip_member_close(struct tn_zip_member *member); /* takes NULL */

/* Reads exactly the next `size` bytes, of which the entry's size has as many. */
tn_status tn_zip_member_read(struct tn_zip_member *member, void *buffer, size_t size,
			     struct tn_error_info *error);

/* After all bytes were read: checks that the content ends there, and its checksum. */
tn_status tn_zip_member_finish(struct tn_zip_member *member, struct tn_error_info *error);

#endif
