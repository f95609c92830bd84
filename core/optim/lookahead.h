/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The slow weights of an optimizer.
 */
#ifndef TN_OPTIM_LOOKAHEAD_H
#define TN_OPTIM_LOOKAHEAD_H

#include "optim/optimizer.h"

/* Counts a step, and synchronises the weights after every k-th.  Does nothing without Lookahead.
 * Errors are kept. */
tn_status tn_lookahead_step(tn_optimizer *optimizer);

#endif
