/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parses the input as the metadata of a saved network; a parsed format must print and parse to the
 * same.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/data.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_error_info error;
	struct tn_input_format format, again;
	char *text = malloc(size + 1);
	fuzz_require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&format, 0, sizeof(format));
	format.struct_size = sizeof(format);
	again = format;
	if (tn_input_format_parse(text, &format, &error) == TN_OK) {
		char *printed = tn_input_format_text(&format);
		fuzz_require(printed && tn_input_format_parse(printed, &again, &error) == TN_OK);
		fuzz_require(!memcmp(&format, &again, sizeof(format)));
		tn_string_free(printed);
	}
	free(text);
	return 0;
}
