/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backends on which the cases of shared arrays and networks run, in contexts of one process:
 * those without a GPU, and the one that TENON_TEST_BACKEND names, of a project of its own.
 */
#ifndef TN_TESTS_SHARE_BACKENDS_H
#define TN_TESTS_SHARE_BACKENDS_H

#include "nn_backends.h"
#include "share_cases.h"

/* Their names, up to NULL. */
static inline const char *const *share_names(void)
{
	static const char *const all[] = {"reference", "cpu", "mock", NULL};
	static const char *named[2];
	named[0] = getenv("TENON_TEST_BACKEND");
	return named[0] ? named : all;
}

static inline void share_on_each(void (*run)(const struct share_backend *backend))
{
	for (const char *const *name = share_names(); *name; name++)
		run(&(struct share_backend){*name, open_backend, tn_context_close});
}

#endif
