/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The input without its first byte as the metrics of a training that goes on after as many epochs
 * as that byte says: whole lines from its beginning are left.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of what is left. */
static void check(const char *path, const uint8_t *data, size_t size)
{
	struct stat left;
	int file = open(path, O_RDONLY);
	fuzz_require(file >= 0 && !fstat(file, &left));
	const size_t length = (size_t)left.st_size;
	char *text = malloc(length + 1);
	fuzz_require(text && length <= size && read(file, text, length + 1) == left.st_size);
	fuzz_require(!memcmp(text, data, length) && (!length || text[length - 1] == '\n'));
	free(text);
	close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metrics metrics;
	if (!size)
		return 0;
	const char *path = fuzz_file(data + 1, size - 1);
	fuzz_require(metrics_open(&metrics, path));
	metrics_continue(&metrics, data[0]);
	fuzz_require(metrics_close(&metrics));
	check(path, data + 1, size - 1);
	return 0;
}
