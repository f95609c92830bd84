/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checks that map and reduce share, by the rules of <tenon/backend.h>.
 */
#ifndef TN_INTERPRET_CHECK_H
#define TN_INTERPRET_CHECK_H

#include <tenon/backend.h>

/* Copies arguments of any accepted size into *own (zero where theirs end). */
tn_status tn_check_call(const void *theirs, void *own, size_t own_size, const char *operation);
/* A plugin's table at this version's size: theirs, or their shorter one extended in *own. */
const struct tn_block_kernels *tn_check_kernels(const struct tn_block_kernels *theirs,
						struct tn_block_kernels *own);
/* Checks that counts are within limits and that arrays are not NULL. */
tn_status tn_check_program(const struct tn_program *program, const struct tn_call *call,
			   const char *operation);
/* Checks the dtype, the alignment of the address, the rank, and that the elements can be
 * counted. */
tn_status tn_check_operand(const struct tn_operand *operand, const char *role, unsigned number,
			   int is_output, const struct tn_call *call, const char *operation);
/* Checks that the first `rank` lengths of both are equal. */
tn_status tn_check_shape(const struct tn_operand *operand, const struct tn_operand *model,
			 unsigned rank, const char *role, unsigned number,
			 const struct tn_call *call, const char *operation);
tn_status tn_check_scalars(const struct tn_scalar *scalars, uint32_t n, const struct tn_call *call,
			   const char *operation);

#endif
