/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keeps compiled kernels in files of a folder, and reads them back.
 *
 * A binary read from the folder is executed, so the folder must belong to the user and be writable
 * by no one else.  A file must be a regular file of the user's, and its lengths, checksums and
 * whole key are compared.  A file is written under a temporary name and renamed, so that concurrent
 * processes see either a complete file or none.
 */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE ((size_t)64 << 20)

struct header {
	char magic[8];
	uint64_t key_length, binary_length;
	uint64_t key_hash[2], binary_hash[2];
};

static const char magic[8] = "TNCUDA1";

void cuda_hash(const void *data, size_t length, uint64_t hash[2])
{
	const unsigned char *bytes = data;
	uint64_t a = UINT64_C(0xcbf29ce484222325), b = UINT64_C(0x9e3779b97f4a7c15) ^ length;
	for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
		uint64_t word = 0;
		memcpy(&word, bytes + i, length - i < sizeof(word) ? length - i : sizeof(word));
		a = (a ^ word) * UINT64_C(0x100000001b3);
		a ^= a >> 29;
		b = (b + word) * UINT64_C(0xff51afd7ed558ccd);
		b ^= b >> 32;
	}
	hash[0] = a;
	hash[1] = b;
}

/* ---- The folder ------------------------------------------------------------------------------*/

/* "TENON_CACHE_DIR/cuda", else below the user's cache directory; 0: there is no such folder. */
static int name_folder(const struct tn_host *host, char *path, size_t size)
{
	const char *own = host->parameter(host->context, "TENON_CACHE_DIR",
					  "folder of compiled kernels; empty: none are kept");
	const char *cache = host->parameter(host->context, "XDG_CACHE_HOME",
					    "where tenon/ keeps compiled kernels");
	const char *home =
		host->parameter(host->context, "HOME", ".cache/tenon/ keeps compiled kernels");
	int n = 0;
	if (own && own[0] && own[0] != '/')
		tn_plugin_log(
			host, "cuda", TN_LOG_WARNING,
			"kernels are not kept: TENON_CACHE_DIR is '%s', which does not begin with "
			"'/'",
			own);
	if (own)
		n = own[0] == '/' ? snprintf(path, size, "%s/cuda", own) : 0;
	else if (cache && cache[0] == '/')
		n = snprintf(path, size, "%s/tenon/cuda", cache);
	else if (home && home[0] == '/')
		n = snprintf(path, size, "%s/.cache/tenon/cuda", home);
	return n > 0 && (size_t)n < size;
}

int cuda_cache_open(const struct tn_host *host)
{
	char path[4096];
	struct stat about;
	if (!name_folder(host, path, sizeof(path)))
		return -1;
	/* The folder and those above it. */
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	(void)mkdir(path, 0700);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0) {
		tn_plugin_log(host, "cuda", TN_LOG_INFO, "kernels are not kept in %s: %s", path,
			      strerror(errno)); /* NOLINT(concurrency-mt-unsafe) */
		return -1;
	}
	if (fstat(folder, &about) || about.st_uid != geteuid() || (about.st_mode & 022)) {
		tn_plugin_log(host, "cuda", TN_LOG_WARNING,
			      "kernels are not kept in %s: another user owns it or may write to it",
			      path);
		(void)close(folder);
		return -1;
	}
	cuda_cache_trim(host, folder);
	return folder;
}

void cuda_cache_close(int folder)
{
	if (folder >= 0)
		(void)close(folder);
}

static void name_file(const uint64_t hash[2], char name[48])
{
	snprintf(name, 48, "%016llx%016llx.bin", (unsigned long long)hash[0],
		 (unsigned long long)hash[1]);
}

/* ---- Reading ---------------------------------------------------------------------------------*/

/* Reads all `size` bytes; 0: the file has fewer. */
static int read_all(int file, char *to, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = read(file, to + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

/* Checks for a regular file of the user's; gives its size. */
static int is_own(int file, size_t *size)
{
	struct stat about;
	if (fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
	    (about.st_mode & 022) || about.st_size < (off_t)sizeof(struct header) ||
	    (uint64_t)about.st_size > MAX_FILE)
		return 0;
	*size = (size_t)about.st_size;
	return 1;
}

static int is_key(const struct header *header, size_t size, const struct tn_plugin_text *key,
		  const uint64_t hash[2])
{
	size_t rest = size - sizeof(*header);
	return !memcmp(header->magic, magic, sizeof(magic)) &&
	       !memcmp(header->key_hash, hash, sizeof(header->key_hash)) &&
	       header->key_length == key->length && header->key_length <= rest &&
	       header->binary_length == rest - header->key_length && header->binary_length > 0;
}

static int read_file(int file, const struct tn_plugin_text *key, const uint64_t hash[2],
		     struct tn_plugin_text *binary)
{
	struct header header;
	uint64_t sum[2];
	size_t size;
	if (!is_own(file, &size) || !read_all(file, (char *)&header, sizeof(header)) ||
	    !is_key(&header, size, key, hash))
		return 0;
	tn_plugin_text_clear(binary);
	char *to = tn_plugin_text_reserve(binary, size);
	if (!to || !read_all(file, to, key->length) || memcmp(to, key->data, key->length) != 0 ||
	    !read_all(file, to, header.binary_length))
		return 0;
	cuda_hash(to, header.binary_length, sum);
	if (memcmp(sum, header.binary_hash, sizeof(sum)) != 0)
		return 0;
	to[header.binary_length] = 0;
	binary->length = header.binary_length;
	return 1;
}

int cuda_cache_read(int folder, const struct tn_plugin_text *key, struct tn_plugin_text *binary)
{
	uint64_t hash[2];
	char name[48];
	if (folder < 0)
		return 0;
	cuda_hash(key->data, key->length, hash);
	name_file(hash, name);
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return 0;
	int found = read_file(file, key, hash, binary);
	if (found)
		(void)futimens(file, NULL); /* the time of its last use */
	(void)close(file);
	return found;
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static int write_all(int file, const void *from, size_t size)
{
	const char *bytes = from;
	while (size) {
		ssize_t n = write(file, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		bytes += n;
		size -= (size_t)n;
	}
	return 1;
}

void cuda_cache_write(const struct tn_host *host, int folder, const struct tn_plugin_text *key,
		      const struct tn_plugin_text *binary)
{
	struct header header = {.key_length = key->length, .binary_length = binary->length};
	char name[48], temporary[80];
	if (folder < 0)
		return;
	memcpy(header.magic, magic, sizeof(magic));
	cuda_hash(key->data, key->length, header.key_hash);
	cuda_hash(binary->data, binary->length, header.binary_hash);
	name_file(header.key_hash, name);
	/* The address distinguishes devices of one process. */
	snprintf(temporary, sizeof(temporary), ".%s.%ld.%llx", name, (long)getpid(),
		 (unsigned long long)(uintptr_t)key);
	int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0600);
	int whole = file >= 0 && write_all(file, &header, sizeof(header)) &&
		    write_all(file, key->data, key->length) &&
		    write_all(file, binary->data, binary->length);
	if (file >= 0 && close(file))
		whole = 0;
	if (whole && !renameat(folder, temporary, folder, name))
		return;
	tn_plugin_log(host, "cuda", TN_LOG_INFO, "cannot store a compiled kernel");
	if (file >= 0)
		(void)unlinkat(folder, temporary, 0);
}
