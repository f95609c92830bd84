/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rows of the table of operations as functions with options.
 */
#ifndef TN_NUMPY_UFUNC_CALL_H
#define TN_NUMPY_UFUNC_CALL_H

#include <tenon/ufunc_call.h>

#include "array/array.h"
#include "dispatch/operations.h"

static inline enum tn_operation tn_ufunc_operation(const tn_ufunc *ufunc)
{
	return (enum tn_operation)(ufunc - tn_operations);
}

/* The function of arrays, recorded. */
tn_array *tn_ufunc_run(const tn_ufunc *ufunc, const tn_array *const *inputs);
/* The same of two, as a tn_combiner (combine.h) whose user is the function. */
tn_array *tn_ufunc_combine(const void *user, const tn_array *x, const tn_array *y);

/* The dtype in which it computes inputs of these dtypes; 0: it does not take them. */
tn_dtype tn_ufunc_loop(const tn_ufunc *ufunc, int n, const tn_dtype *dtypes);

/* tn_begin for a method, "reduce", of the ufunc, which must not be NULL either. */
struct tn_runtime *tn_ufunc_begin(const char *method, const tn_ufunc *ufunc, int n,
				  const tn_array *const *arrays);

/* The options of a call whose arrays are given; zeroed where options is NULL.  Checks casting, and
 * that `where` is bool.  Errors are kept. */
tn_status tn_ufunc_take(struct tn_runtime *runtime, const char *operation,
			const struct tn_ufunc_options *options, struct tn_ufunc_options *own);
/* Writes a result into options->out, converted, where `where` is true (NULL: everywhere).  Errors
 * are kept. */
tn_status tn_ufunc_store(const char *operation, const struct tn_ufunc_options *options,
			 const tn_array *where, tn_array *result);

/* `array` in that dtype: itself, or converted. */
tn_array *tn_ufunc_cast(const tn_array *array, tn_dtype dtype);

#endif
