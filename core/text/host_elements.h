/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The elements of an array on the host, for its text or a file.
 */
#ifndef TN_TEXT_HOST_ELEMENTS_H
#define TN_TEXT_HOST_ELEMENTS_H

#include "array/array.h"

/* Row-major. */
struct tn_host_elements {
	void *data; /* owned */
	size_t size_bytes;
};

/* Waits for the elements.  Keeps the error. */
tn_status tn_host_elements_fetch(const tn_array *a, const char *operation,
				 struct tn_host_elements *elements);
void tn_host_elements_release(struct tn_host_elements *elements); /* takes a zeroed struct */

#endif
