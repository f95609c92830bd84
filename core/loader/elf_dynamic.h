/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the dynamic section of a plugin file says beyond its note: the conformance kit looks at it.
 */
#ifndef TN_LOADER_ELF_DYNAMIC_H
#define TN_LOADER_ELF_DYNAMIC_H

#include <tenon/backend.h>

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
