/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A handle that is not an address can be checked: the elements of an operand must lie inside its
 * buffer.
 */
#include "operand.h"

#include "memory.h"

static tn_status check_place(const struct opencl_device *device, const struct tn_call *call,
			     const char *operation, const char *name, unsigned number,
			     const struct tn_operand *operand)
{
	const struct opencl_buffer *buffer = opencl_buffer_find(device, operand->buffer);
	if (!buffer)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "%s %u: buffer %llu does not belong to this device", name,
				      number, (unsigned long long)operand->buffer);
	if (!tn_plugin_lies_within(operand, buffer->size))
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "%s %u reaches outside its buffer of %llu bytes", name,
				      number, (unsigned long long)buffer->size);
	return TN_OK;
}

tn_status opencl_check_operand(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const char *name, unsigned number,
			       const struct tn_operand *operand, enum tn_plugin_role role)
{
	tn_status status = tn_plugin_check_operand(call, operation, name, number, operand,
						   opencl_storage(device), role);
	if (status || call->flags & TN_DRY_RUN)
		return status;
	return check_place(device, call, operation, name, number, operand);
}

tn_status opencl_check_places(const struct opencl_device *device, const struct tn_call *call,
			      const char *operation, const char *name,
			      const struct tn_operand *operands, uint32_t n)
{
	tn_status status = TN_OK;
	for (uint32_t k = 0; k < n && !status && !(call->flags & TN_DRY_RUN); k++)
		status = check_place(device, call, operation, name, k, &operands[k]);
	return status;
}

tn_status opencl_check_scalar_places(const struct opencl_device *device, const struct tn_call *call,
				     const char *operation, const struct tn_scalar *scalars,
				     uint32_t n)
{
	tn_status status = TN_OK;
	for (uint32_t s = 0; s < n && !status && !(call->flags & TN_DRY_RUN); s++) {
		const struct tn_operand place = {.buffer = scalars[s].buffer,
						 .offset = scalars[s].offset,
						 .dtype = scalars[s].dtype};
		if (scalars[s].on_device)
			status = check_place(device, call, operation, "scalar", s, &place);
	}
	return status;
}
