/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An ELF file that is read by bounded pieces: what elf.c and elf_dynamic.c share.
 */
#ifndef TN_LOADER_ELF_FILE_H
#define TN_LOADER_ELF_FILE_H

#include <elf.h>

#include "loader/elf.h"

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
