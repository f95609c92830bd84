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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_backend_note note;
	struct tn_error_info error;
	int fd = memfd_create("plugin", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	memset(&error, 0, sizeof(error));
	tn_status status = tn_elf_read_note(fd, &note, &error);
	close(fd);
	if (status ? !error.text[0] : note.magic != TN_BACKEND_MAGIC)
		abort();
	return 0;
}
