/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The records of a ZIP file with stored members.
 */
#ifndef TN_IO_ZIP_WRITE_H
#define TN_IO_ZIP_WRITE_H

#include "base/text.h"
#include "io/zip.h"

/* Appends the local header of the entry, of its name, crc and size. */
void tn_zip_put_local(struct tn_text *text, const struct tn_zip_entry *entry);

/* Appends its entry of the directory, of its `header` too. */
void tn_zip_put_entry(struct tn_text *text, const struct tn_zip_entry *entry);

/* Appends what follows the directory: its `n` entries are at `offset` and have `size` bytes. */
void tn_zip_put_end(struct tn_text *text, uint64_t n, uint64_t offset, uint64_t size);

#endif
