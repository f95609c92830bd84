/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads a plugin file in bounded pieces, without loading it as a library, and finds Tenon's note.
 */
#ifndef TN_LOADER_ELF_H
#define TN_LOADER_ELF_H

#include <elf.h>
#include <tenon/backend.h>

#include "loader/kind.h"

/* Finds Tenon's note in the ELF shared object behind `fd`.  Reads are bounded and by offset;
 * nothing in the file is trusted.  TN_BAD_PLUGIN: not an ELF file, truncated, of another class,
 * byte order or machine, not a shared object, or without a complete, well-formed note of that kind;
 * the text has the reason. */
tn_status tn_elf_read_note(int fd, const struct tn_plugin_kind *kind, struct tn_backend_note *note,
			   struct tn_error_info *error);

struct tn_elf_file {
	int fd;
	uint64_t size;
	struct tn_error_info *error;
	Elf64_Ehdr header;
};

/* Reads and checks the header: a shared object of this class, byte order and machine. */
tn_status tn_elf_open(struct tn_elf_file *file, int fd, struct tn_error_info *error);

/* Reads [offset, offset + size), which must lie within the file. */
tn_status tn_elf_read(const struct tn_elf_file *file, uint64_t offset, void *data, size_t size,
		      const char *what);

/* Program header i of header.e_phnum. */
tn_status tn_elf_segment(const struct tn_elf_file *file, unsigned i, Elf64_Phdr *segment);

#endif
