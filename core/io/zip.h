/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The directory of a ZIP file (PKWARE, APPNOTE.TXT 6.3), zip64 included.
 */
#ifndef TN_IO_ZIP_H
#define TN_IO_ZIP_H

#include <tenon/io.h>

#include "io/file.h"

#define TN_ZIP_OPERATION "NPZ"

enum { TN_ZIP_STORED = 0, TN_ZIP_DEFLATED = 8 };

struct tn_zip_entry {
	char *name; /* UTF-8 */
	uint32_t method;
	uint32_t flags;
	uint32_t crc;
	uint64_t packed_size; /* in the file */
	uint64_t size;
	uint64_t header; /* offset of the local header */
	uint64_t data;   /* offset of the content */
};

struct tn_zip {
	struct tn_file file;
	struct tn_zip_entry *entries; /* in the order of the directory */
	size_t n;
};

/* Reads and checks the directory: every entry, that it agrees with its local header, and that no
 * two entries overlap.  tn_zip_close is called after a failure too. */
tn_status tn_zip_open(struct tn_zip *zip, const char *path, struct tn_error_info *error);
void tn_zip_close(struct tn_zip *zip);

#endif
