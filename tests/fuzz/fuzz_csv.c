/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input as a table of integers, plain or gzipped.
 */
#include "io/csv.h"

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_error_info error;
	struct tn_csv csv = {0};
	if (tn_csv_read(fuzz_file(data, size), &csv, &error) == TN_OK)
		fuzz_require(csv.n_rows > 0 && csv.n_columns > 0);
	else
		fuzz_require(!csv.values && error.text[0]);
	tn_csv_release(&csv);
	return 0;
}
