/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any bytes as a plugin file that is inspected before it is opened.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/elf.h"
#include "loader/elf_dynamic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_name(void *user, enum tn_elf_name kind, const char *name)
{
	size_t *bytes = user;
	*bytes += (size_t)kind + strlen(name);
}

/* The parts that the conformance kit reads, besides the note. */
static void read_dynamic(int fd)
{
	struct tn_elf_dynamic dynamic;
	struct tn_error_info error;
	size_t bytes = 0;
	memset(&error, 0, sizeof(error));
	if (tn_elf_read_dynamic(fd, &dynamic, take_name, &bytes, &error) && !error.text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_backend_note note;
	struct tn_error_info error;
	int fd = memfd_create("plugin", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	memset(&error, 0, sizeof(error));
	tn_status status = tn_elf_read_note(fd, &tn_backend_kind, &note, &error);
	read_dynamic(fd);
	close(fd);
	if (status ? !error.text[0] : note.magic != TN_BACKEND_MAGIC)
		abort();
	return 0;
}
