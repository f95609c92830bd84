/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dynamic section of a plugin file, for the checks of the conformance kit.
 */
#ifndef TN_LOADER_ELF_DYNAMIC_H
#define TN_LOADER_ELF_DYNAMIC_H

#include <tenon/backend.h>

/* Properties of the file that its dynamic section states. */
struct tn_elf_dynamic {
	int executable_stack; /* requested, or not stated */
	int writable_code;    /* a segment is both writable and executable */
	int text_relocations;
	int static_tls;                         /* initial-exec TLS: dlopen may lack space for it */
	int stays;                              /* DF_1_NODELETE */
	uint64_t n_constructors, n_destructors; /* entries of the arrays */
};

enum tn_elf_name {
	TN_ELF_NEEDED,    /* a library */
	TN_ELF_EXPORTED,  /* a defined, visible symbol */
	TN_ELF_UNDEFINED, /* an undefined symbol */
	TN_ELF_WEAK,      /* an undefined weak symbol */
};

/* Reads the file as tn_elf_read_note does, and calls `name` for every name, borrowed for the call.
 * TN_BAD_PLUGIN: malformed. */
tn_status tn_elf_read_dynamic(int fd, struct tn_elf_dynamic *dynamic,
			      void (*name)(void *user, enum tn_elf_name kind, const char *name),
			      void *user, struct tn_error_info *error);

#endif
