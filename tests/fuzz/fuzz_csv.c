/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input, without its first byte, as a table, plain or gzipped.  The first byte chooses
 * the options.
 */
#include <tenon/io.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a table that was read must satisfy. */
static void check(const struct tn_csv *csv, const struct tn_csv_options *options)
{
	fuzz_require(csv->values.data != NULL && csv->values.rank == 2);
	fuzz_require((csv->column_names != NULL) == (options->header != 0));
	for (int64_t i = 0; csv->column_names && i < csv->values.shape[1]; i++)
		fuzz_require(csv->column_names[i] != NULL);
	fuzz_require((csv->labels.data != NULL) == (options->label_column != 0));
	for (int64_t i = 0; csv->labels.data && i < csv->labels.shape[0]; i++) {
		int32_t label = ((const int32_t *)csv->labels.data)[i];
		fuzz_require(label >= 0 && (size_t)label < csv->n_classes);
		fuzz_require(csv->class_names[label][0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct tn_csv_options options = tn_csv_defaults();
	options.dtype = data[0] & 1 ? TN_I64 : data[0] & 2 ? TN_F32 : 0;
	options.header = data[0] >> 2 & 1;
	options.missing_is_nan = (data[0] & 9) == 8;
	options.separator = data[0] & 16 ? ';' : 0;
	options.comment = data[0] & 32 ? '#' : 0;
	options.label_column = data[0] & 64 ? -1 : 0;
	struct tn_error_info error;
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	if (tn_csv_read(fuzz_file(data + 1, size - 1), &options, &csv, &error) == TN_OK)
		check(&csv, &options);
	else
		fuzz_require(!csv.values.data && error.text[0]);
	tn_csv_release(&csv);
	return 0;
}
