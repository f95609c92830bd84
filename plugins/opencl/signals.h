/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Signal handlers, which belong to the program: drivers (PoCL, and its compiler) install their own
 * when they are asked for devices or build a kernel.  The previous handlers are restored.
 */
#ifndef OPENCL_SIGNALS_H
#define OPENCL_SIGNALS_H

#include <signal.h>

struct opencl_signals {
	struct sigaction before[NSIG];
};

void opencl_signals_save(struct opencl_signals *signals);
void opencl_signals_restore(const struct opencl_signals *signals);

#endif
