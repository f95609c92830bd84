/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input as CIFAR-10 and as CIFAR-100.
 */
#include <tenon/io.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(tn_status status, struct tn_host_array *images, struct tn_host_array *labels,
		  int32_t n_classes, const struct tn_error_info *error)
{
	fuzz_require((status == TN_OK) == (images->data && labels->data));
	if (status != TN_OK)
		fuzz_require(error->text[0]);
	for (int64_t i = 0; i < labels->shape[0]; i++) {
		int32_t label = ((const int32_t *)labels->data)[i];
		fuzz_require(label >= 0 && label < n_classes);
	}
	tn_host_array_release(images);
	tn_host_array_release(labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_error_info error;
	struct tn_host_array images = {0}, labels = {0};
	const char *path = fuzz_file(data, size);
	tn_status status = tn_cifar10_read(path, &images, &labels, &error);
	check(status, &images, &labels, 10, &error);
	status = tn_cifar100_read(path, &images, NULL, &labels, &error);
	check(status, &images, &labels, 100, &error);
	return 0;
}
