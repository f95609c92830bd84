/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * All functions of the library with one line each, made from the manual pages (functions.awk).
 */
#ifndef TENON_TOOLS_FUNCTION_TABLE_H
#define TENON_TOOLS_FUNCTION_TABLE_H

#include <stddef.h>

struct function_row {
	const char *name;      /* "tn_add" */
	const char *page;      /* "tn_array(3)" */
	const char *header;    /* "tenon/array.h" */
	const char *prototype; /* on one line */
	const char *text;      /* "a + b" */
};
extern const struct function_row function_table[];
extern const size_t n_functions;

/* What a function of another library is called here, as tenon-numpy(7) says. */
struct other_name {
	const char *name;   /* "numpy.vstack" */
	const char *answer; /* "tn_concatenate along axis 0" */
};
extern const struct other_name other_names[];
extern const size_t n_other_names;

#endif
