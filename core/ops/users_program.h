/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A user's text over arrays and numbers, which tn_map and its relatives are given.
 */
#ifndef TN_OPS_USERS_PROGRAM_H
#define TN_OPS_USERS_PROGRAM_H

#include <tenon/map.h>
#include <tenon/program.h>

#include "array/array.h"

struct tn_users_text {
	const char *operation; /* for errors: a string that is never freed */
	uint32_t number;       /* TN_DO_MAP, or tn_operation_named */
	const char *argument;  /* what the operation calls the text */
	const char *text;
	int n_inputs;
	const char *const *names;
	const tn_array *const *inputs;
	int n_scalars;
	const char *const *scalar_names;
	const tn_number *scalars;
	int n_outputs; /* 0: one, the name assigned last */
	const char *const *output_names;
	const tn_dtype *output_dtypes; /* NULL, and 0 for one of them: as inferred */
};

struct tn_users_program {
	const struct tn_program *program;
	struct tn_program *temporary; /* NULL: the cache has the program */
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	tn_dtype results[TN_PROGRAM_MAX_OUTPUTS]; /* in the language, u64 too */
};

/* The runtime of the inputs, 1 to TN_PROGRAM_MAX_INPUTS of them, or NULL: there are none, one is
 * NULL, or the error is kept. */
struct tn_runtime *tn_users_begin(const char *operation, int n_inputs,
				  const tn_array *const *inputs);

/* The rest fills runtime->report on failure. */

/* Checks and parses the text; the program is to be released. */
tn_status tn_users_parse(struct tn_runtime *runtime, const struct tn_users_text *text,
			 struct tn_users_program *program);
void tn_users_release(struct tn_runtime *runtime, struct tn_users_program *program);

/* The dtype of an array of such values.  Where all inputs have one narrow dtype, and the value has
 * the dtype in which that is computed, it is the narrow one; else the value's. */
tn_dtype tn_users_dtype(tn_dtype result, int n, const tn_array *const *inputs);

/* Makes the outputs, of these dtypes and of the inputs' broadcast shape; recorded, but for those
 * that have no derivative.  On failure there are none. */
tn_status tn_users_run(struct tn_runtime *runtime, const struct tn_users_text *text,
		       const struct tn_users_program *program, const tn_dtype *dtypes,
		       tn_array **outputs);

#endif
