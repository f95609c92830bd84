/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables tenon.sort/1 and tenon.scan/1, and their common part: lines of operands along an axis.
 */
#ifndef CPU_LINES_H
#define CPU_LINES_H

#include "plugin.h"

extern const struct tn_scan_table cpu_scan_table;
extern const struct tn_sort_table cpu_sort_table;

/* The number of lines of an operand along the axis. */
uint64_t cpu_lines_count(const struct tn_operand *operand, uint32_t axis);

/* The start of line number `line`, in row-major order of the other axes. */
char *cpu_line_at(const struct tn_operand *operand, uint32_t axis, uint64_t line);

/* Bytes from one element of a line to the next. */
static inline int64_t cpu_line_step(const struct tn_operand *operand, uint32_t axis)
{
	return operand->strides[axis] * (int64_t)tn_dtype_size(operand->dtype);
}

/* TN_SHAPE unless both have the same rank, the axis is below it, and their shapes are equal; along
 * the axis `b` may be shorter if `may_be_shorter` is 1. */
tn_status cpu_lines_check(const struct tn_call *call, const char *operation, const char *name,
			  const struct tn_operand *a, const struct tn_operand *b, uint32_t axis,
			  int may_be_shorter);

#endif
