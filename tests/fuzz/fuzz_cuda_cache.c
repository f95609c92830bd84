/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The cache of compiled kernels.  If the first byte is odd, the rest is the file of a key; else it
 * is a binary that is stored, and the next three bytes say what becomes of a byte of its file.
 * Only a file that is as it was stored is found.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cache.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char top[] = "/tmp/tenon-fuzz-XXXXXX";
static char file_name[48];

static void *take(void *context, size_t size, size_t alignment)
{
	(void)context, (void)alignment;
	return malloc(size);
}

static void give(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static int32_t is_logged(void *context, int32_t level, const char *subsystem)
{
	(void)context, (void)level, (void)subsystem;
	return 0;
}

static const char *parameter(void *context, const char *name, const char *help)
{
	(void)context, (void)help;
	return strcmp(name, "TENON_CACHE_DIR") ? NULL : top;
}

static const struct tn_host host = {.struct_size = sizeof(host),
				    .log_enabled = is_logged,
				    .alloc = take,
				    .free = give,
				    .parameter = parameter};

static int folder = -1;
static struct tn_plugin_text key, found;

static void remove_folder(void)
{
	char path[64];
	(void)unlinkat(folder, file_name, 0);
	snprintf(path, sizeof(path), "%s/cuda", top);
	(void)rmdir(path);
	(void)rmdir(top);
}

static void open_folder(void)
{
	uint64_t hash[2];
	fuzz_require(mkdtemp(top) != NULL);
	folder = cuda_cache_open(&host);
	fuzz_require(folder >= 0 && !atexit(remove_folder));
	tn_plugin_text_init(&key, &host);
	tn_plugin_text_init(&found, &host);
	tn_plugin_text_add(&key, "sm_90 --fast-math\nkernel");
	cuda_hash(key.data, key.length, hash);
	snprintf(file_name, sizeof(file_name), "%016llx%016llx.bin", (unsigned long long)hash[0],
		 (unsigned long long)hash[1]);
}

static void write_file(const uint8_t *data, size_t size)
{
	int file = openat(folder, file_name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	fuzz_require(file >= 0 && write(file, data, size) == (ssize_t)size && !close(file));
}

/* Changes a byte; 0: it stays as it was. */
static int spoil(size_t at, uint8_t mask)
{
	struct stat about;
	uint8_t byte;
	int file = openat(folder, file_name, O_RDWR);
	fuzz_require(file >= 0 && !fstat(file, &about));
	const off_t place = (off_t)at % about.st_size;
	fuzz_require(pread(file, &byte, 1, place) == 1);
	byte ^= mask;
	fuzz_require(pwrite(file, &byte, 1, place) == 1 && !close(file));
	return mask != 0;
}

static void store(const uint8_t *data, size_t size)
{
	struct tn_plugin_text binary;
	tn_plugin_text_init(&binary, &host);
	char *to = tn_plugin_text_reserve(&binary, size - 3);
	fuzz_require(to != NULL);
	memcpy(to, data + 3, size - 3);
	binary.length = size - 3;
	cuda_cache_write(&host, folder, &key, &binary);
	const int is_spoilt = spoil((size_t)data[0] << 8 | data[1], data[2]);
	const int is_found = cuda_cache_read(folder, &key, &found);
	fuzz_require(is_found == !is_spoilt);
	fuzz_require(!is_found || (found.length == binary.length &&
				   !memcmp(found.data, binary.data, binary.length)));
	tn_plugin_text_free(&binary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (folder < 0)
		open_folder();
	if (size < 5)
		return 0;
	if (!(data[0] & 1)) {
		store(data + 1, size - 1);
	} else {
		write_file(data + 1, size - 1);
		const int is_found = cuda_cache_read(folder, &key, &found);
		fuzz_require(!is_found || found.length < size);
	}
	return 0;
}
