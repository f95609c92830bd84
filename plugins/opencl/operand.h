/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands: what can be wrong with them, and a nest of loops over several at once.
 */
#ifndef OPENCL_OPERAND_H
#define OPENCL_OPERAND_H

#include "plugin.h"

/* An operand as a kernel sees it; numbers are in elements. */
struct opencl_view {
	cl_mem memory; /* NULL in a dry run */
	int64_t offset;
	int64_t stride[TN_MAX_RANK];
	tn_dtype dtype;
	int kept_only; /* it has the kept axes alone; its other strides are 0 */
};

/* Axes 0 to n_kept - 1 are kept, the rest is reduced. */
struct opencl_nest {
	uint32_t rank, n_kept;
	int64_t length[TN_MAX_RANK];
	uint32_t n_views;
	struct opencl_view view[TN_PROGRAM_MAX_INPUTS * 2 + TN_PROGRAM_MAX_OUTPUTS];
};

enum opencl_role { OPENCL_READS, OPENCL_WRITES };

/* The kinds of numbers, bits; 0: no dtype that is known here. */
enum {
	OPENCL_BOOL = 1u << 0,
	OPENCL_SIGNED = 1u << 1,
	OPENCL_UNSIGNED = 1u << 2,
	OPENCL_FLOATING = 1u << 3,
	OPENCL_COMPLEX = 1u << 4,
	OPENCL_INTEGER = OPENCL_SIGNED | OPENCL_UNSIGNED,
	OPENCL_REAL =
		OPENCL_BOOL | OPENCL_INTEGER | OPENCL_FLOATING, /* what programs read and write */
};
unsigned opencl_kind(tn_dtype dtype);

/* Everything that can be wrong with one operand, by itself.  Its buffer is looked at unless the call is a
 * dry run. */
tn_status opencl_check_operand(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const char *name, unsigned number,
			       const struct tn_operand *operand, enum opencl_role role);
/* TN_SHAPE: the operand has not that rank, or not those lengths. */
tn_status opencl_check_shape(const struct tn_call *call, const char *operation, const char *name,
			     unsigned number, const struct tn_operand *operand, uint32_t rank,
			     const int64_t *shape);

uint64_t opencl_count(const int64_t *length, uint32_t rank);

/* Adds a checked operand and gives its number; the nest's lengths are those of the first that has all
 * axes. */
uint32_t opencl_nest_add(const struct opencl_device *device, struct opencl_nest *nest,
			 const struct tn_operand *operand, int kept_only);
/* Leaves out axes of length 1, and merges two into one where all views allow it. */
void opencl_nest_simplify(struct opencl_nest *nest);
/* Puts axes of length 1 in front of the kept and of the reduced ones, so that there are so many. */
void opencl_nest_pad(struct opencl_nest *nest, uint32_t n_kept, uint32_t n_reduced);

#endif
