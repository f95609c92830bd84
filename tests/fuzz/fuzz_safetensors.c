/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens the input as safetensors and reads every tensor; a readable file must be written and read
 * back.
 */
#include <tenon/io.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const tn_safetensors *file, size_t size)
{
	uint64_t total = 0;
	for (size_t i = 0; i < tn_safetensors_count(file); i++) {
		struct tn_error_info error;
		size_t found;
		struct tn_tensor_info info = {.struct_size = sizeof(info)};
		fuzz_require(tn_safetensors_at(file, i, &info) == TN_OK);
		fuzz_require(tn_safetensors_find(file, info.name, &found, &error) == TN_OK);
		fuzz_require(found == i && info.size_bytes <= size);
		total += info.size_bytes;
		void *buffer = malloc(info.size_bytes ? info.size_bytes : 1);
		tn_status status = tn_safetensors_read(file, i, buffer, info.size_bytes, &error);
		fuzz_require(status == TN_OK || !info.dtype || info.dtype == TN_BOOL);
		free(buffer);
	}
	fuzz_require(total <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_error_info error;
	tn_safetensors *file = NULL;
	if (tn_safetensors_open(fuzz_file(data, size), &file, &error) != TN_OK) {
		fuzz_require(!file && error.status && error.text[0]);
		return 0;
	}
	read_all(file, size);
	for (size_t i = 0; i < tn_safetensors_metadata_count(file); i++)
		fuzz_require(tn_safetensors_metadata(file, tn_safetensors_metadata_key(file, i)) ==
			     tn_safetensors_metadata_value(file, i));
	tn_safetensors_close(file);
	return 0;
}
