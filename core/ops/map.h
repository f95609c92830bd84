/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs element programs and reductions over arrays.  This is what compositions, gradients and
 * optimizers are made of; nothing here is recorded, and errors are left in runtime->report.
 */
#ifndef TN_OPS_MAP_H
#define TN_OPS_MAP_H

#include <tenon/program.h>

#include "array/array.h"
#include "dispatch/operations.h"
#include "dispatch/programs.h"

/* outputs[j] := program(inputs, scalars)[j].  All outputs have one shape, which the inputs broadcast
 * to; an output may be an input.  Everything lives on one device. */
struct tn_map_run {
	uint32_t operation; /* enum tn_operation, or tn_operation_named */
	const struct tn_program *program;
	const tn_array *const *inputs;   /* program->n_inputs */
	tn_array *const *outputs;        /* program->n_outputs */
	const struct tn_scalar *scalars; /* program->n_scalars */
	int are_apart;                   /* the caller knows that no two outputs share an element */
};
tn_status tn_map_run(struct tn_runtime *runtime, const struct tn_map_run *run);

/* outputs[j] := epilogue(accumulators, epilogue_inputs)[j] over the axes of the bit set `axes`.  The
 * inputs broadcast to {rank, shape}; outputs and epilogue inputs have the kept axes alone, the reduced
 * ones left out or of length 1.  No reduced axis is empty. */
struct tn_reduce_run {
	uint32_t operation;
	const struct tn_program *prologue;
	const struct tn_program *epilogue;        /* may be NULL */
	const tn_array *const *inputs;            /* prologue->n_inputs */
	const tn_array *const *epilogue_inputs;   /* epilogue->n_inputs - n_values */
	tn_array *const *outputs;                 /* epilogue ? epilogue->n_outputs : n_values */
	const struct tn_scalar *scalars;          /* prologue->n_scalars */
	const struct tn_scalar *epilogue_scalars; /* epilogue->n_scalars */
	int rank;
	const int64_t *shape;
	uint32_t axes; /* bit i: axis i is reduced */
	uint32_t n_values;
	uint32_t combiners[4];
};
tn_status tn_reduce_run(struct tn_runtime *runtime, const struct tn_reduce_run *run);

/* C := activation(alpha op(A) op(B) + beta C + bias) for arrays of rank 2 and more; op transposes the last
 * two axes.  Batch axes of A and B broadcast to those of C; the bias, which may be NULL, has as many
 * elements as C's last axis. */
struct tn_matmul_run {
	uint32_t operation;
	tn_array *c;
	const tn_array *a;
	const tn_array *b;
	int transpose_a;
	int transpose_b;
	double alpha;
	double beta;
	const tn_array *bias;
	uint32_t activation; /* TN_ACTIVATION_... */
};
tn_status tn_matmul_run(struct tn_runtime *runtime, const struct tn_matmul_run *run);

/* A value as the scalar of that dtype. */
struct tn_scalar tn_scalar_of(tn_dtype dtype, double value);
/* The scalars of a program from doubles, each in the dtype in which the program reads it. */
void tn_scalars_of(const struct tn_program *program, const double *values,
		   struct tn_scalar *scalars);

/* The element type of an output of `program` over inputs of those dtypes: that of the value, or the
 * inputs' own narrow type when they all have the same one. */
tn_dtype tn_result_dtype(const struct tn_program *program, uint32_t output, uint32_t n,
			 const tn_dtype *dtypes);

/* out[...] = a, broadcast and converted; counted as `operation`. */
tn_status tn_copy_run(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
		      const tn_array *a);
tn_status tn_fill_run(struct tn_runtime *runtime, uint32_t operation, tn_array *out, double value);

/* Copies `a` into `out`, which the caller has just made (NULL: the report says why not), converted and
 * recorded.  Returns out, or NULL with the error kept. */
tn_array *tn_array_copied(const tn_array *a, tn_array *out, const char *operation);

/* A compact copy of `a` in the innermost scope, or NULL with runtime->report filled. */
tn_array *tn_array_compact(struct tn_runtime *runtime, const tn_array *a);

/* A composition's text on these arrays. */
tn_status tn_short_map(struct tn_runtime *runtime, uint32_t operation,
		       const struct tn_short_program *text, const tn_array *const *inputs,
		       tn_array *const *outputs, const double *scalars);

/* The same, where the caller knows that no two outputs share an element, though they may interleave. */
tn_status tn_short_map_apart(struct tn_runtime *runtime, uint32_t operation,
			     const struct tn_short_program *text, const tn_array *const *inputs,
			     tn_array *const *outputs, const double *scalars);

/* A composition's reduction of the shape of inputs[0]: a value for each output of the prologue.  The
 * epilogue's first inputs are the accumulators. */
struct tn_short_reduction {
	const struct tn_short_program *prologue;
	const struct tn_short_program *epilogue; /* may be NULL */
	const tn_array *const *inputs;
	const tn_array *const *epilogue_inputs;
	tn_array *const *outputs;
	const double *scalars;
	const double *epilogue_scalars;
	uint32_t axes;
	uint32_t combiners[4];
};
tn_status tn_short_reduce(struct tn_runtime *runtime, uint32_t operation,
			  const struct tn_short_reduction *reduction);

#endif
