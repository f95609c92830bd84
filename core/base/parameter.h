/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The only access to environment variables.  A privileged process (setuid and the like) ignores
 * every variable and records that it was set.  Each read declares its help text; `tenon info --env`
 * prints the list of declarations.
 */
#ifndef TN_BASE_PARAMETER_H
#define TN_BASE_PARAMETER_H

#include <pthread.h>
#include <stddef.h>

struct tn_parameter {
	char *name;
	char *help;
	char *value; /* NULL: not set, or ignored */
	int ignored; /* set, and ignored because the process is privileged */
};

struct tn_parameters {
	struct tn_parameter *list;
	size_t n;
	int privileged; /* -1: ask the system; tests set 0 or 1 */
	int failed;     /* a read ran out of memory and returned NULL */
	pthread_mutex_t mutex;
};

void tn_parameters_init(struct tn_parameters *parameters);
void tn_parameters_release(struct tn_parameters *parameters);
/* Declares and reads a variable.  The first read fixes the value; later reads return the same.
 * NULL: not set, ignored, or out of memory.  Borrowed, valid until release.  From any thread:
 * plugins read parameters too. */
const char *tn_parameter_read(struct tn_parameters *parameters, const char *name, const char *help);
/* Copies row `index`, in the order of the first reads, and returns 1; 0: no such row.  Its strings
 * are borrowed, valid until release.  From any thread. */
int tn_parameter_at(const struct tn_parameters *parameters, size_t index, struct tn_parameter *row);
/* Is this process privileged (AT_SECURE)? */
int tn_process_privileged(void);
/* The same, or what a test has set. */
int tn_parameters_privileged(const struct tn_parameters *parameters);

#endif
