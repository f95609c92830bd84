/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The modes that only measure or query: perf.c and support.c.  They run in a child, like checks,
 * and return lines.
 */
#ifndef TN_TOOLS_CONFORM_MODES_H
#define TN_TOOLS_CONFORM_MODES_H

#include "context.h"
#include "frame.h"

/* Runs one function in a child with a backend's device open, and keeps its kit_remark lines.
 * Returns the exit status, after a message on stderr if it did not finish. */
int mode_run(struct run *run, const struct options *options, const struct check *what);
void mode_end(struct run *run);

/* The worst route taken by operations since the ledger was reset. */
enum route mode_route(tn_context *context);

int mode_perf(const struct options *options);
int mode_support(const struct options *options);

#endif
