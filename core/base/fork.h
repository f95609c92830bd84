/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The library's only process-wide object: the number of forks between the process that loaded the
 * library and this one.
 */
#ifndef TN_BASE_FORK_H
#define TN_BASE_FORK_H

#include <stdint.h>

/* 0 in the process that loaded the library, one more in each forked child.  Costs one load. */
uint64_t tn_fork_generation(void);

#endif
