/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dictionary at the head of an NPY file (source: numpy/lib/format.py):
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 */
#ifndef TN_IO_NPY_HEADER_H
#define TN_IO_NPY_HEADER_H

#include <tenon/io.h>

#include "base/text.h"

#define TN_NPY_OPERATION "NPY"
#define TN_NPY_MAGIC "\x93NUMPY"

/* The limit of NumPy's own reader. */
#define TN_NPY_MAX_HEADER 10000

struct tn_npy_header {
	tn_dtype dtype;
	int reversed;     /* the elements are in the other byte order */
	int column_major; /* 'fortran_order': True */
	uint32_t rank;
	int64_t shape[TN_MAX_RANK];
};

/* Parses `size` bytes from offset `base` of the file `label`. */
tn_status tn_npy_parse_header(const char *text, size_t size, const char *label, uint64_t base,
			      struct tn_npy_header *header, struct tn_error_info *error);

/* The descr of a dtype without the byte order: "f4"; NULL: NumPy has none. */
const char *tn_npy_type_name(tn_dtype dtype);

/* Appends magic, version 1.0, length, dictionary, spaces and a line feed, a multiple of 64 bytes,
 * to an empty text.  `type` comes from tn_npy_type_name. */
void tn_npy_put_header(struct tn_text *text, const char *type, uint32_t rank, const int64_t *shape);

#endif
