/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient programs of a context's element programs, each made once.
 */
#ifndef TN_AUTOGRAD_DERIVATIVES_H
#define TN_AUTOGRAD_DERIVATIVES_H

#include <tenon/program.h>

#include "array/runtime.h"

/* The program that gives the gradients of the inputs whose bits are set in `wanted` (at most
 * TN_PROGRAM_MAX_OUTPUTS), in ascending order.  `program` lives as long as the context, and so does
 * the result, which is borrowed.  NULL: the error is kept. */
const struct tn_program *tn_derivative_of(struct tn_runtime *runtime, const char *operation,
					  const struct tn_program *program, uint32_t wanted);

/* From now on the gradient of input i alone is `text`, a program over the inputs, the output's
 * gradient dz and the scalars: shorter, or of other values at kinks, than what differentiation
 * gives.  The names of inputs and scalars are words, as in a formula. */
tn_status tn_derivative_state(struct tn_runtime *runtime, const struct tn_program *program,
			      uint32_t i, const char *text, const char *inputs, const char *scalars,
			      struct tn_error_info *error);

/* The inputs that this gradient program reads, a bit each (bit n_inputs: the output's gradient).
 * All bits where there is none: tn_derivative_of then reports why. */
uint32_t tn_derivative_reads(struct tn_runtime *runtime, const struct tn_program *program,
			     uint32_t wanted);

#endif
