/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The project that `tenon plugin new` writes.  Its files are templates in tools/scaffold/, which
 * tools/scaffold/embed compiles into the command.  They are valid C11 and C++11; the marks in them
 * and in their paths (@NAME@, @UUID@, @SUFFIX@, ...) are replaced.
 */
#ifndef TENON_TOOLS_SCAFFOLD_H
#define TENON_TOOLS_SCAFFOLD_H

#include <stddef.h>

struct scaffold_file {
	const char *path;         /* in the project, may contain marks; NULL ends the list */
	const char *const *lines; /* up to a NULL */
};

extern const struct scaffold_file scaffold_files[];

/* Writes the project for the backend `name`, in C++ if `cxx`, into `folder`, which is created if it
 * does not exist and must otherwise be empty.  Writes all files or none.  Prints a failure and
 * returns its exit code. */
int scaffold_write(const char *folder, const char *name, int cxx);

#endif
