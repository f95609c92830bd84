/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What every reader of files is tested with: malformed bytes, a good file cut off at each length,
 * and one with each of its bytes damaged.  (data_memory.c makes each of their allocations fail.)
 */
#ifndef TN_TESTS_IO_SPOIL_H
#define TN_TESTS_IO_SPOIL_H

#include <fcntl.h>
#include <sys/mman.h>

#include <tenon/io.h>

#include "base/error.h"
#include "test_folder.h"

/* Reads the file and releases what it has.  On failure the outputs must be as before. */
typedef tn_status spoil_reader(const char *path, struct tn_error_info *error);

/* A row of malformed files. */
struct spoil_case {
	const char *bytes;
	size_t size;
	tn_status status;
	const char *part; /* of the error's text */
};

/* The reader returns that status; the text names the file and contains `part`. */
static inline void spoil_refused(spoil_reader *read, const char *path, tn_status expected,
				 const char *part)
{
	struct tn_error_info error;
	tn_error_reset(&error);
	assert_status(read(path, &error), expected);
	assert_int_equal(error.status, expected);
	assert_contains(error.text, strrchr(path, '/') + 1);
	assert_contains(error.text, part);
}

static inline void spoil_malformed(spoil_reader *read, const char *name,
				   const struct spoil_case *cases, size_t n)
{
	const char *path = files_path(folder, name);
	for (size_t i = 0; i < n; i++) {
		files_write(path, cases[i].bytes, cases[i].size);
		spoil_refused(read, path, cases[i].status, cases[i].part);
	}
}

static inline tn_status spoil_read_array(tn_status (*read)(const char *path,
							   struct tn_host_array *array,
							   struct tn_error_info *error),
					 const char *path, struct tn_error_info *error)
{
	struct tn_host_array array = {.rank = 77};
	tn_status status = read(path, &array, error);
	if (status)
		assert_int_equal(array.rank, 77);
	else
		tn_host_array_release(&array);
	return status;
}

/* The reader of images. */
static inline tn_status spoil_read_image(const char *path, struct tn_error_info *error)
{
	struct tn_image image = {.width = 77};
	tn_status status = tn_image_read(path, &image, error);
	if (status)
		assert_int_equal(image.width, 77);
	else
		tn_image_release(&image);
	return status;
}

/* ---- A file that is changed often -------------------------------------------------------------*/

struct spoil {
	char path[128];
	int fd;
};

/* FOLDER/NAME is a link to a file in memory, or a file where the system has none.  Disks may be
 * slow with thousands of changes. */
static inline void spoil_begin(struct spoil *s, const char *name, const void *bytes, size_t size)
{
	char link[64];
	snprintf(s->path, sizeof(s->path), "%s/%s", folder, name);
	s->fd = memfd_create(name, MFD_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->fd);
	if (s->fd < 0 || symlink(link, s->path))
		s->fd = open(s->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(s->fd >= 0);
	assert_int_equal(pwrite(s->fd, bytes, size, 0), size);
}

static inline void spoil_end(struct spoil *s)
{
	close(s->fd);
	assert_int_equal(unlink(s->path), 0);
}

/* Cut off at each length from `least` to below `most`, the file is refused. */
static inline void spoil_truncations(spoil_reader *read, const char *name, const void *bytes,
				     size_t least, size_t most, const char *part)
{
	struct spoil s;
	spoil_begin(&s, name, bytes, most);
	for (size_t n = most; n-- > least;) {
		assert_int_equal(ftruncate(s.fd, (off_t)n), 0);
		spoil_refused(read, s.path, TN_FORMAT, part);
	}
	spoil_end(&s);
}

/* With each byte from `first` on changed by `mask`, the file is refused by name or read; returns
 * the number of those refused.  What is read the reader may check. */
static inline size_t spoil_bytes(spoil_reader *read, const char *name, const unsigned char *bytes,
				 size_t first, size_t size, unsigned char mask)
{
	struct spoil s;
	size_t n_refused = 0;
	spoil_begin(&s, name, bytes, size);
	for (size_t i = first; i < size; i++) {
		const unsigned char wrong = bytes[i] ^ mask;
		struct tn_error_info error;
		tn_error_reset(&error);
		assert_int_equal(pwrite(s.fd, &wrong, 1, (off_t)i), 1);
		if (read(s.path, &error)) {
			assert_contains(error.text, name);
			n_refused++;
		}
		assert_int_equal(pwrite(s.fd, &bytes[i], 1, (off_t)i), 1);
	}
	spoil_end(&s);
	return n_refused;
}

#endif
