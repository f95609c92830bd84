/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks everything about the arguments of a call before anything is read or written.  Addresses
 * are not checked, except for NULL and alignment.
 */
#include "interpret/check.h"

#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "program/program.h"

#define KNOWN_FLAGS (TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC | TN_ACCUMULATE)

tn_status tn_check_call(const void *theirs, void *own, size_t own_size, const char *operation)
{
	const struct tn_call *call = theirs;
	if (!call)
		return TN_INVALID_ARGUMENT;
	size_t size = call->struct_size;
	if (size < sizeof(*call))
		return TN_INVALID_ARGUMENT;
	if (!tn_arguments_fit(theirs, own_size))
		return tn_fail(call->error, TN_UNSUPPORTED, operation,
			       "the arguments have fields that this version does not support");
	memcpy(own, theirs, size < own_size ? size : own_size);
	if (size < own_size)
		memset((char *)own + size, 0, own_size - size);
	if (call->flags & ~KNOWN_FLAGS || call->flags & TN_ACCUMULATE)
		return tn_fail(call->error, TN_UNSUPPORTED, operation,
			       "flags 0x%x: expected only dry run, async and deterministic",
			       (unsigned)call->flags);
	if (call->workspace && TN_HAS_FIELD(struct tn_workspace, call->workspace, preferred)) {
		call->workspace->minimum = 0;
		call->workspace->preferred = 0;
	}
	return TN_OK;
}

const struct tn_block_kernels *tn_check_kernels(const struct tn_block_kernels *theirs,
						struct tn_block_kernels *own)
{
	if (!theirs || theirs->struct_size >= sizeof(*own))
		return theirs;
	memset(own, 0, sizeof(*own));
	memcpy(own, theirs, theirs->struct_size);
	return own;
}

tn_status tn_check_program(const struct tn_program *program, const struct tn_call *call,
			   const char *operation)
{
	if (!program)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation, "no program");
	tn_status status = tn_program_check_limits(program, operation, call->error);
	if (status)
		return status;
	if (!program->n_outputs || !program->n_instructions)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "a program of %u outputs and %u instructions: expected at least 1",
			       program->n_outputs, program->n_instructions);
	if (!program->instructions || !program->outputs ||
	    (program->n_constants && !program->constants))
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "a program without instructions, outputs or constants");
	return TN_OK;
}

static int is_storage_dtype(tn_dtype dtype)
{
	return tn_compute_dtype(dtype) != 0;
}

tn_status tn_check_operand(const struct tn_operand *operand, const char *role, unsigned number,
			   int is_output, const struct tn_call *call, const char *operation)
{
	if (!is_storage_dtype(operand->dtype))
		return tn_fail(call->error, TN_UNSUPPORTED, operation,
			       "%s %u: programs cannot read or write dtype %d", role, number,
			       (int)operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return tn_fail(call->error, TN_UNSUPPORTED, operation,
			       "%s %u: rank %u exceeds the limit of %d", role, number,
			       operand->rank, TN_MAX_RANK);
	int64_t count = 1;
	for (unsigned d = 0; d < operand->rank; d++) {
		int64_t length = operand->shape[d];
		if (length < 1)
			return tn_fail(
				call->error, TN_INVALID_ARGUMENT, operation,
				"%s %u: axis %u: expected a length of at least 1, found %lld", role,
				number, d, (long long)length);
		if (__builtin_mul_overflow(count, length, &count))
			return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
				       "%s %u has more elements than can be counted", role, number);
	}
	uint64_t address = operand->buffer + operand->offset;
	if (!operand->buffer && !(call->flags & TN_DRY_RUN))
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation, "%s %u has no buffer",
			       role, number);
	if (address % tn_dtype_size(operand->dtype))
		return tn_fail(
			call->error, TN_INVALID_ARGUMENT, operation,
			"%s %u: expected an address that is a multiple of the element's size", role,
			number);
	for (unsigned d = 0; is_output && d < operand->rank; d++) {
		if (operand->strides[d] == 0 && operand->shape[d] != 1)
			return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
				       "%s %u: stride 0 on axis %u would write an element twice",
				       role, number, d);
	}
	return TN_OK;
}

tn_status tn_check_shape(const struct tn_operand *operand, const struct tn_operand *model,
			 unsigned rank, const char *role, unsigned number,
			 const struct tn_call *call, const char *operation)
{
	for (unsigned d = 0; d < rank; d++) {
		if (operand->shape[d] != model->shape[d])
			return tn_fail(call->error, TN_SHAPE, operation,
				       "%s %u: axis %u has length %lld, expected %lld", role,
				       number, d, (long long)operand->shape[d],
				       (long long)model->shape[d]);
	}
	return TN_OK;
}

tn_status tn_check_scalars(const struct tn_scalar *scalars, uint32_t n, const struct tn_call *call,
			   const char *operation)
{
	if (n && !scalars)
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
			       "the program has %u scalars, but none are given", n);
	for (uint32_t s = 0; s < n; s++) {
		const struct tn_scalar *scalar = &scalars[s];
		if (!is_storage_dtype(scalar->dtype))
			return tn_fail(call->error, TN_UNSUPPORTED, operation,
				       "scalar %u: programs cannot read dtype %d", s,
				       (int)scalar->dtype);
		if (scalar->on_device > 1)
			return tn_fail(call->error, TN_UNSUPPORTED, operation,
				       "scalar %u: expected an on_device of 0 or 1, found %u", s,
				       scalar->on_device);
		if (scalar->on_device && !scalar->buffer && !(call->flags & TN_DRY_RUN))
			return tn_fail(call->error, TN_INVALID_ARGUMENT, operation,
				       "scalar %u has no buffer", s);
	}
	return TN_OK;
}
