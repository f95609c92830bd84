/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls of tenon.linalg/1, which work in place on column-major matrices: the arrays that they
 * overwrite, the call, and what became of each matrix.  All errors are kept.
 *
 *	struct tn_factor f;
 *	if (!tn_factor_begin(&f, "cholesky", a, 0, NULL)) {
 *		tn_array *l = tn_factor_copy(&f, &f.args.a, a);
 *		status = tn_factor_run(&f, TN_SLOT_CHOLESKY, "it is not positive definite");
 *
 * The arrays belong to the innermost scope; recording is suspended.
 */
#ifndef TN_LINALG_FACTOR_H
#define TN_LINALG_FACTOR_H

#include "array/array.h"
#include "autograd/node.h"
#include "loader/slots.h"

struct tn_factor {
	struct tn_runtime *runtime;
	const char *operation;
	struct tn_device *device;
	int rank; /* of the batch, and its shape and size */
	int64_t shape[TN_MAX_RANK];
	int64_t batch;
	struct tn_linalg_args args;
	tn_array *info;
};

/* TN_DTYPE: f16 or bf16. */
tn_status tn_matrix_check_dtype(const char *operation, const char *name, const tn_array *a);
/* Is a an array of matrices?  TN_SHAPE. */
tn_status tn_matrix_check_shape(const char *operation, const char *name, const tn_array *a,
				int is_square);
/* Is a an array of matrices, of another dtype than these?  TN_SHAPE, TN_DTYPE. */
tn_status tn_matrix_check(const char *operation, const char *name, const tn_array *a,
			  int is_square);
/* Is it one of enum tn_matrix_norm?  TN_INVALID_ARGUMENT. */
tn_status tn_matrix_check_order(const char *operation, const tn_array *a, uint32_t order);
/* The dtype in which one or two arrays are factored: integers count as f64.  b may be NULL. */
tn_dtype tn_matrix_dtype(const tn_array *a, const tn_array *b);
/* The array in that dtype, recorded: itself, or a copy. */
const tn_array *tn_matrix_of(const tn_array *a, tn_dtype dtype);

/* A batch of the shape of a's leading axes, broadcast with b's (NULL: a's alone).  TN_SHAPE. */
tn_status tn_factor_begin(struct tn_factor *f, const char *operation, const tn_array *a,
			  const tn_array *b);
/* New column-major matrices of the batch, and the operand for them; with `a`, which broadcasts, its
 * elements. */
tn_array *tn_factor_matrix(struct tn_factor *f, struct tn_operand *operand, tn_dtype dtype,
			   int64_t rows, int64_t columns);
tn_array *tn_factor_copy(struct tn_factor *f, struct tn_operand *operand, const tn_array *a);
/* A new list of n elements for each matrix. */
tn_array *tn_factor_list(struct tn_factor *f, struct tn_operand *operand, tn_dtype dtype,
			 int64_t n);
/* Runs the entry, unless the operand a is empty.  Where `failure` is not NULL, waits for the device
 * and reads what became of each matrix.  TN_SINGULAR: one failed ("a[2]: FAILURE").  TN_NOT_FINITE.
 */
tn_status tn_factor_run(struct tn_factor *f, enum tn_slot slot, const char *failure);

/* Ends the suspension, and records that the outputs have just been made.  Returns the status, or
 * that of recording. */
tn_status tn_factor_record(struct tn_suspension suspension, tn_status status, uint32_t n,
			   tn_array *const *outputs, const struct tn_node_request *request);
/* Refuses an array with a gradient: the operation has none.  TN_STATE. */
tn_status tn_factor_untracked(const char *operation, uint32_t n, const tn_array *const *arrays);

/* Begins a function of n results, and opens its scope: outputs become NULL, and those that have a
 * name must be given. */
tn_status tn_results_begin(const char *operation, uint32_t n_inputs, const tn_array *const *inputs,
			   int n, const char *const *names, tn_array **const *outputs);
/* Ends it: the results become the outputs that are wanted.  Returns the status. */
tn_status tn_results_end(struct tn_runtime *runtime, tn_status status, int n, tn_array **results,
			 tn_array **const *outputs);

/* The identity of the size of a's columns, on its device and in its dtype.  NULL for NULL. */
tn_array *tn_identity_like(const tn_array *a);
/* The conjugate transpose of the last two axes, recorded. */
tn_array *tn_adjoint(const tn_array *a);
/* (a + a^H) / 2 */
tn_array *tn_hermitian_part(const tn_array *a);
/* a diag(d): columns times the elements of d, which is real. */
tn_array *tn_scale_columns(const tn_array *a, const tn_array *d);
/* a + b; NULL stands for 0. */
tn_array *tn_sum_of(tn_array *a, tn_array *b);
/* 1 / text in row i and column j, where text is of from = w[i] and to = w[j]; 0 where i = j. */
tn_array *tn_inverse_gaps(const char *text, const tn_array *w);

#endif
