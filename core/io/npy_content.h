/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPY as content: of a file, or of a member of an NPZ file.
 */
#ifndef TN_IO_NPY_CONTENT_H
#define TN_IO_NPY_CONTENT_H

#include <tenon/io.h>

#include "io/npy_header.h"

struct tn_npy_content {
	const char *label; /* file and member, in error texts */
	uint64_t size;
	/* Other arrays may follow the one that is read, as numpy.save appends them to an open file.
	 * `read` is then called in any order. */
	int may_continue;
	/* Reads exactly [offset, offset + size), which is within the content; called in order of
	 * offset, without gaps. */
	tn_status (*read)(void *user, uint64_t offset, void *buffer, size_t size,
			  struct tn_error_info *error);
	void *user;
};

/* *end := where the elements end.  Both are written only on success. */
tn_status tn_npy_read_content(const struct tn_npy_content *content, struct tn_host_array *out,
			      uint64_t *end, struct tn_error_info *error);

/* The header, and where the elements are: `bytes` of them, to the end of the content or to another
 * array. */
tn_status tn_npy_read_layout(const struct tn_npy_content *content, struct tn_npy_header *header,
			     uint64_t *data_start, uint64_t *bytes, struct tn_error_info *error);

#endif
