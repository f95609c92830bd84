/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The internals of safetensors: the types of the format, and an open file.
 *
 *     u64 LE N | N bytes of JSON | data
 *     {"__metadata__": {string: string}, NAME: {"dtype", "shape", "data_offsets": [begin, end]}}
 *
 * Source: github.com/huggingface/safetensors, README and safetensors/src/tensor.rs.
 */
#ifndef TN_IO_SAFETENSORS_H
#define TN_IO_SAFETENSORS_H

#include <tenon/io.h>

#include "io/file.h"
#include "io/safetensors_type.h"

#define TN_SAFETENSORS_OPERATION "safetensors"
#define TN_SAFETENSORS_METADATA "__metadata__"

struct tn_safetensors_entry {
	const char *name; /* in `header` */
	const struct tn_safetensors_type *type;
	uint32_t rank;
	int64_t shape[TN_MAX_RANK];
	uint64_t begin; /* from the start of the data */
	uint64_t end;
};

struct tn_safetensors {
	struct tn_file file;
	uint64_t data_start;
	char *header;                         /* contains all names, keys and values */
	struct tn_safetensors_entry *entries; /* in order of begin */
	size_t *by_name;                      /* indices of entries, in order of name */
	size_t n;
	struct tn_metadata_entry *metadata; /* in order of key */
	size_t n_metadata;
};

#endif
