/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One call of the backend's map.
 */
#ifndef TN_OPS_MAP_CALL_H
#define TN_OPS_MAP_CALL_H

#include <tenon/program.h>

#include "array/array.h"

/* outputs[j] := program(inputs, scalars)[j].  All outputs have one shape, which the inputs
 * broadcast to; an output may be an input.  Everything lives on one device. */
struct tn_map_run {
	uint32_t operation; /* enum tn_operation, or tn_operation_named */
	const struct tn_program *program;
	const tn_array *const *inputs;   /* program->n_inputs */
	tn_array *const *outputs;        /* program->n_outputs */
	const struct tn_scalar *scalars; /* program->n_scalars */
	int are_apart;                   /* the caller knows that no two outputs share an element */
};

/* Runs it, unless an input shares memory with an output and is not the exact same view: then
 * *overlaps, which was 0, has a bit for each such input, and nothing has been done.  NULL: there is
 * none. */
tn_status tn_map_call(struct tn_runtime *runtime, const struct tn_map_run *run, uint32_t *overlaps);

#endif
