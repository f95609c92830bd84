/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The modes that measure or ask, and decide nothing: perf.c and support.c.  What they do runs in a
 * child, as checks do, and comes back in lines.
 */
#ifndef TN_TOOLS_CONFORM_MODES_H
#define TN_TOOLS_CONFORM_MODES_H

#include "context.h"
#include "frame.h"

/* Runs one function in a child with a backend's device open, and keeps what it said by kit_remark.
 * Returns the exit status, after a message on stderr when it did not come to its end. */
int mode_run(struct run *run, const struct options *options, const struct check *what);
void mode_end(struct run *run);

/* The worst of the ways that operations went since the ledger was reset. */
enum route mode_route(tn_context *context);

int mode_perf(const struct options *options);
int mode_support(const struct options *options);

#endif
