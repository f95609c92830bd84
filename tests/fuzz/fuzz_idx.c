/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input as IDX, plain or gzipped.
 */
#include <tenon/io.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_error_info error;
	struct tn_host_array array = {0};
	tn_status status = tn_idx_read(fuzz_file(data, size), &array, &error);
	fuzz_require((status == TN_OK) == (array.data != NULL));
	if (status != TN_OK)
		fuzz_require(error.text[0]);
	/* The input bounds the output: deflate expands one byte to at most 1032. */
	fuzz_require(array.size_bytes <= size * 1032);
	tn_host_array_release(&array);
	return 0;
}
