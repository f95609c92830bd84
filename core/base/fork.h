/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The number of forks between the process that loaded the library and this one.  It and the list of
 * shared instances (loader/instance.c) are the library's only process-wide objects.
 */
#ifndef TN_BASE_FORK_H
#define TN_BASE_FORK_H

#include <stdint.h>

/* 0 in the process that loaded the library, one more in each forked child.  Costs one load. */
uint64_t tn_fork_generation(void);

#endif
