/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a plugin file says about itself, read without opening it as a library.
 */
#ifndef TN_LOADER_ELF_H
#define TN_LOADER_ELF_H

#include <tenon/backend.h>

/* Finds Tenon's note in the ELF shared object behind `fd`.  Reads are bounded and by offset; nothing
 * in the file is trusted.  TN_BAD_PLUGIN: not an ELF file, truncated, of another class, byte order
 * or machine, not a shared object, or without a (whole, well-formed) note; the text says which. */
tn_status tn_elf_read_note(int fd, struct tn_backend_note *note, struct tn_error_info *error);

#endif
