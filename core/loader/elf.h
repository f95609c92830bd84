/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a plugin file says about itself, read without opening it as a library.
 */
#ifndef TN_LOADER_ELF_H
#define TN_LOADER_ELF_H

#include <tenon/backend.h>

/* Finds Tenon's note in the ELF shared object behind `fd`.  Reads are bounded and by offset;
 * nothing in the file is trusted.  TN_BAD_PLUGIN: not an ELF file, truncated, of another class,
 * byte order or machine, not a shared object, or without a (whole, well-formed) note; the text says
 * which. */
tn_status tn_elf_read_note(int fd, struct tn_backend_note *note, struct tn_error_info *error);

/* What the dynamic section says of the file beyond its note: the conformance kit looks at it. */
struct tn_elf_dynamic {
	int executable_stack; /* asked for, or nothing is said */
	int writable_code;    /* a segment is both writable and executable */
	int text_relocations;
	int static_tls; /* initial-exec thread-local variables: may not fit where it is loaded */
	int stays;      /* DF_1_NODELETE */
	uint64_t n_constructors, n_destructors; /* entries of the arrays */
};

enum tn_elf_name {
	TN_ELF_NEEDED,    /* a library */
	TN_ELF_EXPORTED,  /* a symbol that others see */
	TN_ELF_UNDEFINED, /* a symbol that others must have */
	TN_ELF_WEAK,      /* one that others may have */
};

/* Reads it as tn_elf_read_note does, and calls `name` for every name; they are borrowed for the
 * call.
 * TN_BAD_PLUGIN: malformed. */
tn_status tn_elf_read_dynamic(int fd, struct tn_elf_dynamic *dynamic,
			      void (*name)(void *user, enum tn_elf_name kind, const char *name),
			      void *user, struct tn_error_info *error);

#endif
