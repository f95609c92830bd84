/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Byte orders, sizes and shapes, for all readers.  Every overflow is detected.
 */
#include "io/bytes.h"

#include <stdio.h>

#include "base/dtype.h"
#include "base/error.h"

size_t tn_dtype_word_size(tn_dtype dtype)
{
	size_t size = tn_dtype_size(dtype);
	return tn_is_complex(dtype) ? size / 2 : size;
}

void tn_reverse_words(void *data, size_t count, size_t size)
{
	unsigned char *word = data;
	for (size_t i = 0; i < count; i++, word += size) {
		for (size_t a = 0, b = size - 1; a < b; a++, b--) {
			unsigned char byte = word[a];
			word[a] = word[b];
			word[b] = byte;
		}
	}
}

int tn_shape_bytes(const int64_t *shape, uint32_t rank, uint64_t element_size, uint64_t *bytes)
{
	uint64_t product = element_size;
	int empty = 0;
	for (uint32_t i = 0; i < rank; i++) {
		if (shape[i] < 0)
			return 0;
		if (shape[i] == 0)
			empty = 1;
		else if (product > UINT64_MAX / (uint64_t)shape[i])
			return 0;
		else
			product *= (uint64_t)shape[i];
	}
	*bytes = empty ? 0 : product;
	return 1;
}

const char *tn_shape_text(const int64_t *shape, uint32_t rank, char *text, size_t size)
{
	size_t used = 0;
	for (uint32_t i = 0; i < rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "(",
					 (long long)shape[i]);
	if (used < size)
		snprintf(text + used, size - used, "%s", rank == 0 ? "()" : rank == 1 ? ",)" : ")");
	return text;
}

tn_status tn_bools_check(const char *operation, const char *label, const unsigned char *data,
			 uint64_t n, struct tn_error_info *error)
{
	for (uint64_t i = 0; i < n; i++) {
		if (data[i] > 1)
			return tn_fail(error, TN_FORMAT, operation,
				       "%s: element %llu: expected a bool, 0 or 1, found %u", label,
				       (unsigned long long)i, data[i]);
	}
	return TN_OK;
}
