/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of the program that the sweep of faults runs.
 */
#ifndef TN_TESTS_SIMCUDA_SWEEP_STEPS_H
#define TN_TESTS_SIMCUDA_SWEEP_STEPS_H

#include <tenon/tenon.h>

enum { MAX_STEPS = 16 };

/* Each starts from host memory and returns *n numbers; the context keeps its error. */
struct sweep_step {
	const char *name;
	void (*run)(tn_context *context, float *results, size_t *n);
};

const struct sweep_step *sweep_step(const char *name);
const struct sweep_step *sweep_step_at(size_t index); /* NULL past the end */

#endif
