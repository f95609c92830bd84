/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The number of forks between the process that loaded the library and this one.  The library has
 * few process-wide objects, and each survives a fork in the midst of another thread's change:
 *
 *	this number                          one store, in the child alone
 *	instances, loader/instance.c         begin empty, with a lock of their own
 *	registered backends, registered.c    have no lock
 *	the quarantine, base/quarantine.c    its lock is held during a fork
 *	tables that are filled once, data/   pthread_once, which begins again in the child
 *
 * Locks of objects (contexts, devices, threads) are the parent's, as the objects are.
 */
#ifndef TN_BASE_FORK_H
#define TN_BASE_FORK_H

#include <stdint.h>

/* 0 in the process that loaded the library, one more in each forked child.  Costs one load. */
uint64_t tn_fork_generation(void);

#endif
