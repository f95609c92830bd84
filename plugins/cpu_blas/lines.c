/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts, finds and checks the lines of operands along an axis, for sorts and scans.
 */
#include "lines.h"

uint64_t cpu_lines_count(const struct tn_operand *operand, uint32_t axis)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < operand->rank; i++)
		n *= i == axis ? 1 : (uint64_t)operand->shape[i];
	return n;
}

char *cpu_line_at(const struct tn_operand *operand, uint32_t axis, uint64_t line)
{
	int64_t at = 0;
	for (uint32_t i = operand->rank; i-- > 0;) {
		if (i == axis)
			continue;
		at += (int64_t)(line % (uint64_t)operand->shape[i]) * operand->strides[i];
		line /= (uint64_t)operand->shape[i];
	}
	return (char *)(uintptr_t)(operand->buffer + operand->offset) +
	       at * (int64_t)tn_dtype_size(operand->dtype);
}

tn_status cpu_lines_check(const struct tn_call *call, const char *operation, const char *name,
			  const struct tn_operand *a, const struct tn_operand *b, uint32_t axis,
			  int may_be_shorter)
{
	if (a->rank > TN_MAX_RANK)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "rank %u, expected at most %d", a->rank, TN_MAX_RANK);
	if (a->rank != b->rank || axis >= a->rank)
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "axis %u of rank %u, %s of rank %u", axis, a->rank, name,
				      b->rank);
	for (uint32_t i = 0; i < a->rank; i++) {
		if (b->shape[i] == a->shape[i] ||
		    (may_be_shorter && i == axis && b->shape[i] < a->shape[i]))
			continue;
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "%s: axis %u: expected length %lld, found %lld", name, i,
				      (long long)a->shape[i], (long long)b->shape[i]);
	}
	return TN_OK;
}
