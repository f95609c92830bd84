/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The types of safetensors.
 */
#ifndef TN_IO_SAFETENSORS_TYPE_H
#define TN_IO_SAFETENSORS_TYPE_H

#include <tenon/backend.h>

struct tn_safetensors_type {
	const char *name;
	unsigned bits;  /* of one element */
	tn_dtype dtype; /* 0: listed, but not readable as elements */
};

/* The type with that name, or of that dtype; NULL: none. */
const struct tn_safetensors_type *tn_safetensors_type_named(const char *name);
const struct tn_safetensors_type *tn_safetensors_type_of(tn_dtype dtype);

#endif
