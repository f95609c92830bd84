/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens the input as a data set, an NPZ or a CSV file, and loads an epoch of its training part.
 */
#include <tenon/data.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load_epoch(const tn_dataset *dataset)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 3;
	options.shuffle = 1;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_error_info error;
	tn_data_loader *loader = NULL;
	uint64_t n = 0;
	fuzz_require(!tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error));
	do {
		fuzz_require(!tn_data_loader_next(loader, &batch, &error));
		for (uint32_t i = 0; i < batch.n; i++)
			fuzz_require(batch.samples[i] < tn_dataset_count(dataset, TN_PART_TRAIN));
		if (tn_dataset_format(dataset)) {
			const int32_t *labels = batch.data[1];
			for (uint32_t i = 0; i < batch.n; i++)
				fuzz_require(tn_dataset_class_name(dataset, labels[i]) != NULL);
		}
		n += batch.n;
	} while (batch.n);
	fuzz_require(n == tn_dataset_count(dataset, TN_PART_TRAIN));
	tn_data_loader_destroy(loader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (uint32_t regression = 0; regression < 2; regression++) {
		struct tn_dataset_options options = tn_dataset_defaults();
		options.regression = regression;
		struct tn_error_info error;
		tn_dataset *dataset = NULL;
		tn_status status =
			tn_dataset_open(fuzz_file(data, size), &options, &dataset, &error);
		fuzz_require((status == TN_OK) == (dataset != NULL));
		if (status != TN_OK)
			fuzz_require(error.text[0]);
		else
			load_epoch(dataset);
		tn_dataset_destroy(dataset);
	}
	return 0;
}
