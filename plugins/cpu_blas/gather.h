/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Entries of tenon.copy/1 that select rows by indices.
 */
#ifndef CPU_GATHER_H
#define CPU_GATHER_H

#include "plugin.h"

tn_status cpu_gather(void *device, const struct tn_gather_args *args);
tn_status cpu_scatter_add(void *device, const struct tn_gather_args *args);

#endif
