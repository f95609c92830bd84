/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Two arrays that a test compares, on the host.
 */
#ifndef TN_TEXT_ASSERTION_H
#define TN_TEXT_ASSERTION_H

#include <tenon/testing.h>

#include "array/array.h"
#include "text/element_text.h"
#include "text/host_elements.h"

/* x is the actual array, y the desired one. */
struct tn_assertion {
	const char *operation;
	struct tn_runtime *runtime;
	const tn_array *array[2];
	const char *name[2];
	struct tn_text header; /* the first line of the text */
	struct tn_assert_options options;
	int compares_infinities; /* 1: they must be at the same places; 0: they are numbers */
	struct tn_host_elements host[2];
	struct tn_elements elements[2];
	int64_t n;      /* of the comparison: of the larger array */
	int64_t *wrong; /* the elements that are not as asserted, in order */
	int64_t n_wrong;
};

/* Element i of the comparison: array k's own, or its only one. */
static inline size_t tn_assertion_place(const struct tn_assertion *a, int k, int64_t i)
{
	return a->array[k]->rank ? (size_t)i : 0;
}

#endif
