/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A generator of random numbers: where the next stream comes from.  Every runtime has a default
 * one; others are counted, since captured work goes on with a generator that its owner destroyed.
 */
#ifndef TN_ARRAY_GENERATOR_H
#define TN_ARRAY_GENERATOR_H

#include <stdint.h>

#include <tenon/context.h>

struct tn_runtime;

struct tn_generator {
	struct tn_runtime *runtime;
	struct tn_random_state *state; /* `own`, or of the default one the runtime's */
	struct tn_random_state own;
	int has_ended;       /* for the program; captured work may still draw from it */
	uint32_t references; /* 0: the default one, which is part of its runtime */
};

/* Takes a reference, and releases one; neither does anything to a default generator. */
void tn_generator_hold(struct tn_generator *generator);
void tn_generator_release(struct tn_generator *generator);

#endif
