/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens the input as NPZ and reads every array.
 */
#include <tenon/io.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_error_info error;
	tn_npz *file = NULL;
	tn_status status = tn_npz_open(fuzz_file(data, size), &file, &error);
	fuzz_require((status == TN_OK) == (file != NULL));
	if (status != TN_OK) {
		fuzz_require(error.text[0]);
		return 0;
	}
	uint64_t total = 0;
	for (size_t i = 0; i < tn_npz_count(file); i++) {
		struct tn_host_array array = {0};
		status = tn_npz_read(file, tn_npz_name(file, i), &array, &error);
		fuzz_require((status == TN_OK) == (array.data != NULL));
		if (status != TN_OK)
			fuzz_require(error.text[0]);
		total += array.size_bytes;
		tn_host_array_release(&array);
	}
	/* Members do not overlap, and deflate expands one byte to at most 1032. */
	fuzz_require(total <= size * 1032);
	tn_npz_close(file);
	return 0;
}
